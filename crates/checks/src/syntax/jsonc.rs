//! Parses JSON with comments: serde_json parses it without its comments and its trailing commas.

use super::json;
use super::parse::Parse;

/// Parses one value up to the first fault. As in the programs that read such files, a comma after the last value is no fault,
/// and neither is a file without a value.
pub(super) fn read(text: &str, path: &str) -> Parse {
    let plain = plain(text);
    match plain.trim().is_empty() {
        true => Parse::valid(Vec::new()),
        false => json::read(&plain, path),
    }
}

/// Returns the text with spaces for its comments and trailing commas, so that all offsets stay. A comment that is not closed
/// stays as it is: it is a fault.
fn plain(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut plain = String::with_capacity(text.len());
    // The last byte that is no white space, and where a comma may follow a value.
    let (mut at, mut last, mut comma) = (0, None, None);
    while let Some(byte) = bytes.get(at) {
        let rest = text.get(at..).unwrap_or_default();
        let end = at + token_length(rest);
        let token = text.get(at..end).unwrap_or_default();
        let is_comment = token.len() > 1 && *byte == b'/';
        match (is_comment, byte) {
            (true, _) => plain.extend(token.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' })),
            (false, b']' | b'}') => {
                if let Some(comma) = comma.take() {
                    plain.replace_range(comma..=comma, " ");
                }
                plain.push_str(token);
            }
            (false, _) => plain.push_str(token),
        }
        if !is_comment && !byte.is_ascii_whitespace() {
            let follows_value = !matches!(last, None | Some(b'[' | b'{' | b',' | b':'));
            comma = (*byte == b',' && follows_value).then_some(at);
            last = Some(*byte);
        }
        at = end;
    }
    plain
}

/// Returns the length of a string, of a comment, or of one character.
fn token_length(rest: &str) -> usize {
    let one = rest.chars().next().map_or(1, char::len_utf8);
    match rest.as_bytes() {
        [b'"', ..] => string_length(rest),
        [b'/', b'/', ..] => rest.find('\n').unwrap_or(rest.len()),
        [b'/', b'*', ..] => rest.get(2..).and_then(|body| body.find("*/")).map_or(one, |end| end + 4),
        _ => one,
    }
}

/// Returns the length of a string with its quotes; the length of the rest if it is not closed.
fn string_length(rest: &str) -> usize {
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
