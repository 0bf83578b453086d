//! The draft that gates judge.

use std::fmt;
use std::ops::RangeInclusive;

use lockgate_policy::Language;
use lockgate_text::{Buffer, LineMap};

/// The text of a file before and after an edit.
#[derive(Clone, Copy)]
pub struct Draft<'a> {
    /// The path of the file relative to its root, with `/` as the separator.
    pub path: &'a str,
    /// The language of the file, if known.
    pub language: Option<&'static Language>,
    /// The text before the edit; `None` for a new file.
    pub before: Option<&'a Buffer>,
    /// The text after the edit.
    pub after: &'a Buffer,
    /// Maps lines of the text before to lines of the text after.
    pub map: &'a LineMap,
    /// The location of both texts.
    pub input_location: InputLocation,
    /// Returns true if a path relative to the same root exists.
    pub files_exist: &'a (dyn Fn(&str) -> bool + Sync),
}

/// The location of a text that a program checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InputLocation {
    /// The text replaces that of a file on disk.
    OverFile,
    /// The text belongs to no file.
    Alone,
}

impl InputLocation {
    /// Returns the location of a draft whose text before, if any, is that of a file.
    pub fn of_file(before: Option<&Buffer>) -> InputLocation {
        if before.is_some() { InputLocation::OverFile } else { InputLocation::Alone }
    }
}

impl Draft<'_> {
    /// Returns the name of the language; empty if unknown.
    pub(super) fn language_name(&self) -> &'static str {
        self.language.map_or("", |language| &language.name)
    }

    /// True if the edit leaves the text unchanged.
    pub(super) fn changes_nothing(&self) -> bool {
        self.before.is_some_and(|before| before.version() == self.after.version())
    }

    /// True if the edit wrote this line of the new text, 1-based.
    pub(super) fn wrote(&self, line: usize) -> bool {
        self.before.is_none() || self.map.touched(line)
    }

    /// True if the edit wrote one of these lines of the new text, 1-based.
    pub(super) fn wrote_any(&self, mut lines: RangeInclusive<usize>) -> bool {
        lines.any(|line| self.wrote(line))
    }

    /// True if a line that the edit wrote imports something.
    pub(super) fn adds_import(&self) -> bool {
        let lines = self.after.lines();
        let imports = |language: &Language| {
            (1..=lines.count()).any(|line| self.wrote(line) && language.imports(lines.text(line)))
        };
        self.language.is_some_and(imports)
    }
}

impl fmt::Debug for Draft<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Draft").field("path", &self.path).finish_non_exhaustive()
    }
}
