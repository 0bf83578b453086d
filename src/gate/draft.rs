//! What the gates are given to judge.

use std::fmt;

use crate::policy::Language;
use crate::text::{Buffer, LineMap};

/// A file as it would be after an edit, beside what it was.
#[derive(Clone, Copy)]
pub struct Draft<'a> {
    /// The path of the file relative to its root, with `/` as the separator.
    pub path: &'a str,
    /// The file's language, where it is known.
    pub language: Option<&'static Language>,
    /// The file before the edit; nothing for a new file.
    pub before: Option<&'a Buffer>,
    /// The file after the edit.
    pub after: &'a Buffer,
    /// Maps lines of the text before to lines of the text after.
    pub map: &'a LineMap,
    /// The location of both texts.
    pub input_location: InputLocation,
    /// Tells whether there is something at another path, relative to the same root.
    pub files_exist: &'a (dyn Fn(&str) -> bool + Sync),
}

/// The location of a text that a program checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InputLocation {
    /// In the place of a file that is on disk.
    OverFile,
    /// The text belongs to no file.
    Alone,
}

impl InputLocation {
    /// Where a draft stands whose text before, if there was any, is that of a file.
    pub fn of_file(before: Option<&Buffer>) -> InputLocation {
        if before.is_some() { InputLocation::OverFile } else { InputLocation::Alone }
    }
}

impl Draft<'_> {
    /// Tells whether the text after the edit is the one before.
    pub(super) fn changes_nothing(&self) -> bool {
        self.before.is_some_and(|before| before.version() == self.after.version())
    }

    /// Tells whether the edit wrote this line of the new text.
    pub(super) fn wrote(&self, line: usize) -> bool {
        self.before.is_none() || self.map.touched(line)
    }

    /// Tells whether one of the lines that the edit wrote imports something.
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
