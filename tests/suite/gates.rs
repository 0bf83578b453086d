//! Every sample of the catalogue, replayed through the real gate: what a definition promises is what it does.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use lockgate::gate::{Draft, Finding, Outcome, Verdict, Watch, judge};
use lockgate::policy::{Catalogue, Expected, Gate, Level, Rule, Sample, language_of};
use lockgate::text::{Buffer, Hints};

/// Judges the sample as a new file that nothing but its neighbours stands beside.
fn replay(gate: &Arc<Gate>, sample: &Sample) -> Verdict {
    let read = |text: &str| Buffer::read(text.as_bytes().to_vec(), Hints::default()).unwrap();
    let (empty, after) = (read(""), read(&sample.draft));
    let map = empty.rewrite(&sample.draft).unwrap().line_map(&empty, &after);
    let draft = Draft {
        path: &sample.path,
        language: language_of(&sample.path, sample.draft.lines().next()),
        before: None,
        after: &after,
        map: &map,
        beside: &|path: &str| sample.beside.iter().any(|known| known == path),
    };
    let rule = Rule { gate: Arc::clone(gate), level: Level::Block, enabled: true };
    judge(&draft, &[&rule], &Watch::idle())
}

fn agrees(expected: &Expected, found: &Finding) -> bool {
    expected.line == found.line
        && expected.column.is_none_or(|column| column == found.column)
        && expected.code.as_ref().is_none_or(|code| Some(code) == found.code.as_ref())
        && expected.message.as_ref().is_none_or(|part| found.message.contains(part.as_str()))
}

/// What is wrong with the verdict on a sample, in words.
fn disagreement(gate: &Arc<Gate>, sample: &Sample) -> Option<String> {
    let mut verdict = replay(gate, sample);
    verdict.findings.sort_by_key(|found| (found.line, found.column));
    let wanted = if sample.finds.is_empty() { Outcome::Passed } else { Outcome::Found };
    let outcomes: Vec<Outcome> = verdict.runs.iter().map(|run| run.outcome).collect();
    let agree = sample.finds.len() == verdict.findings.len()
        && sample.finds.iter().zip(&verdict.findings).all(|(expected, found)| agrees(expected, found));
    let block = verdict.findings.iter().all(|found| found.fresh && found.blocking);
    (outcomes != [wanted] || !agree || !block).then(|| {
        let seen: Vec<_> = verdict.findings.iter().map(|f| (f.line, f.column, &f.code, &f.message)).collect();
        format!(
            "{}, {}: {:?}\n  wanted {:?}\n  found {outcomes:?} {seen:?}",
            gate.name, sample.path, sample.draft, sample.finds
        )
    })
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
                None => spoilt.finds.push(Expected { line: 1, column: None, code: None, message: None }),
            }
            assert!(disagreement(gate, &spoilt).is_some(), "{}: {:?}", gate.name, sample.draft);
        }
    }
}

#[test]
fn the_catalogue_is_the_folder_of_gates() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("gates");
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let shipped: BTreeSet<String> = files
        .filter(|file| file != "languages.yaml")
        .map(|file| file.strip_suffix(".yaml").unwrap_or_else(|| panic!("{file} is no gate")).to_owned())
        .collect();
    let gates = Catalogue::embedded().gates();
    let known: BTreeSet<String> = gates.iter().map(|gate| gate.name.clone()).collect();
    assert_eq!(known, shipped, "gates/ and catalogue::FILES differ");
    assert_eq!(known.len(), gates.len(), "a gate stands twice");
}

#[test]
fn the_page_has_every_gate_and_every_outcome() {
    let page = include_str!("../../docs/policy.md");
    let has = |name: &str| page.lines().any(|line| line.starts_with(&format!("| `{name}` |")));
    for gate in Catalogue::embedded().gates() {
        assert!(has(&gate.name), "{}", gate.name);
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
        for language in lockgate::policy::languages().iter().filter(|language| gate.covers(Some(language))) {
            assert!(shown.contains(language.name.as_str()), "{}: {}", gate.name, language.name);
        }
    }
}
