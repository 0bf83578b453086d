//! Every sample of the catalogue, replayed through the real gate: what a definition promises is what it does.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use lockgate_checks::{Finding, Outcome, Severity, mismatch, replay, run_sample_in_process};
use lockgate_policy::{
    CanaryKind, Catalogue, CommandSpec, Expected, Gate, GateKind, Input, Languages, OutputForm, Sample,
    language_of,
};

/// The gates that are asked live, as tests/run installs their programs.
pub fn live_gates() -> BTreeSet<&'static str> {
    let lines = include_str!("../tools/live.txt").lines();
    lines.filter(|line| !line.starts_with('#') && !line.is_empty()).collect()
}

fn is_error(found: &Finding) -> bool {
    found.severity == Severity::Error
}

/// What is wrong with what a gate makes of a sample, in words: of a recorded output, or in process.
fn disagreement(gate: &Arc<Gate>, sample: &Sample) -> Option<String> {
    let is_program = gate.runs_program();
    let wrong = match if is_program { replay(gate, sample) } else { run_sample_in_process(gate, sample) } {
        Err(why) => Some(why),
        Ok(found)
            if !is_program && !found.iter().all(|found| found.fresh && found.blocking == is_error(found)) =>
        {
            Some(format!("some are old, or errors that do not block: {found:?}"))
        }
        Ok(found) => mismatch(sample, &found).map(|between| format!("{between:#?}")),
    };
    wrong.map(|wrong| format!("{}, {}: {:?}\n{wrong}", gate.name, sample.path, sample.draft))
}

#[test]
fn every_sample_of_the_catalogue_finds_what_it_says() {
    let gates = Catalogue::embedded().gates();
    let samples = gates.iter().flat_map(|gate| gate.samples.iter().map(move |sample| (gate, sample)));
    let wrong: Vec<String> = samples.filter_map(|(gate, sample)| disagreement(gate, sample)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_sample_that_expects_something_else_is_noticed() {
    for gate in Catalogue::embedded().gates() {
        for sample in &gate.samples {
            let mut spoilt = sample.clone();
            match spoilt.finds.pop() {
                Some(_) => {}
                None => spoilt.finds.push(Expected {
                    line: 1,
                    column: None,
                    code: None,
                    severity: None,
                    message: None,
                }),
            }
            assert!(disagreement(gate, &spoilt).is_some(), "{}: {:?}", gate.name, sample.draft);
        }
    }
}

/// The gates whose canary is no mistake behind the draft that only the tool's own analysis finds, and why.
const OTHER_CANARIES: [(&str, &str); 4] = [
    ("actionlint", "a workflow is one document, and a second one is not read"),
    ("zizmor", "a workflow is one document, and a second one is not read"),
    ("rust-analyzer", "which of its own findings every version has was not seen"),
    ("golangci-lint", "a project chooses its linters, so that whatever is found counts"),
];

#[test]
fn every_canary_is_a_mistake_behind_the_draft_or_has_a_reason_to_be_none() {
    for gate in Catalogue::embedded().gates().iter().filter(|gate| gate.runs_program()) {
        let canary = gate.canary.as_ref().unwrap_or_else(|| panic!("{} has no canary", gate.name));
        let is_own = canary.append.is_some() && canary.finds.is_some();
        let reason = OTHER_CANARIES.iter().find(|(name, _)| *name == gate.name);
        assert_eq!(is_own, reason.is_none(), "{}: {reason:?}", gate.name);
    }
    for (name, _) in OTHER_CANARIES {
        assert!(Catalogue::embedded().find(name).is_some(), "{name}");
    }
}

/// The gates that have no sample whose finding is another one than their mistake: most of them take every text.
const EVERY_FINDING: [&str; 10] = [
    "bandit",
    "biome",
    "clang-format",
    "codespell",
    "hadolint",
    "isort",
    "prettier",
    "ruff-imports",
    "rumdl",
    "typos",
];

/// An error of syntax shows that a tool parses, and not that it judges, so that `finds` must not take it.
#[test]
fn a_canary_is_not_found_by_whatever_is_found() {
    for gate in Catalogue::embedded().gates() {
        let Some(canary) = gate.canary.as_ref().filter(|canary| canary.finds.is_some()) else { continue };
        let found = |found: &Expected| {
            let message = found.message.as_deref().unwrap_or_default();
            canary.is_found_by(CanaryKind::Analysis, found.code.as_deref(), message)
        };
        let differs = gate.samples.iter().flat_map(|sample| &sample.finds).any(|finding| !found(finding));
        assert_eq!(differs, !EVERY_FINDING.contains(&gate.name.as_str()), "{}", gate.name);
    }
}

/// A program that says nothing has found nothing, whatever was recorded before.
#[test]
fn a_recording_that_says_nothing_is_noticed() {
    let mut noticed = 0;
    for gate in Catalogue::embedded().gates().iter().filter(|gate| gate.command().is_some()) {
        for sample in gate.samples.iter().filter(|sample| !sample.finds.is_empty()) {
            let silent = Sample { output: Some(String::new()), errors: String::new(), ..sample.clone() };
            assert!(disagreement(gate, &silent).is_some(), "{}: {:?}", gate.name, sample.draft);
            assert!(replay(gate, &Sample { exit: 99, ..sample.clone() }).is_err(), "{}", gate.name);
            noticed += 1;
        }
    }
    assert!(noticed > 0, "no gate of the catalogue runs a program");
}

#[test]
fn the_catalogue_is_the_folder_of_gates() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("gates");
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let shipped: BTreeSet<String> = files
        .filter(|file| {
            file.ends_with(".yaml")
                && !["entities.yaml", "languages.yaml", "quality.yaml"].contains(&file.as_str())
        })
        .map(|file| file.strip_suffix(".yaml").unwrap_or_else(|| panic!("{file} is no gate")).to_owned())
        .collect();
    let gates = Catalogue::embedded().gates();
    let catalogue: BTreeSet<String> = gates.iter().map(|gate| gate.name.clone()).collect();
    assert_eq!(catalogue, shipped, "the folder and the catalogue differ");
    assert_eq!(catalogue.len(), gates.len(), "a gate stands twice");
}

#[test]
fn the_page_has_every_gate_and_every_outcome() {
    let page = include_str!("../../docs/policy.md");
    let has = |name: &str| page.lines().any(|line| line.starts_with(&format!("| `{name}` |")));
    for gate in Catalogue::embedded().gates() {
        assert!(has(&gate.name), "docs/policy.md has no row for {}; run cargo xtask docs", gate.name);
    }
    use Outcome::{Broken, Found, Passed, Skipped, TimedOut};
    for outcome in [Passed, Found, Skipped, Broken, TimedOut] {
        assert!(has(outcome.name()), "{}", outcome.name());
    }
}

#[test]
fn every_language_that_a_gate_names_has_a_sample() {
    for gate in Catalogue::embedded().gates() {
        let language =
            |sample: &Sample| language_of(&sample.path, None).map(|language| language.name.as_str());
        let shown: BTreeSet<_> = gate.samples.iter().filter_map(language).collect();
        let Languages::Only(named) = &gate.languages else { continue };
        for language in named {
            assert!(shown.contains(language.as_str()), "{}: {language}", gate.name);
        }
    }
}

/// How a program gets the draft, and how its output is read, in a few words.
fn forms(command: &CommandSpec) -> [&'static str; 2] {
    let input = match command.input {
        Input::Stdin => "`stdin`",
        Input::Shadow => "`shadow`",
        Input::Staged => "`staged`",
    };
    let output = match command.output.form {
        OutputForm::Json(_) => "JSON",
        OutputForm::Jsonl(_) => "JSON lines",
        OutputForm::Sarif => "SARIF",
        OutputForm::Rdjson => "rdjson",
        OutputForm::Regex { .. } => "lines",
        OutputForm::Exit(_) => "exit code",
        OutputForm::Formatted { .. } => "the text",
    };
    [input, output]
}

/// The table of docs/gates.md, from the catalogue and from the list of what is asked live.
fn tools() -> String {
    let live = live_gates();
    let mut table = "| tool | recorded with | draft | output | samples |\n|---|---|---|---|---|\n".to_owned();
    for gate in Catalogue::embedded().gates() {
        let (with, [input, output], samples) = match (&gate.kind, gate.command()) {
            (GateKind::Syntax | GateKind::Damage | GateKind::Pattern(_), _) => {
                ("lockgate itself", ["in process", "findings"], "live")
            }
            (GateKind::Command(_), Some(command)) => {
                (recorded(gate), forms(command), sample_source(&live, gate))
            }
            (GateKind::Server(_), Some(command)) => {
                (recorded(gate), ["`didChange`", forms(command)[1]], sample_source(&live, gate))
            }
            (GateKind::Command(_) | GateKind::Server(_), None) => {
                (recorded(gate), ["`didChange`", "diagnostics"], sample_source(&live, gate))
            }
        };
        writeln!(table, "| `{}` | {with} | {input} | {output} | {samples} |", gate.name).unwrap();
    }
    table
}

fn recorded(gate: &Gate) -> &str {
    gate.recorded.as_deref().unwrap_or("")
}

fn sample_source(live: &BTreeSet<&str>, gate: &Gate) -> &'static str {
    if live.contains(gate.name.as_str()) { "live" } else { "recorded" }
}

#[test]
fn the_table_of_tools_is_what_the_catalogue_and_the_tests_have() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/gates.md");
    let (opening, closing) = ("<!-- tools -->\n", "<!-- end of tools -->");
    let page = fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(opening).expect("the page has a place for the table");
    let (_, after) = rest.split_once(closing).expect("the page has an end of the table");
    let expected = format!("{before}{opening}\n{}\n{closing}{after}", tools());
    if std::env::var_os("UPDATE").is_some() && page != expected {
        fs::write(&path, &expected).unwrap();
    }
    let page = fs::read_to_string(&path).unwrap();
    assert!(
        page == expected,
        "docs/gates.md is out of step; rewrite it with UPDATE=1 cargo test --test all suite::gates::"
    );
}

#[test]
fn live_gates_are_in_the_catalogue_and_enough() {
    let catalogue: BTreeSet<&str> =
        Catalogue::embedded().gates().iter().map(|gate| gate.name.as_str()).collect();
    let live = live_gates();
    assert!(live.is_subset(&catalogue), "{:?}", live.difference(&catalogue));
    assert!(live.len() >= 35, "{}", live.len());
    let programs = Catalogue::embedded().gates().iter().filter(|gate| gate.runs_program());
    for gate in programs {
        assert!(gate.recorded.is_some(), "{}: nobody says with what its samples were recorded", gate.name);
    }
}
