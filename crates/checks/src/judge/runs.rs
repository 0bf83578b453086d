//! Groups the drafts of a call that can share a run of a program, and assigns the findings to them.
//!
//! The drafts of a call form one tree, and a gate whose answer depends on the project gives one answer for
//! that tree. So it runs once, and each finding goes to the draft that it is about or, if it is in another
//! file, to the first of the drafts.
//!
//! Invariant: each draft gets one report from each of its gates, and drafts share a run only if one run
//! answers for all.

use std::collections::{HashMap, HashSet, VecDeque};
use std::ffi::OsStr;
use std::path::Path;
use std::time::Duration;

use super::baseline::TextBefore;
use super::call::Member;
use super::input::{GateInput, OnDisk};
use super::plan::{External, SpecifiedProgram};
use super::program::ProgramContext;
use super::repair::Repair;
use super::report::GateReport;
use crate::command::project::folder_of;
use crate::command::{self, SharedPart};
use crate::delta::ComparedFinding;
use crate::draft::Draft;
use crate::error::GateError;
use crate::overlay::DraftOverlay;
use crate::runtime::ProgramKind;
use lockgate_policy::{Baseline, CacheScope, Level};
use lockgate_sandbox::Isolation;
use lockgate_text::Version;

/// The maximum number of times that the list of a failing run is halved, so that a program that fails on
/// every file does not run for each.
const MAX_SPLITS: usize = 32;

/// The runs of all checks that use programs.
pub(super) struct Runs<'a, 'd> {
    inputs: &'d [(&'d GateInput<'a>, &'d Draft<'d>)],
    members: &'d [Member<'a, 'd>],
    /// The drafts that each gate judges itself.
    judged: HashSet<JudgedDraft<'d>>,
}

/// A draft that a gate judges itself.
#[derive(PartialEq, Eq, Hash)]
struct JudgedDraft<'d> {
    gate: &'d str,
    root: &'d Path,
    /// The group of the draft: [`GateInput::group`].
    group: usize,
    path: &'d str,
}

/// The members that share a run; the first represents all.
pub(super) struct SharedRun<'a, 'd>(Vec<&'d Member<'a, 'd>>);

/// The report of a gate about a draft.
pub(super) struct GateReply {
    /// The index of the draft.
    pub(super) draft: usize,
    /// The position of the gate in its policy.
    pub(super) gate: usize,
    pub(super) report: GateReport,
}

/// The properties that members must have in common to share a run.
#[derive(PartialEq, Eq, Hash)]
struct RunKey<'d> {
    gate: (&'d str, Version),
    program: &'d Path,
    search: &'d OsStr,
    root: &'d Path,
    /// The group of the draft: [`GateInput::group`].
    group: usize,
    isolation: Isolation,
    cache: Option<&'d Path>,
    timeout: Duration,
    baseline: Option<Baseline>,
    args: &'d [String],
    how: RunMode,
}

/// The way that a program answers for several files.
#[derive(PartialEq, Eq, Hash)]
enum RunMode {
    Command(SharedPart),
    /// A language server for this folder, relative to the root.
    Server(String),
    /// The program answers for one file only; the index of its draft, and the position of the gate.
    Alone {
        draft: usize,
        gate: usize,
    },
}

impl<'a, 'd> Runs<'a, 'd> {
    /// Creates the runs of these members.
    pub(super) fn new(
        inputs: &'d [(&'d GateInput<'a>, &'d Draft<'d>)],
        members: &'d [Member<'a, 'd>],
    ) -> Runs<'a, 'd> {
        let judged = members.iter().map(|member| {
            let input = member.call.input;
            let gate = member.gate.rule.gate.name.as_str();
            JudgedDraft { gate, root: input.env.root, group: input.group, path: member.draft.path }
        });
        Runs { inputs, members, judged: judged.collect() }
    }

    /// Groups the members that share runs. Runs that look at more than one file come first.
    pub(super) fn all(&self) -> Vec<SharedRun<'a, 'd>> {
        let mut all = grouped(self.members, |member| member.gate.how.program);
        let looks_at_project = |SharedRun(members): &SharedRun<'a, 'd>| {
            let first = members.first();
            first.is_some_and(|member| member.gate.how.program.kind.scope() != CacheScope::File)
        };
        all.sort_by_key(|run| !looks_at_project(run));
        all
    }

    /// Runs a program for the drafts that share a run; returns its report about each.
    pub(super) fn ask(&self, SharedRun(members): &SharedRun<'a, 'd>) -> Vec<GateReply> {
        members.iter().for_each(|member| member.call.count.start(&member.gate.rule.gate.name));
        let replies = self.ask_members(members, &|member| member.gate.how);
        members.iter().for_each(|member| member.call.count.end_concurrent(&member.gate.rule.gate.name));
        replies
    }

    /// Same as [`Runs::ask`], without progress reports. If a server cannot be asked, its command runs
    /// instead.
    ///
    /// One file or folder that a program cannot read makes it fail for a whole list. So a list that fails is
    /// halved, and the program runs for each half. Longer parts come first, to make good use of the limited
    /// number of runs.
    fn ask_members(
        &self,
        members: &[&'d Member<'a, 'd>],
        tool: &dyn Fn(&Member<'a, 'd>) -> External<'a>,
    ) -> Vec<GateReply> {
        let (mut parts, mut splits, mut replies) = (VecDeque::from([members]), 0, Vec::new());
        while let Some(part) = parts.pop_front() {
            match self.ask_together(part, tool, splits) {
                Some(answers) => replies.extend(answers),
                None => {
                    splits += 1;
                    let (one, other) = part.split_at(part.len() / 2);
                    parts.extend([one, other]);
                }
            }
        }
        replies
    }

    /// Runs a program once for these members; `None` if that failed for a whole list that may be split, because so far
    /// there were fewer than [`MAX_SPLITS`] splits.
    fn ask_together(
        &self,
        members: &[&'d Member<'a, 'd>],
        tool: &dyn Fn(&Member<'a, 'd>) -> External<'a>,
        splits: usize,
    ) -> Option<Vec<GateReply>> {
        let Some(first) = members.first() else { return Some(Vec::new()) };
        let how = tool(first);
        let (overlays, before) = self.attach_elsewhere(members, first, how.program.kind);
        let (overlays, before) = (overlays.iter().collect::<Vec<_>>(), before.iter().collect::<Vec<_>>());
        let context = ProgramContext { overlays: &overlays, text_before: &before };
        let repairs = self.repairs(members, how.program.kind);
        let (consulted, call) = match (first.call.consult(how, members, &repairs, context), how.fallback) {
            (Ok(answer), _) => answer,
            (Err(why), Some(_)) => return Some(self.ask_instead(members, &why)),
            (Err(why), None) => {
                let error = GateError::Unavailable(why);
                let unavailable = |member: &&Member<'a, 'd>| {
                    reply(member, GateReport::from_error(member.gate.rule, &error, Duration::ZERO))
                };
                return Some(members.iter().map(unavailable).collect());
            }
        };
        let fails = |found: &Result<_, GateError>| match found {
            Err(error) => error.is_skip() || matches!(error, GateError::Broken(_)),
            Ok(_) => false,
        };
        let lists_files =
            matches!(how.program.kind, ProgramKind::Command(command) if command::lists_files(command));
        let list_fails = lists_files && members.len() > 1 && consulted.iter().all(fails);
        if list_fails && splits < MAX_SPLITS {
            return None;
        }
        let is_hidden = || repairs.iter().any(|repair| repair.text_before() == TextBefore::Hidden);
        let text_before = || if is_hidden() { TextBefore::Hidden } else { TextBefore::Plain };
        let report = |(member, found): (&&Member<'a, 'd>, _)| {
            let elsewhere = |finding: &ComparedFinding| self.is_reported_elsewhere(finding, member);
            reply(member, member.call.report(member, found, call, &text_before, &elsewhere))
        };
        let list = format!("a list of {} files", members.len());
        let consulted = consulted.into_iter().map(|found| match found {
            Err(error) if list_fails => Err(error.with_context(&list)),
            found => found,
        });
        Some(members.iter().zip(consulted).map(report).collect())
    }

    /// Returns the repairs of all texts that a run looked at: a program that stops at a syntax error in one
    /// of them reports nothing about the others. If its answer depends on other files, these are all drafts
    /// that the gate judges.
    fn repairs(&self, members: &[&Member<'a, 'd>], kind: ProgramKind<'a>) -> Vec<&'d Repair<'d>> {
        let Some(first) = members.first() else { return Vec::new() };
        let own = first.call.input;
        let sees = |other: &&Member<'a, 'd>| {
            let input = other.call.input;
            other.gate.rule.gate.name == first.gate.rule.gate.name
                && input.env.root == own.env.root
                && input.group == own.group
        };
        match kind.scope() {
            CacheScope::File => members.iter().map(|member| member.repair).collect(),
            CacheScope::Package | CacheScope::Project => {
                self.members.iter().filter(sees).map(|other| other.repair).collect()
            }
        }
    }

    /// Runs the commands that replace a server.
    fn ask_instead(&self, members: &[&'d Member<'a, 'd>], why: &str) -> Vec<GateReply> {
        let command = |member: &Member<'a, 'd>| {
            let how = member.gate.how;
            External { program: how.fallback.unwrap_or(how.program), fallback: None, ..how }
        };
        let runs = grouped(members.iter().copied(), |member| command(member).program);
        let replies = runs.iter().flat_map(|SharedRun(members)| self.ask_members(members, &command));
        let why = format!("{why}; its command was run instead");
        let with_note = |reply: GateReply| GateReply { report: reply.report.with_note(Some(&why)), ..reply };
        replies.map(with_note).collect()
    }

    /// Returns overlays for the other drafts of the call: the texts after the edit and the texts before it,
    /// each only if it is not on disk.
    fn attach_elsewhere(
        &self,
        members: &[&Member<'a, 'd>],
        first: &Member<'a, 'd>,
        kind: ProgramKind<'a>,
    ) -> (Vec<DraftOverlay<'d>>, Vec<DraftOverlay<'d>>) {
        let own = first.call.input;
        if kind.scope() == CacheScope::File {
            return (Vec::new(), Vec::new());
        }
        let checked: HashSet<&str> = members.iter().map(|member| member.draft.path).collect();
        let is_other = |input: &GateInput<'a>, draft: &Draft<'d>| {
            input.env.root == own.env.root && input.group == own.group && !checked.contains(draft.path)
        };
        let (mut overlays, mut before) = (Vec::new(), Vec::new());
        for (input, draft) in self.inputs.iter().filter(|(input, draft)| is_other(input, draft)) {
            let overlay = |text| DraftOverlay {
                root: input.env.root,
                path: draft.path,
                language: draft.language,
                text,
            };
            match input.on_disk {
                OnDisk::Before => overlays.push(overlay((!input.removed).then_some(draft.after))),
                OnDisk::After => before.push(overlay(draft.before)),
            }
        }
        (overlays, before)
    }

    /// True if a finding is about a file that the same gate judges separately in this call.
    fn is_reported_elsewhere(&self, finding: &ComparedFinding, member: &Member<'a, 'd>) -> bool {
        let (input, gate) = (member.call.input, member.gate.rule.gate.name.as_str());
        let is_judged = |path: &str| {
            self.judged.contains(&JudgedDraft { gate, root: input.env.root, group: input.group, path })
        };
        finding.elsewhere.as_deref().is_some_and(is_judged)
    }
}

fn reply(member: &Member<'_, '_>, report: GateReport) -> GateReply {
    GateReply { draft: member.index, gate: member.gate.at, report }
}

/// Groups the members that share a run of these programs.
fn grouped<'a, 'd>(
    members: impl IntoIterator<Item = &'d Member<'a, 'd>>,
    program: impl Fn(&Member<'a, 'd>) -> SpecifiedProgram<'a>,
) -> Vec<SharedRun<'a, 'd>> {
    let mut known: HashMap<RunKey<'_>, usize> = HashMap::new();
    let mut runs: Vec<SharedRun<'a, 'd>> = Vec::new();
    for member in members {
        let at = *known.entry(key(member, program(member))).or_insert(runs.len());
        match runs.get_mut(at) {
            Some(SharedRun(members)) => members.push(member),
            None => runs.push(SharedRun(vec![member])),
        }
    }
    for SharedRun(members) in &mut runs {
        // Findings in other files are weighed by the rules of the first: the strictest, and one with a text before.
        members.sort_by_key(|member| {
            let level = member.call.input.rules.level(member.gate.rule);
            (level != Level::Block, member.draft.before.is_none())
        });
    }
    runs
}

fn key<'d>(member: &'d Member<'_, 'd>, program: SpecifiedProgram<'d>) -> RunKey<'d> {
    let (rule, env, input) = (member.gate.rule, &member.call.input.env, member.call.input);
    let how = match program.kind {
        ProgramKind::Command(command) => {
            let alone = RunMode::Alone { draft: member.index, gate: member.gate.at };
            command::shared_part(rule, command, env.root, member.draft.path).map_or(alone, RunMode::Command)
        }
        ProgramKind::Server(server) => {
            RunMode::Server(folder_of(env.root, member.draft.path, &server.cwd).to_owned())
        }
    };
    RunKey {
        gate: (&rule.gate.name, rule.gate.version),
        program: program.path,
        search: member.gate.how.search,
        root: env.root,
        group: input.group,
        isolation: env.isolation,
        cache: env.cache,
        timeout: rule.timeout,
        baseline: rule.baseline,
        args: &rule.args,
        how,
    }
}
