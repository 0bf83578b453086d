//! Whose the apps are that a tenant reaches, as far as it was asked: an app does not change its organisation.
//!
//! Invariant: what is not there, or out of reach, is asked of the database each time.

use lru::LruCache;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};

/// Apps that are remembered.
const MOST: NonZeroUsize = NonZeroUsize::MIN.saturating_add(1023);

/// Which organisation each app belongs to.
#[derive(Debug, Clone)]
pub(super) struct AppOwners(Arc<Mutex<LruCache<String, Option<String>>>>);

impl AppOwners {
    /// Whose the app is, where that is known.
    pub fn get(&self, app: &str) -> Option<Option<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(app).cloned()
    }

    /// Remembers whose the app is.
    pub fn put(&self, app: &str, organization: Option<String>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).put(app.to_owned(), organization);
    }
}

impl Default for AppOwners {
    fn default() -> AppOwners {
        AppOwners(Arc::new(Mutex::new(LruCache::new(MOST))))
    }
}
