//! A cache of the results of programs: their findings, and the texts that fixers made.
//!
//! Invariant: a cache returns nothing that has expired.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::bounded_cache::{BoundedCache, CacheValue};
use crate::output::ToolFinding;
use lockgate_text::Version;

/// The lifetime of a value: it may depend on more than the definition names, such as imports of other files.
const LIFETIME: Duration = Duration::from_secs(60);

/// The findings of a program in each text of a run.
pub(crate) type CachedFindings = Arc<[Vec<ToolFinding>]>;

impl CacheValue for CachedFindings {
    const MAX_ENTRIES: NonZeroUsize = NonZeroUsize::MIN.saturating_add(4095);
    const MAX_BYTES: usize = 16 << 20;
    const LARGEST: usize = Self::MAX_BYTES / 4;

    fn size(&self) -> usize {
        let words = |finding: &ToolFinding| {
            let names = [finding.elsewhere.as_ref(), finding.code.as_ref()].into_iter().flatten();
            size_of::<ToolFinding>() + finding.message.len() + names.map(String::len).sum::<usize>()
        };
        let lists = size_of_val(&**self);
        size_of::<(Self, Instant)>() + lists + self.iter().flatten().map(words).sum::<usize>()
    }
}

impl CacheValue for Arc<str> {
    const MAX_ENTRIES: NonZeroUsize = NonZeroUsize::MIN.saturating_add(31);
    const MAX_BYTES: usize = 32 << 20;
    const LARGEST: usize = 1 << 20;

    fn size(&self) -> usize {
        self.len()
    }
}

/// A value, and the moment at which it expires.
impl<V: CacheValue> CacheValue for (V, Instant) {
    const MAX_ENTRIES: NonZeroUsize = V::MAX_ENTRIES;
    const MAX_BYTES: usize = V::MAX_BYTES;
    const LARGEST: usize = V::LARGEST;

    fn size(&self) -> usize {
        self.0.size()
    }
}

/// The values that have not expired.
#[derive(Debug)]
pub(crate) struct ExpiringCache<V>(BoundedCache<(V, Instant)>);

impl<V: CacheValue> Default for ExpiringCache<V> {
    fn default() -> ExpiringCache<V> {
        ExpiringCache(BoundedCache::default())
    }
}

impl<V: CacheValue> ExpiringCache<V> {
    /// Returns the cached value, if it has not expired.
    fn get(&self, key: Version, now: Instant) -> Option<V> {
        self.0.get_if(key, |(_, until)| now < *until).map(|(value, _)| value)
    }

    /// Returns the cached value, or else that of `make`, which is kept for [`LIFETIME`] from the call on. Without
    /// a key, nothing is cached.
    ///
    /// Errors: those of `make`.
    pub(crate) fn get_or_make<E>(
        &self,
        key: Option<Version>,
        make: impl FnOnce() -> Result<V, E>,
    ) -> Result<V, E> {
        let now = Instant::now();
        if let Some(value) = key.and_then(|key| self.get(key, now)) {
            return Ok(value);
        }
        let value = make()?;
        if let Some(key) = key {
            self.keep(key, &value, now + LIFETIME);
        }
        Ok(value)
    }

    /// Removes the value from the cache.
    pub(crate) fn forget(&self, key: Version) {
        self.0.remove(key);
    }

    /// Caches a value until this moment, unless it is too large.
    fn keep(&self, key: Version, value: &V, until: Instant) {
        self.0.insert(key, (value.clone(), until));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Severity;

    type Answers = ExpiringCache<CachedFindings>;

    fn key(number: usize) -> Version {
        Version::hash(&number.to_le_bytes())
    }

    fn answer(bytes: usize) -> CachedFindings {
        let message = "x".repeat(bytes);
        let severity = Severity::Error;
        Arc::new([vec![ToolFinding {
            elsewhere: None,
            line: 1,
            end_line: None,
            column: 1,
            code: None,
            severity,
            message,
            identity: Default::default(),
        }]])
    }

    #[test]
    fn a_value_is_given_back_until_its_time_is_over() {
        let (answers, now) = (Answers::default(), Instant::now());
        let until = now + Duration::from_secs(60);
        answers.keep(key(1), &answer(1), until);
        assert_eq!(answers.get(key(1), now), Some(answer(1)));
        assert_eq!(answers.get(key(2), now), None);
        assert_eq!(answers.get(key(1), until), None);
        assert_eq!(answers.get(key(1), now), None, "it is forgotten");
        assert_eq!(answers.0.len_and_bytes(), (0, 0));
    }

    #[test]
    fn the_least_recently_used_value_is_dropped() {
        let (answers, now) = (Answers::default(), Instant::now());
        let until = now + Duration::from_secs(60);
        let large = CachedFindings::LARGEST - answer(0).size();
        for number in 0..4 {
            answers.keep(key(number), &answer(large), until);
        }
        assert!(answers.get(key(0), now).is_some(), "this one is asked for");
        answers.keep(key(4), &answer(large), until);
        let known = |numbers: [usize; 5]| numbers.map(|number| answers.get(key(number), now).is_some());
        assert_eq!(known([0, 1, 2, 3, 4]), [true, false, true, true, true]);
        assert_eq!(answers.0.len_and_bytes().1, CachedFindings::MAX_BYTES);
        answers.keep(key(5), &answer(large + 1), until);
        assert_eq!(known([0, 2, 3, 4, 5]), [true, true, true, true, false], "one that is too large");
    }

    #[test]
    fn the_number_of_values_is_limited_and_keys_are_unique() {
        let (answers, now) = (Answers::default(), Instant::now());
        let until = now + Duration::from_secs(60);
        let most = CachedFindings::MAX_ENTRIES.get();
        for number in 0..most + 10 {
            answers.keep(key(number), &answer(0), until);
            answers.keep(key(number), &answer(1), until);
        }
        assert_eq!(answers.0.len_and_bytes(), (most, most * answer(1).size()));
    }

    #[test]
    fn a_text_is_given_back_until_its_time_is_over_and_a_large_one_never() {
        let (texts, now) = (ExpiringCache::<Arc<str>>::default(), Instant::now());
        let until = now + Duration::from_secs(60);
        let [small, large]: [Arc<str>; 2] = ["x".into(), "x".repeat(<Arc<str>>::LARGEST + 1).into()];
        texts.keep(key(1), &small, until);
        texts.keep(key(2), &large, until);
        assert_eq!(texts.get(key(1), now), Some(small));
        assert_eq!(texts.get(key(1), until), None);
        assert_eq!(texts.get(key(2), now), None);
    }
}
