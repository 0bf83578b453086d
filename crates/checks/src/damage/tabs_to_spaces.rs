//! Finds new lines indented with spaces in a file that is indented with tabs, and vice versa.

use std::collections::HashMap;

use super::lexical_syntax::TextKind;
use super::lexis::LexicalPart;
use super::text_pair::{DamageFinding, MAX_FINDINGS, TextPair, indent};
use crate::pieces::ReplacedLines;
use lockgate_text::Lines;

/// The fewest indented lines that show the indentation of a file.
const LEAST: usize = 4;

/// The blanks that indent a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum IndentKind {
    Tabs,
    Spaces,
}

impl IndentKind {
    fn name(self) -> &'static str {
        match self {
            IndentKind::Tabs => "tabs",
            IndentKind::Spaces => "spaces",
        }
    }

    fn other(self) -> IndentKind {
        match self {
            IndentKind::Tabs => IndentKind::Spaces,
            IndentKind::Spaces => IndentKind::Tabs,
        }
    }
}

pub(super) fn look(texts: &TextPair<'_>) -> Vec<DamageFinding> {
    let Some(before) = texts.before else { return Vec::new() };
    if matches!(texts.kind, TextKind::Prose | TextKind::Patch) {
        return Vec::new();
    }
    let Some(usual) = usual(before) else { return Vec::new() };
    let strange = |line: usize| {
        indentation_of(texts.after.text(line)) == Some(usual.other())
            && texts.is_own(line)
            && !continues(texts, line)
            && texts.part_of_line(line) == LexicalPart::Code
    };
    let in_piece = |piece: &ReplacedLines| {
        let mut old = old_spaces(before, piece);
        let mut lines = piece.new_lines().filter(|line| strange(*line)).filter(|line| {
            let stayed = old.get_mut(indent(texts.after.text(*line))).filter(|count| **count > 0);
            stayed.map(|count| *count -= 1).is_none()
        });
        let line = lines.next()?;
        let message = format!(
            "{} indented with {}, but the file with {}; indent like the file",
            count(1 + lines.count()),
            usual.other().name(),
            usual.name(),
        );
        Some(DamageFinding { line, column: 1, message })
    };
    texts.pieces.iter().filter_map(in_piece).take(MAX_FINDINGS).collect()
}

/// Returns the white space before the replaced lines, each with the number of these lines: so many new lines may keep it.
fn old_spaces<'a>(before: Lines<'a>, piece: &ReplacedLines) -> HashMap<&'a str, usize> {
    let mut spaces = HashMap::new();
    for line in piece.old_lines() {
        let text = before.text(line);
        *spaces.entry(indent(text)).or_default() += usize::from(!text.trim().is_empty());
    }
    spaces
}

fn count(lines: usize) -> String {
    if lines == 1 { "a new line is".to_owned() } else { format!("{lines} new lines are") }
}

/// Returns the indentation of a line; `None` for one space, which may be alignment.
fn indentation_of(text: &str) -> Option<IndentKind> {
    let (space, body) = (indent(text), text.trim_start());
    match space.as_bytes().first() {
        _ if body.is_empty() => None,
        Some(b'\t') => Some(IndentKind::Tabs),
        Some(b' ') if space.len() > 1 && !body.starts_with('*') => Some(IndentKind::Spaces),
        _ => None,
    }
}

/// Returns the indentation of at least 95 % of the indented lines, if there are enough of them.
fn usual(lines: Lines<'_>) -> Option<IndentKind> {
    let kinds: Vec<IndentKind> = lines.iter().filter_map(indentation_of).collect();
    let is_usual =
        |kind: &IndentKind| kinds.iter().filter(|known| *known == kind).count() * 20 >= kinds.len() * 19;
    [IndentKind::Tabs, IndentKind::Spaces].into_iter().filter(|_| kinds.len() >= LEAST).find(is_usual)
}

/// True if a line continues the one above, so that it may have any indentation.
fn continues(texts: &TextPair<'_>, line: usize) -> bool {
    texts.after.text(line.saturating_sub(1)).trim_end().ends_with('\\')
}

#[cfg(test)]
mod tests {
    use crate::damage::tests::findings;
    use lockgate_policy::Accident;

    #[test]
    fn a_line_that_keeps_its_indentation_is_none() {
        let tabs = "\ta()\n".repeat(30);
        let found = |before: &str, after: &str| {
            let [before, after] = [before, after].map(|text| format!("{tabs}{text}{tabs}"));
            let findings = findings(Accident::TabsToSpaces, "a.go", Some(&before), &after);
            findings.into_iter().map(|finding| finding.message).collect::<Vec<_>>()
        };
        assert_eq!(found("    b(1)\n", "    b(2)\n"), [""; 0]);
        assert_eq!(found("    b(1)\n\tc(1)\n", "    b(2)\n\tc(2)\n"), [""; 0]);
        assert_eq!(found("    b(1)\n\tc(1)\n", "    b(2)\n"), [""; 0]);
        // The control: as many lines as had it may keep it.
        let new = |count: &str| {
            format!("{count} indented with spaces, but the file with tabs; indent like the file")
        };
        assert_eq!(found("\tb(1)\n", "    b(2)\n"), [new("a new line is")]);
        assert_eq!(found("    b(1)\n\tc(1)\n", "    b(2)\n    c(2)\n"), [new("a new line is")]);
        assert_eq!(found("    b(1)\n", "        b(2)\n        b(3)\n"), [new("2 new lines are")]);
        assert_eq!(found("    b(1)\n", "    b(1)\n    b(2)\n"), [new("a new line is")]);
    }
}
