//! Real tools judge as they would by hand: by the configuration of the project, and with all files of the call in place.

use std::fs;

use serde_json::{Value, json};

use super::files;
use super::mcp::installed;
use super::wire::{Answer, Server, lockgate};

/// A Python package with a file at its top, in a project that sorts its imports.
const IMPORTER: &str = "import requests\n\nimport mypkg\n\nprint(requests, mypkg)\n";

/// A rule that reports imports of files that are not on disk, and files that are not.
const ON_DISK: &str = r#"import fs from "node:fs";
import path from "node:path";
const onDisk = { create: (context) => ({
  Program(node) { if (!fs.existsSync(context.filename)) context.report({ node, message: "not on disk" }); },
  ImportDeclaration(node) {
    const file = path.join(path.dirname(context.filename), node.source.value);
    if (!fs.existsSync(file)) context.report({ node, message: "no such file" });
  },
}) };
export default [{ plugins: { own: { rules: { disk: onDisk } } }, rules: { "own/disk": 2 } }];
"#;

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

#[test]
fn ruff_knows_the_file_that_makes_a_package() {
    if !python() {
        return;
    }
    let (policy, project) = ("{ python: [{ tool: ruff }] }", [("ruff.toml", "[lint]\nselect = [\"INP\"]\n")]);
    in_project(policy, &project, create("mypkg/__init__.py", "\"\"\"P.\"\"\"\n"), is_written(true));
    in_project(policy, &project, create("mypkg/a.py", "\"\"\"P.\"\"\"\n"), is_written(false));
    let both = create_all(&[("mypkg/a.py", "\"\"\"P.\"\"\"\n"), ("mypkg/__init__.py", "\"\"\"P.\"\"\"\n")]);
    in_project(policy, &project, both, is_written(true));
}

#[test]
fn imports_of_a_package_that_the_call_makes_are_sorted_as_its_own() {
    if !python() {
        return;
    }
    let project =
        [("ruff.toml", "[lint]\nselect = [\"I\"]\n"), ("main.py", "import requests\n\nprint(requests)\n")];
    for (tool, role) in [
        ("ruff", "check"),
        ("ruff-imports", "check"),
        ("isort", "check"),
        ("ruff-imports", "fix"),
        ("isort", "fix"),
    ] {
        let policy = format!("{{ python: [{{ tool: {tool}, role: {role} }}] }}");
        let request = create_all(&[("mypkg/__init__.py", ""), ("main.py", IMPORTER)]);
        in_project(&policy, &project, request, |answer, read| {
            assert_eq!(answer.status(), "written", "{tool} {role}: {:#}", answer.structured);
            assert_eq!(read("main.py"), IMPORTER, "{tool} {role}");
        });
        if role == "check" {
            in_project(&policy, &project, create("main.py", IMPORTER), is_written(false));
        }
    }
}

#[test]
fn rules_of_eslint_find_new_files_and_the_other_files_of_the_call() {
    if !node() {
        return;
    }
    let policy = "{ javascript: [{ tool: eslint }] }";
    let project = [("eslint.config.mjs", ON_DISK), ("a.js", "export const a = 1;\n")];
    in_project(policy, &project, create("new/b.js", "export const b = 1;\n"), is_judged("passed"));
    let importer = ("a.js", "import \"./new/b.js\";\n");
    in_project(policy, &project, create(importer.0, importer.1), is_written(false));
    let both = create_all(&[importer, ("new/b.js", "export const b = 1;\n")]);
    in_project(policy, &project, both, is_written(true));
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
