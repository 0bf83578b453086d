//! Finds another place for a search text that matched by similarity.
//!
//! A place that lacks one quoted line may be nearer in characters than the intended one, which only has lines that the
//! quote lacks.

use std::ops::RangeInclusive;

use super::comment::{before_comment, before_signs};
use super::matcher::Matcher;
use super::rows::{NonBlankLines, key};
use lockgate_text::Outline;

/// The keys of the lines of a file, and of the same lines without the comments at their ends.
struct FileKeys(Vec<(u32, Option<u32>)>);

impl FileKeys {
    /// Returns the keys of all lines of a search; `None` if the budget is too small.
    fn new(matcher: &mut Matcher<'_>, outline: Option<&Outline>) -> Option<FileKeys> {
        if !matcher.steps.take(matcher.range.window().len()) {
            return None;
        }
        let (folded, text) = (matcher.folded_lines(), matcher.range.text);
        let bare = |index: usize| {
            let code = before_comment(folded.line(index), text.span(folded.number(index)).start, outline?)?;
            Some(key(code))
        };
        Some(FileKeys((0..folded.len()).map(|index| (folded.key(index), bare(index))).collect()))
    }

    fn has(&self, index: usize, keys: &[u32]) -> bool {
        self.0.get(index).is_some_and(|(whole, bare)| {
            keys.iter().any(|key| key == whole || bare.is_some_and(|bare| bare == *key))
        })
    }

    /// Returns the end of the shortest run of lines from an index on that has all rows in order, with no more other
    /// lines between them than there are rows.
    fn end(&self, first: usize, rows: &[Vec<u32>]) -> Option<usize> {
        let (mut index, limit) = (first, first + 2 * rows.len());
        for row in rows {
            index = (index..limit).find(|index| self.has(*index, row))? + 1;
        }
        Some(index)
    }
}

/// Finds the first line of another place that has all quoted lines in their order, with at most as many other lines
/// between them. Comments at the ends of lines do not count if the language is known.
///
/// Returns `None` if the budget is too small to look at all lines.
pub(super) fn find(
    matcher: &mut Matcher<'_>,
    own: &RangeInclusive<usize>,
    outline: &dyn Fn() -> Option<Outline>,
) -> Option<Option<usize>> {
    let outline = outline();
    let quoted = NonBlankLines::new(matcher.search_text.search);
    let keys = |line: &&str| {
        let bare = before_signs(line).filter(|_| outline.is_some());
        std::iter::once(*line).chain(bare).map(key).collect::<Vec<u32>>()
    };
    let rows: Vec<Vec<u32>> = quoted.lines.iter().map(keys).collect();
    let Some(head) = rows.first() else { return Some(None) };
    let file = FileKeys::new(matcher, outline.as_ref())?;
    let folded = matcher.folded_lines();
    let own = folded.index_of(*own.start())..folded.index_of(*own.end() + 1);
    for first in (0..folded.len()).filter(|first| !own.contains(first) && file.has(*first, head)) {
        if !matcher.steps.take(2 * rows.len()) {
            return None;
        }
        if file.end(first, &rows).is_some_and(|end| end <= own.start || own.end <= first) {
            return Some(Some(matcher.folded_lines().number(first)));
        }
    }
    Some(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search_text::{LineRange, OnRepeat, SearchText};
    use lockgate_text::{Buffer, Hints};

    #[test]
    fn the_work_is_bounded() {
        let file = "head\n".repeat(50_000) + "a\nb\nhead\nb\n";
        let buffer = Buffer::read(file.into_bytes(), Hints::default()).unwrap();
        let range = LineRange::new(&buffer, 1, usize::MAX);
        let other = |search: &str| {
            let search_text = SearchText { search, replace: "", on_repeat: OnRepeat::Reject };
            find(&mut Matcher::new(search_text, range), &(50_003..=50_004), &|| None)
        };
        assert_eq!(other("head\nb\n"), Some(Some(49_999)));
        assert_eq!(other("head\nb\na\n"), Some(None));
        assert_eq!(other(&("head\n".to_owned() + &"b\n".repeat(4_000))), None);
    }
}
