//! The marks of comments.

use lockgate_text::Outline;

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

/// The sign that begins a comment of an outline, the characters that may extend it, and the sign that ends the comment.
const SIGNS: [(&str, &str, &str); 4] =
    [("<!--", "-", "-->"), ("/*", "*!", "*/"), ("//", "/!", ""), ("#", "#", "")];

/// The maximum number of signs of one line that may begin its comment.
pub(super) const MAX_SIGNS: usize = 8;

/// Returns the code of a line that ends with a comment. `start` is the offset of the line in the outline's text.
pub(super) fn before_comment<'l>(line: &'l str, start: usize, outline: &Outline) -> Option<&'l str> {
    let comments = outline.comments();
    let before = comments.partition_point(|words| words.start <= start + line.len());
    let words = comments.get(before.checked_sub(1)?)?;
    let (head, behind) = (line.get(..words.start.checked_sub(start)?)?, line.get(words.end - start..)?);
    let run = head.trim_end_matches(|sign| "<!-/*#".contains(sign)).len();
    let begin = |(open, more, _): &(&str, &str, &str)| {
        let end = head.trim_end_matches(|sign| more.contains(sign)).len();
        let from = end.saturating_sub(open.len()).max(run);
        Some(from + head.get(from..)?.find(open)?)
    };
    let fitting = SIGNS.iter().filter(|(.., close)| behind.trim() == *close);
    let code = head.get(..fitting.filter_map(begin).min()?)?.trim();
    (!code.is_empty()).then_some(code)
}

/// Returns the text before each sign of a line that may begin a comment at its end, for the first [`MAX_SIGNS`] signs.
pub(super) fn before_signs(line: &str) -> impl Iterator<Item = &str> {
    let begins = |at: &usize| {
        line.get(*at..).is_some_and(|rest| SIGNS.iter().any(|(open, ..)| rest.starts_with(open)))
    };
    let heads = line.char_indices().map(|(at, _)| at).filter(begins).filter_map(|at| line.get(..at));
    heads.map(str::trim).filter(|head| !head.is_empty()).take(MAX_SIGNS)
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

    #[test]
    fn the_code_before_a_comment_is_that_of_its_line() {
        let code = |path: &str, language: &str, text: &'static str, line: &'static str| {
            let outline = lockgate_syntax::outline(language, path, text).unwrap();
            before_comment(line, text.find(line).unwrap(), &outline)
        };
        for (line, expected) in [
            ("a = 1  # b", Some("a = 1")),
            ("  a = 1#", Some("a = 1")),
            ("a = 1  ## # b", Some("a = 1")),
            ("a = 1  #// b", Some("a = 1")),
            ("a = 8//(2)# b", Some("a = 8//(2)")),
            ("a = '# b'", None),
            ("# b", None),
            ("a = 1", None),
        ] {
            assert_eq!(code("a.py", "python", line, line), expected, "{line}");
        }
        let text = "a = (8 //# b\n    2)\n";
        assert_eq!(code("a.py", "python", text, "a = (8 //# b"), Some("a = (8 //"));
        let text = "fn f() {\n    a(); // b\n    c--// d\n    e /* f */\n    g /* h */ + 1;\n    i(); /* j\n    k */ l();\n}\n";
        for (line, expected) in [
            ("    a(); // b", Some("a();")),
            ("    c--// d", Some("c--")),
            ("    e /* f */", Some("e")),
            ("    g /* h */ + 1;", None),
            ("    i(); /* j", None),
            ("    k */ l();", None),
        ] {
            assert_eq!(code("a.rs", "rust", text, line), expected, "{line}");
        }
    }

    #[test]
    fn each_sign_may_begin_a_comment() {
        assert_eq!(before_signs("  a(\"#\"); // b").collect::<Vec<_>>(), ["a(\"", "a(\"#\");"]);
        assert_eq!(before_signs("# a").count(), 0);
        assert_eq!(before_signs(&"a#".repeat(1000)).count(), MAX_SIGNS);
    }
}
