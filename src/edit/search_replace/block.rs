//! Finds the matches of a block, and plans the edit there.

use super::window::Window;
use super::{MATCHES, PLACES, check_size, missing, too_many};
use crate::edit::{OnDuplicate, PlannedEdit, Search, place};
use crate::error::{Code, Error, EvidenceLine, NextCall};
use crate::locate::{self, Conflict, Located, OnRepeat, SearchText, UniqueMatch};

/// The maximum number of characters of a line in a message.
const WIDTH: usize = 60;
/// The number of context lines before and behind a conflicting line.
const AROUND: usize = 5;

/// Plans the edit of the only match of a block.
///
/// Errors: `NO_MATCH`, `AMBIGUOUS_MATCH`, `ALREADY_APPLIED`, `EDIT_CONFLICT`.
pub(super) fn plan(search: &Search, needle: &str, looked: &Window<'_>) -> Result<PlannedEdit, Error> {
    let (needle, replace) = (needle.replace("\r\n", "\n"), search.replace.replace("\r\n", "\n"));
    let quote = quote(search, &needle, &replace);
    let located = locate::locate(quote, looked.field(), search.tolerance, &|| looked.outline());
    concluded(search, &needle, located, looked)
}

/// Plans the edit of every match of a block.
///
/// Errors: those of [`plan`], but `AMBIGUOUS_MATCH` only if matches overlap or are too many to examine; `TOO_LARGE`.
pub(super) fn plan_every(search: &Search, needle: &str, looked: &Window<'_>) -> Result<PlannedEdit, Error> {
    let (needle, replace) = (needle.replace("\r\n", "\n"), search.replace.replace("\r\n", "\n"));
    let quote = quote(search, &needle, &replace);
    match locate::locate_every(quote, looked.field()) {
        Ok(found) if found.len() > MATCHES => Err(too_many()),
        Ok(found) => {
            check_size(&replace, found.len(), looked.scene.bounds.bytes)?;
            planned(found, looked)
        }
        Err(located) => concluded(search, &needle, located, looked),
    }
}

fn quote<'a>(search: &Search, needle: &'a str, replace: &'a str) -> SearchText<'a> {
    let repeat = match search.standing {
        OnDuplicate::Done => OnRepeat::Refused,
        OnDuplicate::Again => OnRepeat::Wanted,
    };
    SearchText { search: needle, replace, repeat }
}

fn concluded(
    search: &Search,
    needle: &str,
    located: Located,
    looked: &Window<'_>,
) -> Result<PlannedEdit, Error> {
    match located {
        Located::One(found) => planned(vec![found], looked),
        Located::Unchanged => Ok(PlannedEdit::new(looked.buffer.plan(Vec::new())?, Vec::new())),
        Located::Many { lines, .. } => Err(ambiguous(&lines, looked)),
        Located::Standing { line } => Err(standing(line, looked)),
        Located::Conflict(conflict) => Err(conflicting(&conflict, looked)),
        Located::Nowhere { near, proposal } => Err(missing::block(search, needle, looked, near, proposal)),
    }
}

fn planned(found: Vec<UniqueMatch>, looked: &Window<'_>) -> Result<PlannedEdit, Error> {
    let places = found.iter().take(PLACES).map(|found| place(looked.buffer, found.receipt.line)).collect();
    let (count, receipt) = (found.len(), found.first().map(|found| found.receipt));
    let changes = found.into_iter().flat_map(|found| found.changes).collect();
    let planned = PlannedEdit::new(looked.buffer.plan(changes)?, Vec::new());
    Ok(PlannedEdit { replacements: Some(count), places, receipt, ..planned })
}

fn ambiguous(lines: &[usize], looked: &Window<'_>) -> Error {
    let (count, outline) = (lines.len(), looked.quick_outline());
    let places: Vec<EvidenceLine> =
        lines.iter().take(PLACES).map(|line| looked.place(*line, outline.as_ref())).collect();
    let error =
        Error::new(Code::AmbiguousMatch, format!("the search text appears {count} times in {}", looked.name));
    let error = match places.iter().find_map(|place| place.symbol.as_ref()) {
        Some(symbol) => error
            .hint(format!("quote more surrounding lines, or name the symbol, as in `within: {symbol:?}`")),
        None => error,
    };
    error.field("search").places(places).counting(count)
}

fn standing(line: usize, looked: &Window<'_>) -> Error {
    let message = format!("the replacement is already at line {line}");
    Error::new(Code::AlreadyApplied, message).places(vec![place(looked.buffer, line)])
}

fn conflicting(conflict: &Conflict, looked: &Window<'_>) -> Error {
    let short = |text: &str| text.trim().chars().take(WIDTH).collect::<String>();
    let message = if conflict.quoted.is_empty() {
        format!("{}: line {}", conflict.why, conflict.line)
    } else {
        let (line, quoted, there) = (conflict.line, short(&conflict.quoted), short(&conflict.there));
        format!("{}: the edit expects {quoted:?} at line {line}, the file has {there:?}", conflict.why)
    };
    let last = looked.buffer.lines().count();
    Error::new(Code::EditConflict, message)
        .field("search")
        .places(vec![place(looked.buffer, conflict.line)])
        .proposing(NextCall::Read {
            start_line: conflict.line.saturating_sub(AROUND).max(1),
            end_line: (conflict.line + AROUND).min(last),
        })
}
