//! Servers that misbehave on command, each beside one that does not.

mod failures;
mod lifetime;
mod visible_files;

use std::ffi::OsStr;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::{PoolLimits, ServerPool};
use crate::runtime::Slots;
use crate::*;
use lockgate_policy::{Policy, Profile, language_named, language_of};
use lockgate_sandbox::Ceiling;
use lockgate_sandbox::Isolation;
use lockgate_text::{Buffer, Hints, LineMap};

/// The server that misbehaves.
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/tools/lsp_server.py");

/// A command that finds the same, and writes down each run.
const COMMAND: &str =
    r"echo run >> '{log}.runs'; grep -n '\bbad' | sed -n 's/^\([0-9]*\):.*\(bad[a-z]*\).*/\1:\2:seen \2/p'";

/// A project with one gate, whose server behaves in some way.
struct Trial {
    project: tempfile::TempDir,
    policy: Policy,
    permission: ExecPermission,
    runtime: GateRuntime,
}

/// One file of a call: its path, its text before, and after.
type Edit<'a> = (&'a str, Option<&'a str>, &'a str);

/// Which programs the gate has.
#[derive(Clone, Copy, PartialEq)]
enum Has {
    ServerAndCommand,
    ServerAlone,
}

impl Trial {
    fn new(way: &str) -> Trial {
        Trial::with(way, Has::ServerAndCommand, "", PoolLimits::default())
    }

    /// One whose gate may take no longer than a slow server needs.
    fn hasty(way: &str) -> Trial {
        Trial::timed(way, Has::ServerAndCommand, "", PoolLimits::default(), "1500ms")
    }

    fn with(way: &str, has: Has, more: &str, limits: PoolLimits) -> Trial {
        Trial::timed(way, has, more, limits, "15s")
    }

    fn timed(way: &str, has: Has, more: &str, limits: PoolLimits, timeout: &str) -> Trial {
        let project = tempfile::tempdir().unwrap();
        let log = project.path().join(".log").to_str().unwrap().to_owned();
        let command = format!(
            "input: stdin\n    command: [sh, -c, \"{}\"]\n    output: {{ regex: '^(?P<line>\\d+):(?P<code>\\w+):(?P<message>.*)$' }}\n",
            COMMAND.replace("{log}", &log).replace('\\', "\\\\")
        );
        let command = if has == Has::ServerAndCommand { command } else { String::new() };
        let text = format!(
            "define:\n  finder:\n    about: Made up.\n    languages: ['*']\n    kind: server\n    timeout: {timeout}\n    {command}\n    server:\n      command: [python3, '{SCRIPT}', {way}, '{log}']\n      {more}\nquality_gates:\n  '*': [{{ tool: finder }}]\n"
        );
        let policy = Policy::parse("quality.yaml", &text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let search = SearchPath { folders: &[], roots: &[], path: OsStr::new("/usr/bin:/bin") };
        let permission = ExecPermission::Granted(ResolvedPrograms::find(policy.commands(), &search));
        let mut pool = ServerPool::default();
        pool.limits = limits;
        // They write their log into the project.
        let ceiling = Ceiling(Isolation::None);
        let runtime = GateRuntime { slots: Slots::new(2), pool, ceiling, ..GateRuntime::default() };
        runtime.keep_servers();
        Trial { project, policy, permission, runtime }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.project.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    /// The messages that the server received, from its log.
    fn log(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.path(".log")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// The second words of the lines that begin with the first.
    fn noted(&self, first: &str) -> Vec<String> {
        let log = self.log();
        let rest = log.iter().filter_map(|line| line.strip_prefix(first)?.strip_prefix(' '));
        rest.map(str::to_owned).collect()
    }

    /// How often the command ran.
    fn runs(&self) -> usize {
        std::fs::read_to_string(self.path(".log.runs")).unwrap_or_default().lines().count()
    }

    fn judge(&self, path: &str, before: Option<&str>, after: &str) -> Verdict {
        self.together(&[(path, before, after)]).remove(0)
    }

    /// What is said of an edit of an entity in this language, whose texts are not on disk.
    fn stored(&self, path: &str, before: &str, after: &str, language: &str) -> Verdict {
        self.judge_stored(&[(path, Some(before), after)], Some(language)).remove(0)
    }

    fn together(&self, edits: &[Edit<'_>]) -> Vec<Verdict> {
        self.judge_stored(edits, None)
    }

    fn judge_stored(&self, edits: &[Edit<'_>], stored: Option<&str>) -> Vec<Verdict> {
        let read = |text: &str| Buffer::read(text.as_bytes().to_vec(), Hints::default()).unwrap();
        let texts: Vec<(Option<Buffer>, Buffer, LineMap)> = edits
            .iter()
            .map(|(path, before, after)| {
                let (old, new) = (before.map(read), read(after));
                before.iter().filter(|_| stored.is_none()).for_each(|before| self.write(path, before));
                let (empty, is_new) = (read(""), old.is_none());
                let base = old.as_ref().unwrap_or(&empty);
                let map = base.rewrite(after).unwrap().line_map(base, &new);
                (old, new, if is_new { LineMap::default() } else { map })
            })
            .collect();
        let files_exist = |_: &str| false;
        let cases = edits.iter().zip(&texts).map(|((path, _, after), (old, new, map))| {
            let language = stored.map_or_else(|| language_of(path, after.lines().next()), language_named);
            let is_there = self.path(path).exists();
            let env = GateEnv {
                root: self.project.path(),
                exec_permission: &self.permission,
                runtime: &self.runtime,
                isolation: Isolation::None,
                cache: None,
            };
            let draft = Draft {
                path,
                language,
                before: old.as_ref(),
                after: new,
                map,
                input_location: if is_there { InputLocation::OverFile } else { InputLocation::Alone },
                files_exist: &files_exist,
            };
            GateInput {
                draft,
                rules: self.policy.effective_rules(path, language, Profile::Batch),
                env,
                removed: false,
                group: 0,
                on_disk: OnDisk::Before,
                dead_links: &[],
                lost: Lost::none(),
            }
        });
        judge_all(&cases.collect::<Vec<_>>(), &Watch::idle())
    }
}

/// The places and codes of the findings, and whether the edit brought them.
#[track_caller]
fn found(verdict: &Verdict) -> Vec<String> {
    let run = &verdict.runs[0];
    assert!(matches!(run.outcome, Outcome::Found | Outcome::Passed), "{run:?}");
    let fresh = |finding: &Finding| if finding.fresh { "new" } else { "old" };
    let describe = |finding: &Finding| {
        format!("{}:{} {} {}", finding.line, finding.column, fresh(finding), finding.message)
    };
    let mut all: Vec<String> = verdict.findings.iter().map(describe).collect();
    all.sort();
    all
}

/// What became of the one gate, and why.
fn became(verdict: &Verdict) -> (Outcome, String) {
    let run = &verdict.runs[0];
    (run.outcome, run.why.clone().unwrap_or_default())
}

/// Waits until something is so.
#[track_caller]
fn wait_for(what: &str, mut is_so: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(20);
    while !is_so() {
        assert!(Instant::now() < end, "{what} did not come about");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Whether a process runs.
fn lives(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
}
