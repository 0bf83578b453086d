//! Packages of npm and Python that a project declares and that are not installed.

use serde_json::{Value, json};

use super::live::installed;
use super::offline::{judge_edit, unaware};

/// The gate's outcome, its `why`, and severity and message of each finding.
fn judged(
    tool: &str,
    more: &str,
    files: &[(&str, &str)],
    language: &str,
    edit: &Value,
) -> (String, String, Vec<(String, String)>) {
    let answer = judge_edit(tool, more, files, language, edit);
    let gate = &answer["gates"][0];
    let text = |value: &Value, name: &str| value[name].as_str().unwrap_or_default().to_owned();
    let findings = answer["findings"].as_array().cloned().unwrap_or_default();
    let findings = findings.iter().map(|one| (text(one, "severity"), text(one, "message"))).collect();
    (text(gate, "outcome"), text(gate, "why"), findings)
}

/// Judges an edit that imports a package, with `declaring` among the files and as the controls without it and by the gate without
/// `packages`: only a declared package is excused.
fn excused(
    tool: &str,
    language: &str,
    files: &[(&str, &str)],
    declaring: (&str, &str),
    edit: &Value,
    hint: &str,
) {
    let with: Vec<(&str, &str)> = files.iter().copied().chain([declaring]).collect();
    let (outcome, why, findings) = judged(tool, "", &with, language, edit);
    assert_eq!(outcome, "found", "{tool}: {why}");
    assert!(
        findings.iter().any(|(severity, message)| severity == "warning" && message.ends_with(hint)),
        "{tool}: {findings:?}"
    );
    assert!(findings.iter().all(|(severity, _)| severity == "warning"), "{tool}: {findings:?}");
    for (what, name, more, files) in [
        ("nothing declares it", tool, String::new(), files),
        ("without `packages`", "unaware", unaware(tool, "packages"), with.as_slice()),
    ] {
        let (outcome, why, findings) = judged(name, &more, files, language, edit);
        assert_eq!(outcome, "found", "{tool}, {what}: {why}");
        assert!(findings.iter().any(|(severity, _)| severity == "error"), "{tool}, {what}: {findings:?}");
        assert!(
            findings.iter().all(|(_, message)| !message.contains("not installed: run")),
            "{tool}, {what}: {findings:?}"
        );
    }
}

const TSCONFIG: (&str, &str) = ("tsconfig.json", "{}\n");

#[test]
fn an_import_that_package_json_declares_warns_and_names_the_command() {
    if !installed() {
        return;
    }
    let edit = json!({"path": "a.ts", "search": "export {};", "replace": "import x from \"@lockgate/none/x\";\nexport default x;"});
    let manifest = ("package.json", "{\"devDependencies\": {\"@lockgate/none\": \"1\"}}\n");
    let lock_file = "{\"packages\": {\"node_modules/@lockgate/none\": {}}}\n";
    for (lock, command) in [
        (None, "npm install"),
        (Some(("package-lock.json", lock_file)), "npm ci"),
        (Some(("pnpm-lock.yaml", "")), "pnpm install"),
    ] {
        let files: Vec<(&str, &str)> = [TSCONFIG, ("a.ts", "export {};\n")].into_iter().chain(lock).collect();
        let hint = format!(
            "(package.json declares @lockgate/none, which is not installed: run `{command}`, then retry)"
        );
        excused("tsc", "typescript", &files, manifest, &edit, &hint);
    }
    // A package that is installed and cannot be resolved is a fault like any other.
    let package = ("node_modules/@lockgate/none/README.md", "");
    let (outcome, why, findings) =
        judged("tsc", "", &[TSCONFIG, ("a.ts", "export {};\n"), manifest, package], "typescript", &edit);
    assert!(outcome == "found" && findings[0].0 == "error", "{outcome}: {why}: {findings:?}");
}

#[test]
fn a_module_that_a_python_manifest_declares_warns_and_names_the_command() {
    if !installed() {
        return;
    }
    let edit = json!({"path": "a.py", "search": "x = 1", "replace": "import lockgate_none.x"});
    let lock = ("uv.lock", "");
    let source = ("a.py", "x = 1\n");
    excused(
        "mypy",
        "python",
        &[source],
        ("requirements.txt", "Lockgate.None>=1  # pinned\n"),
        &edit,
        "(requirements.txt declares Lockgate.None, which is not installed: run `pip install -r requirements.txt`, then retry)",
    );
    excused(
        "pyright",
        "python",
        &[source, lock],
        (
            "pyproject.toml",
            "[project]\nname = \"a\"\nversion = \"1\"\ndependencies = [\"lockgate-none>=1\"]\n",
        ),
        &edit,
        "(pyproject.toml declares lockgate-none, which is not installed: run `uv sync --all-extras --all-groups`, then retry)",
    );
}

#[test]
fn a_linter_whose_plugin_is_declared_and_not_installed_is_unavailable() {
    if !installed() {
        return;
    }
    let edit = json!({"path": "a.js", "search": "let a = 1;", "replace": "let b = 1;"});
    let source = ("a.js", "let a = 1;\n");
    let manifest = ("package.json", "{\"devDependencies\": {\"lockgate-none\": \"1\"}}\n");
    for (tool, configuration) in [
        ("eslint", ("eslint.config.mjs", "import p from \"lockgate-none\";\nexport default [p];\n")),
        ("prettier", (".prettierrc", "{\"plugins\": [\"lockgate-none\"]}\n")),
    ] {
        let (outcome, why, _) = judged(tool, "", &[source, configuration, manifest], "javascript", &edit);
        let hint =
            "package.json declares lockgate-none, which is not installed: run `npm install`, then retry";
        assert_eq!((outcome.as_str(), why.as_str()), ("unavailable", hint), "{tool}");
        // The controls: nothing declares it, and the gate without `packages`.
        let (outcome, why, _) = judged(tool, "", &[source, configuration], "javascript", &edit);
        assert_eq!(outcome, "broken", "{tool}: {why}");
        let (outcome, why, _) = judged(
            "unaware",
            &unaware(tool, "packages"),
            &[source, configuration, manifest],
            "javascript",
            &edit,
        );
        assert_eq!(outcome, "broken", "{tool}: {why}");
    }
}
