//! Character sets as sorted ranges of code points, and the tables of Python's own classes.
//!
//! The tables are those of Unicode 14, the version of Python 3.11. Rust's own tables are newer and would differ.
//!
//! Invariant: the ranges of a [`CharSet`] are sorted, disjoint and not adjacent.

use std::sync::LazyLock;

use super::ast::Category;

pub(super) const LAST: u32 = 0x10_FFFF;

#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(super) struct CharSet {
    ranges: Vec<(u32, u32)>,
    ascii: u128,
}

impl CharSet {
    pub(super) fn new(mut ranges: Vec<(u32, u32)>) -> CharSet {
        ranges.sort_unstable();
        let mut merged: Vec<(u32, u32)> = Vec::with_capacity(ranges.len());
        for (from, to) in ranges {
            match merged.last_mut() {
                Some(last) if from <= last.1.saturating_add(1) => last.1 = last.1.max(to),
                Some(_) | None => merged.push((from, to)),
            }
        }
        let mut set = CharSet { ranges: merged, ascii: 0 };
        let low = set.ranges.iter().take_while(|range| range.0 < 128);
        set.ascii = low.flat_map(|(from, to)| *from..=(*to).min(127)).fold(0, |bits, char| bits | 1 << char);
        set
    }

    pub(super) fn ranges(&self) -> &[(u32, u32)] {
        &self.ranges
    }

    #[inline]
    pub(super) fn contains(&self, char: u32) -> bool {
        if char < 128 { self.ascii >> char & 1 == 1 } else { self.meets(char, char) }
    }

    pub(super) fn complement(&self) -> CharSet {
        let mut out = Vec::with_capacity(self.ranges.len() + 1);
        let mut from = 0;
        for (start, end) in &self.ranges {
            if *start > from {
                out.push((from, start - 1));
            }
            from = end + 1;
        }
        if from <= LAST {
            out.push((from, LAST));
        }
        CharSet::new(out)
    }

    /// Returns the ranges that both sets contain.
    pub(super) fn common(&self, other: &CharSet) -> Vec<(u32, u32)> {
        let mut out = Vec::new();
        for (from, to) in &self.ranges {
            let after = other.ranges.partition_point(|range| range.1 < *from);
            let shared = other.ranges.iter().skip(after).take_while(|range| range.0 <= *to);
            out.extend(shared.map(|range| (range.0.max(*from), range.1.min(*to))));
        }
        out
    }

    /// Returns true if the set has a character of this range.
    pub(super) fn meets(&self, from: u32, to: u32) -> bool {
        let after = self.ranges.partition_point(|range| range.1 < from);
        self.ranges.get(after).is_some_and(|range| range.0 <= to)
    }
}

static WORD: LazyLock<CharSet> = LazyLock::new(|| read(include_str!("tables/word.txt")));
static DIGIT: LazyLock<CharSet> = LazyLock::new(|| read(include_str!("tables/digit.txt")));
static SPACE: LazyLock<CharSet> = LazyLock::new(|| read(include_str!("tables/space.txt")));
static ASCII_WORD: LazyLock<CharSet> = LazyLock::new(|| read("30-39 41-5a 5f 61-7a"));
static ASCII_DIGIT: LazyLock<CharSet> = LazyLock::new(|| read("30-39"));
static ASCII_SPACE: LazyLock<CharSet> = LazyLock::new(|| read("9-d 20"));

/// The characters that a class covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ClassScope {
    /// The class covers all of Unicode.
    Unicode,
    /// The class covers ASCII characters only.
    Ascii,
}

pub(super) fn members(category: Category, scope: ClassScope) -> &'static CharSet {
    match (category, scope) {
        (Category::WordChar, ClassScope::Unicode) => &WORD,
        (Category::Digit, ClassScope::Unicode) => &DIGIT,
        (Category::Space, ClassScope::Unicode) => &SPACE,
        (Category::WordChar, ClassScope::Ascii) => &ASCII_WORD,
        (Category::Digit, ClassScope::Ascii) => &ASCII_DIGIT,
        (Category::Space, ClassScope::Ascii) => &ASCII_SPACE,
    }
}

/// Parses `from-to` ranges in hexadecimal.
fn read(table: &str) -> CharSet {
    CharSet::new(table.split_whitespace().filter_map(range).collect())
}

/// Parses one `from-to` range or one code point, in hexadecimal.
pub(super) fn range(text: &str) -> Option<(u32, u32)> {
    let (from, to) = text.split_once('-').unwrap_or((text, text));
    Some((u32::from_str_radix(from, 16).ok()?, u32::from_str_radix(to, 16).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_complement_holds_what_the_set_does_not() {
        let set = CharSet::new(vec![(0, 3), (97, 99), (98, 122), (0x10_FFFF, 0x10_FFFF)]);
        let other = set.complement();
        assert_eq!(other.ranges(), [(4, 96), (123, 0x10_FFFE)]);
        assert_eq!(other.complement(), set);
        assert!(set.contains(98) && !other.contains(98) && set.meets(90, 97) && !set.meets(4, 96));
    }

    #[test]
    fn classes_are_pythons_and_not_rusts() {
        let word = members(Category::WordChar, ClassScope::Unicode);
        assert!(word.contains(0xBD) && word.contains(0x661) && word.contains(0x5F));
        assert!(!word.contains(0x301), "a combining mark is no word character in Python");
        assert!(members(Category::Space, ClassScope::Unicode).contains(0x1C));
        assert!(!members(Category::Space, ClassScope::Ascii).contains(0x1C));
    }
}
