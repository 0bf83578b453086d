//! Finds the place of a quote that differs from the file, with the matching of lockgate's own tools.
//!
//! Invariant: an edit is made only if exactly one place matches, or if the call replaces every place.

use super::edit::{QuoteMatches, QuotedReplacement};
use super::patch::Chunk;
use super::simulate::unix;
use lockgate_edit::request::{BlockFields, ToleranceFields};
use lockgate_edit::{
    self as edit, Edit, EditLimits, EditPart, Insertion, LineEditNames, LineWindow, Occurrences, OnDuplicate,
    PlanContext,
};
use lockgate_error::{Code, Error};
use lockgate_policy::language_of;
use lockgate_syntax as grammar;
use lockgate_text::{Buffer, Hints};

/// The least similarity of a match, as for `edit_code`.
const THRESHOLD: f64 = 0.9;
const LIMITS: EditLimits = EditLimits { bytes: 64 << 20, steps: 40_000_000 };

/// The result of a search.
#[derive(Debug)]
pub enum Located {
    /// The bytes of the file after the edit.
    Found(Vec<u8>),
    /// Quote and replacement are the same.
    Same,
    /// No place, or several, with a hint.
    Rejected(Box<Error>),
    /// The text cannot be searched for quotes.
    Unknown,
}

/// Finds the place of a quote, and makes the edit there.
pub fn quote(path: &str, before: &[u8], quote: &QuotedReplacement) -> Located {
    let occurrences = match quote.matches {
        QuoteMatches::Only => Occurrences::Block,
        QuoteMatches::Every => Occurrences::EveryBlock,
    };
    let fields = block(unix(&quote.old), unix(&quote.new), occurrences);
    match fields.into_edit() {
        Ok(edit) => make(path, before, &edit),
        Err(_) => Located::Unknown,
    }
}

/// Finds the places of the chunks of a patch, and makes all of its changes.
pub fn chunks(path: &str, before: &[u8], chunks: &[Chunk]) -> Located {
    update(before, chunks).map_or(Located::Unknown, |edit| make(path, before, &edit))
}

/// Returns the edit that applies the chunks of a patch to a file; `None` for a file that is no text, or a chunk that is
/// no edit.
pub fn update(before: &[u8], chunks: &[Chunk]) -> Option<Edit> {
    let buffer = Buffer::read(before.to_vec(), Hints::default()).ok()?;
    let mut parts = Vec::new();
    for (entry, chunk) in chunks.iter().enumerate() {
        parts.push(EditPart { entry, edit: chunk_edit(&buffer, chunk)? });
    }
    match parts.len() {
        1 => parts.pop().map(|only| only.edit),
        _ => Some(Edit::Several(parts)),
    }
}

fn block(search: String, replace: String, occurrences: Occurrences) -> BlockFields {
    BlockFields {
        search,
        replace,
        occurrences,
        tolerance: Some(ToleranceFields { threshold: THRESHOLD, any_line: false }),
        start_line: None,
        end_line: None,
        within: None,
        on_duplicate: OnDuplicate::Reject,
    }
}

/// Returns the edit of one chunk; a header narrows the lines to search.
fn chunk_edit(buffer: &Buffer, chunk: &Chunk) -> Option<Edit> {
    let (mut old, mut new) = (String::new(), String::new());
    chunk.old().for_each(|line| old.extend([line, "\n"]));
    chunk.new_lines().for_each(|line| new.extend([line, "\n"]));
    if old.is_empty() {
        let content = new;
        let insertion =
            Insertion { at_line: Insertion::END, content, expect: None, names: LineEditNames::default() };
        return Some(Edit::Insert(vec![insertion]));
    }
    let edit = block(old, new, Occurrences::Block).into_edit().ok()?;
    let header = chunk.header.as_ref().and_then(|header| {
        let mut lines = buffer.lines().iter().enumerate();
        lines.find(|(_, line)| line.trim() == header.trim()).map(|(at, _)| at + 1)
    });
    match (edit, header) {
        (Edit::Search(search), Some(line)) => {
            let lines = Some(LineWindow { start: line, end: LineWindow::OPEN });
            Some(Edit::Search(edit::Search { lines, ..search }))
        }
        (edit, _) => Some(edit),
    }
}

fn make(path: &str, before: &[u8], edit: &Edit) -> Located {
    let Ok(buffer) = Buffer::read(before.to_vec(), Hints::default()) else { return Located::Unknown };
    let language = language_of(path, buffer.view().lines().next()).map(|language| language.name.as_str());
    let planned =
        edit::plan(edit, &buffer, PlanContext { path, language, syntax: &grammar::Grammars, limits: LIMITS });
    let after = planned.and_then(|planned| buffer.apply(&planned.plan));
    match after {
        Ok(after) if after.bytes() == before => Located::Same,
        Ok(after) => Located::Found(after.bytes().to_vec()),
        Err(error) => match error.code {
            Code::MatchNotFound | Code::AmbiguousMatch | Code::AlreadyApplied | Code::EditConflict => {
                Located::Rejected(Box::new(error))
            }
            _ => Located::Unknown,
        },
    }
}
