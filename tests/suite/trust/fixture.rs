//! A person, a project, and programs that write down that they ran.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

use crate::suite::files;
use crate::suite::wire::{Outcome, Server, lockgate, outcome};

/// A person's own folders, a root, and a folder of programs beside it.
pub struct Fixture {
    dir: TempDir,
    /// The search path of everything that is started here.
    pub path: String,
}

impl Fixture {
    /// A root with an empty Python file in it, and nothing that would run.
    pub fn new() -> Fixture {
        let dir = tempfile::tempdir().unwrap();
        for folder in ["root/sub/deep", "bin", "user", "outside"] {
            fs::create_dir_all(dir.path().join(folder)).unwrap();
        }
        let inherited = std::env::var("PATH").unwrap();
        let mut fixture = Fixture { dir, path: String::new() };
        fixture.path = format!("{}:{inherited}", fixture.at("bin").display());
        fixture.write("root/app.py", "x = 1\n");
        fixture
    }

    /// A path beside the root, or in it: `root/app.py`.
    pub fn at(&self, path: &str) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join(path)
    }

    pub fn root(&self) -> PathBuf {
        self.at("root")
    }

    /// The text with `{FIXTURE}` in it replaced by the folder of the fixture.
    pub fn fill(&self, text: &str) -> String {
        text.replace("{FIXTURE}", self.at("").to_str().unwrap().trim_end_matches('/'))
    }

    pub fn write(&self, path: &str, text: &str) {
        files::write(self.at(path), self.fill(text));
    }

    pub fn append(&self, path: &str, text: &str) {
        self.write(path, &(fs::read_to_string(self.at(path)).unwrap() + text));
    }

    /// A link of that name, replacing what is there.
    pub fn link(&self, target: &Path, path: &str) {
        let path = self.at(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::remove_file(&path).ok();
        symlink(target, path).unwrap();
    }

    /// A program that writes its name into the list of what ran, finds nothing, and repeats its input.
    pub fn program(&self, path: &str) {
        self.write(path, "#!/bin/sh\nprintf '%s\\n' \"$0\" >> '{FIXTURE}/outside/ran'\ncat\n");
        self.executable(path);
    }

    pub fn executable(&self, path: &str) {
        fs::set_permissions(self.at(path), fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// A policy that has one gate run one program, looked for in these places.
    pub fn policy(&self, path: &str, bin: &str) {
        self.write(path, &policy(bin));
    }

    /// What ran since this was asked before.
    pub fn ran(&self) -> Vec<String> {
        let list = self.at("outside/ran");
        let text = fs::read_to_string(&list).unwrap_or_default();
        fs::remove_file(list).ok();
        text.lines().map(str::to_owned).collect()
    }

    /// The binary as this person starts it, with programs that write down that they ran.
    pub fn command(&self) -> Command {
        let mut command = lockgate(&self.at("user"));
        command.env("PATH", &self.path).env("LOCKGATE_ISOLATION", "none").current_dir(self.root());
        command
    }

    /// Runs the command line.
    pub fn call(&self, arguments: &[&str]) -> Outcome {
        outcome(&self.command().args(arguments).stdin(Stdio::null()).output().unwrap())
    }

    /// Trusts the policy of a folder.
    #[track_caller]
    pub fn trust(&self, folder: &str) {
        let output = self.call(&["trust", "--yes", folder]);
        assert_eq!(output.exit, 0, "{}{}", output.stdout, output.stderr);
    }

    pub fn server(&self, arguments: &[&str]) -> Server {
        Server::start_by(self.command(), &self.root(), arguments)
    }
}

/// A policy that has a gate named `it` run a program, looked for in these places.
pub fn policy(bin: &str) -> String {
    format!(
        "quality_gates:\n  python:\n    - tool: it\ndefine:\n  it:\n    about: Looks at a file.\n    languages: [python]\n    \
         kind: command\n    input: stdin\n    command: [it, \"{{path}}\"]\n    bin: {bin}\n    \
         output: {{ text: exit, message: bad }}\n"
    )
}
