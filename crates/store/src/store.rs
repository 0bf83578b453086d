//! The stores of a workspace, and the edits of all their documents.

use super::files::Files;
use super::history::{EditId, Entry};
use super::journal::Journal;
use super::rows::EntityStore;
use lockgate_error::Error;

/// The files and the rows of a workspace, with their journals.
#[derive(Debug)]
pub struct Store {
    /// The files below the roots.
    pub files: Files,
    /// The journal of the files.
    pub journal: Journal,
    /// The entities in a database, with their history.
    pub rows: EntityStore,
}

impl Store {
    /// Returns the entry with that id.
    ///
    /// Only the journal that gave the id is read: that of a root, or that of the entities.
    pub fn entry(&self, id: EditId) -> Result<Option<Entry>, Error> {
        self.or_of_row(id, self.journal.entry(id), EntityStore::entry)
    }

    /// Returns the newest undo or redo of the edit with this id, from the journal that gave the id.
    pub fn last_reversal(&self, id: EditId) -> Result<Option<Entry>, Error> {
        self.or_of_row(id, self.journal.last_reversal(id), EntityStore::last_reversal)
    }

    /// Returns the entry of a file, or else that of an entity unless the journal of a root gave the id.
    fn or_of_row(
        &self,
        id: EditId,
        of_file: Result<Option<Entry>, Error>,
        find: fn(&EntityStore, EditId) -> Result<Option<Entry>, Error>,
    ) -> Result<Option<Entry>, Error> {
        match of_file {
            Ok(Some(entry)) => Ok(Some(entry)),
            of_no_file if self.journal.root_of(id).is_some() => of_no_file,
            of_no_file => find(&self.rows, id)?.map_or(of_no_file, |entry| Ok(Some(entry))),
        }
    }

    /// Returns the last entries of all documents that the caller may access, the newest first.
    ///
    /// If the database of entities cannot be used, the entries of files are returned without theirs.
    ///
    /// Errors: `STORE_UNAVAILABLE` if the journal of a root cannot be read, or if the database of entities cannot be
    /// used and no file has an entry.
    pub fn entries(&self, most: usize) -> Result<Vec<Entry>, Error> {
        let mut all = self.journal.entries(None, most)?;
        match self.rows.entries(None, most) {
            Ok(rows) if rows.is_empty() => {}
            Ok(rows) => {
                all.extend(rows);
                all.sort_by_key(|entry| std::cmp::Reverse(entry.at));
                all.truncate(most);
            }
            Err(error) if all.is_empty() => return Err(error),
            Err(error) => tracing::warn!("edits of entities are not listed: {}", error.message),
        }
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::{EditMeta, EntryKind};
    use crate::journal::OutsideChange;
    use crate::sql::rows::EntityDatabase;
    use crate::state::StateFolder;
    use crate::tenant::Tenant;
    use lockgate_error::Code;
    use lockgate_text::Version;
    use std::path::Path;
    use std::sync::Arc;
    use tempfile::TempDir;

    /// Returns the store of a root, with the database of entities in this file.
    fn store(dir: &TempDir, database: &Path) -> Store {
        let (root, own) = (dir.path().join("root"), dir.path().join("own"));
        std::fs::create_dir_all(&root).unwrap();
        let roots = [root.canonicalize().unwrap()];
        let files = Files::open(&roots).unwrap();
        let journal = Journal::open(&StateFolder::at(Ok(own.clone()), Ok(own), &roots), &files);
        let database = EntityDatabase::from_url(&format!("sqlite:{}", database.display())).unwrap();
        Store { files, journal, rows: EntityStore::new(Arc::new(database), Tenant::Global) }
    }

    /// Records an edit of a file.
    fn record(store: &Store) -> EditId {
        let place = store.files.admit("a.txt").unwrap();
        let change = OutsideChange {
            place: &place,
            before: None,
            is_known: true,
            after: Some(b"a"),
            mode: None,
            added: 1,
            removed: 0,
            keep: true,
        };
        let meta = EditMeta {
            tool: String::new(),
            author: String::new(),
            request: Version::hash(b""),
            kind: EntryKind::Edit,
            gates: String::new(),
        };
        store.journal.record_outside(&meta, &[change]).unwrap()
    }

    fn code<T>(result: Result<T, Error>) -> Option<Code> {
        result.err().map(|error| error.code)
    }

    #[test]
    fn the_history_of_files_needs_no_database_of_entities() {
        let dir = tempfile::tempdir().unwrap();
        let database = dir.path().join("content.db");
        std::fs::write(&database, "no database ".repeat(1000)).unwrap();
        let store = store(&dir, &database);
        let unavailable = Some(Code::StoreUnavailable);
        assert_eq!(code(store.rows.entries(None, 9)), unavailable, "the control");
        assert_eq!(code(store.entries(9)), unavailable, "an entity may have an edit, and no file has one");
        let id = record(&store);
        let ids = |entries: Vec<Entry>| entries.iter().map(|entry| entry.id).collect::<Vec<_>>();
        assert_eq!(store.entries(9).map(ids), Ok(vec![id]));
        assert_eq!(store.entry(id).map(|entry| entry.map(|entry| entry.id)), Ok(Some(id)));
        assert_eq!(store.last_reversal(id), Ok(None));
        // The journal of the root gave this id, and does not have the edit any more.
        store.journal.root_journals()[0].with_database(|database| database.forget_some(9)).unwrap();
        assert_eq!((store.entry(id), store.last_reversal(id)), (Ok(None), Ok(None)));
        // It did not give these, so they may be those of entities.
        let later = EditId::new(id.journal(), id.number() + 1);
        let other = EditId::new(id.journal().wrapping_add(1), id.number());
        for id in [later, other] {
            assert_eq!((code(store.entry(id)), code(store.last_reversal(id))), (unavailable, unavailable));
        }
    }

    #[test]
    fn edits_of_files_and_of_entities_are_listed_together() {
        let dir = tempfile::tempdir().unwrap();
        let store = store(&dir, &dir.path().join("content.db"));
        assert_eq!(store.entries(9), Ok(Vec::new()));
        let id = record(&store);
        assert_eq!(store.entries(9).unwrap()[0].id, id);
        let unknown = EditId::new(id.journal().wrapping_add(1), 1);
        assert_eq!(store.entry(unknown), Ok(None));
    }
}
