//! Parse results by text: the text after an edit is the text before the next one, and is not parsed again.
//!
//! Invariant: a value depends only on its [`key`].

use std::sync::{Arc, LazyLock};

use super::brackets::BracketReport;
use super::fault::SyntaxFault;
use super::parse_result::{Faults, ParseResult};
use super::tree::TreeReport;
use crate::bounded_cache::{BoundedCache, CacheValue};
use crate::delta::ComparedFinding;
use lockgate_text::{Buffer, Version};

/// The results for texts.
type ResultCache<T> = LazyLock<BoundedCache<Arc<T>>>;

/// What the parsers that read a text found.
pub(super) static PARSED: ResultCache<ParseResult> = LazyLock::new(BoundedCache::default);
/// What tree-sitter found in a text.
pub(super) static SURVEYED: ResultCache<TreeReport> = LazyLock::new(BoundedCache::default);
/// The brackets that a language's own parser found in a text.
pub(super) static PAIRED: ResultCache<BracketReport> = LazyLock::new(BoundedCache::default);

/// Returns the hash of everything that a parse depends on: the language, the path, which chooses the dialect, and the text.
pub(super) fn key(language: &str, path: &str, buffer: &Buffer) -> Version {
    Version::of_value(&(language, path, buffer.version(), buffer.encoding()))
}

impl CacheValue for Arc<ParseResult> {
    fn size(&self) -> usize {
        let finding = |finding: &ComparedFinding| {
            size_of::<ComparedFinding>() + finding.message.len() + finding.around.len()
        };
        let faults = |faults: &Faults| faults.iter().map(|(fault, _)| finding(fault)).sum::<usize>();
        let keys = |keys: &Vec<ComparedFinding>| keys.iter().map(finding).sum::<usize>();
        size_of::<ParseResult>()
            + faults(&self.faults)
            + self.keys.as_ref().map_or(0, keys)
            + size_of::<u32>() * self.parts.len()
    }
}

impl CacheValue for Arc<TreeReport> {
    fn size(&self) -> usize {
        let fault = |fault: &SyntaxFault| size_of::<SyntaxFault>() + fault.message.len();
        let faults: usize = self.faults.iter().map(fault).sum();
        size_of::<TreeReport>() + faults + bracket_bytes(&self.brackets) + size_of::<u32>() * self.parts.len()
    }
}

impl CacheValue for Arc<BracketReport> {
    fn size(&self) -> usize {
        bracket_bytes(self)
    }
}

fn bracket_bytes(report: &BracketReport) -> usize {
    size_of::<BracketReport>() + size_of::<usize>() * (report.lone.len() + report.unclosed.len())
}

#[cfg(test)]
mod tests {
    use super::super::cases::buffer;
    use super::*;

    type Cache = BoundedCache<Arc<BracketReport>>;

    fn number_key(number: usize) -> Version {
        Version::hash(&number.to_le_bytes())
    }

    fn brackets(count: usize) -> Arc<BracketReport> {
        Arc::new(BracketReport { lone: vec![0; count], unclosed: Vec::new() })
    }

    #[test]
    fn all_that_a_parse_depends_on_is_in_the_key() {
        let known = key("c", "a.c", &buffer("int a;\n"));
        assert_eq!(known, key("c", "a.c", &buffer("int a;\n")));
        for other in [
            key("cpp", "a.c", &buffer("int a;\n")),
            key("c", "a.h", &buffer("int a;\n")),
            key("c", "a.c", &buffer("int b;\n")),
        ] {
            assert_ne!(known, other);
        }
    }

    #[test]
    fn the_least_recently_used_value_is_dropped_and_a_large_one_not_kept() {
        let cache = Cache::default();
        let count = |bytes: usize| (bytes - size_of::<BracketReport>()) / size_of::<usize>();
        let quarter = count(<Arc<BracketReport>>::MAX_BYTES / 4);
        for number in 0..4 {
            cache.insert(number_key(number), brackets(quarter));
        }
        assert!(cache.get(number_key(0)).is_some(), "this one is asked for");
        cache.insert(number_key(4), brackets(quarter));
        let known = |numbers: [usize; 5]| numbers.map(|number| cache.get(number_key(number)).is_some());
        assert_eq!(known([0, 1, 2, 3, 4]), [true, false, true, true, true]);
        cache.insert(number_key(5), brackets(count(<Arc<BracketReport>>::LARGEST) + 1));
        assert!(cache.get(number_key(5)).is_none());
        cache.insert(number_key(4), brackets(0));
        assert!(
            cache.len_and_bytes().1 < <Arc<BracketReport>>::MAX_BYTES,
            "a value that was replaced does not count"
        );
    }
}
