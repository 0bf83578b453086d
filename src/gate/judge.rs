//! Asks the gates, and weighs what they say against what the file was before.
//!
//! Invariant: a judgement cannot fail. Whatever goes wrong in a gate is that gate's [`Outcome`], and a gate that did
//! not look never counts as one that found nothing.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use super::delta::{self, Belief, Mark};
use super::draft::Draft;
use super::finding::{Finding, Severity};
use super::pattern;
use super::syntax::{self, Trouble};
use super::verdict::{Outcome, Run, Verdict};
use super::watch::{Halt, Watch};
use crate::policy::{Kind, Level, PatternRules, Rule};
use crate::text::Buffer;

/// The most findings that one gate may report, gravest first.
const MOST_FINDINGS: usize = 1000;

/// Asks each rule's gate about the draft; only what is new, and an error, blocks.
pub fn judge(draft: &Draft<'_>, rules: &[&Rule], watch: &Watch) -> Verdict {
    let (mut runs, mut findings) = (Vec::new(), Vec::new());
    for (done, rule) in rules.iter().enumerate() {
        watch.report(&rule.gate.name, done, rules.len());
        let start = Instant::now();
        let said = ask(draft, rule, watch, start);
        let ms = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
        let (outcome, why) = said.as_ref().map_or_else(refusal, |marks| (found(marks), None));
        runs.push(Run { gate: rule.gate.name.clone(), outcome, ms, why });
        findings.extend(weigh(rule, said.unwrap_or_default()));
    }
    Verdict::new(runs, findings)
}

/// Why a gate gave no answer.
enum Silence {
    /// It was not asked.
    Skipped(&'static str),
    /// It tried.
    Trouble(Trouble),
}

type Said = Result<Vec<(Mark, bool)>, Silence>;

fn ask(draft: &Draft<'_>, rule: &Rule, watch: &Watch, start: Instant) -> Said {
    if !rule.enabled {
        return Err(Silence::Skipped("disabled in the policy"));
    }
    if !rule.gate.covers(draft.language) {
        return Err(Silence::Skipped("not for this language"));
    }
    if watch.cancelled() {
        return Err(Silence::Trouble(Trouble::Halted(Halt::Cancelled)));
    }
    let limit = watch.until(start + rule.gate.timeout);
    let look = || match &rule.gate.kind {
        Kind::Syntax => syntax::judge(draft, limit).map_err(Silence::Trouble),
        Kind::Pattern(rules) => Ok(patterns(draft, rules)),
    };
    catch_unwind(AssertUnwindSafe(look)).unwrap_or_else(|_| {
        let why = "the gate panicked".to_owned();
        Err(Silence::Trouble(Trouble::Broken(why)))
    })
}

/// Looks for patterns in both texts; the one before is looked at only when there is something to compare.
fn patterns(draft: &Draft<'_>, rules: &PatternRules) -> Vec<(Mark, bool)> {
    let look = |buffer: &Buffer| -> Vec<Mark> {
        let findings = pattern::check(rules, draft.path, buffer.view(), draft.beside).into_iter();
        findings.map(|finding| mark(finding, buffer)).collect()
    };
    let after = look(draft.after);
    let before = draft.before.filter(|_| !after.is_empty()).map(look).unwrap_or_default();
    let new = delta::unmatched(&before, &after, draft.map).new;
    after.into_iter().zip(new).collect()
}

fn mark(finding: Finding, buffer: &Buffer) -> Mark {
    let mark = Mark::new(buffer.lines(), (finding.line, finding.column), finding.message);
    Mark { code: finding.code, ..mark }
}

fn found(marks: &[(Mark, bool)]) -> Outcome {
    if marks.is_empty() { Outcome::Passed } else { Outcome::Found }
}

fn refusal(silence: &Silence) -> (Outcome, Option<String>) {
    let (outcome, why) = match silence {
        Silence::Skipped(why) | Silence::Trouble(Trouble::Unknown(why)) => (Outcome::Skipped, *why),
        Silence::Trouble(Trouble::Unreadable(why)) => (Outcome::Broken, *why),
        Silence::Trouble(Trouble::Halted(Halt::Cancelled)) => (Outcome::Skipped, "cancelled"),
        Silence::Trouble(Trouble::Halted(Halt::TimedOut)) => (Outcome::TimedOut, "no answer in time"),
        Silence::Trouble(Trouble::Broken(why)) => (Outcome::Broken, why.as_str()),
    };
    (outcome, Some(super::finding::clean(why)))
}

/// Says what each fault means for the edit.
fn weigh(rule: &Rule, mut marks: Vec<(Mark, bool)>) -> Vec<Finding> {
    marks.sort_by_key(|(_, fresh)| !fresh);
    marks.truncate(MOST_FINDINGS);
    let weighed = marks.into_iter().map(|(mark, fresh)| {
        let severity = match (rule.level, mark.belief) {
            (Level::Block, Belief::Certain) => Severity::Error,
            (Level::Block, Belief::Doubtful) | (Level::Warn, _) => Severity::Warning,
        };
        Finding {
            gate: rule.gate.name.clone(),
            severity,
            code: mark.code,
            fresh,
            blocking: fresh && severity == Severity::Error,
            ..Finding::new(mark.line, mark.column, &mark.message)
        }
    });
    weighed.collect()
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};
    use std::time::Duration;

    use regex::Regex;
    use tokio_util::sync::CancellationToken;

    use super::*;
    use crate::policy::{Catalogue, Gate, Languages};
    use crate::text::{Hints, LineMap};

    fn forbidding(pattern: &str, languages: Languages, level: Level, enabled: bool) -> Rule {
        let wanted = PatternRules::Regex {
            must_match: None,
            must_not_match: Some(Regex::new(pattern).unwrap()),
            message: format!("seen {pattern}"),
        };
        let gate = Gate {
            name: format!("no-{pattern}"),
            languages,
            kind: Kind::Pattern(wanted),
            timeout: Duration::from_secs(5),
            samples: Vec::new(),
        };
        Rule { gate: Arc::new(gate), level, enabled }
    }

    fn verdict(before: Option<&str>, after: &str, rules: &[Rule], watch: &Watch) -> Verdict {
        let read = |text: &str| Buffer::read(text.as_bytes().to_vec(), Hints::default()).unwrap();
        let (old, new) = (before.map(read), read(after));
        let map =
            old.as_ref().map_or_else(LineMap::default, |old| old.rewrite(after).unwrap().line_map(old, &new));
        let beside = |_: &str| false;
        let draft = Draft {
            path: "a.txt",
            language: None,
            before: old.as_ref(),
            after: &new,
            map: &map,
            beside: &beside,
        };
        judge(&draft, &rules.iter().collect::<Vec<_>>(), watch)
    }

    fn outcomes(verdict: &Verdict) -> Vec<(Outcome, Option<&str>)> {
        verdict.runs.iter().map(|run| (run.outcome, run.why.as_deref())).collect()
    }

    #[test]
    fn old_findings_are_told_and_only_new_errors_block() {
        let rules = [
            forbidding("TODO", Languages::Every, Level::Block, true),
            forbidding("XXX", Languages::Every, Level::Warn, true),
            forbidding("HACK", Languages::Every, Level::Block, true),
        ];
        let told = verdict(Some("a TODO\n"), "a TODO\nb TODO\nc XXX\n", &rules, &Watch::idle());
        assert_eq!(
            outcomes(&told),
            [(Outcome::Found, None), (Outcome::Found, None), (Outcome::Passed, None)]
        );
        let findings: Vec<_> = told
            .findings
            .iter()
            .map(|found| (found.line, found.severity, found.fresh, found.blocking))
            .collect();
        let (error, warning) = (Severity::Error, Severity::Warning);
        assert_eq!(findings, [(2, error, true, true), (3, warning, true, false), (1, error, false, false)]);
        assert_eq!(told.findings[0].gate, "no-TODO");
    }

    #[test]
    fn a_gate_that_did_not_look_has_not_passed() {
        let rules = [
            forbidding("a", Languages::Every, Level::Block, false),
            forbidding("b", Languages::Only(vec!["go".to_owned()]), Level::Block, true),
            Rule {
                gate: Arc::clone(Catalogue::embedded().find("syntax").unwrap()),
                level: Level::Block,
                enabled: true,
            },
        ];
        let told = verdict(None, "a b\n", &rules, &Watch::idle());
        let why = |why| (Outcome::Skipped, Some(why));
        let other = "not for this language";
        assert_eq!(outcomes(&told), [why("disabled in the policy"), why(other), why(other)]);
    }

    #[test]
    fn every_gate_is_reported_and_none_runs_for_a_caller_that_has_gone() {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let (ear, token) = (Arc::clone(&heard), CancellationToken::new());
        let (leave, rules) =
            (token.clone(), ["a", "b"].map(|p| forbidding(p, Languages::Every, Level::Block, true)));
        let progress = move |gate: &str, done, total| {
            ear.lock().unwrap().push((gate.to_owned(), done, total));
            if done == 1 {
                leave.cancel();
            }
        };
        let told = verdict(None, "c\n", &rules, &Watch::new(token, Some(Box::new(progress))));
        assert_eq!(outcomes(&told), [(Outcome::Passed, None), (Outcome::Skipped, Some("cancelled"))]);
        assert_eq!(*heard.lock().unwrap(), [("no-a".to_owned(), 0, 2), ("no-b".to_owned(), 1, 2)]);
    }
}
