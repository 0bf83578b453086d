//! The one place of a quoted block, and what the edit comes to there.

use super::window::Window;
use super::{PLACES, missing};
use crate::edit::{Planned, Search, Standing, place};
use crate::error::{Code, Error};
use crate::locate::{self, Conflict, Found, Located, Quote, Repeat};

/// Characters shown of a line in a message.
const WIDTH: usize = 60;

/// Plans the edit of the one place of a block.
///
/// Errors: `NO_MATCH`, `AMBIGUOUS_MATCH`, `ALREADY_APPLIED`, `EDIT_CONFLICT`.
pub(super) fn plan(search: &Search, needle: &str, looked: &Window<'_>) -> Result<Planned, Error> {
    let (needle, replace) = (needle.replace("\r\n", "\n"), search.replace.replace("\r\n", "\n"));
    let quote = Quote { search: &needle, replace: &replace, repeat: repeat(search) };
    match locate::locate(quote, looked.field(), search.tolerance) {
        Located::One(found) => planned(found, looked),
        Located::Unchanged => Ok(Planned::new(looked.buffer.plan(Vec::new())?, Vec::new())),
        Located::Many { lines, .. } => Err(ambiguous(&lines, looked)),
        Located::Standing { line } => Err(standing(line)),
        Located::Conflict(conflict) => Err(conflicting(&conflict)),
        Located::Nowhere => {
            Err(missing::not_found(search, looked).hint(missing::quotable(&needle, looked)))
        }
    }
}

/// Plans the edit of every place of a block.
///
/// Errors: those of [`plan`] but `AMBIGUOUS_MATCH`.
pub(super) fn plan_every(search: &Search, needle: &str, looked: &Window<'_>) -> Result<Planned, Error> {
    plan(search, needle, looked)
}

fn repeat(search: &Search) -> Repeat {
    match search.standing {
        Standing::Done => Repeat::Refused,
        Standing::Again => Repeat::Wanted,
    }
}

fn planned(found: Found, looked: &Window<'_>) -> Result<Planned, Error> {
    let places = vec![place(looked.buffer, found.receipt.line)];
    let planned = Planned::new(looked.buffer.plan(found.changes)?, Vec::new());
    Ok(Planned { replacements: Some(1), places, receipt: Some(found.receipt), ..planned })
}

fn ambiguous(lines: &[usize], looked: &Window<'_>) -> Error {
    let count = lines.len();
    let places = lines.iter().take(PLACES).map(|line| place(looked.buffer, *line)).collect();
    Error::new(Code::AmbiguousMatch, format!("the search text appears {count} times in {}", looked.name))
        .field("search")
        .places(places)
}

fn standing(line: usize) -> Error {
    let message = format!("the replacement stands at line {line} already");
    Error::new(Code::AlreadyApplied, message)
}

fn conflicting(conflict: &Conflict) -> Error {
    let short = |text: &str| text.trim().chars().take(WIDTH).collect::<String>();
    let message = format!(
        "{}: the search has {:?}, line {} of the file is {:?}",
        conflict.why,
        short(&conflict.quoted),
        conflict.line,
        short(&conflict.there),
    );
    Error::new(Code::EditConflict, message).field("search")
}
