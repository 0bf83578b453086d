//! `get_content`: reads a whole text.

use schemars::JsonSchema;
use serde::Deserialize;

use super::entity::EntityArgs;
use super::request::ToolRequest;
use crate::answer::ToolProfile;
use lockgate_edit::request::{ReadRequest, WholeFields};
use lockgate_error::Error;

tool! {
    GetContent => "get_content", "Read a file",
    &[Toolset::Look], Effect::Reads, RepeatEffect::NoChange, ToolProfile::PLAIN
}

/// Reads a whole file, or its rest from a line on, with its `version`.
#[derive(Deserialize, JsonSchema)]
struct GetContent {
    /// Absolute, or relative to the first root.
    path: String,
    /// From 1.
    start_line: Option<i64>,
    /// Maximum characters, 40,000 unless given.
    max_chars: Option<i64>,
    #[serde(flatten)]
    entity: EntityArgs,
}

impl TryFrom<GetContent> for ToolRequest {
    type Error = Error;

    fn try_from(input: GetContent) -> Result<ToolRequest, Error> {
        let GetContent { path, start_line, max_chars, entity } = input;
        let fields = WholeFields { path, scope: entity.fields(), start_line, max_chars };
        fields.into_request().map(ReadRequest::Whole).map(ToolRequest::Read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockgate_error::Code;
    use serde_json::json;

    #[test]
    fn it_asks_for_a_whole_text() {
        let ToolRequest::Read(ReadRequest::Whole(target)) = parse(rmcp::object!({"path": "a"})).unwrap()
        else {
            panic!()
        };
        assert_eq!(target.target.display_path(), "a");
        let arguments = json!({"path": "a", "entity_type": "file", "app_id": "1"});
        let error = parse(arguments.as_object().cloned().unwrap()).unwrap_err();
        assert_eq!((error.code, error.field.as_deref()), (Code::InvalidInput, Some("app_id")));
    }
}
