//! Parse results by text: the text after an edit is the text before the next one, and is not parsed again.
//!
//! Invariant: a value depends only on its [`TextKey`], and each cache is bounded in number and in bytes.

use parking_lot::Mutex;
use std::num::NonZeroUsize;
use std::sync::{Arc, LazyLock};

use lru::LruCache;

use super::before_after::Faults;
use super::brackets::BracketReport;
use super::fault::SyntaxFault;
use super::parse_result::ParseResult;
use super::tree::TreeReport;
use crate::delta::ComparedFinding;
use lockgate_text::{Buffer, Version};

/// The maximum number of values in a cache.
const MAX_VALUES: NonZeroUsize = NonZeroUsize::MIN.saturating_add(255);
/// The maximum size of all values in a cache, in bytes.
const MAX_BYTES: usize = 4 << 20;
/// The maximum size of one value, in bytes: it must not evict all others.
const LARGEST: usize = MAX_BYTES / 2;

/// What the parsers that read a text found.
pub(super) static PARSED: LazyLock<ResultCache<ParseResult>> = LazyLock::new(ResultCache::default);
/// What tree-sitter found in a text.
pub(super) static SURVEYED: LazyLock<ResultCache<TreeReport>> = LazyLock::new(ResultCache::default);
/// The brackets that a language's own parser found in a text.
pub(super) static PAIRED: LazyLock<ResultCache<BracketReport>> = LazyLock::new(ResultCache::default);

/// Everything that a parse depends on: the language, the path, which chooses the dialect, and the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct TextKey(Version);

impl TextKey {
    pub(super) fn new(language: &str, path: &str, buffer: &Buffer) -> TextKey {
        TextKey(Version::of_value(&(language, path, buffer.version(), buffer.encoding())))
    }
}

/// A value whose memory can be estimated.
pub(super) trait Weigh {
    /// Returns its approximate size in bytes, with all that it owns.
    fn weight(&self) -> usize;
}

/// The values of texts; the least recently used ones are evicted.
#[derive(Debug)]
pub(super) struct ResultCache<T>(Mutex<CachedResults<T>>);

#[derive(Debug)]
struct CachedResults<T> {
    values: LruCache<TextKey, Arc<T>>,
    bytes: usize,
}

impl<T> Default for ResultCache<T> {
    fn default() -> ResultCache<T> {
        ResultCache(Mutex::new(CachedResults { values: LruCache::new(MAX_VALUES), bytes: 0 }))
    }
}

impl<T: Weigh> ResultCache<T> {
    pub(super) fn get(&self, key: TextKey) -> Option<Arc<T>> {
        let mut cache = self.0.lock();
        cache.values.get(&key).map(Arc::clone)
    }

    /// Caches a value, unless it is too large, and returns it.
    pub(super) fn keep(&self, key: TextKey, value: T) -> Arc<T> {
        let value = Arc::new(value);
        let weight = value.weight();
        if weight > LARGEST {
            return value;
        }
        let mut cache = self.0.lock();
        cache.bytes += weight;
        if let Some((_, replaced)) = cache.values.push(key, Arc::clone(&value)) {
            cache.bytes -= replaced.weight();
        }
        while cache.bytes > MAX_BYTES {
            let Some((_, oldest)) = cache.values.pop_lru() else { break };
            cache.bytes -= oldest.weight();
        }
        value
    }
}

impl Weigh for ParseResult {
    fn weight(&self) -> usize {
        let finding = |finding: &ComparedFinding| {
            size_of::<ComparedFinding>() + finding.message.len() + finding.around.len()
        };
        let faults = |faults: &Faults| faults.iter().map(|(fault, _)| finding(fault)).sum::<usize>();
        let keys = |keys: &Vec<ComparedFinding>| keys.iter().map(finding).sum::<usize>();
        size_of::<ParseResult>()
            + faults(&self.marks)
            + self.keys.as_ref().map_or(0, keys)
            + size_of::<u32>() * self.parts.len()
    }
}

impl Weigh for TreeReport {
    fn weight(&self) -> usize {
        let fault = |fault: &SyntaxFault| size_of::<SyntaxFault>() + fault.message.len();
        let faults: usize = self.faults.iter().map(fault).sum();
        size_of::<TreeReport>() + faults + self.brackets.weight() + size_of::<u32>() * self.parts.len()
    }
}

impl Weigh for BracketReport {
    fn weight(&self) -> usize {
        size_of::<BracketReport>() + size_of::<usize>() * (self.lone.len() + self.unclosed.len())
    }
}

#[cfg(test)]
mod tests {
    use super::super::cases::buffer;
    use super::*;

    fn key(number: usize) -> TextKey {
        TextKey(Version::hash(&number.to_le_bytes()))
    }

    fn brackets(count: usize) -> BracketReport {
        BracketReport { lone: vec![0; count], unclosed: Vec::new() }
    }

    #[test]
    fn all_that_a_parse_depends_on_is_in_the_key() {
        let known = TextKey::new("c", "a.c", &buffer("int a;\n"));
        assert_eq!(known, TextKey::new("c", "a.c", &buffer("int a;\n")));
        for other in [
            TextKey::new("cpp", "a.c", &buffer("int a;\n")),
            TextKey::new("c", "a.h", &buffer("int a;\n")),
            TextKey::new("c", "a.c", &buffer("int b;\n")),
        ] {
            assert_ne!(known, other);
        }
    }

    #[test]
    fn the_least_recently_used_value_is_dropped_and_a_large_one_not_kept() {
        let cache = ResultCache::default();
        let count = |bytes: usize| (bytes - size_of::<BracketReport>()) / size_of::<usize>();
        let quarter = count(MAX_BYTES / 4);
        for number in 0..4 {
            cache.keep(key(number), brackets(quarter));
        }
        assert!(cache.get(key(0)).is_some(), "this one is asked for");
        cache.keep(key(4), brackets(quarter));
        let known = |numbers: [usize; 5]| numbers.map(|number| cache.get(key(number)).is_some());
        assert_eq!(known([0, 1, 2, 3, 4]), [true, false, true, true, true]);
        cache.keep(key(5), brackets(count(LARGEST) + 1));
        assert!(cache.get(key(5)).is_none());
        cache.keep(key(4), brackets(0));
        assert!(cache.0.lock().bytes < MAX_BYTES, "a value that was replaced does not count");
    }
}
