//! The error of an undo or redo whose files have changed since.

use super::super::resolve::resolve_for_read;
use super::super::services::Services;
use super::choose::{is_kept, is_same_author};
use super::reversal::{Reversal, verb};
use lockgate_edit::request::{Direction, Target, UndoRequest};
use lockgate_error::{Code, Disk, Error, ErrorFamily};
use lockgate_store::{DefaultOwner, EditFilter, EditId, Entry, EntryKind, FileChange, ProjectRoot};
use lockgate_text::{Buffer, Rebased};

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
        if is_resent || !is_of_edit(&error) {
            return error;
        }
        let other = match request.edit_id {
            Some(_) => self.later_proposal(reversal),
            None => self.older_proposal(reversal, request.target.as_ref()),
        };
        let Some(other) = other else { return error };
        let hint = format!("{}{other}", error.next_step());
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
        let hint = own_hint.unwrap_or_else(|| conflict_hint(&error, &self.show_command(entry.id)));
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
                && is_kept(older)
                && is_same_author(&older.meta.author, &entry.meta.author)
        };
        let older =
            entries.iter().filter(is_older).take(OLDER_EDITS).find(|older| self.can_be_undone(older))?;
        let path = older.changes.first().map_or("", |change| change.path.as_str());
        Some(format!(", or undo the next older edit, {} of {path}, by its `edit_id`", older.id))
    }

    /// Returns the proposal to undo the newest edit of the file first, if this one meets no conflict then.
    fn later_proposal(&self, reversal: &Reversal) -> Option<String> {
        let ([changed], Direction::Undo) = (reversal.changes(), reversal.direction) else { return None };
        let (target, current) = self.changed_text(reversal.entry.id, changed).ok()?;
        let newest = target.place.newest(&self.store, EditFilter::ToUndo).ok()??;
        let [last] = newest.changes.as_slice() else { return None };
        let is_in_place = newest.at > reversal.entry.at && last.after == current.text().map(Buffer::version);
        let before = self.stored_content(newest.id, last, last.before.filter(|_| is_in_place)?).ok()?;
        let before = current.buffer.read_other(before).ok()?;
        let is_free = self.can_be_rebased(reversal, changed, &before).unwrap_or(false);
        is_free.then(|| format!(", or undo the later edit {} first, by its `edit_id`", newest.id))
    }

    /// Returns the command that shows an edit. It names the root if that is not the project around its folder.
    fn show_command(&self, id: EditId) -> String {
        let roots = self.store.files.root_paths();
        let root = self.store.journal.root_of(id).and_then(|root| roots.get(root));
        match root.filter(|root| ProjectRoot::around(root).root != **root) {
            Some(root) => format!("lockgate show --root {} {id}", shell_word(&root.to_string_lossy())),
            None => format!("lockgate show {id}"),
        }
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

    /// True if the undo of an edit meets no conflict: each file still has the text that the edit left, or other changes
    /// elsewhere, which the undo keeps.
    fn can_be_undone(&self, entry: &Entry) -> bool {
        let reversal = self.reversal(entry.clone(), Direction::Undo);
        reversal.changes().iter().all(|changed| self.can_be_reverted(&reversal, changed).unwrap_or(false))
    }

    fn can_be_reverted(&self, reversal: &Reversal, changed: &FileChange) -> Result<bool, Error> {
        let (_, current) = self.changed_text(reversal.entry.id, changed)?;
        match current.text() {
            Some(current) => self.can_be_rebased(reversal, changed, current),
            None => Ok(reversal.versions(changed).0.is_none()),
        }
    }

    /// True if a reversal of a file meets no conflict in this text.
    fn can_be_rebased(
        &self,
        reversal: &Reversal,
        changed: &FileChange,
        current: &Buffer,
    ) -> Result<bool, Error> {
        let (id, (from, to)) = (reversal.entry.id, reversal.versions(changed));
        if from == Some(current.version()) {
            return Ok(true);
        }
        let (Some(from), Some(to)) = (from, to) else { return Ok(false) };
        let from = current.read_other(self.stored_content(id, changed, from)?)?;
        let to = current.read_other(self.stored_content(id, changed, to)?)?;
        let is_plain = from.has_same_encoding(&to);
        Ok(is_plain && matches!(from.plan_to(&to)?.rebase(&from, current)?, Rebased::Plan(_)))
    }
}

/// Returns the next steps after a conflict.
fn conflict_hint(conflict: &Error, show: &str) -> String {
    match conflict.since {
        Some(_) => format!("edit the current file; `since`, or `{show}`, shows the earlier text"),
        None => format!("`{show}` shows the earlier text"),
    }
}

/// Returns a text as one word of a shell.
fn shell_word(text: &str) -> String {
    let is_plain = |char: char| char.is_alphanumeric() || "/._-+@".contains(char);
    if text.chars().all(is_plain) { text.to_owned() } else { format!("'{}'", text.replace('\'', r"'\''")) }
}
