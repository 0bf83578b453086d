//! Rung `wrapping`: a quoted block with what was put around it taken off.
//!
//! A reading is the same edit without a fence, without line numbers, without the prefixes of a diff or of a search
//! tool, or without escapes. Readings nest: a fence may hold numbered lines.

mod escapes;
mod fence;
mod gutter;
pub(super) mod prefix;

use crate::text::differing_lines;

/// The same edit, read otherwise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AlternativeEdit {
    pub(super) search: String,
    pub(super) replace: String,
    /// The line of the file where a single numbered line says that it stands.
    pub(super) line: Option<usize>,
}

/// The readings that are tried of one edit.
const MOST: usize = 64;

/// The bytes that are read otherwise, all readings together.
const MOST_BYTES: usize = 1 << 20;

impl AlternativeEdit {
    fn new(search: String, replace: String) -> AlternativeEdit {
        AlternativeEdit { search, replace, line: None }
    }

    /// The quote as it stands.
    pub(super) fn plain(search: &str, replace: &str) -> AlternativeEdit {
        AlternativeEdit::new(search.to_owned(), replace.to_owned())
    }

    /// The number of lines of the search, blank ones aside, that the replacement has too: of two readings the one that
    /// keeps more is the simpler edit.
    pub(super) fn kept(&self) -> usize {
        let written = |text| lines(text).filter(|line| !line.trim().is_empty()).collect::<Vec<_>>();
        let (old, new) = (written(&self.search), written(&self.replace));
        let gone: usize = differing_lines(&old, &new).into_iter().map(|(gone, _)| gone.len()).sum();
        old.len() - gone
    }
}

/// Returns the readings of an edit other than the plain one, those with less taken off first.
pub(super) fn readings(search: &str, replace: &str) -> Vec<AlternativeEdit> {
    let mut all = vec![AlternativeEdit::plain(search, replace)];
    let (mut next, mut bytes) = (0, 0);
    while let Some(reading) = all.get(next).cloned().filter(|_| all.len() < MOST && bytes < MOST_BYTES) {
        let (search, replace) = (reading.search.as_str(), reading.replace.as_str());
        bytes += search.len() + replace.len();
        let more = fence::off(search, replace)
            .into_iter()
            .chain(gutter::off(search, replace))
            .chain(prefix::off(search, replace))
            .chain(escapes::off(search, replace));
        for mut other in more {
            other.line = other.line.or(reading.line);
            let blank = other.search.trim().is_empty();
            let known = all.iter().any(|one| (&one.search, &one.replace) == (&other.search, &other.replace));
            if !blank && !known {
                all.push(other);
            }
        }
        next += 1;
    }
    all.remove(0);
    // What differs in its wrapping alone asks for nothing that could be done.
    all.retain(|reading| reading.search != reading.replace);
    all.truncate(MOST);
    all
}

/// Splits a text into lines without the newline that ends the last one.
fn lines(text: &str) -> impl DoubleEndedIterator<Item = &str> + Clone {
    text.strip_suffix('\n').unwrap_or(text).split('\n')
}

/// Joins lines; ended as the text that they come from was.
fn joined<'a>(lines: impl IntoIterator<Item = &'a str>, like: &str) -> String {
    let mut text = lines.into_iter().collect::<Vec<_>>().join("\n");
    if like.ends_with('\n') && !text.is_empty() {
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_edit_has_no_other_reading() {
        assert_eq!(readings("let a = 1;\n", "let a = 2;\n"), []);
    }

    #[test]
    fn readings_nest() {
        let found = readings(
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

    proptest::proptest! {
        #[test]
        fn no_text_has_too_many_readings(search in "[ab`~0-9:|\\\\nt\"'\n +-]{0,60}", replace in ".{0,20}") {
            proptest::prop_assert!(readings(&search, &replace).len() <= MOST);
        }
    }
}
