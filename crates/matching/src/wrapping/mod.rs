//! Match level `wrapping`: removes wrapping from a quoted block.
//!
//! An alternative is the same edit without a fence, without line numbers, without the prefixes of a diff or of a
//! search tool, without invisible characters at the ends of lines, or without a layer of escapes. Alternatives nest:
//! a fence may contain numbered lines.

mod alternative;
mod diff_rows;
mod escapes;
mod fence;
mod gutter;
mod line_edges;
pub(super) mod prefix;

pub(super) use alternative::AlternativeEdit;

/// The maximum number of alternatives of one edit.
const MOST: usize = 64;

/// The maximum size of all alternatives together, in bytes.
const MAX_BYTES: usize = 1 << 20;

/// Returns the alternatives of an edit of a text, those with less removed first, without the edit itself.
pub(super) fn alternatives_in(text: &str, search: &str, replace: &str) -> Vec<AlternativeEdit> {
    let mut all = alternatives(search, replace);
    if all.iter().any(|edit| edit.has_diff_rows) && diff_rows::has_rows(text) {
        all.retain(|edit| !edit.has_diff_rows);
    }
    all
}

fn alternatives(search: &str, replace: &str) -> Vec<AlternativeEdit> {
    let mut all = vec![AlternativeEdit::plain(search, replace)];
    let (mut next, mut bytes) = (0, 0);
    while let Some(alternative) = all.get(next).cloned().filter(|_| all.len() < MOST && bytes < MAX_BYTES) {
        let (search, replace) = (alternative.search.as_str(), alternative.replace.as_str());
        bytes += search.len() + replace.len();
        let more = fence::remove(search, replace)
            .into_iter()
            .chain(numberless(&alternative).into_iter().map(|other| same_end(other, search, replace)))
            .chain(line_edges::remove(search, replace))
            .chain(if alternative.is_unsigned { Vec::new() } else { prefix::remove(&alternative) })
            .chain(if alternative.is_unescaped { Vec::new() } else { escapes::remove(search, replace) });
        for mut other in more {
            other.line = other.line.or(alternative.line);
            other.is_unescaped |= alternative.is_unescaped;
            other.is_unsigned |= alternative.is_unsigned;
            other.is_fenced_diff |= alternative.is_fenced_diff;
            other.keeps_indent |= alternative.keeps_indent;
            other.is_ambiguous |= alternative.is_ambiguous;
            other.is_numberless |= alternative.is_numberless;
            other.has_diff_rows |= alternative.has_diff_rows;
            let blank = other.search.trim().is_empty();
            let known = all.iter().any(|one| (&one.search, &one.replace) == (&other.search, &other.replace));
            if !blank && !known {
                all.push(other);
            }
        }
        next += 1;
    }
    all.remove(0);
    // An alternative that only differs in its wrapping requests no change.
    all.retain(|alternative| alternative.search != alternative.replace);
    all.truncate(MOST);
    all
}

/// Returns the edit without the numbers of its lines. Behind other numbers, rows of a diff are text.
fn numberless(edit: &AlternativeEdit) -> Vec<AlternativeEdit> {
    let AlternativeEdit { search, replace, .. } = edit;
    let rows = if edit.is_numberless { None } else { diff_rows::remove(search, replace) };
    let mut edits = rows.unwrap_or_else(|| gutter::remove(search, replace));
    edits.iter_mut().for_each(|edit| edit.is_numberless = true);
    edits
}

/// Removes the blank last line of a quote without its numbers, if the quote ends behind that number and a replacement without
/// numbers ends in an empty line, too. Without its numbers, such a quote has the same end as its replacement.
fn same_end(mut edit: AlternativeEdit, search: &str, replace: &str) -> AlternativeEdit {
    let has_blank_end = !search.ends_with('\n') && edit.search.ends_with("\n\n");
    if has_blank_end && replace.ends_with('\n') && edit.replace == replace {
        edit.search.pop();
    }
    edit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_edit_has_no_alternative() {
        assert_eq!(alternatives("let a = 1;\n", "let a = 2;\n"), []);
    }

    #[test]
    fn alternatives_nest() {
        let found = alternatives(
            "```rust\n7: let a = 1;\n8: let b = 2;\n```\n",
            "```rust\n7: let a = 3;\n8: let b = 2;\n```\n",
        );
        assert!(
            found
                .iter()
                .any(|one| one.search == "let a = 1;\nlet b = 2;\n"
                    && one.replace == "let a = 3;\nlet b = 2;\n"),
            "{found:?}"
        );
    }

    #[test]
    fn a_numbered_blank_line_at_the_end_stays_if_the_replacement_ends_alike() {
        let first = |search: &str, replace: &str| {
            let found = alternatives(search, replace).into_iter().next();
            found.map(|one| (one.search, one.replace))
        };
        for (search, replace, expected) in [
            ("1: a\n2: ", "c\n", ("a\n", "c\n")),
            ("1: a\n2:", "c\n", ("a\n", "c\n")),
            ("1: a\n2: ", "c", ("a\n\n", "c")),
            ("1: a\n2: \n", "c\n", ("a\n\n", "c\n")),
            ("1: a\n2: ", "1: c\n2: ", ("a\n\n", "c\n\n")),
            ("1: a\n2: ", "1: c\n", ("a\n\n", "c\n")),
        ] {
            let expected = (expected.0.to_owned(), expected.1.to_owned());
            assert_eq!(first(search, replace), Some(expected), "{search:?} {replace:?}");
        }
    }

    #[test]
    fn layers_of_escapes_are_removed_from_both_texts_or_one_from_the_search() {
        let escaped = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
        let [search, replace] = ["s = \"a\\n\"\nt = 1", "s = \"a\\n\"\nt = 2"];
        let has = |search: &str, replace: &str, expected: (&str, &str)| {
            alternatives(search, replace).iter().any(|one| (&*one.search, &*one.replace) == expected)
        };
        assert!(has(&escaped(&escaped(search)), &escaped(&escaped(replace)), (search, replace)));
        assert!(has(&escaped(search), replace, (search, replace)));
        assert!(!has(&escaped(&escaped(search)), replace, (search, replace)));
    }

    #[test]
    fn a_fence_of_a_diff_shows_that_a_dash_is_a_sign() {
        let loses_signs = |language: &str, replace: &str| {
            let search = format!("```{language}\n-a\n-b\n```\n");
            let found = alternatives(&search, replace);
            found.iter().any(|one| (&*one.search, &*one.replace) == ("a\nb\n", "c\n"))
        };
        for replace in ["c\n", "```diff\n+c\n```\n"] {
            assert!(loses_signs("diff", replace) && loses_signs("patch", replace), "{replace}");
        }
        assert!(!loses_signs("", "c\n") && !loses_signs("yaml", "c\n"), "the control: it may be a list");
    }

    #[test]
    fn the_signs_of_a_diff_are_removed_once() {
        let found = alternatives(" a\n--b\n", " a\n+-c\n");
        assert!(found.iter().any(|one| one.search == "a\n-b\n"), "{found:?}");
        assert!(found.iter().all(|one| !one.search.ends_with("\nb\n")), "{found:?}");
    }

    proptest::proptest! {
        #[test]
        fn no_text_has_too_many_alternatives(search in "[ab`~0-9:|\\\\nt\"'\n +-]{0,60}", replace in ".{0,20}") {
            proptest::prop_assert!(alternatives(&search, &replace).len() <= MOST);
        }
    }
}
