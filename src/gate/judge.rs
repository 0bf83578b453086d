//! Asks the gates, and weighs what they say against what the file was before.
//!
//! Invariant: a judgement cannot fail. Whatever goes wrong in a gate is that gate's [`Outcome`], and a gate that did
//! not look never counts as one that found nothing.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use super::delta::{self, Mark};
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
        Silence::Skipped(why) | Silence::Trouble(Trouble::Unreadable(why)) => (Outcome::Skipped, *why),
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
    let severity = match rule.level {
        Level::Block => Severity::Error,
        Level::Warn => Severity::Warning,
    };
    let weighed = marks.into_iter().map(|(mark, fresh)| Finding {
        gate: rule.gate.name.clone(),
        severity,
        code: mark.code,
        fresh,
        blocking: fresh && severity == Severity::Error,
        ..Finding::new(mark.line, mark.column, &mark.message)
    });
    weighed.collect()
}
