//! Finds another place for a search text that matched by similarity.
//!
//! A place that lacks one quoted line may be nearer in characters than the intended one, which only has lines that the
//! quote lacks.

use std::collections::HashSet;
use std::ops::{Range, RangeInclusive};

use super::comment::{MAX_SIGNS, before_comment, before_signs};
use super::matcher::Matcher;
use super::rows::{FoldedLines, NonBlankLines, key};
use lockgate_text::Outline;

/// The result of a search for another place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OtherPlace {
    /// There is no other place.
    Absent,
    /// The first line of another place, from 1.
    At(usize),
    /// The budget was too small to look at all lines.
    OutOfBudget,
}

/// The keys of the lines of a file, and of the same lines without the comments at their ends.
struct FileKeys(Vec<(u32, Option<u32>)>);

impl FileKeys {
    fn new(matcher: &Matcher<'_>, outline: Option<&Outline>) -> FileKeys {
        let (folded, text) = (matcher.folded_lines(), matcher.range.text);
        let bare = |index: usize| {
            let code = before_comment(folded.line(index), text.span(folded.number(index)).start, outline?)?;
            Some(key(code))
        };
        FileKeys((0..folded.len()).map(|index| (folded.key(index), bare(index))).collect())
    }

    fn has(&self, index: usize, keys: &[u32]) -> bool {
        self.0.get(index).is_some_and(|(whole, bare)| {
            keys.iter().any(|key| key == whole || bare.is_some_and(|bare| bare == *key))
        })
    }

    /// Looks for all rows in order from an index on, with no more other lines between them than there are rows.
    fn scan(&self, first: usize, rows: &[Vec<u32>]) -> Scan {
        let (mut index, limit) = (first, first + 2 * rows.len());
        for row in rows {
            match (index..limit).find(|index| self.has(*index, row)) {
                Some(found) => index = found + 1,
                None => return Scan { end: limit, is_complete: false },
            }
        }
        Scan { end: index, is_complete: true }
    }
}

/// The lines that were looked at from one line on.
struct Scan {
    /// The index after the last one.
    end: usize,
    /// True if the lines have all rows.
    is_complete: bool,
}

/// Finds another place that has all quoted lines in their order, with at most as many other lines between them.
/// Comments at the ends of the file's lines do not count if the language is known, nor does that of the quoted line
/// that differs from the match. Those of all other quoted lines are in the match, and so may name it.
pub(super) fn find(
    matcher: &mut Matcher<'_>,
    own: &RangeInclusive<usize>,
    differing: Option<usize>,
    outline: &dyn Fn() -> Option<Outline>,
) -> OtherPlace {
    if !matcher.steps.take(matcher.range.window().len()) {
        return OtherPlace::OutOfBudget;
    }
    let quoted = NonBlankLines::new(matcher.search_text.search);
    let keys = |(row, line): (usize, &&str)| {
        let bare = before_signs(line).filter(|_| differing == Some(row));
        std::iter::once(*line).chain(bare).map(key).collect::<Vec<u32>>()
    };
    let mut rows: Vec<Vec<u32>> = quoted.lines.iter().enumerate().map(keys).collect();
    let folded = matcher.folded_lines();
    let count = folded.len();
    let own = folded.index_of(*own.start())..folded.index_of(*own.end() + 1);
    if !may_be_outside(folded, &own, &rows) {
        return OtherPlace::Absent;
    }
    let outline = outline();
    if outline.is_none() {
        rows.iter_mut().for_each(|keys| keys.truncate(1));
    }
    let Some(head) = rows.first() else { return OtherPlace::Absent };
    let file = FileKeys::new(matcher, outline.as_ref());
    for first in (0..count).filter(|first| !own.contains(first) && file.has(*first, head)) {
        let scan = file.scan(first, &rows);
        if !matcher.steps.take(scan.end - first) {
            return OtherPlace::OutOfBudget;
        }
        if scan.is_complete && (scan.end <= own.start || own.end <= first) {
            return OtherPlace::At(matcher.folded_lines().number(first));
        }
    }
    OtherPlace::Absent
}

/// Returns false if a row is no line outside of the match, with or without a comment at its end.
fn may_be_outside(folded: &FoldedLines<'_>, own: &Range<usize>, rows: &[Vec<u32>]) -> bool {
    let mut outside = HashSet::new();
    for index in (0..own.start).chain(own.end..folded.len()) {
        outside.insert(folded.key(index));
        let heads: Vec<u32> = before_signs(folded.line(index)).map(key).collect();
        // A comment may begin at a further sign.
        if heads.len() >= MAX_SIGNS {
            return true;
        }
        outside.extend(heads);
    }
    rows.iter().all(|keys| keys.iter().any(|key| outside.contains(key)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search_text::{LineRange, OnDuplicate, SearchText};
    use lockgate_text::{Buffer, Hints};

    #[test]
    fn the_work_is_bounded() {
        let file = "b\n".to_owned() + &"head\n".repeat(50_000) + "a\nb\nhead\nb\n";
        let buffer = Buffer::read(file.into_bytes(), Hints::default()).unwrap();
        let range = LineRange::new(&buffer, 1, usize::MAX);
        let other = |search: &str| {
            let search_text = SearchText { search, replace: "", on_duplicate: OnDuplicate::Reject };
            find(&mut Matcher::new(search_text, range), &(50_004..=50_005), None, &|| None)
        };
        assert_eq!(other("head\nb\n"), OtherPlace::At(50_000));
        assert_eq!(other("head\nb\na\n"), OtherPlace::Absent);
        assert_eq!(other(&("head\n".to_owned() + &"b\n".repeat(4_000))), OtherPlace::OutOfBudget);
        assert_eq!(other(&("head\n".repeat(4_000) + "only here\n")), OtherPlace::Absent);
    }
}
