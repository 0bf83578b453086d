//! Finds `\n`, `\t` or `\"` outside of strings in new text, which was escaped once too often.

use super::lexical_syntax::TextKind;
use super::text_pair::MAX_FINDINGS;
use super::text_pair::{DamageFinding, TextPair};

/// The fewest escaped line ends that make a line of prose suspect.
const MANY: usize = 3;

pub(super) fn look(texts: &TextPair<'_>) -> Vec<DamageFinding> {
    let holds = |text: &str| text.contains("\\n") || text.contains("\\\"") || text.contains("\\t");
    let mut findings = Vec::new();
    for (line, _) in texts.written().filter(|(line, _)| holds(texts.after.text(*line))) {
        let text = texts.after.text(line);
        let found = match texts.kind {
            TextKind::Code => in_code(texts, line, text),
            TextKind::Data if texts.language() != "yaml" => in_code(texts, line, text),
            TextKind::Data | TextKind::Prose | TextKind::Unknown if texts.is_fenced(line) => None,
            TextKind::Data | TextKind::Prose | TextKind::Unknown => in_words(text),
            TextKind::Patch => None,
        };
        let Some(at) = found.filter(|_| !texts.was_there(text)) else { continue };
        let escape = text.get(at..at + 2).unwrap_or_default();
        let replacement = match escape {
            "\\n" => "a line end",
            "\\t" => "a tab",
            _ => "a plain quote",
        };
        let message = format!("`{escape}` is outside of a string; send {replacement}, not its escape");
        findings.push(DamageFinding { line, column: texts.column(line, at), message });
        if findings.len() == MAX_FINDINGS {
            break;
        }
    }
    findings
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

/// Returns the first escaped line end if there are many and at least half of them precede a typical start of a line.
fn in_words(text: &str) -> Option<usize> {
    let (mut quoted, mut in_backticks) = (false, false);
    let mut line_ends = Vec::new();
    let bytes = text.as_bytes();
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'"' => quoted = !quoted,
            b'`' => in_backticks = !in_backticks,
            b'\\' if bytes.get(at + 1) == Some(&b'n') && !quoted && !in_backticks => line_ends.push(at),
            _ => {}
        }
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
