//! `get_content`: reads a whole text.

use std::sync::LazyLock;

use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Deserialize;

use super::entity::fields;
use super::{Effect, RepeatEffect, Tool, ToolRequest};
use crate::error::Error;
use crate::front::answer::ToolProfile;
use crate::front::toolset::Toolset;
use crate::front::{arguments, schema};
use crate::request::ReadRequest;

/// The definition of `get_content` in the list of tools.
pub const TOOL: Tool = Tool {
    name: "get_content",
    title: "Read a file",
    toolset: Toolset::Look,
    effect: Effect::Reads,
    repeat_effect: RepeatEffect::NoChange,
    profile: ToolProfile::PLAIN,
    schema: || SCHEMA.clone(),
    parse,
};

static SCHEMA: LazyLock<JsonObject> = LazyLock::new(schema::input_schema::<GetContent>);

/// Reads a whole file, cut at 100,000 characters, with its `version`. For large files, use search_content, then
/// read_content_lines.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct GetContent {
    /// Absolute, or relative to the first root.
    path: String,
    /// file (unless given), app_file, workflow, module, or a type of the policy.
    entity_type: Option<String>,
    /// The app of an app_file.
    app_id: Option<String>,
    /// The organization of a workflow; your own, else global, unless given.
    organization_id: Option<String>,
}

fn parse(arguments: JsonObject) -> Result<ToolRequest, Error> {
    let GetContent { path, entity_type, app_id, organization_id } = arguments::read(&SCHEMA, arguments)?;
    fields(entity_type, app_id, organization_id)
        .into_target(path)
        .map(ReadRequest::Whole)
        .map(ToolRequest::Read)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Code;
    use serde_json::json;

    #[test]
    fn it_asks_for_a_whole_text() {
        let ToolRequest::Read(ReadRequest::Whole(target)) = parse(rmcp::object!({"path": "a"})).unwrap()
        else {
            panic!()
        };
        assert_eq!(target.display_path(), "a");
        let arguments = json!({"path": "a", "entity_type": "file", "app_id": "1"});
        let error = parse(arguments.as_object().cloned().unwrap()).unwrap_err();
        assert_eq!((error.code, error.field.as_deref()), (Code::InvalidInput, Some("app_id")));
    }
}
