//! Invisible characters at the ends of lines, as copied from a rendered page.

use std::borrow::Cow;

use super::alternative::AlternativeEdit;
use crate::fold::is_invisible;
use crate::rebase::is_joiner;

/// Removes invisible characters before, between and behind the blanks at the ends of lines, from both texts; `None` if
/// the search has none.
pub(super) fn remove(search: &str, replace: &str) -> Option<AlternativeEdit> {
    let plain = without(search);
    (plain != search).then(|| AlternativeEdit::new(plain, without(replace)))
}

fn without(text: &str) -> String {
    let lines: Vec<Cow<'_, str>> = text.split('\n').map(without_in_line).collect();
    lines.join("\n")
}

fn without_in_line(line: &str) -> Cow<'_, str> {
    if line.is_ascii() {
        return line.into();
    }
    let is_dropped = |letter: char| is_invisible(letter) && !is_joiner(letter);
    let is_edge = |letter: char| letter.is_whitespace() || is_dropped(letter);
    let body = line.trim_matches(is_edge);
    let (before, behind) = line.split_once(body).unwrap_or_default();
    let blanks = |edge: &str| edge.replace(is_dropped, "");
    [&blanks(before), body, &blanks(behind)].concat().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_blanks_at_the_ends_of_a_line_stay() {
        for (line, expected) in [
            ("\u{200b}    x = 1 \u{200b}", "    x = 1 "),
            ("  \u{feff}  x\u{2060}\n\u{200b}\n", "    x\n\n"),
            ("a\u{200b}b", "a\u{200b}b"),
            ("a\u{200d}", "a\u{200d}"),
            ("\u{200b} ", " "),
        ] {
            assert_eq!(without(line), expected, "{line:?}");
        }
    }

    #[test]
    fn a_search_without_them_stays() {
        assert_eq!(remove("a\u{200b}b", "\u{200b}c"), None);
        assert_eq!(remove("\u{200b}a", "\u{200b}b"), Some(AlternativeEdit::plain("a", "b")));
    }
}
