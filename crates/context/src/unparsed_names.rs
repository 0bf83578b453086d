//! The names in texts that a grammar does not parse: the bodies of macros in C, and format strings in Rust.

use std::ops::Range;

use super::use_context::{Sign, receiver};
use lockgate_syntax::TagRole;

type NamePlace = (TagRole, Range<usize>);

/// Replaces the texts without a tree by the names in them.
pub(super) fn with_unparsed_names(view: &str, places: Vec<NamePlace>) -> Vec<NamePlace> {
    let mut named = Vec::with_capacity(places.len());
    for (role, span) in places {
        let text = view.get(span.clone()).unwrap_or_default();
        let found = match role {
            TagRole::MacroBody => names_of_body(text),
            TagRole::Format => names_of_format(text),
            _ => {
                named.push((role, span));
                continue;
            }
        };
        named.extend(found.into_iter().map(|(role, at)| (role, span.start + at.start..span.start + at.end)));
    }
    named
}

/// Returns the names in the body of a macro, without those in strings and comments, and without parts of pasted names.
fn names_of_body(body: &str) -> Vec<NamePlace> {
    let mut names = Vec::new();
    let mut at = 0;
    while let Some(rest) = body.get(at..).filter(|rest| !rest.is_empty()) {
        let first = rest.chars().next().unwrap_or_default();
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let length = match first {
            '"' | '\'' => quoted_length(rest),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            '/' if rest.starts_with("//") => rest.len(),
            _ if is_word(first) => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
            _ => first.len_utf8(),
        };
        let is_pasted = || {
            let (before, after) =
                (body.get(..at).unwrap_or_default(), rest.get(length..).unwrap_or_default());
            before.trim_end().ends_with("##") || after.trim_start().starts_with("##")
        };
        if is_word(first) && !first.is_ascii_digit() && !is_pasted() {
            let role = match receiver(body, at).0 {
                Sign::Dot => TagRole::Member,
                Sign::Colons => TagRole::Path,
                Sign::None => TagRole::Name,
            };
            names.push((role, at..at + length));
        }
        at += length;
    }
    names
}

/// Returns the length of a quoted text, with its quotes.
fn quoted_length(text: &str) -> usize {
    let mut characters = text.char_indices();
    let quote = characters.next().map(|(_, quote)| quote);
    while let Some((at, character)) = characters.next() {
        if character == '\\' {
            characters.next();
        } else if Some(character) == quote {
            return at + 1;
        }
    }
    text.len()
}

/// Returns the constants that a format string names as arguments, as in `{LIMIT}` and `{LIMIT:?}`. Other names are local.
fn names_of_format(text: &str) -> Vec<NamePlace> {
    let mut names = Vec::new();
    let mut at = 0;
    while let Some(start) = text.get(at..).and_then(|rest| rest.find('{')).map(|open| at + open + 1) {
        let rest = text.get(start..).unwrap_or_default();
        let length = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        let is_argument = rest.get(length..).is_some_and(|after| after.starts_with(['}', ':']));
        if is_argument && rest.starts_with(char::is_uppercase) {
            names.push((TagRole::Name, start..start + length));
        }
        // `{{` is a brace of the text.
        at = start + length + usize::from(rest.starts_with('{'));
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_has_the_names_outside_of_strings_and_comments() {
        let names = |body: &str| {
            let places = with_unparsed_names(body, vec![(TagRole::MacroBody, 0..body.len())]);
            places
                .into_iter()
                .map(|(role, at)| format!("{role:?} {}", body.get(at).unwrap()))
                .collect::<Vec<_>>()
        };
        assert_eq!(names("f(a->b, 0x1f, 'c') /* d */ // e"), ["Name f", "Name a", "Member b"]);
        assert_eq!(names("do { \\\n  N::g(\"h \\\" i\"); \\\n} while (0)").len(), 4);
        assert_eq!(names("a_##b##_c, d"), ["Name d"]);
        assert_eq!(names("'unclosed f"), [""; 0]);
    }

    #[test]
    fn a_format_string_has_its_constants() {
        let names = |text: &str| {
            let names = names_of_format(text).into_iter().map(|(_, at)| text.get(at).unwrap().to_owned());
            names.collect::<Vec<_>>()
        };
        assert_eq!(names("{A} {B:>4} {local} {} {0} {{C}} {{{D}}} {E.f} {F"), ["A", "B", "D"]);
    }
}
