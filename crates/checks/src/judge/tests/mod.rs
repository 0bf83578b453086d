//! Judges drafts in a temporary project, with programs that are made up for the tests.

mod ask;
mod before;
mod canary;
mod fixers;
mod keep;
mod rules;
mod stages;
mod together;

use std::ffi::OsStr;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use crate::runtime::Slots;
use crate::*;
use lockgate_policy::{EffectiveRules, Policy, Profile, StepMode, language_of};
use lockgate_sandbox::Ceiling;
use lockgate_sandbox::Isolation;
use lockgate_text::{Buffer, Hints, LineMap};

/// A project with a policy, and the programs that it names.
struct Trial {
    project: tempfile::TempDir,
    policy: Policy,
    permission: ExecPermission,
    runtime: GateRuntime,
    /// The folder for the caches of programs.
    cache: Option<PathBuf>,
}

/// Finds each line with a word that begins with `bad`: the word is the code, and `graver` ones are errors.
const FINDER: &str = r"grep -n bad | sed -n 's/^\([0-9]*\):.*\(bad[a-z]*\).*/\1:\2:seen \2/p'";

/// The output format of the made-up programs.
const LINES: &str = r"{ regex: '^(?P<line>\d+):(?P<code>\w+):(?P<message>.*)$' }";
const FILES: &str = r"{ regex: '^(?P<file>[^:]+):(?P<line>\d+):(?P<code>\w+):(?P<message>.*)$' }";
const TEXT: &str = "{ text: formatted, errors: '^(?P<line>\\d+):(?P<message>.*)$' }";

/// Gates that are made up, as the key `define` of a policy.
#[derive(Default)]
struct Define(String);

impl Define {
    /// Adds a gate that runs a script; `more` are further keys of its definition.
    fn gate(mut self, name: &str, script: &str, output: &str, more: &str) -> Define {
        let script = script.replace('\'', "''");
        let input = if more.contains("input:") { "" } else { "input: stdin" };
        write!(
            self.0,
            "  {name}:\n    about: Made up.\n    languages: ['*']\n    kind: command\n    {input}\n    command: [sh, -c, '{script}', sh, '{{path}}']\n    output: {output}\n    {more}\n"
        )
        .unwrap();
        self
    }

    /// The policy of a project in which these gates judge; `rules` are entries of the list for every language.
    fn policy(&self, rules: &str, more: &str) -> Trial {
        Trial::new(&format!("define:\n{}\nquality_gates:\n  '*': [{rules}]\n{more}\n", self.0))
    }
}

/// One gate by the name of `finder`, as a definition has it, alone in a policy.
fn finder(options: &str, more: &str) -> Trial {
    Define::default().gate("finder", FINDER, LINES, "").policy(&format!("{{ tool: finder{options} }}"), more)
}

impl Trial {
    /// A project with this policy, whose programs may run.
    fn new(policy: &str) -> Trial {
        let project = tempfile::tempdir().unwrap();
        let policy = policy.replace("{project}", project.path().to_str().unwrap());
        let policy =
            Policy::parse("quality.yaml", &policy).unwrap_or_else(|error| panic!("{error}\n{policy}"));
        let search = SearchPath { folders: &[], roots: &[], path: OsStr::new("/usr/bin:/bin") };
        let permission = ExecPermission::Granted(ResolvedPrograms::find(policy.commands(), &search));
        // Its scripts record in the project what they did.
        let ceiling = Ceiling(Isolation::None);
        let runtime = GateRuntime { slots: Slots::new(2), ceiling, ..GateRuntime::default() };
        Trial { project, policy, permission, runtime, cache: None }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.project.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap_or(Path::new("/"))).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Returns how often a script that writes a line to this file has run.
    fn runs(&self, log: &str) -> usize {
        std::fs::read_to_string(self.path(log)).unwrap_or_default().lines().count()
    }

    fn judge(&self, path: &str, before: Option<&str>, after: &str) -> Verdict {
        self.watched(path, before, after, &Watch::idle())
    }

    /// Judges several drafts of one call: each a path, its text before and after.
    fn judge_together(&self, drafts: &[(&str, Option<&str>, &str)], on_disk: OnDisk) -> Vec<Verdict> {
        let read = |text: &str| Buffer::read(text.as_bytes().to_vec(), Hints::default()).unwrap();
        let texts: Vec<_> = drafts
            .iter()
            .map(|(path, before, after)| {
                match (on_disk, before) {
                    (OnDisk::Before, Some(before)) => self.write(path, before),
                    (OnDisk::Before, None) => {}
                    (OnDisk::After, _) => self.write(path, after),
                }
                let (old, new) = (before.map(read), read(after));
                let map = old.as_ref().map(|old| old.rewrite(after).unwrap().line_map(old, &new));
                (old, new, map.unwrap_or_default())
            })
            .collect();
        let files_exist = |_: &str| false;
        let cases = drafts.iter().zip(&texts).map(|((path, ..), (old, new, map))| {
            let language = language_of(path, new.view().lines().next());
            let input_location = match on_disk {
                OnDisk::Before => InputLocation::of_file(old.as_ref()),
                OnDisk::After => InputLocation::OverFile,
            };
            let before = old.as_ref();
            GateInput {
                draft: Draft {
                    path,
                    language,
                    before,
                    after: new,
                    map,
                    input_location,
                    files_exist: &files_exist,
                },
                rules: self.policy.effective_rules(path, language, Profile::Batch),
                env: GateEnv {
                    root: self.project.path(),
                    exec_permission: &self.permission,
                    runtime: &self.runtime,
                    isolation: Isolation::None,
                    cache: self.cache.as_deref(),
                },
                removed: false,
                group: 0,
                on_disk,
                dead_links: &[],
                lost: Lost::none(),
            }
        });
        judge_all(&cases.collect::<Vec<_>>(), &Watch::idle())
    }

    fn watched(&self, path: &str, before: Option<&str>, after: &str, watch: &Watch) -> Verdict {
        self.judged(path, before, after, watch, StepMode::Plain)
    }

    fn judge_step(&self, step_mode: StepMode, path: &str, before: Option<&str>, after: &str) -> Verdict {
        self.judged(path, before, after, &Watch::idle(), step_mode)
    }

    /// Judges a new text of a file on disk by these rules.
    fn judge_by_rules(&self, path: &str, after: &str, rules: &EffectiveRules<'_>) -> Verdict {
        let read = |text: &str| Buffer::read(text.as_bytes().to_vec(), Hints::default()).unwrap();
        let (old, new) = (read(&std::fs::read_to_string(self.path(path)).unwrap()), read(after));
        let map = old.rewrite(after).unwrap().line_map(&old, &new);
        let language = language_of(path, None);
        let (input_location, before) = (InputLocation::OverFile, Some(&old));
        let files_exist = |_: &str| false;
        let draft = Draft {
            path,
            language,
            before,
            after: &new,
            map: &map,
            input_location,
            files_exist: &files_exist,
        };
        let env = GateEnv {
            root: self.project.path(),
            exec_permission: &self.permission,
            runtime: &self.runtime,
            isolation: Isolation::None,
            cache: self.cache.as_deref(),
        };
        judge(&draft, rules, &env, &Watch::idle())
    }

    fn judged(
        &self,
        path: &str,
        before: Option<&str>,
        after: &str,
        watch: &Watch,
        step_mode: StepMode,
    ) -> Verdict {
        let read = |text: &str| Buffer::read(text.as_bytes().to_vec(), Hints::default()).unwrap();
        let (old, new) = (before.map(read), read(after));
        let map =
            old.as_ref().map_or_else(LineMap::default, |old| old.rewrite(after).unwrap().line_map(old, &new));
        let language = language_of(path, after.lines().next());
        if let Some(before) = before {
            self.write(path, before);
        }
        let files_exist = |path: &str| if path == "panic" { panic!("on purpose") } else { false };
        let draft = Draft {
            path,
            language,
            before: old.as_ref(),
            after: &new,
            map: &map,
            input_location: InputLocation::of_file(old.as_ref()),
            files_exist: &files_exist,
        };
        let env = GateEnv {
            root: self.project.path(),
            exec_permission: &self.permission,
            runtime: &self.runtime,
            isolation: Isolation::None,
            cache: None,
        };
        let rules =
            EffectiveRules { step_mode, ..self.policy.effective_rules(path, language, Profile::Edit) };
        judge(&draft, &rules, &env, watch)
    }
}

/// Returns each gate with its outcome and the reason.
fn outcomes(verdict: &Verdict) -> Vec<(&str, Outcome, &str)> {
    verdict
        .runs
        .iter()
        .map(|run| (run.gate.as_str(), run.outcome, run.why.as_deref().unwrap_or("")))
        .collect()
}

/// Returns the lines that reject the draft.
fn blocked(verdict: &Verdict) -> Vec<usize> {
    verdict.blocking().map(|finding| finding.line).collect()
}

/// Returns the lines of the findings, each with a flag that is true if it is new.
fn found(verdict: &Verdict) -> Vec<(usize, bool)> {
    let mut found: Vec<_> = verdict.findings.iter().map(|finding| (finding.line, finding.fresh)).collect();
    found.sort_unstable();
    found
}
