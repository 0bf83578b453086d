//! A quote of the text that an earlier edit of the same call writes.

use super::search_replace;
use crate::operations::{Needle, Occurrences, Search};
use crate::planned::PlanContext;
use lockgate_matching::exact;
use lockgate_text::{Buffer, Hints};

/// Returns the index of the only earlier search whose replacement has the quote of a later one, once, and its replacement
/// with the later edit. `view` is the text before the call.
///
/// Returns `None` if the quote is in that text or in the quote of the earlier search, or if the later edit may have been made
/// already.
pub(super) fn written_by(
    earlier: &[&Search],
    later: &Search,
    view: &str,
    context: PlanContext<'_>,
) -> Option<(usize, String)> {
    let quote = literal_block(later).filter(|_| later.lines.is_none() && later.within.is_none())?;
    let occurs = |text: &str| exact::occurrences(view, 0..view.len(), text).next().is_some();
    if occurs(&quote) || occurs(&later.replace.replace("\r\n", "\n")) {
        return None;
    }
    let texts = earlier.iter().map(|search| search.replace.replace("\r\n", "\n")).enumerate();
    let mut writers = texts.filter(|(_, text)| text.contains(&quote));
    let (index, text) = writers.next().filter(|_| writers.next().is_none())?;
    let is_new = literal_block(earlier.get(index)?).is_some_and(|own| !own.contains(&quote));
    exact::only_occurrence(&text, 0..text.len(), &quote).filter(|_| is_new)?;
    let buffer = Buffer::read(text.as_bytes().to_vec(), Hints::default()).ok()?;
    let planned =
        search_replace::plan(later, &buffer, context).and_then(|planned| planned.with_end(&buffer)).ok()?;
    let after = buffer.apply(&planned.plan).ok()?;
    (buffer.view() == text).then(|| (index, after.view().to_owned()))
}

/// Returns the text of a search for one block.
fn literal_block(search: &Search) -> Option<String> {
    let Needle::Literal(quote) = &search.needle else { return None };
    let is_block = search.occurrences == Occurrences::Block && search.expect_matches.is_none();
    is_block.then(|| quote.replace("\r\n", "\n"))
}
