//! How often the real tools are started: as often for twenty files of a call as for one, and not for a canary that an
//! earlier process has seen found.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use super::files;
use super::mcp::installed;
use super::store::not_run;
use super::wire::{Server, lockgate, tools_path};

/// A tool, and a project of `count` files in which each file is reached.
struct Tool {
    gate: &'static str,
    language: &'static str,
    program: PathBuf,
    file: fn(usize) -> String,
    text: &'static str,
    /// The other files.
    with: fn(usize) -> Vec<(String, String)>,
    /// The definition of the gate without its server, where it has one.
    define: &'static str,
}

/// The project of a tool, in which each start of the tool is written down.
struct Project {
    root: tempfile::TempDir,
    user: tempfile::TempDir,
    tool: Tool,
    count: usize,
}

const TSC: &str = r#"
define:
  tsc-command:
    about: tsc without its server.
    languages: [typescript]
    kind: command
    input: staged
    command: [tsc, --noEmit, --pretty, "false", "{args}", --project, "{root}"]
    cwd: [tsconfig.json]
    ran: [0, 1, 2]
    output: { regex: '^(?P<file>.+?)\((?P<line>\d+),(?P<column>\d+)\): (?P<severity>error|warning) (?P<code>TS\d+): (?P<message>.*)$' }
    scope: project
    config: [tsconfig.json]
    canary: { append: "\nconst lockgate_canary: number = '';\n", finds: '^TS2322 ', text: "let x = (;\n" }
"#;

fn cargo() -> Tool {
    Tool {
        gate: "cargo-check",
        language: "rust",
        program: PathBuf::from(env!("CARGO")),
        file: |at| format!("src/m{at}.rs"),
        text: "pub fn f() -> i32 {\n    1000\n}\n",
        with: |count| {
            let modules = (0..count).map(|at| format!("pub mod m{at};\n")).collect();
            let package = "[package]\nname = \"m\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";
            let lock = "version = 4\n\n[[package]]\nname = \"m\"\nversion = \"0.1.0\"\n";
            [("src/lib.rs", modules), ("Cargo.toml", package.to_owned()), ("Cargo.lock", lock.to_owned())]
                .map(|(path, text)| (path.to_owned(), text))
                .to_vec()
        },
        define: "",
    }
}

fn tsc() -> Option<Tool> {
    Some(Tool {
        gate: "tsc-command",
        language: "typescript",
        program: installed("LOCKGATE_TEST_NODE", "node", "node_modules/.bin/tsc")?,
        file: |at| format!("src/m{at}.ts"),
        text: "export function f(): number {\n    return 1000;\n}\n",
        with: |_| vec![("tsconfig.json".to_owned(), "{ \"include\": [\"src\"] }\n".to_owned())],
        define: TSC,
    })
}

fn go() -> Option<Tool> {
    let program =
        std::env::split_paths(&tools_path()).map(|folder| folder.join("go")).find(|go| go.is_file());
    if program.is_none() {
        not_run("the starts of go are counted: there is no go");
    }
    Some(Tool {
        gate: "go-build",
        language: "go",
        program: program?,
        file: |at| format!("p{}/m{at}.go", at % 3),
        text: "package p\n\nfunc _() int {\n\treturn 1000\n}\n",
        with: |_| vec![("go.mod".to_owned(), "module example.org/m\n\ngo 1.19\n".to_owned())],
        define: "",
    })
}

impl Project {
    fn new(tool: Tool, count: usize) -> Project {
        let project =
            Project { root: tempfile::tempdir().unwrap(), user: tempfile::tempdir().unwrap(), tool, count };
        let Tool { gate, language, program, file, text, with, define } = &project.tool;
        for at in 0..count {
            project.write(&file(at), text);
        }
        with(count).iter().for_each(|(path, text)| project.write(path, text));
        let policy = format!(
            "{define}quality_gates: {{ {language}: [{{ tool: {gate}, timeout: 120s }}] }}\nlimits: {{ total: 120s }}\n"
        );
        project.write("quality.yaml", &policy);
        // A program of the same name, which writes its start down and becomes the tool.
        let name = program.file_name().unwrap();
        let counting = project.bin().join(name);
        fs::create_dir_all(project.bin()).unwrap();
        let log = project.log();
        let script =
            format!("#!/bin/sh\necho run >> '{}'\nexec '{}' \"$@\"\n", log.display(), program.display());
        fs::write(&counting, script).unwrap();
        fs::set_permissions(&counting, fs::Permissions::from_mode(0o755)).unwrap();
        project
    }

    fn bin(&self) -> PathBuf {
        self.user.path().join("counting")
    }

    fn log(&self) -> PathBuf {
        self.user.path().join("log")
    }

    fn write(&self, path: &str, text: &str) {
        files::write(self.root.path().join(path), text);
    }

    fn starts(&self) -> usize {
        fs::read_to_string(self.log()).unwrap_or_default().lines().count()
    }

    fn command(&self) -> Command {
        let mut command = lockgate(self.user.path());
        let own = self.tool.program.parent().map(Path::to_owned);
        let tools = tools_path();
        let search = [self.bin()].into_iter().chain(own).chain(std::env::split_paths(&tools));
        command.env("PATH", std::env::join_paths(search).unwrap());
        // The counting program writes its log outside of the project.
        command.env("LOCKGATE_ISOLATION", "none");
        command
    }

    /// Changes each file from one number to another in one call of a new server, and gives how often the tool was started.
    fn edit(&self, from: usize, to: usize) -> usize {
        let before = self.starts();
        let mut server = Server::start_by(self.command(), self.root.path(), &["--tools", "all", "--trust"]);
        let edits: Vec<Value> = (0..self.count)
            .map(|at| json!({"path": (self.tool.file)(at), "search": from.to_string(), "replace": to.to_string()}))
            .collect();
        let answer =
            server.call("edit_files", &json!({"edits": edits, "show_diff": false, "max_bytes": 200_000}));
        assert_eq!(answer.status(), "written", "{}", answer.text);
        for file in answer.structured["files"].as_array().unwrap() {
            assert_eq!(file["gates"][0]["outcome"], "passed", "{file:#}");
        }
        self.starts() - before
    }
}

/// The starts for one call of a first process, of one call of a second, and of one of a third that finds nothing
/// written down.
fn starts(tool: Tool, count: usize) -> [usize; 3] {
    let project = Project::new(tool, count);
    let edits = [project.edit(1000, 1001), project.edit(1001, 1002)];
    fs::remove_dir_all(project.user.path().join("cache/lockgate/proofs")).unwrap();
    [edits[0], edits[1], project.edit(1002, 1003)]
}

#[test]
fn cargo_is_started_as_often_for_twenty_files_as_for_one() {
    for count in [1, 5, 20] {
        assert_eq!(starts(cargo(), count), [2, 1, 2], "{count} files");
    }
}

#[test]
fn tsc_is_started_as_often_for_twenty_files_as_for_one() {
    for count in [1, 5, 20] {
        let Some(tool) = tsc() else { return };
        assert_eq!(starts(tool, count), [2, 1, 2], "{count} files");
    }
}

#[test]
fn go_is_started_as_often_for_twenty_files_as_for_one() {
    for count in [1, 5, 20] {
        let Some(tool) = go() else { return };
        assert_eq!(starts(tool, count), [2, 1, 2], "{count} files");
    }
}
