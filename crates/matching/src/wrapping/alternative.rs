//! An alternative form of an edit, and the lines that it is made of.

use crate::indent::indent_of;
use lockgate_text::differing_lines;

/// An alternative form of an edit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AlternativeEdit {
    pub search: String,
    pub replace: String,
    /// The file's line at which the block must match, from the number of a single numbered line.
    pub line: Option<usize>,
    /// Set if a layer of escapes was removed from the search alone, which is done once.
    pub is_unescaped: bool,
    /// Set if the search was in a fence of a diff.
    pub is_fenced_diff: bool,
    /// Set if the signs of a diff were removed, which is done once.
    pub is_unsigned: bool,
    /// Set if numbers before the lines were removed.
    pub is_numberless: bool,
    /// Set if rows of a diff were removed, which the file's own lines must not look like.
    pub has_diff_rows: bool,
    /// Set if the lines must have the file's indentation: what was removed may have been a part of it.
    pub keeps_indent: bool,
    /// Set if the replacement can be read in another way, too, which is another alternative.
    pub is_ambiguous: bool,
}

impl AlternativeEdit {
    pub fn new(search: String, replace: String) -> AlternativeEdit {
        AlternativeEdit { search, replace, ..AlternativeEdit::default() }
    }

    /// Creates an alternative without any change of the edit.
    pub fn plain(search: &str, replace: &str) -> AlternativeEdit {
        AlternativeEdit::new(search.to_owned(), replace.to_owned())
    }

    /// Returns the number of nonblank lines that search and replacement share. Of two alternatives, the one that
    /// keeps more is the simpler edit.
    pub fn common_line_count(&self) -> usize {
        let full_lines = |text| lines(text).filter(|line| !line.trim().is_empty()).collect::<Vec<_>>();
        let (old, new) = (full_lines(&self.search), full_lines(&self.replace));
        let removed: usize = differing_lines(&old, &new).into_iter().map(|(removed, _)| removed.len()).sum();
        old.len() - removed
    }

    /// Returns true if the first lines of search and replacement have different indentations.
    pub fn changes_depth(&self) -> bool {
        let depth = |text| lines(text).find(|line| !line.trim().is_empty()).map(indent_of);
        depth(&self.search) != depth(&self.replace)
    }
}

/// Splits a text into lines without the newline that terminates the last one.
pub fn lines(text: &str) -> impl DoubleEndedIterator<Item = &str> + Clone {
    text.strip_suffix('\n').unwrap_or(text).split('\n')
}

/// Joins lines; the result ends as `like` does.
pub fn joined<'a>(lines: impl IntoIterator<Item = &'a str>, like: &str) -> String {
    let mut text = lines.into_iter().collect::<Vec<_>>().join("\n");
    if like.ends_with('\n') && !text.is_empty() {
        text.push('\n');
    }
    text
}
