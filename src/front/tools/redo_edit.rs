//! `redo_edit`: an edit that was taken back, made again.

use std::sync::LazyLock;

use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Again, Ask, Effect, Tool};
use crate::error::Error;
use crate::front::answer::Voice;
use crate::front::toolset::Toolset;
use crate::front::{arguments, schema};
use crate::request::{Author, Direction, Revert, Target};

/// The tool's row in the list of tools.
pub const TOOL: Tool = Tool {
    name: "redo_edit",
    title: "Make an edit again",
    toolset: Toolset::History,
    effect: Effect::Changes,
    again: Again::Changes,
    voice: Voice::PLAIN,
    schema: || SCHEMA.clone(),
    ask,
};

static SCHEMA: LazyLock<JsonObject> = LazyLock::new(schema::of::<RedoEdit>);

/// Makes an edit again that undo_edit took back: the last such one, or that of `edit_id`. Refused where the same lines
/// have changed since.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RedoEdit {
    /// The `edit_id` of an answer; without it, the last one.
    edit_id: Option<String>,
    /// Without edit_id: the last one of this file.
    path: Option<String>,
}

fn ask(arguments: JsonObject) -> Result<Ask, Error> {
    let RedoEdit { edit_id, path } = arguments::read(&SCHEMA, arguments)?;
    Ok(Ask::Revert(Revert {
        direction: Direction::Redo,
        edit_id,
        of: path.map(Target::File),
        author: Author::default(),
    }))
}
