//! Keeping the index of a workspace fresh: what changed is read again, what is gone is forgotten.
//!
//! Invariant: a file whose mark is the same and settled has not changed since it was read.

use std::collections::{HashMap, HashSet};
use std::sync::{MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, SystemTime};

use super::super::super::Workspace;
use super::super::super::check::cancelled;
use super::survey::{Survey, Surveyed};
use super::tagging::Read;
use crate::context::Index;
use crate::error::Error;
use crate::gate::Watch;
use crate::store::Mark;

/// How long a caller waits before it looks again whether another has done with the index.
const PAUSE: Duration = Duration::from_millis(5);

/// The index of a workspace, with what its files were when they were read.
#[derive(Debug, Default)]
pub(in crate::engine) struct Indexed {
    pub(super) index: Index,
    known: HashMap<String, Known>,
    /// Whether marks are believed whatever they say, to show that they are needed.
    #[cfg(test)]
    pub(super) blind: bool,
}

/// What a file was when it was read.
#[derive(Debug, Clone, Copy)]
struct Known {
    mark: Mark,
    settled: bool,
}

impl Indexed {
    fn is_fresh(&self, file: &Surveyed) -> bool {
        let Some(known) = self.known.get(&file.path) else { return false };
        #[cfg(test)]
        if self.blind {
            return true;
        }
        known.settled && known.mark == file.mark
    }

    /// Forgets the files that are not among these.
    fn forget(&mut self, survey: &Survey) {
        let there: HashSet<&str> = survey.files.iter().map(|file| file.path.as_str()).collect();
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

    /// Makes the index that of the files as they are.
    ///
    /// Errors: `INTERNAL` where the caller has gone; what was read until then is kept.
    pub(super) fn refresh(&self, indexed: &mut Indexed, survey: &Survey, watch: &Watch) -> Result<(), Error> {
        if indexed.index.is_worn() {
            *indexed = Indexed::default();
        }
        indexed.forget(survey);
        let stale: Vec<&Surveyed> = survey.files.iter().filter(|file| !indexed.is_fresh(file)).collect();
        if stale.is_empty() {
            return Ok(());
        }
        // Every one of them is read after this moment.
        let now = SystemTime::now();
        let versions: Vec<_> = stale.iter().map(|file| indexed.index.version(&file.path)).collect();
        let mut done = 0;
        self.tag_all(&stale, &versions, watch, |file, read| {
            match read {
                Read::Same => {}
                Read::Tags(version, tags) => indexed.index.put(&file.path, version, &tags),
                Read::Nothing => indexed.index.remove(&file.path),
            }
            let known = Known { mark: file.mark, settled: file.mark.is_settled(now) };
            indexed.known.insert(file.path.clone(), known);
            done += 1;
            watch.report("index", done, stale.len());
        });
        if watch.cancelled() { Err(cancelled()) } else { Ok(()) }
    }
}
