//! Literal matches that begin behind the indentation of their first line.
//!
//! The texts of such an edit are a piece of the file, or a block without its indentation. If the search has several
//! lines, the file has the further ones as they are quoted, so they have its indentation, and so has the replacement. If
//! it has one line, the further lines of the replacement decide.

use std::ops::Range;

use super::exact::{is_blank, is_line_end, is_line_start};
use super::indent::indent_of;
use super::search_text::LineRange;

/// A match of several lines, and its texts, with the indentation of the first line.
pub(super) struct WholeLines {
    pub(super) hit: Range<usize>,
    pub(super) search: String,
    pub(super) replace: String,
}

impl WholeLines {
    /// Adds the indentation to a match of several lines that lacks only that of the first one, and to the first line of the
    /// replacement, unless that is indented.
    ///
    /// Returns `None` for other matches, and if the first line of the replacement may be a further line of the search,
    /// without indentation in the file.
    pub(super) fn new(view: &str, hit: &Range<usize>, search: &str, replace: &str) -> Option<WholeLines> {
        let indent = indent_before(view, hit.start)?;
        let (first_quoted, further) =
            search.split_once('\n').filter(|(_, further)| !further.trim().is_empty())?;
        let is_whole = search.ends_with('\n') || is_line_end(view, hit.end);
        if !is_whole || search.starts_with(char::is_whitespace) {
            return None;
        }
        let (blank, rest) =
            replace.split_at_checked(replace.len() - replace.trim_start_matches('\n').len())?;
        let mut lines = rest.lines().filter(|line| !line.trim().is_empty());
        let first = lines.next().unwrap_or_default();
        let is_indented = first.is_empty() || rest.starts_with(is_blank);
        let is_deep = |rest: &str| !opens_block(first) || rest.starts_with(is_blank);
        let next_is_as_deep = lines.next().and_then(|next| next.strip_prefix(indent)).is_some_and(is_deep);
        let mut flat = further.lines().filter(|line| !line.is_empty() && !line.starts_with(is_blank));
        if !is_indented && first != first_quoted && !next_is_as_deep && flat.next().is_some() {
            return None;
        }
        let replace = [blank, if is_indented { "" } else { indent }, rest].concat();
        Some(WholeLines {
            hit: hit.start - indent.len()..hit.end,
            search: [indent, search].concat(),
            replace,
        })
    }
}

/// Returns true if the further lines of a replacement have the file's indentation, and some are shallower than the line of
/// the match, of which the search has all but the indentation. They could not be there in a block without its indentation:
///
/// * A line begins with a bracket that closes none of the replacement, or one of its first line in the column of that line.
/// * The second line would be deeper than the first one, and that ends a statement.
pub(super) fn has_file_indent(range: LineRange<'_>, hit: &Range<usize>, search: &str, replace: &str) -> bool {
    let Some(indent) = indent_before(range.view, hit.start) else { return false };
    let mut lines = replace.lines().filter(|line| !line.trim().is_empty());
    let first = lines.next().unwrap_or_default();
    let is_shallower =
        |line: &str| indent_of(line).len() < indent.len() && indent.starts_with(indent_of(line));
    let is_line =
        search.lines().nth(1).is_none() && (search.ends_with('\n') || is_line_end(range.view, hit.end));
    if !is_line
        || search.ends_with('\n') != replace.ends_with('\n')
        || [search, replace].iter().any(|text| text.starts_with(char::is_whitespace))
        || !lines.clone().any(is_shallower)
        || !keeps_balance(search, replace)
    {
        return false;
    }
    let second = lines.clone().next().unwrap_or_default();
    if first.trim_end().ends_with(['(', '[', '{', ':', '='])
        && is_shallower(second)
        && !begins_with_closing(second)
    {
        return false;
    }
    let is_between = second.starts_with(is_blank) && is_shallower(second);
    let mut is_shown = is_between && are_statements(range.language(), first.trim_end(), second.trim());
    let mut open = BracketRows::default();
    open.read(0, first);
    for (row, line) in lines.enumerate() {
        let sign = line.trim_start().chars().next().filter(|_| begins_with_closing(line));
        match sign.and_then(|sign| open.rows_of(sign)).map(|rows| rows.last()) {
            Some(None) if is_shallower(line) => is_shown = true,
            Some(Some(0)) if indent_of(line) == indent => is_shown = true,
            Some(None | Some(0)) => return false,
            Some(Some(_)) | None => {}
        }
        open.read(row + 1, line);
    }
    is_shown
}

/// Returns the indentation before the first word of a line; `None` if there is none, or other text.
fn indent_before(view: &str, offset: usize) -> Option<&str> {
    let before = view.get(..offset)?;
    let start = before.trim_end_matches(is_blank).len();
    before.get(start..).filter(|indent| !indent.is_empty() && is_line_start(view, start))
}

/// Returns true if a replacement opens and closes as many brackets as the search, so that those of a file stay balanced.
fn keeps_balance(search: &str, replace: &str) -> bool {
    [('(', ')'), ('[', ']'), ('{', '}')].into_iter().all(|(open, close)| {
        let count = |text: &str, sign: char| text.matches(sign).count();
        count(replace, open) + count(search, close) == count(replace, close) + count(search, open)
    })
}

fn begins_with_closing(line: &str) -> bool {
    line.trim_start().starts_with([')', ']', '}'])
}

/// Returns true if no line below the first one can be deeper than it, as the second one is.
fn are_statements(language: Option<&str>, first: &str, second: &str) -> bool {
    let begins = |words: &[&str]| words.iter().any(|word| second.starts_with(word));
    match language {
        _ if first.ends_with(';') => true,
        Some("python") => {
            let is_header = second.ends_with(':') && begins(&["if ", "for ", "while ", "with ", "try:"]);
            let is_branch = second.ends_with(':') && begins(&["elif ", "else:", "except", "finally:"]);
            let is_definition = begins(&["def ", "class ", "async ", "@"]);
            let is_simple = second.contains(" = ") || begins(&["return", "raise "]);
            let mut open = BracketRows::default();
            open.read(0, first);
            open.is_empty() && !opens_block(first) && (is_header || is_branch || is_definition || is_simple)
        }
        Some("yaml") => {
            let value = first.split_once(": ").map(|(_, value)| value.trim_start());
            let is_scalar =
                value.is_some_and(|value| !value.starts_with(['&', '!', '|', '>', '[', '{', '#']));
            is_scalar && !first.starts_with("- ") && (second.ends_with(':') || second.contains(": "))
        }
        _ => false,
    }
}

/// The rows of the open brackets of each kind.
#[derive(Debug, Default)]
struct BracketRows {
    round: Vec<usize>,
    square: Vec<usize>,
    curly: Vec<usize>,
}

impl BracketRows {
    /// Returns the rows of the open brackets of one kind.
    fn rows_of(&mut self, bracket: char) -> Option<&mut Vec<usize>> {
        match bracket {
            '(' | ')' => Some(&mut self.round),
            '[' | ']' => Some(&mut self.square),
            '{' | '}' => Some(&mut self.curly),
            _ => None,
        }
    }

    /// Adds the brackets that a line opens, and removes those that it closes.
    fn read(&mut self, row: usize, line: &str) {
        for sign in line.chars() {
            let Some(rows) = self.rows_of(sign) else { continue };
            if "([{".contains(sign) {
                rows.push(row);
            } else {
                rows.pop();
            }
        }
    }

    fn is_empty(&self) -> bool {
        [&self.round, &self.square, &self.curly].iter().all(|rows| rows.is_empty())
    }
}

/// Returns true if a deeper line may follow a line.
fn opens_block(line: &str) -> bool {
    line.trim_end().ends_with(|sign: char| "([{:,=\\>".contains(sign))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exact::{occurrences, splice};
    use lockgate_text::{Buffer, Change, Hints};

    fn spliced(view: &str, search: &str, replace: &str) -> Option<String> {
        let hit = occurrences(view, 0..view.len(), search).next().unwrap();
        let WholeLines { hit, search, replace } = WholeLines::new(view, &hit, search, replace)?;
        let mut text = view.to_owned();
        for Change { span, text: new } in splice(view, hit, &search, &replace).into_iter().rev() {
            text.replace_range(span, &new);
        }
        Some(text)
    }

    #[test]
    fn further_lines_of_the_file_show_that_only_the_first_one_lacks_its_indentation() {
        let file = "a:\n    b\n    c\nd\n";
        for (search, replace, expected) in [
            ("b\n    c", "x\n    c", "a:\n    x\n    c\nd\n"),
            ("b\n    c\n", "x\n    c\n", "a:\n    x\n    c\nd\n"),
            ("b\n    c\n", "x\n    c", "a:\n    x\n    c\nd\n"),
            ("b\n    c", "    x\n    c", "a:\n    x\n    c\nd\n"),
            ("b\n    c", "    c", "a:\n    c\nd\n"),
            ("b\n    c", "", "a:\nd\n"),
            ("b\n    c", "\nb\n    \n    c", "a:\n\n    b\n    \n    c\nd\n"),
        ] {
            assert_eq!(spliced(file, search, replace).as_deref(), Some(expected), "{search:?} {replace:?}");
        }
        for (view, search) in [
            ("    a\n", "a\n"),
            ("a\n    b\n", "a\n    b"),
            ("    a\n    bc\n", "a\n    b"),
            ("    a\n b\n", "  a\n b"),
        ] {
            assert_eq!(spliced(view, search, "x\n    y"), None, "{view:?}");
        }
    }

    #[test]
    fn a_first_line_may_be_one_of_the_quoted_lines_without_indentation() {
        let file = "    a();\n}\n\n// One\nb {\n    c,\n}\n";
        let search = "a();\n}\n\n// One\nb {\n    c,";
        for (replace, is_spliced) in [
            ("}\n\n// One\nb {\n    c,", false),
            ("// Two\nb {\n    c,", false),
            ("// Two\n    b: bool,", true),
            ("b(\n    c,", false),
            ("b(\n        c,", true),
            ("a();\n}", true),
        ] {
            assert_eq!(spliced(file, search, replace).is_some(), is_spliced, "{replace:?}");
        }
    }

    fn is_of_file(language: Option<&str>, search: &str, replace: &str) -> bool {
        let view = format!("a\n        {search}\n");
        let buffer = Buffer::read(view.into_bytes(), Hints::default()).unwrap();
        let range = LineRange::new(&buffer, 1, usize::MAX);
        let range = match language {
            Some(language) => range.with_language(Some(language), "a", &lockgate_syntax::Grammars),
            None => range,
        };
        let hit = occurrences(buffer.view(), range.window(), search).next().unwrap();
        has_file_indent(range, &hit, search, replace)
    }

    #[test]
    fn lines_that_no_block_can_have_show_the_indentation_of_the_file() {
        for replace in [
            "one()\n    }\n\n    fn g() {\n        two()",
            "one()\n}\n\nfn g() {\n    two()",
            "one();\n    y: u8,",
            "f() {\n            one()\n        }\n    }\n    {\n        two()",
            "if x {\n            one()\n        }\n    let y = 1",
        ] {
            assert!(is_of_file(None, "one()", replace), "{replace:?}");
        }
        for replace in [
            // A block without its indentation.
            "one()\ntwo()",
            "if a {\n    one()\n}",
            "if a {\n    one()\n} else {\n    two()\n}",
            "f(\n    \"(\",\n    one(),\n)",
            "f(\n    \")\",\n    one(),\n)",
            "// One\nfn f() {\n    is(\"}\")\n}",
            "one()\n    }",
            "one()\n    .two()",
            "let x =\n    one();",
        ] {
            assert!(!is_of_file(None, "one()", replace), "{replace:?}");
        }
        assert!(!is_of_file(None, "one()\n", "one()\n    }"), "one of them ends in a newline");
    }

    #[test]
    fn in_python_and_yaml_a_deeper_line_needs_a_header() {
        for (language, replace, expected) in [
            ("python", "return 1\n\n    def g(self):\n        return 2", true),
            ("python", "x = 1\n    y = 2", true),
            ("python", "f()\n    else:\n        g()", true),
            ("python", "if x:\n    return 1", false),
            ("python", "return f(a)\nreturn g(b)", false),
            ("python", "return f(a,\n    b = 2)", false),
            ("python", "Returns x.\n    More words.", false),
            ("yaml", "key: 1\n    next: 2", true),
            ("yaml", "key:\n    next: 2", false),
            ("yaml", "key: &a\n    next: 2", false),
            ("yaml", "key: |\n    next: 2", false),
            ("yaml", "- key: 1\n  next: 2", false),
            ("ruby", "def f\n    x = 1", false),
        ] {
            assert_eq!(is_of_file(Some(language), "return 1", replace), expected, "{replace:?}");
        }
    }

    #[test]
    fn many_brackets_take_linear_time() {
        let replace = ["one()\n", &"    }\n".repeat(200_000), &"    {\n".repeat(200_000)].concat();
        assert!(is_of_file(None, "one()", replace.trim_end()));
    }
}
