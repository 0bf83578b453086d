//! The call that a rejection proposes, in a form that the caller can send.

use rmcp::model::JsonObject;
use serde_json::Value;

use super::entity::key;
use super::offers::ToolCall;
use super::options::ResponseOptions;
use crate::tools::entity::FIELDS;
use lockgate_edit::request::EntityKind;
use lockgate_error::{Code, CorrectedEdit, Disk, Error, FieldValue, NextCall};
use lockgate_protocol::{EntityKey, ProposedCall};

/// The maximum number of further fields that one proposed call corrects.
const MAX_CORRECTED: usize = 8;

/// Returns the hint of a rejection, and the call that it proposes.
pub(super) fn next_step(error: &Error, options: &ResponseOptions) -> (String, Option<ProposedCall>) {
    let hint = match (error.disk, &error.hint) {
        (Disk::Unknown, None) => format!("read the {}", options.noun()),
        (Disk::Untouched, _) | (Disk::Unknown, Some(_)) => {
            creation_step(error, options).unwrap_or_else(|| error.next_step().to_owned())
        }
    };
    let step = error.next.as_ref().and_then(|next| NextStep::new(next, error.entry_index(), options));
    let (hint, next) = match step {
        None => (hint, None),
        Some(NextStep::Call(next)) => (hint, Some(next)),
        Some(NextStep::Alternative(step)) => (format!("{hint}, or {step}"), None),
        Some(NextStep::Sentence(step)) => match &error.hint {
            None => (step, None),
            Some(own) => (format!("{own}; {step}"), None),
        },
    };
    let hint = match every_match_step(error, options) {
        Some(step) => format!("{hint}, or {step}"),
        None => hint,
    };
    (hint, next)
}

/// Returns the step that changes every match, if that is possible and the called tool has a field for it. `None` if the
/// call sets it already.
fn every_match_step(error: &Error, options: &ResponseOptions) -> Option<&'static str> {
    let current = options.offers.current_call.as_ref().filter(|_| error.allows_every_match())?;
    let entry = error.entry_index();
    let fields = match (entry, current.arguments.get("edits")) {
        (Some(at), Some(edits)) => edits.get(at)?.as_object()?,
        (Some(_) | None, _) => &current.arguments,
    };
    let is_unset = matches!(fields.get("replace_all"), None | Some(Value::Null | Value::Bool(false)));
    (is_unset && current.has_field("replace_all", entry))
        .then_some("set `replace_all: true` to change every match")
}

/// Returns the step after an edit of a file that does not exist, if the called tool cannot create it.
fn creation_step(error: &Error, options: &ResponseOptions) -> Option<String> {
    let is_general = error.code == Code::FileNotFound && error.hint.is_none() && options.entity.is_none();
    let current = options.offers.current_call.as_ref().filter(|_| is_general)?;
    if current.has_field("content", error.entry_index()) {
        return None;
    }
    Some(match options.offers.tools.create {
        Some(tool) => {
            format!("correct the path, or create the file with `{tool}`, which takes its text as `content`")
        }
        None => "correct the path; none of the offered tools creates a file".to_owned(),
    })
}

fn wire_value(value: &FieldValue) -> Value {
    match value {
        FieldValue::Flag(flag) => Value::from(*flag),
        FieldValue::Number(number) => Value::from(*number),
        FieldValue::Ratio(ratio) => Value::from(ratio.ratio()),
        FieldValue::Text(text) => Value::from(text.as_str()),
    }
}

/// The next step of a rejection.
enum NextStep {
    /// A call of an offered tool.
    Call(ProposedCall),
    /// A sentence, if no tool for the step is offered.
    Sentence(String),
    /// Another way than that of the hint.
    Alternative(String),
}

impl NextStep {
    /// Converts the next step of a rejection into a call of the offered tools. `entry` is the index of the edit in a
    /// call with several.
    fn new(next: &NextCall, entry: Option<usize>, options: &ResponseOptions) -> Option<NextStep> {
        match next {
            NextCall::Edit { .. }
            | NextCall::Edits(_)
            | NextCall::Move { .. }
            | NextCall::Fields { .. }
            | NextCall::Path { .. } => with_corrected_edit(next, entry, options),
            NextCall::Rename { .. } | NextCall::Correct { .. } | NextCall::InList { .. } => {
                with_corrected_fields(next, options)
            }
            NextCall::Within { symbol } => {
                options.offers.current_call.as_ref().filter(|current| current.has_field("within", entry))?;
                Some(NextStep::Alternative(format!("name the symbol, as in `within: {symbol:?}`")))
            }
            NextCall::WholeText => {
                let current = options.offers.current_call.as_ref();
                let text = "a new or an empty file gets its whole text as `content`";
                if current.is_some_and(|current| current.has_field("content", entry)) {
                    return Some(NextStep::Sentence(text.to_owned()));
                }
                let tool = options.offers.tools.create?;
                Some(NextStep::Sentence(format!("{text} of `{tool}`")))
            }
            NextCall::List { folder } => {
                let tool = options.offers.tools.list?;
                let prefix = (!folder.is_empty()).then(|| format!("{}/", folder.trim_end_matches('/')));
                let prefix = prefix.map(|prefix| ("path_prefix".to_owned(), Value::from(prefix)));
                Some(call(tool, prefix.into_iter().chain(scope_fields(options)).collect()))
            }
            NextCall::History => Some(call(options.offers.tools.history?, target_fields(options))),
            NextCall::Read { start_line, end_line } => {
                let Some(tool) = options.offers.tools.read.filter(|_| options.path.is_some()) else {
                    return Some(NextStep::Sentence(format!("read lines {start_line} to {end_line}")));
                };
                let mut arguments = target_fields(options);
                arguments.insert("start_line".to_owned(), (*start_line).into());
                arguments.insert("end_line".to_owned(), (*end_line).into());
                Some(call(tool, arguments))
            }
        }
    }
}

fn call(tool: &'static str, arguments: JsonObject) -> NextStep {
    NextStep::Call(ProposedCall { tool: tool.into(), arguments })
}

/// Returns the current call with a corrected edit, if its arguments are then valid.
fn with_corrected_edit(next: &NextCall, entry: Option<usize>, options: &ResponseOptions) -> Option<NextStep> {
    let current = options.offers.current_call.as_ref()?;
    let mut arguments = current.arguments.clone();
    correct_edit(current, &mut arguments, next, entry, options)?;
    // The same call would fail again.
    let is_changed = arguments != current.arguments;
    (is_changed && (current.check)(arguments.clone()).is_ok()).then(|| call(current.tool, arguments))
}

/// Corrects an edit of a call; `entry` is its index in a call with several. `None` if that is not possible.
fn correct_edit(
    current: &ToolCall,
    arguments: &mut JsonObject,
    next: &NextCall,
    entry: Option<usize>,
    options: &ResponseOptions,
) -> Option<()> {
    let names = &options.profile.names;
    match next {
        NextCall::Edit { search, replace } => {
            let fields = edit_fields(arguments, entry)?;
            fields.insert(names.search.to_owned(), search.as_str().into());
            fields.insert(names.replace.to_owned(), replace.as_str().into());
        }
        NextCall::Edits(corrected) => {
            for CorrectedEdit { entry, next } in corrected {
                correct_edit(current, arguments, next, Some(*entry), options)?;
            }
        }
        NextCall::Move { list, index, by } => {
            let moved = edit_fields(arguments, entry)?.get_mut(*list)?.get_mut(*index)?.as_object_mut()?;
            for name in ["start_line", "end_line", "at_line"] {
                if let Some(line) = moved.get_mut(name) {
                    *line = (line.as_i64()? + i64::try_from(*by).ok()?).into();
                }
            }
        }
        NextCall::Fields { set, unset } => {
            let fields = edit_fields(arguments, entry)?;
            if !set.iter().all(|(name, _)| current.has_field(name, entry)) {
                return None;
            }
            unset.iter().for_each(|name| {
                fields.shift_remove(*name);
            });
            fields.extend(set.iter().map(|(name, value)| ((*name).to_owned(), wire_value(value))));
        }
        NextCall::Path { path } => {
            let wrong = edit_fields(arguments, entry)?.insert(names.path.to_owned(), path.as_str().into())?;
            // Another edit of the call may have the same wrong path.
            let edits = arguments.get_mut("edits").and_then(Value::as_array_mut).into_iter().flatten();
            let same = edits.filter_map(|edit| edit.get_mut(names.path)).filter(|other| **other == wrong);
            same.for_each(|other| *other = path.as_str().into());
        }
        _ => return None,
    }
    Some(())
}

/// Returns the fields that name the target of the call, if it has one.
fn target_fields(options: &ResponseOptions) -> JsonObject {
    let Some(path) = &options.path else { return JsonObject::new() };
    let EntityKey { entity_type, app_id, organization_id } = key(options.entity.as_ref());
    let path = ("path", Some(path.clone()));
    let of_entity = [("entity_type", entity_type), ("app_id", app_id), ("organization_id", organization_id)];
    let fields = std::iter::once(path).chain(of_entity);
    fields.filter_map(|(name, value)| Some((name.to_owned(), value?.into()))).collect()
}

/// Returns the fields of the current call that select entities; none for files.
fn scope_fields(options: &ResponseOptions) -> JsonObject {
    let Some(current) = &options.offers.current_call else { return JsonObject::new() };
    let field = |name: &str| current.arguments.get(name).and_then(Value::as_str);
    if field("entity_type").is_none_or(|kind| kind == EntityKind::FILE) {
        return JsonObject::new();
    }
    FIELDS.iter().filter_map(|name| Some(((*name).to_owned(), field(name)?.into()))).collect()
}

/// Returns the current call with one corrected field, and with every other wrong one corrected as well, if its arguments
/// are then valid.
fn with_corrected_fields(first: &NextCall, options: &ResponseOptions) -> Option<NextStep> {
    let current = options.offers.current_call.as_ref()?;
    let mut arguments = Value::Object(current.arguments.clone());
    correct(&mut arguments, first)?;
    for _ in 0..MAX_CORRECTED {
        match (current.check)(arguments.as_object()?.clone()).map_err(|error| error.next) {
            Ok(()) => {
                let Value::Object(arguments) = arguments else { return None };
                return Some(call(current.tool, arguments));
            }
            Err(next) => correct(&mut arguments, next.as_deref()?)?,
        }
    }
    None
}

/// Corrects one field; `None` for a proposal that corrects no field.
fn correct(arguments: &mut Value, next: &NextCall) -> Option<()> {
    match next {
        NextCall::Rename { field, name } => {
            change_field(arguments, field, |parent, last| rename(parent, last, name))
        }
        NextCall::Correct { field, value } => change_field(arguments, field, |parent, last| {
            *parent.get_mut(last)? = wire_value(value);
            Some(())
        }),
        NextCall::InList { field } => change_field(arguments, field, |parent, last| {
            let item = parent.get_mut(last)?;
            *item = Value::Array(vec![item.take()]);
            Some(())
        }),
        _ => None,
    }
}

/// Gives a field another name; `None` if there is a field of that name.
fn rename(parent: &mut Value, from: &str, to: &str) -> Option<()> {
    let fields = parent.as_object_mut()?;
    let value = fields.shift_remove(from)?;
    fields.insert(to.to_owned(), value).is_none().then_some(())
}

/// Changes the field at a path, as in `edits[2].search`. `change` gets the object or list that has the field, and the
/// field's name or index.
fn change_field(
    arguments: &mut Value,
    field: &str,
    change: impl FnOnce(&mut Value, &str) -> Option<()>,
) -> Option<()> {
    let steps: Vec<&str> = field.split(['.', '[', ']']).filter(|step| !step.is_empty()).collect();
    let (last, around) = steps.split_last()?;
    let mut parent = arguments;
    for step in around {
        parent = match parent {
            Value::Array(items) => items.get_mut(step.parse::<usize>().ok()?)?,
            other => other.get_mut(*step)?,
        };
    }
    change(parent, last)
}

/// Returns the fields of one edit of a call with several, or those of the call.
fn edit_fields(arguments: &mut JsonObject, entry: Option<usize>) -> Option<&mut JsonObject> {
    match entry {
        Some(at) if arguments.contains_key("edits") => {
            arguments.get_mut("edits")?.get_mut(at)?.as_object_mut()
        }
        Some(_) | None => Some(arguments),
    }
}
