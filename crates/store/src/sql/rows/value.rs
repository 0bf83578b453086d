//! SQL values, either bound to a statement or written into it as literals.
//!
//! Invariant: no value can end its own literal, regardless of the server's settings.

use std::fmt::Write;

/// A value of an SQL statement.
#[derive(Debug, Clone)]
pub(super) enum SqlValue {
    Number(i64),
    Text(String),
    /// Bytes, or NULL in a column of bytes.
    Bytes(Option<Vec<u8>>),
}

impl SqlValue {
    /// The PostgreSQL type of the value.
    pub fn sql_type(&self) -> &'static str {
        match self {
            SqlValue::Number(_) => "bigint",
            SqlValue::Text(_) => "text",
            SqlValue::Bytes(_) => "bytea",
        }
    }

    /// The value as a PostgreSQL literal.
    pub fn literal(&self) -> String {
        match self {
            SqlValue::Number(number) => format!("({number})"),
            SqlValue::Text(text) => literal(text),
            SqlValue::Bytes(None) => "NULL".to_owned(),
            SqlValue::Bytes(Some(bytes)) => {
                let mut quoted = r"E'\\x".to_owned();
                for byte in bytes {
                    // Writing to a string cannot fail.
                    let _ = write!(quoted, "{byte:02x}");
                }
                quoted + "'"
            }
        }
    }
}

/// Quotes a text as a literal.
pub(super) fn literal(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 3);
    quoted.push_str("E'");
    for character in text.chars() {
        match character {
            '\'' | '\\' => quoted.extend([character, character]),
            // A NUL would end the message.
            '\0' => quoted.push('\u{fffd}'),
            other => quoted.push(other),
        }
    }
    quoted.push('\'');
    quoted
}

impl From<i64> for SqlValue {
    fn from(number: i64) -> SqlValue {
        SqlValue::Number(number)
    }
}

impl From<&str> for SqlValue {
    fn from(text: &str) -> SqlValue {
        SqlValue::Text(text.to_owned())
    }
}

impl From<&[u8]> for SqlValue {
    fn from(bytes: &[u8]) -> SqlValue {
        SqlValue::Bytes(Some(bytes.to_vec()))
    }
}

impl From<Vec<u8>> for SqlValue {
    fn from(bytes: Vec<u8>) -> SqlValue {
        SqlValue::Bytes(Some(bytes))
    }
}

impl From<Option<&[u8]>> for SqlValue {
    fn from(bytes: Option<&[u8]>) -> SqlValue {
        SqlValue::Bytes(bytes.map(<[u8]>::to_vec))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_ends_its_literal() {
        for (text, quoted) in [
            ("acme", "E'acme'"),
            ("o'; DROP TABLE apps; --", r"E'o''; DROP TABLE apps; --'"),
            (r"\", r"E'\\'"),
            (r"\'; COMMIT", r"E'\\''; COMMIT'"),
            ("a\0b", "E'a\u{fffd}b'"),
        ] {
            assert_eq!(literal(text), quoted);
        }
    }

    #[test]
    fn numbers_and_bytes_are_spelled_whole() {
        assert_eq!(SqlValue::from(-5).literal(), "(-5)");
        assert_eq!(SqlValue::from(b"\x00'\\\xff".as_slice()).literal(), r"E'\\x00275cff'");
        assert_eq!(SqlValue::from(None).literal(), "NULL");
    }
}
