//! Proposes a call that corrects all wrong edits of a rejected one.
//!
//! Invariant: a proposed call has a correction for each edit that is known to be wrong.

use super::batch::Batch;
use super::nearest_path::path_in_hint;
use super::services::Services;
use lockgate_error::{CorrectedEdit, Error, NextCall};

/// The maximum number of wrong paths that one proposed call corrects.
const MAX_PATHS: usize = 8;

/// Plans the edits of a call without locks, and writes nothing.
pub(super) type TryToPlan = fn(&Services, &Batch) -> Result<(), Error>;

/// Completes the correction that an error proposes with those of the files whose edits fail as well. Without a call that
/// works for all, the hint names the other wrong edits.
pub(super) fn with_other_corrections(error: Error, others: impl Iterator<Item = Error>) -> Error {
    let Some(mut corrected) = corrections(&error) else { return error.with_others(others) };
    let of_first = corrected.len();
    for other in others {
        let Some(more) = corrections(&other) else {
            return also_wrong(error.hint("correct this edit"), &other);
        };
        corrected.extend(more);
    }
    if corrected.len() == of_first { error } else { with_corrections(error, corrected) }
}

/// Proposes a call with corrections of several edits.
fn with_corrections(error: Error, corrected: Vec<CorrectedEdit>) -> Error {
    let hint = format!("`next` is the same call with corrections of {} edits", corrected.len());
    error.hint(hint).with_next(NextCall::Edits(corrected))
}

/// Says that another edit of the call is wrong as well, instead of proposing a call that would fail there.
fn also_wrong(mut error: Error, other: &Error) -> Error {
    error.next = None;
    let hint = format!("{}; {} is wrong, too", error.next_step(), other.field_path().unwrap_or_default());
    error.hint(hint)
}

/// Returns the corrections that an error of one file proposes for its edits; `None` if it proposes none.
fn corrections(error: &Error) -> Option<Vec<CorrectedEdit>> {
    let next = error.next.as_deref()?;
    match next {
        NextCall::Edits(corrected) => Some(corrected.clone()),
        NextCall::Edit { .. } | NextCall::Move { .. } | NextCall::Fields { .. } => {
            Some(vec![CorrectedEdit { entry: error.entry_index()?, next: next.clone() }])
        }
        _ => None,
    }
}

/// Adds the path that was probably meant to an error. In a call with several edits, it is proposed only together with the
/// corrections of all other wrong edits.
pub(super) fn with_nearest_paths(
    services: &Services,
    batch: &Batch,
    error: Error,
    try_to_plan: TryToPlan,
) -> Error {
    let error = services.with_nearest_path_of(batch, error);
    if !batch.is_batch || !matches!(error.next.as_deref(), Some(NextCall::Path { .. })) {
        return error;
    }
    match corrections_with_paths(services, batch, error.clone(), try_to_plan) {
        Ok(corrected) if corrected.len() == 1 => error,
        Ok(corrected) => with_corrections(error, corrected),
        Err(other) => also_wrong(path_in_hint(error), &other),
    }
}

/// Returns the corrections with which a call can be planned: that of a wrong path, and those of the errors behind it. The
/// corrected call is planned without locks, and not written.
///
/// Errors: the first error without a correction.
fn corrections_with_paths(
    services: &Services,
    batch: &Batch,
    mut error: Error,
    try_to_plan: TryToPlan,
) -> Result<Vec<CorrectedEdit>, Error> {
    let mut tried = Batch::new(batch.requests.clone(), batch.kind);
    let mut corrected = Vec::new();
    for _ in 0..MAX_PATHS {
        let Some(next @ NextCall::Path { path }) = error.next.as_deref() else {
            corrected.extend(corrections(&error).ok_or(error)?);
            return Ok(corrected);
        };
        let entries = tried.correct_path(error.entry_index().unwrap_or(0), path);
        corrected.extend(entries.into_iter().map(|entry| CorrectedEdit { entry, next: next.clone() }));
        match try_to_plan(services, &tried) {
            Ok(()) => return Ok(corrected),
            Err(other) => error = services.with_nearest_path_of(&tried, other),
        }
    }
    Err(error)
}
