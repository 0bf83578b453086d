//! Gates of the kind `pattern`: rules about the text, checked in process.
//!
//! Invariant: a rule sees one text and can ask if a path exists, nothing else. Findings come in the order of
//! the text. The time is linear in the text, except for queries, whose steps are limited.

use regex::Regex;

use super::delta::ComparedFinding;
use super::error::GateError;
use super::finding::{Severity, sanitize};
use super::rule_match::{MAX_MATCHES, PatternInput, QUERY_STEPS, RuleMatch};
use super::syntax::unreadable;
use super::{markdown, scaffold};
use lockgate_policy::PatternRules;
use lockgate_syntax::Query;
use lockgate_text::Lines;

/// Checks a text, which has these lines, by the rules.
///
/// Errors: the reason that the rules could not be applied.
pub(super) fn check(
    rules: &PatternRules,
    page: PatternInput<'_>,
    lines: Lines<'_>,
) -> Result<Vec<ComparedFinding>, GateError> {
    let matches = match rules {
        PatternRules::Markdown => markdown::faults(&page)?,
        PatternRules::Scaffold(rules) => scaffold::check(rules, page)?,
        PatternRules::Regex { must_match, must_not_match, message } => {
            matched(must_match.as_ref(), must_not_match.as_ref(), message, page.text)
        }
        PatternRules::Query { must_match, must_not_match, message } => {
            let places = |query: &Query| {
                query.places(page.language, page.path, page.text, QUERY_STEPS).map_err(unreadable)
            };
            let required = must_match.as_ref().map(places).transpose()?;
            let missing = required.is_some_and(|places| places.is_empty()).then_some(0);
            let found = must_not_match.as_ref().map(places).transpose()?.unwrap_or_default();
            missing.into_iter().chain(found).map(|offset| rule_match(offset, message)).collect()
        }
    };
    Ok(into_findings(page.text, lines, matches))
}

fn rule_match(offset: usize, message: &str) -> RuleMatch {
    RuleMatch { offset, code: None, severity: Severity::Error, message: message.to_owned() }
}

fn matched(required: Option<&Regex>, forbidden: Option<&Regex>, message: &str, text: &str) -> Vec<RuleMatch> {
    let missing = required.filter(|regex| !regex.is_match(text)).map(|_| rule_match(0, message));
    let found = forbidden.into_iter().flat_map(|regex| regex.find_iter(text).take(MAX_MATCHES));
    missing.into_iter().chain(found.map(|found| rule_match(found.start(), message))).collect()
}

/// Converts offsets into lines and columns in one pass over the text.
fn into_findings(text: &str, lines: Lines<'_>, mut matches: Vec<RuleMatch>) -> Vec<ComparedFinding> {
    matches.sort_by_key(|rule_match| rule_match.offset);
    let (mut last, mut line, mut column) = (0, 1, 1);
    let finding = |RuleMatch { offset, code, severity, message }| {
        for character in text.get(last..offset).unwrap_or_default().chars() {
            (line, column) = if character == '\n' { (line + 1, 1) } else { (line, column + 1) };
        }
        last = offset;
        let finding = ComparedFinding::new(lines, (line, column), sanitize(&message));
        ComparedFinding { code: code.map(str::to_owned), severity, ..finding }
    };
    matches.into_iter().map(finding).collect()
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;
    use crate::Watch;
    use lockgate_text::{Buffer, Hints};

    fn found(rules: &PatternRules, path: &str, text: &str) -> Vec<ComparedFinding> {
        let watch = Watch::idle();
        let limit = watch.until(Instant::now() + Duration::from_secs(60));
        let buffer = Buffer::read(text.as_bytes().to_vec(), Hints::default()).unwrap();
        let page = PatternInput { path, language: "", text, files_exist: &|_| false, limit };
        check(rules, page, buffer.lines()).unwrap()
    }

    fn rules(must_match: Option<&str>, must_not_match: Option<&str>) -> PatternRules {
        let regex = |pattern: &str| regex::RegexBuilder::new(pattern).multi_line(true).build().unwrap();
        PatternRules::Regex {
            must_match: must_match.map(regex),
            must_not_match: must_not_match.map(regex),
            message: "seen".to_owned(),
        }
    }

    fn places(rules: &PatternRules, text: &str) -> Vec<(usize, usize)> {
        found(rules, "a.txt", text).iter().map(|finding| (finding.line, finding.column)).collect()
    }

    #[test]
    fn a_wanted_pattern_that_is_missing_is_found_at_the_start() {
        let licence = rules(Some("^// SPDX-"), None);
        assert_eq!(places(&licence, "fn f() {}\n"), [(1, 1)]);
        assert_eq!(places(&licence, "#!x\n// SPDX-MIT\n"), []);
    }

    #[test]
    fn a_forbidden_pattern_is_found_at_each_place_in_characters() {
        let todo = rules(None, Some("TODO"));
        assert_eq!(places(&todo, "éé TODO\n\n𝄞TODO TODO"), [(1, 4), (3, 2), (3, 7)]);
        assert_eq!(places(&todo, ""), []);
    }

    #[test]
    fn ten_thousand_places_on_one_line_are_found_in_one_walk() {
        let text = "[a](b) ".repeat(50_000);
        let findings = found(&PatternRules::Markdown, "a.md", &text);
        // The page has no title, and its further links are not looked up.
        assert_eq!(findings.len(), 20_002);
        assert_eq!(findings.last().map(|finding| finding.column), Some(7 * 19_999 + 1));
        let cut = findings.iter().filter(|finding| finding.code.as_deref() == Some("many-links"));
        assert_eq!(cut.count(), 1);
    }
}
