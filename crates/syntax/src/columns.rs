//! Detects texts that would overflow a grammar's indentation scanner.
//!
//! The grammars of Python and YAML keep the open indentations in a buffer of 1,024 bytes and abort the
//! process when it is full. Each open indentation is further right than the one before it (in YAML up
//! to two share a column), so the number of different columns is an upper bound. Words of a sentence or a
//! shell command open none, so their columns do not count.
//!
//! Invariant: the count ends as soon as it exceeds the bound, so it takes little memory for any text.

use std::collections::HashSet;

/// The number of open indentations that always fits: two bytes each, and up to 255 for the open quotes.
const MAX_PYTHON: usize = 370;
/// The number of columns that always fits: four bytes for each open indentation, and up to two of them
/// in one column.
const MAX_YAML: usize = 120;

/// The way in which a grammar stores open indentations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum IndentStack {
    /// It stores none, or has no limit.
    Safe,
    /// By the width of the leading white space of a line.
    Python,
    /// By the column of any token.
    Yaml,
}

impl IndentStack {
    /// True if the grammar can parse this text safely.
    pub(super) fn holds(self, text: &str) -> bool {
        match self {
            IndentStack::Safe => true,
            IndentStack::Python => python_widths(text) <= MAX_PYTHON,
            IndentStack::Yaml => yaml_columns(text) <= MAX_YAML,
        }
    }
}

/// Counts different widths of indentation. A backslash at the start of a line adds that line's width to
/// the next one's, so each such line may count as one more.
fn python_widths(text: &str) -> usize {
    let (mut widths, mut joined) = (HashSet::new(), 0);
    for line in text.split(['\n', '\r', '\u{c}']) {
        let blanks = line.bytes().take_while(|byte| matches!(byte, b' ' | b'\t'));
        let (count, width) = blanks.fold((0, 0), |(count, width), byte| {
            (count + 1, if byte == b'\t' { width + 8 } else { width + 1 })
        });
        widths.insert(width);
        joined += usize::from(line.as_bytes().get(count) == Some(&b'\\'));
        if widths.len() + joined > MAX_PYTHON {
            break;
        }
    }
    widths.len() + joined
}

/// Counts different columns at which a token can open an indentation: the first token of a line, the one
/// after an indicator, an indicator before a blank, and for the colon of a key the last token before it. A
/// block scalar with an explicit indentation adds one at which no token begins.
fn yaml_columns(text: &str) -> usize {
    let (mut columns, mut column, mut given) = (HashSet::new(), 0_usize, 0);
    let (mut after_blank, mut opens, mut start) = (true, true, 0_usize);
    let mut last = ' ';
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let begins = after_blank && !is_yaml_blank(character);
        if begins {
            start = column;
        }
        let is_last = characters.peek().is_none_or(|next| is_yaml_blank(*next));
        let indicates = is_last && matches!(character, '-' | '?' | ':');
        if indicates || (begins && opens) {
            columns.insert(start);
        }
        if !is_yaml_blank(character) {
            // The value of an ordinary key opens none.
            let is_value = character == ':' && !begins;
            opens = matches!(character, '[' | '{') || (indicates && !is_value);
        }
        after_blank = !character.is_alphanumeric();
        given += usize::from(character.is_ascii_digit() && matches!(last, '|' | '>' | '+' | '-'));
        if columns.len() + given > MAX_YAML {
            break;
        }
        last = character;
        if matches!(character, '\n' | '\r') {
            (column, start, opens) = (0, 0, true);
        } else {
            column += 1;
        }
    }
    columns.len() + given
}

fn is_yaml_blank(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\n' | '\r' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nested(levels: usize, opener: &str) -> String {
        (0..levels).map(|level| format!("{}{opener}\n", " ".repeat(level))).collect()
    }

    #[test]
    fn refuses_what_would_fill_the_buffer() {
        assert!(IndentStack::Python.holds(&nested(300, "if a:")));
        assert!(!IndentStack::Python.holds(&nested(500, "if a:")));
        assert!(!IndentStack::Python.holds(&" \\\n".repeat(500)));
        assert!(IndentStack::Yaml.holds(&nested(100, "a:")));
        assert!(!IndentStack::Yaml.holds(&nested(250, "a:")));
        assert!(!IndentStack::Yaml.holds(&"- ".repeat(250)));
        assert!(IndentStack::Safe.holds(&"- ".repeat(250)));
    }

    #[test]
    fn the_count_ends_at_the_bound() {
        assert_eq!(yaml_columns(&"[".repeat(1 << 20)), MAX_YAML + 1);
        assert_eq!(yaml_columns(&"|1".repeat(1 << 20)), MAX_YAML + 1);
        assert_eq!(python_widths(&nested(2_000, "a")), MAX_PYTHON + 1);
        assert_eq!(python_widths(&"\\\n".repeat(1 << 20)), MAX_PYTHON + 1);
        // The control: below the bound, everything counts.
        assert_eq!((yaml_columns(&"[".repeat(100)), python_widths(&nested(100, "a"))), (100, 100));
    }

    #[test]
    fn holds_what_people_write() {
        let command =
            format!("jobs:\n  a:\n    steps:\n{}", format!("    - run: {}\n", "a-b ".repeat(60)).repeat(5));
        assert!(IndentStack::Yaml.holds(&command));
        let flags: String =
            (1..200).map(|flag| format!(" --f{}=\"$V{flag}\", x;", "l".repeat(flag % 7))).collect();
        assert!(IndentStack::Yaml.holds(&format!("run: |\n  make{flags}\n")));
        assert_eq!(yaml_columns("a: b c\n\"d e\": - f, g\n? [h, i]\n"), 6);
        let wide = "key: a long line of prose, up to a hundred columns, as people write it in descriptions\n";
        assert!(IndentStack::Yaml.holds(&wide.repeat(50)));
        assert!(IndentStack::Python.holds(&wide.repeat(50)));
    }
}
