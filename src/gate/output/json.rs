//! Findings in JSON, where a definition says in which keys their parts stand.

use std::collections::BTreeSet;

use serde::de::IgnoredAny;
use serde_json::Value;

use super::raw_finding::RawFinding;
use super::value::{self, at, name_of, number_at, parsed, text_at, way};
use super::word::severity_in;
use super::{MOST_READ, notes};
use crate::policy::{Columns, FindingPaths, Pointer};

/// Reads one JSON value, which other lines may surround.
pub(super) fn document(
    text: &str,
    place: &FindingPaths,
    columns: Columns,
) -> Result<Vec<RawFinding>, String> {
    value::document(text, |root| findings(root, place, columns))
}

fn findings(root: &Value, place: &FindingPaths, columns: Columns) -> Result<Vec<RawFinding>, String> {
    let items = items(root, place)?;
    items.iter().take(MOST_READ).map(|item| item.raw(place, columns)).collect()
}

/// Reads one JSON value on each line that begins as one. Other lines are passed over where a value was read, and after
/// the exit code 0; a value that is cut off, a crash and, after another exit code, an error are not understood.
pub(super) fn lines(
    text: &str,
    code: i32,
    place: &FindingPaths,
    columns: Columns,
) -> Result<Vec<RawFinding>, String> {
    let mut raws = Vec::new();
    let (mut is_read, mut unknown) = (false, None);
    for line in notes::lines(text.trim_start_matches('\u{feff}'), None) {
        match parsed(line) {
            Ok(root) => {
                raws.extend(findings(&root, place, columns)?);
                is_read = true;
            }
            Err(why) if !notes::is_on() || is_value(line) || notes::is_crash(line) => return Err(why),
            // Its exit code speaks of this error, and not of what was found before.
            Err(why) if code != 0 && notes::is_failure(line) => return Err(why),
            Err(why) => unknown = unknown.or(Some(why)),
        }
        if raws.len() >= MOST_READ {
            raws.truncate(MOST_READ);
            break;
        }
    }
    match unknown {
        Some(why) if !is_read && code != 0 => Err(why),
        Some(_) | None => Ok(raws),
    }
}

/// Returns true for a line that begins as a JSON object, or as a list that has no end.
fn is_value(line: &str) -> bool {
    let cut_off = || serde_json::from_str::<IgnoredAny>(line).is_err_and(|error| error.is_eof());
    line.trim_start().starts_with('{') || (line.trim_start().starts_with('[') && cut_off())
}

/// A finding, and the item that holds the list in which it stands.
#[derive(Debug, Clone, Copy)]
struct JsonItem<'v> {
    own: &'v Value,
    above: Option<&'v Value>,
}

/// Finds the list of findings. Lists on the way are gone through; `null` stands for an empty one, as Go writes it, and
/// one that is missing is not understood.
fn items<'v>(root: &'v Value, place: &FindingPaths) -> Result<Vec<JsonItem<'v>>, String> {
    let keys = place.items.as_ref().map_or(&[][..], |items| &items.keys);
    let mut here = JsonItem { own: root, above: None }.spread();
    for key in keys {
        let mut next = Vec::new();
        for item in here {
            let Value::Object(fields) = item.own else {
                return Err(format!("wrote something other than an object where `{key}` was due"));
            };
            let Some(own) = fields.get(key) else {
                return Err(format!("wrote no list of findings, `{}`", way(keys)));
            };
            next.extend(JsonItem { own, above: Some(item.own) }.spread());
        }
        here = next;
    }
    match here.iter().find(|item| !item.own.is_object()) {
        Some(_) => Err("wrote a list of findings in which not all are objects".to_owned()),
        None => Ok(here),
    }
}

impl<'v> JsonItem<'v> {
    /// The items of a list, or the one that it is itself.
    fn spread(self) -> Vec<JsonItem<'v>> {
        match self.own {
            Value::Null => Vec::new(),
            Value::Array(list) => list.iter().map(|own| JsonItem { own, ..self }).collect(),
            Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => vec![self],
        }
    }

    fn raw(&self, place: &FindingPaths, columns: Columns) -> Result<RawFinding, String> {
        let message = self.text(&place.message)?;
        let missing = || format!("wrote a finding without `{}`", way(&place.message.keys));
        Ok(RawFinding {
            file: place.file.as_ref().map_or(Ok(None), |file| self.text(file))?,
            line: self.number(&place.line)?,
            end_line: None,
            column: place.column.as_ref().map_or(Ok(None), |column| self.number(column))?,
            columns,
            code: place.code.as_ref().and_then(|code| name_of(self.find(code)?)),
            severity: place.severity.as_ref().and_then(|severity| severity_in(self.find(severity)?)),
            message: message.ok_or_else(missing)?,
            identity: BTreeSet::new(),
        })
    }

    /// Where a pointer begins.
    fn base(&self, pointer: &Pointer) -> &'v Value {
        if pointer.above { self.above.unwrap_or(&Value::Null) } else { self.own }
    }

    fn text(&self, pointer: &Pointer) -> Result<Option<String>, String> {
        Ok(text_at(self.base(pointer), &pointer.keys)?.map(str::to_owned))
    }

    fn number(&self, pointer: &Pointer) -> Result<Option<usize>, String> {
        number_at(self.base(pointer), &pointer.keys, pointer.plus)
    }

    /// What a finding may do without: a way that leads nowhere is one that it does without.
    fn find(&self, pointer: &Pointer) -> Option<&'v Value> {
        at(self.base(pointer), &pointer.keys).ok().flatten()
    }
}
