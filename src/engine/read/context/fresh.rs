//! Keeping the index of a workspace fresh: what changed is read again, what is gone is forgotten.
//!
//! Invariant: a file is not read again only where its facts prove that it is as it was when it was read.

use std::collections::{HashMap, HashSet};
use std::sync::{MutexGuard, PoisonError, TryLockError};
use std::time::Duration;

use super::super::super::Workspace;
use super::super::super::check::cancelled;
use super::survey::WorkspaceFiles;
use super::tagging::{Became, ReadFile};
use crate::context::Index;
use crate::error::Error;
use crate::gate::Watch;
use crate::store::{FileFingerprint, FilePlace};

/// How long a caller waits before it looks again whether another has done with the index.
const PAUSE: Duration = Duration::from_millis(5);

/// The index of a workspace, with what its files were when they were read.
#[derive(Debug, Default)]
pub(in crate::engine) struct Indexed {
    pub(super) index: Index,
    /// The facts of each file that was read, where they prove something.
    known: HashMap<String, Option<FileFingerprint>>,
    /// Whether every file is taken for what it was, to show that facts are needed.
    #[cfg(test)]
    pub(super) blind: bool,
}

impl Indexed {
    fn is_fresh(&self, (place, facts): &(FilePlace, FileFingerprint)) -> bool {
        let Some(known) = self.known.get(place.shown()) else { return false };
        #[cfg(test)]
        if self.blind {
            return true;
        }
        *known == Some(*facts)
    }

    /// Forgets the files that are not among these.
    fn forget(&mut self, survey: &WorkspaceFiles) {
        let there: HashSet<&str> = survey.files.iter().map(|(place, _)| place.shown()).collect();
        let gone: Vec<String> =
            self.known.keys().filter(|path| !there.contains(path.as_str())).cloned().collect();
        for path in gone {
            self.known.remove(&path);
            self.index.remove(&path);
        }
    }
}

impl Workspace {
    /// The index, when no other caller is at it.
    ///
    /// Errors: `INTERNAL` where the caller has gone.
    pub(super) fn indexed(&self, watch: &Watch) -> Result<MutexGuard<'_, Indexed>, Error> {
        loop {
            match self.indexed.try_lock() {
                Ok(indexed) => return Ok(indexed),
                Err(TryLockError::Poisoned(broken)) => {
                    // Whoever panicked may have left half of a file.
                    let mut indexed = PoisonError::into_inner(broken);
                    *indexed = Indexed::default();
                    self.indexed.clear_poison();
                    return Ok(indexed);
                }
                Err(TryLockError::WouldBlock) if watch.cancelled() => return Err(cancelled()),
                Err(TryLockError::WouldBlock) => std::thread::sleep(PAUSE),
            }
        }
    }

    /// What the folder of the first root is called.
    fn home(&self) -> String {
        let roots = self.store.files.root_paths();
        let name = roots.first().and_then(|root| root.file_name());
        name.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// Makes the index that of the files as they are.
    ///
    /// Errors: `INTERNAL` where the caller has gone; what was read until then is kept.
    pub(super) fn refresh(
        &self,
        indexed: &mut Indexed,
        survey: &WorkspaceFiles,
        watch: &Watch,
    ) -> Result<(), Error> {
        if indexed.known.is_empty() {
            *indexed = Indexed { index: Index::new(&self.home()), ..Indexed::default() };
        }
        if !survey.is_cut {
            indexed.forget(survey);
        }
        let stale: Vec<&FilePlace> =
            survey.files.iter().filter(|file| !indexed.is_fresh(file)).map(|(place, _)| place).collect();
        if stale.is_empty() {
            return Ok(());
        }
        let versions: Vec<_> = stale.iter().map(|place| indexed.index.version(place.shown())).collect();
        let mut done = 0;
        self.tag_all(&stale, &versions, watch, |place, read| {
            let ReadFile { facts, became } = read;
            match became {
                Became::Same => {}
                Became::Tags(version, tags) => indexed.index.put(place.shown(), version, &tags),
                Became::Nothing => indexed.index.remove(place.shown()),
            }
            indexed.known.insert(place.shown().to_owned(), facts);
            done += 1;
            watch.report("files read", done, stale.len());
        });
        if watch.cancelled() { Err(cancelled()) } else { Ok(()) }
    }
}
