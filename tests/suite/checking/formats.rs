//! What programs are told: annotations, SARIF, and a reader that goes away.

use std::fs;
use std::io::Read as _;
use std::process::Stdio;

use serde_json::Value;

use super::super::mcp::{installed, python, tool};
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
    let summary = annotations.lines().last().unwrap();
    assert!(summary.starts_with("lockgate: 2 files judged against HEAD ("), "{annotations}");
    assert!(summary.contains(": 3 findings that block, 1 that does not"), "{annotations}");
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
fn concise_results_have_a_line_for_each_finding() {
    let fixture = fixture();
    let concise = check(&fixture, &["--format", "concise"], 1).stdout;
    let lines: Vec<&str> = concise.lines().collect();
    assert_eq!(lines[0], "error a.txt:2:4: no-todo: a TODO, 100%: ::x", "{concise}");
    assert!(lines.contains(&"warning a.txt:2:14: no-maybe: a maybe"), "{concise}");
    assert!(lines.last().unwrap().starts_with("found     2 files judged"), "{concise}");
    let quiet = check(&fixture, &["-q", "--format", "concise"], 1).stdout;
    assert!(quiet.lines().all(|line| line.starts_with("error ")), "{quiet}");
}

/// An editor opens a path from the folder in which the command ran.
#[test]
fn paths_for_people_are_relative_to_the_current_folder() {
    let fixture = project();
    commit(&fixture, &[("d/a.py", GOOD), ("d/e/b.py", GOOD), ("c/x.py", GOOD)]);
    write(&fixture, &[("d/a.py", BAD), ("d/e/b.py", BAD), ("c/x.py", BAD)]);
    let (root, inner) = (fixture.at("root"), fixture.at("root/d"));
    let (root, inner) = (root.to_str().unwrap(), inner.to_str().unwrap());
    let absolute = format!("{root}/c/x.py");
    for (folder, arguments, expected) in [
        ("root", &[][..], &["c/x.py", "d/a.py", "d/e/b.py"][..]),
        ("root/d", &[], &["a.py", "e/b.py"]),
        ("root/d/e", &["..", "../../c"], &["../../c/x.py", "../a.py", "b.py"]),
        ("root", &["--root", inner], &["d/a.py", "d/e/b.py"]),
        ("root/c", &["--root", inner], &["../d/a.py", "../d/e/b.py"]),
        ("outside", &["--root", root, "c"], &[absolute.as_str()]),
    ] {
        let paths = |format: &str| {
            let mut command = fixture.command();
            command.current_dir(fixture.at(folder)).args(["check", "--format", format]).args(arguments);
            let text = String::from_utf8(command.output().unwrap().stdout).unwrap();
            let path = |line: &str| {
                let place = line.strip_prefix(" --> ").or(line.strip_prefix("error "))?;
                Some(place.split_once(":2:1")?.0.to_owned())
            };
            text.lines().filter_map(path).collect::<Vec<_>>()
        };
        assert_eq!(paths("concise"), expected, "{folder} {arguments:?}");
        assert_eq!(paths("text"), expected, "{folder} {arguments:?}");
    }
}

#[test]
fn statistics_count_each_code() {
    let statistics = check(&fixture(), &["--statistics"], 1).stdout;
    let mut lines = statistics.lines();
    assert_eq!(lines.next(), Some("2         no-todo, 2 block"), "{statistics}");
    assert!(statistics.contains("\n1         no-maybe\n"), "{statistics}");
    assert!(lines.last().unwrap().starts_with("found     2 files judged"), "{statistics}");
    assert_eq!(check(&fixture(), &["--statistics", "--format", "json"], 2).stdout, "");
}

#[test]
fn statistics_are_quiet_or_verbose() {
    let fixture = fixture();
    let quiet = check(&fixture, &["--statistics", "-q"], 1).stdout;
    assert!(quiet.starts_with("2         no-todo, 2 block\n"), "{quiet}");
    assert!(!quiet.contains("no-maybe") && !quiet.contains("files judged"), "{quiet}");
    let verbose = check(&fixture, &["--statistics", "-v"], 1).stdout;
    assert!(verbose.contains("\ngate      no-maybe: found 1"), "{verbose}");
    write(&fixture, &[("a.txt", "TODO\nmaybe\n"), ("d/b c.py", GOOD)]);
    assert_eq!(check(&fixture, &["--statistics", "-q"], 0).stdout, "");
}

#[test]
fn a_report_for_gitlab_has_all_that_it_requires() {
    let fixture = fixture();
    let report: Value = serde_json::from_str(&check(&fixture, &["--format", "gitlab"], 1).stdout).unwrap();
    let entries = report.as_array().unwrap();
    let first = &entries[0];
    assert_eq!((&first["check_name"], &first["severity"]), (&"no-todo".into(), &"major".into()));
    assert_eq!(first["location"], serde_json::json!({"path": "a.txt", "lines": {"begin": 2}}));
    let mut prints: Vec<&str> = entries.iter().map(|entry| entry["fingerprint"].as_str().unwrap()).collect();
    prints.sort_unstable();
    prints.dedup();
    assert_eq!(prints.len(), entries.len(), "each finding has a fingerprint of its own");
    assert!(entries.iter().any(|entry| entry["severity"] == "minor"), "{report}");
    write(&fixture, &[("a.txt", "\n\n\nTODO\n\u{1d11e}\u{1d11e} TODO TODO maybe\n")]);
    let moved: Value = serde_json::from_str(&check(&fixture, &["--format", "gitlab"], 1).stdout).unwrap();
    let print = |of: &Value| of[0]["fingerprint"].clone();
    assert_eq!(print(&moved), print(&report), "a finding that moved is the same");
}

#[test]
fn a_junit_report_fails_where_a_finding_blocks() {
    let fixture = fixture();
    write(&fixture, &[("<&\"good\"\u{ffff}.py", GOOD)]);
    let xml = check(&fixture, &["--format", "junit"], 1).stdout;
    let report = quick_junit::Report::deserialize_from_str(&xml).unwrap();
    let suites: Vec<(&str, usize, usize)> =
        report.test_suites.iter().map(|suite| (suite.name.as_str(), suite.tests, suite.failures)).collect();
    // XML has no U+FFFF, so no parser would read the report.
    assert_eq!(suites, [("<&\"good\"\u{fffd}.py", 1, 0), ("a.txt", 3, 2), ("d/b c.py", 1, 1)], "{xml}");
    let case = &report.test_suites[1].test_cases[0];
    assert_eq!(case.name.as_str(), "2:4 no-todo");
    let clean = project();
    commit(&clean, &[("a.py", GOOD)]);
    let xml = check(&clean, &["--format", "junit"], 0).stdout;
    assert!(quick_junit::Report::deserialize_from_str(&xml).unwrap().test_suites.is_empty(), "{xml}");
    let refused = check(&clean, &["--format", "junit", "--base", "none"], 2).stdout;
    assert_eq!(quick_junit::Report::deserialize_from_str(&refused).unwrap().errors, 1, "{refused}");
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
        results.iter().map(|it| it["partialFingerprints"]["lockgateFinding/v2"].as_str().unwrap()).collect();
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
        assert!(prints.contains(&it["partialFingerprints"]["lockgateFinding/v2"].as_str().unwrap()));
    }
}

#[test]
fn logs_are_valid_by_the_schema() {
    let Some(python) = python() else { return };
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
    assert!(output.stderr.contains("hint      name a file that can be written"), "{}", output.stderr);
    assert!(output.stdout.contains("a TODO, 100%"), "the results are printed: {}", output.stdout);
    for (format, document) in [("text", ""), ("json", "\"code\":\"FILE_NOT_FOUND\"")] {
        let arguments = ["nofile.py", "--format", format, "--sarif", "/nowhere/at/all.sarif"];
        let output = check(&fixture, &arguments, 3);
        assert!(output.stdout.contains(document), "{format}: {}", output.stdout);
        assert!(output.stderr.contains("IO_FAILED: cannot write /nowhere/at/all.sarif"), "{}", output.stderr);
        assert!(output.stderr.contains("FILE_NOT_FOUND"), "the first error is reported: {}", output.stderr);
    }
}
