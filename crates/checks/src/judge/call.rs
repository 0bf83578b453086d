//! Runs the gates of one draft: the in-process gates, the fixers and the checks.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use super::baseline::{TextBefore, Weights};
use super::consult::{ConsultResults, Findings, consult};
use super::count::GateCounter;
use super::fix::{FixedText, fix};
use super::input::{GateInput, GateResults};
use super::plan::{External, InProcess, InProcessGate, ProgramGate, check_applies};
use super::program::{GateProgram, ProgramContext};
use super::repair::Repair;
use super::report::GateReport;
use crate::delta::{self, ComparedFinding, MarkedFinding};
use crate::draft::Draft;
use crate::error::GateError;
use crate::rule_match::PatternInput;
use crate::verdict::Outcome;
use crate::{damage, links, pattern, syntax};
use lockgate_policy::{PatternRules, Rule};
use lockgate_sandbox::{Halt, Isolation, Limit, Watch};
use lockgate_text::Buffer;

/// The findings of a gate, compared with those before.
type MarkedFindings = Result<Vec<MarkedFinding>, GateError>;

/// A draft and one of its gates that runs a program.
pub(super) struct Member<'a, 'd> {
    /// The index of the draft.
    pub(super) index: usize,
    pub(super) call: &'d JudgeCall<'a>,
    pub(super) gate: &'d ProgramGate<'a>,
    pub(super) draft: &'d Draft<'d>,
    pub(super) repair: &'d Repair<'d>,
}

/// Run time and isolation of a program call.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ProgramCall {
    ran: Duration,
    isolation: Isolation,
}

/// The state shared by all gates that judge one draft.
pub(super) struct JudgeCall<'a> {
    pub(super) input: &'a GateInput<'a>,
    watch: &'a Watch,
    pub(super) limit: Limit<'a>,
    pub(super) count: &'a GateCounter<'a>,
}

impl<'a> JudgeCall<'a> {
    pub(super) fn new(
        input: &'a GateInput<'a>,
        watch: &'a Watch,
        began: Instant,
        count: &'a GateCounter<'a>,
    ) -> JudgeCall<'a> {
        JudgeCall { input, watch, limit: watch.until(began + input.rules.total), count }
    }

    /// Runs the in-process gates in order.
    pub(super) fn in_process(&self, gates: &[InProcessGate<'_>]) -> GateResults {
        let run = |gate: &InProcessGate<'_>| {
            self.count.start(&gate.rule.gate.name);
            let report = self.run_in_process(&self.input.draft, gate.rule, gate.how, None);
            self.count.end();
            (gate.at, report)
        };
        gates.iter().map(run).collect()
    }

    /// Checks the syntax of a draft by a rule that is not in the plan, within a time of its own, because the programs may
    /// have used up that of all gates. Returns the report if it found something.
    pub(super) fn check_syntax(&self, draft: &Draft<'_>, rule: &Rule) -> Option<GateReport> {
        check_applies(rule, draft, self.input.rules.profile).ok()?;
        let limit = self.watch.until(Instant::now() + rule.timeout);
        let call = JudgeCall { limit, ..*self };
        let report = call.run_in_process(draft, rule, InProcess::Syntax, None);
        (report.run.outcome == Outcome::Found).then_some(report)
    }

    /// Runs an in-process gate on a draft. `own` is the text as the edit left it, if a fixer changed it
    /// since.
    fn run_in_process(
        &self,
        draft: &Draft<'_>,
        rule: &Rule,
        how: InProcess<'_>,
        own: Option<&Buffer>,
    ) -> GateReport {
        let start = Instant::now();
        let limit = self.limit.with_timeout(rule.timeout);
        let mut note = None;
        let found = self.guarded(|| match how {
            InProcess::Syntax => {
                let judged = syntax::report(draft, limit)?;
                note = judged.note;
                Ok(judged.marks)
            }
            InProcess::Damage => {
                Ok(damage::judge(draft, own, &self.input.rules.damage, self.input.lost, limit)?)
            }
            InProcess::Pattern(PatternRules::Markdown) => {
                let mut dead = links::findings(self.input.dead_links, draft, rule);
                let mut found = patterns(draft, &PatternRules::Markdown, limit)?;
                dead.retain(|dead| !links::is_reported(dead, &found));
                found.extend(dead.into_iter().map(MarkedFinding::fresh));
                Ok(found)
            }
            InProcess::Pattern(rules) => patterns(draft, rules, limit),
        });
        self.weigh(draft, rule, found, TextBefore::Plain, start.elapsed()).with_note(note.as_deref())
    }

    /// Runs the fixers on the draft, each on the result of the one before. Returns the text that they made, and the results.
    pub(super) fn fix(
        &self,
        fixers: &[ProgramGate<'_>],
        in_process: &[InProcessGate<'_>],
    ) -> (Option<FixedText>, GateResults) {
        let (draft, mut results) = (&self.input.draft, GateResults::new());
        let mut current: Option<FixedText> = None;
        for gate in fixers {
            self.count.start(&gate.rule.gate.name);
            let left = current.as_ref().map_or(*draft, |fixed| fixed.draft(draft));
            let context = ProgramContext { overlays: &[], text_before: &[] };
            let program = self.program(&[left], gate.rule, gate.how, context);
            let isolation = program.isolation();
            let accept = |new: FixedText| self.accepted(new, draft, in_process);
            let result = self.guarded(|| fix(&program, &left, &accept));
            let report = match result {
                Ok(fixed) => {
                    let (what, ran) = (fixed.describe(), program.ran());
                    match fixed.accepted {
                        Some((new, again)) => {
                            results.extend(again);
                            current = Some(new);
                            GateReport::fixed(gate.rule, what.unwrap_or_default(), ran)
                        }
                        None => GateReport::found(gate.rule, Vec::new(), ran).with_note(what.as_deref()),
                    }
                }
                Err(error) => GateReport::from_error(gate.rule, &error, program.ran()),
            };
            results.insert(gate.at, report.with_isolation(isolation));
            self.count.end();
        }
        (current, results)
    }

    /// Runs the in-process gates on the text of a fixer; an error if they reject it.
    fn accepted(
        &self,
        new: FixedText,
        draft: &Draft<'_>,
        in_process: &[InProcessGate<'_>],
    ) -> Result<(FixedText, GateResults), GateError> {
        let own = draft.after;
        let draft = new.draft(draft);
        let run =
            |gate: &InProcessGate<'_>| (gate.at, self.run_in_process(&draft, gate.rule, gate.how, Some(own)));
        let again: GateResults = in_process.iter().map(run).collect();
        match again.values().find_map(GateReport::rejection) {
            Some(why) => Err(GateError::Broken(format!("gave a text that is rejected by {why}"))),
            None => Ok((new, again)),
        }
    }

    /// Runs one program for drafts that share a run, of which the first is that of this call. `repairs` are
    /// those of all texts that it looks at.
    ///
    /// Errors: the reason that its server could not be asked.
    pub(super) fn consult(
        &self,
        tool: External<'a>,
        members: &[&Member<'a, '_>],
        repairs: &[&Repair<'_>],
        context: ProgramContext<'_>,
    ) -> Result<(ConsultResults, ProgramCall), String> {
        let Some(first) = members.first() else { return Ok((Vec::new(), ProgramCall::default())) };
        let drafts: Vec<Draft<'_>> = members.iter().map(|member| *member.draft).collect();
        let program = self.program(&drafts, first.gate.rule, tool, context);
        let result = self.guarded(|| consult(&program, repairs));
        let call = ProgramCall { ran: program.ran(), isolation: program.isolation() };
        match result {
            Err(GateError::Unreachable(why)) => Err(why),
            Err(error) => Ok((members.iter().map(|_| Err(error.clone())).collect(), call)),
            Ok(consulted) => Ok((consulted, call)),
        }
    }

    /// Returns the report of a program about this draft, without the findings in other files that are
    /// reported elsewhere. `run_text_before` returns how much could be found before; it is called only if
    /// something is new.
    pub(super) fn report(
        &self,
        member: &Member<'_, '_>,
        findings: Result<Findings, GateError>,
        call: ProgramCall,
        run_text_before: &dyn Fn() -> TextBefore,
        is_reported_elsewhere: &dyn Fn(&ComparedFinding) -> bool,
    ) -> GateReport {
        let (rule, mut text_before, mut note) = (member.gate.rule, TextBefore::Plain, None);
        let marks = findings.map(|Findings { mut marks, note: about_others }| {
            marks.retain(|mark| !is_reported_elsewhere(&mark.finding));
            if marks.iter().any(|mark| mark.fresh) {
                text_before = run_text_before();
            }
            note = about_others;
            marks
        });
        let report =
            self.weigh(member.draft, rule, marks, text_before, call.ran).with_isolation(call.isolation);
        match note {
            Some(note) => report.found_elsewhere(note),
            None => report,
        }
    }

    fn program<'p>(
        &'p self,
        drafts: &[Draft<'p>],
        rule: &'p Rule,
        tool: External<'p>,
        context: ProgramContext<'p>,
    ) -> GateProgram<'p> {
        let limits = (self.limit, self.input.rules.total);
        GateProgram::new(rule, tool, drafts, &self.input.env, context, limits)
    }

    fn weigh(
        &self,
        draft: &Draft<'_>,
        rule: &Rule,
        found: MarkedFindings,
        text_before: TextBefore,
        took: Duration,
    ) -> GateReport {
        let weights = Weights {
            rule,
            level: self.input.rules.level(rule),
            baseline: self.input.rules.baseline,
            profile: self.input.rules.profile,
            draft,
            text_before,
        };
        match found {
            Ok(marks) if self.input.rules.softens(rule) => {
                let strict = Weights { level: rule.level, ..weights };
                let would_refuse = strict.weigh(marks.clone()).iter().any(|finding| finding.blocking);
                let report = GateReport::found(rule, weights.weigh(marks), took);
                if would_refuse { report.softened() } else { report }
            }
            Ok(marks) => GateReport::found(rule, weights.weigh(marks), took),
            Err(error) => GateReport::from_error(rule, &error, took),
        }
    }

    /// Runs `work` unless the call was cancelled; a panic becomes an error of the gate.
    fn guarded<T>(&self, work: impl FnOnce() -> Result<T, GateError>) -> Result<T, GateError> {
        if self.watch.cancelled() {
            return Err(GateError::Halted(Halt::Cancelled));
        }
        catch_unwind(AssertUnwindSafe(work))
            .unwrap_or_else(|_| Err(GateError::Broken("the gate panicked".to_owned())))
    }
}

/// Checks the pattern rules in both texts; the one before is read only if there is something to compare.
fn patterns(draft: &Draft<'_>, rules: &PatternRules, limit: Limit<'_>) -> MarkedFindings {
    let check = |buffer: &Buffer| -> Result<Vec<ComparedFinding>, GateError> {
        let page = PatternInput {
            path: draft.path,
            language: draft.language_name(),
            text: buffer.view(),
            files_exist: draft.files_exist,
            limit,
        };
        pattern::check(rules, page, buffer.lines())
    };
    delta::mark_new(draft, check(draft.after)?, |before| match check(before) {
        // Findings are not called new if the text before could not be read.
        Err(error) if error.is_failure() => Err(error.with_context("the text before the edit")),
        // Rules that do not apply to a text find nothing in it.
        Err(_) => Ok(Vec::new()),
        Ok(old) => Ok(old),
    })
}
