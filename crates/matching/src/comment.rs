//! The marks of comments.

/// The marks that begin a comment. A mark is before the marks that it begins with.
pub(super) const OPENING_MARKS: [&str; 9] = ["<!--", "{/*", "/*", "//", "#", "--", "%", ";", "*"];

/// The marks of comments that end with their line.
const LINE_MARKS: [&str; 5] = ["//", "#", "--", "%", ";"];

/// Returns true if a text is the beginning of a comment that ends with its line, with nothing before or behind it, as in
/// `#` and `///`.
pub(super) fn is_line_comment_start(text: &str) -> bool {
    let text = text.trim();
    LINE_MARKS.iter().any(|mark| {
        let more = text.strip_prefix(mark);
        more.is_some_and(|more| more.chars().all(|character| character == '!' || mark.contains(character)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_may_be_repeated() {
        for text in ["#", " # ", "##", "//", "///", "//!", "--", ";;"] {
            assert!(is_line_comment_start(text), "{text}");
        }
        for text in ["", " ", "# a", "a #", "-", "/", "!", "1.", "(", "/*", "/**", "*", "<!--", "{/*"] {
            assert!(!is_line_comment_start(text), "{text}");
        }
    }
}
