//! Notes that tools print besides their findings, for every tool of the catalogue: they neither hide nor add a finding.
//!
//! `tests/tools/notes.txt` has the lines. Each recorded output is read again with these lines before, between and after it.

use std::collections::{BTreeMap, BTreeSet};

use crate::output::notes::switch::without_notes;
use crate::{Finding, replay};
use lockgate_policy::{Catalogue, CommandSpec, Gate, OutputForm, Sample, Stream};

/// The lines of one tool, by the stream that they are printed to.
#[derive(Default, Clone)]
struct Row {
    out: Vec<&'static str>,
    err: Vec<&'static str>,
    /// The tool prints none with the gate's arguments.
    is_none: bool,
}

impl Row {
    fn all(&self) -> Vec<&'static str> {
        [self.out.as_slice(), &self.err].concat()
    }
}

fn table() -> BTreeMap<&'static str, Row> {
    let mut rows: BTreeMap<&str, Row> = BTreeMap::new();
    let mut row = None;
    for line in include_str!("../../../../../tests/tools/notes.txt").lines() {
        if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            assert!(rows.insert(name, Row::default()).is_none(), "{name} stands twice");
            row = rows.get_mut(name);
        } else if let Some(line) = line.strip_prefix("out ") {
            row.as_mut().unwrap().out.push(line);
        } else if let Some(line) = line.strip_prefix("err ") {
            row.as_mut().unwrap().err.push(line);
        } else if line == "none" {
            row.as_mut().unwrap().is_none = true;
        } else {
            assert!(line.is_empty() || line.starts_with('#'), "{line}");
        }
    }
    rows
}

fn commands() -> impl Iterator<Item = (&'static Gate, &'static CommandSpec)> {
    let gates = Catalogue::embedded().gates().iter();
    gates.filter_map(|gate| Some((&**gate, gate.command()?)))
}

/// The recorded samples of a gate.
fn recorded(gate: &Gate) -> impl Iterator<Item = &Sample> {
    gate.samples.iter().filter(|sample| sample.output.is_some())
}

fn block(lines: &[&str]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// A text with these lines before and after it, and, where each of its lines is read alone, behind each of them.
fn among(text: &str, lines: &[&str], each: bool) -> Vec<String> {
    let noise = block(lines);
    let ended = if text.is_empty() || text.ends_with('\n') { text.to_owned() } else { format!("{text}\n") };
    let mut all = vec![format!("{noise}{text}"), format!("{ended}{noise}"), format!("{noise}{ended}{noise}")];
    if each {
        all.push(ended.split_inclusive('\n').map(|line| format!("{line}{noise}")).collect());
    }
    all
}

/// The sample with another text on the stream that the findings are read from.
fn read_from(sample: &Sample, command: &CommandSpec, text: String) -> Sample {
    match command.output.from {
        Stream::Stderr => Sample { errors: text, ..sample.clone() },
        Stream::Stdout | Stream::Both => Sample { output: Some(text), ..sample.clone() },
    }
}

fn stream<'s>(sample: &'s Sample, command: &CommandSpec) -> &'s str {
    match command.output.from {
        Stream::Stderr => &sample.errors,
        Stream::Stdout | Stream::Both => sample.output.as_deref().unwrap_or_default(),
    }
}

/// The results of noisy variants of a sample that differ from the sample's own.
fn disagreements(gate: &Gate, command: &CommandSpec, lines: &[&str]) -> Vec<String> {
    let mut wrong = Vec::new();
    let each = matches!(command.output.form, OutputForm::Jsonl(_) | OutputForm::Regex { .. });
    for sample in recorded(gate) {
        let expected: Result<Vec<Finding>, String> = without_notes(|| replay(gate, sample));
        for text in among(stream(sample, command), lines, each) {
            let noisy = read_from(sample, command, text);
            let replayed = replay(gate, &noisy);
            if replayed != expected {
                wrong.push(format!(
                    "{}: {replayed:?}, and not {expected:?}, of\n{}",
                    gate.name,
                    stream(&noisy, command)
                ));
            }
        }
    }
    wrong
}

#[test]
fn every_tool_of_the_catalogue_has_a_row() {
    let known: BTreeSet<&str> = Catalogue::embedded().gates().iter().map(|gate| gate.name.as_str()).collect();
    let rows: BTreeSet<&str> = table().into_keys().filter(|name| *name != "*").collect();
    assert_eq!(rows, known);
    for gate in Catalogue::embedded().gates() {
        let row = &table()[gate.name.as_str()];
        assert_eq!(!row.all().is_empty() || row.is_none, gate.runs_program(), "{}", gate.name);
        assert!(!row.is_none || row.all().is_empty(), "{}", gate.name);
    }
}

#[test]
fn notes_around_a_result_neither_hide_nor_add_a_finding() {
    let (table, mut samples) = (table(), 0);
    let mut wrong = Vec::new();
    for (gate, command) in
        commands().filter(|(_, command)| !matches!(command.output.form, OutputForm::Formatted { .. }))
    {
        let lines = [table["*"].all(), table[gate.name.as_str()].all()].concat();
        wrong.extend(disagreements(gate, command, &lines));
        samples += recorded(gate).count();
    }
    assert!(
        wrong.is_empty(),
        "{} wrong, the first:\n{}",
        wrong.len(),
        wrong.iter().take(3).cloned().collect::<Vec<_>>().join("\n")
    );
    assert!(samples > 50, "{samples}");
}

/// Without the tolerance every one of these tools is broken by its own lines, but for xmllint, whose definition matches only
/// lines about the draft.
#[test]
fn a_reader_that_knows_no_such_line_is_broken_by_them() {
    let table = table();
    for (gate, command) in
        commands().filter(|(_, command)| !matches!(command.output.form, OutputForm::Formatted { .. }))
    {
        let lines = [table["*"].all(), table[gate.name.as_str()].all()].concat();
        let noticed = !without_notes(|| disagreements(gate, command, &lines)).is_empty();
        assert_eq!(noticed, gate.name != "xmllint", "{}", gate.name);
    }
}

/// An output that has nothing but such lines is not understood, whatever the tool.
#[test]
fn notes_without_a_result_are_no_result() {
    let table = table();
    for (gate, command) in
        commands().filter(|(_, command)| !matches!(command.output.form, OutputForm::Formatted { .. }))
    {
        let lines = [table["*"].all(), table[gate.name.as_str()].all()].concat();
        let sample = recorded(gate).next().unwrap();
        for exit in command.output.exit_codes.iter().copied().filter(|exit| *exit != 0).chain([99]) {
            let without_output =
                Sample { output: Some(String::new()), errors: String::new(), exit, ..sample.clone() };
            let noisy = read_from(&without_output, command, block(&lines));
            assert!(replay(gate, &noisy).is_err(), "{} with {exit}", gate.name);
        }
        if matches!(command.output.form, OutputForm::Json(_) | OutputForm::Sarif | OutputForm::Rdjson) {
            let noisy = read_from(&Sample { exit: 0, ..sample.clone() }, command, block(&lines));
            assert!(replay(gate, &noisy).is_err(), "{}", gate.name);
        }
    }
}

/// A formatter prints such lines on standard error. On standard output they would be written to the file.
#[test]
fn a_formatter_that_prints_a_line_of_its_own_is_broken() {
    let (table, mut tried) = (table(), 0);
    for (gate, _) in
        commands().filter(|(_, command)| matches!(command.output.form, OutputForm::Formatted { .. }))
    {
        let (common, own) = (table["*"].all(), table[gate.name.as_str()].all());
        for sample in recorded(gate) {
            let expected = replay(gate, sample);
            for errors in among(&sample.errors, &[common.as_slice(), &own].concat(), false) {
                assert_eq!(replay(gate, &Sample { errors, ..sample.clone() }), expected, "{}", gate.name);
            }
            let text = sample.output.as_deref().unwrap_or_default();
            if sample.exit != 0 || text.trim().is_empty() {
                continue;
            }
            for lines in [&common, &own].into_iter().filter(|lines| !lines.is_empty()) {
                for noisy in among(text, lines, true) {
                    let recording = Sample { output: Some(noisy.clone()), ..sample.clone() };
                    let result = replay(gate, &recording);
                    assert!(result.is_err(), "{}: {result:?} of\n{noisy}", gate.name);
                    tried += 1;
                }
            }
        }
    }
    assert!(tried > 50, "{tried}");
}

#[test]
fn a_formatter_that_prints_a_line_of_its_own_is_believed_without_the_check() {
    let black = Catalogue::embedded().find("black").unwrap();
    let sample = recorded(black).find(|sample| sample.exit == 0 && sample.finds.is_empty()).unwrap();
    let noisy = Sample { output: Some(format!("All done!\n{}", sample.draft)), ..sample.clone() };
    assert!(replay(black, &noisy).is_err());
    assert!(without_notes(|| replay(black, &noisy)).is_ok());
}

/// What a tool finds may quote the text, and a text may hold the words by which the tool says that it passed over a file, or
/// that its dependencies are not there.
#[test]
fn a_finding_that_quotes_the_words_of_a_skip_is_a_finding() {
    let quoted = |gate: &str, words: &str, naive: &str| {
        let gate = Catalogue::embedded().find(gate).unwrap();
        let command = gate.command().unwrap();
        let sample = recorded(gate).find(|sample| !sample.finds.is_empty()).unwrap();
        let escaped = serde_json::to_string(words).unwrap();
        let escaped = escaped.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap();
        let text = stream(sample, command);
        let key = if gate.name == "sqlfluff" { "\"description\": \"" } else { "\"message\":\"" };
        let noisy = match &command.output.form {
            OutputForm::Regex { .. } => text.replacen(": ", &format!(": \"{words}\" "), 3),
            OutputForm::Sarif => text.replacen("\"text\": \"", &format!("\"text\": \"{}", escaped), 1),
            _ if text.contains(key) => text.replacen(key, &format!("{key}{}", escaped), 1),
            _ => text.replacen("\"message\": \"", &format!("\"message\": \"{}", escaped), 1),
        };
        (gate, command, sample, noisy, regex::Regex::new(naive).unwrap())
    };
    for (name, words, naive) in [
        ("eslint", "couldn't find an eslint.config", "couldn.t find an eslint"),
        ("biome", "No files were processed in the specified paths", "No files were processed"),
        ("sqlfluff", "was given but it was ignored by an ignore pattern", "was given but it was ignored"),
        ("zizmor", "no inputs collected", "no inputs collected"),
        ("shellcheck", "\"code\":1071,\"message\":\"ShellCheck only supports x", "ShellCheck only supports"),
        ("staticcheck", "cannot use \"build constraints exclude all Go files\"", "build constraints exclude"),
    ] {
        let (gate, command, sample, noisy, naive) = quoted(name, words, naive);
        assert_ne!(noisy, stream(sample, command), "{name}");
        let expected = replay(gate, sample).unwrap().len();
        let found = replay(gate, &read_from(sample, command, noisy.clone()));
        assert_eq!(found.map(|found| found.len()), Ok(expected), "{name}: {noisy}");
        assert!(naive.is_match(&noisy), "{name}: words that are looked for anywhere would be found");
        assert!(expected > 0);
    }
}

#[test]
fn a_compiler_that_quotes_a_missing_dependency_has_found_something() {
    for (name, quoting, missing) in [
        (
            "go-build",
            "./a.go:3:9: cannot use \"missing go.sum entry for x\" (untyped string constant) as int value\n",
            "a.go:3:8: missing go.sum entry for module providing package golang.org/x/text/language (imported by \
             example.com/x); to add:\n\tgo get example.com/x\n",
        ),
        (
            "go-vet",
            "./a.go:3:9: cannot use `dial tcp: x` (untyped string constant) as int value\n",
            "go: download go1.99.0: Get \"https://x.invalid/v\": dial tcp: lookup x.invalid: no such host\n",
        ),
        (
            "cargo-check",
            "src/lib.rs:1:1: error: you are in the offline mode\n",
            "error: no matching package named `x` found\nlocation searched: the index\n",
        ),
        (
            "clippy",
            "src/lib.rs:1:1: error: lock file x needs to be updated\n",
            "error: the lock file /project/Cargo.lock needs to be updated but --frozen was passed to prevent this\n",
        ),
    ] {
        let gate = Catalogue::embedded().find(name).unwrap();
        let command = gate.command().unwrap();
        let sample = recorded(gate).next().unwrap();
        let exit = command.output.exit_codes.iter().copied().find(|exit| *exit != 0).unwrap();
        let run = |errors: &str| {
            let recording =
                Sample { output: Some(String::new()), errors: String::new(), exit, ..sample.clone() };
            replay(gate, &read_from(&recording, command, errors.to_owned()))
        };
        assert_eq!(run(quoting).map(|found| found.len()), Ok(1), "{name}");
        let why = run(missing).unwrap_err();
        assert!(why.starts_with("unavailable: "), "{name}: {why}");
    }
}

#[test]
fn cppcheck_that_broke_off_has_found_something() {
    let gate = Catalogue::embedded().find("cppcheck").unwrap();
    let command = gate.command().unwrap();
    let sample = recorded(gate).next().unwrap();
    let run = |line: &str| {
        replay(gate, &read_from(&Sample { exit: 0, ..sample.clone() }, command, format!("{line}\n")))
    };
    let broke_off = "nofile:0:0: error: Bailing out from analysis [internalError]";
    assert_eq!(run(broke_off).map(|found| found.len()), Ok(1));
    assert_eq!(run(&broke_off.replace("error:", "information:")).map(|found| found.len()), Ok(0));
}
