//! The definition of a tool.

use rmcp::model::JsonObject;

use super::effect::{Effect, RepeatEffect};
use super::request::ToolRequest;
use crate::answer::{ToolCall, ToolProfile};
use crate::toolset::Toolset;
use lockgate_error::Error;

/// The definition of a tool.
#[derive(Debug)]
pub struct Tool {
    /// Name of the tool in `tools/list` and `tools/call`.
    pub name: &'static str,
    /// Display name that a client may show to people.
    pub title: &'static str,
    /// Toolsets that contain the tool; the first one is its own in the documentation.
    pub toolsets: &'static [Toolset],
    /// Effect of a call on files.
    pub effect: Effect,
    /// Effect of repeating the same call.
    pub repeat_effect: RepeatEffect,
    /// Names and messages of the tool.
    pub profile: ToolProfile,
    /// Returns the schema of the arguments; the description at its root is the tool's.
    pub schema: fn() -> &'static JsonObject,
    /// Parses the arguments of a call.
    pub parse: fn(JsonObject) -> Result<ToolRequest, Error>,
    /// Checks the arguments of a call: the errors of `parse`.
    pub check: fn(JsonObject) -> Result<(), Error>,
}

impl Tool {
    /// Creates a call with these arguments.
    pub fn call(&self, arguments: JsonObject) -> ToolCall {
        ToolCall { tool: self.name, arguments, schema: self.schema, check: self.check }
    }
}
