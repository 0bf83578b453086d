//! The lines of texts that a pattern matches.

use super::super::Workspace;
use crate::error::{Code, Error};
use crate::gate::Watch;
use crate::request::SearchLook;
use crate::text::Stamp;

/// What a search found.
#[derive(Debug, Default)]
pub struct Matches {
    /// The first of the matches, by path and line.
    pub found: Vec<Match>,
    /// How many there are.
    pub total: usize,
    /// Whether something was left out: matches that are not shown, or files that were not searched.
    pub truncated: bool,
    /// What the caller should know of what was left out.
    pub notes: Vec<String>,
}

/// A line that the pattern matches, or the lines of one match over several.
#[derive(Debug)]
pub struct Match {
    /// The file as lockgate names it.
    pub path: String,
    /// The stamp of its whole text.
    pub version: Stamp,
    /// The line, from 1; the first, where there are several.
    pub line: usize,
    /// Its text.
    pub text: String,
    /// The lines before it.
    pub before: Vec<Numbered>,
    /// The lines behind it.
    pub after: Vec<Numbered>,
}

/// A line with its number, from 1.
#[derive(Debug)]
pub struct Numbered {
    /// The number.
    pub line: usize,
    /// The text.
    pub text: String,
}

impl Workspace {
    /// Searches files.
    pub(super) fn search(&self, _look: &SearchLook, _watch: &Watch) -> Result<Matches, Error> {
        Err(Error::new(Code::Internal, "not built"))
    }
}
