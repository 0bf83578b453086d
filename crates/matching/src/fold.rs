//! Folding of typographic marks: texts that differ only in such marks have the same folded text.
//!
//! Folding covers typographic quotes, dashes and ellipses, invisible characters, runs of blanks inside a line, letters
//! with separate accents, and the common HTML entities, in one pass. A folded text is only compared, never written.

use unicode_normalization::char::compose;

/// A text with its folded form.
#[derive(Debug, Default)]
pub(super) struct Folded {
    pub(super) text: String,
    /// The start of each unit, in the folded text and in the raw one; the last entry is the end of both.
    cuts: Vec<(usize, usize)>,
}

impl Folded {
    pub(super) fn new(raw: &str) -> Folded {
        let mut folded = Folded::default();
        let mut at = 0;
        for unit in Units(raw) {
            folded.cuts.push((folded.text.len(), at));
            unit.push_to(&mut folded.text);
            at += unit.raw.len();
        }
        folded.cuts.push((folded.text.len(), at));
        folded
    }

    /// Returns the raw offset of a folded one; `None` inside a unit.
    pub(super) fn raw_at(&self, offset: usize) -> Option<usize> {
        let index = self.cuts.partition_point(|(folded, _)| *folded < offset);
        self.cuts.get(index).filter(|(folded, _)| *folded == offset).map(|(_, raw)| *raw)
    }

    /// Returns the folded offset of a raw one; `None` inside a unit.
    pub(super) fn folded_at(&self, offset: usize) -> Option<usize> {
        let index = self.cuts.partition_point(|(_, raw)| *raw < offset);
        self.cuts.get(index).filter(|(_, raw)| *raw == offset).map(|(folded, _)| *folded)
    }

    /// Returns the pairs of units that cover the same range of the folded text, from two raw texts.
    pub(super) fn pairs<'t>(
        &self,
        raw: &'t str,
        other: &Folded,
        other_raw: &'t str,
    ) -> impl Iterator<Item = (&'t str, &'t str)> {
        self.cuts.iter().zip(self.cuts.iter().skip(1)).filter_map(move |(from, to)| {
            let part = raw.get(from.1..to.1)?;
            let other_part = other_raw.get(other.raw_at(from.0)?..other.raw_at(to.0)?)?;
            (from.0 < to.0).then_some((part, other_part))
        })
    }
}

/// Folds a text for comparison; a plain text is returned unchanged.
pub(super) fn fold(raw: &str) -> std::borrow::Cow<'_, str> {
    if is_plain(raw) { raw.into() } else { Folded::new(raw).text.into() }
}

/// Returns true if folding certainly leaves a text unchanged.
pub(super) fn is_plain(raw: &str) -> bool {
    let (words, rest) = raw.as_bytes().as_chunks::<8>();
    let (mut odd, mut after_blank) = (0, 0);
    for bytes in words.iter().copied().chain(std::iter::once(padded(rest))) {
        let word = u64::from_le_bytes(bytes);
        let blanks = positions_of(b' ', word);
        odd |= (word & SIGNS) | positions_of(b'&', word) | positions_of(b'\t', word);
        odd |= blanks & (blanks << 8 | after_blank);
        after_blank = blanks >> 56;
    }
    odd == 0
}

/// A word with one in each byte, and a word with the highest bit of each byte.
const EACH: u64 = 0x0101_0101_0101_0101;
const SIGNS: u64 = EACH << 7;

/// Returns the highest bit of each byte of a word that equals `byte`.
pub(super) fn positions_of(byte: u8, word: u64) -> u64 {
    let word = word ^ (EACH * u64::from(byte));
    !(((word & !SIGNS) + !SIGNS) | word) & SIGNS
}

/// Returns the last bytes of a text as a word, padded with zeroes.
pub(super) fn padded(rest: &[u8]) -> [u8; 8] {
    let mut word = [0; 8];
    word.iter_mut().zip(rest).for_each(|(slot, byte)| *slot = *byte);
    word
}

/// Returns true if a character is a blank inside a line.
pub(super) fn is_blank(character: char) -> bool {
    character.is_whitespace()
}

/// Returns the number of characters of a text that are no blanks.
pub(super) fn non_blank_count(text: &str) -> usize {
    text.chars().filter(|character| !is_blank(*character)).count()
}

/// Returns true if a character is invisible.
pub(super) fn is_invisible(character: char) -> bool {
    matches!(character, '\u{ad}' | '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}')
}

/// Returns true if a line has no visible character.
pub(super) fn is_blank_line(line: &str) -> bool {
    let first = line.bytes().find(|byte| *byte != b' ' && *byte != b'\t');
    if first.is_none_or(|byte| byte.is_ascii_graphic()) {
        return first.is_none();
    }
    line.chars().all(|character| is_blank(character) || is_invisible(character))
}

/// A piece of a text that folds as a whole.
#[derive(Debug, Clone, Copy)]
pub(super) struct FoldUnit<'a> {
    /// The raw text of the piece.
    pub(super) raw: &'a str,
    pub(super) folds: FoldResult,
}

/// The folded form of a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FoldResult {
    /// One character, often the same one.
    Char(char),
    /// Three full stops, for an ellipsis.
    Dots,
    /// Nothing: the unit is dropped.
    Dropped,
}

impl FoldUnit<'_> {
    fn push_to(self, text: &mut String) {
        match self.folds {
            FoldResult::Char(character) => text.push(character),
            FoldResult::Dots => text.push_str("..."),
            FoldResult::Dropped => {}
        }
    }
}

/// The units of a text, in order.
pub(super) struct Units<'a>(pub(super) &'a str);

impl<'a> Iterator for Units<'a> {
    type Item = FoldUnit<'a>;

    fn next(&mut self) -> Option<FoldUnit<'a>> {
        let (folds, length) = first(self.0)?;
        let (folds, length) = match folds {
            FoldResult::Char(' ') => (folds, blanks(self.0)),
            FoldResult::Char(_) | FoldResult::Dots | FoldResult::Dropped => (folds, length),
        };
        let (raw, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(FoldUnit { raw, folds })
    }
}

/// Returns the folded form of the first unit of a text, and its length in bytes.
fn first(text: &str) -> Option<(FoldResult, usize)> {
    let character = text.chars().next()?;
    if character == '&'
        && let Some((plain, length)) = entity(text)
    {
        return Some((folds(plain), length));
    }
    let (letter, length) = composed(character, text);
    Some((folds(letter), length))
}

/// Returns the character that the first one of a text is together with the combining marks behind it, and the length of
/// both.
fn composed(first: char, text: &str) -> (char, usize) {
    let mut whole = (first, first.len_utf8());
    for mark in text.chars().skip(1).take_while(|mark| *mark >= FIRST_MARK) {
        let Some(letter) = compose(whole.0, mark) else { break };
        whole = (letter, whole.1 + mark.len_utf8());
    }
    whole
}

/// The first combining mark; a character before it is never joined with the one before.
const FIRST_MARK: char = '\u{300}';

/// Returns the length of the blanks at the beginning of a text, including invisible characters.
fn blanks(text: &str) -> usize {
    let (mut length, mut end) = (0, 0);
    while let Some((folds, taken)) = text.get(length..).and_then(first) {
        match folds {
            FoldResult::Char(' ') => end = length + taken,
            FoldResult::Dropped => {}
            FoldResult::Char(_) | FoldResult::Dots => break,
        }
        length += taken;
    }
    end
}

fn folds(character: char) -> FoldResult {
    match character {
        '\u{2018}'..='\u{201b}' | '\u{2032}' | '\u{ff07}' => FoldResult::Char('\''),
        '\u{201c}'..='\u{201f}' | '\u{2033}' | '\u{ff02}' => FoldResult::Char('"'),
        '\u{2010}'..='\u{2015}' | '\u{2212}' => FoldResult::Char('-'),
        '\u{2026}' => FoldResult::Dots,
        _ if is_invisible(character) => FoldResult::Dropped,
        _ if is_blank(character) => FoldResult::Char(' '),
        _ => FoldResult::Char(character),
    }
}

/// The entities that people and models write, often unnecessarily.
const ENTITIES: [(&str, char); 20] = [
    ("&amp;", '&'),
    ("&lt;", '<'),
    ("&gt;", '>'),
    ("&quot;", '"'),
    ("&apos;", '\''),
    ("&nbsp;", '\u{a0}'),
    ("&#34;", '"'),
    ("&#38;", '&'),
    ("&#39;", '\''),
    ("&#60;", '<'),
    ("&#62;", '>'),
    ("&#x27;", '\''),
    ("&#x2F;", '/'),
    ("&mdash;", '\u{2014}'),
    ("&ndash;", '\u{2013}'),
    ("&hellip;", '\u{2026}'),
    ("&lsquo;", '\u{2018}'),
    ("&rsquo;", '\u{2019}'),
    ("&ldquo;", '\u{201c}'),
    ("&rdquo;", '\u{201d}'),
];

/// Returns the character of an entity at the beginning of a text, and the entity's length.
pub(super) fn entity(text: &str) -> Option<(char, usize)> {
    let known = ENTITIES.iter().find(|(name, _)| text.starts_with(name));
    known.map(|(name, character)| (*character, name.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_fold_to_what_a_keyboard_has() {
        for (raw, folded) in [
            ("\u{201c}a\u{201d} \u{2018}b\u{2019}", "\"a\" 'b'"),
            ("a \u{2014} b\u{2013}c", "a - b-c"),
            ("a\u{2026}", "a..."),
            ("a\u{200b}b\u{a0}\u{a0} c", "ab c"),
            ("a  \t b", "a b"),
            ("&lt;a&gt; &amp;&amp; &amp;lt;", "<a> && &lt;"),
            ("a&nbsp;b &unknown;", "a b &unknown;"),
            ("e\u{301}a\u{323}\u{302} \u{1112}\u{1161}\u{11ab}", "\u{e9}\u{1ead} \u{d55c}"),
            ("x\u{301} \u{301}", "x\u{301} \u{301}"),
            ("", ""),
        ] {
            assert_eq!(Folded::new(raw).text, folded);
            assert_eq!(fold(raw), folded);
        }
    }

    #[test]
    fn offsets_lead_back_to_the_raw_text() {
        let raw = "a\u{2026}b";
        let folded = Folded::new(raw);
        assert_eq!(
            [0, 1, 2, 3, 4, 5].map(|at| folded.raw_at(at)),
            [Some(0), Some(1), None, None, Some(4), Some(5)]
        );
    }

    #[test]
    fn units_that_fold_alike_are_paired() {
        let (one, other) = ("say \"a\"", "say\u{a0}\u{201c}a\u{201d}");
        let (folded, against) = (Folded::new(one), Folded::new(other));
        let odd: Vec<_> = folded.pairs(one, &against, other).filter(|(one, other)| one != other).collect();
        assert_eq!(odd, [(" ", "\u{a0}"), ("\"", "\u{201c}"), ("\"", "\u{201d}")]);
    }

    #[test]
    fn a_line_of_invisible_characters_is_blank() {
        assert!(is_blank_line("\u{200b}\u{a0}\t "));
        assert!(is_blank_line(""));
        assert!(!is_blank_line(" x"));
    }

    proptest::proptest! {
        #[test]
        fn what_is_plain_is_its_own_fold(raw in "[ -~\t]{0,20}") {
            let folded = Folded::new(&raw);
            if is_plain(&raw) {
                proptest::prop_assert_eq!(&folded.text, &raw);
            }
            proptest::prop_assert_eq!(folded.raw_at(folded.text.len()), Some(raw.len()));
        }
    }
}
