//! Outputs that no tool should write.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use serde_json::json;

use super::super::{MAX_FINDINGS, formatted};
use super::*;

/// A command for each form, with a good output that has findings.
fn forms() -> Vec<(&'static str, CommandSpec, String)> {
    let nested =
        place("results.messages", ["^file", "at.line", "at.column+1", "code", "severity", "message"]);
    let item =
        json!({ "file": "a.py", "line": 3, "column": 2, "code": "é", "severity": "error", "message": "m é" });
    let deep = json!({ "results": [{ "file": "b.py", "messages": [
        { "at": { "line": 2, "column": 1 }, "code": 5, "severity": 1, "message": "x \" { [" }] }] });
    let rdjson = json!({ "severity": "INFO", "diagnostics": [
        { "message": "m", "location": { "path": "a.py", "range": { "start": { "line": 2, "column": 3 } } } }] });
    let sarif = json!({ "runs": [{
        "columnKind": "utf16CodeUnits",
        "tool": { "driver": { "rules": [{ "id": "E", "messageStrings": { "d": { "text": "{0}" } } }] } },
        "artifacts": [{ "location": { "uri": "a%20.py", "uriBaseId": "R" } }],
        "originalUriBaseIds": { "R": { "uri": "file:///r/" } },
        "results": [{ "ruleIndex": 0, "message": { "id": "d", "arguments": ["x"] }, "locations": [
            { "physicalLocation": { "artifactLocation": { "index": 0 }, "region": { "startLine": 2, "startColumn": 2 } } }
        ] }] }] });
    let lines =
        lines_of(r"^(?P<file>.+?):(?P<line>\d+):(?P<column>\d+): (?P<code>\w+) (?P<message>.*)$", Some("^#"));
    vec![
        ("json", command(OutputForm::Json(nested)), deep.to_string()),
        ("jsonl", command(OutputForm::Jsonl(plain_place())), item.to_string()),
        ("rdjson", command(OutputForm::Rdjson), rdjson.to_string()),
        ("sarif", command(OutputForm::Sarif), sarif.to_string()),
        ("regex", command(lines), "a.py:3:4: E1 m\n# end\n".to_owned()),
        (
            "formatted",
            command(OutputForm::Formatted { errors: Regex::new("^(?P<line>.+?):(?P<message>.*)").ok() }),
            TEXT.to_owned(),
        ),
        ("exit", command(OutputForm::Exit("m".to_owned())), String::new()),
    ]
}

#[test]
fn the_good_outputs_are_read() {
    for (name, command, output) in forms() {
        let (code, count) = if name == "formatted" { (0, 0) } else { (1, 1) };
        assert_eq!(
            reading(&command, &program_output(code, &output)).map(|findings| findings.len()),
            Ok(count),
            "{name}"
        );
    }
}

#[test]
fn a_coloured_name_is_that_of_the_file() {
    let lines = command(lines_of(r"^(?P<file>.+?):(?P<line>\d+):(?P<column>\d+): (?P<message>.*)$", None));
    for name in ["a.py", "\u{1b}[31ma.py", "\u{1b}[1m\u{1b}[31ma\u{200b}.py"] {
        let run_output = format!("{name}:2:1: m\u{1b}[0m\n");
        let found = reading(&lines, &program_output(1, &run_output));
        assert_eq!(found.unwrap(), ["2:1 error - m"], "{name:?}");
    }
}

#[test]
fn a_json_text_that_is_cut_anywhere_is_broken() {
    for (name, command, output) in forms() {
        if !["json", "jsonl", "rdjson", "sarif"].contains(&name) {
            continue;
        }
        for end in 0..output.len() {
            let cut = ProgramOutput { code: 1, stdout: &output.as_bytes()[..end], stderr: b"" };
            assert!(reading(&command, &cut).is_err(), "{name} was read from {end} bytes");
            let cut = ProgramOutput { code: 0, ..cut };
            assert!(
                reading(&command, &cut).is_err() || (name, end) == ("jsonl", 0),
                "{name}, {end} bytes, exit code 0"
            );
        }
    }
}

#[test]
fn more_than_so_many_findings_are_no_answer() {
    let many = |item: &str, between: &str| vec![item; MAX_FINDINGS + 5].join(between);
    let item = r#"{"message": "m"}"#;
    let outputs = [
        ("jsonl", many(item, "\n")),
        ("regex", many("a.py:1:1: E m", "\n")),
        ("rdjson", format!(r#"{{"diagnostics": [{}]}}"#, many(item, ","))),
        ("sarif", format!(r#"{{"runs": [{}]}}"#, many(r#"{"results": [{"message": {"text": "m"}}]}"#, ","))),
        ("json", format!(r#"{{"results": {{"messages": [{}]}}}}"#, many(item, ","))),
    ];
    for (name, output) in outputs {
        let (_, command, _) = forms().into_iter().find(|(form, ..)| *form == name).unwrap();
        let why = reading(&command, &program_output(1, &output)).unwrap_err();
        assert!(why.contains("more than 10000 findings"), "{name}: {why}");
    }
}

/// One long text that all findings have: it is not copied for each.
#[test]
fn what_findings_share_is_not_multiplied() {
    let long = "x".repeat(4 << 20);
    let items = vec![r#"{"message": "m"}"#; MAX_FINDINGS].join(",");
    let above = format!(r#"{{"results": [{{"file": "{long}", "messages": [{items}]}}]}}"#);
    let results =
        vec![r#"{"ruleIndex": 0, "message": {"id": "d", "arguments": ["a"]}}"#; MAX_FINDINGS].join(",");
    let driver = format!(
        r#"{{"driver": {{"rules": [{{"id": "{long}", "messageStrings": {{"d": {{"text": "{long}"}}}}}}]}}}}"#
    );
    let rules = format!(r#"{{"runs": [{{"tool": {driver}, "results": [{results}]}}]}}"#);
    for (name, output) in [("json", above), ("sarif", rules)] {
        let (_, command, _) = forms().into_iter().find(|(form, ..)| *form == name).unwrap();
        assert_eq!(reading(&command, &program_output(1, &output)).unwrap().len(), MAX_FINDINGS, "{name}");
    }
}

/// Many findings far out on one long line, out of order: counted from the line's start each, they take minutes.
#[test]
#[expect(clippy::disallowed_methods, reason = "what a reading costs is what is measured")]
fn columns_on_a_long_line_are_counted_once() {
    let text = buffer(&"é".repeat(1_000_000));
    let item =
        |at: usize| json!({ "line": 1, "column": 1_999_990 - at % 7 - at, "message": "m" }).to_string();
    let output = (0..MAX_FINDINGS).map(item).collect::<Vec<_>>().join("\n");
    let command =
        command_with(OutputSpec { columns: Columns::Bytes, ..output_of(OutputForm::Jsonl(plain_place())) });
    let start = Instant::now();
    let findings = read(&command, &program_output(1, &output), &text, &named_file).unwrap();
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
    assert_eq!(findings.last().unwrap().column, 999_996);
}

fn judged(command: &CommandSpec, run: &ProgramOutput<'_>) {
    let draft = buffer(TEXT);
    let found = read(command, run, &draft, &named_file);
    if run.code != 0 {
        assert_ne!(found, Ok(Vec::new()), "nothing was found with exit code {}", run.code);
    }
    for finding in found.unwrap_or_default() {
        assert!(finding.line >= 1 && finding.column >= 1 && !finding.message.is_empty());
        if finding.elsewhere.is_none() {
            assert!(
                finding.line <= 4 && finding.column <= draft.lines().text(finding.line).chars().count() + 1
            );
        }
    }
    let text = formatted(command, run, &draft);
    assert!(text.is_err() || (run.code == 0 && matches!(command.output.form, OutputForm::Formatted { .. })));
}

proptest! {
    #[test]
    fn any_bytes_are_judged(
        stdout in proptest::collection::vec(any::<u8>(), 0..200),
        stderr in proptest::collection::vec(any::<u8>(), 0..100),
        code in prop_oneof![Just(0), Just(1), any::<i32>()],
        both in any::<bool>(),
    ) {
        for (_, mut command, _) in forms() {
            command.output.from = if both { Stream::Both } else { Stream::Stdout };
            judged(&command, &ProgramOutput { code, stdout: &stdout, stderr: &stderr });
        }
    }

    /// Good outputs of which a few bytes are others.
    #[test]
    fn spoilt_outputs_are_judged(
        spoils in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..3usize), 1..4),
        code in 0..3,
    ) {
        for (_, command, output) in forms() {
            let mut bytes = output.into_bytes();
            for (index, byte, how) in &spoils {
                let at = index.index(bytes.len().max(1)).min(bytes.len());
                match how {
                    0 => bytes.insert(at, *byte),
                    1 if at < bytes.len() => bytes[at] = *byte,
                    _ => bytes.truncate(at),
                }
            }
            judged(&command, &ProgramOutput { code, stdout: &bytes, stderr: &bytes });
        }
    }

    /// Good outputs in which one value is another one.
    #[test]
    fn outputs_with_strange_values_are_judged(
        which in any::<prop::sample::Index>(),
        strange in prop_oneof![
            Just("null"), Just("-1"), Just("1e300"), Just("1e999"), Just("\"\""), Just("{}"), Just("[]"), Just("[[[1]]]"),
            Just("true"), Just("18446744073709551616"), Just("\"\\u0000\\u001b[2J\""), Just("\"file:///%\""),
        ],
        code in 0..2,
    ) {
        for (_, command, output) in forms() {
            let places: Vec<usize> = output.match_indices(':').map(|(at, _)| at + 1).collect();
            let Some(&at) = places.get(which.index(places.len().max(1))) else { continue };
            let (before, behind) = output.split_at(at);
            let end = behind.find([',', '}', ']', ':']).unwrap_or(behind.len());
            let altered = format!("{before}{strange}{}", behind.split_at(end).1);
            judged(&command, &program_output(code, &altered));
        }
    }
}
