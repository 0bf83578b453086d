//! The nonblank lines of a text with the number of blank lines between them, for the levels below `exact`.

use super::fold::{Folded, is_blank_line, is_plain, padded, positions_of};
use super::indent::indent_of;
use super::search_text::LineRange;

/// The lines of a quoted text that are not blank.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct NonBlankLines<'a> {
    /// Each line, without its line end.
    pub(super) lines: Vec<&'a str>,
    /// The number of blank lines before each line, and after the last one.
    pub(super) gaps: Vec<usize>,
}

impl<'a> NonBlankLines<'a> {
    /// Splits a text into lines; a newline at the end terminates the last one.
    pub(super) fn new(text: &'a str) -> NonBlankLines<'a> {
        NonBlankLines::from_lines(
            text.strip_suffix('\n').unwrap_or(text).split('\n').filter(|_| !text.is_empty()),
        )
    }

    pub(super) fn from_lines(all: impl Iterator<Item = &'a str>) -> NonBlankLines<'a> {
        let (mut lines, mut gaps, mut gap) = (Vec::new(), Vec::new(), 0);
        for line in all {
            if is_blank_line(line) {
                gap += 1;
            } else {
                lines.push(line);
                gaps.push(gap);
                gap = 0;
            }
        }
        gaps.push(gap);
        NonBlankLines { lines, gaps }
    }

    /// Returns true if no line is indented.
    pub(super) fn is_flat(&self) -> bool {
        self.lines.iter().all(|line| indent_of(line).is_empty())
    }

    /// Returns the lines without the blanks at their ends.
    pub(super) fn trimmed(&self) -> NonBlankLines<'a> {
        NonBlankLines { lines: self.lines.iter().map(|line| line.trim()).collect(), gaps: self.gaps.clone() }
    }

    /// Returns the number of lines that are not blank.
    pub(super) fn len(&self) -> usize {
        self.lines.len()
    }

    /// Returns a line; `""` beyond the last one.
    pub(super) fn line(&self, index: usize) -> &'a str {
        self.lines.get(index).copied().unwrap_or_default()
    }

    /// Returns the number of blank lines before a line, or at the end.
    pub(super) fn gap(&self, index: usize) -> usize {
        self.gaps.get(index).copied().unwrap_or_default()
    }

    /// Returns the keys of all lines.
    pub(super) fn keys(&self) -> Vec<u32> {
        self.lines.iter().map(|line| key(line)).collect()
    }
}

/// A line of the file that is not blank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NonBlankLine {
    /// The line number, from 1.
    line: u32,
    /// The key of its text.
    key: u32,
}

/// The lines of a file, or of a part of it, that are not blank.
#[derive(Debug)]
pub(super) struct FoldedLines<'a> {
    /// The file, or its part.
    pub(super) range: LineRange<'a>,
    entries: Vec<NonBlankLine>,
}

impl<'a> FoldedLines<'a> {
    pub(super) fn new(range: LineRange<'a>) -> FoldedLines<'a> {
        let text = range.text;
        let range = LineRange { last: range.last.min(text.count()), ..range };
        let entry = |line: usize| {
            let content = text.text(line);
            let line = u32::try_from(line).ok()?;
            (!is_blank_line(content)).then(|| NonBlankLine { line, key: key(content) })
        };
        let entries = (range.first..=range.last).filter_map(entry).collect();
        FoldedLines { range, entries }
    }

    /// Returns the first and the last line of the part.
    pub(super) fn window(&self) -> (usize, usize) {
        (self.range.first, self.range.last)
    }

    /// Returns the number of lines that are not blank.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns the number in the file of the line with this index; 0 beyond the last one.
    pub(super) fn number(&self, index: usize) -> usize {
        self.entries.get(index).map_or(0, |entry| entry.line as usize)
    }

    /// Returns the line with this index, without its line end.
    pub(super) fn line(&self, index: usize) -> &'a str {
        self.range.text.text(self.number(index))
    }

    /// Returns the index of the first line with this number or a higher one.
    pub(super) fn index_of(&self, number: usize) -> usize {
        self.entries.partition_point(|entry| (entry.line as usize) < number)
    }

    /// Returns the key of the line with this index; 0 beyond the last one.
    pub(super) fn key(&self, index: usize) -> u32 {
        self.entries.get(index).map_or(0, |entry| entry.key)
    }

    /// Counts the lines of a sequence of keys that are equal to those from an index on, each in its position.
    pub(super) fn equal_lines(&self, keys: &[u32], at: usize) -> usize {
        let entries = self.entries.get(at..).unwrap_or_default();
        keys.iter().zip(entries).filter(|(key, entry)| **key == entry.key).count()
    }

    /// Finds the occurrences of a sequence of keys, by Knuth, Morris and Pratt: in time linear in both.
    pub(super) fn windows<'k>(&'k self, keys: &'k [u32]) -> impl Iterator<Item = usize> + 'k {
        let borders = borders(keys);
        let mut matched = 0;
        self.entries.iter().enumerate().filter_map(move |(index, entry)| {
            while matched > 0 && keys.get(matched) != Some(&entry.key) {
                matched = borders.get(matched - 1).copied().unwrap_or_default();
            }
            if keys.get(matched) == Some(&entry.key) {
                matched += 1;
            }
            (matched == keys.len() && matched > 0).then(|| {
                matched = borders.get(matched - 1).copied().unwrap_or_default();
                index + 1 - keys.len()
            })
        })
    }
}

/// Returns, for each prefix of the keys, the length of its longest proper prefix that is also its suffix.
fn borders(keys: &[u32]) -> Vec<usize> {
    let mut borders = vec![0; keys.len().min(1)];
    let mut length = 0;
    for key in keys.iter().skip(1) {
        while length > 0 && keys.get(length) != Some(key) {
            length = borders.get(length - 1).copied().unwrap_or_default();
        }
        length += usize::from(keys.get(length) == Some(key));
        borders.push(length);
    }
    borders
}

/// Returns a number that equal lines share, ignoring indentation, marks and quotes. Different lines rarely share one.
pub(super) fn key(line: &str) -> u32 {
    let line = line.trim();
    if is_plain(line) { hash(line) } else { hash(Folded::new(line).text.trim()) }
}

fn hash(text: &str) -> u32 {
    let (words, rest) = text.as_bytes().as_chunks::<8>();
    let mut hash = text.len() as u64;
    for word in words.iter().copied().chain(std::iter::once(padded(rest))) {
        let word = u64::from_le_bytes(word);
        // Both quotes count as one.
        let word = word ^ ((positions_of(b'\'', word) >> 7) * u64::from(b'\'' ^ b'"'));
        hash = (hash.rotate_left(5) ^ word).wrapping_mul(0xF135_7AEA_2E62_A9C5);
    }
    u32::try_from(hash >> 32).unwrap_or_default()
}
