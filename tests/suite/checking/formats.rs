//! What programs are told: annotations, SARIF, and a reader that goes away.

use std::fs;
use std::io::Read as _;
use std::process::Stdio;

use serde_json::Value;

use super::super::mcp::{installed, tool};
use super::super::trust::fixture::Fixture;
use super::{BAD, GOOD, check, commit, project, write};

/// A project with findings of every sort: two that block on one line beyond the basic plane, and a warning.
fn fixture() -> Fixture {
    let fixture = project();
    let policy = "quality_gates: { '*': [{ tool: no-todo }, { tool: no-maybe, level: warn }, { tool: syntax }] }\ndefine:\n  \
                  no-todo: { about: X., kind: pattern, languages: ['*'], must_not_match: TODO, message: 'a TODO, 100%: ::x' }\n  \
                  no-maybe: { about: X., kind: pattern, languages: ['*'], must_not_match: maybe, message: a maybe }\n";
    commit(&fixture, &[("quality.yaml", policy), ("a.txt", "TODO\n"), ("d/b c.py", GOOD)]);
    write(&fixture, &[("a.txt", "TODO\n\u{1d11e}\u{1d11e} TODO TODO maybe\n"), ("d/b c.py", BAD)]);
    fixture
}

#[test]
fn annotations_are_those_of_the_runner() {
    let annotations = check(&fixture(), &["--format", "github"], 1).stdout;
    let mut lines = annotations.lines();
    assert_eq!(lines.next(), Some("::error file=a.txt,line=2,col=4,title=no-todo::a TODO, 100%25: ::x"));
    assert!(annotations.contains("\n::error file=d/b c.py,line=2,col=1,title=syntax::"), "{annotations}");
    assert!(
        annotations.contains("\n::warning file=a.txt,line=2,col=14,title=no-maybe::a maybe\n"),
        "{annotations}"
    );
    assert!(
        annotations.lines().last().unwrap().starts_with("lockgate: 2 files judged against HEAD ("),
        "{annotations}"
    );
}

#[test]
fn only_the_gravest_are_annotated_where_they_are_many() {
    let fixture = fixture();
    write(&fixture, &[("a.txt", &("maybe\n".repeat(15) + &"TODO x\n".repeat(12)))]);
    let annotations = check(&fixture, &["--format", "github"], 1).stdout;
    let count = |start: &str| annotations.lines().filter(|line| line.starts_with(start)).count();
    assert_eq!((count("::error "), count("::warning ")), (10, 10), "{annotations}");
    assert!(count("error: ") >= 2 && count("warning: ") == 5, "the rest is in the log: {annotations}");
}

#[test]
fn a_log_has_what_code_scanning_reads() {
    let fixture = fixture();
    let file = fixture.at("outside/out.sarif");
    let log = check(&fixture, &["--format", "sarif", "--sarif", file.to_str().unwrap()], 1).stdout;
    assert_eq!(fs::read_to_string(&file).unwrap(), log, "the file is what is printed");
    let log: Value = serde_json::from_str(&log).unwrap();
    let run = &log["runs"][0];
    let results = run["results"].as_array().unwrap();
    let region = &results[0]["locations"][0]["physicalLocation"]["region"];
    assert_eq!((&region["startLine"], &region["startColumn"]), (&2.into(), &6.into()), "in UTF-16");
    assert_eq!(run["columnKind"], "utf16CodeUnits");
    assert_eq!(
        run["originalUriBaseIds"]["%SRCROOT%"]["uri"],
        format!("file://{}/", fixture.root().display())
    );
    let mut prints: Vec<&str> =
        results.iter().map(|it| it["partialFingerprints"]["lockgateFinding/v1"].as_str().unwrap()).collect();
    for it in results {
        let rule =
            &run["tool"]["driver"]["rules"][usize::try_from(it["ruleIndex"].as_u64().unwrap()).unwrap()];
        assert_eq!(rule["id"], it["ruleId"]);
        assert_eq!(it["baselineState"], "new");
    }
    prints.sort_unstable();
    let all = prints.len();
    prints.dedup();
    assert_eq!(prints.len(), all, "no two findings are one");
    // The prints stay when lines move.
    write(&fixture, &[("a.txt", "TODO\n\n\n\u{1d11e}\u{1d11e} TODO TODO maybe\n")]);
    let moved: Value = serde_json::from_str(&check(&fixture, &["--format", "sarif"], 1).stdout).unwrap();
    for it in moved["runs"][0]["results"].as_array().unwrap() {
        assert!(prints.contains(&it["partialFingerprints"]["lockgateFinding/v1"].as_str().unwrap()));
    }
}

#[test]
fn logs_are_valid_by_the_schema() {
    let Some(python) = installed("LOCKGATE_TEST_VENV", "venv", "bin/python") else { return };
    let package = "node_modules/@microsoft/sarif-multitool-linux";
    let Some(schema) = installed("LOCKGATE_TEST_NODE", "node", &format!("{package}/sarif-2.1.0.json")) else {
        return;
    };
    let fixture = fixture();
    let nothing = Fixture::new();
    let logs = [
        ("found", check(&fixture, &["--format", "sarif"], 1)),
        ("clean", check(&nothing, &["--format", "sarif"], 0)),
        ("refused", check(&fixture, &["--format", "sarif", "--base", "none"], 2)),
    ];
    let mut command = std::process::Command::new(python);
    command.arg(tool("sarif_schema.py")).arg(schema);
    for (name, log) in logs {
        let path = fixture.at(&format!("outside/{name}.sarif"));
        fs::write(&path, log.stdout).unwrap();
        command.arg(path);
    }
    let output = command.output().unwrap();
    let report =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{report}");
    assert_eq!(report.lines().filter(|line| line.starts_with("valid ")).count(), 3, "{report}");
}

#[test]
fn a_reader_that_goes_away_changes_no_exit_code() {
    let fixture = fixture();
    write(&fixture, &[("many.txt", &"TODO x\n".repeat(900))]);
    for format in ["text", "json", "sarif", "github"] {
        let mut command = fixture.command();
        command.args(["check", "--format", format]).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        drop(child.stdout.take());
        let mut stderr = String::new();
        child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(1), "{format}: {stderr}");
        assert!(!stderr.contains("panicked"), "{format}: {stderr}");
    }
}

#[test]
fn a_file_that_cannot_be_written_is_a_failure() {
    let fixture = fixture();
    let output = check(&fixture, &["--sarif", "/nowhere/at/all.sarif"], 70);
    assert!(output.stderr.contains("IO_FAILED"), "{}", output.stderr);
}
