//! `list_content`: lists files or entities.

use schemars::JsonSchema;
use serde::Deserialize;

use super::entity::AnyEntityArgs;
use super::request::ToolRequest;
use crate::answer::ToolProfile;
use lockgate_edit::request::{ListFields, ReadRequest};
use lockgate_error::Error;

tool! {
    ListContent => "list_content", "List files",
    &[Toolset::Look, Toolset::Content], Effect::Reads, RepeatEffect::NoChange, ToolProfile::PLAIN
}

/// Lists files by path, with size and `version`, without hidden and ignored ones.
#[derive(Deserialize, JsonSchema)]
struct ListContent {
    /// A folder, a glob (`*.py`), or the start of paths.
    path_prefix: Option<String>,
    /// Maximum number, 200 unless given.
    max_results: Option<i64>,
    #[serde(flatten)]
    entity: AnyEntityArgs,
}

impl TryFrom<ListContent> for ToolRequest {
    type Error = Error;

    fn try_from(input: ListContent) -> Result<ToolRequest, Error> {
        let ListContent { path_prefix, max_results, entity } = input;
        let fields = ListFields { path_prefix, scope: entity.fields(), max_results };
        fields.into_request().map(ReadRequest::List).map(ToolRequest::Read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockgate_error::Code;
    use serde_json::json;

    #[test]
    fn a_number_of_results_is_within_bounds() {
        let most = |value: serde_json::Value| match parse(
            json!({"max_results": value}).as_object().cloned().unwrap(),
        ) {
            Ok(ToolRequest::Read(ReadRequest::List(request))) => Ok(request.max_entries),
            Ok(other) => panic!("{other:?}"),
            Err(error) => Err((error.code, error.field)),
        };
        assert_eq!((most(json!(null)), most(json!(5000))), (Ok(200), Ok(5000)));
        for wrong in [0, 5001] {
            assert_eq!(most(json!(wrong)), Err((Code::InvalidInput, Some("max_results".into()))));
        }
    }
}
