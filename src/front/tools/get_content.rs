//! `get_content`: reads a whole text.

use schemars::JsonSchema;
use serde::Deserialize;

use super::ToolRequest;
use super::entity::EntityArgs;
use crate::error::Error;
use crate::front::answer::ToolProfile;
use crate::request::ReadRequest;

tool! {
    GetContent => "get_content", "Read a file",
    Toolset::Look, Effect::Reads, RepeatEffect::NoChange, ToolProfile::PLAIN
}

/// Reads a whole file, cut at 100,000 characters, with its `version`. For large files, use search_content, then
/// read_content_lines.
#[derive(Deserialize, JsonSchema)]
struct GetContent {
    /// Absolute, or relative to the first root.
    path: String,
    #[serde(flatten)]
    entity: EntityArgs,
}

impl TryFrom<GetContent> for ToolRequest {
    type Error = Error;

    fn try_from(input: GetContent) -> Result<ToolRequest, Error> {
        let target = input.entity.fields().into_target(input.path)?;
        Ok(ToolRequest::Read(ReadRequest::Whole(target)))
    }
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
