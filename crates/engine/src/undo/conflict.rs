//! The error of an undo or redo whose files have changed since.

use super::super::resolve::resolve_for_read;
use super::super::services::Services;
use super::choose::is_same_author;
use super::reversal::{Reversal, verb};
use lockgate_edit::request::{Direction, Target, UndoRequest};
use lockgate_error::{Code, Disk, Error, ErrorFamily};
use lockgate_store::{DefaultOwner, Entry, EntryKind, FileChange};

/// The number of recent edits among which an older one is sought for a proposal.
const OLDER_ENTRIES: usize = 1_000;

/// The number of older edits that are tried for a proposal.
const OLDER_EDITS: usize = 20;

/// True if the files of a reversal are not as it expects them. If a file exists where one is to be restored, or something
/// else has its name, another program made that.
pub(super) fn is_conflict(error: &Error) -> bool {
    matches!(
        error.code,
        Code::EditConflict | Code::FileExists | Code::FileNotFound | Code::NotAFile | Code::PathOutsideRoot
    )
}

/// True if another program wrote a file while the reversal did, so that the same request may succeed now.
fn is_overtaken(error: &Error) -> bool {
    error.code == Code::EditConflict && error.since.is_none() && error.field.is_none()
}

/// True if an error can concern this one edit, so that an older one may still be undone.
fn is_of_edit(error: &Error) -> bool {
    let is_of_file = matches!(
        error.code.family(),
        ErrorFamily::Request | ErrorFamily::Target | ErrorFamily::Access | ErrorFamily::Gate
    );
    let is_of_file = is_of_file && error.code != Code::NotConfirmed;
    (is_of_file || error.code == Code::EditConflict) && error.disk == Disk::Untouched
}

impl Services {
    /// Rewords a conflict, and names the next older edit to a caller who named no edit.
    pub(super) fn as_rejection(&self, error: Error, reversal: &Reversal, request: &UndoRequest) -> Error {
        let is_resent = is_overtaken(&error);
        let error = if is_conflict(&error) { self.as_conflict(error, reversal) } else { error };
        if request.edit_id.is_some() || is_resent || !is_of_edit(&error) {
            return error;
        }
        let Some(older) = self.older_proposal(reversal, request.target.as_ref()) else { return error };
        let hint = format!("{}{older}", error.next_step());
        error.hint(hint)
    }

    /// Rewords a conflict for a caller who named no version.
    fn as_conflict(&self, mut error: Error, reversal: &Reversal) -> Error {
        let own_hint = match (is_overtaken(&error), error.disk) {
            (_, Disk::Unknown) => error.hint.take().map(String::from),
            (true, Disk::Untouched) => Some("send the request again".to_owned()),
            (false, Disk::Untouched) => None,
        };
        error.code = Code::EditConflict;
        let Reversal { entry, direction, .. } = reversal;
        let files: Vec<&str> = entry.changes.iter().map(|change| change.path.as_str()).take(3).collect();
        let verb = verb(*direction);
        let is_unnamed = entry.changes.len() > 1 && !error.names_target();
        let conflicting = if is_unnamed { self.conflicting_file(&error, reversal) } else { None };
        let only = entry.changes.first().filter(|_| entry.changes.len() == 1);
        let file = conflicting.or(only).filter(|changed| changed.entity.is_none());
        if let Some(since) = &mut error.since {
            since.path = file.map(|changed| changed.path.clone());
        }
        let name = conflicting.map(|changed| format!("{}: ", changed.path)).unwrap_or_default();
        error.message =
            format!("edit {} of {} cannot be {verb}: {name}{}", entry.id, files.join(", "), error.message);
        error.field = None;
        if let Some(changed) = conflicting {
            error = error.naming_target(&changed.path);
        }
        let hint = own_hint.unwrap_or_else(|| conflict_hint(&error, reversal));
        error.hint(hint)
    }

    /// Returns the proposal to undo the next older edit, by the same author and of the target if there is one, that meets no
    /// conflict; `None` for a redo.
    fn older_proposal(&self, reversal: &Reversal, target: Option<&Target>) -> Option<String> {
        let Reversal { entry, direction, .. } = reversal;
        if *direction == Direction::Redo {
            return None;
        }
        let entries = match target {
            // The journal of files does not have the edits of entities in between.
            None if entry.changes.iter().any(|changed| changed.entity.is_some()) => return None,
            None => self.store.journal.entries(None, OLDER_ENTRIES).ok()?,
            Some(target) => {
                let place = resolve_for_read(self, target, DefaultOwner::LastChanged).ok()?;
                self.entries_of(&place, OLDER_ENTRIES).ok()?
            }
        };
        let is_older = |older: &&Entry| {
            older.at < entry.at
                && older.meta.kind == EntryKind::Edit
                && !older.undone
                && older.changes.iter().all(|changed| changed.kept)
                && is_same_author(&older.meta.author, &entry.meta.author)
        };
        let older =
            entries.iter().filter(is_older).take(OLDER_EDITS).find(|older| self.is_untouched(older))?;
        let path = older.changes.first().map_or("", |change| change.path.as_str());
        Some(format!(", or undo the next older edit, {} of {path}, by its `edit_id`", older.id))
    }

    /// Returns the file whose changes since the edit the conflict shows.
    fn conflicting_file<'a>(&self, conflict: &Error, reversal: &'a Reversal) -> Option<&'a FileChange> {
        let shown = &conflict.since.as_ref()?.version;
        let is_shown = |changed: &&FileChange| {
            let version = self.current_version(reversal.entry.id, changed).ok().flatten();
            version != reversal.versions(changed).0 && version.is_some_and(|now| now.to_string() == *shown)
        };
        let mut shown = reversal.changes().iter().filter(is_shown);
        // Two files can have the same text.
        shown.next().filter(|_| shown.next().is_none())
    }

    /// True if every file still has the text that the edit left, so that its undo meets no conflict.
    fn is_untouched(&self, entry: &Entry) -> bool {
        let has_version = |changed: &FileChange| {
            self.current_version(entry.id, changed).is_ok_and(|now| now == changed.after)
        };
        entry.changes.iter().all(has_version)
    }
}

/// Returns the next steps after a conflict.
fn conflict_hint(conflict: &Error, reversal: &Reversal) -> String {
    let id = reversal.entry.id;
    match conflict.since {
        Some(_) => format!("edit the current file; `since`, or `lockgate show {id}`, shows the earlier text"),
        None => format!("`lockgate show {id}` shows the earlier text"),
    }
}
