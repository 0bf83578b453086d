//! Gates of the kind `pattern`: rules about the text itself, looked at in process.
//!
//! Invariant: a rule sees one text and the question whether a path exists, nothing else; findings come in the text's
//! order, and the time is linear in the text.

use regex::Regex;

use super::finding::Finding;
use super::markdown;
use crate::policy::PatternRules;

/// The most places that one forbidden pattern is looked for: each search may read the rest of the text.
const MOST_MATCHES: usize = 1000;

/// What a rule finds, at an offset of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) offset: usize,
    pub(super) code: Option<&'static str>,
    pub(super) message: String,
}

/// Looks at a text by the rules; `path` is where it lies, `beside` tells whether another root-relative path exists.
pub(super) fn check(
    rules: &PatternRules,
    path: &str,
    text: &str,
    beside: &(dyn Fn(&str) -> bool + Sync),
) -> Vec<Finding> {
    let faults = match rules {
        PatternRules::Markdown => markdown::faults(path, text, beside),
        PatternRules::Regex { must_match, must_not_match, message } => {
            matched(must_match.as_ref(), must_not_match.as_ref(), message, text)
        }
    };
    placed(text, faults)
}

fn matched(wanted: Option<&Regex>, forbidden: Option<&Regex>, message: &str, text: &str) -> Vec<Fault> {
    let fault = |offset| Fault { offset, code: None, message: message.to_owned() };
    let missing = wanted.filter(|regex| !regex.is_match(text)).map(|_| fault(0));
    let found = forbidden.into_iter().flat_map(|regex| regex.find_iter(text).take(MOST_MATCHES));
    missing.into_iter().chain(found.map(|found| fault(found.start()))).collect()
}

/// Turns offsets into lines and columns in one walk over the text.
fn placed(text: &str, mut faults: Vec<Fault>) -> Vec<Finding> {
    faults.sort_by_key(|fault| fault.offset);
    let (mut offset, mut line, mut column) = (0, 1, 1);
    let mut finding = |fault: Fault| {
        for character in text.get(offset..fault.offset).unwrap_or_default().chars() {
            (line, column) = if character == '\n' { (line + 1, 1) } else { (line, column + 1) };
        }
        offset = fault.offset;
        let finding = Finding::new(line, column, &fault.message);
        match fault.code {
            Some(code) => finding.code(code),
            None => finding,
        }
    };
    faults.into_iter().map(&mut finding).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(must_match: Option<&str>, must_not_match: Option<&str>) -> PatternRules {
        let regex = |pattern: &str| regex::RegexBuilder::new(pattern).multi_line(true).build().unwrap();
        PatternRules::Regex {
            must_match: must_match.map(regex),
            must_not_match: must_not_match.map(regex),
            message: "seen".to_owned(),
        }
    }

    fn places(rules: &PatternRules, text: &str) -> Vec<(usize, usize)> {
        check(rules, "a.txt", text, &|_| false).iter().map(|finding| (finding.line, finding.column)).collect()
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
        let seen = check(&PatternRules::Markdown, "a.md", &text, &|_| false);
        assert_eq!(seen.len(), 50_001);
        assert_eq!(seen.last().map(|finding| finding.column), Some(7 * 49_999 + 1));
    }
}
