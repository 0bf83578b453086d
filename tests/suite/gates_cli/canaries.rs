//! A gate calls a draft clean only after its own analysis found the mistake that was put behind the draft.

use std::fs;

use lockgate_policy::{Catalogue, Gate, Sample, language_of};
use serde_json::{Value, json};

use super::live::{installed, path};
use crate::suite::files::write_all;
use crate::suite::gates::live_gates;
use crate::suite::store::not_run;
use crate::suite::wire::{Server, lockgate};

/// What became of one gate.
#[derive(Debug, PartialEq, Eq)]
struct CanaryResult {
    outcome: String,
    why: String,
}

/// Writes a new file into a project that has these others and this policy, and gives what became of the one gate.
fn judged(policy: &str, files: &[(&str, &str)], path_of_draft: &str, draft: &str) -> CanaryResult {
    let (root, user) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    write_all(root.path(), files.iter().chain(&[("quality.yaml", policy)]));
    let mut command = lockgate(user.path());
    command.env("PATH", path());
    let mut server = Server::start_by(command, root.path(), &["--trust", "--tools", "all"]);
    let answer = server.call("safe_edit_file", &json!({"path": path_of_draft, "content": draft}));
    let gate = &answer.structured["gates"][0];
    let text = |name: &str| gate[name].as_str().unwrap_or_default().to_owned();
    assert!(gate.is_object(), "no gate: {}", answer.text);
    CanaryResult { outcome: text("outcome"), why: text("why") }
}

/// The language of a path as a policy names it.
fn language(path: &str) -> &'static str {
    language_of(path, None).map_or("'*'", |language| language.name.as_str())
}

fn policy(tool: &str, path: &str, more: &str) -> String {
    let language = language(path);
    format!(
        "quality_gates: {{ {language}: [{{ tool: {tool}, timeout: 5m }}] }}\nlimits: {{ total: 10m }}\n{more}"
    )
}

fn good(gate: &Gate) -> &Sample {
    gate.samples.iter().find(|sample| sample.finds.is_empty()).unwrap()
}

#[test]
fn every_tool_passes_a_good_draft_once_it_found_the_mistake_behind_it() {
    if !installed() {
        return;
    }
    for name in live_gates() {
        let gate = Catalogue::embedded().find(name).unwrap();
        let sample = good(gate);
        let files: Vec<(&str, &str)> =
            sample.with.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        let response = judged(&policy(name, &sample.path, ""), &files, &sample.path, &sample.draft);
        if response.outcome == "unavailable" {
            not_run(&format!("the canary of {name}, live: {}", response.why));
            continue;
        }
        assert_eq!(response.outcome, "passed", "{name}: {}", response.why);
    }
}

/// A project that switches off what a tool judges, though the tool goes on to parse: the tool, its configuration, a clean
/// draft, and a text that does not parse.
const SWITCHED_OFF: [(&str, &str, &str, &str, &str); 6] = [
    ("ruff", "ruff.toml", "[lint]\nselect = []\n", "a.py", "def f(:\n"),
    ("flake8", ".flake8", "[flake8]\nextend-ignore = E1,E2,E3,E4,E5,E7,F,W,C\n", "a.py", "def f(:\n"),
    ("pylint", ".pylintrc", "[MASTER]\ndisable=all\n", "a.py", "def f(:\n"),
    (
        "eslint",
        "eslint.config.mjs",
        "export default [{ linterOptions: { noInlineConfig: true } }];\n",
        "a.js",
        "let x = (;\n",
    ),
    (
        "biome",
        "biome.json",
        "{ \"linter\": { \"rules\": { \"recommended\": false } } }\n",
        "a.js",
        "let x = (;\n",
    ),
    (
        "oxlint",
        ".oxlintrc.json",
        "{ \"categories\": { \"correctness\": \"off\" } }\n",
        "a.js",
        "let x = (;\n",
    ),
];

/// The definition of a gate with a text that does not parse for its canary.
fn parsing_only(name: &str, text: &str) -> String {
    let file = format!("{}/gates/{name}.yaml", env!("CARGO_MANIFEST_DIR"));
    let definition = fs::read_to_string(file).unwrap();
    let mut skips = false;
    let remaining = definition.lines().filter(|line| {
        if !line.starts_with(' ') {
            skips = line.starts_with("canary:");
        }
        !skips
    });
    let canary = format!("canary: {}", Value::from(text));
    let lines: String = remaining.chain([canary.as_str()]).map(|line| format!("    {line}\n")).collect();
    format!("define:\n  parses:\n{lines}")
}

#[test]
fn a_tool_that_only_parses_is_skipped_and_does_not_pass() {
    if !installed() {
        return;
    }
    for (name, file, configuration, path, faulty) in SWITCHED_OFF {
        let draft = if path == "a.py" { "X = 1\n" } else { "export const a = 1;\n" };
        let off = [(file, configuration)];
        let response = judged(&policy(name, path, ""), &off, path, draft);
        assert_eq!(response.outcome, "skipped", "{name}: {}", response.why);
        assert!(response.why.starts_with("reads the file, but what it checks for is disabled"), "{name}");
        // The control: by a canary that does not parse, the same project passes.
        let parses = policy("parses", path, &parsing_only(name, faulty));
        assert_eq!(judged(&parses, &off, path, draft).outcome, "passed", "{name}");
    }
}
