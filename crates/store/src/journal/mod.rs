//! The journal of edits: the request and its author, the text before and after, and the outcome.
//!
//! Each root has its own journal in the user's state folder, never in the repository. An edit is recorded
//! before the first byte under a target's name changes, and settled when all of it is applied. So after a
//! crash the next process finds the interrupted edit.
//!
//! Invariant: a returned text has the requested version; a text whose hash does not match counts as absent.

mod outside;
mod pending;
mod root_journal;
mod worker;

pub(super) use outside::NO_COPY;
pub use outside::OutsideChange;
pub use pending::PendingEdit;
pub(super) use root_journal::RootJournal;

use super::disk::inode::Inodes;
use super::file_write::FileWrite;
use super::files::Files;
use super::history::{EditFilter, EditId, EditMeta, Entry, RetentionLimits};
use super::paths::file_location::FileLocation;
use super::sql::{Database, DatabaseError, EntryState, JournalRow};
use super::state::StateFolder;
use lockgate_error::{Code, Error};
use lockgate_text::Buffer;
use std::path::PathBuf;
use std::sync::Arc;
use worker::Worker;

/// The journals of all roots; each is opened on first use.
#[derive(Debug)]
pub struct Journal {
    journals: Arc<[RootJournal]>,
    worker: Worker,
}

impl Journal {
    /// The journals of these roots in lockgate's state folder.
    pub fn open(state: &StateFolder, files: &Files) -> Journal {
        let base = |number: usize| (number == 0).then(|| files.base());
        let open_journal = |(number, root): (usize, &PathBuf)| RootJournal::new(state, root, base(number));
        let journals: Arc<[RootJournal]> = files.root_paths().iter().enumerate().map(open_journal).collect();
        Journal { worker: Worker::new(&journals), journals }
    }

    /// The reason why edits in the path's root are not recorded, if they are not.
    pub fn disabled_reason(&self, place: &FileLocation) -> Option<String> {
        root_journal::find(&self.journals, place)
            .map_or_else(|error| Some(error.message), RootJournal::disabled_reason)
    }

    /// Records the edit that is about to be published; `staged` are the names of the staged copies, one for
    /// each write, and `inodes` those of the copies if they exist already, in the same order.
    ///
    /// The record survives the end of the process at once, and a power cut after [`PendingEdit::sync`].
    ///
    /// Errors: `INVALID_INPUT` for writes in several roots, `NO_SPACE`, `STORE_UNAVAILABLE`.
    pub(super) fn begin(
        &self,
        meta: &EditMeta,
        writes: &[FileWrite<'_>],
        staged: &[String],
        inodes: &[Inodes],
    ) -> Result<PendingEdit, Error> {
        let rows = pending::rows(writes, staged)?;
        let first = writes.first().map(|write| write.place);
        let (database, number) = self.insert(first, meta, EntryState::Begun, &rows, inodes)?;
        Ok(PendingEdit::new(database, number))
    }

    /// Records changes that another program has already written, as one edit, undo or redo. The edit that is undone or
    /// redone is marked in the same transaction.
    ///
    /// Errors: `INVALID_INPUT` for files of several roots, and for an undo or redo of another journal's edit; `NO_SPACE`,
    /// `STORE_UNAVAILABLE`.
    pub fn record_outside(&self, meta: &EditMeta, changes: &[OutsideChange<'_>]) -> Result<EditId, Error> {
        let rows = outside::rows(changes)?;
        let first = changes.first().map(|change| change.place);
        let (database, number) = self.insert(first, meta, EntryState::Settled, &rows, &[])?;
        Ok(database.id(number))
    }

    /// Records an edit in the journal of the root of its first file; returns its number there.
    fn insert(
        &self,
        first: Option<&FileLocation>,
        meta: &EditMeta,
        state: EntryState,
        rows: &[JournalRow<'_>],
        inodes: &[Inodes],
    ) -> Result<(Arc<Database>, u64), Error> {
        let first =
            first.ok_or_else(|| Error::new(Code::Internal, "an edit without a file cannot be recorded"))?;
        root_journal::find(&self.journals, first)?.with_database(|database| {
            if let Err(error) = pending::check_kind(meta, database) {
                return Ok(Err(error));
            }
            let number = database.insert(meta, state, rows, inodes)?;
            Ok(Ok((Arc::clone(database), number)))
        })?
    }

    /// Returns the number of the root whose journal gave this id; `None` if none did, or if that journal cannot be read.
    pub fn root_of(&self, id: EditId) -> Option<usize> {
        let has_given =
            |journal: &RootJournal| journal.with_database(|database| database.has_given(id)) == Ok(true);
        self.journals.iter().position(has_given)
    }

    /// Takes the notes about journals that were set aside and are reported to nobody yet.
    pub fn take_notes(&self) -> Vec<String> {
        self.journals.iter().flat_map(RootJournal::take_notes).collect()
    }

    /// True if a process that has ended began an edit of this path. Call it only while the path's lock is
    /// held.
    pub fn has_interrupted_edit(&self, place: &FileLocation) -> Result<bool, Error> {
        self.interrupted_and_last(place).map(|(is_interrupted, _)| is_interrupted)
    }

    /// Does the same, and returns the last settled edit of the file with it, which has the change of this path alone.
    pub fn interrupted_and_last(&self, place: &FileLocation) -> Result<(bool, Option<Entry>), Error> {
        let journal = root_journal::find(&self.journals, place)?;
        let (is_interrupted, last) =
            journal.query(|database| database.unsettled_and_newest(place.in_root()))?;
        Ok((is_interrupted, last.map(|last| journal.shown(last))))
    }

    /// The journals of the roots, in the order of the roots.
    pub(super) fn root_journals(&self) -> &[RootJournal] {
        &self.journals
    }

    /// Returns the text of a version of the file, by the whole hash or a prefix of at least 12 hex digits;
    /// `None` if it was never kept, or was pruned.
    pub fn text(&self, place: &FileLocation, version: &str) -> Result<Option<Vec<u8>>, Error> {
        let journal = root_journal::find(&self.journals, place)?;
        let found = journal.query(|database| database.text(version))?;
        // It may have been read a moment ago and not be stored yet.
        if found.is_none() && self.worker.is_behind() && self.worker.wait() {
            journal.query(|database| database.text(version))
        } else {
            Ok(found)
        }
    }

    /// Keeps a text that a read returned, within these limits; the caller must check that it may be kept.
    ///
    /// A background thread does it, and shares the text until then. Failures are not reported.
    pub fn keep(&self, place: &FileLocation, text: Arc<Buffer>, bounds: RetentionLimits) {
        // Without room, nothing is kept.
        if bounds.size > 0 {
            self.worker.keep(place.root, text, bounds);
        }
    }

    /// Returns the entry with that id.
    ///
    /// Errors: `STORE_UNAVAILABLE` if no journal has it, and one cannot be read.
    pub fn entry(&self, id: EditId) -> Result<Option<Entry>, Error> {
        self.entry_of(id, Database::entry)
    }

    /// Returns the newest undo or redo of the entry with that id.
    ///
    /// Errors: `STORE_UNAVAILABLE` if no journal has it, and one cannot be read.
    pub fn last_reversal(&self, id: EditId) -> Result<Option<Entry>, Error> {
        self.entry_of(id, Database::last_reversal)
    }

    /// Returns the paths of the files of the entry with that id, each relative to its root; empty if no journal has it.
    ///
    /// Errors: `STORE_UNAVAILABLE` if no journal has it, and one cannot be read.
    pub fn recorded_paths(&self, id: EditId) -> Result<Vec<String>, Error> {
        let entry = self.found_in(id, Database::entry)?.map(|(_, entry)| entry);
        Ok(entry.into_iter().flat_map(|entry| entry.changes).map(|changed| changed.path).collect())
    }

    /// Returns the text of a version from the journal that gave this id, as [`Journal::text`] does.
    pub fn text_of(&self, id: EditId, version: &str) -> Result<Option<Vec<u8>>, Error> {
        let Some(journal) = self.root_of(id).and_then(|root| self.journals.get(root)) else {
            return Ok(None);
        };
        journal.with_database(|database| database.text(version))
    }

    fn entry_of(
        &self,
        id: EditId,
        find: fn(&Database, u64) -> Result<Option<Entry>, DatabaseError>,
    ) -> Result<Option<Entry>, Error> {
        Ok(self.found_in(id, find)?.map(|(journal, entry)| journal.shown(entry)))
    }

    fn found_in(
        &self,
        id: EditId,
        find: fn(&Database, u64) -> Result<Option<Entry>, DatabaseError>,
    ) -> Result<Option<(&RootJournal, Entry)>, Error> {
        let mut unread = None;
        for journal in self.journals.iter() {
            let found = journal.with_database(|database| match database.name() == id.journal() {
                true => find(database, id.number()),
                false => Ok(None),
            });
            match found {
                Ok(Some(entry)) => return Ok(Some((journal, entry))),
                Ok(None) => {}
                Err(error) => unread = Some(error),
            }
        }
        unread.map_or(Ok(None), Err)
    }

    /// Returns the last entries, the newest first, of one path or of all roots.
    ///
    /// Errors: `STORE_UNAVAILABLE` if one of the journals cannot be read.
    pub fn entries(&self, of: Option<&FileLocation>, most: usize) -> Result<Vec<Entry>, Error> {
        let entries = |journal: &RootJournal, path: Option<&str>| -> Result<Vec<Entry>, Error> {
            let entries = journal.with_database(|database| database.entries(path, most))?;
            Ok(entries.into_iter().map(|entry| journal.shown(entry)).collect())
        };
        if let Some(place) = of {
            return entries(root_journal::find(&self.journals, place)?, Some(place.in_root()));
        }
        let lists = self.journals.iter().map(|journal| entries(journal, None));
        Ok(merge(lists.collect::<Result<_, Error>>()?, most))
    }

    /// Returns the last entries of a path by its text alone, wherever it leads now: those of all roots that it can lie in.
    ///
    /// Errors: `STORE_UNAVAILABLE` if one of the journals cannot be read.
    pub fn entries_by_text(&self, path: &str, most: usize) -> Result<Vec<Entry>, Error> {
        let absolute = self.journals.first().and_then(|first| first.absolute(path));
        let mut lists = Vec::new();
        for journal in self.journals.iter() {
            let path = absolute.as_deref().and_then(|absolute| journal.path_in_root(absolute));
            let Some(path) = path else { continue };
            let entries = journal.with_database(|database| database.entries(Some(path), most))?;
            lists.push(entries.into_iter().map(|entry| journal.shown(entry)).collect());
        }
        Ok(merge(lists, most))
    }

    /// Returns the first edit that passes the filter, of one path or of all roots.
    ///
    /// Errors: `STORE_UNAVAILABLE` if one of the journals cannot be read. A path without a journal has no settled edit.
    pub fn newest(&self, filter: EditFilter, of: Option<&FileLocation>) -> Result<Option<Entry>, Error> {
        let Some(place) = of else { return self.newest_of_all(filter) };
        let journal = root_journal::find(&self.journals, place)?;
        let find = |database: &Arc<Database>| database.newest(filter, place.in_root());
        let newest = match filter {
            EditFilter::Settled => journal.query(find),
            EditFilter::ToUndo | EditFilter::ToRedo => journal.with_database(find),
        };
        Ok(newest?.map(|newest| journal.shown(newest)))
    }

    /// Prunes the oldest entries until the journal of a path's root is within its limits; call it after each edit.
    ///
    /// The cost is a look at the files' sizes: a background thread does the rest.
    ///
    /// Errors: the reason why the last run failed.
    pub fn tidy(&self, of: &FileLocation, bounds: RetentionLimits) -> Result<(), Error> {
        let is_untidy = root_journal::find(&self.journals, of)?.is_untidy(bounds);
        if is_untidy { self.worker.tidy(of.root, bounds) } else { Ok(()) }
    }

    /// Returns the first matching edit in all journals: the last one by the time that counts.
    ///
    /// Of two edits undone in the same moment, the older was undone last, because the newest goes first.
    /// A journal that cannot be read is an error, because the edit may be in it.
    fn newest_of_all(&self, filter: EditFilter) -> Result<Option<Entry>, Error> {
        let mut found = Vec::new();
        for (number, journal) in self.journals.iter().enumerate() {
            if let Some((at, entry)) = journal.with_database(|database| database.last(filter))? {
                found.push((at, (entry.at, number), journal.shown(entry)));
            }
        }
        let newest = found.into_iter().max_by(|(one_at, one, _), (other_at, other, _)| {
            let order = if matches!(filter, EditFilter::ToRedo) { other.cmp(one) } else { one.cmp(other) };
            one_at.cmp(other_at).then(order)
        });
        Ok(newest.map(|(.., entry)| entry))
    }
}

/// Merges lists of entries, each the newest first, into one list of at most `most` entries.
///
/// The order within a list stays, even where its times run backwards because the clock was set.
fn merge(lists: Vec<Vec<Entry>>, most: usize) -> Vec<Entry> {
    let mut lists: Vec<_> = lists.into_iter().map(|list| list.into_iter().peekable()).collect();
    let mut all: Vec<Entry> = Vec::new();
    while all.len() < most {
        let heads = lists.iter_mut().enumerate();
        let newest = heads.filter_map(|(number, list)| Some((list.peek()?.at, number))).max();
        let Some(list) = newest.and_then(|(_, number)| lists.get_mut(number)) else { break };
        all.extend(list.next());
    }
    all
}

#[cfg(test)]
mod tests;
