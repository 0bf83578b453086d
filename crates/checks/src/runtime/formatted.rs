//! A cache of the texts that fixers made.
//!
//! Invariant: the cache is bounded in number and in bytes, and returns nothing that has expired.

use parking_lot::Mutex;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Instant;

use lru::LruCache;

use lockgate_text::Version;

/// The maximum number of cached texts.
const MAX_TEXTS: NonZeroUsize = NonZeroUsize::MIN.saturating_add(31);
/// The maximum size of a cached text, in bytes.
const LARGEST: usize = 1 << 20;

/// The texts by cache key; the least recently used ones are evicted.
#[derive(Debug)]
pub(crate) struct Formatted(Mutex<LruCache<Version, (Arc<str>, Instant)>>);

impl Default for Formatted {
    fn default() -> Formatted {
        Formatted(Mutex::new(LruCache::new(MAX_TEXTS)))
    }
}

impl Formatted {
    /// Returns the cached text, if it has not expired.
    pub(crate) fn get(&self, key: Version, now: Instant) -> Option<Arc<str>> {
        let mut texts = self.0.lock();
        texts.get(&key).filter(|(_, until)| now < *until).map(|(text, _)| Arc::clone(text))
    }

    /// Caches a text until this moment.
    pub(crate) fn keep(&self, key: Version, text: &Arc<str>, until: Instant) {
        if text.len() <= LARGEST {
            let mut texts = self.0.lock();
            texts.put(key, (Arc::clone(text), until));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_text_is_given_back_until_its_time_is_over_and_a_large_one_never() {
        let (texts, now) = (Formatted::default(), Instant::now());
        let until = now + Duration::from_secs(60);
        let [small, large]: [Arc<str>; 2] = ["x".into(), "x".repeat(LARGEST + 1).into()];
        let [one, two] = [Version::hash(b"1"), Version::hash(b"2")];
        texts.keep(one, &small, until);
        texts.keep(two, &large, until);
        assert_eq!(texts.get(one, now), Some(small));
        assert_eq!(texts.get(one, until), None);
        assert_eq!(texts.get(two, now), None);
    }
}
