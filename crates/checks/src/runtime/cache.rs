//! A cache of the answers of programs.
//!
//! Invariant: the cache is bounded in number and in bytes, and returns nothing that has expired.

use parking_lot::Mutex;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Instant;

use lru::LruCache;

use crate::output::ToolFinding;
use lockgate_text::Version;

/// The maximum number of cached answers.
const MAX_ANSWERS: NonZeroUsize = NonZeroUsize::MIN.saturating_add(4095);
/// The maximum size of all cached answers, in bytes.
const MAX_BYTES: usize = 16 << 20;
/// The maximum size of one cached answer, in bytes: it must not evict all others.
const LARGEST: usize = MAX_BYTES / 4;

/// The findings of a program in each text of a run.
pub(crate) type CachedFindings = Arc<[Vec<ToolFinding>]>;

/// The answers by cache key; the least recently used ones are evicted.
#[derive(Debug)]
pub(crate) struct Answers(Mutex<CachedRun>);

#[derive(Debug)]
struct CachedRun {
    answers: LruCache<Version, CacheEntry>,
    bytes: usize,
}

#[derive(Debug)]
struct CacheEntry {
    answer: CachedFindings,
    until: Instant,
}

impl Default for Answers {
    fn default() -> Answers {
        Answers(Mutex::new(CachedRun { answers: LruCache::new(MAX_ANSWERS), bytes: 0 }))
    }
}

impl Answers {
    /// Returns the cached answer, if it has not expired.
    pub(crate) fn get(&self, key: Version, now: Instant) -> Option<CachedFindings> {
        let mut cache = self.0.lock();
        let entry = cache.answers.get(&key)?;
        if now < entry.until {
            return Some(Arc::clone(&entry.answer));
        }
        cache.forget(key);
        None
    }

    /// Removes the answer from the cache.
    pub(crate) fn forget(&self, key: Version) {
        self.0.lock().forget(key);
    }

    /// Caches an answer until this moment.
    pub(crate) fn keep(&self, key: Version, answer: &CachedFindings, until: Instant) {
        if size(answer) > LARGEST {
            return;
        }
        let mut cache = self.0.lock();
        cache.forget(key);
        let entry = CacheEntry { answer: Arc::clone(answer), until };
        cache.bytes += size(answer);
        if let Some((_, oldest)) = cache.answers.push(key, entry) {
            cache.bytes -= size(&oldest.answer);
        }
        while cache.bytes > MAX_BYTES {
            let Some((_, oldest)) = cache.answers.pop_lru() else { break };
            cache.bytes -= size(&oldest.answer);
        }
    }
}

impl CachedRun {
    fn forget(&mut self, key: Version) {
        if let Some(entry) = self.answers.pop(&key) {
            self.bytes -= size(&entry.answer);
        }
    }
}

/// Returns the approximate size of an answer, in bytes.
fn size(answer: &[Vec<ToolFinding>]) -> usize {
    let words = |finding: &ToolFinding| {
        let names = [finding.elsewhere.as_ref(), finding.code.as_ref()].into_iter().flatten();
        size_of::<ToolFinding>() + finding.message.len() + names.map(String::len).sum::<usize>()
    };
    let lists = size_of_val(answer);
    size_of::<CacheEntry>() + lists + answer.iter().flatten().map(words).sum::<usize>()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::Severity;

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
    fn an_answer_is_given_back_until_its_time_is_over() {
        let (answers, now) = (Answers::default(), Instant::now());
        let until = now + Duration::from_secs(60);
        answers.keep(key(1), &answer(1), until);
        assert_eq!(answers.get(key(1), now), Some(answer(1)));
        assert_eq!(answers.get(key(2), now), None);
        assert_eq!(answers.get(key(1), until), None);
        assert_eq!(answers.get(key(1), now), None, "it is forgotten");
        assert_eq!(answers.0.lock().bytes, 0);
    }

    #[test]
    fn the_least_recently_used_answer_is_dropped() {
        let (answers, now) = (Answers::default(), Instant::now());
        let until = now + Duration::from_secs(60);
        let large = LARGEST - size(&answer(0));
        for number in 0..4 {
            answers.keep(key(number), &answer(large), until);
        }
        assert!(answers.get(key(0), now).is_some(), "this one is asked for");
        answers.keep(key(4), &answer(large), until);
        let known = |numbers: [usize; 5]| numbers.map(|number| answers.get(key(number), now).is_some());
        assert_eq!(known([0, 1, 2, 3, 4]), [true, false, true, true, true]);
        assert_eq!(answers.0.lock().bytes, MAX_BYTES);
        answers.keep(key(5), &answer(large + 1), until);
        assert_eq!(known([0, 2, 3, 4, 5]), [true, true, true, true, false], "one that is too large");
    }

    #[test]
    fn the_number_of_answers_is_limited_and_keys_are_unique() {
        let (answers, now) = (Answers::default(), Instant::now());
        let until = now + Duration::from_secs(60);
        for number in 0..MAX_ANSWERS.get() + 10 {
            answers.keep(key(number), &answer(0), until);
            answers.keep(key(number), &answer(1), until);
        }
        let cache = answers.0.lock();
        assert_eq!(cache.answers.len(), MAX_ANSWERS.get());
        assert_eq!(cache.bytes, MAX_ANSWERS.get() * size(&answer(1)));
    }
}
