//! Tells if added lines belong to the line above or below them.

use super::tokens::is_word_char;
use crate::indent::indent_of;

/// The indentation and the first word of a line, or its first signs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct LineStart<'a> {
    indent: &'a str,
    word: &'a str,
}

impl<'a> LineStart<'a> {
    fn new(line: &'a str) -> LineStart<'a> {
        let text = line.trim();
        let begins_with_word = text.starts_with(is_word_char);
        let is_end =
            |character: char| character.is_whitespace() || is_word_char(character) != begins_with_word;
        let word = text.split(is_end).next().unwrap_or_default();
        LineStart { indent: indent_of(line), word }
    }
}

/// The lines of the search between which lines are added.
#[derive(Debug)]
pub(super) struct Neighbours<'a> {
    pub(super) above: &'a str,
    pub(super) below: &'a str,
}

impl Neighbours<'_> {
    /// Returns true if added lines belong to the line below: the last one is a comment, a decorator or an attribute, or
    /// they begin as that line. Lines that begin as the one above do not.
    pub(super) fn added_belong_below(&self, added: &[&str]) -> bool {
        let ([first, ..], [.., last]) = (added, added) else { return false };
        let [above, below] = [self.above, self.below].map(LineStart::new);
        let [first, last_start] = [first, last].map(|line| LineStart::new(line));
        if first == above {
            return false;
        }
        let closes = above.word.starts_with([')', ']', '}']);
        let are_alike = first == below && last_start == below;
        are_alike && !closes && above.indent == first.indent
            || last_start.indent == below.indent && introduces(last.trim(), self.below.trim())
    }

    /// Returns true if added lines begin as the line above.
    pub(super) fn added_begin_as_above(&self, added: &[&str]) -> bool {
        added.first().is_some_and(|line| LineStart::new(line) == LineStart::new(self.above))
    }

    /// Returns true if added lines begin as the line below.
    pub(super) fn added_begin_as_below(&self, added: &[&str]) -> bool {
        added.first().is_some_and(|line| LineStart::new(line) == LineStart::new(self.below))
    }
}

/// Returns true if a line is a comment, a decorator or an attribute of the line below it.
fn introduces(line: &str, below: &str) -> bool {
    ["//", "# ", "-- ", ";; ", "#["].iter().any(|start| line.starts_with(start))
        || line.starts_with(['/', '*']) && line.ends_with("*/")
        || line.starts_with("<!--") && line.ends_with("-->")
        || line.starts_with('[') && line.ends_with(']')
        || line.strip_prefix('@').is_some_and(|rest| is_decorator(rest, below))
}

/// Returns true if the text after an `@` is that of a decorator. In Ruby, `@list.push(1)` is a call.
fn is_decorator(text: &str, below: &str) -> bool {
    let (name, arguments) = text.split_once('(').unwrap_or((text, ""));
    let is_name = name.starts_with(char::is_alphabetic)
        && name.chars().all(|character| is_word_char(character) || character == '.');
    let is_call =
        name.contains('.') && !["def", "class", "async", "@"].iter().any(|start| below.starts_with(start));
    is_name && !name.starts_with("end") && !is_call && (arguments.is_empty() || arguments.ends_with(')'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_decorators_and_attributes_belong_to_the_line_below() {
        for (added, below) in [
            ("@cache", "def f():"),
            ("@app.route(\"/\")", "def f():"),
            ("#[derive(Debug)]", "struct S;"),
            ("[Fact]", "void F() {}"),
            ("/// Doc.", "fn f() {}"),
            ("/** Doc. */", "f() {"),
            (" */", " f() {"),
            ("# note", "key: 1"),
            ("<!-- note -->", "<p>"),
            ("  // note", "  b();"),
        ] {
            assert!(Neighbours { above: "}", below }.added_belong_below(&["x", added]), "{added}");
        }
        for (added, below) in [
            ("@list.push(1)", "save"),
            ("@count = 1", "save"),
            ("@end", "@interface B"),
            ("*p = 1;", "f();"),
            ("#include <b>", "int f();"),
            ("    // deeper", "f();"),
            ("b();", "c();"),
        ] {
            assert!(!Neighbours { above: "}", below }.added_belong_below(&[added]), "{added}");
        }
        let comments = Neighbours { above: "// one", below: "f();" };
        assert!(!comments.added_belong_below(&["// two"]), "they continue those above");
    }

    #[test]
    fn lines_that_begin_as_the_line_below_belong_to_it() {
        let uses = Neighbours { above: "mod a;", below: "use c;" };
        assert!(uses.added_belong_below(&["use a;", "use b;"]));
        assert!(!uses.added_belong_below(&["mod b;"]));
        assert!(!uses.added_belong_below(&["use a;", "x!();"]));
        for above in ["use a;", "}", "    deeper();"] {
            assert!(!Neighbours { above, ..uses }.added_belong_below(&["use b;"]), "{above}");
        }
    }

    #[test]
    fn the_indentation_and_the_first_word_of_the_first_line_decide_how_lines_begin() {
        let around = Neighbours { above: "  import a", below: "class A:" };
        assert!(around.added_begin_as_below(&["class B(", "  import b"]));
        assert!(around.added_begin_as_above(&["  import b", "class B:"]));
        for added in ["import b", "  class B:", "classes", "@cache"] {
            assert!(
                !around.added_begin_as_above(&[added]) && !around.added_begin_as_below(&[added]),
                "{added}"
            );
        }
    }
}
