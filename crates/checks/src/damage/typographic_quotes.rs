//! Finds typographic quotes where the language requires plain ones.

use super::lexical_syntax::TextKind;
use super::text_pair::{DamageFinding, MAX_FINDINGS, TextPair};
use crate::pieces::ReplacedLines;

const QUOTES: [char; 4] = ['\u{201c}', '\u{201d}', '\u{2018}', '\u{2019}'];

/// The longest tag that is read back from an attribute, in bytes, so that a text without tags takes linear time.
const LONGEST_TAG: usize = 4096;

pub(super) fn look(texts: &TextPair<'_>) -> Vec<DamageFinding> {
    if matches!(texts.kind, TextKind::Patch | TextKind::Unknown)
        || matches!(texts.language(), "markdown" | "text" | "csv")
        || !has_any(texts.draft.after.view())
    {
        return Vec::new();
    }
    let mut findings = Vec::new();
    // The lines of a piece follow each other, so its old lines are read once.
    let mut last: Option<((usize, usize), bool)> = None;
    for (line, piece) in texts.written().filter(|(line, _)| has_any(texts.after.text(*line))) {
        let known = last.filter(|(new, _)| *new == piece.new).map(|(_, had_quotes)| had_quotes);
        let had_quotes = known.unwrap_or_else(|| had_quotes(texts, piece));
        last = Some((piece.new, had_quotes));
        if had_quotes || texts.was_there(texts.after.text(line)) || is_valid(texts, line) {
            continue;
        }
        let start = texts.after.span(line).start;
        let text = texts.after.text(line);
        let mut places = text.match_indices(QUOTES);
        let Some((at, quote)) = places.find(|(at, _)| is_meant(texts, text, start, *at)) else { continue };
        let plain = if matches!(quote, "\u{2018}" | "\u{2019}") { "'" } else { "\"" };
        let message = format!("the typographic quote {quote} in code; write {plain}");
        findings.push(texts.finding_at(line, at, message));
        if findings.len() == MAX_FINDINGS {
            break;
        }
    }
    findings
}

fn has_any(text: &str) -> bool {
    memchr::memmem::find(text.as_bytes(), b"\xE2\x80").is_some() && text.contains(QUOTES)
}

/// True if the grammar reads the line as valid code. The grammars of JavaScript and TypeScript take such a quote for a letter.
fn is_valid(texts: &TextPair<'_>, line: usize) -> bool {
    !matches!(texts.language(), "javascript" | "typescript") && texts.is_sound(line)
}

/// True if the replaced text already had such quotes.
fn had_quotes(texts: &TextPair<'_>, piece: &ReplacedLines) -> bool {
    let Some(before) = texts.before else { return false };
    piece.old_lines().any(|line| has_any(before.text(line)))
}

/// True if a plain quote is valid at this place, so that it was probably meant.
fn is_meant(texts: &TextPair<'_>, text: &str, start: usize, at: usize) -> bool {
    let before = text.get(..at).unwrap_or_default().trim_end();
    match texts.language() {
        // In HTML, XML and YAML most text needs no quotes and may contain any character.
        "html" => before.ends_with('=') && before.contains('<'),
        "xml" => texts.is_surely_code(start + at) && begins_attribute_value(texts, start + at),
        "yaml" => {
            let wrapped = text.trim_end().ends_with(QUOTES) && before.ends_with([':', '-']);
            wrapped && texts.is_surely_code(start + at)
        }
        // An apostrophe in a word of a command, which needs no quotes.
        "bash" if is_in_word(text, at) => false,
        // Strings of databases have many forms.
        "sql" => !text.contains(['\'', '$']) && texts.is_surely_code(start + at),
        _ => texts.is_surely_code(start + at),
    }
}

/// True if the text before an offset is a tag up to the `=` of an attribute.
pub(super) fn begins_attribute_value(texts: &TextPair<'_>, offset: usize) -> bool {
    let tag = open_tag(texts, offset).and_then(|tag| tag.trim_end().strip_suffix('='));
    tag.is_some_and(is_tag_outside_values)
}

/// True if an offset is in a tag, but not in the value of an attribute.
pub(super) fn is_between_attributes(texts: &TextPair<'_>, offset: usize) -> bool {
    let tag = open_tag(texts, offset);
    tag.is_some_and(|tag| is_tag_outside_values(tag) && tag.matches('\'').count() % 2 == 0)
}

/// Returns the text from the last `<` before an offset.
fn open_tag<'a>(texts: &TextPair<'a>, offset: usize) -> Option<&'a str> {
    let view = texts.draft.after.view();
    let before = view.get(view.floor_char_boundary(offset.saturating_sub(LONGEST_TAG))..offset)?;
    before.rsplit_once('<').map(|(_, tag)| tag)
}

/// True if a tag is open and no value of an attribute is, at the end of this text of it.
fn is_tag_outside_values(tag: &str) -> bool {
    // Every second part is the value of an attribute.
    let parts: Vec<&str> = tag.split('"').collect();
    let is_outside = parts.len() % 2 == 1 && parts.iter().step_by(2).all(|part| !part.contains('>'));
    is_outside && tag.starts_with(|c: char| c.is_alphabetic() || matches!(c, '?' | '_'))
}

/// True if there are letters on both sides of a quote.
fn is_in_word(text: &str, at: usize) -> bool {
    let before = text.get(..at).and_then(|before| before.chars().next_back());
    let after = text.get(at..).and_then(|after| after.chars().nth(1));
    [before, after].into_iter().all(|c| c.is_some_and(char::is_alphabetic))
}
