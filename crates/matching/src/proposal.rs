//! The corrected call: the same edit with the actual text.

use std::ops::Range;

use super::located::{Located, Proposal, UniqueMatch};
use super::search_text::{LineRange, OnDuplicate, SearchText};
use super::{exact, literal};

impl Proposal {
    /// Returns the lines of a match and their edited form; `None` if a plain string replacement would not have the
    /// same result.
    pub(super) fn from_match(found: &UniqueMatch, range: LineRange<'_>) -> Option<Proposal> {
        let EditedLines { search, replace, .. } = edited_lines(found, range)?;
        let search_text = SearchText { search, replace: &replace, on_duplicate: OnDuplicate::Reject };
        let works = matches!(literal::literal(search_text, range), Some(Located::One(_)));
        let whole = !replace.is_empty() && replace.ends_with('\n') == search.ends_with('\n');
        (works && whole).then(|| Proposal { search: search.to_owned(), replace })
    }
}

/// Returns true if the edited text of a match is already around it, with more lines than the match has.
pub(super) fn is_applied(found: &UniqueMatch, range: LineRange<'_>) -> bool {
    edited_lines(found, range).is_some_and(|lines| {
        exact::applied_line(range.view, &lines.span, lines.search, &lines.replace).is_some()
    })
}

/// The lines of a match.
struct EditedLines<'a> {
    /// Their bytes in the view.
    span: Range<usize>,
    search: &'a str,
    /// Their edited form.
    replace: String,
}

/// Returns the lines of a match; `None` if the edit reaches beyond them.
fn edited_lines<'a>(found: &UniqueMatch, range: LineRange<'a>) -> Option<EditedLines<'a>> {
    let span = range.text.block(*found.lines.start(), *found.lines.end());
    let search = range.view.get(span.clone())?;
    let search = search.strip_suffix('\n').unwrap_or(search);
    let mut replace = search.to_owned();
    for change in found.changes.iter().rev() {
        let at = change.span.start.checked_sub(span.start)?..change.span.end.checked_sub(span.start)?;
        // Lines may be added behind the last one, whose newline is not included here.
        let behind = at.is_empty() && at.start == search.len() + 1;
        if behind {
            replace = format!("{replace}\n{}", change.text.strip_suffix('\n').unwrap_or(&change.text));
            continue;
        }
        search.get(at.clone())?;
        replace.replace_range(at, &change.text);
    }
    Some(EditedLines { span: span.start..span.start + search.len(), search, replace })
}
