//! Plans which gates judge a draft and how, and records why the others do not.
//!
//! Invariant: each rule is planned or reported once, and a program is planned only if a person allowed it to
//! run and it exists.

use std::ffi::OsStr;
use std::path::Path;
use std::time::Duration;

use super::report::GateReport;
use crate::command;
use crate::draft::Draft;
use crate::error::GateError;
use crate::gate_env::{ExecPermission, GateEnv};
use crate::programs::ResolvedPrograms;
use crate::runtime::ProgramKind;
use lockgate_policy::{CacheScope, CommandSpec, EffectiveRules, GateKind, PatternRules, Profile, Role, Rule};
use lockgate_sandbox::isolation_shortfall;

/// The gates to run, by stage in the order of execution.
#[derive(Default)]
pub(super) struct GatePlan<'a> {
    /// Gates that run in process, without a program.
    pub(super) in_process: Vec<InProcessGate<'a>>,
    /// Gates that fix the draft.
    pub(super) fixers: Vec<ProgramGate<'a>>,
    /// Gates whose programs check the draft.
    pub(super) checks: Vec<ProgramGate<'a>>,
    /// Reports of gates that do not run, by their position in the policy.
    pub(super) unavailable: Vec<(usize, GateReport)>,
}

/// A gate to run, with its position in the policy.
#[derive(Clone, Copy)]
pub(super) struct PlannedGate<'a, How> {
    pub(super) at: usize,
    pub(super) rule: &'a Rule,
    pub(super) how: How,
}

/// A gate to run in process.
pub(super) type InProcessGate<'a> = PlannedGate<'a, InProcess<'a>>;

/// A gate whose program is to run.
pub(super) type ProgramGate<'a> = PlannedGate<'a, External<'a>>;

/// The kind of a gate that needs no program.
#[derive(Clone, Copy)]
pub(super) enum InProcess<'a> {
    Syntax,
    Damage,
    Pattern(&'a PatternRules),
}

/// The programs that can run for a gate.
#[derive(Clone, Copy)]
pub(super) struct External<'a> {
    /// The program that is asked first.
    pub(super) program: SpecifiedProgram<'a>,
    /// The command to run if the server cannot be asked.
    pub(super) fallback: Option<SpecifiedProgram<'a>>,
    /// The search path for programs that they start themselves.
    pub(super) search: &'a OsStr,
}

/// A program and its definition, which says how to ask it.
#[derive(Clone, Copy)]
pub(super) struct SpecifiedProgram<'a> {
    pub(super) kind: ProgramKind<'a>,
    /// The absolute path of the program.
    pub(super) path: &'a Path,
}

impl<'a> GatePlan<'a> {
    /// Plans the gate of each rule.
    pub(super) fn new(rules: &EffectiveRules<'a>, draft: &Draft<'_>, env: &GateEnv<'a>) -> GatePlan<'a> {
        let mut plan = GatePlan::default();
        for (at, &rule) in rules.rules.iter().enumerate() {
            if let Err(error) = plan.plan_gate(at, rule, rules, draft, env) {
                plan.unavailable.push((at, GateReport::from_error(rule, &error, Duration::ZERO)));
            }
        }
        plan
    }

    fn plan_gate(
        &mut self,
        at: usize,
        rule: &'a Rule,
        rules: &EffectiveRules<'a>,
        draft: &Draft<'_>,
        env: &GateEnv<'a>,
    ) -> Result<(), GateError> {
        check_applies(rule, draft, rules.profile)?;
        let in_process = match &rule.gate.kind {
            GateKind::Damage => InProcess::Damage,
            GateKind::Syntax => InProcess::Syntax,
            GateKind::Pattern(rules) => InProcess::Pattern(rules),
            GateKind::Command(_) | GateKind::Server(_) => {
                let role = rules.role(rule);
                let gate = PlannedGate { at, rule, how: external(rule, role, rules.profile, env)? };
                match role {
                    Role::Fix if draft.changes_nothing() => return Err(skipped("the edit changes nothing")),
                    Role::Fix => self.fixers.push(gate),
                    Role::Check => self.checks.push(gate),
                }
                return Ok(());
            }
        };
        self.in_process.push(PlannedGate { at, rule, how: in_process });
        Ok(())
    }

    /// Returns the number of gates to run.
    pub(super) fn count(&self) -> usize {
        self.in_process.len() + self.fixers.len() + self.checks.len()
    }
}

/// Checks that a rule applies to this draft.
///
/// Errors: the reason that it does not.
pub(super) fn check_applies(rule: &Rule, draft: &Draft<'_>, profile: Profile) -> Result<(), GateError> {
    if !rule.enabled {
        return Err(skipped("disabled in the policy"));
    }
    if !rule.gate.covers(draft.language) {
        return Err(skipped("not for this language"));
    }
    if rule.gate.command().is_some_and(|command| command.files.excludes(draft.path)) {
        return Err(skipped("not for this file"));
    }
    if !rule.profiles.include(profile) {
        return Err(skipped(match profile {
            Profile::Edit | Profile::Batch => "runs in check only",
            Profile::Check => "runs at edits only",
        }));
    }
    Ok(())
}

fn skipped(why: &str) -> GateError {
    GateError::Skipped(why.to_owned())
}

/// Returns the program of a gate: its server if one may be kept running, otherwise its command.
/// For files as they are, it is a command that checks the whole project: unlike the server, it also finds what
/// a change breaks in files that did not change.
fn external<'a>(
    rule: &'a Rule,
    role: Role,
    profile: Profile,
    env: &GateEnv<'a>,
) -> Result<External<'a>, GateError> {
    let programs = match env.exec_permission {
        ExecPermission::Untrusted(why) => return Err(GateError::Withheld(why.clone())),
        ExecPermission::NoDirectory(why) => return Err(GateError::Unavailable(why.clone())),
        ExecPermission::Granted(programs) => programs,
    };
    let name = &rule.gate.name;
    let own = ResolvedPrograms::server_name(name);
    let found = |name: &str, kind| Some(SpecifiedProgram { kind, path: programs.program(name)? });
    let command = rule.gate.command().and_then(|command| found(name, ProgramKind::Command(command)));
    // The policy's arguments are for the command, and only a command returns a text to replace the draft.
    let keeps_servers = env.runtime.keeps_servers() && rule.args.is_empty() && role == Role::Check;
    let is_whole =
        |command: &CommandSpec| command.scope == CacheScope::Project && command::runs_without_file(command);
    let prefers_command =
        profile == Profile::Check && command.is_some() && rule.gate.command().is_some_and(is_whole);
    let server = rule.gate.server().filter(|_| keeps_servers && !prefers_command);
    let server = server.and_then(|server| found(&own, ProgramKind::Server(server)));
    let Some(program) = server.or(command) else {
        return Err(match rule.gate.server() {
            Some(_) if !keeps_servers && rule.gate.command().is_none() => {
                GateError::Unavailable("servers are not kept running".to_owned())
            }
            Some(_) | None => {
                let both = programs.rejected(name).iter().chain(programs.rejected(&own));
                GateError::NoProgram(both.cloned().collect::<Vec<_>>().join("; "))
            }
        });
    };
    match isolation_shortfall(env.isolation, env.runtime.ceiling) {
        Some(why) => Err(GateError::WeakIsolation(why)),
        None => {
            Ok(External { program, fallback: command.filter(|_| server.is_some()), search: programs.path() })
        }
    }
}
