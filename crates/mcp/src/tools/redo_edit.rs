//! `redo_edit`: redoes an edit that was undone.

use super::entity::EntityArgs;
use super::fields::undo_request;
use super::request::ToolRequest;
use crate::answer::ToolProfile;
use lockgate_edit::request::Direction;
use lockgate_error::Error;

tool! {
    RedoEdit => "redo_edit", "Redo an edit",
    &[Toolset::History], Effect::Changes, RepeatEffect::Changes, ToolProfile::PLAIN
}

/// Redoes an undone edit: the last one, or that of `edit_id`. Rejected if the same lines changed since.
#[derive(Deserialize, JsonSchema)]
struct RedoEdit {
    /// The `edit_id` of an answer; without it, the last one.
    edit_id: Option<String>,
    /// Without edit_id: the last one of this file or entity.
    path: Option<String>,
    #[serde(flatten)]
    entity: EntityArgs,
}

fn into_request(input: RedoEdit) -> Result<ToolRequest, Error> {
    undo_request(Direction::Redo, input.edit_id, input.path, input.entity)
}
