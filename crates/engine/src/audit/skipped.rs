//! Files that cannot be judged.

use super::SkippedFile;
use lockgate_checks::sanitize;
use lockgate_error::{Code, Error};

/// Errors that concern one file only, each with a reason to display; without one, the error's own message is
/// shown.
const SKIP_REASONS: [(Code, Option<&str>); 9] = [
    (Code::NotText, Some("not text")),
    (Code::TooLarge, Some("too large")),
    (Code::Protected, Some("protected")),
    (Code::PermissionDenied, Some("cannot be read")),
    (Code::NotAFile, None),
    (Code::FileNotFound, None),
    (Code::PathOutsideRoot, None),
    (Code::EditConflict, None),
    (Code::NotEncodable, None),
];

/// Returns a file as skipped for this reason.
///
/// Errors: the reason itself, if it concerns more than one file.
pub(super) fn skipped(root_index: usize, path: String, error: Error) -> Result<SkippedFile, Error> {
    let Some((_, words)) = SKIP_REASONS.iter().find(|(code, _)| *code == error.code) else {
        return Err(error);
    };
    let why = words.map_or_else(|| sanitize(&error.message), str::to_owned);
    Ok(SkippedFile { root_index, path, reason: why })
}
