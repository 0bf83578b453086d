//! Real tools judge as they would by hand: by the configuration of the project.

use std::fs;

use serde_json::{Value, json};

use super::files;
use super::mcp::installed;
use super::wire::{Answer, Server, lockgate};

/// Calls in a project with these files, at the levels of isolation that show drafts in different ways.
fn in_project(
    policy: &str,
    project: &[(&str, &str)],
    (tool, request): (&str, Value),
    check: impl Fn(&Answer, &dyn Fn(&str) -> String),
) {
    for level in ["landlock", "bubblewrap"] {
        let (root, user) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        files::write_all(root.path(), project.iter());
        let policy = format!("quality_gates: {policy}\nlimits: {{ total: 2m }}\n");
        fs::write(root.path().join("quality.yaml"), policy).unwrap();
        let mut command = lockgate(user.path());
        command.env("LOCKGATE_ISOLATION", level);
        let mut server =
            Server::start_by(command, root.path(), &["--tools", "all", "--trust", "--structured", "on"]);
        let answer = server.call(tool, &request);
        check(&answer, &|path| fs::read_to_string(root.path().join(path)).unwrap_or_default());
    }
}

fn python() -> bool {
    installed("LOCKGATE_TEST_VENV", "venv", "bin/python").is_some()
}

fn node() -> bool {
    installed("LOCKGATE_TEST_NODE", "node", "node_modules/.bin/eslint").is_some()
}

fn create(path: &str, content: &str) -> (&'static str, Value) {
    ("safe_edit_file", json!({ "path": path, "content": content }))
}

fn create_all(files: &[(&str, &str)]) -> (&'static str, Value) {
    let edits = files.iter().map(|(path, content)| json!({ "path": path, "content": content }));
    ("edit_files", json!({ "edits": edits.collect::<Vec<_>>() }))
}

/// The answer is that the edit was written, or that a gate refused it.
fn is_written(expected: bool) -> impl Fn(&Answer, &dyn Fn(&str) -> String) {
    move |answer, _| {
        let outcome = if expected { answer.status() } else { answer.code() };
        assert_eq!(outcome, if expected { "written" } else { "GATE_REFUSED" }, "{:#}", answer.structured);
    }
}

/// The only gate has this outcome, and the edit is written.
fn is_judged(outcome: &'static str) -> impl Fn(&Answer, &dyn Fn(&str) -> String) {
    move |answer, _| {
        assert_eq!(answer.status(), "written", "{:#}", answer.structured);
        assert_eq!(answer.structured["gates"][0]["outcome"], outcome, "{:#}", answer.structured);
    }
}

/// mypy reads neither of two files with one module name, if both are named to it.
#[test]
fn two_files_with_one_module_name_are_judged_by_mypy() {
    if !python() {
        return;
    }
    let policy = "{ python: [{ tool: mypy, required: true }] }";
    let project = [("a/main.py", "x: int = 1\n"), ("b/main.py", "x: int = 1\n")];
    let call = |text: &str| create_all(&[("a/main.py", "x: int = 2\n"), ("b/main.py", text)]);
    in_project(policy, &project, call("x: int = 3\n"), is_written(true));
    in_project(policy, &project, call("x: int = ''\n"), is_written(false));
    let new = create_all(&[("p/a/conftest.py", "x: int = 2\n"), ("p/b/conftest.py", "x: int = 3\n")]);
    in_project(policy, &project, new, is_written(true));
}

/// A file of another tool below that of the tool is no configuration of it.
#[test]
fn the_configuration_of_the_root_holds_in_its_packages() {
    if !python() {
        return;
    }
    let policy = "{ python: [{ tool: mypy }] }";
    let project = [
        ("pyproject.toml", "[tool.mypy]\nmypy_path = \"libs\"\n"),
        ("libs/common/__init__.py", "def f(x: int) -> int:\n    return x\n"),
        ("apps/web/pyproject.toml", "[project]\nname = \"web\"\n"),
    ];
    let main = |argument: &str| {
        create("apps/web/main.py", &format!("from common import f\n\nprint(f({argument}))\n"))
    };
    in_project(policy, &project, main("1"), is_judged("passed"));
    in_project(policy, &project, main("''"), is_written(false));
    let package = ("sub/pyproject.toml", "[project]\nname = \"sub\"\n");
    let project = [(".pylintrc", "[MAIN]\ndisable = C,eval-used\n"), package];
    let request = create("sub/a.py", "print(eval('1'))\n");
    in_project("{ python: [{ tool: pylint, level: block }] }", &project, request, is_judged("passed"));
    let project = [(".codespellrc", "[codespell]\nignore-words-list = teh\n"), package];
    let policy = "{ '*': [{ tool: codespell }] }";
    in_project(policy, &project, create("sub/a.txt", "teh\n"), is_judged("passed"));
}

#[test]
fn files_that_the_project_excludes_are_skipped() {
    if !python() || !node() {
        return;
    }
    let policy = "{ markdown: [{ tool: markdownlint, required: true }] }";
    let project = [(".markdownlintignore", "/gen/\n")];
    in_project(policy, &project, create("gen/a.md", "# T\n\n#bad\n"), is_judged("skipped"));
    in_project(policy, &project, create("a.md", "# T\n\n#bad\n"), is_written(false));
    let policy = "{ css: [{ tool: stylelint, required: true }] }";
    let project = [
        (".stylelintrc.json", "{ \"rules\": { \"property-no-unknown\": true } }"),
        (".stylelintignore", "**/dist/\n"),
        ("package.json", "{ \"workspaces\": [\"packages/*\"] }"),
        ("packages/a/package.json", "{ \"name\": \"a\" }"),
    ];
    let text = "a { colr: red }\n";
    in_project(policy, &project, create("packages/a/dist/x.css", text), is_judged("skipped"));
    in_project(policy, &project, create("packages/a/x.css", text), is_written(false));
    let policy = "{ python: [{ tool: bandit, required: true, fail_on: info, args: [-c, pyproject.toml] }] }";
    let project = [(
        "pyproject.toml",
        "[tool.bandit]\nexclude_dirs = [\"/gen/\"]\n[tool.bandit.assert_used]\nskips = [\"*/test_*.py\"]\n",
    )];
    in_project(policy, &project, create("gen/a.py", "exec('1')\n"), is_judged("skipped"));
    in_project(policy, &project, create("test_a.py", "assert True\n"), is_judged("passed"));
    in_project(policy, &project, create("a.py", "assert True\n"), is_written(false));
}
