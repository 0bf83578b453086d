//! Computes the characters that a one-character node matches, with case folding exactly as in CPython.
//!
//! CPython lowers the character of the text and compares it with a set that it lowered at compile time. Some of its
//! results are surprising, and are reproduced: a set does not match the upper case of a literal character beyond the
//! first plane. The work is done once here, so the engines only test set membership.
//!
//! Invariant: the tables are those of Unicode 14.

use std::sync::LazyLock;

use super::ast::{Item, Node, Polarity, Set};
use super::charset::{CharSet, ClassScope, LAST, members, range};
use super::flags::Flags;

/// The last character of the first plane (the Basic Multilingual Plane).
const PLANE: u32 = 0xFFFF;

/// The characters that a one-character node accepts.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum SingleChar {
    Char(u32),
    Set(CharSet),
}

impl SingleChar {
    #[inline]
    pub(super) fn accepts(&self, char: u32) -> bool {
        match self {
            SingleChar::Char(wanted) => *wanted == char,
            SingleChar::Set(set) => set.contains(char),
        }
    }

    /// Returns the characters as a set.
    pub(super) fn to_set(&self) -> CharSet {
        match self {
            SingleChar::Char(char) => CharSet::new(vec![(*char, *char)]),
            SingleChar::Set(set) => set.clone(),
        }
    }
}

/// The method of comparing two characters of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fold {
    Exact,
    Ascii,
    Unicode,
}

impl Fold {
    pub(super) fn from_flags(flags: Flags) -> Fold {
        match (flags.has(Flags::IGNORECASE), scope(flags)) {
            (false, _) => Fold::Exact,
            (true, ClassScope::Ascii) => Fold::Ascii,
            (true, ClassScope::Unicode) => Fold::Unicode,
        }
    }

    pub(super) fn lower(self, char: u32) -> u32 {
        match self {
            Fold::Exact => char,
            Fold::Ascii if (65..=90).contains(&char) => char + 32,
            Fold::Ascii => char,
            Fold::Unicode => mapped(&LOWER, char),
        }
    }

    fn is_cased(self, from: u32, to: u32) -> bool {
        match self {
            Fold::Exact => false,
            Fold::Ascii => (from <= 90 && to >= 65) || (from <= 122 && to >= 97),
            Fold::Unicode => CASED.meets(from, to),
        }
    }

    /// Returns the characters whose lower case differs, with that lower case.
    fn pairs(self) -> &'static [(u32, u32)] {
        match self {
            Fold::Exact => &[],
            Fold::Ascii => &ASCII_LOWER,
            Fold::Unicode => &LOWER,
        }
    }

    /// Returns the characters that are their own lower case.
    fn unmoved(self) -> &'static CharSet {
        match self {
            Fold::Exact => &ALL,
            Fold::Ascii => &ASCII_UNMOVED,
            Fold::Unicode => &UNMOVED,
        }
    }

    /// Returns the lowered characters that CPython treats as equal to a lowered one.
    fn equal_chars(self, lowered: u32) -> &'static [u32] {
        match (self, ALIKE.binary_search_by_key(&lowered, |(char, _)| *char)) {
            (Fold::Unicode, Ok(at)) => ALIKE.get(at).map_or(&[], |(_, equals)| equals.as_slice()),
            (Fold::Unicode, Err(_)) | (Fold::Exact | Fold::Ascii, _) => &[],
        }
    }
}

/// Returns the scope of the classes under some flags.
pub(super) fn scope(flags: Flags) -> ClassScope {
    if flags.has(Flags::ASCII) { ClassScope::Ascii } else { ClassScope::Unicode }
}

/// Returns the characters that a node accepts, or `None` unless it matches exactly one character.
pub(super) fn unit(node: &Node, flags: Flags) -> Option<SingleChar> {
    match node {
        Node::Literal(char) => Some(literal(*char, Fold::from_flags(flags))),
        Node::NotLiteral(char) => {
            Some(SingleChar::Set(literal(*char, Fold::from_flags(flags)).to_set().complement()))
        }
        Node::Any if flags.has(Flags::DOTALL) => Some(SingleChar::Set(CharSet::new(vec![(0, LAST)]))),
        Node::Any => Some(SingleChar::Set(SingleChar::Char(10).to_set().complement())),
        Node::In(set) => Some(SingleChar::Set(set_chars(set, flags))),
        Node::At(_) | Node::Branch(_) | Node::Group { .. } | Node::Repeat { .. } => None,
        Node::Atomic(_) | Node::Look { .. } | Node::Reference(_) | Node::Condition { .. } => None,
    }
}

fn literal(char: u32, fold: Fold) -> SingleChar {
    if !fold.is_cased(char, char) {
        return SingleChar::Char(char);
    }
    let lowered = fold.lower(char);
    let mut all = vec![(lowered, lowered)];
    all.extend(fold.equal_chars(lowered).iter().map(|other| (*other, *other)));
    SingleChar::Set(with_upper_case(&CharSet::new(all), fold))
}

/// Returns the characters whose lower case is in a set.
fn with_upper_case(set: &CharSet, fold: Fold) -> CharSet {
    let mut ranges = set.common(fold.unmoved());
    let found = fold.pairs().iter().filter(|(_, lower)| set.contains(*lower));
    ranges.extend(found.map(|(upper, _)| (*upper, *upper)));
    CharSet::new(ranges)
}

fn set_chars(set: &Set, flags: Flags) -> CharSet {
    let (fold, scope) = (Fold::from_flags(flags), scope(flags));
    let cased = set.items.iter().any(|item| match item {
        Item::Literal(char) => fold != Fold::Exact && (*char > PLANE || fold.is_cased(*char, *char)),
        Item::Range(from, to) => fold != Fold::Exact && (*to > PLANE || fold.is_cased(*from, *to)),
        Item::Category(..) => false,
    });
    let mut ranges = Vec::new();
    for item in &set.items {
        match item {
            Item::Category(category, Polarity::Yes) => {
                ranges.extend_from_slice(members(*category, scope).ranges())
            }
            Item::Category(category, Polarity::No) => {
                ranges.extend_from_slice(members(*category, scope).complement().ranges());
            }
            Item::Literal(char) if cased => lowered(*char, *char, fold, &mut ranges),
            Item::Range(from, to) if cased => lowered(*from, *to, fold, &mut ranges),
            Item::Literal(char) => ranges.push((*char, *char)),
            Item::Range(from, to) => ranges.push((*from, *to)),
        }
    }
    let mut all = CharSet::new(ranges);
    if set.negated {
        all = all.complement();
    }
    if cased { with_upper_case(&all, fold) } else { all }
}

/// Adds a range as CPython lowers it: by table in the first plane, unchanged beyond it.
fn lowered(from: u32, to: u32, fold: Fold, ranges: &mut Vec<(u32, u32)>) {
    let within = to.min(PLANE);
    if from <= within {
        let mut low = CharSet::new(vec![(from, within)]).common(fold.unmoved());
        let found = fold.pairs().iter().filter(|(upper, _)| (from..=within).contains(upper));
        low.extend(found.map(|(_, lower)| (*lower, *lower)));
        let low = CharSet::new(low);
        let alike = ALIKE.iter().filter(|(char, _)| fold == Fold::Unicode && low.contains(*char));
        ranges.extend(alike.flat_map(|(_, equals)| equals.iter().map(|other| (*other, *other))));
        ranges.extend_from_slice(low.ranges());
    }
    if to > PLANE {
        ranges.push((from, to));
        if from != to {
            let found = UPPER.iter().filter(|(_, upper)| (from..=to).contains(upper));
            ranges.extend(found.map(|(lower, _)| (*lower, *lower)));
        }
    }
}

static LOWER: LazyLock<Vec<(u32, u32)>> = LazyLock::new(|| read_pairs(include_str!("tables/lower.txt")));
static UPPER: LazyLock<Vec<(u32, u32)>> = LazyLock::new(|| read_pairs(include_str!("tables/upper.txt")));
static ASCII_LOWER: LazyLock<Vec<(u32, u32)>> =
    LazyLock::new(|| (65..=90).map(|char| (char, char + 32)).collect());
static ALL: LazyLock<CharSet> = LazyLock::new(|| CharSet::new(vec![(0, LAST)]));
static UNMOVED: LazyLock<CharSet> = LazyLock::new(|| without_sources(&LOWER));
static ASCII_UNMOVED: LazyLock<CharSet> = LazyLock::new(|| without_sources(&ASCII_LOWER));
static ALIKE: LazyLock<Vec<(u32, Vec<u32>)>> = LazyLock::new(|| {
    let table = include_str!("tables/alike.txt");
    table.split_whitespace().filter_map(alike_entry).collect()
});
static CASED: LazyLock<CharSet> = LazyLock::new(|| {
    let all = LOWER.iter().chain(UPPER.iter()).map(|(char, _)| (*char, *char));
    CharSet::new(all.collect())
});

fn mapped(table: &[(u32, u32)], char: u32) -> u32 {
    let found = table.binary_search_by_key(&char, |(from, _)| *from).ok();
    found.and_then(|at| table.get(at)).map_or(char, |(_, to)| *to)
}

fn without_sources(pairs: &[(u32, u32)]) -> CharSet {
    CharSet::new(pairs.iter().map(|(upper, _)| (*upper, *upper)).collect()).complement()
}

/// Parses `first-last/step:target` runs, in hexadecimal.
fn read_pairs(table: &str) -> Vec<(u32, u32)> {
    let runs = table.split_whitespace().filter_map(|run| {
        let (span, target) = run.split_once(':')?;
        let (span, step) = span.split_once('/')?;
        let (first, last) = range(span)?;
        Some((first, last, step.parse::<usize>().ok()?, u32::from_str_radix(target, 16).ok()?))
    });
    let mut pairs = Vec::new();
    for (first, last, step, target) in runs {
        pairs.extend((first..=last).step_by(step.max(1)).map(|char| (char, target + (char - first))));
    }
    pairs.sort_unstable();
    pairs
}

fn alike_entry(entry: &str) -> Option<(u32, Vec<u32>)> {
    let (char, equals) = entry.split_once(':')?;
    let equals = equals.split(',').filter_map(|other| u32::from_str_radix(other, 16).ok());
    Some((u32::from_str_radix(char, 16).ok()?, equals.collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accepted(char: char, flags: Flags) -> Vec<char> {
        let set = unit(&Node::Literal(u32::from(char)), flags).unwrap().to_set();
        set.ranges().iter().flat_map(|(from, to)| *from..=*to).filter_map(char::from_u32).collect()
    }

    #[test]
    fn case_is_pythons() {
        assert_eq!(accepted('k', Flags::IGNORECASE), ['K', 'k', '\u{212A}']);
        assert_eq!(accepted('s', Flags::IGNORECASE), ['S', 's', 'ſ']);
        assert_eq!(accepted('I', Flags::IGNORECASE), ['I', 'i', 'İ', 'ı']);
        assert_eq!(accepted('s', Flags::IGNORECASE.with(Flags::ASCII)), ['S', 's']);
        assert_eq!(accepted('ß', Flags::IGNORECASE), ['ß', 'ẞ']);
        assert_eq!(accepted('1', Flags::IGNORECASE), ['1']);
    }

    #[test]
    fn sets_have_pythons_oddities() {
        let accepts = |items: &[Item], char: char| {
            let node = Node::In(Set { negated: false, items: items.to_vec() });
            unit(&node, Flags::IGNORECASE).unwrap().accepts(u32::from(char))
        };
        let range = [Item::Range(u32::from('s'), u32::from('t'))];
        assert!("sStTſ".chars().all(|char| accepts(&range, char)) && !accepts(&range, 'u'));
        let far = [Item::Literal(u32::from('𐐀')), Item::Literal(u32::from('x'))];
        assert!(accepts(&far, 'X') && !accepts(&far, '𐐀') && !accepts(&far, '𐐨'));
    }

    #[test]
    fn tables_are_whole() {
        assert_eq!(LOWER.len(), 1433, "every character that has another lower case");
        assert!(LOWER.is_sorted() && UPPER.is_sorted() && ALIKE.len() == 50);
        assert_eq!(mapped(&LOWER, 0x130), 0x69);
        assert_eq!(mapped(&UPPER, 0xDF), 0x53);
    }
}
