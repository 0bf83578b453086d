//! `list_edits`: lists the edits, newest first.

use std::sync::LazyLock;

use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Deserialize;

use super::entity::{fields, target};
use super::{Effect, RepeatEffect, Tool, ToolRequest};
use crate::error::{Code, Error};
use crate::front::answer::ToolProfile;
use crate::front::toolset::Toolset;
use crate::front::{arguments, schema};
use crate::request::HistoryRequest;

/// The definition of `list_edits` in the list of tools.
pub const TOOL: Tool = Tool {
    name: "list_edits",
    title: "List edits",
    toolset: Toolset::History,
    effect: Effect::Reads,
    repeat_effect: RepeatEffect::NoChange,
    profile: ToolProfile::PLAIN,
    schema: || SCHEMA.clone(),
    parse,
};

/// Default and maximum number of listed edits.
const RESULT_LIMITS: (i64, i64) = (20, 100);

static SCHEMA: LazyLock<JsonObject> = LazyLock::new(schema::input_schema::<ListEdits>);

/// Lists the edits that lockgate wrote, newest first: each with its `edit_id`, time, author and changes to each file,
/// and whether it was undone.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListEdits {
    /// Only those of this file or entity.
    path: Option<String>,
    /// Maximum number, 20 unless given.
    #[schemars(range(min = 1, max = 100))]
    max_results: Option<i64>,
    /// file (unless given), app_file, workflow, module, or a type of the policy.
    entity_type: Option<String>,
    /// The app of an app_file.
    app_id: Option<String>,
    /// The organization of a workflow; your own, else global, unless given.
    organization_id: Option<String>,
}

fn parse(arguments: JsonObject) -> Result<ToolRequest, Error> {
    let input: ListEdits = arguments::read(&SCHEMA, arguments)?;
    let ListEdits { path, max_results, entity_type, app_id, organization_id } = input;
    let of = target(path, fields(entity_type, app_id, organization_id))?;
    let (default, most) = RESULT_LIMITS;
    let limit = max_results.unwrap_or(default);
    let within = usize::try_from(limit).ok().filter(|_| (1..=most).contains(&limit));
    let rejection = || {
        Error::new(Code::InvalidInput, format!("max_results must be from 1 to {most}, found {limit}"))
            .field("max_results")
    };
    Ok(ToolRequest::History(HistoryRequest { target: of, max_entries: within.ok_or_else(rejection)? }))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_number_of_results_is_within_bounds() {
        let most = |value: serde_json::Value| {
            let arguments = json!({"max_results": value}).as_object().cloned().unwrap();
            match parse(arguments) {
                Ok(ToolRequest::History(history)) => Ok(history.max_entries),
                Ok(other) => panic!("{other:?}"),
                Err(error) => Err(error.field),
            }
        };
        assert_eq!((most(json!(null)), most(json!(1)), most(json!(100))), (Ok(20), Ok(1), Ok(100)));
        for wrong in [json!(0), json!(101), json!(-1), json!("x")] {
            assert_eq!(most(wrong), Err(Some("max_results".into())));
        }
    }
}
