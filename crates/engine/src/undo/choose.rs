//! Chooses the edit that a request undoes or redoes.

use std::cmp::Reverse;
use std::mem;

use super::super::entity::describe;
use super::super::resolve::{in_all_roots, resolve_for_read};
use super::super::services::Services;
use super::reversal::{Reversal, entry_kind, is_in_state, opposite};
use lockgate_checks::sanitize;
use lockgate_edit::request::{AuthorName, Direction, Target, UndoRequest, Whose};
use lockgate_error::{Code, Error, NextCall};
use lockgate_store::{
    DefaultOwner, DocumentPath, EditFilter, EditId, EditMeta, Entry, EntryKind, FileChange, UnrecordedEdit,
};

/// The numbers of recent edits among which the last one of an author is sought, one after the other until it is found.
const RECENT_ENTRIES: [usize; 3] = [1_000, 10_000, 100_000];

/// The number of recent entries among which the undo or redo of an edit is sought that is no longer in the journal itself.
const RECENT_REVERSALS: usize = 1_000;

/// The number of recent edits of entities among which one is sought that is later than the undone edit.
const RECENT_ENTITY_EDITS: usize = 100;

/// The fields of a request that name its target.
const TARGET_FIELDS: [&str; 4] = ["path", "entity_type", "app_id", "organization_id"];

/// The next step if there is no such edit.
const HISTORY_HINT: &str = "list the edits in the journal; `lockgate log` prints them";

impl Services {
    /// Finds the edit that the request names.
    pub(super) fn prepare(&self, revert: &UndoRequest) -> Result<Reversal, Error> {
        let unrecorded = self.recover_for_history();
        let resolve = |target| self.resolve_for_history(target);
        let place = revert.target.as_ref().map(resolve).transpose()?;
        check_recorded(revert, self.unrecorded_in_roots(unrecorded, revert, place.as_ref()))?;
        if let Some(id) = &revert.edit_id {
            let entry = self.reverted(id.parse()?)?;
            if let (Some(target), Some(place)) = (&revert.target, &place) {
                self.check_target(&entry, target, place)?;
            }
            let (entry, direction) = self.resolve(entry, revert.direction)?;
            return Ok(self.reversal(entry, direction));
        }
        if place.is_none() && revert.whose == Whose::Author {
            return self.last_of_author(revert, &RECENT_ENTRIES);
        }
        let found = match &place {
            Some(place) => self.newest_of(place, revert.direction)?,
            None => self.store.journal.newest(edit_filter(revert.direction), None)?,
        };
        let found = self.or_pruned(found, place.as_ref(), revert.direction)?;
        let entry = found.ok_or_else(|| self.nothing_to_revert(revert.direction, place.as_ref()))?;
        Ok(self.reversal(entry, revert.direction))
    }

    /// Finds the last edit of a document, or the one that was undone last: of a file in the journals of all roots that contain
    /// it.
    fn newest_of(&self, place: &DocumentPath, direction: Direction) -> Result<Option<Entry>, Error> {
        let places = in_all_roots(self, place);
        let found = places.iter().map(|place| place.newest(&self.store, edit_filter(direction)));
        // Of two edits that were undone in the same moment, the older was undone last.
        let with_order = |entry: Entry| -> Result<_, Error> {
            let order = match direction {
                Direction::Undo => (Some(entry.at), None),
                Direction::Redo => {
                    let undo = self.store.last_reversal(entry.id)?;
                    (undo.map(|undo| undo.at), Some(Reverse(entry.at)))
                }
            };
            Ok((order, entry))
        };
        let found = found.filter_map(Result::transpose).map(|entry| with_order(entry?));
        let found = found.collect::<Result<Vec<_>, Error>>()?;
        Ok(found.into_iter().max_by_key(|(order, _)| *order).map(|(_, entry)| entry))
    }

    /// Returns those of these edits that are in a root which contains the document, or all of them without a document. Those
    /// that stop a call without an id and a path name the calls that can be made in other roots.
    fn unrecorded_in_roots(
        &self,
        mut unrecorded: Vec<UnrecordedEdit>,
        revert: &UndoRequest,
        place: Option<&DocumentPath>,
    ) -> Vec<UnrecordedEdit> {
        let root_of = |edit: &UnrecordedEdit| self.store.journal.root_of(edit.id);
        if let Some(place) = place {
            let places = in_all_roots(self, place);
            let has_root =
                |root| places.iter().filter_map(DocumentPath::file).any(|file| file.root() == root);
            unrecorded.retain(|edit| root_of(edit).is_none_or(has_root));
        } else if revert.edit_id.is_none() {
            let roots = self.store.files.root_paths();
            for edit in &mut unrecorded {
                let root = root_of(edit).and_then(|root| roots.get(root)).filter(|_| roots.len() > 1);
                let Some(root) = root else { continue };
                let (hint, root) = (edit.error.next_step(), root.display());
                let hint = format!("{hint}, or name the `path` or the `edit_id` of an edit outside {root}");
                edit.error.hint = Some(hint.into());
            }
        }
        unrecorded
    }

    pub(super) fn reversal(&self, entry: Entry, direction: Direction) -> Reversal {
        let wanted = entry_kind(opposite(direction), entry.id);
        // Without it, the edit itself is reverted or made again.
        let last = self.store.last_reversal(entry.id).ok().flatten();
        // An entry has fewer files if the others already were in that state.
        let is_whole = |last: &Entry| last.changes.len() == entry.changes.len() && is_kept(last);
        let last = last.filter(|last| last.meta.kind == wanted && is_whole(last));
        let own = Reversal { last: None, entry: entry.clone(), direction };
        let by_last = Reversal { last, entry, direction };
        if by_last.last.is_none() || (self.fits(&own) && !self.fits(&by_last)) { own } else { by_last }
    }

    /// True if every file has the version from which a reversal starts.
    fn fits(&self, reversal: &Reversal) -> bool {
        let fits = |changed: &FileChange| {
            let now = self.current_version(reversal.entry.id, changed);
            now.is_ok_and(|now| now == reversal.versions(changed).0)
        };
        reversal.changes().iter().all(fits)
    }

    /// Rejects a target that the edit of the same request did not change. An app or an organisation that the request leaves out
    /// may be any.
    ///
    /// Errors: `INVALID_INPUT`, with the field that does not fit.
    fn check_target(&self, entry: &Entry, target: &Target, place: &DocumentPath) -> Result<(), Error> {
        let is_file = |changed: &FileChange| {
            let other = resolve_for_read(self, &changed.target(), DefaultOwner::Global);
            other.is_ok_and(|other| other.key() == place.key())
        };
        let fits = |changed: &FileChange| match (target.entity(), &changed.entity) {
            (None, None) => [is_file(changed), true, true, true],
            (Some(named), Some(entity)) => [
                named.path == entity.path,
                named.kind == entity.kind,
                named.app_id.is_none() || named.app_id == entity.app_id,
                named.organization_id.is_none() || named.organization_id == entity.organization_id,
            ],
            (None, Some(_)) | (Some(_), None) => [target.display_path() == changed.path, false, true, true],
        };
        let first_wrong = |changed: &FileChange| {
            fits(changed).iter().position(|is_right| !is_right).unwrap_or(TARGET_FIELDS.len())
        };
        let closest = entry.changes.iter().map(first_wrong).max().unwrap_or(0);
        let Some(field) = TARGET_FIELDS.get(closest) else { return Ok(()) };
        let names: Vec<String> =
            entry.changes.iter().map(|changed| describe(&changed.target())).take(3).collect();
        let message = format!("edit {} is of {}, not of {}", entry.id, names.join(", "), describe(target));
        let hint = format!("correct `{field}`, or send `edit_id` alone");
        Err(Error::new(Code::InvalidInput, message).field(*field).hint(hint))
    }

    /// Finds the last edit of the author of the request, or the edit that they undid last, among the `recent` edits.
    pub(super) fn last_of_author(&self, revert: &UndoRequest, recent: &[usize]) -> Result<Reversal, Error> {
        let (author, direction) = (&revert.author.name, revert.direction);
        if author.is_empty() {
            let message = "the call names no client, so it is not known which edit is its last one";
            let error = Error::new(Code::InvalidInput, message).field("edit_id");
            return Err(error.hint("send the `edit_id` of the answer to the edit"));
        }
        let mut entries = Vec::new();
        for most in recent {
            entries = self.store.journal.entries(None, *most)?;
            if let Some(entry) = self.last_among(&entries, author, direction)? {
                return Ok(self.reversal(entry, direction));
            }
            if entries.len() < *most {
                break;
            }
        }
        if direction == Direction::Undo {
            let own = entries.iter().filter(|entry| is_same_author(&entry.meta.author, author));
            if let Some(pruned) = self.last_pruned(own, direction)? {
                return Ok(self.reversal(pruned, direction));
            }
        }
        let other = entries.iter().find(|entry| entry.is_undoable()).filter(|other| is_kept(other));
        Err(nothing_of_author(self.nothing_to_revert(direction, None), direction, other))
    }

    /// Finds the last edit of an author among these, or the edit that they undid last.
    fn last_among(
        &self,
        entries: &[Entry],
        author: &str,
        direction: Direction,
    ) -> Result<Option<Entry>, Error> {
        let mut own = entries.iter().filter(|entry| is_same_author(&entry.meta.author, author));
        match direction {
            Direction::Undo => Ok(own.find(|entry| entry.is_undoable()).cloned()),
            Direction::Redo => {
                let undone = own.filter_map(|entry| match entry.meta.kind {
                    EntryKind::Undo(of) => Some(of),
                    EntryKind::Edit | EntryKind::Redo(_) => None,
                });
                undone.filter_map(|of| self.find_reverted(of).transpose()).find(is_undone).transpose()
            }
        }
    }

    /// Undoing an undo redoes its edit, and the other way round.
    fn resolve(&self, entry: Entry, direction: Direction) -> Result<(Entry, Direction), Error> {
        match entry.meta.kind {
            EntryKind::Edit => Ok((entry, direction)),
            EntryKind::Redo(of) => Ok((self.reverted(of)?, direction)),
            EntryKind::Undo(of) => Ok((self.reverted(of)?, opposite(direction))),
        }
    }

    /// Returns the edit to undo or redo: this one, or one that is no longer in the journal itself and was undone later, or for an
    /// undo, which is older than any in the journal, redone.
    fn or_pruned(
        &self,
        known: Option<Entry>,
        place: Option<&DocumentPath>,
        direction: Direction,
    ) -> Result<Option<Entry>, Error> {
        if known.is_some() && direction == Direction::Undo {
            return Ok(known);
        }
        let entries = match place {
            Some(place) => self.entries_of(place, RECENT_REVERSALS)?,
            None => self.store.journal.entries(None, RECENT_REVERSALS)?,
        };
        let known_undo = known.as_ref().map(|known| EntryKind::Undo(known.id));
        let later = entries.iter().take_while(|entry| Some(entry.meta.kind) != known_undo);
        Ok(self.last_pruned(later, direction)?.or(known))
    }

    /// Returns the edit to undo or redo that the first of these entries redid or undid, and that is no longer in the journal
    /// itself.
    fn last_pruned<'a>(
        &self,
        entries: impl Iterator<Item = &'a Entry>,
        direction: Direction,
    ) -> Result<Option<Entry>, Error> {
        for entry in entries {
            let of = match (entry.meta.kind, direction) {
                (EntryKind::Undo(of), Direction::Redo) | (EntryKind::Redo(of), Direction::Undo) => of,
                _ => continue,
            };
            if self.store.entry(of)?.is_some() {
                continue;
            }
            if let Some(pruned) = self.find_reverted(of)?.filter(|pruned| !is_in_state(pruned, direction)) {
                return Ok(Some(pruned));
            }
        }
        Ok(None)
    }

    /// Returns the edit with this id; its last undo or redo stands for it if it is no longer in the journal itself.
    ///
    /// Errors: those of [`Services::entry`].
    pub(super) fn reverted(&self, id: EditId) -> Result<Entry, Error> {
        self.find_reverted(id)?.map_or_else(|| self.entry(id), Ok)
    }

    fn find_reverted(&self, id: EditId) -> Result<Option<Entry>, Error> {
        match self.store.entry(id)? {
            Some(entry) => Ok(Some(entry)),
            None => Ok(self.store.last_reversal(id)?.map(|last| pruned_edit(id, last))),
        }
    }

    fn nothing_to_revert(&self, direction: Direction, place: Option<&DocumentPath>) -> Error {
        // A database that cannot be asked may have some.
        let has_entity_edits =
            || self.store.rows.entries(None, 1).map_or(true, |entries| !entries.is_empty());
        let of = match place {
            Some(place) if place.entity().is_some() => format!(" of {} {}", place.noun(), place.shown()),
            Some(place) => format!(" of {}", place.shown()),
            None if has_entity_edits() => " of a file".to_owned(),
            None => String::new(),
        };
        let message = match direction {
            Direction::Undo => format!("there is no edit{of} to undo"),
            Direction::Redo => format!("no edit{of} was undone, so there is none to redo"),
        };
        let field = if place.is_some() { "path" } else { "edit_id" };
        Error::new(Code::InvalidInput, message).field(field).hint(HISTORY_HINT).with_next(NextCall::History)
    }

    /// Names the last edit of an entity in the error for an undo that finds no edit of a file.
    pub(super) fn with_entity_edit(&self, error: Error, revert: &UndoRequest) -> Error {
        if error.next.as_deref() != Some(&NextCall::History) {
            return error;
        }
        let Some(last) = self.last_entity_edit(revert) else { return error };
        error.hint(format!("the last edit is {}: send its `edit_id` to undo it", describe_edit(&last)))
    }

    /// Returns the note about an edit of an entity that is later than the edit of a file which was undone, because a call
    /// without an id and a path means only files.
    pub(super) fn newer_entity_edit(&self, revert: &UndoRequest, reversal: &Reversal) -> Option<String> {
        let newer = self.last_entity_edit(revert).filter(|last| last.at > reversal.entry.at)?;
        Some(format!("a later edit is {}: to undo it, send its `edit_id`", describe_edit(&newer)))
    }

    /// Returns the last edit of an entity that an undo without an id and a path would mean, if it meant entities.
    fn last_entity_edit(&self, revert: &UndoRequest) -> Option<Entry> {
        let is_bare = revert.edit_id.is_none() && revert.target.is_none();
        if !is_bare || revert.direction == Direction::Redo {
            return None;
        }
        let is_meant = |entry: &Entry| {
            let is_own = is_same_author(&entry.meta.author, &revert.author.name);
            let is_edit = entry.meta.kind == EntryKind::Edit && !entry.undone;
            is_edit && (is_own || revert.whose == Whose::Everyone)
        };
        let entries = self.store.rows.entries(None, RECENT_ENTITY_EDITS).ok()?;
        entries.into_iter().find(is_meant).filter(is_kept)
    }

    pub(crate) fn entry(&self, id: EditId) -> Result<Entry, Error> {
        self.store.entry(id)?.ok_or_else(|| {
            Error::new(Code::InvalidInput, format!("there is no edit {id} in the journal"))
                .field("edit_id")
                .hint(HISTORY_HINT)
                .with_next(NextCall::History)
        })
    }
}

/// Returns the filter for the edits that can be undone or redone.
const fn edit_filter(direction: Direction) -> EditFilter {
    match direction {
        Direction::Undo => EditFilter::ToUndo,
        Direction::Redo => EditFilter::ToRedo,
    }
}

/// Fails if an edit that the request could mean is missing in the history.
///
/// Errors: `NO_SPACE` or `STORE_UNAVAILABLE`.
pub(super) fn check_recorded(revert: &UndoRequest, unrecorded: Vec<UnrecordedEdit>) -> Result<(), Error> {
    let is_of_entity = revert.target.as_ref().is_some_and(|target| target.entity().is_some());
    let is_meant = |edit: &UnrecordedEdit| match &revert.edit_id {
        Some(id) => id.parse().is_ok_and(|id: EditId| edit.id.is_in_journal_of(id)),
        None => !is_of_entity,
    };
    unrecorded.into_iter().find(is_meant).map_or(Ok(()), |edit| Err(edit.error))
}

/// Returns an edit that is no longer in the journal itself, as its last undo or redo shows it.
fn pruned_edit(id: EditId, last: Entry) -> Entry {
    let undone = matches!(last.meta.kind, EntryKind::Undo(_));
    let mut changes = last.changes;
    for changed in changes.iter_mut().filter(|_| undone) {
        mem::swap(&mut changed.before, &mut changed.after);
        mem::swap(&mut changed.added, &mut changed.removed);
    }
    let meta = EditMeta { kind: EntryKind::Edit, ..last.meta };
    Entry { id, at: last.at, meta, undone, changes }
}

/// Returns true for an edit that is undone, and for an entry that cannot be read, which is then the error.
fn is_undone(entry: &Result<Entry, Error>) -> bool {
    entry.as_ref().map_or(true, |entry| entry.undone)
}

/// True if the journal keeps the texts of an edit, so that it can be undone.
pub(super) fn is_kept(entry: &Entry) -> bool {
    entry.changes.iter().all(|changed| changed.kept)
}

/// Names an edit and what it changed.
fn describe_edit(entry: &Entry) -> String {
    let changed = entry.changes.first().map(|changed| describe(&changed.target()));
    changed.map_or_else(|| entry.id.to_string(), |changed| format!("{} of {changed}", entry.id))
}

/// Returns true if two names of the journal mean the same author.
pub(super) fn is_same_author(one: &str, other: &str) -> bool {
    AuthorName::parse(one).is_same(&AuthorName::parse(other))
}

/// Rewords the error for an author without an edit to undo or redo; `other` is the last edit of another author.
fn nothing_of_author(mut error: Error, direction: Direction, other: Option<&Entry>) -> Error {
    let (Direction::Undo, Some(other)) = (direction, other) else { return error };
    let author = match &other.meta.author {
        nameless if nameless.is_empty() => "a client without a name".to_owned(),
        author => sanitize(author),
    };
    error.message = "there is no edit of yours to undo".to_owned();
    error.hint(format!("the last edit is {}, made by {author}: send it as `edit_id` to undo it", other.id))
}
