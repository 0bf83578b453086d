//! Finds the definition that encloses a line, by indentation, as the hunk headers of git do by pattern.
//!
//! It needs no parser, so it costs nothing noticeable on any file. It is a hint for a reader and decides nothing.

use super::lines::Lines;
use super::word_list::WordList;

/// The maximum number of lines that are searched upwards.
const MAX_DISTANCE: usize = 2000;

/// Words that begin a definition, before its name.
static DEFINING: WordList = WordList::new(
    "
    class def enum extension fn func fun function impl interface macro_rules! mod module namespace object proc
    protocol record struct sub trait union
    ",
);

/// Words that begin a block that is no definition, although it has parentheses.
static BRANCHING: WordList =
    WordList::new("catch do else elif except finally for if loop match switch try while with");

/// Returns the number of the nearest line above that begins the definition around `line`, both from 1.
pub(super) fn enclosing_line(lines: Lines<'_>, line: usize) -> Option<usize> {
    let mut indentation =
        (line..=lines.count()).take(MAX_DISTANCE).find_map(|at| indentation(lines.text(at)))?;
    for above in (1..line).rev().take(MAX_DISTANCE) {
        if indentation == 0 {
            break;
        }
        let text = lines.text(above);
        let Some(less) = self::indentation(text).filter(|less| *less < indentation) else { continue };
        let trimmed = text.trim_start();
        if trimmed.starts_with(['}', ')', ']', '#', '/', '*', '@', '.', '|', '&', '?', ':']) {
            continue;
        }
        indentation = less;
        if is_definition(trimmed) {
            return Some(above);
        }
    }
    None
}

/// Returns the width of the blanks before a text; `None` for a blank line.
fn indentation(line: &str) -> Option<usize> {
    line.find(|c: char| !c.is_whitespace())
}

fn is_definition(trimmed: &str) -> bool {
    let mut words = trimmed.split(|c: char| c.is_whitespace() || matches!(c, '(' | '<' | '{' | ':'));
    let first = words.next().unwrap_or_default();
    if BRANCHING.has(first) {
        return false;
    }
    let head = trimmed.split(['(', '=', '{']).next().unwrap_or_default();
    head.split_whitespace().any(|word| DEFINING.has(word)) || is_function_head(trimmed)
}

/// Returns true for `int main(void) {` and `render(): string {`, which begin with no defining word.
fn is_function_head(trimmed: &str) -> bool {
    let Some((name, rest)) = trimmed.split_once('(') else { return false };
    let is_name =
        name.ends_with(|c: char| c.is_alphanumeric() || c == '_') && !name.contains(['=', '.', '"', '\'']);
    is_name && rest.contains(')') && rest.trim_end().ends_with('{')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Buffer, Hints};

    fn enclosing(text: &str, line: usize) -> Option<String> {
        let buffer = Buffer::read(text.as_bytes().to_vec(), Hints::default()).unwrap();
        enclosing_line(buffer.lines(), line).map(|line| buffer.lines().text(line).trim().to_owned())
    }

    #[test]
    fn the_nearest_definition_around_a_line_is_found() {
        let python = "import os\n\nclass A:\n    @cached\n    def f(\n        self,\n    ):\n        if x:\n            return 1\n\n    y = 2\n\nz = 3\n";
        for (line, wanted) in
            [(1, None), (9, Some("def f(")), (11, Some("class A:")), (13, None), (10, Some("class A:"))]
        {
            assert_eq!(enclosing(python, line).as_deref(), wanted, "{line}");
        }
        let typescript = "export class View {\n  render(): string {\n    for (const a of b) {\n      c();\n    }\n  }\n}\n";
        assert_eq!(enclosing(typescript, 4).as_deref(), Some("render(): string {"));
        assert_eq!(enclosing(typescript, 2).as_deref(), Some("export class View {"));
        let c = "static int\nx;\nint main(void) {\n\tcall(a) ;\n}\n";
        assert_eq!(enclosing(c, 4).as_deref(), Some("int main(void) {"));
        let rust = "impl<T> Show for T {\n    pub(crate) async fn show(&self) -> u8 {\n        match x {\n            _ => 1,\n        }\n    }\n}\n";
        assert_eq!(enclosing(rust, 4).as_deref(), Some("pub(crate) async fn show(&self) -> u8 {"));
        assert_eq!(enclosing("", 1), None);
        assert_eq!(enclosing("\n\n", 9), None);
    }
}
