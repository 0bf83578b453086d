//! No program of a repository runs that nobody has trusted, whatever the repository holds: the real server is traced while
//! it edits in hostile ones, and starts nothing but itself.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::store::not_run;
use super::trust::fixture::Fixture;
use super::wire::{Answer, Server, tools_path};
use faults::FAULTS;
use repositories::REPOSITORIES;

mod faults;
mod repositories;

/// A repository that would like to run something.
pub struct Repository {
    name: &'static str,
    /// A file that its policy covers.
    covers: &'static str,
    build: fn(&Fixture),
    then: Then,
}

/// What becomes of an edit in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Then {
    /// Its commands are withheld; once a person trusts them, they run.
    Withheld,
    /// Its commands are withheld, and once trusted have no program: the repository's own is not taken.
    NeverFound,
    /// No gate asks for a program.
    Plain,
}

/// Every way to write a file, whatever is in it.
fn every_edit(path: &str) -> Vec<(&'static str, Value)> {
    let line = "x = 2\n";
    let mut edits: Vec<(&str, Value)> = ["verify_only", "strict", "interactive"]
        .map(|mode| ("safe_edit_file", json!({"path": path, "content": line, "mode": mode})))
        .into();
    edits.push(("safe_edit_file", json!({"path": path, "search": "x", "replace": "y"})));
    edits.push(("safe_edit_file", json!({"path": path, "insert_lines": [{"at_line": 1, "content": line}]})));
    let first = json!([{"start_line": 1, "end_line": 1, "new_content": line}]);
    edits.push(("safe_edit_file", json!({"path": path, "line_edits": first})));
    edits.push(("create_file", json!({"path": format!("{path}.new.py"), "content": line})));
    edits
}

/// The plainest way to write a file.
fn edit(path: &str) -> (&'static str, Value) {
    ("safe_edit_file", json!({"path": path, "content": "x = 2\n"}))
}

/// What was started while a server made edits, the server itself first; and the answers, each with its path.
struct Traced {
    started: Vec<String>,
    answers: Vec<(String, Answer)>,
}

/// Has a server make edits under strace: the tool and its arguments.
fn traced(fixture: &Fixture, arguments: &[&str], edits: &[(&str, Value)]) -> Traced {
    let log = fixture.at("outside/trace");
    let mut server = Server::start_by(under_strace(fixture, &log), &fixture.root(), arguments);
    let answer = |(tool, arguments): &(&str, Value)| {
        (arguments["path"].as_str().unwrap().to_owned(), server.call(tool, arguments))
    };
    let answers = edits.iter().map(answer).collect();
    drop(server);
    let text = fs::read_to_string(&log).unwrap();
    let started = text.lines().filter(|line| line.contains("execve")).map(str::to_owned).collect();
    Traced { started, answers }
}

/// The command that runs the binary under strace, with a search path that leads into the repository.
fn under_strace(fixture: &Fixture, log: &Path) -> Command {
    let plain = fixture.command();
    let mut strace = Command::new("strace");
    strace.args([
        "-f",
        "--seccomp-bpf",
        "-qq",
        "-s",
        "500",
        "-e",
        "trace=execve,execveat",
        "-e",
        "signal=none",
    ]);
    strace.arg("-o").arg(log);
    strace.arg("--").arg(plain.get_program());
    for (name, value) in plain.get_envs() {
        match value {
            Some(value) => strace.env(name, value),
            None => strace.env_remove(name),
        };
    }
    let rest = fixture.path.clone();
    let root = fixture.root().display().to_string();
    // The first and the last are empty, which means the working folder, too.
    strace.env("PATH", format!(":.:bin:{root}/bin:./node_modules/.bin:{rest}:"));
    strace
}

fn has_strace() -> bool {
    let tried = ["-f", "--seccomp-bpf", "-qq", "-e", "trace=execve", "-o", "/dev/null", "true"];
    let found = Command::new("strace").args(tried).stderr(Stdio::null()).status();
    let works = found.is_ok_and(|status| status.success());
    if !works {
        not_run("what a server starts in hostile repositories: strace is not there, or may not trace");
    }
    works
}

/// Files that tools like to see.
const OTHERS: [&str; 3] = ["web/app.js", "notes.txt", "tests/test_app.py"];

#[test]
fn nothing_is_started_in_a_hostile_repository() {
    if !has_strace() {
        return;
    }
    for repository in REPOSITORIES {
        let fixture = Fixture::new();
        (repository.build)(&fixture);
        let name = repository.name;
        let edits: Vec<_> = every_edit(repository.covers).into_iter().chain(OTHERS.map(edit)).collect();
        let trace = traced(&fixture, &["--tools", "all"], &edits);
        assert_eq!(trace.started.len(), 1, "{name}: {:#?}", trace.started);
        assert!(trace.started[0].contains(env!("CARGO_BIN_EXE_lockgate")), "{name}: {:?}", trace.started);
        assert_eq!(fixture.ran(), [""; 0], "{name}");
        for (path, answer) in &trace.answers {
            let fine = ["written", "verified", "unchanged"].contains(&answer.status());
            assert!(fine, "{name}: {path}: {}", answer.structured);
            let has_hint = answer.structured["notes"].to_string().contains("lockgate trust");
            let expected = repository.then != Then::Plain;
            assert!(
                path != repository.covers || has_hint == expected,
                "{name}: {path}: {}",
                answer.structured
            );
        }
    }
}

/// The control: the same repositories, trusted, do start their programs, and the trace sees it.
#[test]
fn trusted_programs_are_started() {
    if !has_strace() {
        return;
    }
    let mut run_count = 0;
    for repository in REPOSITORIES {
        let fixture = Fixture::new();
        (repository.build)(&fixture);
        let name = repository.name;
        let trace = traced(&fixture, &["--tools", "all", "--trust"], &[edit(repository.covers)]);
        let started = trace.started.len() > 1;
        assert_eq!(
            started,
            repository.then == Then::Withheld,
            "{name}: {:#?} {:?}",
            trace.started,
            trace.answers.last()
        );
        assert_eq!(!fixture.ran().is_empty(), started, "{name}");
        run_count += usize::from(started);
    }
    assert!(run_count >= 15, "the control of {run_count} only");
}

/// Who looks at the gates runs nothing of the repository either, and the control, who trusts it, does.
#[test]
fn listing_gates_starts_nothing_of_a_repository() {
    let mut run_count = 0;
    for repository in REPOSITORIES.iter().filter(|repository| repository.then == Then::Withheld) {
        let fixture = Fixture::new();
        (repository.build)(&fixture);
        for looked in [&["gates", "doctor", "it"][..], &["gates", "test", "it"], &["gates", "show", "it"]] {
            fixture.call(looked);
            assert_eq!(fixture.ran(), [""; 0], "{}: {looked:?}", repository.name);
        }
        fixture.call(&["gates", "doctor", "it", "--trust"]);
        run_count += usize::from(!fixture.ran().is_empty());
    }
    assert!(run_count > 0, "the control ran nothing");
}

#[test]
fn an_invalid_policy_refuses_every_write_and_starts_nothing() {
    if !has_strace() {
        return;
    }
    for (name, build) in FAULTS {
        for arguments in [&["--tools", "all"][..], &["--tools", "all", "--trust"]] {
            let fixture = Fixture::new();
            build(&fixture);
            let entry_count = || fs::read_dir(fixture.at("root/sub/deep")).unwrap().count();
            let before = entry_count();
            let edits: Vec<_> = every_edit("app.py").into_iter().chain([edit("sub/deep/new.py")]).collect();
            let trace = traced(&fixture, arguments, &edits);
            assert_eq!(trace.started.len(), 1, "{name}: {:#?}", trace.started);
            for (path, answer) in &trace.answers {
                assert_eq!(answer.code(), "POLICY_INVALID", "{name}: {path}: {}", answer.structured);
            }
            assert_eq!(fs::read_to_string(fixture.at("root/app.py")).unwrap(), "x = 1\n", "{name}");
            assert_eq!((entry_count(), fixture.ran().len()), (before, 0), "{name}");
        }
    }
}

#[test]
fn there_are_enough_of_them() {
    assert!(REPOSITORIES.len() >= 30 && FAULTS.len() >= 12, "{} and {}", REPOSITORIES.len(), FAULTS.len());
}

/// A tool, a file that it judges, and files of the project with code that it runs.
type Loading = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

/// Configuration that is code, which writes down that it ran.
const CODE: &[Loading] = &[
    (
        "pylint",
        "app.py",
        &[(".pylintrc", "[MAIN]\ninit-hook=open('{FIXTURE}/outside/ran','a').write('pylint\\n')\n")],
    ),
    (
        "mypy",
        "app.py",
        &[
            ("mypy.ini", "[mypy]\nplugins = ./own.py\n"),
            (
                "own.py",
                "from mypy.plugin import Plugin\nopen('{FIXTURE}/outside/ran','a').write('mypy\\n')\ndef plugin(version): return Plugin\n",
            ),
        ],
    ),
    (
        "eslint",
        "app.js",
        &[(
            "eslint.config.js",
            "require('fs').appendFileSync('{FIXTURE}/outside/ran', 'eslint\\n');\nmodule.exports = [];\n",
        )],
    ),
];

#[test]
fn configuration_that_is_code_runs_with_a_trusted_tool_and_not_before() {
    for (tool, path, files) in CODE {
        let mut fixture = Fixture::new();
        fixture.path = tools_path().into_string().unwrap();
        if !std::env::split_paths(&fixture.path).any(|folder| folder.join(tool).exists()) {
            not_run(&format!("configuration that is code: {tool} is not there; tests/run installs it"));
            continue;
        }
        let language = if path.ends_with(".js") { "javascript" } else { "python" };
        fixture.write("root/quality.yaml", &format!("quality_gates: {{ {language}: [{{ tool: {tool}, timeout: 60s }}] }}\nlimits: {{ total: 60s }}\n"));
        for (name, text) in *files {
            fixture.write(&format!("root/{name}"), text);
        }
        let edit = ["edit", "--json", "--path", path, "--content", "x = 2\n", "--mode", "verify_only"];
        let output = fixture.call(&edit);
        assert_eq!(fixture.ran(), [""; 0], "{tool}: {}", output.stdout);
        let output = fixture.call(&[&edit[..], &["--trust"]].concat());
        assert!(
            fixture.ran().iter().any(|line| line == tool),
            "the control: {tool}: {}{}",
            output.stdout,
            output.stderr
        );
    }
}

/// A program that a trusted program starts by its name is not the repository's either.
#[test]
fn a_trusted_program_finds_no_program_of_the_repository_by_its_name() {
    if !has_strace() {
        return;
    }
    let fixture = Fixture::new();
    fixture.program("root/bin/helper");
    fixture.program("root/helper");
    fixture.program("bin/helper");
    fixture.write("bin/it", "#!/bin/sh\nexec helper\n");
    fixture.executable("bin/it");
    fixture.policy("root/quality.yaml", "[it]");
    traced(&fixture, &["--tools", "all", "--trust"], &[edit("app.py")]);
    let programs_run = fixture.ran();
    let outside: PathBuf = fixture.at("bin/helper");
    assert!(
        !programs_run.is_empty() && programs_run.iter().all(|program| Path::new(program) == outside),
        "{programs_run:?}"
    );
}
