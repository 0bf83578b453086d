//! Type checkers judge the draft, and never the file on disk.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::files::write_all;
use super::mcp::installed;
use super::wire::{Answer, Server, lockgate, tools_path};

/// A project in which a function of one module is used by another.
const MODULES: [(&str, &str); 3] = [
    ("pkg/__init__.py", ""),
    ("pkg/a.py", "def f() -> int:\n    return 1\n"),
    ("pkg/b.py", "from .a import f\n\nx: int = f()\n"),
];

fn project(policy: &str, files: &[(&str, &str)]) -> TempDir {
    let root = tempfile::tempdir().unwrap();
    write_all(root.path(), files.iter().chain(&[("quality.yaml", policy)]));
    root
}

fn policy(language: &str, tool: &str, more: &str) -> String {
    format!(
        "quality_gates: {{ {language}: [{{ tool: {tool}, required: true, timeout: 5m }}] }}\nlimits: {{ total: 10m }}\n{more}"
    )
}

/// What became of the one gate.
fn outcome(answer: &Answer) -> &str {
    answer.structured["gates"][0]["outcome"].as_str().unwrap_or("")
}

/// Sends an edit that must be refused for what this gate finds, and sees that the file was not touched.
#[track_caller]
fn assert_refused(server: &mut Server, root: &Path, edit: &Value) {
    let file = root.join(edit["path"].as_str().unwrap());
    let state = || fs::metadata(&file).ok().map(|meta| (meta.modified().unwrap(), fs::read(&file).unwrap()));
    let before = state();
    let answer = server.call("safe_edit_file", edit);
    assert_eq!((answer.code(), outcome(&answer)), ("GATE_REFUSED", "found"), "{}", answer.text);
    assert_eq!(state(), before, "the file was touched");
}

#[track_caller]
fn assert_written(server: &mut Server, edit: &Value, expected: &str) {
    let answer = server.call("safe_edit_file", edit);
    assert_eq!((answer.status(), outcome(&answer)), ("written", expected), "{}", answer.text);
}

/// The drafts of one tool that checks the types of Python.
fn types_of_python(tool: &str) {
    let Some(_) = installed("LOCKGATE_TEST_VENV", "venv", &format!("bin/{tool}")) else { return };
    let root = project(&policy("python", tool, ""), &MODULES);
    let mut server = Server::start(root.path(), &["--trust"]);
    let wrong = json!({"path": "pkg/a.py", "search": "return 1", "replace": "return ''"});
    assert_refused(&mut server, root.path(), &wrong);
    let new = json!({"path": "pkg/c.py", "content": "from .a import f\n\ny: str = f()\n"});
    assert_refused(&mut server, root.path(), &new);
    assert_written(
        &mut server,
        &json!({"path": "pkg/a.py", "search": "return 1", "replace": "return 2"}),
        "passed",
    );
    // The control: what is wrong on disk and right in the draft passes, though old findings count here.
    let root = project(&policy("python", tool, "baseline: file\n"), &[("a.py", "x: int = ''\n")]);
    let mut server = Server::start(root.path(), &["--trust"]);
    assert_written(&mut server, &json!({"path": "a.py", "search": "''", "replace": "1"}), "passed");
    assert_refused(&mut server, root.path(), &json!({"path": "a.py", "search": "= 1", "replace": "= 'z'"}));
}

#[test]
fn pyright_sees_the_draft() {
    types_of_python("pyright");
}

#[test]
fn mypy_sees_the_draft() {
    types_of_python("mypy");
}

/// A Go that passes over its overlay, as some versions do; and the real one as the control.
#[test]
fn an_overlay_that_does_not_work_is_broken_and_not_passed() {
    let go = std::env::split_paths(&tools_path()).map(|folder| folder.join("go")).find(|go| go.is_file());
    let Some(go) = go else { return super::store::not_run("go vet with a deaf overlay: no go") };
    let files = [("go.mod", "module example.org/m\n\ngo 1.19\n"), ("a.go", "package m\n\nvar A = 1\n")];
    for (deaf, sound) in [(true, "var A = 2"), (true, "var A int = \"x\""), (false, "var A = 2")] {
        let (root, tools, user) = (
            project(&policy("go", "go-vet", ""), &files),
            tempfile::tempdir().unwrap(),
            tempfile::tempdir().unwrap(),
        );
        let words = if deaf { "-overlay=*) ;;" } else { "never) ;;" };
        let script = format!(
            "#!/bin/bash\nwords=()\nfor word; do case $word in {words} *) words+=(\"$word\") ;; esac; done\nexec {go:?} \"${{words[@]}}\"\n"
        );
        let wrapper = tools.path().join("go");
        fs::write(&wrapper, script).unwrap();
        fs::set_permissions(&wrapper, fs::Permissions::from_mode(0o755)).unwrap();
        let mut command = lockgate(user.path());
        let folders = std::iter::once(tools.path().to_owned())
            .chain(std::env::split_paths(&tools_path()).collect::<Vec<_>>());
        command.env("PATH", std::env::join_paths(folders).unwrap());
        let mut server = Server::start_by(command, root.path(), &["--trust", "--tools", "all"]);
        let answer =
            server.call("safe_edit_file", &json!({"path": "a.go", "search": "var A = 1", "replace": sound}));
        let expected = if deaf { ("GATE_REFUSED", "broken") } else { ("", "passed") };
        assert_eq!((answer.code(), outcome(&answer)), expected, "{deaf} {sound}: {}", answer.text);
    }
}

/// mypy's definition, in which `edit` changes a line, as a gate of this name.
fn mypy_but(name: &str, edit: impl Fn(&str) -> String) -> String {
    let definition: String =
        include_str!("../../gates/mypy.yaml").lines().map(|line| edit(line) + "\n").collect();
    let indented: String = definition.lines().map(|line| format!("    {line}\n")).collect();
    format!("define:\n  {name}:\n{indented}")
}

/// A bad draft of the size of its file is refused again and again, also beside another process. The control is the
/// definition with `--shadow-file`, with which mypy takes the second for the file on disk.
#[test]
fn mypy_sees_a_draft_of_the_size_of_its_file_each_time() {
    let Some(_) = installed("LOCKGATE_TEST_VENV", "venv", "bin/mypy") else { return };
    let by_shadow = |line: &str| match line {
        "input: staged" => "input: shadow".to_owned(),
        line => line.replace("[mypy, --output", "[mypy, --shadow-file, \"{path}\", \"{draft}\", --output"),
    };
    let text = "class Box:\n    size: int = 1\n\n\ndef f(box: Box) -> int:\n    return box.size\n";
    let edit = json!({"path": "a.py", "search": "return box.size", "replace": "return box.sise"});
    for (name, more) in [("mypy", String::new()), ("mypy-shadow", mypy_but("mypy-shadow", by_shadow))] {
        let root = project(&policy("python", name, &more), &[("a.py", text)]);
        let user = tempfile::tempdir().unwrap();
        let outcomes = [(); 2].map(|()| {
            let mut server = Server::start_by(lockgate(user.path()), root.path(), &["--trust"]);
            let mut edit = edit.clone();
            edit["mode"] = json!("verify_only");
            outcome(&server.call("safe_edit_file", &edit)).to_owned()
        });
        let second = if name == "mypy" { "found" } else { "passed" };
        assert_eq!(outcomes, ["found", second], "{name}");
    }
}

/// Go's cache prints a finding again with the path of the draft for which it was made. It is still an old finding of this
/// file. The control is in the tests of `path_rewrite`: without a known folder, such a path stays, and was reported as
/// another file's finding.
#[test]
fn a_finding_that_go_repeats_from_its_cache_stays_an_old_one() {
    let is_there = std::env::split_paths(&tools_path()).any(|folder| folder.join("go").is_file());
    if !is_there {
        return super::store::not_run("findings from the cache of go vet: no go");
    }
    let text = "package sub\n\nimport \"fmt\"\n\nfunc A() {\n\tfmt.Printf(\"%d\\n\", \"old\")\n}\n\nfunc C() int {\n\treturn 1\n}\n";
    let files = [("go.mod", "module example.org/m\n\ngo 1.19\n"), ("sub/a.go", text)];
    let (root, user) = (project(&policy("go", "go-vet", ""), &files), tempfile::tempdir().unwrap());
    for replace in ["package sub\n", "package sub\n", "package sub\n\n// more\n", "package sub\n\n// more\n"]
    {
        let mut server = Server::start_by(lockgate(user.path()), root.path(), &["--trust"]);
        let edits = [("return 1", "return 2"), ("package sub\n", replace)];
        let (search, replace) = if replace == "package sub\n" { edits[0] } else { edits[1] };
        let edit = json!({"path": "sub/a.go", "search": search, "replace": replace, "mode": "verify_only"});
        let answer = server.call("safe_edit_file", &edit);
        assert_eq!((answer.status(), outcome(&answer)), ("verified", "found"), "{}", answer.text);
        let finding = &answer.structured["findings"][0];
        assert!(!answer.text.contains("/draft/") && finding.get("file").is_none(), "{finding}");
    }
}

/// A definition of the catalogue without the lines that begin with these words, as a gate of this name.
fn definition_without(name: &str, text: &str, words: &[&str]) -> String {
    let remaining = text.lines().filter(|line| !words.iter().any(|word| line.starts_with(word)));
    let indented: String = remaining.map(|line| format!("    {line}\n")).collect();
    format!("define:\n  {name}:\n{indented}")
}

/// What became of the one gate for a verified edit, and why.
fn verified(policy: &str, files: &[(&str, &str)], path: &str, text: &str) -> (String, String, String) {
    let (root, user) = (project(policy, files), tempfile::tempdir().unwrap());
    let mut server = Server::start_by(lockgate(user.path()), root.path(), &["--trust"]);
    let edit = json!({"path": path, "content": text, "mode": "verify_only"});
    let answer = server.call("safe_edit_file", &edit);
    let why = answer.structured["gates"][0]["why"].as_str().unwrap_or_default().to_owned();
    (outcome(&answer).to_owned(), why, answer.text.clone())
}

fn loose(language: &str, tool: &str, more: &str) -> String {
    policy(language, tool, more).replace("required: true, ", "")
}

/// A file that the project does not include is not checked, and the gate is not broken. The control is the definition
/// without `unreached`.
#[test]
fn a_file_that_the_project_leaves_out_is_not_called_a_broken_gate() {
    let package = "[package]\nname = \"m\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[features]\nx = []\n";
    let lock = "version = 4\n\n[[package]]\nname = \"m\"\nversion = \"0.1.0\"\n";
    let library = "#[cfg(feature = \"x\")]\npub mod b;\n";
    let rust = [("Cargo.toml", package), ("Cargo.lock", lock), ("src/lib.rs", library), ("src/b.rs", "\n")];
    let go = [("go.mod", "module example.org/m\n\ngo 1.19\n"), ("a.go", "package m\n")];
    let is_there =
        |name: &str| std::env::split_paths(&tools_path()).any(|folder| folder.join(name).is_file());
    let cargo_check = include_str!("../../gates/cargo-check.yaml");
    let go_build = include_str!("../../gates/go-build.yaml");
    for (program, language, tool, text, files, path, draft) in [
        ("cargo", "rust", "cargo-check", cargo_check, &rust[..], "src/new.rs", "pub fn f() {}\n"),
        ("cargo", "rust", "cargo-check", cargo_check, &rust[..], "src/b.rs", "pub fn f() {}\n"),
        ("go", "go", "go-build", go_build, &go[..], "a_windows.go", "package m\n\nvar B = 1\n"),
    ] {
        if !is_there(program) {
            super::store::not_run(&format!("{path} is left out of its project: no {program}"));
            continue;
        }
        let (outcome, why, _) = verified(&loose(language, tool, ""), files, path, draft);
        assert_eq!(outcome, "unavailable", "{path}: {why}");
        assert!(why.starts_with("does not look at this file: "), "{why}");
        let control = definition_without("control", text, &["  unreached:"]);
        let (outcome, why, _) = verified(&loose(language, "control", &control), files, path, draft);
        assert_eq!(outcome, "broken", "{path}: {why}");
    }
}

/// A comment that switches a type checker off for its file does not pass for a check. An edit that adds it gets a warning.
/// The control is the definition without `keep`, whose canary is found where the comment is not.
#[test]
fn a_comment_that_switches_a_checker_off_is_no_pass() {
    let mypy = include_str!("../../gates/mypy.yaml");
    let tsc = include_str!("../../gates/tsc.yaml");
    for (variable, folder, program, language, tool, text, config, path, draft) in [
        (
            "LOCKGATE_TEST_VENV",
            "venv",
            "bin/mypy",
            "python",
            "mypy",
            mypy,
            ("mypy.ini", "[mypy]\n"),
            "a.py",
            "# mypy: ignore-errors\nx: int = ''\n",
        ),
        (
            "LOCKGATE_TEST_VENV",
            "venv",
            "bin/mypy",
            "python",
            "mypy",
            mypy,
            ("mypy.ini", "[mypy]\n"),
            "a.py",
            "# type: ignore\nx: int = ''\n",
        ),
        (
            "LOCKGATE_TEST_NODE",
            "node",
            "node_modules/.bin/tsc",
            "typescript",
            "tsc",
            tsc,
            ("tsconfig.json", "{}\n"),
            "a.ts",
            "// @ts-nocheck\nexport const a: number = '';\n",
        ),
    ] {
        let Some(_) = installed(variable, folder, program) else { continue };
        let added = verified(&loose(language, tool, ""), &[config], path, draft);
        assert_eq!(added.0, "skipped", "{draft}: {}", added.2);
        assert!(added.2.contains("is switched off by a comment that the edit adds"), "{}", added.2);
        let longer = format!("{draft}\n");
        let (outcome, why, text_of_answer) =
            verified(&loose(language, tool, ""), &[config, (path, draft)], path, &longer);
        assert_eq!(outcome, "skipped", "{draft}: {why}");
        assert!(!text_of_answer.contains("that the edit adds"), "{text_of_answer}");
        let control = definition_without("control", text, &["  keep:"]);
        let (outcome, why, _) = verified(&loose(language, "control", &control), &[config], path, draft);
        assert_eq!(outcome, "passed", "{draft}: {why}");
    }
}
