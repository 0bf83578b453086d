//! `undo_edit`: undoes an edit.

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

/// The definition of `undo_edit` in the list of tools.
pub const TOOL: Tool = Tool {
    name: "undo_edit",
    title: "Undo an edit",
    toolset: Toolset::Edit,
    effect: Effect::Changes,
    repeat_effect: RepeatEffect::Changes,
    profile: ToolProfile::PLAIN,
    schema: || SCHEMA.clone(),
    parse,
};

static SCHEMA: LazyLock<JsonObject> = LazyLock::new(schema::input_schema::<UndoEdit>);

/// Undoes an edit: the last one, or that of `edit_id`. Later edits of other lines stay.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct UndoEdit {
    /// The `edit_id` of an answer; without it and `path`, the last edit of a file in any root.
    edit_id: Option<String>,
    /// The last one of this file or entity.
    path: Option<String>,
    /// file (unless given), app_file, workflow, module, or a type of the policy.
    entity_type: Option<String>,
    /// The app of an app_file.
    app_id: Option<String>,
    /// The organization of a workflow; your own, else global, unless given.
    organization_id: Option<String>,
}

fn parse(arguments: JsonObject) -> Result<ToolRequest, Error> {
    let UndoEdit { edit_id, path, entity_type, app_id, organization_id } =
        arguments::read(&SCHEMA, arguments)?;
    let of = target(path, fields(entity_type, app_id, organization_id))?;
    Ok(ToolRequest::Revert(UndoRequest {
        direction: Direction::Undo,
        edit_id,
        target: of,
        author: Author::default(),
    }))
}
