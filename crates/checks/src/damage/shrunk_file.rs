//! Finds a file that shrank to less than a quarter: the new content may be only a part of the file.

use super::text_pair::{DamageFinding, TextPair};

/// The size from which the rule applies; a file with fewer lines or fewer bytes may shrink.
const LEAST_LINES: usize = 20;
const LEAST_BYTES: usize = 600;

pub(super) fn look(texts: &TextPair<'_>) -> Vec<DamageFinding> {
    let Some(before) = texts.before else { return Vec::new() };
    let (old, new) = (before.count(), texts.after.count());
    let old_bytes = texts.draft.before.map_or(0, |before| before.view().len());
    let new_bytes = texts.draft.after.view().len();
    let shrank = old_bytes / 4 > new_bytes && old / 4 > new;
    if old < LEAST_LINES || old_bytes < LEAST_BYTES || !shrank {
        return Vec::new();
    }
    let message = format!(
        "the file shrank from {old} to {new} lines; send the whole file, or edit the lines to remove"
    );
    vec![DamageFinding { line: 1, column: 1, message }]
}
