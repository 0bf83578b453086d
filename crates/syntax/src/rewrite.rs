//! The rewriting of a text for a grammar that does not know all of its syntax.
//!
//! Invariant: a text keeps its length and its lines, so all positions stay the same.

use std::ops::Range;

/// A range of a text that a grammar does not know, and its replacement of the same length; `None` for spaces.
pub(super) type HiddenRange = (Range<usize>, Option<&'static str>);

/// Replaces ranges of a text; `None` if there are none. Of two that overlap, the first counts.
pub(super) fn rewrite(text: &str, mut hidden: Vec<HiddenRange>) -> Option<String> {
    if hidden.is_empty() {
        return None;
    }
    hidden.sort_by_key(|(range, _)| range.start);
    let (mut whole, mut last) = (String::with_capacity(text.len()), 0);
    for (range, other) in hidden {
        // Within a range that is hidden already.
        if range.start < last {
            continue;
        }
        whole.push_str(text.get(last..range.start)?);
        let keep = |c: char| if c == '\n' { "\n".to_owned() } else { " ".repeat(c.len_utf8()) };
        match other {
            Some(other) => whole.push_str(other),
            None => whole.extend(text.get(range.clone())?.chars().map(keep)),
        }
        last = range.end;
    }
    whole.push_str(text.get(last..)?);
    Some(whole)
}
