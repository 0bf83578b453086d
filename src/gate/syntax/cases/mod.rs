//! What an edit may do to a file, case by case.

mod broken;
mod sound;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::gate::{Draft, Grant, Means, Outcome, Severity, Stands, Verdict, Watch, Workshop, judge};
use crate::policy::{Catalogue, Gate, Isolation, Level, Rule, Terms, language_of};
use crate::text::{Buffer, Hints, LineMap};

pub(super) fn buffer(text: &str) -> Buffer {
    Buffer::read(text.as_bytes().to_vec(), Hints::default()).unwrap()
}

/// Judges a text by the syntax gate alone, against the text before it.
pub(super) fn judged(path: &str, before: Option<&str>, after: &str) -> Verdict {
    judged_by(path, before, after, Level::Block, Duration::from_secs(60), &Watch::idle())
}

pub(super) fn judged_by(
    path: &str,
    before: Option<&str>,
    after: &str,
    level: Level,
    timeout: Duration,
    watch: &Watch,
) -> Verdict {
    let rule = Rule { level, timeout, ..Rule::plain(syntax()) };
    let (old, new) = (before.map(buffer), buffer(after));
    let map =
        old.as_ref().map_or_else(LineMap::default, |old| old.rewrite(after).unwrap().line_map(old, &new));
    let language = language_of(path, after.lines().next());
    let beside = |_: &str| false;
    let draft = Draft {
        path,
        language,
        before: old.as_ref(),
        after: &new,
        map: &map,
        stands: Stands::of_file(old.as_ref()),
        beside: &beside,
    };
    let terms = Terms::of(&rule, timeout);
    let (grant, workshop) = (Grant::Withheld("no program runs here".to_owned()), Workshop::default());
    let means = Means {
        root: Path::new("/"),
        grant: &grant,
        workshop: &workshop,
        isolation: Isolation::None,
        cache: None,
    };
    judge(&draft, &terms, &means, watch)
}

fn syntax() -> Arc<Gate> {
    Arc::clone(Catalogue::embedded().find("syntax").unwrap())
}

/// Language, what happens, the file before and after, and the lines that are refused.
type Case = (&'static str, &'static str, &'static str, &'static str, &'static [usize]);

fn check(cases: &[Case]) {
    let mut wrong = Vec::new();
    for (path, what, before, after, refused) in cases {
        let verdict = judged(path, Some(before), after);
        let lines: Vec<_> = verdict.blocking().map(|finding| finding.line).collect();
        if lines != *refused {
            wrong.push(format!(
                "{path}: {what}: wanted {refused:?}, got {lines:?} of {:#?}",
                verdict.findings
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_file_that_parsed_before_must_parse_after() {
    check(sound::CASES);
}

#[test]
fn a_file_that_did_not_parse_can_be_repaired_in_steps_and_not_made_worse() {
    check(broken::CASES);
}

#[test]
fn what_a_grammar_says_of_good_files_too_only_warns() {
    let verdict = judged("a.c", None, "int f(void) {\n  return 1\n}\n");
    assert_eq!(verdict.runs[0].outcome, Outcome::Found);
    assert!(verdict.findings.iter().all(|finding| finding.fresh && !finding.blocking));
    let verdict = judged("a.c", None, "int f(void) {\n  return 1;\n");
    assert_eq!(verdict.blocking().count(), 1);
}

#[test]
fn a_rule_that_warns_does_not_block() {
    let watch = Watch::idle();
    let verdict = judged_by("a.py", None, "x = (]\n", Level::Warn, Duration::from_secs(9), &watch);
    assert_eq!(verdict.blocking().count(), 0);
    assert!(verdict.findings.iter().all(|finding| finding.fresh && finding.severity == Severity::Warning));
}

#[test]
fn the_outcome_tells_of_old_faults_too() {
    let verdict = judged("a.py", Some("x = (]\n"), "x = (]\ny = 1\n");
    assert_eq!(verdict.runs[0].outcome, Outcome::Found);
    assert!(verdict.findings.iter().all(|finding| !finding.fresh && !finding.blocking));
}

#[test]
fn every_fault_of_a_new_file_is_new() {
    let verdict = judged("a.py", None, "x = (]\n");
    assert_eq!(verdict.blocking().count(), verdict.findings.len());
    assert!(verdict.blocking().count() > 0);
}
