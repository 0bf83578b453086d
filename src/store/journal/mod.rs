//! What every edit was: who asked for what, which text stood there before and after, and what became of it.
//!
//! Each root has a journal of its own in the user's state folder, never in the repository. An edit is written down before
//! the first byte under a target's name changes, and settled when all of it is there; so whoever comes after a crash finds
//! what was under way.
//!
//! Invariant: a text that is handed out has the stamp by which it was asked for; what cannot be proved is not there.

mod begun;
mod entry;
mod id;
mod recovery;
mod root_journal;
mod worker;

pub use begun::PendingEdit;
pub use entry::{EditMeta, Entry, EntryKind, FileChange};
pub use id::EditId;

use super::file_place::FilePlace;
use super::files::Files;
use super::locks::Locks;
use super::publish::{Content, FileWrite};
use super::sql::EditFilter;
use super::state::StateFolder;
use crate::error::Error;
use root_journal::RootJournal;
use std::cmp::Reverse;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use worker::Worker;

/// How much is remembered, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetentionLimits {
    /// The most bytes on the disk.
    pub size: u64,
    /// The greatest age.
    pub age: Duration,
}

/// The journals of all roots; each is opened when it is first needed.
#[derive(Debug)]
pub struct Journal {
    books: Arc<[RootJournal]>,
    worker: Worker,
}

impl Journal {
    /// The journals of these roots within lockgate's own folder.
    pub fn beside(state: &StateFolder, files: &Files) -> Journal {
        let base = |number: usize| (number == 0).then(|| files.base());
        let book = |(number, root): (usize, &PathBuf)| RootJournal::new(state, root, base(number));
        let books: Arc<[RootJournal]> = files.root_paths().iter().enumerate().map(book).collect();
        Journal { worker: Worker::new(&books), books }
    }

    /// Why edits of the place's root are not remembered, where they are not.
    pub fn trouble(&self, place: &FilePlace) -> Option<String> {
        root_journal::find(&self.books, place).map_or_else(|error| Some(error.message), RootJournal::trouble)
    }

    /// Writes down what is about to be published; `staged` are the names of the staged copies, one for each write.
    ///
    /// It survives the end of the process at once, and a power cut after [`Begun::sync`].
    ///
    /// Errors: `INVALID_INPUT` for writes in several roots, `NO_SPACE`, `STORE_UNAVAILABLE`.
    pub(super) fn begin(
        &self,
        deed: &EditMeta,
        writes: &[FileWrite<'_>],
        staged: &[String],
    ) -> Result<PendingEdit, Error> {
        let rows = begun::rows(writes, staged)?;
        let first = writes.first().ok_or_else(begun::nothing)?;
        root_journal::find(&self.books, first.place)?.with(|database| {
            begun::own_kind(deed, database)?;
            database.begin(deed, &rows).map(|number| PendingEdit::new(database, number))
        })
    }

    /// The last settled change of the place's file.
    pub fn latest(&self, place: &FilePlace) -> Result<Option<Entry>, Error> {
        self.newest(EditFilter::Settled, place)
    }

    /// Whether an edit of this place was begun by a process that has ended; to be asked only while its lock is held.
    pub fn stale(&self, place: &FilePlace) -> Result<bool, Error> {
        root_journal::find(&self.books, place)?.look(|database| database.is_begun(place.in_root()))
    }

    /// Completes or takes back what processes that have ended left half done; gives back what a person should know.
    ///
    /// What another process is still at is left to it.
    pub fn recover(&self, files: &Files, locks: &Locks) -> Vec<String> {
        let books = self.books.iter().enumerate();
        books.flat_map(|(root, book)| recovery::recover(book, root, files, locks)).collect()
    }

    /// The text of a version of the place's file, whole stamp or a prefix of at least 12 hex digits; `None` where it was
    /// never kept, or is no longer.
    pub fn text(&self, place: &FilePlace, version: &str) -> Result<Option<Vec<u8>>, Error> {
        let book = root_journal::find(&self.books, place)?;
        let found = book.look(|database| database.text(version))?;
        // It may have been read a moment ago, and not be written down yet.
        if found.is_none() && self.worker.is_behind() && self.worker.wait() {
            book.look(|database| database.text(version))
        } else {
            Ok(found)
        }
    }

    /// Keeps a text that a read handed out; the caller sees to it that it may be kept.
    ///
    /// It costs a copy of the text: the rest is done beside. Trouble is not told.
    pub fn keep(&self, place: &FilePlace, text: Content<'_>) {
        self.worker.keep(place.root, text);
    }

    /// The entry of that name.
    pub fn entry(&self, id: EditId) -> Result<Option<Entry>, Error> {
        for book in self.books.iter() {
            let named = |database: &super::sql::Database| {
                if database.name() == id.journal() { database.entry(id.number()) } else { Ok(None) }
            };
            if let Some(entry) = book.entry(named)? {
                return Ok(Some(entry));
            }
        }
        Ok(None)
    }

    /// The last entries, the newest first; those of one place, or of all roots.
    pub fn entries(&self, of: Option<&FilePlace>, most: usize) -> Result<Vec<Entry>, Error> {
        if let Some(place) = of {
            let book = root_journal::find(&self.books, place)?;
            let entries = book.look(|database| database.entries(Some(place.in_root()), most))?;
            return Ok(entries.into_iter().map(|entry| book.shown(entry)).collect());
        }
        let mut lists = Vec::with_capacity(self.books.len());
        for book in self.books.iter() {
            let entries = book.look(|database| database.entries(None, most))?;
            lists.push(entries.into_iter().map(|entry| book.shown(entry)).collect());
        }
        Ok(merge(lists, most))
    }

    /// The newest edit that has not been taken back; of one place, or of all roots.
    pub fn to_undo(&self, of: Option<&FilePlace>) -> Result<Option<Entry>, Error> {
        match of {
            Some(place) => self.newest(EditFilter::ToUndo, place),
            None => self.last(EditFilter::ToUndo, |at, number, _| (at, number)),
        }
    }

    /// The edit that was taken back last and still is; of one place, or of all roots.
    ///
    /// Of two that were taken back in the same moment the older edit was taken back last, as the newest goes first.
    pub fn to_redo(&self, of: Option<&FilePlace>) -> Result<Option<Entry>, Error> {
        match of {
            Some(place) => self.newest(EditFilter::ToRedo, place),
            None => {
                self.last(EditFilter::ToRedo, |at, number, entry| (at, Reverse(entry.at), Reverse(number)))
            }
        }
    }

    /// Forgets the oldest until the journals are within their bounds; to be called after each edit.
    ///
    /// It costs a look at the files' sizes: what there is to do is done beside.
    ///
    /// Errors: why it could not be done the last time.
    pub fn tidy(&self, bounds: RetentionLimits) -> Result<(), Error> {
        if self.books.iter().any(|book| book.is_untidy(bounds)) { self.worker.tidy(bounds) } else { Ok(()) }
    }

    fn newest(&self, wanted: EditFilter, of: &FilePlace) -> Result<Option<Entry>, Error> {
        root_journal::find(&self.books, of)?.entry(|database| database.newest(wanted, of.in_root()))
    }

    /// The last of the wanted edits in all journals: the one with the greatest key, which is made from the time that
    /// counts, the number of the root, and the entry.
    ///
    /// A journal that cannot be read is an error: the last edit may be in it.
    fn last<K: Ord>(
        &self,
        wanted: EditFilter,
        key: impl Fn(SystemTime, usize, &Entry) -> K,
    ) -> Result<Option<Entry>, Error> {
        let mut last: Option<(K, Entry)> = None;
        for (number, book) in self.books.iter().enumerate() {
            let Some((at, entry)) = book.look(|database| database.last(wanted))? else { continue };
            let key = key(at, number, &entry);
            if last.as_ref().is_none_or(|(greatest, _)| key > *greatest) {
                last = Some((key, book.shown(entry)));
            }
        }
        Ok(last.map(|(_, entry)| entry))
    }
}

/// Merges lists of entries, each the newest first, into one of at most so many.
///
/// The order within a list stays, also where its times run backwards because the clock was set.
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

#[cfg(feature = "journal")]
#[cfg(test)]
mod tests;
