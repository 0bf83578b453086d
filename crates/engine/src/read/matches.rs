//! The result of a search.

use lockgate_edit::request::{Entity, EntityKind, SearchScope};
use lockgate_store::Skipped;
use lockgate_text::Version;

/// A request for the lines that a pattern matches, in files or entities.
///
/// Errors: `BAD_PATTERN`, `FILE_NOT_FOUND`, `PROTECTED`, `STORE_UNAVAILABLE`; for a single file those of reading it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchRequest {
    /// The pattern, in the syntax of the crate `regex`.
    pub pattern: String,
    /// A file, a folder, or a glob of files relative to the first root; every root, where it is absent.
    pub path: Option<String>,
    /// The scope of the search.
    pub entity_scope: SearchScope,
    /// Lines shown before and after each match.
    pub context: usize,
    /// The most matches that are shown, from 1.
    pub max_matches: usize,
    /// True if hidden files are searched, too.
    pub hidden: bool,
    /// True if a match may span lines.
    pub multiline: bool,
    /// The number of matches that are skipped before the first one that is shown.
    pub offset: usize,
}

/// The result of a search.
#[derive(Debug, Default)]
pub struct Matches {
    /// The scope of the search.
    pub scope: SearchScope,
    /// The first matches, by path and line.
    pub found: Vec<LineMatch>,
    /// The number of all matches.
    pub total: usize,
    /// The number of matches in each file up to the last one that is shown, and in some after it.
    pub counts: Vec<MatchCount>,
    /// Set when matches were left out, or were not counted before the time limit.
    pub truncated: bool,
    /// Notes on what was left out.
    pub notes: Vec<String>,
}

/// The number of matches in one file or entity.
#[derive(Debug, Clone)]
pub struct MatchCount {
    /// The path as lockgate names it.
    pub path: String,
    /// The key of the entity, if it is stored in a database.
    pub entity: Option<Entity>,
    /// The number of matches; several in one line count once.
    pub matches: usize,
}

/// A matching line, or the lines of a multi-line match.
#[derive(Debug)]
pub struct LineMatch {
    /// The path as lockgate names it.
    pub path: String,
    /// The key of the entity, if it is stored in a database.
    pub entity: Option<Entity>,
    /// The version of the whole text.
    pub version: Version,
    /// The line, from 1; the first line of a multi-line match.
    pub line: usize,
    /// The last line of the match, inclusive.
    pub end_line: usize,
    /// The text of the lines that contain the match.
    pub text: String,
    /// The lines before the match.
    pub before: Vec<NumberedLine>,
    /// The lines after the match.
    pub after: Vec<NumberedLine>,
}

/// A line with its number, from 1.
#[derive(Debug)]
pub struct NumberedLine {
    /// The number of the line in the whole text.
    pub line: usize,
    /// The text of the line.
    pub text: String,
}

/// Describes the files that were skipped.
pub(super) fn skipped_notes(skipped: &Skipped, largest: u64, noun: &str) -> Vec<String> {
    let Skipped { large, unreadable, unnamed, slow } = *skipped;
    let files = |count: usize| match count {
        1 => format!("1 {noun} is"),
        count => format!("{count} {noun}s are"),
    };
    let mut notes = Vec::new();
    if large > 0 {
        notes.push(format!("skipped: {} larger than the limit of {largest} bytes", files(large)));
    }
    if unreadable > 0 {
        let what = if noun == EntityKind::FILE { "files and folders".to_owned() } else { format!("{noun}s") };
        notes.push(format!("skipped: {unreadable} of the {what} cannot be read"));
    }
    if unnamed > 0 {
        notes.push(format!("skipped: {unnamed} of the names are not UTF-8"));
    }
    if slow > 0 {
        notes.push(format!("skipped: {} too large for such a slow pattern", files(slow)));
    }
    notes
}
