//! Finds the text that a caller's edit refers to, and rebases an edit of an earlier version.
//!
//! Invariant: an edit is rebased only if the lines it refers to are proved unchanged; otherwise it is
//! rejected together with the changes.

use std::sync::Arc;
use std::time::Instant;

use super::batch::Batch;
use super::difference::{difference, line_map};
use super::load::CurrentText;
use super::resolve::ResolvedTarget;
use super::services::Services;
use lockgate_edit::PlannedEdit;
use lockgate_edit::request::{Expect, Mode, Request};
use lockgate_error::{Code, Error, EvidenceLine, NextCall, Since};
use lockgate_store::{EditId, Entry, EntryKind};
use lockgate_text::{Buffer, RebaseConflict, Rebased, Region, Version};

/// The number of recent edits that are searched for a repeated request.
const RECENT_ENTRIES: usize = 50;
/// The most lines of the current text that an error lists.
const MAX_PLACES: usize = 20;

/// Sets the initial texts of those requests that count lines and name no version, where this process has edited the target
/// since the call arrived. A text that the attempt recorded is the right one if it was read before such an edit. The locks
/// must be held.
///
/// Errors: `EDIT_CONFLICT` if such a text is not known, unless the edit is to be written in any case.
pub(super) fn set_initial_texts(
    services: &Services,
    batch: &Batch,
    targets: &mut [ResolvedTarget],
    texts: &[CurrentText],
    times: InitialTimes,
) -> Result<(), Error> {
    for (at, ((request, target), current)) in batch.requests.iter().zip(targets).zip(texts).enumerate() {
        if request.expect != Expect::Anything || !request.edit.counts_lines() {
            continue;
        }
        let key = target.place.key();
        let replaced = services.recent_edits.version_at(times.arrival, times.recorded, &key);
        let Some(version) = replaced else { continue };
        let known = target.initial_text.take().filter(|text| text.version() == version);
        if version == current.buffer.version() {
            continue;
        }
        let text = match known {
            Some(text) => Some(text),
            None => earlier_text(services, target, current, &version.hex())?,
        };
        if text.is_none() && request.mode != Mode::Interactive {
            return Err(batch.with_edit_index(not_stored(target, current), at));
        }
        target.initial_text = text;
    }
    Ok(())
}

/// The times that tell which text a call without a version refers to.
#[derive(Debug, Clone, Copy)]
pub(super) struct InitialTimes {
    /// The time at which the call arrived.
    pub(super) arrival: Instant,
    /// The time at which its initial texts were recorded, or else now.
    pub(super) recorded: Instant,
}

fn not_stored(target: &ResolvedTarget, current: &CurrentText) -> Error {
    let noun = target.place.noun();
    let message =
        format!("the {noun} was changed after this call arrived, and its text at that time is not stored");
    let next = NextCall::read_around(1, 1, current.buffer.lines().count());
    Error::new(Code::EditConflict, message)
        .hint("read it again, and send the edit with its `version`")
        .with_next_if(next)
}

/// Returns the text that a request refers to, if it is not the current one.
///
/// Errors: `EDIT_CONFLICT` for an unknown version. Also for an earlier version if the edit replaces the
/// whole text, or if the same edit was made before and others have changed the file since.
pub(super) fn find_base(
    services: &Services,
    batch: &Batch,
    request: &Request,
    target: &ResolvedTarget,
    current: &CurrentText,
) -> Result<Option<Arc<Buffer>>, Error> {
    let base = match &request.expect {
        Expect::Version(version) if !current.buffer.version().matches(version) => {
            let initial = target.initial_text.as_ref().filter(|initial| initial.version().matches(version));
            let known = match initial {
                Some(initial) => Some(Arc::clone(initial)),
                None => earlier_text(services, target, current, version)?,
            };
            Some(known.ok_or_else(|| unknown_version(version, target, current))?)
        }
        Expect::Anything => {
            let initial = target.initial_text.as_ref();
            initial.filter(|initial| initial.version() != current.buffer.version()).map(Arc::clone)
        }
        Expect::Absent | Expect::Version(_) => None,
    };
    let Some(base) = base else { return Ok(None) };
    let noun = target.place.noun();
    let message = if request.edit.is_whole() {
        format!("the {noun} was changed since version {}, the base of this edit", base.version())
    } else if let Some(id) = previous_edit(services, batch, target)? {
        format!("this request was already applied as edit {id}, and the {noun} has changed since")
    } else {
        return Ok(Some(base));
    };
    Err(conflict(message, target, &base, current))
}

/// Returns the stored text of a version of the target.
///
/// Errors: those of the history of a row.
pub(super) fn earlier_text(
    services: &Services,
    target: &ResolvedTarget,
    current: &CurrentText,
    version: &str,
) -> Result<Option<Arc<Buffer>>, Error> {
    let bytes = target.place.or_default(target.place.text(&services.store, version))?;
    Ok(bytes.and_then(|bytes| current.buffer.read_other(bytes).ok()).map(Arc::new))
}

/// Returns the recent edit of the file that this same request made, if any.
fn previous_edit(
    services: &Services,
    batch: &Batch,
    target: &ResolvedTarget,
) -> Result<Option<EditId>, Error> {
    // A call that waited named no version, and an undo is not repeated by its request.
    if target.initial_text.is_some() || batch.kind != EntryKind::Edit {
        return Ok(None);
    }
    let entries = target.place.or_default(target.place.entries(&services.store, RECENT_ENTRIES))?;
    let same =
        |entry: &&Entry| entry.meta.request == batch.digest && entry.meta.kind == batch.kind && !entry.undone;
    Ok(entries.iter().find(same).map(|entry| entry.id))
}

/// Rebases a plan for an earlier text onto the current one.
///
/// Errors: `EDIT_CONFLICT` where the edit overlaps a later change.
pub(super) fn rebase(
    mut planned: PlannedEdit,
    base: &Buffer,
    target: &ResolvedTarget,
    current: &CurrentText,
) -> Result<PlannedEdit, Error> {
    let rebased = match planned.new_buffer {
        Some(_) => Rebased::Conflict(encoding_conflict(base, &current.buffer)),
        None => planned.plan.rebase(base, &current.buffer)?,
    };
    planned.plan = match rebased {
        Rebased::Plan(plan) => plan,
        Rebased::Conflict(overlap) => return Err(overlap_error(&overlap, target, base, current)),
    };
    let moved = line_map(base, &current.buffer)?;
    for place in &mut planned.matches.lines {
        place.line = moved.new_line_of(place.line).unwrap_or(place.line);
    }
    let (was, is) = (base.version(), current.buffer.version());
    planned
        .notes
        .push(format!("rebased from version {was} to {is}: the other changes between them are kept"));
    Ok(planned)
}

/// Returns the error for an edit that overlaps a later change.
fn overlap_error(
    overlap: &RebaseConflict,
    target: &ResolvedTarget,
    base: &Buffer,
    current: &CurrentText,
) -> Error {
    let count = current.buffer.lines().count();
    let next = overlap
        .change
        .and_then(|region| NextCall::read_around(region.new_start_line, region.new_end_line, count));
    conflict(describe_conflict(overlap, base, &current.buffer), target, base, current)
        .places(conflicting_lines(overlap, &current.buffer))
        .with_next_if(next)
}

/// Returns the conflict of an edit that changes the encoding with any other change of the text.
fn encoding_conflict(base: &Buffer, current: &Buffer) -> RebaseConflict {
    let (last, new_last) = (base.lines().count(), current.lines().count());
    let change = Region { start_line: 1, end_line: last, new_start_line: 1, new_end_line: new_last };
    RebaseConflict { lines: (1, last), change: Some(change) }
}

fn describe_conflict(
    RebaseConflict { lines: (first, last), change }: &RebaseConflict,
    base: &Buffer,
    current: &Buffer,
) -> String {
    let numbers = |first: usize, last: usize| {
        if first == last { format!("line {first}") } else { format!("lines {first}-{last}") }
    };
    let place = if last < first { format!("the place before line {first}") } else { numbers(*first, *last) };
    let target = format!("{place} of version {}, the target of this edit,", base.version());
    let Some(region) = *change else {
        return format!("{target} matches more than one place now");
    };
    let Region { start_line, end_line, new_start_line, new_end_line } = region;
    let is_removal = new_end_line < new_start_line;
    let is_insertion = end_line < start_line;
    if is_removal {
        format!("{target} was changed since by the removal of {}", numbers(start_line, end_line))
    } else if is_insertion {
        format!("{target} was changed since by the addition of {}", numbers(new_start_line, new_end_line))
    } else {
        let lines = numbers(new_start_line, new_end_line);
        let note =
            if differs_in_line_ends(&region, base, current) { "; only the line ends differ" } else { "" };
        format!("{target} was changed since: it is {lines} now{note}")
    }
}

/// True if the changed lines have the same text in both versions, so that their diff shows the same lines twice.
fn differs_in_line_ends(region: &Region, base: &Buffer, current: &Buffer) -> bool {
    let Region { start_line, end_line, new_start_line, new_end_line } = *region;
    let before = base.view().get(base.lines().block(start_line, end_line));
    base.has_same_encoding(current)
        && before == current.view().get(current.lines().block(new_start_line, new_end_line))
}

/// Returns the current lines that the edit conflicts with.
fn conflicting_lines(conflict: &RebaseConflict, buffer: &Buffer) -> Vec<EvidenceLine> {
    let Some(region) = conflict.change else { return Vec::new() };
    let preview = |line| buffer.lines().text(line).trim_end().chars().take(60).collect();
    let place = |line| EvidenceLine { line, preview: preview(line), symbol: None };
    (region.new_start_line..=region.new_end_line).take(MAX_PLACES).map(place).collect()
}

fn conflict(message: String, target: &ResolvedTarget, base: &Buffer, current: &CurrentText) -> Error {
    let version = current.buffer.version().to_string();
    let hint = format!("build the edit on the current version, {version}");
    let diff = difference(target.place.in_root(), Some(base), &current.buffer);
    let since = Since { path: None, noun: target.place.noun().to_owned(), version, diff };
    let error = Error::new(Code::EditConflict, message).hint(hint).since(since);
    // A call that waited for its lock named no version.
    if target.initial_text.is_some() { error } else { error.field("expected_version") }
}

fn unknown_version(version: &str, target: &ResolvedTarget, current: &CurrentText) -> Error {
    let (noun, now) = (target.place.noun(), current.buffer.version().to_string());
    let expected = Version::describe_requested(version);
    let message = format!("version {expected} was expected, but the {noun} has version {now}");
    let since = Since { path: None, noun: noun.to_owned(), version: now, diff: String::new() };
    let next = NextCall::read_around(1, 1, current.buffer.lines().count());
    Error::new(Code::EditConflict, message).field("expected_version").since(since).with_next_if(next)
}
