//! Finds the words of a comment.

use std::ops::Range;

/// The start of a comment, the characters that may extend it, and its end.
const SIGNS: [(&str, &[char], &str); 4] =
    [("<!--", &['-'], "-->"), ("/*", &['*', '!'], "*/"), ("//", &['/', '!'], ""), ("#", &['#'], "")];

/// Returns the words of a comment that starts at an offset; `None` if the text is not a whole comment.
pub(super) fn words(text: &str, at: usize) -> Option<Range<usize>> {
    let (open, drawn_out, close) = SIGNS.iter().find(|(open, ..)| text.starts_with(open))?;
    let words = text.strip_prefix(open)?.trim_end().strip_suffix(close)?;
    let end = at + open.len() + words.len();
    Some(end - words.trim_start_matches(*drawn_out).len()..end)
}

/// Returns true if a comment describes the enclosing item, or addresses a tool, and does not belong to the next item.
pub(super) fn describes_enclosing_item(text: &str, at: usize, inner: &[&str]) -> bool {
    inner.iter().any(|sign| text.starts_with(sign)) || (at == 0 && text.starts_with("#!"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_are_no_words() {
        let found = |text: &'static str| words(text, 0).and_then(|range| text.get(range));
        assert_eq!(
            ["/** a */", "/*! a*/", "/// a\n", "// a // b", "## a", "<!-- a -->"].map(found),
            [" a ", " a", " a", " a // b", " a", " a "].map(Some)
        );
        assert_eq!(["/**/", "#", "//", "/***/"].map(found), [Some(""); 4]);
        assert_eq!(["a", "<!-- a --> b", "/* a", "/*/", ""].map(found), [None; 5]);
        assert_eq!(words("# a", 7), Some(8..10));
    }
}
