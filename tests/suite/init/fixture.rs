//! A project without a policy, and a home of its own.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use lockgate_policy::{Level, Policy, Profile, Role, language_named};
use serde_json::Value;
use tempfile::TempDir;

use crate::suite::files;
use crate::suite::wire::lockgate;

/// A project, with a folder of programs that is all of the search path.
pub struct Fixture {
    pub folder: TempDir,
}

/// What came of a command.
pub struct InitResult {
    pub exit: i32,
    pub json: Value,
}

impl Fixture {
    pub fn new(files: &[(&str, &str)]) -> Fixture {
        let fixture = Fixture { folder: tempfile::tempdir().unwrap() };
        for folder in ["root", "bin"] {
            fs::create_dir(fixture.folder.path().join(folder)).unwrap();
        }
        files.iter().for_each(|(path, text)| fixture.write(path, text));
        fixture
    }

    /// The same with programs of these names, which leave a mark when they are run.
    pub fn with_programs(files: &[(&str, &str)], programs: &[&str]) -> Fixture {
        let fixture = Fixture::new(files);
        programs.iter().for_each(|name| fixture.program(&fixture.folder.path().join("bin").join(name)));
        fixture
    }

    pub fn program(&self, path: &Path) {
        files::write(path, format!("#!/bin/sh\necho run >> {}\n", self.marker().display()));
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    pub fn marker(&self) -> PathBuf {
        self.folder.path().join("was_run")
    }

    pub fn root(&self) -> PathBuf {
        self.folder.path().join("root")
    }

    pub fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        files::write(self.root().join(path), text);
    }

    pub fn text(&self, path: &str) -> String {
        fs::read_to_string(self.root().join(path)).unwrap()
    }

    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = lockgate(self.folder.path());
        command.env("PATH", self.folder.path().join("bin")).current_dir(self.root());
        command.env("LOCKGATE_ISOLATION", "none").env_remove("CLAUDE_CONFIG_DIR").env_remove("CODEX_HOME");
        command.arg("init").args(words).stdin(Stdio::null());
        command
    }

    #[track_caller]
    pub fn init(&self, words: &[&str]) -> InitResult {
        let output = self.command(words).arg("--json").output().unwrap();
        let json = serde_json::from_slice(&output.stdout);
        let stderr = || String::from_utf8_lossy(&output.stderr).into_owned();
        InitResult {
            exit: output.status.code().unwrap(),
            json: json.unwrap_or_else(|why| panic!("{why}: {}", stderr())),
        }
    }

    /// The policy that is written without trials, which must be one.
    #[track_caller]
    pub fn policy(&self) -> Policy {
        let output = self.init(&["--no-trial"]);
        assert_eq!((output.exit, &output.json["status"]), (0, &Value::from("written")), "{}", output.json);
        assert!(!self.marker().exists(), "a program was run");
        let text = self.text("quality.yaml");
        assert_eq!(output.json["text"], Value::from(text.clone()));
        Policy::parse("quality.yaml", &text).unwrap()
    }

    /// All files of the root, links and modes with it.
    pub fn tree(&self) -> Vec<(PathBuf, u32, Vec<u8>)> {
        let mut tree = Vec::new();
        let mut folders = vec![self.root()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
                let (path, kind) = (entry.path(), entry.file_type().unwrap());
                let bytes = if kind.is_file() { fs::read(&path).unwrap() } else { Vec::new() };
                if kind.is_dir() {
                    folders.push(path.clone());
                }
                tree.push((path, entry.metadata().unwrap().permissions().mode(), bytes));
            }
        }
        tree.sort();
        tree
    }

    /// A rejection that leaves everything as it was.
    #[track_caller]
    pub fn refuses(&self, words: &[&str], code: &str) -> String {
        let before = self.tree();
        let output = self.init(words);
        assert_eq!(
            (&output.json["status"], &output.json["code"]),
            (&Value::from("refused"), &Value::from(code)),
            "{}",
            output.json
        );
        assert_ne!(output.exit, 0);
        assert!(self.tree() == before, "something was touched");
        output.json["message"].as_str().unwrap().to_owned()
    }
}

/// The gates of a language in a policy, as `tool`, `tool fix` or `tool warn`.
pub fn gates(policy: &Policy, language: &str) -> Vec<String> {
    let rules = policy.rules_for(language_named(language)).into_iter();
    let own = rules.filter(|rule| !["damage", "syntax"].contains(&rule.gate.name.as_str()));
    own.map(|rule| {
        let fix = if rule.role == Role::Fix { " fix" } else { "" };
        let warn = if rule.level == Level::Warn { " warn" } else { "" };
        let slow = if rule.profiles.include(Profile::Edit) { "" } else { " check" };
        format!("{}{fix}{warn}{slow}", rule.gate.name)
    })
    .collect()
}
