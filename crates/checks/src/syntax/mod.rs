//! Gates of the kind `syntax`: they check that the draft parses.
//!
//! A language's own parser reads the text if there is one. Tree-sitter reads it if there is none, if that parser gives
//! up, and if the text nests deeper than the parser can go. [`table`] lists the parsers of each language.
//!
//! A small text is parsed on a thread ([`worker`]) whose stack fits the deepest nesting that the text can hold; a large
//! text in a [`child`] process with limited memory. If neither can parse it, tree-sitter does, within its own memory
//! limit, and a note says so. The process ends before tree-sitter starts, so the two limits never add up.
//!
//! Invariant: no text makes a parser overflow a stack, end the process or exceed its memory limit. If no parser could
//! read a text, the gate returns the reason and no findings.

mod before_after;
mod brackets;
mod branches;
mod cause;
pub(crate) mod child;
mod doubled;
mod ecmascript;
mod fault;
mod go;
mod json;
mod jsonc;
mod memo;
mod parse;
mod parse_result;
mod parts;
mod preprocessor;
mod python;
mod python_bindings;
mod python_hosts;
mod python_scopes;
mod readers;
mod rust;
mod shell;
mod shell_words;
mod stack;
mod table;
mod template;
mod toml;
mod tree;
mod worker;
mod yaml;

use std::sync::Arc;

pub(crate) use self::brackets::balance as bracket_balance;
pub use self::child::{parse_for_parent, parse_large_texts_with};
pub(crate) use self::parse::{ParseFailure, unreadable};

use self::before_after::{BeforeAfter, Opinion, OpinionNeed};
use self::cause::Explains;
use self::parse_result::{ParseResult, located};
use self::readers::LanguageReaders;
use super::delta::{self, Belief, ComparedFinding, MarkedFinding};
use super::draft::Draft;
use super::pieces::ReplacedLines;
use lockgate_sandbox::Limit;
use lockgate_text::{Buffer, Hints};

/// Judges the draft like [`judge`] and shortens the result for the response: a bracket that the edit left open comes
/// first, and the faults that follow from it become one finding.
pub(super) fn report(draft: &Draft<'_>, limit: Limit<'_>) -> Result<SyntaxResult, ParseFailure> {
    let found = judge(draft, limit)?;
    let is_broken = found.marks.iter().any(MarkedFinding::is_certain_and_fresh);
    let row = table::row(draft.language_name());
    let Some(row) = row.filter(|row| is_broken && row.credit.brackets) else { return Ok(found) };
    let readers = LanguageReaders::new(row, draft.path, limit);
    // If the grammar cannot read the text, the cause is unknown.
    let Some(after) = readers.brackets(draft.after).ok().filter(|after| !after.unclosed.is_empty()) else {
        return Ok(found);
    };
    let before = match draft.before {
        Some(before) => readers.brackets(before).ok(),
        None => Some(Arc::default()),
    };
    let Some(before) = before else { return Ok(found) };
    let cause = cause::cause((draft.before, &before), (draft.after, &after), draft.map);
    // syn reports the outermost bracket, which is before the one that the edit left open.
    let reads_in_order = row.parser.as_ref().is_some_and(|own| own.name != "syn");
    let explains = if reads_in_order { Explains::Behind } else { Explains::All };
    Ok(SyntaxResult { marks: cause::folded(found.marks, cause, explains), note: found.note })
}

/// The result of the parsers for a draft.
#[derive(Debug)]
pub(super) struct SyntaxResult {
    /// The faults, compared with those before.
    pub(super) marks: Vec<MarkedFinding>,
    /// A note about a step that was skipped or replaced, with the reason.
    pub(super) note: Option<String>,
}

/// Parses the draft and, if it has faults, the text before the edit.
pub(super) fn judge(draft: &Draft<'_>, limit: Limit<'_>) -> Result<SyntaxResult, ParseFailure> {
    let row = table::row(draft.language_name());
    let row = row.ok_or(ParseFailure::Unknown("no parser for this language"))?;
    let readers = LanguageReaders::new(row, draft.path, limit);
    match (marks(draft, &readers), readers.unread.take()) {
        (Ok(marks), Some(why)) => {
            Ok(SyntaxResult { marks, note: Some(format!("{why}; tree-sitter parsed the text instead")) })
        }
        (Ok(marks), None) => Ok(SyntaxResult { marks, note: readers.unsearched.take() }),
        (Err(ParseFailure::Unreadable(why)), Some(unread)) => {
            Err(ParseFailure::Unreadable(format!("{unread}, and {why}")))
        }
        (Err(failure), _) => Err(failure),
    }
}

fn marks(draft: &Draft<'_>, readers: &LanguageReaders<'_>) -> Result<Vec<MarkedFinding>, ParseFailure> {
    let row = readers.parsers;
    let after = readers.read_after(draft)?;
    if is_template(readers, draft, &after)? {
        return Err(ParseFailure::Template);
    }
    if !after.faults.is_empty() && row.name == "javascript" && ecmascript::is_flow(draft.after.view()) {
        return Err(ParseFailure::Unreadable(
            "has Flow type annotations, which no available parser reads".to_owned(),
        ));
    }
    match draft.before {
        _ if after.faults.is_empty() => doubled_keys(readers, draft, after.keys.as_deref()),
        None => Ok(before_after::all_new(&after.faults)),
        Some(before) => compare(readers, draft, before, after),
    }
}

/// Returns the duplicate keys of a text without faults, compared with those before; they only warn.
fn doubled_keys(
    readers: &LanguageReaders<'_>,
    draft: &Draft<'_>,
    after: Option<&[ComparedFinding]>,
) -> Result<Vec<MarkedFinding>, ParseFailure> {
    if !doubled::LANGUAGES.contains(&readers.parsers.name) {
        return Ok(Vec::new());
    }
    let after = after.map_or_else(|| readers.keys(draft.after), |after| Ok(after.to_vec()))?;
    delta::mark_new(draft, after, |before| readers.keys(before))
}

/// True if the parser stops at a template tag and something else marks the text as a template: its path, a tag there
/// that only templates have, or the text before the edit, which did not parse either.
fn is_template(
    readers: &LanguageReaders<'_>,
    draft: &Draft<'_>,
    after: &ParseResult,
) -> Result<bool, ParseFailure> {
    let first = |reading: &ParseResult| {
        let certain = reading.faults.iter().filter(|(finding, _)| finding.belief == Belief::Certain);
        certain.map(|(finding, _)| finding.line).min()
    };
    let Some(line) = first(after) else { return Ok(false) };
    let (lines, text) = (draft.after.lines(), draft.after.view());
    let tags = template::tags(text);
    if tags.is_empty() {
        return Ok(false);
    }
    let filled = template::filled(readers.parsers.name, text, &tags);
    let Ok(filled) = Buffer::read(filled.into_bytes(), Hints::default()) else { return Ok(false) };
    let filled = readers.read(&filled)?;
    if first(&filled).is_some_and(|next| next <= line) {
        return Ok(false);
    }
    let range = lines.span(line.saturating_sub(1).max(1)).start..lines.span(line).end;
    if template::is_named(readers.path) || template::is_marked(&tags, &range) {
        return Ok(true);
    }
    let Some(before) = draft.before else { return Ok(false) };
    let before = readers.read(before)?;
    Ok(first(&before).is_some())
}

/// Compares the faults of a text that has some with those before the edit.
fn compare(
    readers: &LanguageReaders<'_>,
    draft: &Draft<'_>,
    before: &Buffer,
    after: Arc<ParseResult>,
) -> Result<Vec<MarkedFinding>, ParseFailure> {
    let (old, after) = match readers.read(before) {
        Ok(old) if old.by == after.by => (old, after),
        Err(failure) if failure.is_timeout() => return Err(failure),
        // Faults of two different parsers cannot be compared, so tree-sitter reads both sides.
        _ => (Arc::new(readers.read_tree(before)?), Arc::new(readers.read_tree(draft.after)?)),
    };
    if old.faults.is_empty() {
        return Ok(before_after::all_new(&after.faults));
    }
    let mut sides =
        BeforeAfter { before, after: draft.after, map: draft.map, by: after.by, sound: Vec::new() };
    let opinion = match sides.opinion_need() {
        OpinionNeed::Nothing => Opinion::default(),
        OpinionNeed::Brackets => {
            let (old, new) = (readers.brackets(before)?, readers.brackets(draft.after)?);
            Opinion { old_lone: old.lone.clone(), new_lone: new.lone.clone(), ..Opinion::default() }
        }
        OpinionNeed::Everything => opinion(readers, before, draft.after)?,
    };
    sides.sound = sound_pieces(readers, &sides, &opinion.old_lone);
    Ok(sides.judge(&old.faults, &after.faults, &opinion))
}

/// Returns the inserted pieces that are valid by themselves, below a bracket that was open before. A fault there can
/// follow from that bracket alone: a parser takes a function below it for a part of the function before.
fn sound_pieces(
    readers: &LanguageReaders<'_>,
    sides: &BeforeAfter<'_>,
    old_lone: &[usize],
) -> Vec<ReplacedLines> {
    let (before, after) = (sides.before, sides.after);
    let opens = |at: &&usize| matches!(before.view().as_bytes().get(**at), Some(b'(' | b'[' | b'{'));
    let Some(open) = old_lone.iter().find(opens).map(|at| before.lines().line_at(*at)) else {
        return Vec::new();
    };
    let is_sound = |piece: &ReplacedLines| {
        let (first, last) = piece.new;
        let text = after.view().get(after.lines().block(first, last)).unwrap_or_default();
        let part = Buffer::read(text.as_bytes().to_vec(), Hints::default()).ok();
        part.and_then(|part| readers.read_piece(&part).ok()).is_some_and(|read| read.faults.is_empty())
    };
    let mut pieces = sides.pieces();
    pieces.retain(|piece| piece.is_insertion() && piece.old.0 > open && is_sound(piece));
    pieces
}

/// Returns the faults that tree-sitter finds on both sides; none if it cannot read them.
fn opinion(readers: &LanguageReaders<'_>, before: &Buffer, after: &Buffer) -> Result<Opinion, ParseFailure> {
    let both = readers.survey(before).and_then(|old| Ok((old, readers.survey(after)?)));
    let (old, new) = match both {
        Ok(both) => both,
        Err(failure) if failure.is_timeout() => return Err(failure),
        Err(_) => return Ok(Opinion::default()),
    };
    Ok(Opinion {
        old: located(&old.faults, before),
        new: located(&new.faults, after),
        old_lone: old.brackets.lone.clone(),
        new_lone: new.brackets.lone.clone(),
    })
}

#[cfg(test)]
mod cases;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod tables;
