//! Reports definitions that are missing from the new content of a whole file.

use super::text_pair::{DamageFinding, TextPair};
use crate::wording::{counted, listed};

/// The most definitions that the message names.
const MAX_NAMES: usize = 5;

pub(super) fn look(texts: &TextPair<'_>) -> Vec<DamageFinding> {
    let dropped = &texts.lost.dropped;
    let Some(first) = dropped.first() else { return Vec::new() };
    let names = dropped.iter().map(|lost| format!("`{}`", lost.name));
    let message = format!(
        "the new content drops {} of the old text: {}; if that is not intended, send the whole file, or edit only a part of it",
        counted(dropped.len(), "definition"),
        listed(names, MAX_NAMES, dropped.len()),
    );
    vec![DamageFinding { line: texts.line_after(first.line), column: 1, message }]
}
