//! The journal of one root: its database, opened on first use.
//!
//! Invariant: a broken database is set aside and created anew once; entries never come from another root's
//! journal.

use crate::history::{Entry, RetentionLimits};
use crate::paths::file_location::FileLocation;
use crate::paths::project::relative;
use crate::paths::spelling;
use crate::sql::{Database, DatabaseError};
use crate::state::StateFolder;
use lockgate_error::Error;
use parking_lot::{Mutex, RwLock};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The journal of one root.
#[derive(Debug)]
pub(crate) struct RootJournal {
    state: StateFolder,
    root: PathBuf,
    /// For the first root, the folder below it that paths are relative to.
    base: Option<String>,
    database: RwLock<Option<Arc<Database>>>,
    notes: Mutex<Vec<String>>,
}

impl RootJournal {
    /// The journal of a root. Paths of the first root are shown relative to `base`, those of others are
    /// absolute.
    pub fn new(state: &StateFolder, root: &Path, base: Option<&str>) -> RootJournal {
        let (state, root, base) = (state.clone(), root.to_owned(), base.map(str::to_owned));
        RootJournal { state, root, base, database: RwLock::default(), notes: Mutex::default() }
    }

    /// The reason why edits are not recorded here, if they are not. A journal that is open can be used; if its file was
    /// removed since, the next edit opens another one.
    pub fn disabled_reason(&self) -> Option<String> {
        if self.database.read().is_some() {
            return None;
        }
        match self.open() {
            Err(DatabaseError::Unusable(reason)) => Some(reason),
            Ok(_) | Err(_) => None,
        }
    }

    /// Runs `work` on the database, and once more if the database was broken and has been set aside.
    pub fn with_database<T>(
        &self,
        mut work: impl FnMut(&Arc<Database>) -> Result<T, DatabaseError>,
    ) -> Result<T, Error> {
        let mut result = self.once(&mut work);
        if let Err(DatabaseError::Corrupt(_)) = result {
            result = self.once(&mut work);
        }
        result.map_err(|error| to_error(&self.root, &error))
    }

    /// Runs a query that an edit can do without; without a journal the result is empty.
    pub fn query<T: Default>(
        &self,
        work: impl FnMut(&Arc<Database>) -> Result<T, DatabaseError>,
    ) -> Result<T, Error> {
        self.with_database(work).or_else(|error| match self.disabled_reason() {
            Some(_) => Ok(T::default()),
            None => Err(error),
        })
    }

    /// Returns the entry with its paths spelled as in [`FileLocation::shown`].
    pub fn shown(&self, mut entry: Entry) -> Entry {
        for changed in &mut entry.changes {
            changed.path = match &self.base {
                Some(base) => relative(base, &changed.path),
                None => self.root.join(&changed.path).to_string_lossy().into_owned(),
            };
        }
        entry
    }

    /// Returns the absolute path of one that is spelled as in [`FileLocation::shown`], by its text alone and without its first
    /// `/`; `None` if it climbs too high.
    pub fn absolute(&self, path: &str) -> Option<String> {
        let path = self.root.join(self.base.as_deref().unwrap_or_default()).join(path);
        spelling::normal(path.to_str()?)
    }

    /// Returns the path in this root of an absolute one without its first `/`; `None` if it lies outside.
    pub fn path_in_root<'a>(&self, absolute: &'a str) -> Option<&'a str> {
        let root = self.root.to_str()?.strip_prefix('/')?;
        absolute.strip_prefix(root)?.strip_prefix('/')
    }

    /// Takes the notes for the user that were not reported yet.
    pub fn take_notes(&self) -> Vec<String> {
        std::mem::take(&mut *self.notes.lock())
    }

    /// True if there may be entries to prune; a journal that was never opened has none.
    pub fn is_untidy(&self, bounds: RetentionLimits) -> bool {
        let open = self.database.read();
        open.as_ref().is_some_and(|database| database.may_be_untidy(bounds))
    }

    /// Prunes the journal if necessary; one that was never opened is left alone.
    pub fn tidy(&self, bounds: RetentionLimits) -> Result<(), Error> {
        if self.database.read().is_none() {
            return Ok(());
        }
        self.with_database(|database| if database.is_untidy(bounds) { database.tidy(bounds) } else { Ok(()) })
    }

    fn once<T>(
        &self,
        work: &mut impl FnMut(&Arc<Database>) -> Result<T, DatabaseError>,
    ) -> Result<T, DatabaseError> {
        let database = self.open()?;
        let result = work(&database);
        if let Err(DatabaseError::Corrupt(reason)) = &result {
            let folder = self.folder()?;
            self.note(database.set_aside_if_corrupt(&folder, reason)?);
        }
        result
    }

    /// Opens the current database: a new one if the last one was set aside or removed.
    fn open(&self) -> Result<Arc<Database>, DatabaseError> {
        let current = |open: &Option<Arc<Database>>| open.clone().filter(|database| database.is_current());
        if let Some(database) = current(&self.database.read()) {
            return Ok(database);
        }
        let mut open = self.database.write();
        if let Some(database) = current(&open) {
            return Ok(database);
        }
        let (database, notes) = Database::open(&self.folder()?)?;
        self.note(notes);
        Ok(Arc::clone(open.insert(Arc::new(database))))
    }

    /// The folder of the database.
    pub fn folder(&self) -> Result<PathBuf, DatabaseError> {
        self.state.journal(&self.root).map_err(DatabaseError::Unusable)
    }

    fn note(&self, notes: impl IntoIterator<Item = String>) {
        self.notes.lock().extend(notes.into_iter().inspect(|note| tracing::warn!("{note}")));
    }
}

/// Returns the journal of a path's root.
pub(super) fn find<'a>(journals: &'a [RootJournal], place: &FileLocation) -> Result<&'a RootJournal, Error> {
    journals.get(place.root).ok_or_else(|| crate::system_error::outside(place.shown()))
}

fn to_error(root: &Path, error: &DatabaseError) -> Error {
    error.to_error(&format!("the journal of {} cannot be used", root.display()))
}
