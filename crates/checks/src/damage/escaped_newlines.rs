//! Finds `\n`, `\t` or `\"` outside of strings in new text, which was escaped once too often.

use super::lexical_syntax::TextKind;
use super::text_pair::{DamageFinding, MAX_FINDINGS, TextPair};
use super::typographic_quotes::{begins_attribute_value, is_between_attributes};

/// The fewest escaped line ends that make a line of prose suspect.
const MANY: usize = 3;

pub(super) fn look(texts: &TextPair<'_>) -> Vec<DamageFinding> {
    let holds = |text: &str| text.contains("\\n") || text.contains("\\\"") || text.contains("\\t");
    let written = texts.written().map(|(line, _)| line).filter(|line| holds(texts.after.text(*line)));
    written.filter_map(|line| finding(texts, line)).take(MAX_FINDINGS).collect()
}

fn finding(texts: &TextPair<'_>, line: usize) -> Option<DamageFinding> {
    let text = texts.after.text(line);
    let found = match texts.kind {
        // Strings of databases have many forms, and rows of a dump have tabs.
        TextKind::Code if texts.language() == "sql" && text.contains(['\'', '$', '\t']) => None,
        TextKind::Code => in_code(texts, line, text),
        TextKind::Data if texts.language() == "xml" => in_markup(texts, line, text),
        TextKind::Data if texts.language() != "yaml" => in_code(texts, line, text),
        TextKind::Data | TextKind::Prose | TextKind::Unknown if texts.is_fenced(line) => None,
        TextKind::Data | TextKind::Prose | TextKind::Unknown => in_words(text),
        TextKind::Patch => None,
    };
    let at = found.filter(|_| !texts.was_there(text) && !texts.is_sound(line))?;
    let escape = text.get(at..at + 2).unwrap_or_default();
    let replacement = match escape {
        "\\n" => "a line end",
        "\\t" => "a tab",
        _ => "a plain quote",
    };
    let message = format!("`{escape}` is outside of a string; send {replacement}, not its escape");
    Some(texts.finding_at(line, at, message))
}

/// Returns the first escape that is not in a string, a comment or a regular expression.
fn in_code(texts: &TextPair<'_>, line: usize, text: &str) -> Option<usize> {
    let start = texts.after.span(line).start;
    let shell = texts.language() == "bash";
    let css = texts.language() == "css";
    let escapes = text.match_indices('\\').map(|(at, _)| at).filter(|at| {
        let rest = text.get(at + 1..).unwrap_or_default();
        let doubled = text.get(..*at).is_some_and(|before| before.ends_with('\\'));
        match rest.as_bytes().first() {
            Some(b'n') => !doubled,
            Some(b't') => !doubled && !shell,
            // CSS selectors escape special characters in the names of classes.
            Some(b'"') => !doubled && !shell && !css,
            _ => false,
        }
    });
    let mut sure = escapes.filter(|at| texts.is_surely_code(start + at));
    let first = sure.next()?;
    // A shell only drops the backslash, so one escape is not enough.
    (!shell || sure.next().is_some()).then_some(first)
}

/// Returns the first escape that is not in text or in a value, whose authors may write escapes: one between the attributes of
/// a tag, one before the value of an attribute, or one between a tag and the next one or its indentation.
fn in_markup(texts: &TextPair<'_>, line: usize, text: &str) -> Option<usize> {
    let start = texts.after.span(line).start;
    let is_escape = |at: usize| {
        let rest = text.get(at + 1..).unwrap_or_default();
        match rest.as_bytes().first() {
            Some(b'"') => begins_attribute_value(texts, start + at),
            Some(b'n' | b't') if is_between_attributes(texts, start + at) => true,
            Some(b'n') => {
                let next = rest.get(1..).unwrap_or_default();
                let is_markup = !next.starts_with("</") && without_indentation(next).starts_with('<');
                let before = text.get(..at).unwrap_or_default();
                before.ends_with("?>") || before.ends_with('>') && is_markup
            }
            _ => false,
        }
    };
    let mut escapes = text.match_indices('\\').map(|(at, _)| at);
    escapes.find(|at| texts.is_surely_code(start + at) && is_escape(*at))
}

/// Returns a text without the blanks and escaped tabs before it.
fn without_indentation(mut text: &str) -> &str {
    while let Some(rest) = text.strip_prefix(' ').or_else(|| text.strip_prefix("\\t")) {
        text = rest;
    }
    text
}

/// Returns the first escaped line end outside of quotes and formulas if there are many with words between them, and at least
/// half of them precede a typical start of a line.
fn in_words(text: &str) -> Option<usize> {
    let mut open: Option<u8> = None;
    let mut line_ends = Vec::new();
    let bytes = text.as_bytes();
    let last = [b'"', b'`', b'$', b'\''].map(|quote| (quote, memchr::memrchr(quote, bytes)));
    let is_closed = |quote: u8, at: usize| last.iter().any(|(known, end)| *known == quote && *end > Some(at));
    let is_word = |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_alphanumeric);
    let mut is_escaped = false;
    for (at, byte) in text.bytes().enumerate() {
        if std::mem::take(&mut is_escaped) {
            continue;
        }
        is_escaped = byte == b'\\';
        match (byte, open) {
            // An apostrophe is inside of a word, or at its end.
            (b'\'', None) if is_word(at.checked_sub(1)) => {}
            (b'"' | b'`' | b'$' | b'\'', None) if is_closed(byte, at) => open = Some(byte),
            (_, Some(quote)) if byte == quote => open = None,
            (b'\\', None) if bytes.get(at + 1) == Some(&b'n') => line_ends.push(at),
            _ => {}
        }
    }
    let ends = line_ends.iter().skip(1).copied().chain([text.len()]);
    let between = line_ends.iter().zip(ends).filter_map(|(start, end)| text.get(start + 2..end));
    if !between.into_iter().any(|part| part.chars().filter(|c| c.is_alphabetic()).count() > 2) {
        return None;
    }
    let first = line_ends.first().copied();
    let begins = |at: &usize| {
        let rest = text.get(at + 2..).unwrap_or_default();
        rest.is_empty()
            || rest.starts_with("\\n")
            || rest.starts_with(|c: char| " #-*<>|{}[".contains(c) || c.is_uppercase())
    };
    first.filter(|_| {
        line_ends.len() >= MANY && line_ends.iter().filter(|at| begins(at)).count() * 2 >= line_ends.len()
    })
}

#[cfg(test)]
mod tests {
    use crate::damage::tests::findings;
    use lockgate_policy::Accident;

    #[test]
    fn texts_and_values_of_xml_may_have_escapes() {
        let found = |text: &str| findings(Accident::EscapedNewlines, "a.xml", Some("<r/>\n"), text).len();
        for text in [
            "<r>\n  <d>A “\\n” separated list of “name:color” as defined</d>\n</r>\n",
            "<r>\n  <string name=\"a\">Line one\\nLine two\\nLine three\\nLine four</string>\n</r>\n",
            "<r>\n  <string name=\"a\">Say \\\"hi\\\" to it\\n</string>\n</r>\n",
            "<r>\n  <default>\\n</default>\n  <d>\\t</d>\n</r>\n",
            "<r a=\"b\\nc\" d='\\n'/>\n",
            "<r>\n<!-- a=\\\"b\\\"\\n -->\n</r>\n",
            "<r><![CDATA[ if (a < b) f(\"\\n\"); ]]></r>\n",
            "<r p=\"(?&lt;!a)\\n\">(?&lt;b\\n</r>\n",
            "<r><b>A</b>\\nb</r>\n",
            "<string>\\n  • x</string>\n",
        ] {
            assert_eq!(found(text), 0, "{text}");
        }
        // The control: markup that was escaped once too often.
        for text in [
            "<r>\\n  <a/>\\n</r>\n",
            "<?xml version=\"1.0\"?>\\n<r/>\n",
            "<r>\n  <a b=\\\"c\\\"/>\n</r>\n",
            "<r>\n  <a\\n    b=\"c\"/>\n</r>\n",
            "<r>\\n\\t<a/>\n</r>\n",
            "<r>\n<a/>\\n<b/>\n</r>\n",
        ] {
            assert_eq!(found(text), 1, "{text}");
        }
    }
}
