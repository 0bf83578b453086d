//! The call that would have worked: the same edit with the text that is really there.

use std::ops::Range;

use super::exact::occurrences;
use super::{Field, Located, OnRepeat, SearchText, UniqueMatch, exact, literal};

/// A quote of whole lines that finds its one place byte for byte.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proposal {
    /// The lines as they are.
    pub search: String,
    /// The lines as they would be.
    pub replace: String,
}

impl Proposal {
    /// Quotes the lines of a place and what the edit makes of them; nothing where that would not do the same by a plain
    /// replacement of strings.
    pub(super) fn from_match(found: &UniqueMatch, field: Field<'_>) -> Option<Proposal> {
        let (_, search, replace) = outcome(found, field)?;
        let once = occurrences(field.view, field.window(), search).nth(1).is_none();
        let quote = SearchText { search, replace: &replace, repeat: OnRepeat::Refused };
        let works = matches!(literal::literal(quote, field), Some(Located::One(_)));
        let whole = !replace.is_empty() && replace.ends_with('\n') == search.ends_with('\n');
        (once && works && whole).then(|| Proposal { search: search.to_owned(), replace })
    }
}

/// Returns true if what the edit makes of a place stands around it already, with more lines than the place has.
pub(super) fn stands(found: &UniqueMatch, field: Field<'_>) -> bool {
    outcome(found, field)
        .is_some_and(|(span, search, replace)| exact::stands(field.view, &span, search, &replace).is_some())
}

/// The lines of a place as bytes of the view, and what the edit makes of them; nothing where it reaches out of them.
fn outcome<'a>(found: &UniqueMatch, field: Field<'a>) -> Option<(Range<usize>, &'a str, String)> {
    let span = field.text.block(*found.lines.start(), *found.lines.end());
    let search = field.view.get(span.clone())?;
    let search = search.strip_suffix('\n').unwrap_or(search);
    let mut replace = search.to_owned();
    for change in found.changes.iter().rev() {
        let at = change.span.start.checked_sub(span.start)?..change.span.end.checked_sub(span.start)?;
        // Lines may be added behind the last one, whose newline is not among these.
        let behind = at.is_empty() && at.start == search.len() + 1;
        if behind {
            replace = format!("{replace}\n{}", change.text.strip_suffix('\n').unwrap_or(&change.text));
            continue;
        }
        search.get(at.clone())?;
        replace.replace_range(at, &change.text);
    }
    Some((span.start..span.start + search.len(), search, replace))
}
