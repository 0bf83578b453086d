//! Runs the gates: first those in process, then the fixers, then all other programs in parallel.
//!
//! The drafts of one call are judged together: a program that looks at one of them sees the others in place
//! of their files. If an in-process gate rejects one draft, no program runs for any.
//!
//! Invariant: a judgement cannot fail. An error in a gate is the [`Outcome`](super::Outcome) of that gate,
//! and a gate that did not run never counts as one that found nothing.

mod baseline;
mod call;
mod consult;
mod count;
mod fix;
mod input;
mod partial;
mod plan;
mod program;
mod prove;
mod repair;
mod report;
mod runs;
#[cfg(test)]
mod tests;

use std::time::{Duration, Instant};

use self::call::{JudgeCall, Member};
use self::count::GateCounter;
use self::fix::FixedText;
use self::input::GateResults;
pub use self::input::{GateInput, OnDisk};
use self::plan::{GatePlan, ProgramGate};
use self::repair::Repair;
use self::report::GateReport;
use self::runs::{GateReply, Runs};
use super::draft::Draft;
use super::error::GateError;
use super::gate_env::GateEnv;
use super::lost::Lost;
use super::parallel::{CORES, parallel};
use super::verdict::Verdict;
use lockgate_policy::{EffectiveRules, SyntaxFallback};
use lockgate_sandbox::Watch;

/// The minimum number of threads that run programs: most of them wait.
const LEAST_THREADS: usize = 8;

/// Runs the gate of each rule on one draft, and weighs the findings by the rules.
///
/// If an in-process gate rejects the draft, no program runs. If fixers changed the draft, the verdict
/// contains the new text, which is the one that was judged.
pub fn judge(draft: &Draft<'_>, rules: &EffectiveRules<'_>, env: &GateEnv<'_>, watch: &Watch) -> Verdict {
    let input = GateInput {
        draft: *draft,
        rules: rules.clone(),
        env: *env,
        removed: false,
        group: 0,
        on_disk: OnDisk::Before,
        dead_links: &[],
        lost: Lost::none(),
    };
    judge_all(&[input], watch).into_iter().next().unwrap_or_default()
}

/// Judges the drafts of one call together; returns a verdict for each, in their order.
pub fn judge_all(inputs: &[GateInput<'_>], watch: &Watch) -> Vec<Verdict> {
    let began = Instant::now();
    let plans: Vec<GatePlan<'_>> =
        inputs.iter().map(|input| GatePlan::new(&input.rules, &input.draft, &input.env)).collect();
    let count = GateCounter::new(watch, plans.iter().map(GatePlan::count).sum());
    let cores = *CORES;
    let planned: Vec<_> = inputs.iter().zip(&plans).collect();
    let in_process = parallel(&planned, cores, |(input, plan)| {
        JudgeCall::new(input, watch, began, &count).in_process(&plan.in_process)
    });
    let job =
        |((input, plan), results)| JudgeJob::new(JudgeCall::new(input, watch, began, &count), plan, results);
    let mut jobs: Vec<JudgeJob<'_>> = inputs.iter().zip(plans).zip(in_process).map(job).collect();
    // One rejected draft rejects all drafts of an edit; files on disk are judged in any case.
    let rejections: Vec<_> = jobs.iter().map(JudgeJob::rejection).collect();
    let refused = inputs.iter().zip(&rejections).filter(|(input, _)| input.on_disk == OnDisk::Before);
    let first = refused.filter_map(|(_, rejection)| rejection.clone()).next();
    for (job, own) in jobs.iter_mut().zip(rejections) {
        if let Some(rejection) = first.clone().or(own) {
            job.skip_programs(&rejection);
        }
    }
    let fixed = parallel(&jobs, cores, |job| job.call.fix(&job.plan.fixers, &job.plan.in_process));
    for (job, (fixed, results)) in jobs.iter_mut().zip(fixed) {
        job.fixed = fixed;
        job.results.extend(results);
    }
    let checked = check(&jobs, cores);
    jobs.iter_mut().zip(checked).for_each(|(job, results)| job.results.extend(results));
    let fallbacks = parallel(&jobs, cores, JudgeJob::check_syntax);
    jobs.iter_mut().zip(fallbacks).for_each(|(job, result)| job.results.extend(result));
    jobs.into_iter().map(JudgeJob::verdict).collect()
}

/// The judgement of one draft: its gates and their results.
struct JudgeJob<'a> {
    call: JudgeCall<'a>,
    plan: GatePlan<'a>,
    results: GateResults,
    fixed: Option<FixedText>,
    /// Set when an in-process gate rejects this draft or another one of the call.
    rejected: bool,
}

impl<'a> JudgeJob<'a> {
    /// Creates a job with the results of the in-process gates.
    fn new(call: JudgeCall<'a>, mut plan: GatePlan<'a>, in_process: GateResults) -> JudgeJob<'a> {
        let mut results: GateResults = std::mem::take(&mut plan.unavailable).into_iter().collect();
        results.extend(in_process);
        JudgeJob { call, plan, results, fixed: None, rejected: false }
    }

    /// Returns the file and the in-process gate that rejects it, if any.
    fn rejection(&self) -> Option<(&'a str, String)> {
        let refuser = self.results.values().find(|report| report.refuses())?;
        Some((self.call.input.draft.path, refuser.run.gate.clone()))
    }

    /// Skips the programs, because another gate already rejected a draft of this call; all but the one that can still
    /// reject a draft that is written whatever the others find.
    fn skip_programs(&mut self, (path, gate): &(&str, String)) {
        let why = if *path == self.call.input.draft.path {
            format!("{gate} already rejects the draft")
        } else {
            format!("{gate} already rejects {path}")
        };
        let why = GateError::Skipped(why);
        let decisive = self.call.input.rules.decisive;
        let is_skipped =
            |gate: &mut ProgramGate<'a>| decisive.is_none_or(|rule| !std::ptr::eq(rule, gate.rule));
        let GatePlan { fixers, checks, .. } = &mut self.plan;
        let skipped = fixers.drain(..).chain(checks.extract_if(.., is_skipped));
        let report = |gate: ProgramGate<'a>| GateReport::from_error(gate.rule, &why, Duration::ZERO);
        self.results.extend(skipped.map(|gate| (gate.at, report(gate))));
        self.rejected = true;
    }

    /// Checks the syntax of the draft if the list of its language does not name that gate and none of the programs of
    /// the list judged the draft. Returns the report, at a position after those of the policy's own rules, if it found
    /// something. A run that found nothing is not reported, because the policy does not name the gate. A draft that
    /// another gate rejects is only checked if it is written nevertheless.
    fn check_syntax(&self) -> Option<(usize, GateReport)> {
        let rules = &self.call.input.rules;
        let SyntaxFallback { rule, programs } = rules.fallback.as_ref()?;
        let is_of_list = |report: &&GateReport| programs.contains(&report.run.gate.as_str());
        let reports: Vec<&GateReport> = self.results.values().filter(is_of_list).collect();
        // An undo leaves the fixers out, and the removal of a file all programs.
        let is_refused = self.rejected && !rules.is_interactive;
        if is_refused || reports.is_empty() || reports.iter().any(|report| report.run.has_judged()) {
            return None;
        }
        let report = self.call.check_syntax(&self.fixed_draft(), rule)?;
        Some((rules.rules.len(), report))
    }

    /// Returns the draft after the fixers.
    fn fixed_draft(&self) -> Draft<'_> {
        let draft = &self.call.input.draft;
        self.fixed.as_ref().map_or(*draft, |fixed| fixed.draft(draft))
    }

    fn verdict(self) -> Verdict {
        Verdict {
            fixed: self.fixed.map(|fixed| fixed.text),
            ..GateReport::verdict(self.results.into_values())
        }
    }
}

/// Runs all checks that use programs on all drafts: one run for the drafts that share it, and the runs in
/// parallel. Returns the results for each draft.
fn check(jobs: &[JudgeJob<'_>], cores: usize) -> Vec<GateResults> {
    let drafts: Vec<Draft<'_>> = jobs.iter().map(JudgeJob::fixed_draft).collect();
    let repairs: Vec<Repair<'_>> =
        jobs.iter().zip(&drafts).map(|(job, draft)| Repair::new(draft, job.call.limit)).collect();
    let parts = jobs.iter().zip(&drafts).zip(&repairs);
    let members: Vec<Member<'_, '_>> = parts
        .enumerate()
        .flat_map(|(index, ((job, draft), repair))| {
            let member = move |gate| Member { index, call: &job.call, gate, draft, repair };
            job.plan.checks.iter().map(member)
        })
        .collect();
    let inputs: Vec<(&GateInput<'_>, &Draft<'_>)> =
        jobs.iter().map(|job| job.call.input).zip(&drafts).collect();
    let runs = Runs::new(&inputs, &members);
    // Threads that wait for a server or a slot must not delay the others.
    let threads = cores.saturating_mul(2).max(LEAST_THREADS);
    let shared_runs = runs.all();
    let replies = parallel(&shared_runs, threads, |run| runs.ask(run));
    let mut all: Vec<GateResults> = jobs.iter().map(|_| GateResults::new()).collect();
    for GateReply { draft, gate, report } in replies.into_iter().flatten() {
        if let Some(results) = all.get_mut(draft) {
            results.insert(gate, report);
        }
    }
    all
}
