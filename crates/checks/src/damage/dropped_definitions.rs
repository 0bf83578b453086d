//! Reports definitions that are missing from the new content of a whole file.

use super::text_pair::{DamageFinding, TextPair};

/// The most definitions that the message names.
const MAX_NAMES: usize = 5;

pub(super) fn look(texts: &TextPair<'_>) -> Vec<DamageFinding> {
    let dropped = &texts.lost.dropped;
    let Some(first) = dropped.first() else { return Vec::new() };
    let names: Vec<String> = dropped.iter().take(MAX_NAMES).map(|lost| format!("`{}`", lost.name)).collect();
    let more = dropped.len().saturating_sub(names.len());
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let what =
        if dropped.len() == 1 { "1 definition".to_owned() } else { format!("{} definitions", dropped.len()) };
    let message = format!(
        "the new content drops {what} of the old text: {}{more}; if that is not intended, send the whole file, or edit only a part of it",
        names.join(", "),
    );
    vec![DamageFinding { line: texts.line_after(first.line), column: 1, message }]
}
