//! A file that shrank to under a quarter: what was sent may be a part that was taken for the whole.

use super::text_pair::{DamageFinding, TextPair};

/// A file with fewer lines, or fewer bytes, may shrink as it likes.
const LEAST_LINES: usize = 20;
const LEAST_BYTES: usize = 600;

pub(super) fn look(scene: &TextPair<'_>) -> Vec<DamageFinding> {
    let Some(before) = scene.before else { return Vec::new() };
    let (old, new) = (before.count(), scene.after.count());
    let old_bytes = scene.draft.before.map_or(0, |before| before.view().len());
    let new_bytes = scene.draft.after.view().len();
    let shrank = old_bytes / 4 > new_bytes && old / 4 > new;
    if old < LEAST_LINES || old_bytes < LEAST_BYTES || !shrank {
        return Vec::new();
    }
    let message = format!(
        "the file shrank from {old} to {new} lines; send all of it, or say with an edit of lines what goes"
    );
    vec![DamageFinding { line: 1, column: 1, message }]
}
