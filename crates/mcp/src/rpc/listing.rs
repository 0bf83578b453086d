//! What a client is told about the tools: their list, and the instructions for the agent.

use rmcp::model::{self, ToolAnnotations};
use serde_json::{Value, json};

use crate::schema;
use crate::selection::{EntityStorage, Selection, WriteAccess};
use crate::tools::{Effect, INSTRUCTIONS, RepeatEffect, Tool, edit_file, entity, safe_edit_file};
use crate::toolset::Toolset;

/// The tools that edit a file. Claude Code shows these to the model from the start; it loads others only after a search.
const MAIN_TOOLS: [&str; 2] = [edit_file::TOOL.name, safe_edit_file::TOOL.name];

/// The key by which Claude Code recognises a tool that it must not load late.
const ALWAYS_LOAD: &str = "anthropic/alwaysLoad";

/// A field that is accepted and not listed: few callers need it, and each listed field costs tokens.
const UNLISTED_FIELD: &str = "show_diff";

const EDIT_INSTRUCTIONS: &str = "Send the last `version` as expected_version; line_map shows how line numbers moved. Quality gates judge \
    an edit before it is written. isError: nothing was written, unless it says that this is not known; fix what it names.";

/// Returns the answer to `tools/list`.
pub fn listed(selection: &Selection, access: WriteAccess, storage: EntityStorage) -> Value {
    let mut tools: Vec<_> = selection.tools(access).map(|tool| listing(tool, selection, storage)).collect();
    tools.sort_by(|one, other| one.name.cmp(&other.name));
    json!({ "tools": tools })
}

/// Returns the listing of a tool within a selection.
///
/// Entities are edited by the tools of `content`. If these are not offered, or no database is configured, the fields
/// that address entities are accepted but not listed, because each listed field costs tokens in every conversation.
pub(super) fn listing(tool: &'static Tool, selection: &Selection, storage: EntityStorage) -> model::Tool {
    let mut schema = (tool.schema)().clone();
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        let names_entities = storage == EntityStorage::Configured && selection.contains(Toolset::Content);
        properties.retain(|name, _| names_entities || !entity::FIELDS.contains(&name.as_str()));
        properties.retain(|name, _| name != UNLISTED_FIELD);
        properties.values_mut().for_each(open_objects);
        properties.values_mut().for_each(|field| drop_repeated(field, None));
    }
    let about = match schema.shift_remove("description") {
        Some(Value::String(about)) => about,
        _ => String::new(),
    };
    let hints = hints(tool);
    let listed = model::Tool::new(tool.name, about, schema).with_annotations(hints);
    if !MAIN_TOOLS.contains(&tool.name) {
        return listed;
    }
    let meta = model::JsonObject::from_iter([(ALWAYS_LOAD.to_owned(), Value::Bool(true))]);
    listed.with_meta(meta.into())
}

/// Removes the description of each nested field that only repeats the one of the field around it.
fn drop_repeated(schema: &mut Value, around: Option<&str>) {
    let Value::Object(node) = schema else { return };
    let own = node.get("description").and_then(Value::as_str).map(str::to_owned);
    if own.is_some() && own.as_deref() == around {
        node.remove("description");
    }
    let around = own.as_deref().or(around);
    schema::nested(node).for_each(|inner| drop_repeated(inner, around));
}

/// Removes the statement that nested objects have no other properties, which costs tokens and is checked anyway.
fn open_objects(schema: &mut Value) {
    let Value::Object(node) = schema else { return };
    node.remove("additionalProperties");
    schema::nested(node).for_each(open_objects);
}

/// Returns the hints of a tool, without those that have their default value or no meaning.
fn hints(tool: &Tool) -> ToolAnnotations {
    let hints = ToolAnnotations::with_title(tool.title).open_world(false);
    let repeatable = |hints: ToolAnnotations| match tool.repeat_effect {
        RepeatEffect::NoChange => hints.idempotent(true),
        RepeatEffect::Changes => hints,
    };
    match tool.effect {
        Effect::Reads => hints.read_only(true),
        Effect::Adds => repeatable(hints.destructive(false)),
        Effect::Changes => repeatable(hints),
    }
}

/// Returns the instructions for the agent, limited to the offered tools.
pub(super) fn instructions(selection: &Selection, access: WriteAccess) -> String {
    let offered = |name: &str| selection.tools(access).any(|tool| tool.name == name);
    let texts = INSTRUCTIONS.iter().filter(|(name, _)| offered(name)).map(|(_, text)| *text);
    let writes = selection.tools(access).any(|tool| tool.effect == Effect::Changes);
    texts.chain(writes.then_some(EDIT_INSTRUCTIONS)).collect::<Vec<_>>().join(" ")
}
