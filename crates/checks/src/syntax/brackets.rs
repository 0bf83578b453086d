//! Finds the unmatched brackets of a text, and those that indentation shows to be open.
//!
//! A closing bracket that begins its line closes the bracket whose line has the same indentation, so the brackets opened in
//! between are not closed.

use std::collections::BTreeMap;

/// The longest search back for the start of a line, in bytes, so that a text of one line takes linear time.
const LONGEST_LINE: usize = 400;
/// The most open brackets that are searched for one with the same indentation.
const DEEPEST: usize = 64;

/// The brackets of a text that are not closed properly.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct BracketReport {
    /// The offsets of unmatched brackets.
    pub(super) lone: Vec<usize>,
    /// The offsets of brackets that are not closed where their indentation ends.
    pub(super) unclosed: Vec<usize>,
}

/// Pairs brackets by their kind, in text order.
#[derive(Debug, Default)]
struct Brackets {
    open: Vec<(char, usize)>,
    /// The open brackets of each kind, so that no partner is searched for where there is none.
    counts: BTreeMap<char, usize>,
    lone: Vec<usize>,
}

impl Brackets {
    /// Returns the offsets of the unmatched brackets, in text order.
    fn lone(mut self) -> Vec<usize> {
        self.lone.extend(self.open.into_iter().map(|(_, at)| at));
        self.lone.sort_unstable();
        self.lone
    }

    fn open(&mut self, close: char, at: usize) {
        self.open.push((close, at));
        *self.counts.entry(close).or_default() += 1;
    }

    /// Closes the nearest open bracket of that kind; brackets opened since then are unmatched.
    fn close(&mut self, close: char, at: usize) {
        if self.counts.get(&close).is_none_or(|count| *count == 0) {
            self.lone.push(at);
            return;
        }
        while let Some((closing, opened)) = self.open.pop() {
            *self.counts.entry(closing).or_default() -= 1;
            if closing == close {
                return;
            }
            self.lone.push(opened);
        }
    }
}

/// Pairs brackets by their indentation.
#[derive(Debug, Default)]
struct Nesting {
    open: Vec<Open>,
    unclosed: Vec<usize>,
}

#[derive(Debug)]
struct Open {
    close: char,
    at: usize,
    /// The indentation of its line, if known.
    indent: Option<usize>,
}

impl Nesting {
    fn open(&mut self, close: char, at: usize, text: &str) {
        self.open.push(Open { close, at, indent: Line::containing(text, at).map(|line| line.indent) });
    }

    /// Returns the offsets of the brackets that are not closed where their indentation ends, in text order.
    fn unclosed(mut self) -> Vec<usize> {
        self.unclosed.extend(self.open.into_iter().map(|open| open.at));
        self.unclosed.sort_unstable();
        self.unclosed
    }

    fn close(&mut self, close: char, at: usize, text: &str) {
        let first = Line::containing(text, at).filter(|line| line.is_first).map(|line| line.indent);
        let start = self.open.len().saturating_sub(DEEPEST);
        let nearest = || self.open.iter().enumerate().skip(start).rev();
        let alike = first.and_then(|indent| {
            let is_partner = |open: &Open| open.close == close && open.indent == Some(indent);
            let is_deeper = self.open.last()?.indent? > indent;
            if !is_deeper {
                return None;
            }
            nearest().find(|(_, open)| is_partner(open)).map(|(index, _)| index)
        });
        let partner =
            alike.or_else(|| nearest().find(|(_, open)| open.close == close).map(|(index, _)| index));
        if let Some(partner) = partner {
            self.unclosed.extend(self.open.drain(partner..).skip(1).map(|open| open.at));
        }
    }
}

/// The line that contains an offset.
struct Line {
    indent: usize,
    /// Set when only indentation precedes the offset.
    is_first: bool,
}

impl Line {
    /// Returns `None` for an offset far from the start of its line.
    fn containing(text: &str, at: usize) -> Option<Line> {
        let bytes = text.as_bytes();
        let from = at.saturating_sub(LONGEST_LINE);
        let start = match memchr::memrchr(b'\n', bytes.get(from..at)?) {
            Some(newline) => from + newline + 1,
            None if from == 0 => 0,
            None => return None,
        };
        let before = bytes.get(start..at)?;
        let indent = before.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        Some(Line { indent, is_first: indent == before.len() })
    }
}

/// Pairs the brackets of a text in both ways.
#[derive(Debug, Default)]
pub(super) struct BracketPairs {
    brackets: Brackets,
    nesting: Nesting,
}

impl BracketPairs {
    /// Adds the next token of this text; ignores all tokens except brackets.
    pub(super) fn see(&mut self, token: &str, at: usize, text: &str) {
        match token {
            "(" => self.open(')', at, text),
            "[" => self.open(']', at, text),
            "{" => self.open('}', at, text),
            ")" => self.close(')', at, text),
            "]" => self.close(']', at, text),
            "}" => self.close('}', at, text),
            _ => {}
        }
    }

    fn open(&mut self, close: char, at: usize, text: &str) {
        self.brackets.open(close, at);
        self.nesting.open(close, at, text);
    }

    fn close(&mut self, close: char, at: usize, text: &str) {
        self.brackets.close(close, at);
        self.nesting.close(close, at, text);
    }

    /// Returns the brackets that are not closed properly.
    pub(super) fn report(self) -> BracketReport {
        BracketReport { lone: self.brackets.lone(), unclosed: self.nesting.unclosed() }
    }
}

/// Returns the number of opening minus closing brackets of each kind, including those in quotes.
pub(crate) fn balance(text: &str) -> [isize; 3] {
    let mut balance = [0; 3];
    for byte in text.bytes() {
        match byte {
            b'(' => balance[0] += 1,
            b')' => balance[0] -= 1,
            b'[' => balance[1] += 1,
            b']' => balance[1] -= 1,
            b'{' => balance[2] += 1,
            b'}' => balance[2] -= 1,
            _ => {}
        }
    }
    balance
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(text: &str) -> BracketReport {
        let mut pairs = BracketPairs::default();
        for (at, character) in text.char_indices() {
            pairs.see(character.encode_utf8(&mut [0; 4]), at, text);
        }
        pairs.report()
    }

    fn lone(text: &str) -> Vec<usize> {
        report(text).lone
    }

    #[test]
    fn finds_the_brackets_without_a_partner() {
        let none: [usize; 0] = [];
        assert_eq!(lone("a(b[c]{d})"), none);
        assert_eq!(
            [lone("({)"), lone("{(}"), lone("]"), lone("((")],
            [vec![1], vec![1], vec![0], vec![0, 1]]
        );
        assert_eq!(lone("{ { }"), [0]);
    }

    #[test]
    fn balances_without_reading() {
        assert_eq!(balance("f(x[0], {\"}"), [1, 0, 0]);
        assert_eq!(balance("}{{ ))["), [-2, 1, 1]);
    }

    fn unclosed(text: &str) -> Vec<usize> {
        let line = |at: usize| text.get(..at).unwrap().matches('\n').count() + 1;
        report(text).unclosed.into_iter().map(line).collect()
    }

    #[test]
    fn indentation_says_which_bracket_is_open() {
        let none: [usize; 0] = [];
        assert_eq!(unclosed("a {\n  b {\n  }\n}\n"), none);
        assert_eq!(unclosed("f(a,\n    b\n    )\n"), none);
        assert_eq!(unclosed("f(function() {\n  a();\n});\n"), none);
        assert_eq!(unclosed("a {\n  b {\n    c\n  d {\n  }\n}\n"), [2]);
        assert_eq!(unclosed("a {\n  b\n\nc {\n}\n"), [1]);
        assert_eq!(unclosed("a {\n\tb {\n\t\tc(\n\t}\n}\n"), [3]);
        assert_eq!(unclosed("}\n"), none);
        assert_eq!(unclosed("{{}"), [1]);
    }

    #[test]
    fn a_text_of_one_line_is_paired_in_linear_time() {
        let start = std::time::Instant::now();
        let text = format!("{}{}", "{a(".repeat(200_000), ")}".repeat(200_000));
        assert!(report(&text).unclosed.is_empty());
        assert!(start.elapsed().as_secs() < 30);
    }
}
