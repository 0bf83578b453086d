//! Reads findings in JSON, from the keys that a definition names.

use serde::de::IgnoredAny;
use serde_json::Value;

use super::notes;
use super::program_output::MAX_READ;
use super::raw_finding::RawFinding;
use super::severity_words::severity_in;
use super::value::{self, format_keys, number_at, parse, rule_name, text_at, value_at};
use lockgate_policy::{Columns, FindingPaths, Pointer};

/// Reads one JSON value, possibly surrounded by other lines.
pub(super) fn document(
    text: &str,
    place: &FindingPaths,
    columns: Columns,
) -> Result<Vec<RawFinding>, String> {
    value::document(text, |root| findings(root, place, columns))
}

fn findings(root: &Value, place: &FindingPaths, columns: Columns) -> Result<Vec<RawFinding>, String> {
    let items = items(root, place)?;
    items.iter().take(MAX_READ).map(|item| item.raw(place, columns)).collect()
}

/// Reads one JSON value from each line that begins like one. Other lines are ignored if a value was read, and
/// after the exit code 0. A truncated value, a crash and, after another exit code, an error make the output
/// unreadable.
pub(super) fn lines(
    text: &str,
    code: i32,
    place: &FindingPaths,
    columns: Columns,
) -> Result<Vec<RawFinding>, String> {
    let mut raws = Vec::new();
    let (mut is_read, mut unknown) = (false, None);
    for line in notes::lines(text.trim_start_matches('\u{feff}'), None) {
        match parse(line) {
            Ok(root) => {
                raws.extend(findings(&root, place, columns)?);
                is_read = true;
            }
            Err(why) if !notes::is_on() || is_value(line) || notes::is_crash(line) => return Err(why),
            // The exit code is due to this error, and not to the findings before it.
            Err(why) if code != 0 && notes::is_failure(line) => return Err(why),
            Err(why) => unknown = unknown.or(Some(why)),
        }
        if raws.len() >= MAX_READ {
            raws.truncate(MAX_READ);
            break;
        }
    }
    match unknown {
        Some(why) if !is_read && code != 0 => Err(why),
        Some(_) | None => Ok(raws),
    }
}

/// Returns true for a line that begins as a JSON object, or as an unfinished list.
fn is_value(line: &str) -> bool {
    let cut_off = || serde_json::from_str::<IgnoredAny>(line).is_err_and(|error| error.is_eof());
    line.trim_start().starts_with('{') || (line.trim_start().starts_with('[') && cut_off())
}

/// A finding, and the item that contains its list.
#[derive(Debug, Clone, Copy)]
struct JsonItem<'v> {
    value: &'v Value,
    parent: Option<&'v Value>,
}

/// Finds the list of findings. Lists on the way are iterated; `null` counts as an empty one, as Go writes it,
/// and a missing one is an error.
fn items<'v>(root: &'v Value, place: &FindingPaths) -> Result<Vec<JsonItem<'v>>, String> {
    let keys = place.items.as_ref().map_or(&[][..], |items| &items.keys);
    let mut level = JsonItem { value: root, parent: None }.into_items();
    for key in keys {
        let mut next = Vec::new();
        for item in level {
            let Value::Object(fields) = item.value else {
                return Err(format!("wrote something other than an object at `{key}`"));
            };
            let Some(own) = fields.get(key) else {
                return Err(format!("wrote no list of findings at `{}`", format_keys(keys)));
            };
            next.extend(JsonItem { value: own, parent: Some(item.value) }.into_items());
        }
        level = next;
    }
    match level.iter().find(|item| !item.value.is_object()) {
        Some(_) => Err("wrote a list of findings with an item that is not an object".to_owned()),
        None => Ok(level),
    }
}

impl<'v> JsonItem<'v> {
    /// The items of a list, or the value itself if it is not a list.
    fn into_items(self) -> Vec<JsonItem<'v>> {
        match self.value {
            Value::Null => Vec::new(),
            Value::Array(list) => list.iter().map(|own| JsonItem { value: own, ..self }).collect(),
            Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => vec![self],
        }
    }

    fn raw(&self, place: &FindingPaths, columns: Columns) -> Result<RawFinding, String> {
        let message = self.text(&place.message)?;
        let missing = || format!("wrote a finding without `{}`", format_keys(&place.message.keys));
        Ok(RawFinding {
            file: place.file.as_ref().map_or(Ok(None), |file| self.text(file))?,
            line: self.number(&place.line)?,
            column: place.column.as_ref().map_or(Ok(None), |column| self.number(column))?,
            columns,
            code: place.code.as_ref().and_then(|code| rule_name(self.find(code)?)),
            severity: place.severity.as_ref().and_then(|severity| severity_in(self.find(severity)?)),
            ..RawFinding::whole_text(message.ok_or_else(missing)?)
        })
    }

    /// The value that a pointer starts from.
    fn base(&self, pointer: &Pointer) -> &'v Value {
        if pointer.above { self.parent.unwrap_or(&Value::Null) } else { self.value }
    }

    fn text(&self, pointer: &Pointer) -> Result<Option<String>, String> {
        Ok(text_at(self.base(pointer), &pointer.keys)?.map(str::to_owned))
    }

    fn number(&self, pointer: &Pointer) -> Result<Option<usize>, String> {
        number_at(self.base(pointer), &pointer.keys, pointer.plus)
    }

    /// Returns an optional part of a finding; a pointer that leads nowhere gives `None`.
    fn find(&self, pointer: &Pointer) -> Option<&'v Value> {
        value_at(self.base(pointer), &pointer.keys).ok().flatten()
    }
}
