//! `lockgate schema policy` before a validator that is not ours: what the reader takes passes it.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use lockgate_policy::Policy;
use serde_json::{Value, json};

use crate::suite::cases::yaml;
use crate::suite::{mcp, wire};

fn schema() -> Value {
    let root = tempfile::tempdir().unwrap();
    let output = wire::run(&["schema", "policy"], root.path(), "");
    serde_json::from_str(&output.stdout).unwrap()
}

/// What the validator says of each text: nothing when it passes.
fn judged(texts: &[String]) -> Option<Vec<Option<String>>> {
    let python = mcp::python()?;
    let documents: Vec<Value> = texts.iter().map(|text| document(text)).collect();
    let mut command = Command::new(python);
    command.arg(mcp::tool("policy_schema.py")).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let input = json!({ "schema": schema(), "documents": documents }).to_string();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "the validator does not take the schema");
    Some(serde_json::from_slice(&output.stdout).unwrap())
}

fn document(text: &str) -> Value {
    match yaml(text) {
        Ok(Value::Object(fields)) if fields.is_empty() && !text.contains('{') => Value::Null,
        Ok(value) => value,
        Err(why) => panic!("{why}\n{text}"),
    }
}

/// Every policy of the documentation and of the cases.
fn policies() -> Vec<String> {
    let home = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut pages: Vec<PathBuf> = ["docs/policy.md", "docs/modes.md"].map(|page| home.join(page)).to_vec();
    let cases = fs::read_dir(home.join("tests/cases/policy")).unwrap();
    pages.extend(cases.map(|entry| entry.unwrap().path()));
    let mut found = vec![fs::read_to_string(home.join("quality.yaml")).unwrap()];
    for page in pages {
        let text = fs::read_to_string(page).unwrap();
        let blocks = text.split("```yaml before path=").skip(1);
        let policies = blocks
            .filter_map(|block| block.split_once('\n'))
            .filter(|(path, _)| path.ends_with("quality.yaml"));
        found.extend(policies.map(|(_, rest)| rest.split("```").next().unwrap().to_owned()));
    }
    found
}

#[test]
fn every_policy_that_is_read_passes_the_schema() {
    let read: Vec<String> =
        policies().into_iter().filter(|text| Policy::parse("quality.yaml", text).is_ok()).collect();
    assert!(read.len() > 40, "only {} policies were found", read.len());
    let Some(judged) = judged(&read) else { return };
    for (text, wrong) in read.iter().zip(judged) {
        assert_eq!(wrong, None, "{text}");
    }
}

/// Policies that are refused, and that a schema can tell.
const WRONG: &[&str] = &[
    "limit: {}",
    "quality_gates: { pyton: [{ tool: syntax }] }",
    "quality_gates: { python: [] }",
    "quality_gates: { python: [{ level: warn }] }",
    "quality_gates: { python: [{ tool: syntax, level: error }] }",
    "quality_gates: { python: [{ tool: syntax, levle: warn }] }",
    "quality_gates: { python: [{ tool: syntax, enabled: yes }] }",
    "quality_gates: { python: [{ tool: syntax, on: check }] }",
    "quality_gates: { python: [{ tool: syntax, timeout: 5 }] }",
    "quality_gates: { python: [{ tool: No Tool }] }",
    "limits: { file: large }",
    "limits: { file: 0 }",
    "limits: { lock_wait: 1h }",
    "limits: { regex_steps: 10 }",
    "limits: { journal_age: 3w }",
    "baseline: old",
    "extends: up",
    "paths: [{ access: read }]",
    "paths: [{ match: '!a', access: read }]",
    "paths: [{ match: a, access: deny }]",
    "modes: { interactive: no }",
    "guards: { line_edits: true }",
    "server: { tools: [] }",
    "server: { tools: [contents] }",
    "confirm: often",
    "durability: none",
    "hard_links: follow",
    "damage: { nul_bytes: never }",
    "entities: { form: {} }",
    "entities: { Form: { owner: app } }",
    "entities: { form: { owner: nobody } }",
    "entities: { form: { owner: app, language: pyton } }",
    "entities: { form: { owner: app, gates: syntax } }",
    "validate_commands: [[]]",
    "validate_commands: [go vet]",
    "define: { Own: { kind: syntax, languages: [go] } }",
    "define: { own: { kind: syntax } }",
    "define: { own: { kind: syntax, languages: [] } }",
    "define: { own: { kind: pattern, languages: [go], command: [x] } }",
    "define: { own: { kind: command, languages: [go], input: stdin, command: [x], output: { text: exit, message: [] } } }",
    "[]",
];

#[test]
fn the_schema_refuses_what_a_schema_can_express() {
    let texts: Vec<String> = WRONG.iter().map(|text| (*text).to_owned()).collect();
    for text in &texts {
        assert!(Policy::parse("quality.yaml", text).is_err(), "{text}");
    }
    let Some(judged) = judged(&texts) else { return };
    let passed: Vec<_> = texts.iter().zip(judged).filter(|(_, wrong)| wrong.is_none()).collect();
    assert!(passed.is_empty(), "{passed:?}");
}
