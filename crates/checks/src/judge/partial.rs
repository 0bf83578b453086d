//! Selects the part of a fixer's changes that belongs to an edit.
//!
//! A formatter returns a whole text. In a file that was not formatted before, most of its changes are outside
//! of the edit. A change belongs to the edit if it meets a line that the edit wrote, or if the fixer would
//! not have made it in the text before: an import that the new lines need, or neighbours that are aligned
//! with them. So a file that was formatted before is formatted completely.
//!
//! Changes are compared as ranges of lines, as short as possible while both sides have the same letters and
//! marks.
//!
//! Invariant: the ranges are sorted and disjoint, and all of them together turn one text into the other.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use crate::draft::Draft;
use lockgate_text::{Buffer, differing_lines};

/// The most lines outside of the edit that one change on an edited line may have, if the fixer would change them without
/// the edit as well: a list of numbers, of which every row is filled anew.
const MAX_OTHERS: usize = 8;

/// Lines of a text and their replacement by a fixer, both counted from 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ChangedLines {
    old: Range<usize>,
    new: Range<usize>,
}

impl ChangedLines {
    fn lines(&self) -> usize {
        self.old.len().max(self.new.len())
    }

    /// Returns the ranges in texts with this many more lines before them.
    fn moved(self, old: usize, new: usize) -> ChangedLines {
        ChangedLines {
            old: self.old.start + old..self.old.end + old,
            new: self.new.start + new..self.new.end + new,
        }
    }
}

/// A text, the text that a fixer makes of it, and the differences.
#[derive(Debug)]
pub(super) struct Changes<'a> {
    old: Vec<&'a str>,
    new: Vec<&'a str>,
    stretches: Vec<ChangedLines>,
}

/// The changes of a fixer, split into those that belong to an edit and the rest.
#[derive(Debug)]
pub(super) struct Selection<'c, 'a> {
    changes: &'c Changes<'a>,
    selected: Vec<&'c ChangedLines>,
    rest: Vec<&'c ChangedLines>,
}

/// The indentation of the selected lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Indent {
    /// The indentation of the fixer's text.
    Fixer,
    /// The indentation of the draft, from the first line of each change.
    Draft,
}

impl<'a> Changes<'a> {
    /// Compares a text with the text that a fixer makes of it.
    pub(super) fn new(before: &'a str, after: &'a str) -> Changes<'a> {
        let old: Vec<&str> = before.split_inclusive('\n').collect();
        let new: Vec<&str> = after.split_inclusive('\n').collect();
        let stretches = stretches(&old, &new);
        Changes { old, new, stretches }
    }

    /// True if a change is on lines that the edit did not write.
    pub(super) fn touches_other_lines(&self, draft: &Draft<'_>) -> bool {
        self.stretches
            .iter()
            .any(|stretch| !self.meets(stretch, draft) || others(stretch, draft) > MAX_OTHERS)
    }

    /// Selects the changes that belong to the edit. `before` are the fixer's changes to the text before, if
    /// it could read that.
    pub(super) fn select(&self, draft: &Draft<'_>, before: Option<&Changes<'_>>) -> Selection<'_, 'a> {
        let old_lines = self.untouched(draft);
        let due: HashSet<(Range<usize>, String)> = before.map(Changes::contents).unwrap_or_default();
        let is_long_due = |stretch: &ChangedLines| {
            others(stretch, draft) > MAX_OTHERS
                && before.is_some_and(|before| before.changes_most(stretch, &old_lines))
        };
        let (selected, rest) = self.stretches.iter().partition(|stretch| {
            !is_long_due(stretch)
                && (self.meets(stretch, draft)
                    || match before {
                        Some(_) => !self.was_due(stretch, &old_lines, &due),
                        None => self.adjoins(stretch, draft),
                    })
        });
        Selection { changes: self, selected, rest }
    }

    /// Returns each change as the replaced lines and their new text.
    fn contents(&self) -> HashSet<(Range<usize>, String)> {
        self.stretches.iter().map(|stretch| (stretch.old.clone(), self.text(stretch))).collect()
    }

    fn text(&self, stretch: &ChangedLines) -> String {
        self.new.get(stretch.new.clone()).unwrap_or_default().concat()
    }

    /// Maps the lines that the edit left alone to their indices in the text before, both from 0.
    fn untouched(&self, draft: &Draft<'_>) -> HashMap<usize, usize> {
        let count = draft.before.map_or(0, |before| before.lines().count());
        (0..count).filter_map(|old| Some((draft.map.new_line_of(old + 1)? - 1, old))).collect()
    }

    /// True if the fixer makes the same change in the text before.
    fn was_due(
        &self,
        stretch: &ChangedLines,
        old_lines: &HashMap<usize, usize>,
        due: &HashSet<(Range<usize>, String)>,
    ) -> bool {
        let is_due = |old: Range<usize>| due.contains(&(old, self.text(stretch)));
        let at = |line: usize| old_lines.get(&line).copied();
        let Range { start, end } = stretch.old;
        if start < end {
            let Some((first, last)) = at(start).zip(at(end - 1)) else { return false };
            let is_one_block = last.checked_sub(first).is_some_and(|span| span + 1 == end - start);
            return is_one_block && is_due(first..last + 1);
        }
        let behind = start.checked_sub(1).map_or(Some(0), |line| Some(at(line)? + 1));
        behind.is_some_and(|place| is_due(place..place))
            || at(start).is_some_and(|place| is_due(place..place))
    }

    /// True if the fixer changes most of the lines of this change in the text before as well.
    fn changes_most(&self, stretch: &ChangedLines, old_lines: &HashMap<usize, usize>) -> bool {
        let is_changed = |line: &usize| self.stretches.iter().any(|own| own.old.contains(line));
        let lines = stretch.old.clone().filter_map(|line| old_lines.get(&line));
        let changed = lines.filter(|line| is_changed(line)).count();
        changed * 2 > stretch.old.len()
    }

    /// True if a change is on a line that the edit wrote, or between two of them.
    fn meets(&self, stretch: &ChangedLines, draft: &Draft<'_>) -> bool {
        let Range { start, end } = stretch.old;
        if start < end {
            return (start..end).any(|line| draft.wrote(line + 1));
        }
        let behind = start == 0 || draft.wrote(start);
        let ahead = start == self.old.len() || draft.wrote(start + 1);
        behind && ahead
    }

    /// True if a change inserts lines next to one that the edit wrote.
    fn adjoins(&self, stretch: &ChangedLines, draft: &Draft<'_>) -> bool {
        let at = stretch.old.start;
        stretch.old.is_empty() && (draft.wrote(at) || draft.wrote(at + 1))
    }
}

impl Selection<'_, '_> {
    /// True if all changes belong to the edit.
    pub(super) fn is_all(&self) -> bool {
        self.rest.is_empty()
    }

    /// True if no change belongs to the edit.
    pub(super) fn is_none(&self) -> bool {
        self.selected.is_empty()
    }

    /// Returns the number of lines that the fixer would change and that are left as they are.
    pub(super) fn lines_left(&self) -> usize {
        self.rest.iter().map(|stretch| stretch.lines()).sum()
    }

    /// Returns the text with the selected changes, once for each plausible indentation, the better one first.
    pub(super) fn texts(&self) -> Vec<String> {
        let order = if self.stands_among_others() {
            [Indent::Draft, Indent::Fixer]
        } else {
            [Indent::Fixer, Indent::Draft]
        };
        let mut texts: Vec<String> = order.into_iter().map(|indent| self.text(indent)).collect();
        texts.dedup();
        texts
    }

    /// True if the fixer would reindent a neighbour of the selected lines that is left as it is.
    fn stands_among_others(&self) -> bool {
        let Changes { old, new, .. } = self.changes;
        let is_blank = |line: usize| old.get(line).is_none_or(|text| text.trim().is_empty());
        let is_indented_anew = |line: usize| {
            let stretch = self.rest.iter().find(|stretch| stretch.old.contains(&line));
            stretch.is_some_and(|stretch| {
                let [was, is] = [old.get(stretch.old.start), new.get(stretch.new.start)];
                was.map(|line| indent(line)) != is.map(|line| indent(line))
            })
        };
        let neighbours = |stretch: &&ChangedLines| {
            let above = (0..stretch.old.start).rev().find(|line| !is_blank(*line));
            let below = (stretch.old.end..old.len()).find(|line| !is_blank(*line));
            [above, below].into_iter().flatten().any(is_indented_anew)
        };
        self.selected.iter().any(neighbours)
    }

    fn text(&self, indentation: Indent) -> String {
        let Changes { old, new, .. } = self.changes;
        let (mut text, mut from) = (String::new(), 0);
        for stretch in &self.selected {
            text.extend(old.get(from..stretch.old.start).unwrap_or_default().iter().copied());
            let lines = new.get(stretch.new.clone()).unwrap_or_default();
            let first = |lines: &[&str]| lines.first().map_or(String::new(), |line| indent(line).to_owned());
            let own = first(old.get(stretch.old.clone()).unwrap_or_default());
            let fixed_indent = first(lines);
            for line in lines {
                match (indentation, line.strip_prefix(fixed_indent.as_str())) {
                    (Indent::Draft, Some(rest)) if !stretch.old.is_empty() && !line.trim().is_empty() => {
                        text.push_str(&own);
                        text.push_str(rest);
                    }
                    (Indent::Draft | Indent::Fixer, _) => text.push_str(line),
                }
            }
            from = stretch.old.end;
        }
        text.extend(old.get(from..).unwrap_or_default().iter().copied());
        text
    }
}

/// True if an edit wrote most lines of a text, so that there is little to leave alone.
pub(super) fn writes_most(draft: &Draft<'_>, after: &Buffer) -> bool {
    let count = after.lines().count();
    let written = (1..=count).filter(|line| draft.wrote(*line)).count();
    written * 2 > count
}

/// The number of lines of a change that the edit did not write.
fn others(stretch: &ChangedLines, draft: &Draft<'_>) -> usize {
    stretch.old.clone().filter(|line| !draft.wrote(line + 1)).count()
}

fn indent(line: &str) -> &str {
    let text = line.trim_start_matches([' ', '\t']);
    line.get(..line.len() - text.len()).unwrap_or_default()
}

/// The characters of a text that formatters do not change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Letters {
    /// All except white space, commas, semicolons and backslashes; all quotes are equal.
    Marks,
    /// Letters, digits and `_`, ignoring case.
    Words,
}

impl Letters {
    fn filter_line(self, line: &str) -> impl Iterator<Item = char> {
        line.chars().filter_map(move |letter| self.filter_char(letter))
    }

    fn filter_lines<'a>(self, lines: &'a [&'a str]) -> impl Iterator<Item = char> + 'a {
        lines.iter().flat_map(move |line| self.filter_line(line))
    }

    fn filter_char(self, letter: char) -> Option<char> {
        match self {
            Letters::Marks if letter.is_whitespace() || matches!(letter, ',' | ';' | '\\') => None,
            Letters::Marks if matches!(letter, '\'' | '"' | '`') => Some('"'),
            Letters::Marks => Some(letter),
            Letters::Words if letter.is_alphanumeric() || letter == '_' => letter.to_lowercase().next(),
            Letters::Words => None,
        }
    }

    /// Returns the number of characters before each line, and the total.
    fn sums(self, lines: &[&str]) -> Vec<usize> {
        let mut sum = 0;
        let line_ends = lines.iter().map(|line| {
            sum += self.filter_line(line).count();
            sum
        });
        std::iter::once(0).chain(line_ends).collect()
    }
}

fn stretches(old: &[&str], new: &[&str]) -> Vec<ChangedLines> {
    let all = split(old, new, Letters::Marks).unwrap_or_else(|| {
        let pieces = differing_lines(old, new).into_iter();
        pieces.flat_map(|(old_range, new_range)| refined(old, new, old_range, new_range)).collect()
    });
    let differs = |stretch: &ChangedLines| old.get(stretch.old.clone()) != new.get(stretch.new.clone());
    all.into_iter().filter(differs).collect()
}

/// Splits a difference into shorter ones: by characters if both sides have the same ones, otherwise at equal
/// lines.
fn refined(
    old: &[&str],
    new: &[&str],
    old_range: Range<usize>,
    new_range: Range<usize>,
) -> Vec<ChangedLines> {
    let (before, after) =
        (old.get(old_range.clone()).unwrap_or_default(), new.get(new_range.clone()).unwrap_or_default());
    let cut = with_same_letters(before, after).unwrap_or_else(|| at_same_lines(before, after));
    cut.into_iter().map(|stretch| stretch.moved(old_range.start, new_range.start)).collect()
}

fn with_same_letters(old: &[&str], new: &[&str]) -> Option<Vec<ChangedLines>> {
    [Letters::Marks, Letters::Words].into_iter().find_map(|letters| split(old, new, letters))
}

/// Splits a difference at lines that have the same words on both sides.
fn at_same_lines(old: &[&str], new: &[&str]) -> Vec<ChangedLines> {
    let words = |lines: &[&str]| -> Vec<String> {
        lines.iter().map(|line| Letters::Words.filter_line(line).collect()).collect()
    };
    let (before, after) = (words(old), words(new));
    let (before, after): (Vec<&str>, Vec<&str>) =
        (before.iter().map(String::as_str).collect(), after.iter().map(String::as_str).collect());
    let (mut cut, mut at) = (Vec::new(), (0, 0));
    let end = (old.len()..old.len(), new.len()..new.len());
    for (old_range, new_range) in differing_lines(&before, &after).into_iter().chain([end]) {
        let same = (at.0..old_range.start).zip(at.1..new_range.start);
        cut.extend(same.map(|(i, j)| ChangedLines { old: i..i + 1, new: j..j + 1 }));
        at = (old_range.end, new_range.end);
        let (was, is) =
            (old.get(old_range.clone()).unwrap_or_default(), new.get(new_range.clone()).unwrap_or_default());
        let whole = || vec![ChangedLines { old: 0..was.len(), new: 0..is.len() }];
        let inside = with_same_letters(was, is).unwrap_or_else(whole);
        cut.extend(inside.into_iter().map(|stretch| stretch.moved(old_range.start, new_range.start)));
    }
    cut
}

/// Splits two texts with the same characters at lines that have equally many of them before on both sides;
/// `None` if the characters differ.
fn split(old: &[&str], new: &[&str], letters: Letters) -> Option<Vec<ChangedLines>> {
    if old.is_empty() || new.is_empty() || !letters.filter_lines(old).eq(letters.filter_lines(new)) {
        return None;
    }
    let (before, after) = (letters.sums(old), letters.sums(new));
    let (mut cuts, mut i, mut j) = (vec![(0, 0)], 0, 0);
    while let (Some(one), Some(other)) = (before.get(i), after.get(j)) {
        if one < other {
            i += 1;
        } else if one > other {
            j += 1;
        } else {
            let last = |sums: &[usize], from: usize| {
                from + sums.get(from..).unwrap_or_default().iter().take_while(|sum| *sum == one).count() - 1
            };
            // Lines without such characters: with `Marks`, they are blank; with `Words`, they end the change
            // above.
            if letters == Letters::Marks {
                cuts.push((i, j));
            }
            (i, j) = (last(&before, i), last(&after, j));
            cuts.push((i, j));
            (i, j) = (i + 1, j + 1);
        }
    }
    let between = cuts.iter().zip(cuts.iter().skip(1));
    let stretch = |(from, to): (&(usize, usize), &(usize, usize))| ChangedLines {
        old: from.0..to.0,
        new: from.1..to.1,
    };
    Some(between.map(stretch).map(|stretch| without_common_blanks(stretch, old, new)).collect())
}

/// Removes the blank lines that both sides share from a change of blank lines.
fn without_common_blanks(stretch: ChangedLines, old: &[&str], new: &[&str]) -> ChangedLines {
    let ChangedLines { old: mut old_range, new: mut new_range } = stretch;
    let is_blank = |lines: &[&str], range: &Range<usize>| {
        lines.get(range.clone()).unwrap_or_default().iter().all(|line| line.trim().is_empty())
    };
    if is_blank(old, &old_range) && is_blank(new, &new_range) {
        while !old_range.is_empty()
            && !new_range.is_empty()
            && old.get(old_range.start) == new.get(new_range.start)
        {
            (old_range.start, new_range.start) = (old_range.start + 1, new_range.start + 1);
        }
    }
    ChangedLines { old: old_range, new: new_range }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draft::InputLocation;
    use lockgate_text::Hints;

    /// Returns the text with the selected changes, in the better indentation, and the number of lines left.
    fn apply(before: &str, after: &str, formatted_before: Option<&str>, formatted: &str) -> (String, usize) {
        let read = |text: &str| Buffer::read(text.as_bytes().to_vec(), Hints::default()).unwrap();
        let (old, new) = (read(before), read(after));
        let map = old.rewrite(after).unwrap().line_map(&old, &new);
        let draft = Draft {
            path: "a",
            language: None,
            before: Some(&old),
            after: &new,
            map: &map,
            input_location: InputLocation::OverFile,
            files_exist: &|_| false,
        };
        let changes = Changes::new(after, formatted);
        let due = formatted_before.map(|formatted| Changes::new(before, formatted));
        let selection = changes.select(&draft, due.as_ref());
        (selection.texts().into_iter().next().unwrap(), selection.lines_left())
    }

    /// Checks that all changes together turn one text into the other, and returns them.
    #[track_caller]
    fn cut(old: &str, new: &str) -> Vec<(Range<usize>, Range<usize>)> {
        let changes = Changes::new(old, new);
        let all = Selection { changes: &changes, selected: changes.stretches.iter().collect(), rest: vec![] };
        assert_eq!(all.text(Indent::Fixer), new);
        changes.stretches.iter().map(|stretch| (stretch.old.clone(), stretch.new.clone())).collect()
    }

    #[test]
    fn lines_that_are_next_to_each_other_are_changes_of_their_own() {
        assert_eq!(
            cut("a=1\nb=2\nc=3\n", "a = 1\nb = 2\nc = 3\n"),
            [(0..1, 0..1), (1..2, 1..2), (2..3, 2..3)]
        );
        assert_eq!(cut("f('a', b)\ng(c)\n", "f(\n  \"a\",\n  b,\n)\ng( c )\n"), [(0..1, 0..4), (1..2, 4..5)]);
        assert_eq!(cut("f(\na)\nx=1\n", "f(a)\nx = 1\n"), [(0..2, 0..1), (2..3, 1..2)]);
        assert_eq!(
            cut("x = 1\ndef f(): pass\n", "x = 1\n\n\ndef f():\n    pass\n"),
            [(1..1, 1..3), (1..2, 3..5)]
        );
        assert_eq!(cut("b\n\n\n\na\n", "b\n\na\n"), [(2..4, 2..2)]);
        assert_eq!(cut("a\nb", "a\nb\n"), [(1..2, 1..2)]);
    }

    #[test]
    fn other_letters_are_cut_as_far_as_lines_stay() {
        assert_eq!(cut("x\nimport b\n", "import a\nx\nimport b\n"), [(0..0, 0..1)]);
        assert_eq!(cut("0XFF\nx=1\n", "0xff\nx = 1\n"), [(0..1, 0..1), (1..2, 1..2)]);
        assert_eq!(cut("", "a\n"), [(0..0, 0..1)]);
        assert_eq!(cut("a\n", ""), [(0..1, 0..0)]);
    }

    #[test]
    fn in_an_unformatted_text_only_edited_lines_are_formatted() {
        let before = "a=1\nb=2\nc=3\n";
        let (after, formatted) = ("a=1\nb=5\nc=3\n", "a = 1\nb = 5\nc = 3\n");
        assert_eq!(
            apply(before, after, Some("a = 1\nb = 2\nc = 3\n"), formatted),
            ("a=1\nb = 5\nc=3\n".into(), 2)
        );
        assert_eq!(apply(before, after, None, formatted), ("a=1\nb = 5\nc=3\n".into(), 2));
    }

    /// A formatter that fills rows anew changes all of them at once. The control: in a text that was formatted before,
    /// the same change belongs to the edit.
    #[test]
    fn rows_that_were_due_before_are_not_filled_because_one_was_edited() {
        let rows = |from: &str, width: usize| {
            let words: Vec<&str> = from.split(' ').collect();
            words.chunks(width).map(|row| row.join(", ") + ",\n").collect::<String>()
        };
        let numbers = (100..200).map(|number| number.to_string()).collect::<Vec<_>>().join(" ");
        let edited = numbers.replace("150", "1500");
        let (before, after) = (rows(&numbers, 4), rows(&edited, 4));
        let (was, formatted) = (rows(&numbers, 11), rows(&edited, 11));
        let (text, left) = apply(&before, &after, Some(&was), &formatted);
        assert_eq!(text, after);
        assert!(left > 20, "{left}");
        assert_eq!(apply(&before, &after, Some(&before), &formatted).0, formatted);
    }

    #[test]
    fn changes_that_the_edit_causes_elsewhere_are_selected() {
        let (before, after) = ("y=1\nuse x\n", "y=1\nuse a\n");
        let formatted = "import a\ny = 1\nuse a\n";
        assert_eq!(
            apply(before, after, Some("y = 1\nuse x\n"), formatted),
            ("import a\ny=1\nuse a\n".into(), 1)
        );
        assert_eq!(
            apply(before, after, Some(before), formatted),
            (formatted.into(), 0),
            "was formatted before"
        );
        assert_eq!(apply(before, after, None, formatted), (after.into(), 2), "nobody knows what was due");
    }

    #[test]
    fn lines_keep_the_indentation_of_neighbours_that_are_left() {
        let before = "if a:\n  b=1\n  c=2\n  d=3\n";
        let after = "if a:\n  b=1\n  c=[4,5]\n  d=3\n";
        let was = "if a:\n    b = 1\n    c = 2\n    d = 3\n";
        let formatted = "if a:\n    b = 1\n    c = [4, 5]\n    d = 3\n";
        assert_eq!(
            apply(before, after, Some(was), formatted),
            ("if a:\n  b=1\n  c = [4, 5]\n  d=3\n".into(), 2)
        );
        let (before, after) = ("if a:\n    b=1\n    c = 2\n", "if a:\n    b=1\n      c=4\n");
        let was = "if a:\n    b = 1\n    c = 2\n";
        let formatted = "if a:\n    b = 1\n    c = 4\n";
        assert_eq!(apply(before, after, Some(was), formatted), ("if a:\n    b=1\n    c = 4\n".into(), 1));
    }

    #[test]
    fn blank_lines_next_to_the_edit_are_selected_only_if_it_caused_them() {
        let was = "x = 1\n\n\ndef f():\n    return 1\n";
        let (before, after) = ("x = 1\ndef f():\n    return 1\n", "x = 1\ndef f(a):\n    return 1\n");
        let formatted = "x = 1\n\n\ndef f(a):\n    return 1\n";
        assert_eq!(apply(before, after, Some(was), formatted), (after.into(), 2));
        let (before, after) = ("x=1\n", "x=1\ndef f(): pass\n");
        let formatted = "x = 1\n\n\ndef f(): pass\n";
        assert_eq!(apply(before, after, Some("x = 1\n"), formatted), ("x=1\n\n\ndef f(): pass\n".into(), 1));
    }
}
