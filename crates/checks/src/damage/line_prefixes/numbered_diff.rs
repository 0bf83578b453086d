//! Finds line numbers with a diff mark before new lines, such as `12+ ` and `12- `, the form of lockgate's diffs.
//!
//! Such a line may be valid code (`2+ a`), and an item of a list (`1- a`), so the numbers need evidence: they are the actual
//! line numbers, or the text after them was there before.

use super::super::lexical_syntax::TextKind;
use super::super::lexis::LexicalPart;
use super::super::lost_indentation::is_alike;
use super::super::text_pair::{DamageFinding, MAX_FINDINGS, TextPair, indent};
use crate::pieces::ReplacedLines;

/// The most replaced lines that a line is compared with.
const MAX_COMPARED: usize = 100;

/// A line that begins with a number and a diff mark.
struct NumberedLine<'t> {
    line: usize,
    number: usize,
    mark: char,
    rest: &'t str,
}

/// Returns a finding for each piece whose new lines nearly all begin like this, unless a line of the text before does.
pub(super) fn look(texts: &TextPair<'_>) -> Vec<DamageFinding> {
    let pieces = texts.pieces.iter().filter_map(|piece| finding(texts, piece));
    let findings: Vec<DamageFinding> = pieces.take(MAX_FINDINGS).collect();
    let had_rows = || texts.before.is_some_and(|before| before.iter().any(|text| row(1, text).is_some()));
    if findings.is_empty() || had_rows() { Vec::new() } else { findings }
}

fn finding(texts: &TextPair<'_>, piece: &ReplacedLines) -> Option<DamageFinding> {
    let lines = || piece.new_lines().filter(|line| !texts.after.text(*line).trim().is_empty());
    let rows: Vec<NumberedLine<'_>> = lines().filter_map(|line| row(line, texts.after.text(line))).collect();
    let first = rows.first()?;
    let others = lines().count() - rows.len();
    if others * 10 > rows.len() || !is_accident(texts, piece, &rows) {
        return None;
    }
    let text = texts.after.text(first.line);
    let message = format!(
        "line numbers with a diff mark such as `{}{}` are at the start of new lines; send the lines without them",
        first.number, first.mark
    );
    Some(texts.finding_at(first.line, indent(text).len(), message))
}

fn is_accident(texts: &TextPair<'_>, piece: &ReplacedLines, rows: &[NumberedLine<'_>]) -> bool {
    // Removed lines move the lines below them.
    let mut removed = 0;
    let in_place = rows.iter().all(|row| {
        let is_own = row.number == row.line || row.number + removed == row.line;
        removed += usize::from(row.mark == '-');
        is_own || texts.before.is_some() && piece.old_lines().contains(&row.number)
    });
    let replaced = || piece.old_lines().take(MAX_COMPARED).filter_map(|line| Some(texts.before?.text(line)));
    let is_known = |row: &NumberedLine<'_>| {
        let letters = row.rest.chars().filter(|c| c.is_alphanumeric()).count();
        letters > 2 && texts.was_there(row.rest) || replaced().any(|text| is_alike(text, row.rest))
    };
    let known = || rows.iter().take(MAX_COMPARED).any(is_known);
    if replaced().any(|text| text.trim_start().starts_with(|c: char| c.is_ascii_digit())) {
        return false;
    }
    let adds = rows.iter().any(|row| row.mark == '+');
    let is_code = match texts.kind {
        TextKind::Code => texts.language() != "sql",
        TextKind::Data => matches!(texts.language(), "json" | "jsonc" | "toml"),
        TextKind::Prose | TextKind::Patch | TextKind::Unknown => false,
    };
    if !is_code || rows.iter().any(|row| texts.part_of_line(row.line) != LexicalPart::Code) {
        let is_enough = rows.len() > 1 || texts.kind == TextKind::Data;
        return is_enough && adds && in_place && known();
    }
    if rows.iter().all(|row| texts.is_sound(row.line)) {
        return in_place && (rows.len() > 1 || known());
    }
    let ascends = rows.len() > 1
        && ['+', '-'].into_iter().all(|mark| {
            let numbers: Vec<usize> =
                rows.iter().filter(|row| row.mark == mark).map(|row| row.number).collect();
            numbers.is_sorted_by(|one, next| one < next)
        });
    ascends || known()
}

/// Parses a line with a number and a diff mark, which has a blank or nothing behind it.
fn row(line: usize, text: &str) -> Option<NumberedLine<'_>> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let number =
        text.get(..digits).filter(|digits| digits.len() < 8)?.parse().ok().filter(|number| *number > 0)?;
    let behind = text.get(digits..)?;
    let mark = behind.chars().next().filter(|mark| matches!(mark, '+' | '-'))?;
    let rest = behind.get(1..)?;
    let rest = if rest.is_empty() { rest } else { rest.strip_prefix(' ')? };
    Some(NumberedLine { line, number, mark, rest })
}

#[cfg(test)]
mod tests {
    use crate::damage::tests::findings;
    use lockgate_policy::Accident;

    fn found(path: &str, before: Option<&str>, after: &str) -> usize {
        findings(Accident::LinePrefixes, path, before, after).len()
    }

    const JS: &str = "function f(x) {\n  g(x);\n  h(x);\n}\n";

    #[test]
    fn lines_of_a_diff_with_numbers_are_found() {
        for (path, before, after) in [
            ("a.js", Some(JS), "function f(x) {\n2+   g(x, 1);\n  h(x);\n}\n"),
            ("a.js", Some(JS), "function f(x) {\n  g(x);\n3+   i(x);\n4+   j(x);\n  h(x);\n}\n"),
            ("a.js", Some(JS), "function f(x) {\n2-   g(x);\n2+   g(x, 1);\n3+   i(x);\n  h(x);\n}\n"),
            ("a.js", Some(JS), "function f(x) {\n2-   g(x, 2);\n3-   h(x, 2);\n}\n"),
            ("a.js", None, "1+ function f(x) {\n2+   g(x);\n3+ }\n"),
            ("a.js", Some(JS), "function f(x) {\n12+   if (x) {\n13+     g(x);\n14+   }\n  h(x);\n}\n"),
            (
                "a.md",
                Some("# A\n\na first line\na second line\n"),
                "# A\n\n3+ a first line here\n4+ a second line there\n",
            ),
            ("a.yml", Some("a: 1\nbee: 2\n"), "a: 1\n2+ bee: 3\n"),
            ("a.py", Some("def f():\n    return 1\n"), "def f():\n2+     return 1 + 2\n"),
        ] {
            assert_eq!(found(path, before, after), 1, "{path}: {after}");
        }
    }

    #[test]
    fn lists_and_sums_are_not() {
        for (path, before, after) in [
            ("a.md", Some("Install\nRun it\n"), "1- Install\n2- Run it\n"),
            ("a.txt", None, "1- Install\n2- Run it\n3- Stop\n"),
            ("a.txt", None, "1+ 1 = 2\n2+ 2 = 4\n"),
            ("a.md", Some("# A\n\nyears of experience\n"), "# A\n\n5+ years of experience\n"),
            ("a.md", Some("# A\n\n3 years of experience\n"), "# A\n\n3+ years of experience\n"),
            ("a.md", Some("# A\n\nmany stars\n"), "# A\n\n3+ people\n"),
            ("a.py", Some("a = [\n    x,\n    y,\n]\n"), "a = [\n    1+ x,\n    2+ y,\n]\n"),
            ("a.py", Some("a = (\n    x\n)\n"), "a = (\n    1+ x\n)\n"),
            ("a.py", Some("a = 1\n"), "# Steps:\n# 1- one\n# 2- two\na = 1\n"),
            ("a.c", Some("int a;\n"), "/* Steps:\n1- one\n2- two\n*/\nint a;\n"),
            ("a.py", Some("a = 1\n"), "a = \"\"\"\n1- one\n2- two\n\"\"\"\n"),
            ("a.sql", Some("select a;\n"), "select\n  1+ a,\n  2+ b;\n"),
            ("a.txt", Some("12- old\n12+ new\n"), "12- old\n2+ new old\n"),
            ("a.yaml", Some("a:\n"), "a: |\n  1- one\n  2- two\n"),
            ("a.el", Some("(f)\n"), "(f \"Steps:\n1- one\n2- two\")\n"),
            ("a.js", Some("a = [\n  2 + x,\n  y\n"), "a = [\n  2+ x,\n  y\n"),
            ("a.csv", Some("a,b\n"), "a,b\n2- a,b\n"),
        ] {
            assert_eq!(found(path, before, after), 0, "{path}: {after}");
        }
    }
}
