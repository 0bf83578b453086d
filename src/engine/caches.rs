//! What the gates of all workspaces keep between their runs, for a person who looks at it, and within bounds.
//!
//! Invariant: nobody waits longer for the bounds than [`LONGEST_WAIT`].

use std::path::Path;
use std::sync::mpsc::channel;
use std::sync::{Mutex, PoisonError};
use std::thread::Builder;
use std::time::{Duration, Instant};

use crate::error::{Code, Error};
use crate::store::{CacheLimits, Cached, Kept, State};

/// How long a process does not look at the bounds again; all processes together do so once an hour.
const REST: Duration = Duration::from_secs(60);
/// How long a call waits for the bounds: while it goes on, its own cache is in use.
const LONGEST_WAIT: Duration = Duration::from_secs(2);

/// What the gates of this user keep.
#[derive(Debug)]
pub struct Caches(State);

impl Caches {
    /// Finds the caches of the user who runs lockgate.
    pub fn for_user() -> Caches {
        Caches(State::beside(&[]))
    }

    /// The folder in which they lie.
    ///
    /// Errors: `PERMISSION_DENIED` where lockgate may keep nothing.
    pub fn folder(&self) -> Result<&Path, Error> {
        self.0.caches()
    }

    /// How much may be kept.
    pub fn limits() -> CacheLimits {
        CacheLimits::default()
    }

    /// The caches of all workspaces, the largest first.
    ///
    /// Errors: `PERMISSION_DENIED` where lockgate may keep nothing, and what the system refuses.
    pub fn list(&self) -> Result<Vec<Cached>, Error> {
        self.0.cached()
    }

    /// Removes one of them; false where a gate uses it.
    ///
    /// Errors: what the system refuses.
    pub fn clear(&self, cached: &Cached) -> Result<bool, Error> {
        match self.0.clear(cached) {
            Ok(()) => Ok(true),
            Err(Kept::InUse) => Ok(false),
            Err(Kept::Failed(error)) => {
                let what = format!("{} cannot be removed: {error}", cached.folder.display());
                Err(Error::new(Code::IoFailed, what))
            }
        }
    }
}

/// When this process looked at the bounds last.
#[derive(Debug, Default)]
pub(super) struct Bounding(Mutex<Option<Instant>>);

impl Bounding {
    /// Keeps the caches within their bounds, where nobody did so within the hour.
    pub(super) fn bound(&self, state: &State) {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if last.is_some_and(|last| last.elapsed() < REST) {
            return;
        }
        *last = Some(Instant::now());
        drop(last);
        let (state, (done, is_done)) = (state.clone(), channel());
        let bound = move || {
            if let Err(error) = state.bound_caches(CacheLimits::default()) {
                tracing::debug!(%error, "the caches of gates are not kept within their bounds");
            }
            // Nobody may wait any more.
            let _ = done.send(());
        };
        // Without a thread the next process does it.
        if Builder::new().name("lockgate-caches".to_owned()).spawn(bound).is_ok() {
            let _ = is_done.recv_timeout(LONGEST_WAIT);
        }
    }
}
