//! Converts the columns of programs to characters.
//!
//! Invariant: positions in ascending order cost one pass over each line.

use lockgate_policy::Columns;
use lockgate_text::Lines;

/// A pass over the lines of a text.
#[derive(Debug)]
pub(super) struct ColumnWalk<'a> {
    lines: Lines<'a>,
    /// The number of the current line.
    line: usize,
    columns: Columns,
    /// The part of the line before the current position: in bytes, in characters, and in units of `columns`.
    bytes: usize,
    characters: usize,
    units: usize,
}

impl<'a> ColumnWalk<'a> {
    /// Starts before the first line.
    pub(super) fn new(lines: Lines<'a>) -> ColumnWalk<'a> {
        ColumnWalk { lines, line: 0, columns: Columns::Characters, bytes: 0, characters: 0, units: 0 }
    }

    /// Converts a 1-based position to a line and a column in characters; a position outside of the text
    /// becomes the nearest one.
    ///
    /// A column inside a character is that character's, and a tab is one character.
    pub(super) fn position(&mut self, (line, column): (usize, usize), columns: Columns) -> (usize, usize) {
        let last = self.lines.count().max(1);
        let target = if line > last { usize::MAX } else { column.saturating_sub(1) };
        let line = line.min(last);
        if (line, columns) != (self.line, self.columns) || target < self.units {
            *self = ColumnWalk { line, columns, ..ColumnWalk::new(self.lines) };
        }
        self.advance(target);
        (line, self.characters + 1)
    }

    /// Advances to the character that contains this unit, or to the end of the line.
    fn advance(&mut self, target: usize) {
        let rest = self.lines.text(self.line).get(self.bytes..).unwrap_or_default();
        for character in rest.chars() {
            let width = width(character, self.columns);
            if self.units + width > target {
                return;
            }
            self.units += width;
            self.characters += 1;
            self.bytes += character.len_utf8();
        }
    }
}

fn width(character: char, columns: Columns) -> usize {
    match columns {
        Columns::Characters => 1,
        Columns::Bytes => character.len_utf8(),
        Columns::Utf16 => character.len_utf16(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockgate_text::{Buffer, Hints};

    fn buffer(text: &str) -> Buffer {
        Buffer::read(text.into(), Hints::default()).unwrap()
    }

    fn place(text: &str, place: (usize, usize), columns: Columns) -> (usize, usize) {
        ColumnWalk::new(buffer(text).lines()).position(place, columns)
    }

    #[test]
    fn columns_are_counted_in_characters() {
        let text = "é\t😀x\r\nsecond\n";
        for (columns, expected) in [
            (Columns::Characters, [1, 2, 3, 4, 5, 5, 5, 5, 5, 5]),
            (Columns::Utf16, [1, 2, 3, 3, 4, 5, 5, 5, 5, 5]),
            (Columns::Bytes, [1, 1, 2, 3, 3, 3, 3, 4, 5, 5]),
        ] {
            let found: Vec<usize> = (1..=10).map(|column| place(text, (1, column), columns).1).collect();
            assert_eq!(found, expected, "{columns:?}");
        }
    }

    #[test]
    fn a_place_outside_is_the_nearest_one() {
        for (text, position, expected) in [
            ("", (1, 1), (1, 1)),
            ("", (9, 9), (1, 1)),
            ("ab\ncd\n", (3, 1), (2, 3)),
            ("ab\ncd", (usize::MAX, 1), (2, 3)),
            ("ab\ncd\n", (1, usize::MAX), (1, 3)),
            ("ab\ncd\n", (2, 0), (2, 1)),
        ] {
            assert_eq!(place(text, position, Columns::Characters), expected, "{text:?} {position:?}");
        }
    }

    #[test]
    fn a_walk_goes_back_where_it_must() {
        let text = buffer("aéb\ncéd\n");
        let mut walk = ColumnWalk::new(text.lines());
        for (position, columns, expected) in [
            ((1, 4), Columns::Bytes, (1, 3)),
            ((1, 2), Columns::Bytes, (1, 2)),
            ((2, 4), Columns::Bytes, (2, 3)),
            ((2, 4), Columns::Characters, (2, 4)),
            ((1, 1), Columns::Characters, (1, 1)),
        ] {
            assert_eq!(walk.position(position, columns), expected, "{position:?} {columns:?}");
        }
    }
}
