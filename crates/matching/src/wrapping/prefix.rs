//! Removes the signs of a diff before the lines of a block.

use std::collections::HashSet;

use super::alternative::{AlternativeEdit, joined, lines};

/// Removes the first column of the search if it is the old side of a diff, and of the replacement if that is the new
/// side. A replacement without added lines may have no signs, if a fence, a header, an unchanged line or the indentation
/// behind all signs of the search shows that it is a diff: a `-` alone may be text.
pub(crate) fn remove(edit: &AlternativeEdit) -> Vec<AlternativeEdit> {
    let (search, replace) = (without_header(&edit.search), without_header(&edit.replace));
    let has_diff_mark = edit.is_fenced_diff || search != edit.search;
    let Some((old, has_removed)) = side(search, '-') else { return Vec::new() };
    let full_lines = || lines(search).filter(|line| !line.trim().is_empty());
    let has_unchanged = full_lines().any(|line| line.starts_with(' '));
    let is_indented = full_lines().all(|line| line.starts_with("-  ") || line.starts_with("-\t"));
    let is_old_side = has_removed && (has_diff_mark || has_unchanged || is_indented);
    // A new side has no removed lines; a text with other lines that begin like them is a list, or code.
    let quoted: HashSet<&str> = lines(&old).collect();
    if lines(replace).any(|line| line.starts_with('-') && !quoted.contains(line)) {
        return Vec::new();
    }
    if replace.trim().is_empty() && lines(search).all(|line| line.starts_with('-')) {
        return Vec::new();
    }
    let edit = |new| AlternativeEdit { is_unsigned: true, ..AlternativeEdit::new(old.clone(), new) };
    let signed = side(replace, '+').map(|(new, has_added)| (edit(new), has_added));
    match signed {
        Some((alternative, true)) => vec![alternative],
        // A new side without added lines contains only lines of the old side.
        Some((alternative, false)) if is_old_side && is_part(&alternative.replace, &old) => vec![alternative],
        Some(_) | None if is_old_side => {
            vec![AlternativeEdit { keeps_indent: true, ..edit(replace.to_owned()) }]
        }
        Some(_) | None => Vec::new(),
    }
}

/// Returns a text without the header of a hunk, as in `@@ -1,2 +1,3 @@`.
fn without_header(text: &str) -> &str {
    let hunk = text.split_once('\n').filter(|(first, _)| first.starts_with("@@ -") && first.contains(" @@"));
    hunk.map_or(text, |(_, lines)| lines)
}

/// Returns true if the replacement adds lines to the search as a diff does: all others begin with a blank.
pub(crate) fn adds(search: &str, replace: &str) -> bool {
    side(search, '-').is_some_and(|(_, has_removed)| !has_removed)
        && side(replace, '+').is_some_and(|(_, has_added)| has_added)
}

/// Returns true if all lines of a text that are not blank are in another one.
fn is_part(text: &str, whole: &str) -> bool {
    let mut full_lines = lines(text).filter(|line| !line.trim().is_empty());
    full_lines.all(|line| lines(whole).any(|other| other == line))
}

/// Returns a side without its signs, and true if a line had the side's own sign; `None` if a line has no sign.
fn side(text: &str, sign: char) -> Option<(String, bool)> {
    if text.is_empty() {
        return Some((String::new(), false));
    }
    let bare: Option<Vec<&str>> = lines(text)
        .map(|line| if line.is_empty() { Some(line) } else { line.strip_prefix([sign, ' ']) })
        .collect();
    Some((joined(bare?, text), lines(text).any(|line| line.starts_with(sign))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(search: &str, replace: &str) -> Option<(String, String)> {
        remove(&AlternativeEdit::plain(search, replace))
            .into_iter()
            .next()
            .map(|alternative| (alternative.search, alternative.replace))
    }

    #[test]
    fn the_sides_of_a_diff_lose_their_signs() {
        assert_eq!(read(" a\n-b\n", " a\n+c\n"), Some(("a\nb\n".into(), "a\nc\n".into())));
        assert_eq!(read("-  b", "+  c"), Some(("  b".into(), "  c".into())));
        assert_eq!(read(" a\n\n-b\n", ""), Some(("a\n\nb\n".into(), String::new())));
    }

    #[test]
    fn the_header_of_a_hunk_is_no_line() {
        let header = "@@ -1,2 +1,2 @@ fn f() {\n";
        let hunk = |lines: &str| format!("{header}{lines}");
        let edit = Some(("a\nb\n".to_owned(), "a\nc\n".to_owned()));
        assert_eq!(read(&hunk(" a\n-b\n"), &hunk(" a\n+c\n")), edit);
        assert_eq!(read(&hunk(" a\n-b\n"), "a\nc\n"), edit);
        assert_eq!(read("@@ a\n-b\n", "+c\n"), None);
    }

    #[test]
    fn added_lines_alone_make_a_diff() {
        assert!(adds(" a\n", " a\n+b\n"));
        assert!(!adds("a\n", "a\n+b\n") && !adds(" a\n", " a\n b\n") && !adds("-a\n", "+b\n"));
    }

    #[test]
    fn what_is_no_diff_stays() {
        assert_eq!(read("a\n-b\n", "+c\n"), None);
        assert_eq!(read(" a\n b\n", " a\n c\n"), None);
        assert_eq!(read(" a\n b\n", " a\n"), None);
    }

    #[test]
    fn a_replacement_without_signs_may_be_clean() {
        assert_eq!(read(" a\n-b\n", " a\n c\n"), Some(("a\nb\n".into(), " a\n c\n".into())));
        assert_eq!(read(" a\n-b\n", " a\n"), Some(("a\nb\n".into(), "a\n".into())));
        assert_eq!(read(" -- a\n-b\n", "-- a\nc\n"), Some(("-- a\nb\n".into(), "-- a\nc\n".into())));
        assert_eq!(read(" -- a\n-b\n", "-- a\n- c\n"), None, "a line of a list");
    }

    #[test]
    fn a_replacement_that_only_deletes_may_have_blank_lines() {
        assert_eq!(read(" a\n-b\n c\n", " a\n \n c\n"), Some(("a\nb\nc\n".into(), "a\n\nc\n".into())));
    }

    #[test]
    fn a_dash_alone_is_text() {
        for search in ["-a\n", "-a\n-b\n", "-a\n \n", "--a", "- a\n", "-  a\n-b\n"] {
            assert_eq!(read(search, "c\n"), None, "{search:?}");
            assert_eq!(read(search, " a\n"), None, "{search:?}");
        }
        assert_eq!(read("@@ -1 +1 @@\n-a\n", "b\n"), Some(("a\n".into(), "b\n".into())));
        assert_eq!(read("-  a\n \n-  b\n", "  c\n"), Some(("  a\n\n  b\n".into(), "  c\n".into())));
        assert_eq!(read("-\ta\n", "\tc\n"), Some(("\ta\n".into(), "\tc\n".into())));
    }

    #[test]
    fn a_list_is_no_diff() {
        for (search, replace) in [("-5", "-7"), ("- a\n- b\n", "- a\n- c\n"), ("- a\n- b\n", "")] {
            assert_eq!(read(search, replace), None, "{search}");
        }
    }
}
