//! Keeps the index of a workspace fresh: reads changed files again and removes deleted ones.
//!
//! Invariant: reading a file is skipped only if its fingerprint proves that it has not changed.

use std::sync::{MutexGuard, PoisonError, TryLockError};
use std::time::Duration;

use super::super::super::services::{Services, cancelled};
use super::code_index::CodeIndex;
use super::survey::WorkspaceFiles;
use super::tagging::{ReadFile, TagResult};
use lockgate_checks::Watch;
use lockgate_context::Index;
use lockgate_error::Error;
use lockgate_store::FileLocation;
use lockgate_text::Version;

/// The interval at which a caller retries while another call uses the index.
const REFRESH_INTERVAL: Duration = Duration::from_millis(5);

impl Services {
    /// Locks the index when no other call uses it.
    ///
    /// Errors: `INTERNAL` if the caller has gone.
    pub(super) fn indexed(&self, watch: &Watch) -> Result<MutexGuard<'_, CodeIndex>, Error> {
        loop {
            match self.code_index.try_lock() {
                Ok(indexed) => return Ok(indexed),
                Err(TryLockError::Poisoned(broken)) => {
                    // A panicking thread may have left a file half-indexed.
                    let mut indexed = PoisonError::into_inner(broken);
                    *indexed = CodeIndex::default();
                    self.code_index.clear_poison();
                    return Ok(indexed);
                }
                Err(TryLockError::WouldBlock) if watch.cancelled() => return Err(cancelled(watch)),
                Err(TryLockError::WouldBlock) => std::thread::sleep(REFRESH_INTERVAL),
            }
        }
    }

    /// Returns the name of the first root's folder.
    fn cache_name(&self) -> String {
        let roots = self.store.files.root_paths();
        let name = roots.first().and_then(|root| root.file_name());
        name.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// Updates the index to the current files.
    ///
    /// Errors: `INTERNAL` if the caller has gone; the files read until then stay indexed.
    pub(super) fn refresh(
        &self,
        indexed: &mut CodeIndex,
        survey: &WorkspaceFiles,
        watch: &Watch,
    ) -> Result<(), Error> {
        self.load_index(indexed);
        if !survey.is_truncated {
            indexed.retain(&survey.files.iter().map(|(place, _)| place.shown()).collect());
        }
        let stale = survey.files.iter().filter(|file| !indexed.is_fresh(file));
        let stale: Vec<(&FileLocation, Option<Version>)> =
            stale.map(|(place, _)| (place, indexed.index.version(place.shown()))).collect();
        if stale.is_empty() {
            return Ok(());
        }
        let mut done = 0;
        self.tag_all(&stale, watch, |place, read| {
            let ReadFile { fingerprint, result: became } = read;
            match became {
                TagResult::Same => {}
                TagResult::Tags(version, tags) => indexed.index.put(place.shown(), version, &tags),
                TagResult::Nothing => indexed.index.remove(place.shown()),
            }
            indexed.fingerprints.insert(place.shown().to_owned(), fingerprint);
            done += 1;
            watch.report("files read", done, stale.len());
        });
        indexed.unsaved += done;
        if watch.cancelled() {
            return Err(cancelled(watch));
        }
        self.save_index(indexed);
        Ok(())
    }

    /// Loads the stored index, once, if nothing is indexed yet.
    pub(super) fn load_index(&self, indexed: &mut CodeIndex) {
        if indexed.fingerprints.is_empty() && !indexed.is_loaded {
            let stored = self.index_file.read().and_then(|bytes| CodeIndex::from_bytes(&bytes));
            *indexed = stored.unwrap_or_default();
            indexed.is_loaded = true;
        }
        if indexed.fingerprints.is_empty() {
            *indexed =
                CodeIndex { index: Index::new(&self.cache_name()), is_loaded: true, ..CodeIndex::default() };
        }
    }

    /// Stores the index if enough of it is new. Without a usable state folder it stays in memory.
    fn save_index(&self, indexed: &mut CodeIndex) {
        if indexed.is_worth_saving() {
            if let Err(reason) = self.index_file.write(&indexed.to_bytes()) {
                tracing::debug!(reason, "the code index is not stored");
            }
            indexed.unsaved = 0;
        }
    }

    /// Returns the number of files that the index lacks or has in an older version.
    pub(super) fn stale_count(&self, indexed: &mut CodeIndex, survey: &WorkspaceFiles) -> usize {
        self.load_index(indexed);
        survey.files.iter().filter(|file| !indexed.is_fresh(file)).count()
    }
}
