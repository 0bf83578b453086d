//! Merges one line word by word if the file writes it with other typographic marks than the search.

use std::collections::{BTreeMap, BTreeSet};

use crate::fold::{FoldResult, Folded, Units, entity, is_blank, is_invisible};
use lockgate_text::differing_lines;

/// The marks of the file for those of a quoted text, as far as the same block shows them.
#[derive(Debug, Default)]
pub(crate) struct Evidence<'a> {
    forms: BTreeMap<&'a str, BTreeSet<&'a str>>,
}

impl<'a> Evidence<'a> {
    /// Records the marks of a quoted text and of the file's text, which fold to the same text.
    pub(crate) fn record(&mut self, quoted: &'a str, actual: &'a str) {
        let (folded, against) = (Folded::new(quoted), Folded::new(actual));
        for (quoted, actual) in folded.pairs(quoted, &against, actual) {
            if !is_word(quoted) {
                self.forms.entry(quoted).or_default().insert(actual);
            }
            for (quoted, actual) in blank_pairs(quoted, actual) {
                self.forms.entry(quoted).or_default().insert(actual);
            }
        }
        // An invisible character has no counterpart, so all of the other text counts.
        let own: BTreeSet<&str> = dropped(actual).collect();
        for unit in dropped(quoted) {
            self.forms.entry(unit).or_default().insert(if own.contains(unit) { unit } else { "" });
        }
        for unit in own {
            self.forms.entry(unit).or_default().insert(unit);
        }
    }

    /// Returns true if nothing was recorded.
    pub(crate) fn is_empty(&self) -> bool {
        self.forms.is_empty()
    }

    /// Converts a mark of the edit to the file's form. Applies to marks that no keyboard has and to entities, if the
    /// block shows that only the edit uses them. An invisible character that only the edit uses is dropped. A plain mark
    /// stays unchanged, because it may be code.
    fn translate(&self, token: &str) -> String {
        let forms: Vec<&str> = self.forms.get(token).into_iter().flatten().copied().collect();
        match forms.as_slice() {
            [one] if !token.is_ascii() || entity(token).is_some() => (*one).to_owned(),
            [] if is_blank_run(token) => characters(token).map(|blank| self.translate(blank)).collect(),
            [] => self.plain_entity(token).unwrap_or_else(|| token.to_owned()),
            [..] => token.to_owned(),
        }
    }

    /// Returns the character of an entity, if the block shows such entities as plain characters in the file.
    fn plain_entity(&self, token: &str) -> Option<String> {
        let (plain, _) = entity(token).filter(|(_, length)| *length == token.len())?;
        let mut entities = self.forms.iter().filter(|(quoted, _)| entity(quoted).is_some()).peekable();
        entities.peek()?;
        let all_plain = entities.all(|(_, forms)| forms.iter().all(|form| entity(form).is_none()));
        all_plain.then(|| plain.to_string())
    }

    /// Converts a new line to the file's form.
    pub(crate) fn translate_line(&self, line: &str) -> String {
        tokens(line).into_iter().map(|token| self.translate(token)).collect()
    }
}

/// Returns true for several blanks that are no entities.
fn is_blank_run(token: &str) -> bool {
    token.chars().nth(1).is_some() && token.chars().all(|letter| is_blank(letter) || is_invisible(letter))
}

/// Pairs the blanks of a run with those of the file. Further ones are paired with the file's last one.
fn blank_pairs<'t>(quoted: &'t str, actual: &'t str) -> impl Iterator<Item = (&'t str, &'t str)> {
    let visible = |run| characters(run).filter(|blank| !blank.chars().all(is_invisible));
    let runs =
        [quoted, actual].iter().all(|run| run.chars().all(|letter| is_blank(letter) || is_invisible(letter)));
    let last = visible(actual).last().filter(|_| runs && is_blank_run(quoted));
    visible(quoted).zip(last.into_iter().flat_map(move |last| visible(actual).chain(std::iter::repeat(last))))
}

/// Returns the characters of a text as texts.
fn characters(text: &str) -> impl Iterator<Item = &str> {
    text.char_indices().filter_map(|(start, letter)| text.get(start..start + letter.len_utf8()))
}

/// The invisible characters that belong to the spelling of a word or an emoji.
const JOINERS: [char; 3] = ['\u{200c}', '\u{200d}', '\u{ad}'];

/// Returns true for an invisible character that belongs to the spelling of a word or an emoji.
pub(crate) fn is_joiner(character: char) -> bool {
    JOINERS.contains(&character)
}

/// Returns the invisible characters of a text, without joiners.
fn dropped(text: &str) -> impl Iterator<Item = &str> {
    let units = Units(text).filter(|unit| unit.folds == FoldResult::Dropped).map(|unit| unit.raw);
    units.filter(|unit| !unit.contains(is_joiner))
}

/// The use of typographic quotes in one line of the file. Set if the line uses only those.
struct Prose {
    double: bool,
    single: bool,
}

impl Prose {
    fn new(search: &str, actual: &str) -> Prose {
        let mut evidence = Evidence::default();
        evidence.record(search, actual);
        let all = |plain: &str, typographic: &[&str]| {
            let forms = evidence.forms.get(plain);
            forms.is_some_and(|forms| forms.iter().all(|form| typographic.contains(form)))
        };
        Prose { double: all("\"", &["\u{201c}", "\u{201d}"]), single: all("'", &["\u{2019}"]) }
    }

    /// Returns the line's form of a plain quote between these texts.
    fn quote(&self, token: &str, before: &str, after: &str) -> Option<&'static str> {
        let letter = |character: Option<char>| character.is_some_and(char::is_alphanumeric);
        match token {
            "\"" if self.double => {
                let open = before.matches(['\u{201c}', '\u{201d}', '"']).count().is_multiple_of(2);
                Some(if open { "\u{201c}" } else { "\u{201d}" })
            }
            "'" if self.single && letter(before.chars().next_back()) && letter(after.chars().next()) => {
                Some("\u{2019}")
            }
            _ => None,
        }
    }
}

/// Applies the difference between search and replacement to the file's text. The search and the file's text fold to
/// the same text.
///
/// Text that the edit keeps is the file's; new text is converted to the file's form.
pub(crate) fn merged(search: &str, replace: &str, actual: &str, evidence: &Evidence<'_>) -> String {
    if search == actual && evidence.is_empty() {
        return replace.to_owned();
    }
    let prose = Prose::new(search, actual);
    let (base, own) = (Folded::new(search), Folded::new(actual));
    let (old, new) = (tokens(search), tokens(replace));
    let starts: Vec<usize> = std::iter::once(0)
        .chain(old.iter().scan(0, |at, token| {
            *at += token.len();
            Some(*at)
        }))
        .collect();
    let start = |index: usize| starts.get(index).copied().unwrap_or(search.len());
    let mut out = String::with_capacity(actual.len() + replace.len());
    let (mut from, mut row) = (0, 0);
    let end = (old.len()..old.len(), new.len()..new.len());
    for (removed, added) in differing_lines(&old, &new).into_iter().chain([end]) {
        let unchanged = new.get(row..added.start).unwrap_or_default();
        match file_text(&base, &own, actual, start(from)..start(removed.start)) {
            Some(text) => out.push_str(text),
            None => out.extend(unchanged.iter().copied()),
        }
        for index in added.clone() {
            let token = new.get(index).copied().unwrap_or_default();
            let after = new.get(index + 1).copied().unwrap_or_default();
            match prose.quote(token, &out, after) {
                Some(text) => out.push_str(text),
                None => out.push_str(&evidence.translate(token)),
            }
        }
        (from, row) = (removed.end, added.end);
    }
    out
}

/// Returns the file's text for a range of the search; `None` unless it begins and ends at marks of the file.
fn file_text<'t>(
    base: &Folded,
    own: &Folded,
    actual: &'t str,
    range: std::ops::Range<usize>,
) -> Option<&'t str> {
    let (start, end) = (base.folded_at(range.start)?, base.folded_at(range.end)?);
    actual.get(own.raw_at(start)?..own.raw_at(end)?)
}

/// Splits a text into words, runs of blanks, entities and single characters.
pub(crate) fn tokens(text: &str) -> Vec<&str> {
    let (mut tokens, mut start, mut end) = (Vec::new(), 0, 0);
    for unit in Units(text) {
        let word = is_word(unit.raw) && matches!(unit.folds, FoldResult::Char(_));
        let goes_on = word && text.get(start..end).is_some_and(is_word);
        if !goes_on && start < end {
            tokens.extend(text.get(start..end));
            start = end;
        }
        end += unit.raw.len();
    }
    tokens.extend(text.get(start..end).filter(|last| !last.is_empty()));
    tokens
}

fn is_word(token: &str) -> bool {
    !token.is_empty() && token.chars().all(is_word_char)
}

/// Returns true if a character belongs to a word.
pub(crate) fn is_word_char(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn merge(search: &str, replace: &str, actual: &str) -> String {
        let mut evidence = Evidence::default();
        evidence.record(search, actual);
        merged(search, replace, actual, &evidence)
    }

    #[test]
    fn a_line_is_cut_into_words_and_marks() {
        assert_eq!(tokens("a_1 &lt;= b\u{a0} c;"), ["a_1", " ", "&lt;", "=", " ", "b", "\u{a0} ", "c", ";"]);
        assert_eq!(tokens(""), Vec::<&str>::new());
    }

    #[test]
    fn what_the_edit_keeps_is_the_file_s() {
        assert_eq!(
            merge("print(\"it's 1\")", "print(\"it's 2\")", "print(\u{201c}it\u{2019}s 1\u{201d})"),
            "print(\u{201c}it\u{2019}s 2\u{201d})"
        );
        assert_eq!(merge("a &lt; b", "a &lt; c", "a < b"), "a < c");
        assert_eq!(merge("wait... 1", "wait... 2", "wait\u{2026} 1"), "wait\u{2026} 2");
    }

    #[test]
    fn what_the_edit_brings_is_written_as_the_file_writes_it() {
        assert_eq!(merge("a &lt; b", "a &lt; b &amp;&amp; c", "a < b"), "a < b && c");
        assert_eq!(merge("a\u{2014}b", "a\u{2014}b\u{2014}c", "a-b"), "a-b-c");
        assert_eq!(merge("it's a", "it's and don't", "it\u{2019}s a"), "it\u{2019}s and don\u{2019}t");
        assert_eq!(
            merge("say \"a\" 1", "say \"a\" \"b\" 1", "say \u{201c}a\u{201d} 1"),
            "say \u{201c}a\u{201d} \u{201c}b\u{201d} 1"
        );
    }

    #[test]
    fn an_invisible_character_that_only_the_quote_has_is_dropped() {
        assert_eq!(merge("\u{feff}a b", "\u{feff}c d", "a b"), "c d");
        assert_eq!(merge("a\u{200b}b", "x\u{200b}y", "ab"), "xy");
        assert_eq!(merge("a b", "a\u{200b} c", "a b"), "a\u{200b} c", "only the replacement has it");
        let mut evidence = Evidence::default();
        evidence.record("a\u{200b}b", "ab");
        assert_eq!(evidence.translate_line("x\u{200b}"), "x");
        evidence.record("c", "c\u{200b}");
        assert_eq!(evidence.translate_line("x\u{200b}"), "x\u{200b}", "another line of the file has it");
    }

    #[test]
    fn blanks_that_only_the_quote_has_are_those_of_the_file_in_any_number() {
        assert_eq!(merge("a\u{a0}=\u{a0}b", "a\u{a0}=\u{a0}b\u{a0}\u{a0}#\u{a0} c", "a = b"), "a = b  #  c");
        assert_eq!(merge("a\u{a0}\u{a0}b", "a\u{a0}\u{a0}b\u{a0}c", "a  b"), "a  b c");
        assert_eq!(merge("a\u{a0}\u{a0}b", "a\u{a0}\u{a0}b\u{a0}c", "a b"), "a b c");
        assert_eq!(
            merge("a\u{a0}b\u{2009}c", "a\u{a0}b\u{2009}c\u{a0}\u{2009}d", "a\u{a0}b c"),
            "a\u{a0}b c\u{a0} d"
        );
    }

    #[test]
    fn joiners_are_part_of_the_spelling() {
        for joiner in JOINERS {
            let (quoted, added) = (format!("a{joiner} b"), format!("c{joiner}d"));
            let mut evidence = Evidence::default();
            evidence.record(&quoted, "a b");
            assert_eq!(evidence.translate_line(&added), added);
        }
    }

    #[test]
    fn many_invisible_characters_take_linear_time() {
        let (quoted, actual) = ("a\u{200b}".repeat(300_000), "a".repeat(300_000));
        let mut evidence = Evidence::default();
        evidence.record(&quoted, &actual);
        assert_eq!(evidence.translate_line("b\u{200b}"), "b");
    }

    #[test]
    fn without_evidence_it_is_as_written() {
        assert_eq!(merge("it's", "it's f('a')", "it\u{2019}s"), "it\u{2019}s f('a')");
        assert_eq!(merge("a\u{2019}s", "a\u{2019}s \u{2014}", "a's"), "a's \u{2014}");
    }

    #[test]
    fn a_plain_mark_of_the_edit_may_be_code() {
        assert_eq!(merge("a - b", "a - b; x -= 1", "a \u{2212} b"), "a \u{2212} b; x -= 1");
        assert_eq!(merge("one two", "one two the end", "one\u{a0}two"), "one\u{a0}two the end");
    }

    #[test]
    fn a_kept_mark_that_the_file_joins_with_others_is_as_written() {
        assert_eq!(merge("a... b", "a.. b", "a\u{2026} b"), "a.. b");
    }
}
