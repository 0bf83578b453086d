//! Finds texts that a query requires. A file without them need not be parsed.
//!
//! Invariant: if a file lacks one of the texts, the query has no match in it.

use std::sync::LazyLock;

use regex::Regex;
use tree_sitter::{CaptureQuantifier, Query};

/// A predicate that requires a capture to equal a text.
static EQUAL: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"\(\s*#eq\?\s+@([\w.-]+)\s+"([^"\n]+)"\s*\)"#).ok());

/// Returns texts that every match of a query contains, as far as the source shows: those of its only
/// pattern that compare a non-optional captured node with a text.
pub(super) fn needs(query: &Query, source: &str) -> Vec<String> {
    // A comment could hide a predicate, and an escape would change the text.
    let is_plain = query.pattern_count() == 1 && !source.contains([';', '\\']);
    let Some(equal) = EQUAL.as_ref().filter(|_| is_plain) else { return Vec::new() };
    let is_certain = |capture: &str| {
        let index = query.capture_index_for_name(capture).and_then(|index| usize::try_from(index).ok());
        let quantifier = index.and_then(|index| query.capture_quantifiers(0).get(index));
        matches!(quantifier, Some(CaptureQuantifier::One | CaptureQuantifier::OneOrMore))
    };
    let predicates = equal.captures_iter(source).map(|found| found.extract::<2>().1);
    predicates.filter(|[capture, _]| is_certain(capture)).map(|[_, text]| text.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_needs_what_stands_in_all_of_its_matches() {
        for (source, needed) in [
            (r#"((identifier) @a (#eq? @a "word"))"#, &["word"][..]),
            (r#"([(identifier) @a (attribute attribute: (identifier) @a)] (#eq? @a "word"))"#, &["word"]),
            (r#"((assignment left: (_) @a right: (_) @b) (#eq? @a "x") ( #eq?  @b "y" ))"#, &["x", "y"]),
            (r#"((block (_)+ @a) (#eq? @a "word"))"#, &["word"]),
            // The node is optional.
            (r#"((block (_)? @a (pass_statement) @b) (#eq? @a "word"))"#, &[]),
            (r#"((block (_)* @a) @b (#eq? @a "word"))"#, &[]),
            (r#"([(identifier) @a (integer) @b] (#eq? @a "word"))"#, &[]),
            // It is not a text, a different text, or not required.
            (r#"((assignment left: (_) @a right: (_) @b) (#eq? @a @b))"#, &[]),
            (r#"((identifier) @a (#not-eq? @a "word"))"#, &[]),
            (r#"((block (_)+ @a) (#any-eq? @a "word"))"#, &[]),
            (r#"((string) @a (#eq? @a "\"word\""))"#, &[]),
            ("(identifier) @a ; (#eq? @a \"word\")", &[]),
            (r#"(identifier) @a ((integer) @b (#eq? @b "1"))"#, &[]),
        ] {
            let query = Query::new(&tree_sitter_python::LANGUAGE.into(), source).expect(source);
            assert_eq!(needs(&query, source), needed, "{source}");
        }
    }
}
