//! A compiler that fails for lack of dependencies is unavailable, and the answer names the command that fetches them.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::json;

use super::live::path;
use crate::suite::files::write_all;
use crate::suite::store::not_run;
use crate::suite::wire::{Server, lockgate};

/// A package that no registry has, so that no machine has it.
const MANIFEST: &str = "[package]\nname = \"m\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[dependencies]\nlockgate-no-such-package = \"9\"\n";
const LOCK: &str = "version = 4\n\n[[package]]\nname = \"lockgate-no-such-package\"\nversion = \"9.0.0\"\nsource = \"registry+https://github.com/rust-lang/crates.io-index\"\nchecksum = \"4a5f13b858c8d314ee3e8f639011f7ccefe71f97f96e50151fb991f267928e2c\"\n\n[[package]]\nname = \"m\"\nversion = \"0.1.0\"\ndependencies = [\n \"lockgate-no-such-package\",\n]\n";

/// The definition of a gate without this key, as a gate of the policy's own.
pub(super) fn unaware(name: &str, key: &str) -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("gates").join(format!("{name}.yaml"));
    let definition = fs::read_to_string(file).unwrap();
    let mut skips = false;
    let remaining = definition.lines().filter(|line| {
        if !line.starts_with(' ') {
            skips = line.starts_with(&format!("{key}:"));
        }
        !skips
    });
    let remaining: String = remaining.map(|line| format!("    {line}\n")).collect();
    assert!(
        definition.contains(&format!("\n{key}:")) && !remaining.contains(&format!("    {key}:")),
        "{name}"
    );
    format!("define:\n  unaware:\n{remaining}")
}

/// What became of a gate on an edit in a project with these files, and why.
fn judged(
    tool: &str,
    more: &str,
    files: &[(&str, &str)],
    language: &str,
    edit: &serde_json::Value,
) -> (String, String) {
    let answer = judge_edit(tool, more, files, language, edit);
    let gate = &answer["gates"][0];
    let text = |name: &str| gate[name].as_str().unwrap_or_default().to_owned();
    (text("outcome"), text("why"))
}

/// The answer to an edit in a project with these files.
pub(super) fn judge_edit(
    tool: &str,
    more: &str,
    files: &[(&str, &str)],
    language: &str,
    edit: &serde_json::Value,
) -> serde_json::Value {
    let (root, user) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let policy = format!(
        "quality_gates: {{ {language}: [{{ tool: {tool}, timeout: 5m }}] }}\nlimits: {{ total: 10m }}\n{more}"
    );
    write_all(root.path(), files.iter().chain(&[("quality.yaml", policy.as_str())]));
    let mut command = lockgate(user.path());
    command.env("PATH", path());
    let mut server = Server::start_by(command, root.path(), &["--trust", "--tools", "all"]);
    let answer = server.call("safe_edit_file", edit);
    assert!(answer.structured["gates"][0].is_object(), "{}", answer.text);
    answer.structured
}

/// Judges an edit by the gate, and as the control by the same gate without `missing`.
fn check_missing_packages(
    tool: &str,
    files: &[(&str, &str)],
    language: &str,
    edit: &serde_json::Value,
    fetch: &str,
) {
    let (outcome, why) = judged(tool, "", files, language, edit);
    assert_eq!(outcome, "unavailable", "{tool}: {why}");
    assert!(why.starts_with("dependencies are not on this machine ("), "{tool}: {why}");
    assert!(why.ends_with(&format!("): run `{fetch}`, then retry")), "{tool}: {why}");
    let (outcome, why) = judged("unaware", &unaware(tool, "missing"), files, language, edit);
    assert!(outcome == "broken" || outcome == "found", "{tool}: {outcome}: {why}");
    assert!(!why.contains(fetch), "{tool}: {why}");
}

fn is_installed(program: &str, word: &str) -> bool {
    let is_here = Command::new(program).arg(word).env("PATH", path()).output().is_ok();
    if !is_here {
        not_run(&format!("dependencies that are missing: there is no {program}"));
    }
    is_here
}

#[test]
fn cargo_without_its_dependencies_is_unavailable() {
    if !is_installed("cargo", "--version") {
        return;
    }
    let files =
        [("Cargo.toml", MANIFEST), ("Cargo.lock", LOCK), ("src/lib.rs", "pub fn f() -> u8 {\n    1\n}\n")];
    let edit = json!({"path": "src/lib.rs", "search": "    1", "replace": "    2"});
    check_missing_packages("cargo-check", &files, "rust", &edit, "cargo fetch");
}

#[test]
fn go_without_its_modules_is_unavailable() {
    if !is_installed("go", "version") {
        return;
    }
    let files = [
        ("go.mod", "module example.org/m\n\ngo 1.19\n\nrequire example.org/lockgate/none v1.0.0\n"),
        ("a.go", "package m\n\nimport \"example.org/lockgate/none\"\n\nvar A = none.F(1)\n"),
    ];
    let edit = json!({"path": "a.go", "search": "F(1)", "replace": "F(2)"});
    check_missing_packages("go-build", &files, "go", &edit, "go mod tidy");
}
