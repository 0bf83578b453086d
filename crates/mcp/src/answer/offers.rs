//! The calls that a rejection may propose.

use std::sync::{Arc, LazyLock};

use rmcp::model::JsonObject;
use serde_json::Value;

use crate::schema;
use lockgate_error::Error;

/// The calls that a rejection may propose.
#[derive(Debug, Clone, Default)]
pub struct CallOffers {
    /// The current call, if it can be repeated with other texts; shared, because its arguments may be long.
    pub current_call: Option<Arc<ToolCall>>,
    /// The tools for other calls.
    pub tools: OfferedTools,
    /// True if the called tool has the field `max_bytes`.
    pub has_max_bytes: bool,
}

/// The names of the tools that a rejection may propose, each if it is offered.
#[derive(Debug, Clone, Copy, Default)]
pub struct OfferedTools {
    /// Name of the tool that reads lines.
    pub read: Option<&'static str>,
    /// Name of the tool that lists files.
    pub list: Option<&'static str>,
    /// Name of the tool that creates a file from its whole text.
    pub create: Option<&'static str>,
    /// Name of the tool that lists edits.
    pub history: Option<&'static str>,
}

/// A tool name with its arguments.
#[derive(Debug, Clone)]
pub struct ToolCall {
    /// Name of the tool on the wire.
    pub tool: &'static str,
    /// The arguments as the client sent them.
    pub arguments: JsonObject,
    /// The schema of the tool's arguments.
    pub schema: fn() -> &'static JsonObject,
    /// Checks the arguments of a call without executing it.
    pub check: fn(JsonObject) -> Result<(), Error>,
}

/// Returns the schema of a tool whose fields are not known: it has none.
pub fn unknown_fields() -> &'static JsonObject {
    static NONE: LazyLock<JsonObject> = LazyLock::new(JsonObject::new);
    &NONE
}

impl ToolCall {
    /// True if the tool has this field: in its arguments, or in an edit of several.
    pub(super) fn has_field(&self, name: &str, entry: Option<usize>) -> bool {
        let whole = (self.schema)();
        let schema = match entry {
            Some(_) => {
                schema::field(whole, "edits").and_then(|edits| edits.get("items")).and_then(Value::as_object)
            }
            None => Some(whole),
        };
        schema.is_some_and(|schema| schema::field(schema, name).is_some())
    }
}
