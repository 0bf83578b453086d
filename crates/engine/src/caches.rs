//! The caches of gates of all workspaces: lists them, clears them, and keeps them within their limits.
//!
//! Invariant: no call waits longer than [`MAX_WAIT`] for the limits to be applied.

use parking_lot::Mutex;
use std::collections::HashMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;
use std::sync::{Arc, Weak};
use std::thread::Builder;
use std::time::{Duration, Instant};

use lockgate_error::{Code, Error};
use lockgate_store::{Cache, CacheLimits, Cached, StateFolder};

/// The time after which a process checks the limits again. All processes together do so once an hour.
const BOUND_INTERVAL: Duration = Duration::from_secs(60);
/// The longest time that a call waits for the limits to be applied. The call's own cache is in use meanwhile.
const MAX_WAIT: Duration = Duration::from_secs(2);

/// The caches of this user's gates.
#[derive(Debug)]
pub struct Caches(StateFolder);

impl Caches {
    /// Returns the caches of the user who runs lockgate.
    pub fn for_user() -> Caches {
        Caches(StateFolder::for_user(&[]))
    }

    /// Returns the folder of the caches.
    ///
    /// Errors: `PERMISSION_DENIED` if lockgate may not write its state.
    pub fn folder(&self) -> Result<&Path, Error> {
        self.0.caches()
    }

    /// Returns the size and age limits of the caches.
    pub fn limits() -> CacheLimits {
        CacheLimits::default()
    }

    /// Applies the limits, and waits until that is done.
    pub fn bound(&self) {
        bound(|limits| self.0.bound_caches_now(limits));
    }

    /// Returns the caches of all workspaces, the largest first.
    ///
    /// Errors: `PERMISSION_DENIED` if lockgate may not write its state, and errors of the operating system.
    pub fn list(&self) -> Result<Vec<Cached>, Error> {
        self.0.cached()
    }

    /// Removes a cache; returns false if a gate uses it.
    ///
    /// Errors: those of the operating system.
    pub fn clear(&self, cached: &Cached) -> Result<bool, Error> {
        match self.0.clear(cached) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(false),
            Err(error) => {
                let what = format!("{} cannot be removed: {error}", cached.folder.display());
                Err(Error::new(Code::IoFailed, what))
            }
        }
    }
}

/// The time of this process's last check of the limits.
#[derive(Debug, Default)]
pub(super) struct BoundSchedule(Mutex<Option<Instant>>);

impl BoundSchedule {
    /// Applies the limits unless a process did so within the last hour.
    pub(super) fn bound(&self, state: &StateFolder) {
        let mut last = self.0.lock();
        if last.is_some_and(|last| last.elapsed() < BOUND_INTERVAL) {
            return;
        }
        *last = Some(Instant::now());
        drop(last);
        let (state, (done, is_done)) = (state.clone(), channel());
        let bound = move || {
            bound(|limits| state.bound_caches(limits));
            // The receiver may be gone.
            let _ = done.send(());
        };
        // If no thread can be started, the next process applies the limits.
        if Builder::new().name("lockgate-caches".to_owned()).spawn(bound).is_ok() {
            let _ = is_done.recv_timeout(MAX_WAIT);
        }
    }
}

fn bound(pass: impl FnOnce(CacheLimits) -> std::io::Result<()>) {
    if let Err(error) = pass(CacheLimits::default()) {
        tracing::debug!(%error, "cannot keep the gate caches within their limits");
    }
}

/// Returns the cache of a root that other calls use, or creates one; the files of a call share one lock.
///
/// `make` may be slow; it does not block the caches of other roots.
pub(super) fn shared(
    caches: &Mutex<HashMap<PathBuf, Weak<Cache>>>,
    root: &Path,
    make: impl FnOnce() -> Option<Cache>,
) -> Option<Arc<Cache>> {
    let find = || caches.lock().get(root).and_then(Weak::upgrade);
    if let Some(cache) = find() {
        return Some(cache);
    }
    let new_cache = Arc::new(make()?);
    let mut caches = caches.lock();
    // Another call may have created it meanwhile.
    if let Some(cache) = caches.get(root).and_then(Weak::upgrade) {
        return Some(cache);
    }
    caches.insert(root.to_owned(), Arc::downgrade(&new_cache));
    Some(new_cache)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cache_of_a_root_is_shared_and_creating_one_blocks_no_other_root() {
        let dir = tempfile::tempdir().unwrap();
        let state = StateFolder::in_folder(dir.path(), &[]);
        let caches = Mutex::default();
        let (p, q) = (Path::new("/p"), Path::new("/q"));
        let create = |root: &Path| state.cache(root).ok();
        let first = shared(&caches, p, || {
            // Meanwhile another call gets the cache of its own root, or even of this one.
            assert!(caches.try_lock().is_some(), "nobody else could come in");
            assert!(shared(&caches, q, || create(q)).is_some());
            create(p)
        });
        let first = first.unwrap();
        let again = shared(&caches, p, || panic!("it is there")).unwrap();
        assert!(Arc::ptr_eq(&first, &again));
        let faster = shared(&caches, q, || {
            let faster = shared(&caches, q, || create(q)).unwrap();
            // It stays in use until the slower call has it.
            Box::leak(Box::new(faster));
            create(q)
        });
        assert_eq!(Arc::strong_count(&faster.unwrap()), 2, "the faster one's is shared");
        drop((first, again));
        assert!(shared(&caches, p, || None).is_none(), "nobody uses it any more");
    }
}
