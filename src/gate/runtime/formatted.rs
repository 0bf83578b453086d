//! Texts as fixers made them, kept for as long as they can be true.
//!
//! Invariant: what is kept is bounded in number and in bytes, and nothing is given back after its time.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use lru::LruCache;

use crate::text::Version;

/// The most texts that are kept.
const MOST_TEXTS: NonZeroUsize = NonZeroUsize::MIN.saturating_add(31);
/// The largest one, in bytes.
const LARGEST: usize = 1 << 20;

/// Texts by the stamp of all that they rest on; those that were not asked for longest make room.
#[derive(Debug)]
pub(in crate::gate) struct Formatted(Mutex<LruCache<Version, (Arc<str>, Instant)>>);

impl Default for Formatted {
    fn default() -> Formatted {
        Formatted(Mutex::new(LruCache::new(MOST_TEXTS)))
    }
}

impl Formatted {
    /// Gives the text that was kept, if its time is not over.
    pub(in crate::gate) fn get(&self, key: Version, now: Instant) -> Option<Arc<str>> {
        let mut texts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        texts.get(&key).filter(|(_, until)| now < *until).map(|(text, _)| Arc::clone(text))
    }

    /// Keeps a text until a moment.
    pub(in crate::gate) fn keep(&self, key: Version, text: &Arc<str>, until: Instant) {
        if text.len() <= LARGEST {
            let mut texts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
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
