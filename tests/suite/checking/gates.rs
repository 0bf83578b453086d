//! Gates that run programs, and those that cannot.

use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::super::trust::fixture::{Fixture, policy};
use super::super::wire::outcome;
use super::{BAD, GOOD, check, commit, git, json, project, write};

/// A program that finds each line with `bad` in it.
const FINDS: &str = "#!/bin/sh\necho \"$0\" >> '{FIXTURE}/outside/ran'\ngrep -n bad || true\n";

/// A policy whose gate `it` runs `it`, with these options.
fn finds(options: &str) -> String {
    format!(
        "quality_gates: {{ python: [{{ tool: it{options} }}] }}\ndefine:\n  it:\n    about: Finds what is bad.\n    \
         languages: [python]\n    kind: command\n    input: stdin\n    command: [it, \"{{path}}\"]\n    bin: [it]\n    \
         output: {{ regex: '^(?P<line>\\d+):(?P<message>.*)$' }}\n"
    )
}

/// A project with one such gate, an old finding of it, and a new one.
fn fixture(options: &str, program: Option<&str>) -> Fixture {
    let mut fixture = project();
    fixture.path = format!("{}:/usr/bin:/bin", fixture.at("bin").display());
    if let Some(program) = program {
        fixture.write("bin/it", program);
        fixture.executable("bin/it");
    }
    commit(&fixture, &[("quality.yaml", &finds(options)), ("a.py", "# bad one\n")]);
    write(&fixture, &[("a.py", "# moved\n# bad one\n# bad two\n")]);
    fixture
}

fn sarif(fixture: &Fixture, arguments: &[&str], exit: i32) -> Value {
    serde_json::from_str(&check(fixture, &[arguments, &["--format", "sarif"]].concat(), exit).stdout).unwrap()
}

#[test]
fn a_program_runs_only_when_it_is_trusted() {
    let fixture = fixture("", Some(FINDS));
    let text = check(&fixture, &[], 0).stdout;
    assert!(text.contains("gate      it not run for 1 file: the commands of"), "{text}");
    assert!(fixture.ran().is_empty());
    let log = sarif(&fixture, &[], 0);
    let notes = &log["runs"][0]["invocations"][0]["toolExecutionNotifications"];
    assert!(notes[0]["message"]["text"].as_str().unwrap().contains("not run"), "{notes}");
    let answer = json(&fixture, &["--trust"], 1);
    assert!(!fixture.ran().is_empty());
    assert_eq!((&answer["counts"]["blocking"], &answer["counts"]["old"]), (&1.into(), &1.into()));
    assert_eq!(
        (&answer["findings"][0]["line"], &answer["findings"][0]["message"]),
        (&3.into(), &"# bad two".into())
    );
    fixture.trust(".");
    check(&fixture, &[], 1);
}

/// The command in the hint is that of the policy that needs it, from the current folder.
#[test]
fn the_command_that_trusts_a_nested_policy_is_named() {
    let nested = format!("extends: parent\n{}", finds(""));
    let own = |folder: &str| (format!("{folder}/quality.yaml"), nested.clone());
    let fixture = project();
    fixture.write("bin/it", FINDS);
    fixture.executable("bin/it");
    commit(&fixture, &[("quality.yaml", "extends: default\n"), ("app.py", "x = 1\n")]);
    for (path, text) in ["api", "b c", "d", "e"].map(own) {
        write(&fixture, &[(path.as_str(), text.as_str())]);
    }
    write(&fixture, &[("api/a.py", "x = 1\n"), ("b c/a.py", ""), ("d/a.py", ""), ("e/a.py", "")]);
    let hint = |folder: &str, paths: &[&str]| {
        let mut command = fixture.command();
        command.current_dir(fixture.at(folder)).arg("check").args(paths);
        let text = outcome(&command.output().unwrap()).stdout;
        let line = text.lines().find(|line| line.starts_with("gate ")).unwrap_or_else(|| panic!("{text}"));
        line.rsplit_once("; ").unwrap().1.to_owned()
    };
    assert_eq!(hint("root", &["api/a.py"]), "`lockgate trust api` or --trust lets it run");
    assert_eq!(hint("root/api", &["a.py"]), "`lockgate trust` or --trust lets it run");
    assert_eq!(hint("root/d", &["../api"]), "`lockgate trust ../api` or --trust lets it run");
    assert_eq!(
        hint("root", &[]),
        "`lockgate trust api` and `lockgate trust 'b c'` and `lockgate trust d` and 1 more or --trust lets it run"
    );
    // The command works.
    fixture.trust("api");
    assert!(!check(&fixture, &["api/a.py"], 0).stdout.contains("not run"));
}

#[test]
fn a_gate_that_cannot_run_is_reported_and_fails_where_required() {
    let fails = "#!/bin/sh\ncat > /dev/null\nexit 3\n";
    let hangs = "#!/bin/sh\nexec sleep 60\n";
    for (program, options, outcome) in [
        (None, "", "unavailable"),
        (Some(fails), "", "broken"),
        (Some(hangs), ", timeout: 200ms", "timed_out"),
    ] {
        let lax = fixture(options, program);
        let answer = json(&lax, &["--trust"], 0);
        assert_eq!(answer["gates"][0]["outcomes"][outcome], 1, "{answer:#}");
        let log = sarif(&lax, &["--trust"], 0);
        let invocation = &log["runs"][0]["invocations"][0];
        assert_eq!(invocation["executionSuccessful"], true);
        let notification = &invocation["toolExecutionNotifications"][0];
        assert_eq!(notification["level"], "warning");
        assert!(notification["message"]["text"].as_str().unwrap().contains(" for 1 file: "), "{log:#}");
        let reported = |fixture: &Fixture, exit: i32| {
            let gitlab = check(fixture, &["--trust", "--format", "gitlab"], exit).stdout;
            let gitlab: Value = serde_json::from_str(&gitlab).unwrap();
            let junit = check(fixture, &["--trust", "--format", "junit"], exit).stdout;
            let junit = quick_junit::Report::deserialize_from_str(&junit).unwrap();
            let own = junit.test_suites.iter().find(|suite| suite.name.as_str() == "lockgate").unwrap();
            assert_eq!((own.tests, own.test_cases[0].name.as_str()), (1, "it"));
            assert_eq!(gitlab[0]["check_name"], "it");
            assert_eq!(gitlab[0]["location"]["path"], "a.py", "{gitlab:#}");
            (gitlab[0]["severity"].as_str().unwrap().to_owned(), own.skipped, own.errors)
        };
        assert_eq!(reported(&lax, 0), ("info".to_owned(), 1, 0), "{outcome}");
        let strict = fixture(&format!("{options}, required: true"), program);
        let answer = json(&strict, &["--trust"], 1);
        assert_eq!((&answer["success"], &answer["gates"][0]["blocking"]), (&false.into(), &true.into()));
        let log = sarif(&strict, &["--trust"], 1);
        let invocation = &log["runs"][0]["invocations"][0];
        assert_eq!(invocation["executionSuccessful"], false);
        assert_eq!(invocation["toolExecutionNotifications"][0]["level"], "error");
        assert_eq!(reported(&strict, 1), ("blocker".to_owned(), 0, 1), "{outcome}");
        let annotations = check(&strict, &["--trust", "--format", "github"], 1).stdout;
        assert!(
            annotations.starts_with("::error title=it::it is required and could not run"),
            "{annotations}"
        );
        assert!(check(&strict, &["--trust"], 1).stdout.contains("required but could not run: it"));
    }
}

#[test]
fn files_that_no_gate_judged_are_not_called_clean() {
    let none = project();
    commit(&none, &[("quality.yaml", "quality_gates: {}\n")]);
    write(&none, &[("a.py", GOOD)]);
    let missing = fixture("", None);
    for (unjudged, reported) in [(&none, 0), (&missing, 1)] {
        let text = check(unjudged, &["--trust"], 0).stdout;
        let last = text.lines().last().unwrap();
        assert!(last.starts_with("unjudged  0 files judged against HEAD ("), "{text}");
        assert!(last.ends_with("nothing new; no gate of the policy judged 1 file"), "{text}");
        assert_eq!(json(unjudged, &["--trust"], 0)["status"], "unjudged");
        let junit = check(unjudged, &["--trust", "--format", "junit"], 0).stdout;
        let junit = quick_junit::Report::deserialize_from_str(&junit).unwrap();
        let skipped: Vec<usize> = junit.test_suites.iter().map(|suite| suite.skipped).collect();
        assert_eq!(skipped, vec![1; 1 + reported]);
    }
    let both = project();
    let policy = "quality_gates: { python: [{ tool: syntax }] }\n";
    commit(&both, &[("quality.yaml", policy)]);
    write(&both, &[("a.py", GOOD), ("a.txt", "x\n")]);
    let text = check(&both, &[], 0).stdout;
    assert!(text.contains("clean     1 file judged against HEAD ("), "{text}");
    assert!(text.contains("nothing new; no gate of the policy judged 1 file\n"), "{text}");
}

#[test]
fn a_required_gate_that_leaves_the_file_out_is_named() {
    let ignores = "#!/bin/sh\ncat > /dev/null\necho excluded\n";
    let checked = |options: &str| {
        let fixture = fixture(options, Some(ignores));
        let policy = finds(options) + "    unseen: '^excluded$'\n";
        commit(&fixture, &[("quality.yaml", &policy), ("a.py", GOOD)]);
        write(&fixture, &[("a.py", "x = 1\n")]);
        let line =
            "gate      it skipped for 1 file: ignored the file: excluded; the policy requires this gate\n";
        let text = check(&fixture, &["--trust"], 0).stdout;
        let verbose = check(&fixture, &["--trust", "-v"], 0).stdout;
        assert!(verbose.contains("gate      it: skipped 1 (ignored the file: excluded); "), "{verbose}");
        let why = json(&fixture, &["--trust"], 0)["gates"][0]["why"].clone();
        (text.contains(line), why)
    };
    assert_eq!(
        checked(", required: true"),
        (true, serde_json::json!({"skipped": "ignored the file: excluded"}))
    );
    assert_eq!(checked(""), (false, Value::Null), "the control");
}

#[test]
fn verbose_results_tell_why_a_gate_never_ran() {
    let fixture = project();
    commit(&fixture, &[("quality.yaml", "quality_gates: { python: [{ tool: syntax }, { tool: gofmt }] }\n")]);
    write(&fixture, &[("a.py", GOOD), ("b.py", GOOD)]);
    let verbose = check(&fixture, &["-v"], 0).stdout;
    assert!(verbose.contains("gate      gofmt: skipped 2 (not for this language); "), "{verbose}");
    assert!(!check(&fixture, &[], 0).stdout.contains("gofmt"), "the control");
}

#[test]
fn a_warning_is_reported_and_fails_nothing() {
    let fixture = fixture(", level: warn", Some(FINDS));
    let text = check(&fixture, &["--trust"], 0).stdout;
    assert!(text.contains("warning: # bad two") && text.contains("1 finding that blocks nothing"), "{text}");
    let annotations = check(&fixture, &["--trust", "--format", "github"], 0).stdout;
    assert!(
        annotations.starts_with("::warning file=a.py,line=3,col=1,title=it::# bad two\n"),
        "{annotations}"
    );
    assert_eq!(sarif(&fixture, &["--trust"], 0)["runs"][0]["results"][0]["level"], "warning");
}

#[test]
fn the_policy_decides_when_a_gate_runs() {
    let fixture = project();
    let policy = "quality_gates: { '*': [{ tool: at-check, on: [check] }, { tool: at-edit, on: [edit] }] }\ndefine:\n  \
                  at-check: { about: X., kind: pattern, languages: ['*'], must_not_match: bad, message: at check }\n  \
                  at-edit: { about: X., kind: pattern, languages: ['*'], must_not_match: bad, message: at edit }\n";
    commit(&fixture, &[("quality.yaml", policy)]);
    write(&fixture, &[("a.txt", "bad\n")]);
    let answer = json(&fixture, &[], 1);
    let findings = answer["findings"].as_array().unwrap();
    assert_eq!((findings.len(), &findings[0]["gate"]), (1, &"at-check".into()));
    fixture.write("request.json", "{\"path\": \"a.txt\", \"content\": \"bad\\nx\\n\"}");
    let request = fixture.at("request.json");
    let response = json(&fixture, &["--request", request.to_str().unwrap()], 0);
    assert_eq!(
        response["counts"]["judged"], 1,
        "an edit of a file that was bad before adds nothing: {response:#}"
    );
}

#[test]
fn a_fixer_only_checks() {
    let mut fixture = project();
    fixture.path = format!("{}:/usr/bin:/bin", fixture.at("bin").display());
    fixture.write("bin/it", "#!/bin/sh\nsed 's/bad/good/'\n");
    fixture.executable("bin/it");
    let formats = "quality_gates: { python: [{ tool: it }] }\ndefine:\n  it:\n    about: Mends what is bad.\n    languages: [python]\n    \
                   kind: command\n    role: fix\n    input: stdin\n    command: [it]\n    bin: [it]\n    output: { text: formatted }\n";
    commit(&fixture, &[("quality.yaml", formats), ("a.py", "x = 1\n")]);
    write(&fixture, &[("a.py", "x = 1  # bad\n")]);
    let answer = json(&fixture, &["--trust"], 1);
    assert_eq!((&answer["findings"][0]["gate"], &answer["findings"][0]["new"]), (&"it".into(), &true.into()));
    assert_eq!(std::fs::read_to_string(fixture.at("root/a.py")).unwrap(), "x = 1  # bad\n");
    assert_eq!(git(&fixture, "root", &["status", "--porcelain"]), "M a.py");
}

#[test]
fn findings_in_another_file_are_reported_once() {
    let mut fixture = project();
    fixture.path = format!("{}:/usr/bin:/bin", fixture.at("bin").display());
    // It tells of every file that has `bad` in it, whichever it is asked about; the draft comes on standard input.
    fixture.write("bin/it", "#!/bin/sh\nown=${1##*/}\ngrep -n bad | sed \"s/^/$own:/\"\nfor f in *.py; do [ \"$f\" = \"$own\" ] || grep -n bad \"$f\" /dev/null; done; true\n");
    fixture.executable("bin/it");
    let policy = finds("").replace("'^(?P<line>", "'^(?P<file>[^:]+):(?P<line>");
    commit(&fixture, &[("quality.yaml", &policy), ("a.py", GOOD), ("b.py", GOOD), ("c.py", "# bad\n")]);
    write(&fixture, &[("a.py", "# bad a\n"), ("b.py", "# bad b\n")]);
    let answer = json(&fixture, &["--trust"], 1);
    let findings: Vec<(&str, bool)> = answer["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (it["path"].as_str().unwrap(), it["new"].as_bool().unwrap()))
        .collect();
    assert_eq!(findings, [("a.py", true), ("b.py", true), ("c.py", false)], "{answer:#}");
}

#[test]
fn a_signal_ends_a_check_and_its_programs() {
    let mut fixture = project();
    fixture.path = format!("{}:/usr/bin:/bin", fixture.at("bin").display());
    fixture.write("bin/it", "#!/bin/sh\necho $$ > '{FIXTURE}/outside/pid'\nexec sleep 600\n");
    fixture.executable("bin/it");
    commit(
        &fixture,
        &[("quality.yaml", &policy("[it]").replace("kind: command", "kind: command\n    timeout: 10m"))],
    );
    write(&fixture, &[("a.py", BAD), ("b.py", GOOD)]);
    let mut child = fixture.command();
    let mut child =
        child.args(["check", "--trust"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let start = Instant::now();
    let waits = |is_done: &dyn Fn() -> bool| {
        while !is_done() {
            assert!(start.elapsed() < Duration::from_secs(60), "waited in vain");
            std::thread::sleep(Duration::from_millis(10));
        }
    };
    let pid = || std::fs::read_to_string(fixture.at("outside/pid")).unwrap_or_default().trim().to_owned();
    waits(&|| !pid().is_empty());
    let program = pid();
    let sent = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    assert_eq!(child.wait().unwrap().code(), Some(70));
    waits(&|| !std::path::Path::new("/proc").join(&program).exists());
}
