//! `undo_edit`: undoes an edit.

use super::entity::EntityArgs;
use super::fields::undo_request;
use super::request::ToolRequest;
use crate::answer::ToolProfile;
use lockgate_edit::request::Direction;
use lockgate_error::Error;

tool! {
    UndoEdit => "undo_edit", "Undo an edit",
    &[Toolset::Edit], Effect::Changes, RepeatEffect::Changes, ToolProfile::PLAIN
}

/// Undoes an edit: your last one, or that of `edit_id`. Later edits of other lines stay.
#[derive(Deserialize, JsonSchema)]
struct UndoEdit {
    /// From an answer; without it and `path`, your last edit.
    edit_id: Option<String>,
    /// The last one of this file or entity.
    path: Option<String>,
    #[serde(flatten)]
    entity: EntityArgs,
}

fn into_request(input: UndoEdit) -> Result<ToolRequest, Error> {
    undo_request(Direction::Undo, input.edit_id, input.path, input.entity)
}
