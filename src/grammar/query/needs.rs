//! What a text must hold for a query to match in it: a text that does not need not be parsed.
//!
//! Invariant: where a text lacks what is given, the query has no match in it.

use std::sync::LazyLock;

use regex::Regex;
use tree_sitter::{CaptureQuantifier, Query};

/// A capture that must be just this text.
static EQUAL: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"\(\s*#eq\?\s+@([\w.-]+)\s+"([^"\n]+)"\s*\)"#).ok());

/// Texts that stand in every match of a query, as far as its source tells: of its only pattern, which captures a node that
/// is to be equal to them in any case.
pub(super) fn needs(query: &Query, source: &str) -> Vec<String> {
    // In a comment nothing is said, and what is escaped is another text.
    let is_plain = query.pattern_count() == 1 && !source.contains([';', '\\']);
    let Some(equal) = EQUAL.as_ref().filter(|_| is_plain) else { return Vec::new() };
    let is_certain = |capture: &str| {
        let index = query.capture_index_for_name(capture).and_then(|index| usize::try_from(index).ok());
        let quantifier = index.and_then(|index| query.capture_quantifiers(0).get(index));
        matches!(quantifier, Some(CaptureQuantifier::One | CaptureQuantifier::OneOrMore))
    };
    let said = equal.captures_iter(source).map(|found| found.extract::<2>().1);
    said.filter(|[capture, _]| is_certain(capture)).map(|[_, text]| text.to_owned()).collect()
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
            // It may be absent.
            (r#"((block (_)? @a (pass_statement) @b) (#eq? @a "word"))"#, &[]),
            (r#"((block (_)* @a) @b (#eq? @a "word"))"#, &[]),
            (r#"([(identifier) @a (integer) @b] (#eq? @a "word"))"#, &[]),
            // It is no text, or another one, or not asked for.
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
