//! Strings whose quotes a formatter has changed: `'a'` became `"a"`, in languages that treat both alike.

use super::fold::fold;

/// The languages in which a string may be written with either quote.
const ALIKE: [&str; 5] = ["python", "javascript", "typescript", "css", "html"];

/// Returns true if both straight quotes have the same meaning in a language, by its name in the catalogue.
pub(super) fn are_interchangeable(language: &str) -> bool {
    ALIKE.contains(&language)
}

/// Returns true if two lines fold to the same text when it does not count in which quotes a string is. Blanks at their ends
/// are ignored.
pub(super) fn same_trimmed(one: &str, other: &str) -> bool {
    let [one, other] = [one, other].map(|line| fold(line.trim()));
    unified(&one) == unified(&other)
        && (one == other || with_double_quotes(&one) == with_double_quotes(&other))
}

/// Returns a line with double quotes around each string that contains none.
fn with_double_quotes(line: &str) -> String {
    let (mut text, mut rest) = (String::with_capacity(line.len()), line);
    while let Some(start) = rest.find(['\'', '"']) {
        let (before, quoted) = rest.split_at(start);
        let quote = if quoted.starts_with('"') { '"' } else { '\'' };
        let inside = quoted.strip_prefix(quote).unwrap_or_default();
        let (string, behind) =
            inside.split_once(quote).map_or((inside, None), |(one, other)| (one, Some(other)));
        let sign = if string.contains(['\'', '"']) { quote } else { '"' };
        text.extend([before, sign.encode_utf8(&mut [0; 4]), string]);
        if behind.is_some() {
            text.push(sign);
        }
        rest = behind.unwrap_or_default();
    }
    text + rest
}

/// A string that has no quotes inside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PlainString<'t> {
    /// The letters before it, as in `r'a'`.
    pub(super) prefix: &'t str,
    pub(super) quote: char,
    pub(super) inside: &'t str,
}

impl<'t> PlainString<'t> {
    /// Splits a token; `None` if it is not such a string, is empty, or ends in a backslash.
    pub(super) fn new(token: &'t str) -> Option<PlainString<'t>> {
        let string = token.trim_start_matches(|letter: char| letter.is_ascii_alphabetic());
        let quote = string.chars().next().filter(|first| ['"', '\''].contains(first))?;
        let inside = string.strip_prefix(quote)?.strip_suffix(quote)?;
        let is_plain = !inside.is_empty() && !inside.contains(['"', '\'']) && !inside.ends_with('\\');
        let prefix = token.strip_suffix(string)?;
        is_plain.then_some(PlainString { prefix, quote, inside })
    }

    /// Returns true if only the quotes of two strings differ.
    pub(super) fn has_other_quotes(&self, other: &PlainString<'_>) -> bool {
        (self.prefix, self.inside) == (other.prefix, other.inside) && self.quote != other.quote
    }
}

/// Returns a text with both quotes replaced by one.
pub(super) fn unified(text: &str) -> std::borrow::Cow<'_, str> {
    if text.contains('\'') { text.replace('\'', "\"").into() } else { text.into() }
}

/// Returns the quoted line and its replacement with the quotes of the file's line, which the replacement may have already;
/// `None` if one of them mixes quotes, which makes the mapping ambiguous.
pub(super) fn swapped(quoted: &str, wanted: &str, actual: &str) -> Option<(String, String)> {
    let (from, to) = if quoted.contains('\'') { ('\'', "\"") } else { ('"', "'") };
    let is_mixed = |text: &str| text.contains(from) && text.contains(to);
    let pure = |text: &str| !is_mixed(text) && !has_apostrophe(text);
    let swap = |text: &str| text.replace(from, to);
    let fits = fold(&swap(quoted)) == fold(actual);
    (pure(quoted) && pure(wanted) && fits).then(|| (swap(quoted), swap(wanted)))
}

/// Returns true if a quote is inside a word, as in `don't`.
fn has_apostrophe(text: &str) -> bool {
    let letters: Vec<char> = text.chars().collect();
    letters
        .windows(3)
        .any(|three| matches!(three, [a, '\'', b] if a.is_alphanumeric() && b.is_alphanumeric()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_and_its_replacement_take_the_file_s_quotes() {
        let (quoted, wanted) = swapped("f('a')", "f('a', 'b')", "f(\"a\")").unwrap();
        assert_eq!((quoted.as_str(), wanted.as_str()), ("f(\"a\")", "f(\"a\", \"b\")"));
        assert!(swapped("f(\"a\")", "f(\"b\")", "f('a')").is_some());
        let (quoted, wanted) = swapped("f(\"a\")", "f('a', 'b')", "f('a')").unwrap();
        assert_eq!((quoted.as_str(), wanted.as_str()), ("f('a')", "f('a', 'b')"), "it has them already");
    }

    #[test]
    fn a_string_without_quotes_inside_may_have_the_other_ones() {
        for (one, other, is_same) in [
            ("'a'", "\"a\"", true),
            (r"r'\d'", r#"r"\d""#, true),
            ("f'{a}'", "f\"{a}\"", true),
            ("b'a'", "\"a\"", false),
            ("'a'", "'a'", false),
            ("'a'", "\"b\"", false),
            (r"'a\\'", r#""a\\""#, false),
            (r"'a\'b'", r#""a\"b""#, false),
            ("'''a'''", "\"\"\"a\"\"\"", false),
            ("# 'a'", "# \"a\"", false),
        ] {
            let strings = PlainString::new(one).zip(PlainString::new(other));
            assert_eq!(strings.is_some_and(|(one, other)| one.has_other_quotes(&other)), is_same, "{one}");
        }
    }

    #[test]
    fn the_quotes_around_a_string_may_differ_and_those_in_it_may_not() {
        for (one, other, is_same) in [
            ("f('a', \"b\")", "f(\"a\", \"b\")", true),
            ("x = '''a", "x = \"\"\"a", true),
            ("f('a')  # don't", "f(\"a\")  # don't", true),
            ("f('a', \"it's\")", "f(\"a\", \"it's\")", true),
            ("if c == '\"':", "if c == \"'\":", false),
            ("x = 'say \"hi\"'", "x = \"say 'hi'\"", false),
        ] {
            assert_eq!(same_trimmed(one, other), is_same, "{one}");
        }
    }

    #[test]
    fn mixed_quotes_are_not_distinguished() {
        for (quoted, wanted, actual) in [
            ("f('a')", "f('it\"s')", "f(\"a\")"),
            ("f('a', \"b\")", "f('c', \"b\")", "f(\"a\", \"b\")"),
            ("f('a')", "f('a')  # don't", "f(\"a\")"),
            ("f('a', 'b')", "f('c', 'b')", "f(\"a\", 'b')"),
        ] {
            assert_eq!(swapped(quoted, wanted, actual), None, "{quoted}");
        }
    }
}
