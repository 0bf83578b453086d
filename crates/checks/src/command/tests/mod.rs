//! Runs of small programs of the tests' own.

mod arguments;
mod names;
mod notes;
mod outcomes;
mod overlays;
mod samples;
mod staging;

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use super::{ProgramInput, check, fix};
use crate::error::GateError;
use crate::output::ToolFinding;
use crate::overlay::DraftOverlay;
use crate::runtime::Versions;
use lockgate_policy::{Policy, Rule};
use lockgate_sandbox::Ceiling;
use lockgate_sandbox::Isolation;
use lockgate_sandbox::Watch;
use lockgate_text::{Buffer, Hints};

/// A program that records its input in `{cache}/seen.json`, and then prints the output of its script.
const MIRROR: &str = r#"
import json, os, sys
cache, words = sys.argv[1], sys.argv[2:]
def text(path):
    with open(path, "rb") as file: return file.read().decode("latin-1")
def folder(path):
    return sorted([name, "link" if os.path.islink(os.path.join(path, name)) else
                   "folder" if os.path.isdir(os.path.join(path, name)) else "file"] for name in os.listdir(path))
def facts(path):
    found = os.lstat(path)
    return {"text": text(path), "mode": oct(found.st_mode & 0o777), "changed": found.st_mtime_ns}
here = {word: facts(word) if os.path.isfile(word) else folder(word)
        for word in words if word.startswith("/") and os.path.exists(word)}
seen = {"words": words, "cwd": os.getcwd(), "env": dict(os.environ), "stdin": sys.stdin.buffer.read().decode("latin-1"),
        "here": here, "cwd_has": folder("."), "private": oct(os.lstat(cache).st_mode & 0o777)}
with open(os.path.join(cache, "seen.json"), "w") as file: json.dump(seen, file)
"#;

/// A project on disk, beside it the folder of lockgate's own and the program.
pub(super) struct Fixture {
    home: TempDir,
    pub(super) search: OsString,
    pub(super) ceiling: Ceiling,
}

impl Fixture {
    /// A project that has these files.
    pub(super) fn new(files: &[(&str, &str)]) -> Fixture {
        let home = TempDir::new().unwrap();
        fs::create_dir_all(home.path().join("root")).unwrap();
        let ceiling = Ceiling(Isolation::None);
        let fixture = Fixture { home, search: crate::search_path(), ceiling };
        files.iter().for_each(|(path, text)| fixture.write(path, text));
        fixture
    }

    pub(super) fn root(&self) -> PathBuf {
        self.home.path().canonicalize().unwrap().join("root")
    }

    pub(super) fn cache(&self) -> PathBuf {
        self.home.path().join("own/cache")
    }

    pub(super) fn write(&self, path: &str, text: &str) {
        let place = self.root().join(path);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::write(place, text).unwrap();
    }

    /// A rule whose gate runs a script of Python; these words come after the script's name and its cache.
    pub(super) fn rule(&self, script: &str, words: &str, more: &str) -> Rule {
        let place = self.home.path().join("tool.py");
        fs::write(&place, script).unwrap();
        let more: String =
            more.lines().map(|line| format!("    {}\n", line.trim_start_matches('|'))).collect();
        let policy = format!(
            "define:\n  tool:\n    about: A tool.\n    languages: ['*']\n    kind: command\n    \
             command: [python3, {}, '{{cache}}', {words}]\n    timeout: 30s\n{more}quality_gates:\n  '*': [{{ tool: tool }}]\n",
            place.display(),
        );
        let policy =
            Policy::parse("quality.yaml", &policy).unwrap_or_else(|error| panic!("{error}\n{policy}"));
        policy.commands().next().unwrap().clone()
    }

    pub(super) fn run<T>(
        &self,
        rule: &Rule,
        path: &str,
        text: &[u8],
        work: impl FnOnce(&ProgramInput<'_>) -> Result<T, GateError>,
    ) -> Result<T, GateError> {
        self.run_among(&[], rule, path, text, work)
    }

    /// The same among other drafts of the call.
    pub(super) fn run_among<T>(
        &self,
        other_drafts: &[(&str, Option<&str>)],
        rule: &Rule,
        path: &str,
        text: &[u8],
        work: impl FnOnce(&ProgramInput<'_>) -> Result<T, GateError>,
    ) -> Result<T, GateError> {
        let read = |text: &[u8]| Buffer::read(text.to_vec(), Hints::default()).unwrap();
        let (text, root) = (read(text), self.root());
        let texts: Vec<_> =
            other_drafts.iter().map(|(_, text)| text.map(|text| read(text.as_bytes()))).collect();
        let overlays: Vec<DraftOverlay<'_>> = other_drafts
            .iter()
            .zip(&texts)
            .map(|((path, _), text)| DraftOverlay { root: &root, path, language: None, text: text.as_ref() })
            .collect();
        let overlays: Vec<&DraftOverlay<'_>> = overlays.iter().collect();
        work(&ProgramInput {
            is_removed: false,
            overlays: &overlays,
            batched: &[],
            isolation: Isolation::None,
            ceiling: self.ceiling,
            rule,
            program: &python(),
            search: &self.search,
            root: &root,
            path,
            language: lockgate_policy::language_of(path, None),
            text: &text,
            on_disk: root.join(path).exists(),
            cache: Some(&self.cache()),
            versions: &Versions::default(),
        })
    }

    pub(super) fn check(&self, rule: &Rule, path: &str, text: &str) -> Result<Vec<ToolFinding>, GateError> {
        self.run(rule, path, text.as_bytes(), within_a_minute(check))
    }

    pub(super) fn fix(&self, rule: &Rule, path: &str, text: &str) -> Result<String, GateError> {
        self.run(rule, path, text.as_bytes(), within_a_minute(fix))
    }

    /// The input that the program recorded for this text.
    pub(super) fn mirrored(&self, words: &str, more: &str, path: &str, text: &[u8]) -> Value {
        let rule = self.rule(MIRROR, words, more);
        let findings = self.run(&rule, path, text, within_a_minute(check));
        assert_eq!(findings, Ok(Vec::new()));
        self.recorded_input()
    }

    pub(super) fn recorded_input(&self) -> Value {
        serde_json::from_str(&fs::read_to_string(self.cache().join("seen.json")).unwrap()).unwrap()
    }
}

/// Gives the program a minute, which on a busy machine it may need to start.
pub(super) fn within_a_minute<T>(
    work: fn(&ProgramInput<'_>, lockgate_sandbox::Limit<'_>) -> Result<T, GateError>,
) -> impl Fn(&ProgramInput<'_>) -> Result<T, GateError> {
    move |input| {
        let watch = Watch::idle();
        work(input, watch.until(Instant::now() + Duration::from_secs(60)))
    }
}

/// Python itself: what stands in its place in some search paths is a script that changes the environment.
pub(super) fn python() -> PathBuf {
    let search = crate::search_path();
    let places = std::env::split_paths(&search).filter(|folder| !folder.ends_with("shims"));
    let mut places = places.map(|folder| folder.join("python3"));
    places.find(|program| program.is_file()).expect("python3 in the search path")
}

pub(super) fn broken<T: std::fmt::Debug>(result: Result<T, GateError>) -> String {
    match result {
        Err(GateError::Broken(why)) => why,
        other => panic!("{other:?}"),
    }
}

pub(super) fn text_of(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

/// The output that says nothing.
pub(super) const QUIET: &str = "output: { text: exit, message: found }";
