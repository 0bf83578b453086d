//! A cache of the apps' owners. An app's owner never changes.
//!
//! Invariant: only apps in scope are cached; the database is asked about all others each time.

use lru::LruCache;
use parking_lot::Mutex;
use std::num::NonZeroUsize;
use std::sync::Arc;

/// The maximum number of cached apps.
const MOST: NonZeroUsize = NonZeroUsize::MIN.saturating_add(1023);

/// The organisation of each cached app.
#[derive(Debug, Clone)]
pub(super) struct AppOwners(Arc<Mutex<LruCache<String, Option<String>>>>);

impl AppOwners {
    /// Returns the cached owner of the app.
    pub fn get(&self, app: &str) -> Option<Option<String>> {
        self.0.lock().get(app).cloned()
    }

    pub fn put(&self, app: &str, organization: Option<String>) {
        self.0.lock().put(app.to_owned(), organization);
    }
}

impl Default for AppOwners {
    fn default() -> AppOwners {
        AppOwners(Arc::new(Mutex::new(LruCache::new(MOST))))
    }
}
