//! The order in which gates run, and the outcomes of those that do not.

use parking_lot::Mutex;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::super::plan::GatePlan;
use super::*;
use crate::runtime::ProgramKind;

const WORDS: &str = "define:
  no-todo: { about: A., languages: ['*'], kind: pattern, must_not_match: TODO, message: seen TODO }
  no-xxx: { about: A., languages: ['*'], kind: pattern, must_not_match: XXX, message: seen XXX }
  no-go: { about: A., languages: [go], kind: pattern, must_not_match: a, message: seen a }
";

fn words(rules: &str) -> Trial {
    Trial::new(&format!("{WORDS}quality_gates: {{ '*': [{rules}] }}"))
}

#[test]
fn old_findings_are_reported_and_only_new_errors_block() {
    let trial = words("{ tool: no-todo }, { tool: no-xxx, level: warn }, { tool: no-go }");
    let verdict = trial.judge("a.go", Some("x TODO\n"), "x TODO\ny TODO\nz XXX\n");
    let all: Vec<_> = outcomes(&verdict).into_iter().map(|(_, outcome, _)| outcome).collect();
    assert_eq!(all, [Outcome::Found, Outcome::Found, Outcome::Passed]);
    let (error, warning) = (Severity::Error, Severity::Warning);
    let findings: Vec<_> = verdict
        .findings
        .iter()
        .map(|found| (found.line, found.severity, found.fresh, found.blocking))
        .collect();
    assert_eq!(findings, [(2, error, true, true), (3, warning, true, false), (1, error, false, false)]);
    assert_eq!(verdict.findings[0].gate, "no-todo");
}

#[test]
fn files_as_they_are_are_checked_by_the_command_for_the_whole_project() {
    let is_server = |word: &str, profile| {
        let trial = Trial::new(&format!(
            "define:\n  types:\n    about: Made up.\n    languages: ['*']\n    kind: server\n    server: {{ command: [sh] }}\n    \
             input: staged\n    scope: project\n    command: [sh, '{{{word}}}']\n    output: {FILES}\n\
             quality_gates: {{ '*': [{{ tool: types }}] }}\n"
        ));
        trial.runtime.keep_servers();
        let text = Buffer::read(b"x\n".to_vec(), Hints::default()).unwrap();
        let draft = Draft {
            path: "a.txt",
            language: None,
            before: None,
            after: &text,
            map: &LineMap::default(),
            input_location: InputLocation::OverFile,
            files_exist: &|_| false,
        };
        let env = GateEnv {
            root: trial.project.path(),
            exec_permission: &trial.permission,
            runtime: &trial.runtime,
            isolation: Isolation::None,
            cache: None,
        };
        let plan = GatePlan::new(&trial.policy.effective_rules("a.txt", None, profile), &draft, &env);
        matches!(plan.checks[0].how.program.kind, ProgramKind::Server(_))
    };
    assert!(!is_server("root", Profile::Check));
    // The controls: an edit asks the server, and so does a check where the command gets the changed files only.
    assert!(is_server("root", Profile::Edit) && is_server("root", Profile::Batch));
    assert!(is_server("paths", Profile::Check));
}

#[test]
fn a_gate_that_did_not_look_has_not_passed() {
    let rules =
        "{ tool: no-todo, enabled: false }, { tool: no-go }, { tool: no-xxx, on: [check] }, { tool: syntax }";
    let verdict = words(rules).judge("a.txt", None, "a b\n");
    let skipped = |gate, why| (gate, Outcome::Skipped, why);
    assert_eq!(
        outcomes(&verdict),
        [
            skipped("no-todo", "disabled in the policy"),
            skipped("no-go", "not for this language"),
            skipped("no-xxx", "runs in check only"),
            skipped("syntax", "not for this language"),
        ]
    );
}

#[test]
fn no_program_runs_on_a_draft_that_an_in_process_gate_rejects() {
    let log = "echo run >> '{project}/log'; cat";
    let define = Define::default().gate("finder", log, LINES, "").gate("mender", log, TEXT, "role: fix");
    let trial = define.policy("{ tool: mender }, { tool: finder }, { tool: syntax }", "");
    let verdict = trial.judge("a.json", None, "{");
    let why = "syntax already rejects the draft";
    assert_eq!(
        outcomes(&verdict),
        [
            ("mender", Outcome::Skipped, why),
            ("finder", Outcome::Skipped, why),
            ("syntax", Outcome::Found, "")
        ]
    );
    assert_eq!((blocked(&verdict), trial.runs("log")), (vec![1], 0));
    trial.judge("a.json", None, "{}");
    assert!(trial.runs("log") > 0, "it is asked about one that is not refused");
}

#[test]
fn a_program_runs_only_when_it_may_and_is_there() {
    let define = Define::default().gate("finder", FINDER, LINES, "").gate(
        "absent",
        FINDER,
        LINES,
        "bin: [no-such-program]",
    );
    let mut trial = define.policy("{ tool: finder }, { tool: absent }", "");
    let verdict = trial.judge("a.txt", None, "bad\n");
    let absent = ("absent", Outcome::Unavailable, "no no-such-program in the search path");
    assert_eq!(outcomes(&verdict), [("finder", Outcome::Found, ""), absent]);
    assert!(!verdict.runs.iter().any(|run| run.withheld));
    trial.permission = ExecPermission::Untrusted("nobody did".to_owned());
    let verdict = trial.judge("a.txt", None, "bad\n");
    let withheld = |gate| (gate, Outcome::Skipped, "nobody did");
    assert_eq!(outcomes(&verdict), [withheld("finder"), withheld("absent")]);
    assert!(verdict.runs.iter().all(|run| run.withheld) && !verdict.refuses());
}

#[test]
fn a_gate_that_panics_is_broken() {
    let trial = Trial::new("quality_gates: { '*': [{ tool: markdown-structure }, { tool: syntax }] }");
    let verdict = trial.judge("a.md", None, "# a\n\n[a](panic)\n");
    assert_eq!(outcomes(&verdict)[0], ("markdown-structure", Outcome::Broken, "the gate panicked"));
    assert_eq!(outcomes(&verdict)[1].1, Outcome::Passed);
}

#[test]
fn every_gate_is_reported_and_none_runs_for_a_caller_that_has_gone() {
    let reported = Arc::new(Mutex::new(Vec::new()));
    let (reports, token) = (Arc::clone(&reported), CancellationToken::new());
    let leave = token.clone();
    let progress = move |gate: &str, done, total| {
        reports.lock().push((gate.to_owned(), done, total));
        if done == 1 {
            leave.cancel();
        }
    };
    let watch = Watch::new(token, Some(Box::new(progress)));
    let verdict = words("{ tool: no-todo }, { tool: no-xxx }").watched("a.txt", None, "c\n", &watch);
    assert_eq!(
        outcomes(&verdict),
        [("no-todo", Outcome::Passed, ""), ("no-xxx", Outcome::Skipped, "cancelled")]
    );
    assert_eq!(*reported.lock(), [("no-todo".to_owned(), 0, 2), ("no-xxx".to_owned(), 1, 2)]);
}

#[test]
fn what_is_reported_of_programs_side_by_side_only_grows() {
    let reported = Arc::new(Mutex::new(Vec::new()));
    let reports = Arc::clone(&reported);
    let progress = move |_: &str, done: usize, total| reports.lock().push((done, total));
    let watch = Watch::new(CancellationToken::new(), Some(Box::new(progress)));
    let define =
        ["a", "b", "c"].iter().fold(Define::default(), |all, name| all.gate(name, FINDER, LINES, ""));
    let trial = define.policy("{ tool: syntax }, { tool: a }, { tool: b }, { tool: c }", "");
    trial.watched("a.json", None, "{}", &watch);
    assert_eq!(*reported.lock(), [(0, 4), (1, 4), (2, 4), (3, 4), (4, 4)]);
}
