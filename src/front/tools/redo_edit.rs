//! `redo_edit`: redoes an edit that was undone.

use std::sync::LazyLock;

use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Deserialize;

use super::entity::{fields, target};
use super::{Effect, RepeatEffect, Tool, ToolRequest};
use crate::error::Error;
use crate::front::answer::ToolProfile;
use crate::front::toolset::Toolset;
use crate::front::{arguments, schema};
use crate::request::{Author, Direction, UndoRequest};

/// The definition of `redo_edit` in the list of tools.
pub const TOOL: Tool = Tool {
    name: "redo_edit",
    title: "Redo an edit",
    toolset: Toolset::History,
    effect: Effect::Changes,
    repeat_effect: RepeatEffect::Changes,
    profile: ToolProfile::PLAIN,
    schema: || SCHEMA.clone(),
    parse,
};

static SCHEMA: LazyLock<JsonObject> = LazyLock::new(schema::input_schema::<RedoEdit>);

/// Redoes an undone edit: the last one, or that of `edit_id`. Rejected if the same lines changed since.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RedoEdit {
    /// The `edit_id` of an answer; without it, the last one.
    edit_id: Option<String>,
    /// Without edit_id: the last one of this file or entity.
    path: Option<String>,
    /// file (unless given), app_file, workflow, module, or a type of the policy.
    entity_type: Option<String>,
    /// The app of an app_file.
    app_id: Option<String>,
    /// The organization of a workflow; your own, else global, unless given.
    organization_id: Option<String>,
}

fn parse(arguments: JsonObject) -> Result<ToolRequest, Error> {
    let RedoEdit { edit_id, path, entity_type, app_id, organization_id } =
        arguments::read(&SCHEMA, arguments)?;
    let of = target(path, fields(entity_type, app_id, organization_id))?;
    Ok(ToolRequest::Revert(UndoRequest {
        direction: Direction::Redo,
        edit_id,
        target: of,
        author: Author::default(),
    }))
}
