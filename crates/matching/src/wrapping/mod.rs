//! Match level `wrapping`: removes wrapping from a quoted block.
//!
//! An alternative is the same edit without a fence, without line numbers, without the prefixes of a diff or of a
//! search tool, or without escapes. Alternatives nest: a fence may contain numbered lines.

mod escapes;
mod fence;
mod gutter;
pub(super) mod prefix;

use lockgate_text::differing_lines;

/// An alternative form of an edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AlternativeEdit {
    pub(super) search: String,
    pub(super) replace: String,
    /// The file's line at which the block must match, from the number of a single numbered line.
    pub(super) line: Option<usize>,
}

/// The maximum number of alternatives of one edit.
const MOST: usize = 64;

/// The maximum size of all alternatives together, in bytes.
const MAX_BYTES: usize = 1 << 20;

impl AlternativeEdit {
    fn new(search: String, replace: String) -> AlternativeEdit {
        AlternativeEdit { search, replace, line: None }
    }

    /// Creates an alternative without any change of the edit.
    pub(super) fn plain(search: &str, replace: &str) -> AlternativeEdit {
        AlternativeEdit::new(search.to_owned(), replace.to_owned())
    }

    /// Returns the number of nonblank lines that search and replacement share. Of two alternatives, the one that
    /// keeps more is the simpler edit.
    pub(super) fn common_line_count(&self) -> usize {
        let full_lines = |text| lines(text).filter(|line| !line.trim().is_empty()).collect::<Vec<_>>();
        let (old, new) = (full_lines(&self.search), full_lines(&self.replace));
        let removed: usize = differing_lines(&old, &new).into_iter().map(|(removed, _)| removed.len()).sum();
        old.len() - removed
    }
}

/// Returns the alternatives of an edit, those with less removed first, without the edit itself.
pub(super) fn alternatives(search: &str, replace: &str) -> Vec<AlternativeEdit> {
    let mut all = vec![AlternativeEdit::plain(search, replace)];
    let (mut next, mut bytes) = (0, 0);
    while let Some(reading) = all.get(next).cloned().filter(|_| all.len() < MOST && bytes < MAX_BYTES) {
        let (search, replace) = (reading.search.as_str(), reading.replace.as_str());
        bytes += search.len() + replace.len();
        let more = fence::remove(search, replace)
            .into_iter()
            .chain(gutter::remove(search, replace))
            .chain(prefix::remove(search, replace))
            .chain(escapes::remove(search, replace));
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
    // An alternative that only differs in its wrapping requests no change.
    all.retain(|reading| reading.search != reading.replace);
    all.truncate(MOST);
    all
}

/// Splits a text into lines without the newline that terminates the last one.
fn lines(text: &str) -> impl DoubleEndedIterator<Item = &str> + Clone {
    text.strip_suffix('\n').unwrap_or(text).split('\n')
}

/// Joins lines; the result ends as `like` does.
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
        assert_eq!(alternatives("let a = 1;\n", "let a = 2;\n"), []);
    }

    #[test]
    fn readings_nest() {
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

    proptest::proptest! {
        #[test]
        fn no_text_has_too_many_readings(search in "[ab`~0-9:|\\\\nt\"'\n +-]{0,60}", replace in ".{0,20}") {
            proptest::prop_assert!(alternatives(&search, &replace).len() <= MOST);
        }
    }
}
