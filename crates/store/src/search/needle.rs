//! Extracts the literal pieces that every match of a pattern contains; an index uses them to narrow a search.
//!
//! Invariant: a text that matches the pattern contains all of these pieces, in their order. If nothing is
//! known about a pattern, there are none.

use regex_syntax::hir::{Class, Hir, HirKind};
use std::mem::take;

/// The least characters of a piece that an index can look up.
const LEAST: usize = 3;
/// The most characters that are taken from a pattern, and the most copies of a repeated part.
const MOST: usize = 400;
const REPEATS: u32 = 4;

/// One character of a piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cell {
    /// Exactly this character, in this case.
    Exact(char),
    /// This ASCII letter in either case; stored in lower case.
    EitherCase(char),
}

/// Consecutive characters that every match of a pattern contains.
pub type NeedlePiece = Vec<Cell>;

/// Returns the pieces of a pattern, each of at least three characters, in the order in which they occur in a
/// match.
pub(super) fn pieces(pattern: &Hir) -> Vec<NeedlePiece> {
    let mut gather = Gather::default();
    gather.take(pattern);
    gather.cut();
    gather.done
}

#[derive(Default)]
struct Gather {
    done: Vec<NeedlePiece>,
    /// The piece that may be extended.
    open: NeedlePiece,
    /// The number of characters taken so far.
    taken: usize,
}

impl Gather {
    /// Ends the current piece, because anything may follow.
    fn cut(&mut self) {
        let piece = take(&mut self.open);
        if piece.len() >= LEAST {
            self.done.push(piece);
        }
    }

    fn put(&mut self, cell: Option<Cell>) {
        match cell.filter(|_| self.taken < MOST) {
            Some(cell) => {
                self.taken += 1;
                self.open.push(cell);
            }
            None => self.cut(),
        }
    }

    fn take(&mut self, pattern: &Hir) {
        match pattern.kind() {
            // An assertion consumes no character.
            HirKind::Empty | HirKind::Look(_) => {}
            HirKind::Literal(literal) => {
                for chunk in literal.0.utf8_chunks() {
                    chunk.valid().chars().for_each(|character| self.put(exact(character)));
                    if !chunk.invalid().is_empty() {
                        self.cut();
                    }
                }
            }
            HirKind::Class(class) => self.put(of_class(class)),
            HirKind::Repetition(repetition) => {
                (0..repetition.min.min(REPEATS)).for_each(|_| self.take(&repetition.sub));
                if repetition.max != Some(repetition.min) || repetition.min > REPEATS {
                    self.cut();
                }
            }
            HirKind::Capture(capture) => self.take(&capture.sub),
            HirKind::Concat(parts) => parts.iter().for_each(|part| self.take(part)),
            HirKind::Alternation(_) => self.cut(),
        }
    }
}

/// A character that is the same in a stored file and in the text that is searched. Line ends may differ, and
/// NUL and the byte order mark are absent from the text.
fn exact(character: char) -> Option<Cell> {
    (!matches!(character, '\n' | '\r' | '\0' | '\u{feff}' | char::REPLACEMENT_CHARACTER))
        .then_some(Cell::Exact(character))
}

fn of_class(class: &Class) -> Option<Cell> {
    let bounds: Vec<(char, char)> = match class {
        Class::Unicode(class) => class.iter().map(|range| (range.start(), range.end())).collect(),
        Class::Bytes(class) => {
            if !class.is_ascii() {
                return None;
            }
            class.iter().map(|range| (range.start().into(), range.end().into())).collect()
        }
    };
    match *bounds.as_slice() {
        [(only, last)] if only == last => exact(only),
        [(large, last), (small, end)] if large == last && small == end && large.is_ascii_uppercase() => {
            (large.to_ascii_lowercase() == small).then_some(Cell::EitherCase(small))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use regex_syntax::ParserBuilder;

    /// Pieces as texts: a letter in either case is upper case, others are unchanged.
    fn piece_texts(pattern: &str) -> Vec<String> {
        let hir = ParserBuilder::new().multi_line(true).utf8(false).build().parse(pattern).unwrap();
        let cell = |cell: &Cell| match cell {
            Cell::Exact(character) => *character,
            Cell::EitherCase(small) => small.to_ascii_uppercase(),
        };
        pieces(&hir).iter().map(|piece| piece.iter().map(cell).collect()).collect()
    }

    #[test]
    fn a_piece_stands_in_every_match() {
        for (pattern, expected) in [
            ("def ", &["def "][..]),
            ("de", &[]),
            ("def .*agent", &["def ", "agent"]),
            ("^import (os|sys)$", &["import "]),
            ("foo_(a|b)", &["foo_"]),
            ("TODO|FIXME", &[]),
            ("(abc)?def", &["def"]),
            ("(?:abc)*", &[]),
            ("abc+d", &["abc"]),
            ("(?:abc)+d", &["abc"]),
            ("(?:ab){2}c", &["ababc"]),
            ("(?:ab){2,3}c", &["abab"]),
            ("x{9}", &["xxxx"]),
            (r"\babc\b", &["abc"]),
            (r"ab\.c\(", &["ab.c("]),
            ("(?i)todo", &["TODO"]),
            ("(?i)a_b1", &["A_B1"]),
            // A long s matches an s, and the Kelvin sign a k.
            ("(?i)tasks_def", &["_DEF"]),
            ("(?-u:(?i)task)", &["TASK"]),
            ("ab[cd]efg", &["efg"]),
            ("ab[c]d", &["abcd"]),
            ("äöü", &["äöü"]),
            ("(?i)äöü", &[]),
            ("abc\\ndef", &["abc", "def"]),
            ("abc\\r?\\ndef", &["abc", "def"]),
            ("ab\\x00cd", &[]),
            (r"(?-u:\xff)abc", &["abc"]),
            ("a.b.c", &[]),
            ("", &[]),
        ] {
            assert_eq!(piece_texts(pattern), expected, "{pattern}");
        }
        assert_eq!(piece_texts(&"ab".repeat(4000)), ["ab".repeat(MOST / 2)]);
    }
}
