//! Unquoted URLs of CSS, which the grammar reads as the arguments of a function.
//!
//! A brace or a square bracket in `url(...)` without quotes is a part of the URL, and so is any sign after a backslash (CSS
//! Syntax Level 3, 4.3.6). To the grammar these are brackets, which have no partner. They become letters.
//!
//! Invariant: a URL that browsers would reject stays as it is, and the time is linear in the text.

use super::rewrite::{HiddenRange, rewrite};

/// The beginning of a URL, in any case of its letters.
const URL_START: &[u8] = b"url(";
/// The most digits of an escape.
const MAX_ESCAPE_DIGITS: usize = 6;

/// Hides the brackets in unquoted URLs; `None` if there are none.
pub(super) fn without_brackets_in_urls(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let (mut at, mut hidden) = (0, Vec::new());
    while let Some(byte) = bytes.get(at) {
        at = match byte {
            b'\\' => at + 2,
            b'"' | b'\'' => after_string(bytes, at),
            b'/' if bytes.get(at + 1) == Some(&b'*') => after_comment(text, at + 2),
            b'u' | b'U' if begins_url(bytes, at) => match UnquotedUrl::read(bytes, at + URL_START.len()) {
                Some(url) => {
                    hidden.extend(url.brackets);
                    url.end
                }
                None => at + URL_START.len(),
            },
            _ => at + 1,
        };
    }
    rewrite(text, hidden)
}

/// True if the name of the function `url` and its parenthesis begin at this offset.
fn begins_url(bytes: &[u8], at: usize) -> bool {
    let is_name_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | 0x80..);
    let before = at.checked_sub(1).and_then(|before| bytes.get(before));
    let name = bytes.get(at..at + URL_START.len());
    !before.is_some_and(is_name_part) && name.is_some_and(|name| name.eq_ignore_ascii_case(URL_START))
}

/// A valid URL without quotes.
struct UnquotedUrl {
    /// The ranges that the grammar would take for brackets, each with its replacement.
    brackets: Vec<HiddenRange>,
    /// The offset after its closing parenthesis.
    end: usize,
}

impl UnquotedUrl {
    /// Reads the URL after the opening parenthesis; `None` if it has quotes or is not valid.
    fn read(bytes: &[u8], start: usize) -> Option<UnquotedUrl> {
        let mut brackets: Vec<HiddenRange> = Vec::new();
        let mut at = after_blanks(bytes, start);
        loop {
            at = match bytes.get(at)? {
                b')' => return Some(UnquotedUrl { brackets, end: at + 1 }),
                b'"' | b'\'' | b'(' => return None,
                b'\\' => {
                    let end = after_escape(bytes, at)?;
                    if bytes.get(at + 1)?.is_ascii_punctuation() {
                        brackets.push((at..end, Some("xx")));
                    }
                    end
                }
                b'{' | b'}' | b'[' | b']' => {
                    brackets.push((at..at + 1, Some("x")));
                    at + 1
                }
                blank if is_blank(*blank) => {
                    let end = after_blanks(bytes, at);
                    if *bytes.get(end)? != b')' {
                        return None;
                    }
                    end
                }
                _ => at + 1,
            };
        }
    }
}

/// Returns the offset after the escape that begins at this backslash; `None` before the end of a line, where it escapes nothing.
fn after_escape(bytes: &[u8], at: usize) -> Option<usize> {
    let escaped = bytes.get(at + 1..)?;
    if matches!(escaped.first()?, b'\n' | b'\r' | 0x0c) {
        return None;
    }
    let digits = escaped.iter().take(MAX_ESCAPE_DIGITS).take_while(|byte| byte.is_ascii_hexdigit()).count();
    // A blank after the digits of a code point belongs to the escape.
    let has_blank = digits > 0 && escaped.get(digits).is_some_and(|byte| is_blank(*byte));
    Some(at + 1 + digits.max(1) + usize::from(has_blank))
}

/// Returns the offset after the string that begins at this quote; the end of the line ends it, too.
fn after_string(bytes: &[u8], start: usize) -> usize {
    let (quote, mut at) = (bytes.get(start), start + 1);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 2,
            b'\n' => return at,
            _ if Some(byte) == quote => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// Returns the offset after the comment whose text begins at this offset.
fn after_comment(text: &str, at: usize) -> usize {
    const END: &str = "*/";
    text.get(at..).and_then(|rest| rest.find(END)).map_or(text.len(), |end| at + end + END.len())
}

fn after_blanks(bytes: &[u8], at: usize) -> usize {
    let blanks = bytes.get(at..).unwrap_or_default().iter().take_while(|byte| is_blank(**byte)).count();
    at + blanks
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_in_unquoted_urls_become_letters() {
        for (text, hidden) in [
            ("a { b: url(x{y); }", "a { b: url(xxy); }"),
            ("a { b: url( x[{}]y\n); }", "a { b: url( xxxxxy\n); }"),
            (r"a { b: url(foo\)bar); }", "a { b: url(fooxxbar); }"),
            (r"a { b: URL(\(\{\'\é\7b {); }", r"a { b: URL(xxxxxx\é\7b x); }"),
            ("@import url({);", "@import url(x);"),
            ("a { b: url(x{y), url(z); c: url(}) }", "a { b: url(xxy), url(z); c: url(x) }"),
        ] {
            assert_eq!(without_brackets_in_urls(text).as_deref(), Some(hidden), "{text}");
        }
    }

    #[test]
    fn everything_else_stays_as_it_is() {
        for text in [
            "a { b: url(x.png); }",
            "a { b: url('x{y'); }",
            "a { b: url( \"x{y\"); }",
            "a { b: my-url(x{y); }",
            "a { b: \"url(x{y)\"; }",
            "/* url(x{y) */",
            // These are not valid.
            "a { b: url(x{y; }",
            "a { b: url(x{y z); }",
            "a { b: url(x{y(); }",
            "a { b: url(x{y'); }",
            "a { b: url(x{\\\n); }",
            "a { b: url(x{\\",
            "a { b: url(x.png; }\nc { d: url(y.png); }",
        ] {
            assert_eq!(without_brackets_in_urls(text), None, "{text}");
        }
    }
}
