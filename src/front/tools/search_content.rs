//! `search_content`: finds the lines that match a pattern.

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
use crate::request::{ReadRequest, SearchFields};

/// The definition of `search_content` in the list of tools.
pub const TOOL: Tool = Tool {
    name: "search_content",
    title: "Search files",
    toolset: Toolset::Look,
    effect: Effect::Reads,
    repeat_effect: RepeatEffect::NoChange,
    profile: ToolProfile::PLAIN,
    schema: || SCHEMA.clone(),
    parse,
};

static SCHEMA: LazyLock<JsonObject> = LazyLock::new(schema::input_schema::<SearchContent>);

/// Finds the lines that a regex matches, with the lines around them and each file's `version`. Files that git ignores
/// are left out.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SearchContent {
    /// Regex without look-around.
    pattern: String,
    /// File, folder or glob (`src/**/*.py`).
    path: Option<String>,
    /// Lines around each match, 3 unless given.
    context_lines: Option<i64>,
    /// Maximum number, 20 unless given.
    max_results: Option<i64>,
    /// Also hidden files.
    hidden: Option<bool>,
    /// A match may span lines.
    multiline: Option<bool>,
    /// file (unless given), app_file, workflow, module, or a type of the policy.
    entity_type: Option<String>,
    /// The app of an app_file.
    app_id: Option<String>,
    /// The organization of a workflow; all unless given.
    organization_id: Option<String>,
}

fn parse(arguments: JsonObject) -> Result<ToolRequest, Error> {
    let input: SearchContent = arguments::read(&SCHEMA, arguments)?;
    let SearchContent { pattern, path, context_lines, max_results, hidden, multiline, .. } = input;
    let scope = fields(input.entity_type, input.app_id, input.organization_id);
    let (hidden, multiline) = (hidden.unwrap_or(false), multiline.unwrap_or(false));
    let fields = SearchFields { pattern, path, scope, context_lines, max_results, hidden, multiline };
    fields.into_request().map(ReadRequest::Search).map(ToolRequest::Read)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Code;
    use serde_json::json;

    fn parse_args(arguments: serde_json::Value) -> Result<crate::request::SearchRequest, Error> {
        match parse(arguments.as_object().cloned().unwrap())? {
            ToolRequest::Read(ReadRequest::Search(request)) => Ok(request),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_is_absent_has_its_default() {
        let request = parse_args(json!({"pattern": "a"})).unwrap();
        assert_eq!(
            (request.context, request.max_matches, request.hidden, request.multiline),
            (3, 20, false, false)
        );
        let request =
            parse_args(json!({"pattern": "a", "context_lines": 0, "max_results": 1000, "hidden": true}))
                .unwrap();
        assert_eq!(
            (request.context, request.max_matches, request.hidden, request.path),
            (0, 1000, true, None)
        );
    }

    #[test]
    fn what_is_out_of_bounds_is_refused_by_name() {
        for (field, value) in [
            ("pattern", json!("")),
            ("context_lines", json!(-1)),
            ("context_lines", json!(51)),
            ("max_results", json!(0)),
            ("max_results", json!(1001)),
            ("organization_id", json!("x")),
        ] {
            let mut arguments = json!({"pattern": "a"});
            arguments[field] = value;
            let error = parse_args(arguments).unwrap_err();
            assert_eq!((error.code, error.field.as_deref()), (Code::InvalidInput, Some(field)));
        }
    }
}
