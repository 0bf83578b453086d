//! Writes the lists of a Markdown quote with other bullets.

use super::alternative::{AlternativeEdit, joined, lines};

const BULLETS: [char; 3] = ['-', '*', '+'];

/// Returns the edit with each of the other bullets, if its lists all have one bullet. A quote of one line has none, because
/// it could be a part of a line. Nor has a block of code.
pub(super) fn replace(search: &str, replace: &str) -> Vec<AlternativeEdit> {
    let all = || lines(search).chain(lines(replace));
    let Some(own) = lines(search).find_map(bullet) else { return Vec::new() };
    let has_fence = all().any(|line| ["```", "~~~"].iter().any(|fence| line.trim_start().starts_with(fence)));
    if has_fence || !search.trim().contains('\n') || all().filter_map(bullet).any(|bullet| bullet != own) {
        return Vec::new();
    }
    let with = |other: char| {
        let text = |text: &str| {
            let rewritten: Vec<String> = lines(text)
                .map(|line| match bullet(line) {
                    Some(own) => line.replacen(own, other.encode_utf8(&mut [0; 4]), 1),
                    None => line.to_owned(),
                })
                .collect();
            joined(rewritten.iter().map(String::as_str), text)
        };
        AlternativeEdit::new(text(search), text(replace))
    };
    BULLETS.into_iter().filter(|other| *other != own).map(with).collect()
}

/// Returns the bullet of an entry of a list. A line of bullets alone is a rule between paragraphs.
fn bullet(line: &str) -> Option<char> {
    let line = line.trim_start();
    let bullet = line.chars().next().filter(|first| BULLETS.contains(first))?;
    let entry = line.strip_prefix(bullet)?.strip_prefix([' ', '\t'])?;
    let is_rule = entry.chars().all(|character| character == bullet || character.is_whitespace());
    (!is_rule).then_some(bullet)
}

#[cfg(test)]
mod tests {
    fn with_stars(search: &str, replace: &str) -> Option<(String, String)> {
        let all = super::replace(search, replace);
        let edit = all.into_iter().find(|edit| edit.search.trim_start().starts_with('*'))?;
        Some((edit.search, edit.replace))
    }

    #[test]
    fn all_bullets_of_an_edit_are_replaced() {
        for (search, replace, expected) in [
            ("- a\n- b\n", "- a\n- c\n- b\n", ("* a\n* b\n", "* a\n* c\n* b\n")),
            ("+ a - b\n  + c\n", "+ a - b\n", ("* a - b\n  * c\n", "* a - b\n")),
            ("- a\n---\n-b\n", "", ("* a\n---\n-b\n", "")),
        ] {
            let (search_with, replace_with) = expected;
            let expected = Some((search_with.to_owned(), replace_with.to_owned()));
            assert_eq!(with_stars(search, replace), expected, "{search}");
        }
    }

    #[test]
    fn what_is_no_list_with_one_bullet_stays() {
        for (search, replace) in [
            ("a\nb\n", "- a\n"),
            ("- a\n+ b\n", "- a\n"),
            ("- a\n- b\n", "- a\n+ b\n"),
            ("- a\n", "- b\n"),
            ("- - -\na\n", "- - -\nb\n"),
            ("- a\n```\nb\n```\n", "- a\n"),
            ("- a\n- b\n", "- a\n~~~\nb\n~~~\n"),
        ] {
            assert_eq!(super::replace(search, replace), [], "{search}");
        }
    }
}
