//! Fields that several tools have, and their conversion.

use std::ops::RangeInclusive;

use schemars::JsonSchema;
use serde::Deserialize;

use super::entity::{self, EntityArgs};
use super::request::ToolRequest;
use crate::answer::ResponseOptions;
use lockgate_edit::Edit;
use lockgate_edit::request::{Author, Direction, Expect, Mode, Request, Target, UndoRequest, Whose};
use lockgate_error::{Code, Error, FieldValue, NextCall};

/// The modes on the wire.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum WireMode {
    Strict,
    Interactive,
    VerifyOnly,
}

impl From<WireMode> for Mode {
    fn from(mode: WireMode) -> Mode {
        match mode {
            WireMode::Strict => Mode::Strict,
            WireMode::Interactive => Mode::Interactive,
            WireMode::VerifyOnly => Mode::VerifyOnly,
        }
    }
}

/// Returns the default of a field that is set unless a call unsets it.
pub(super) const fn default_true() -> bool {
    true
}

/// Creates the request of an edit from the fields that most tools have.
pub(super) fn edit_request(
    target: Target,
    edit: Edit,
    mode: Option<WireMode>,
    expected_version: Option<String>,
) -> Request {
    Request {
        mode: mode.map(Mode::from).unwrap_or_default(),
        expect: expected_version.map_or(Expect::Anything, Expect::Version),
        ..Request::new(target, edit)
    }
}

/// Creates the request of an undo or redo.
///
/// Errors: those of the entity fields.
pub(super) fn undo_request(
    direction: Direction,
    edit_id: Option<String>,
    path: Option<String>,
    entity: EntityArgs,
) -> Result<ToolRequest, Error> {
    let target = entity::target(path, entity.fields())?;
    let (whose, author) = (Whose::Author, Author::default());
    Ok(ToolRequest::Revert(UndoRequest { direction, edit_id, target, whose, author }))
}

/// Maximum number of edits in one call.
const MAX_EDITS: usize = 100;

/// Checks the number of edits of a call with a list of them.
///
/// Errors: `INVALID_INPUT` for an empty list, and for one that is too long.
pub(super) fn check_edit_count(count: usize) -> Result<(), Error> {
    let message = match count {
        0 => "`edits` is an empty list".to_owned(),
        1..=MAX_EDITS => return Ok(()),
        _ => format!("`edits` has {count} entries, more than the {MAX_EDITS} of one call"),
    };
    Err(Error::new(Code::InvalidInput, message).named_field("edits"))
}

/// Returns the maximum size of the answer; the default if the call sets none.
///
/// Errors: `INVALID_INPUT` for a size outside of [`ResponseOptions::LIMITS`].
pub(super) fn response_limit(max_bytes: Option<i64>) -> Result<usize, Error> {
    parse_number(max_bytes, ResponseOptions::default().limit, &ResponseOptions::LIMITS, "max_bytes")
}

/// Returns a number within a range, or its default.
///
/// Errors: `INVALID_INPUT` with the field and the nearest number in the range.
pub(super) fn parse_number(
    value: Option<i64>,
    default: usize,
    range: &RangeInclusive<usize>,
    field: &str,
) -> Result<usize, Error> {
    let Some(value) = value else { return Ok(default) };
    let number = usize::try_from(value).unwrap_or(0);
    if value >= 0 && range.contains(&number) {
        return Ok(number);
    }
    let (least, most) = (*range.start(), *range.end());
    let message = format!("{field} must be from {least} to {most}, found {value}");
    let nearest = number.clamp(least, most) as u64;
    let next = NextCall::Correct { field: field.to_owned(), value: FieldValue::Number(nearest) };
    Err(Error::new(Code::InvalidInput, message).named_field(field).with_next(next))
}
