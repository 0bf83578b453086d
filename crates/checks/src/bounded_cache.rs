//! A cache of values by the hash of what they depend on.
//!
//! Invariant: a cache is bounded in number and in bytes.

use std::num::NonZeroUsize;

use lru::LruCache;
use parking_lot::Mutex;

use lockgate_text::Version;

/// A value that is cached, with the limits of its cache.
pub(crate) trait CacheValue: Clone {
    /// The maximum number of cached values.
    const MAX_ENTRIES: NonZeroUsize = NonZeroUsize::MIN.saturating_add(255);
    /// The maximum size of all cached values, in bytes.
    const MAX_BYTES: usize = 4 << 20;
    /// The maximum size of one cached value, in bytes: it must not evict all others.
    const LARGEST: usize = Self::MAX_BYTES / 2;

    /// Returns the approximate size of the value in bytes, with all that it owns.
    fn size(&self) -> usize;
}

/// The values by cache key; the least recently used ones are evicted.
#[derive(Debug)]
pub(crate) struct BoundedCache<V>(Mutex<CacheEntries<V>>);

#[derive(Debug)]
struct CacheEntries<V> {
    values: LruCache<Version, V>,
    bytes: usize,
}

impl<V: CacheValue> Default for BoundedCache<V> {
    fn default() -> BoundedCache<V> {
        BoundedCache(Mutex::new(CacheEntries { values: LruCache::new(V::MAX_ENTRIES), bytes: 0 }))
    }
}

impl<V: CacheValue> CacheEntries<V> {
    fn remove(&mut self, key: Version) {
        if let Some(value) = self.values.pop(&key) {
            self.bytes -= value.size();
        }
    }
}

impl<V: CacheValue> BoundedCache<V> {
    /// Returns the cached value.
    pub(crate) fn get(&self, key: Version) -> Option<V> {
        self.0.lock().values.get(&key).cloned()
    }

    /// Returns the cached value if it is still valid, and removes it if it is not.
    pub(crate) fn get_if(&self, key: Version, is_valid: impl FnOnce(&V) -> bool) -> Option<V> {
        let mut cache = self.0.lock();
        let value = cache.values.get(&key)?;
        if is_valid(value) {
            return Some(value.clone());
        }
        cache.remove(key);
        None
    }

    /// Removes the value from the cache.
    pub(crate) fn remove(&self, key: Version) {
        self.0.lock().remove(key);
    }

    /// Caches a value, unless it is too large, and returns it.
    pub(crate) fn insert(&self, key: Version, value: V) -> V {
        let size = value.size();
        if size > V::LARGEST {
            return value;
        }
        let mut cache = self.0.lock();
        cache.bytes += size;
        // The value with the same key, or else the oldest one.
        if let Some((_, replaced)) = cache.values.push(key, value.clone()) {
            cache.bytes -= replaced.size();
        }
        while cache.bytes > V::MAX_BYTES {
            let Some((_, oldest)) = cache.values.pop_lru() else { break };
            cache.bytes -= oldest.size();
        }
        value
    }

    /// Returns the number of cached values, and their size.
    #[cfg(test)]
    pub(crate) fn len_and_bytes(&self) -> (usize, usize) {
        let cache = self.0.lock();
        (cache.values.len(), cache.bytes)
    }
}
