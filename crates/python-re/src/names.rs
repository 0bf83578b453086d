//! Parses the name or the number of a group as Python does.
//!
//! Invariant: a name that is not ASCII is never an identifier here; the caller rejects it.

/// The name or number in a reference to a group.
pub(super) enum GroupReference {
    Name,
    /// A number that `int()` takes and that is not negative.
    Number(usize),
    /// Neither an identifier nor a number.
    Invalid,
    /// A name or number that Python may accept and that is not supported here.
    Unsupported,
}

impl GroupReference {
    /// Classifies the name of a group as Python does.
    pub(super) fn parse(name: &str) -> GroupReference {
        if !name.is_ascii() {
            return GroupReference::Unsupported;
        }
        let mut bytes = name.bytes();
        let starts = bytes.next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_');
        if starts && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            return GroupReference::Name;
        }
        GroupReference::parse_number(name)
    }

    /// Parses ASCII text as Python's `int()` does.
    fn parse_number(name: &str) -> GroupReference {
        let trimmed = name.trim_matches(|char: char| matches!(char, ' ' | '\t'..='\r' | '\x1c'..='\x1f'));
        let (negative, digits) = match trimmed.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, trimmed.strip_prefix('+').unwrap_or(trimmed)),
        };
        let well_formed =
            digits.split('_').all(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()));
        if !well_formed {
            return GroupReference::Invalid;
        }
        match digits.replace('_', "").parse::<u32>() {
            Ok(0) => GroupReference::Number(0),
            Ok(_) if negative => GroupReference::Invalid,
            Ok(value) => GroupReference::Number(value as usize),
            Err(_) => GroupReference::Unsupported,
        }
    }
}

/// Quotes a text as Python's `repr` does.
pub(super) fn quoted(text: &str) -> String {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    let mut out = String::from(quote);
    for char in text.chars() {
        match char {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\\' => out.push_str("\\\\"),
            _ if char == quote => out.extend(['\\', char]),
            _ if char.is_ascii_control() => out.push_str(&format!("\\x{:02x}", u32::from(char))),
            _ => out.push(char),
        }
    }
    out.push(quote);
    out
}
