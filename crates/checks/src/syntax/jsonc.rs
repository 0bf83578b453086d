//! Parses JSON with comments: serde_json parses it without its comments and its trailing commas.

use super::json;
use super::parse::Parse;

/// Parses one value up to the first fault. As in the programs that read such files, a comma after the last value is no fault,
/// and neither is a file without a value.
pub(super) fn read(text: &str, path: &str) -> Parse {
    let plain = plain(text);
    if plain.trim().is_empty() { Parse::valid(Vec::new()) } else { json::read(&plain, path) }
}

/// Returns the text with spaces for its comments and trailing commas, so that all offsets stay. A comment that is not closed
/// stays as it is: it is a fault.
fn plain(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut plain = String::with_capacity(text.len());
    // The last byte that is no white space, and the offset of a comma that may follow the last value.
    let (mut at, mut last, mut comma) = (0, None, None);
    while let Some(byte) = bytes.get(at) {
        let rest = text.get(at..).unwrap_or_default();
        if let Some(length) = comment_length(rest) {
            let Some(comment) = rest.get(..length).filter(|_| is_closed(rest, length)) else {
                plain.push_str(rest);
                break;
            };
            plain.extend(comment.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }));
            at += length;
            continue;
        }
        let end = at + if *byte == b'"' { string_length(rest) } else { character_length(rest) };
        if let (b']' | b'}', Some(comma)) = (byte, comma) {
            plain.replace_range(comma..=comma, " ");
        }
        plain.push_str(text.get(at..end).unwrap_or_default());
        if !byte.is_ascii_whitespace() {
            let follows_value = !matches!(last, None | Some(b'[' | b'{' | b',' | b':'));
            comma = (*byte == b',' && follows_value).then_some(at);
            last = Some(*byte);
        }
        at = end;
    }
    plain
}

fn character_length(rest: &str) -> usize {
    rest.chars().next().map_or(1, char::len_utf8)
}

/// Returns the length in bytes of the comment at the start of a text, which is the rest of the text if it is not closed.
pub(super) fn comment_length(rest: &str) -> Option<usize> {
    if rest.starts_with("//") {
        return Some(rest.find(['\n', '\r']).unwrap_or(rest.len()));
    }
    // The comment's own asterisk does not close it.
    let inner = rest.strip_prefix("/*")?;
    Some(inner.find("*/").map_or(rest.len(), |end| end + 4))
}

fn is_closed(rest: &str, length: usize) -> bool {
    rest.starts_with("//") || rest.get(2..length).is_some_and(|inner| inner.ends_with("*/"))
}

/// Returns the length in bytes of the string at the start of a text with its quotes; the length of the rest if it is not closed.
pub(super) fn string_length(rest: &str) -> usize {
    let mut is_escaped = false;
    for (at, byte) in rest.bytes().enumerate().skip(1) {
        match byte {
            b'"' if !is_escaped => return at + 1,
            byte => is_escaped = byte == b'\\' && !is_escaped,
        }
    }
    rest.len()
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn comments_and_trailing_commas_become_spaces_and_nothing_else_does() {
        for (text, wanted) in [
            ("{\"a\": 1, // b\n}", "{\"a\": 1      \n}"),
            ("[1, /* 2,\n */ ]", "[1       \n    ]"),
            ("[1, // a\r2]", "[1,     \r2]"),
            ("\"// a\" // é", "\"// a\"      "),
            ("[\"a\\\"/*\", \"*/\",]", "[\"a\\\"/*\", \"*/\" ]"),
            // Faults stay.
            ("[,]", "[,]"),
            ("[1,,]", "[1,,]"),
            ("{\"a\":,}", "{\"a\":,}"),
            ("[1 /* 2", "[1 /* 2"),
            ("/", "/"),
        ] {
            assert_eq!(plain(text), wanted, "{text}");
            assert_eq!(plain(text).len(), text.len());
        }
    }
}
