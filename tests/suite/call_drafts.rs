//! Drafts of one call are judged together by programs that read the project: what is right together passes,
//! what is wrong alone is refused, and the project on disk is never touched.

use std::fs;
use std::path::Path;

use serde_json::json;

use super::files;
use super::mcp::installed;
use super::store::not_run;
use super::trust::fixture::Fixture;
use super::wire::{Server, lockgate};

const LEVELS: [&str; 3] = ["none", "landlock", "bubblewrap"];

fn server(root: &Path, user: &Path, level: &str) -> Server {
    let mut command = lockgate(user);
    command.env("LOCKGATE_ISOLATION", level);
    Server::start_by(command, root, &["--tools", "all", "--trust"])
}

/// A function and its caller in two files, `old` renamed to `new` in both: refused singly, written together.
fn renamed(policy: &str, files: [(&str, &str); 2], with: &[(&str, &str)]) {
    for level in LEVELS {
        let (root, user) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        files::write_all(root.path(), files.iter().chain(with));
        fs::write(root.path().join("quality.yaml"), policy).unwrap();
        let mut server = server(root.path(), user.path(), level);
        let before = files::tree(root.path());
        let edit = |path: &str| json!({"path": path, "search": "old", "replace": "new"});
        for (path, _) in files {
            let answer = server.call("safe_edit_file", &edit(path));
            assert_eq!(answer.code(), "GATE_REFUSED", "{level}: {path} alone: {}", answer.text);
            assert_eq!(files::tree(root.path()), before, "{level}: {path}");
        }
        let answer = server.call("edit_files", &json!({"edits": files.map(|(path, _)| edit(path))}));
        assert_eq!(answer.status(), "written", "{level}: {}\n{:#}", answer.text, answer.structured);
        let replacements: Vec<_> =
            files.iter().map(|(path, text)| (root.path().join(path), text.replace("old", "new"))).collect();
        for (path, text) in replacements {
            assert_eq!(fs::read_to_string(path).unwrap(), text, "{level}");
        }
        assert_eq!(files::tree(root.path()).len(), before.len(), "{level}");
    }
}

#[test]
fn a_function_of_python_is_renamed_with_its_callers() {
    if installed("LOCKGATE_TEST_VENV", "venv", "bin/mypy").is_none() {
        return;
    }
    let files = [
        ("pkg/a.py", "def old() -> int:\n    return 1\n"),
        ("pkg/b.py", "from pkg.a import old as f\n\nx: int = f()\n"),
    ];
    let with = [("pkg/__init__.py", ""), ("main.py", "from pkg.b import x\n\nprint(x)\n")];
    // The one that defines is judged with its callers as they are on disk only by tools that look at those.
    let callers = |policy: &str| {
        for level in LEVELS {
            let (root, user) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
            files::write_all(root.path(), files.iter().chain(&with));
            fs::write(root.path().join("quality.yaml"), policy).unwrap();
            let mut server = server(root.path(), user.path(), level);
            let edit = |path: &str| json!({"path": path, "search": "old", "replace": "new"});
            let before = files::tree(root.path());
            let alone = server.call("safe_edit_file", &edit("pkg/b.py"));
            assert_eq!(alone.code(), "GATE_REFUSED", "{level}: {}", alone.text);
            assert_eq!(files::tree(root.path()), before, "{level}");
            let both = json!({"edits": [edit("pkg/a.py"), edit("pkg/b.py")]});
            let answer = server.call("edit_files", &both);
            assert_eq!(answer.status(), "written", "{level}: {}\n{:#}", answer.text, answer.structured);
        }
    };
    callers("quality_gates: { python: [{ tool: pyright, level: block }] }\n");
    callers("quality_gates: { python: [{ tool: mypy, level: block }] }\n");
}

#[test]
fn a_function_of_go_is_renamed_with_its_callers() {
    if std::process::Command::new("go").arg("version").output().is_err() {
        return not_run("a function of Go, renamed: there is no go");
    }
    renamed(
        "quality_gates: { go: [{ tool: go-build, level: block }] }\n",
        [
            ("a.go", "package m\n\nfunc old() int { return 1 }\n"),
            ("b.go", "package m\n\nfunc B() int { return old() }\n"),
        ],
        &[("go.mod", "module example.org/m\n\ngo 1.19\n")],
    );
}

/// A policy that requires what is not to be had gets nothing run, and an answer says what a program was kept apart by.
#[test]
fn isolation_that_is_required_is_there_or_nothing_runs() {
    let policy = |more: &str| {
        format!(
            "define:\n  it:\n    about: Finds nothing.\n    languages: ['*']\n    kind: command\n    input: stdin\n    \
             command: [sh, -c, 'cat >/dev/null; touch \"$1/ran\"', sh, '{{root}}']\n    output: {{ text: exit, message: found }}\n\
             quality_gates: {{ '*': [{{ tool: it, required: true }}] }}\n{more}\n"
        )
    };
    let answer = |more: &str| {
        let (root, user) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::write(root.path().join("quality.yaml"), policy(more)).unwrap();
        let mut server = server(root.path(), user.path(), "none");
        let answer = server.call("safe_edit_file", &json!({"path": "a.txt", "content": "a\n"}));
        (answer, root.path().join("ran").exists(), root.path().join("a.txt").exists())
    };
    let (free, has_run, written) = answer("");
    assert_eq!(
        (free.structured["gates"][0]["isolation"].as_str(), has_run, written),
        (Some("none"), true, true),
        "{}",
        free.text
    );
    for level in ["landlock", "bubblewrap"] {
        let (rejection, has_run, written) = answer(&format!("require_isolation: {level}"));
        assert_eq!(
            (rejection.code(), has_run, written),
            ("GATE_REFUSED", false, false),
            "{}",
            rejection.text
        );
        let gate = &rejection.structured["gates"][0];
        let why = format!(
            "the policy requires {level}, and this machine has none: LOCKGATE_ISOLATION allows none at most"
        );
        assert_eq!(
            (gate["outcome"].as_str(), gate["why"].as_str()),
            (Some("unavailable"), Some(why.as_str()))
        );
    }
}

/// How many programs ran.
fn runs(fixture: &Fixture) -> usize {
    fixture.ran().len()
}

/// A function of Python is renamed in three files: one run for all drafts, and one for all canaries.
#[test]
fn type_checkers_of_python_judge_the_drafts_of_a_call_as_one_tree() {
    for tool in ["mypy", "pyright", "ty", "pyrefly"] {
        let Some(program) = installed("LOCKGATE_TEST_VENV", "venv", &format!("bin/{tool}")) else { continue };
        let fixture = Fixture::new();
        let files = [
            ("pkg/__init__.py", ""),
            ("pkg/a.py", "def old() -> int:\n    return 1\n"),
            ("pkg/b.py", "from pkg.a import old as f\n\nx: int = f()\n"),
            ("pkg/c.py", "from pkg.a import old as g\n\ny: int = g()\n"),
            ("pyrefly.toml", "project-includes = [\"pkg\"]\n"),
        ];
        for (path, text) in files {
            fixture.write(&format!("root/{path}"), text);
        }
        let policy = format!(
            "quality_gates: {{ python: [{{ tool: {tool}, level: block, timeout: 5m }}] }}\nlimits: {{ total: 10m }}\n"
        );
        fixture.write("root/quality.yaml", &policy);
        let script = format!(
            "#!/bin/sh\necho \"$0\" >> '{{FIXTURE}}/outside/ran'\nexec '{}' \"$@\"\n",
            program.display()
        );
        fixture.write(&format!("bin/{tool}"), &script);
        fixture.executable(&format!("bin/{tool}"));
        fixture.trust(".");
        let call = |paths: &[&str]| {
            let edits = paths.iter().map(|path| json!({"path": path, "search": "old", "replace": "new"}));
            let request = json!({"edits": edits.collect::<Vec<_>>()}).to_string();
            fixture.write("outside/request.json", &request);
            let file = fixture.at("outside/request.json");
            let output = fixture.call(&["edit", "--root", ".", "--json", "--file", file.to_str().unwrap()]);
            (output.exit, output.stdout)
        };
        fixture.ran();
        // Half of it is found, with its place in both files.
        let (exit, stdout) = call(&["pkg/b.py", "pkg/c.py"]);
        assert_eq!(exit, 1, "{tool}: {stdout}");
        assert_eq!(stdout.matches("\"found\"").count(), 2, "{tool}: {stdout}");
        assert!(stdout.contains("\"line\": 1") || stdout.contains("\"line\":1"), "{tool}: {stdout}");
        assert_eq!(runs(&fixture), 2, "{tool}: the drafts, and the texts before");
        let (exit, stdout) = call(&["pkg/a.py", "pkg/b.py", "pkg/c.py"]);
        assert_eq!(exit, 0, "{tool}: {stdout}");
        assert_eq!(stdout.matches("\"passed\"").count(), 3, "{tool}: {stdout}");
        assert_eq!(runs(&fixture), 2, "{tool}: the drafts, and their canaries");
    }
}
