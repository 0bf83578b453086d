//! `list_content`: lists files or entities.

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
use crate::request::{ListFields, ReadRequest};

/// The definition of `list_content` in the list of tools.
pub const TOOL: Tool = Tool {
    name: "list_content",
    title: "List files",
    toolset: Toolset::Content,
    effect: Effect::Reads,
    repeat_effect: RepeatEffect::NoChange,
    profile: ToolProfile::PLAIN,
    schema: || SCHEMA.clone(),
    parse,
};

static SCHEMA: LazyLock<JsonObject> = LazyLock::new(schema::input_schema::<ListContent>);

/// Lists files by path, each with its size and `version`, without hidden files and files that git ignores.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListContent {
    /// A folder, or the start of the paths.
    path_prefix: Option<String>,
    /// Maximum number, 200 unless given.
    max_results: Option<i64>,
    /// file (unless given), app_file, workflow, module, or a type of the policy.
    entity_type: Option<String>,
    /// The app of an app_file.
    app_id: Option<String>,
    /// The organization of a workflow; all unless given.
    organization_id: Option<String>,
}

fn parse(arguments: JsonObject) -> Result<ToolRequest, Error> {
    let input: ListContent = arguments::read(&SCHEMA, arguments)?;
    let ListContent { path_prefix, max_results, entity_type, app_id, organization_id } = input;
    let scope = fields(entity_type, app_id, organization_id);
    ListFields { path_prefix, scope, max_results }
        .into_request()
        .map(ReadRequest::List)
        .map(ToolRequest::Read)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Code;
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
