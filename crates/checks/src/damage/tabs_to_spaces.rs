//! Finds new lines indented with spaces in a file that is indented with tabs, and vice versa.

use super::lexical_syntax::TextKind;
use super::lexis::LexicalPart;
use super::text_pair::MAX_FINDINGS;
use super::text_pair::{DamageFinding, TextPair};
use lockgate_text::Lines;

/// The fewest indented lines that show the indentation of a file.
const LEAST: usize = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Indent {
    Tabs,
    Spaces,
}

impl Indent {
    const fn describe(self) -> &'static str {
        match self {
            Indent::Tabs => "tabs",
            Indent::Spaces => "spaces",
        }
    }
}

pub(super) fn look(texts: &TextPair<'_>) -> Vec<DamageFinding> {
    let Some(before) = texts.before else { return Vec::new() };
    match texts.kind {
        TextKind::Prose | TextKind::Patch => return Vec::new(),
        TextKind::Code | TextKind::Data | TextKind::Unknown => {}
    }
    let Some(usual) = usual(before) else { return Vec::new() };
    let strange = |line: usize| {
        indent(texts.after.text(line)).is_some_and(|found| found != usual)
            && texts.is_own(line)
            && !continues(texts, line)
            && texts.part_of_line(line) == LexicalPart::Code
    };
    let mut findings = Vec::new();
    for piece in &texts.pieces {
        let mut lines = (piece.new.0..=piece.new.1).filter(|line| strange(*line));
        let Some(line) = lines.next() else { continue };
        let found = indent(texts.after.text(line)).map_or("", Indent::describe);
        let message = format!(
            "{} indented with {found}, but the file with {}; indent like the file",
            count(1 + lines.count()),
            usual.describe(),
        );
        findings.push(DamageFinding { line, column: 1, message });
        if findings.len() == MAX_FINDINGS {
            break;
        }
    }
    findings
}

fn count(lines: usize) -> String {
    if lines == 1 { "a new line is".to_owned() } else { format!("{lines} new lines are") }
}

/// Returns the indentation of a line; `None` for one space, which may be alignment.
fn indent(text: &str) -> Option<Indent> {
    let body = text.trim_start();
    let space = text.get(..text.len() - body.len())?;
    match space.as_bytes().first() {
        _ if body.is_empty() => None,
        Some(b'\t') => Some(Indent::Tabs),
        Some(b' ') if space.len() > 1 && !body.starts_with('*') => Some(Indent::Spaces),
        _ => None,
    }
}

/// Returns the indentation of at least 95 % of the indented lines, if there are enough of them.
fn usual(lines: Lines<'_>) -> Option<Indent> {
    let (mut tabs, mut spaces) = (0, 0);
    for indent in lines.iter().filter_map(indent) {
        match indent {
            Indent::Tabs => tabs += 1,
            Indent::Spaces => spaces += 1,
        }
    }
    let all = tabs + spaces;
    match all {
        _ if all < LEAST => None,
        _ if tabs * 20 >= all * 19 => Some(Indent::Tabs),
        _ if spaces * 20 >= all * 19 => Some(Indent::Spaces),
        _ => None,
    }
}

/// True if a line continues the one above, so that it may have any indentation.
fn continues(texts: &TextPair<'_>, line: usize) -> bool {
    texts.after.text(line.saturating_sub(1)).trim_end().ends_with('\\')
}
