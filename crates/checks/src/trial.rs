//! Tests a gate on this machine: runs its samples and canaries, and asks its program for the version.
//!
//! Invariant: a program is given only texts of its own definition, in a folder of its own.

use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::draft::{Draft, InputLocation};
use super::finding::{Finding, sanitize};
use super::gate_env::{ExecPermission, GateEnv};
use super::judge::judge;
use super::runtime::GateRuntime;
use super::stage::Stage;
use super::verdict::{Outcome, Verdict};
use lockgate_policy::{
    CanaryKind, CanaryText, EffectiveRules, Gate, Language, Languages, Rule, Sample, language_named,
    language_of,
};
use lockgate_sandbox::Isolation;
use lockgate_sandbox::{self as sandbox, Ceiling, Order, ProcessOutcome, Sandbox, strongest};
use lockgate_sandbox::{Halt, Limit, Watch};
use lockgate_text::{Buffer, Hints};

/// The time limit for a version query: some programs set themselves up when they first run.
const PROBE_TIME: Duration = Duration::from_secs(20);
/// The maximum length of a version that is shown, in characters.
const LONGEST_VERSION: usize = 30;

/// Runs an in-process gate on a sample, as a new file or as an edit of the text before. Only the neighbours
/// that the sample names exist.
///
/// Errors: the reason that the gate gave no findings.
pub fn run_sample_in_process(gate: &Arc<Gate>, sample: &Sample) -> Result<Vec<Finding>, String> {
    let read =
        |text: &str| Buffer::read(text.as_bytes().to_vec(), Hints::default()).map_err(|error| error.message);
    let after = read(&sample.draft)?;
    let before = sample.before.as_deref().map(read).transpose()?;
    let empty = read("")?;
    let old = before.as_ref().unwrap_or(&empty);
    let plan = old.rewrite(&sample.draft).map_err(|error| error.message)?;
    let draft = Draft {
        path: &sample.path,
        language: language_of(&sample.path, sample.draft.lines().next()),
        before: before.as_ref(),
        after: &after,
        map: &plan.line_map(old, &after),
        input_location: InputLocation::of_file(before.as_ref()),
        files_exist: &|path: &str| sample.siblings.iter().any(|known| known == path),
    };
    let rule = Rule::plain(Arc::clone(gate));
    let terms = EffectiveRules::new(&rule, rule.timeout);
    let (permission, runtime) =
        (ExecPermission::Untrusted("it runs a program".to_owned()), GateRuntime::default());
    let env = GateEnv {
        root: Path::new("/"),
        exec_permission: &permission,
        runtime: &runtime,
        isolation: Isolation::None,
        cache: None,
    };
    into_findings(judge(&draft, &terms, &env, &Watch::idle()))
}

/// Returns the findings of the only gate in a verdict.
fn into_findings(verdict: Verdict) -> Result<Vec<Finding>, String> {
    match verdict.runs.as_slice() {
        [run] if matches!(run.outcome, Outcome::Passed | Outcome::Found) => Ok(verdict.findings),
        [run] => Err(format!("{}: {}", run.outcome.name(), run.why.as_deref().unwrap_or_default())),
        _ => Err("the gate did not run".to_owned()),
    }
}

/// Returns the texts of a gate's canary in the order in which they are tried, each with the meaning of a
/// finding in it. They are set in the project of the gate's first good sample, which contains the program's
/// configuration. Empty if the gate has no canary, or no path to put it at.
pub fn canaries(gate: &Gate) -> Vec<(Sample, CanaryKind)> {
    let good = gate.samples.iter().find(|sample| sample.finds.is_empty());
    let path = match (good, &gate.languages) {
        (Some(good), _) => Some(good.path.clone()),
        (None, Languages::Every) => Some("canary.txt".to_owned()),
        (None, Languages::Only(names)) => {
            names.first().and_then(|name| language_named(name)).map(Language::example)
        }
    };
    let (Some(canary), Some(path)) = (&gate.canary, path) else { return Vec::new() };
    let sample = |CanaryText { text, kind: shows }: CanaryText| {
        let sample = Sample {
            path: path.clone(),
            draft: text,
            before: None,
            siblings: Vec::new(),
            with: good.map(|good| good.with.clone()).unwrap_or_default(),
            output: None,
            errors: String::new(),
            exit: 0,
            finds: Vec::new(),
        };
        (sample, shows)
    };
    canary.attempts(good.map_or("", |good| &good.draft)).into_iter().map(sample).collect()
}

/// Asks the program at an absolute path for its version, with the arguments `probe`; `None` if there are
/// none. `search` is the search path for the programs that it starts.
///
/// Errors: the reason that it gave none, as the end of a sentence that begins with the program's name.
pub fn version(
    probe: &[String],
    program: &Path,
    search: &OsStr,
    watch: &Watch,
) -> Result<Option<String>, String> {
    version_with_limit(probe, program, search, watch.until(Instant::now() + PROBE_TIME))
}

/// Same as [`version`], with a time limit.
pub(super) fn version_with_limit(
    probe: &[String],
    program: &Path,
    search: &OsStr,
    limit: Limit<'_>,
) -> Result<Option<String>, String> {
    if probe.is_empty() {
        return Ok(None);
    }
    let stage = Stage::new().map_err(|error| error.to_string())?;
    let folder = stage.folder("probe").map_err(|error| error.to_string())?;
    let argv = probe.iter().map(Into::into).collect();
    let env = vec![("PATH".into(), search.to_owned())];
    let ceiling = Ceiling::default();
    let own = Some(stage.path().to_owned());
    let sandbox = Sandbox { level: strongest(ceiling), run_dir: own, ..Sandbox::default() };
    let order = Order { program, argv, cwd: &folder, env, input: None, sandbox };
    match sandbox::run(&order, limit) {
        ProcessOutcome::Exited { code: 0, stdout, stderr } => {
            let both =
                [stdout, stderr].map(|output| String::from_utf8_lossy(&output).into_owned()).join("\n");
            Ok(Some(number(&both)))
        }
        ProcessOutcome::Exited { code, .. } | ProcessOutcome::StdinUnread { code, .. } => {
            Err(format!("ended with exit code {code} when it was run for its version"))
        }
        ProcessOutcome::Broken(why) => Err(why),
        ProcessOutcome::Halted(Halt::TimedOut) => Err("did not report its version in time".to_owned()),
        ProcessOutcome::Halted(Halt::Cancelled) => Err("was cancelled".to_owned()),
    }
}

/// Returns the first word that looks like a version, or else the first line.
fn number(output: &str) -> String {
    let plain = |word: &str| -> Option<String> {
        let digits = word.trim_start_matches(|c: char| c.is_ascii_alphabetic() || c == '(');
        let number: String =
            digits.chars().take_while(|c| c.is_ascii_alphanumeric() || ".+-".contains(*c)).collect();
        let number = number.trim_end_matches('.');
        (number.starts_with(|c: char| c.is_ascii_digit()) && number.contains('.')).then(|| number.to_owned())
    };
    let line = || output.lines().map(sanitize).find(|line| !line.is_empty()).unwrap_or_default();
    output.split_whitespace().find_map(plain).unwrap_or_else(line).chars().take(LONGEST_VERSION).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockgate_policy::Catalogue;

    #[test]
    fn versions_are_found_in_what_programs_say() {
        for (output, version) in [
            ("ruff 0.17.6\n", "0.17.6"),
            ("black, 26.10.1 (compiled: yes)\nPython (CPython) 3.11.7\n", "26.10.1"),
            ("go version go1.27.3 linux/amd64\n", "1.27.3"),
            ("v10.15.0\n", "10.15.0"),
            ("Version 7.0.2\n", "7.0.2"),
            ("rustfmt 1.9.0-stable (31fca3adb2 2026-01-01)\n", "1.9.0-stable"),
            ("ShellCheck - shell script analysis tool\nversion: 0.11.0\n", "0.11.0"),
            ("\n\u{1b}[1mnightly\u{1b}[0m build\n", "nightly build"),
            ("", ""),
        ] {
            assert_eq!(number(output), version, "{output:?}");
        }
        assert_eq!(number(&"x".repeat(99)).len(), LONGEST_VERSION);
    }

    #[test]
    fn every_canary_of_the_catalogue_lies_where_its_gate_looks() {
        let gates = Catalogue::embedded().gates().iter();
        let all = gates.flat_map(|gate| canaries(gate).into_iter().map(move |(sample, _)| (gate, sample)));
        let all: Vec<_> = all.collect();
        assert!(all.len() > 10, "{}", all.len());
        for (gate, sample) in all {
            assert!(gate.covers(language_of(&sample.path, None)), "{}: {}", gate.name, sample.path);
            let passed_over = gate.command().is_some_and(|command| command.excludes(&sample.path));
            assert!(!passed_over, "{}: {}", gate.name, sample.path);
        }
    }
}
