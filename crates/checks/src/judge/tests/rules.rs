//! The policy's rules about findings: level, minimum severity, baseline, required gates.

use super::*;

/// A gate whose lines are `severity message`, for each line that begins with one.
fn grave(options: &str) -> Trial {
    let script = r"grep -nE '^(error|warning|info) ' | sed 's/^\([0-9]*\):\([a-z]*\) /\1:\2:/'";
    let output = r"{ regex: '^(?P<line>\d+):(?P<severity>\w+):(?P<message>.*)$' }";
    Define::default().gate("grave", script, output, "").policy(&format!("{{ tool: grave{options} }}"), "")
}

#[test]
fn a_finding_blocks_when_it_is_as_grave_as_the_policy_says() {
    let text = "error a\nwarning b\ninfo c\n";
    let lines = |options: &str| blocked(&grave(options).judge("a.txt", None, text));
    assert_eq!(lines(""), [1]);
    assert_eq!(lines(", fail_on: warning"), [1, 2]);
    assert_eq!(lines(", fail_on: info"), [1, 2, 3]);
    assert_eq!(lines(", fail_on: info, level: warn"), [0; 0]);
}

#[test]
fn how_grave_a_finding_is_stays_but_where_the_gate_only_warns() {
    use Severity::{Error, Info, Warning};
    let text = "error a\nwarning b\ninfo c\n";
    let severities = |options: &str| -> Vec<Severity> {
        grave(options).judge("a.txt", None, text).findings.iter().map(|it| it.severity).collect()
    };
    assert_eq!(severities(""), [Error, Warning, Info]);
    assert_eq!(severities(", level: warn"), [Warning, Warning, Info]);
}

#[test]
fn the_baseline_says_which_findings_count() {
    let script =
        format!("echo other.txt:1:bad:there; {} | sed 's/^/{{path}}:/'", FINDER.replace("bad[a-z]*", "bad"));
    let script = script.replace("sed 's/^/{path}:/'", "sed \"s#^#$1:#\"");
    let lines = |baseline: &str| {
        let define = Define::default().gate("finder", &script, FILES, "");
        let trial = define.policy("{ tool: finder }", &format!("baseline: {baseline}"));
        trial.write("other.txt", "x\n");
        let verdict = trial.judge("a.txt", Some("bad\nx\nbad y\n"), "bad\nx\nbad z\nbad new\n");
        assert_eq!(found(&verdict), [(1, false), (1, false), (3, false), (4, true)], "{baseline}");
        let mut lines: Vec<_> =
            verdict.blocking().map(|it| (it.elsewhere.clone().unwrap_or_default(), it.line)).collect();
        lines.sort_unstable();
        lines
    };
    let in_draft = |lines: &[usize]| -> Vec<(String, usize)> {
        lines.iter().map(|line| (String::new(), *line)).collect()
    };
    assert_eq!(lines("new"), in_draft(&[4]));
    assert_eq!(lines("edited_lines"), in_draft(&[3, 4]), "the third line is written anew");
    assert_eq!(lines("file"), in_draft(&[1, 3, 4]));
    assert_eq!(lines("all"), [in_draft(&[1, 3, 4]), vec![("other.txt".to_owned(), 1)]].concat());
}

#[test]
fn an_old_finding_that_counts_is_reported_as_old() {
    let verdict = finder("", "baseline: file").judge("a.txt", Some("bad\n"), "bad\nx\n");
    let [old] = &verdict.findings[..] else { panic!("{:?}", verdict.findings) };
    assert_eq!((old.fresh, old.counts, old.blocking), (false, true, true));
    let softened = verdict.softened(None);
    assert_eq!((softened.findings[0].counts, softened.refuses()), (true, false));
}

#[test]
fn what_edits_cross_on_their_way_warns() {
    let more = "transitional: { always: ['^badly '], adding_imports: ['seen badname$'] }";
    let trial = Define::default().gate("finder", FINDER, LINES, more).policy("{ tool: finder }", "");
    let lines = |before: &str, after: &str| blocked(&trial.judge("a.py", Some(before), after));
    let none: [usize; 0] = [];
    assert_eq!(lines("x = 1\n", "x = 1\nbadly = 1\n"), none);
    assert_eq!(lines("x = 1\n", "x = 1\nbad = 1\n"), [2], "another one");
    assert_eq!(lines("x = 1\n", "x = 1\nbadname\n"), [2], "no import is added");
    assert_eq!(lines("import a\n", "import a\nbadname\n"), [2], "there was one");
    assert_eq!(lines("x = 1\n", "import a\nx = 1\nbadname\n"), none);
    let verdict = trial.judge("a.py", None, "badly = 1\n");
    let findings: Vec<_> =
        verdict.findings.iter().map(|it| (it.fresh, it.counts, it.message.as_str())).collect();
    assert_eq!(findings, [(true, true, "seen badly (tolerated in a single edit)")]);
}

#[test]
fn an_explicit_level_blocks_also_what_edits_cross_on_their_way() {
    let more = "transitional: { always: ['^badly '] }";
    let lines = |options: &str| {
        let define = Define::default().gate("finder", FINDER, LINES, more);
        let trial = define.policy(&format!("{{ tool: finder{options} }}"), "");
        blocked(&trial.judge("a.py", Some("x = 1\n"), "x = 1\nbadly = 1\n"))
    };
    assert_eq!(lines(", level: block"), [2]);
    // The control: what the default lets pass.
    assert_eq!(lines(""), [0; 0]);
    assert_eq!(lines(", level: warn"), [0; 0]);
}

#[test]
fn one_step_of_several_softens_a_default_and_no_explicit_level() {
    let judged = |options: &str, step_mode: StepMode, text: &str| {
        let define = Define::default().gate("finder", FINDER, LINES, "in_steps: warn");
        let trial = define.policy(&format!("{{ tool: finder{options} }}"), "");
        let verdict = trial.judge_step(step_mode, "a.txt", Some("x\n"), text);
        (blocked(&verdict), verdict.runs[0].softened)
    };
    assert_eq!(judged("", StepMode::Step, "x\nbad\n"), (vec![], true));
    assert_eq!(judged(", level: block", StepMode::Step, "x\nbad\n"), (vec![2], false));
    assert_eq!(judged(", level: warn", StepMode::Step, "x\nbad\n"), (vec![], false));
    assert_eq!(judged("", StepMode::Plain, "x\nbad\n"), (vec![2], false));
    assert_eq!(judged("", StepMode::Step, "x\ny\n"), (vec![], false), "nothing was found");
}

#[test]
fn one_step_of_several_makes_no_fixer_of_an_explicit_check() {
    let outcome = |options: &str| {
        let define = Define::default().gate("fixer", "sed s/bad/good/", TEXT, "in_steps: fix");
        let trial = define.policy(&format!("{{ tool: fixer{options} }}"), "");
        let verdict = trial.judge_step(StepMode::Step, "a.txt", Some("x\n"), "x\nbad\n");
        (verdict.fixed.is_some(), verdict.runs[0].outcome)
    };
    assert_eq!(outcome(""), (true, Outcome::Fixed));
    assert_eq!(outcome(", role: check"), (false, Outcome::Found));
}

#[test]
fn a_required_gate_that_could_not_look_refuses() {
    let define = |script: &str, more: &str| {
        let trial = |required: bool| {
            let define = Define::default().gate("finder", script, LINES, more);
            define.policy(&format!("{{ tool: finder, required: {required}, timeout: 1s }}"), "")
        };
        let judged = |required: bool| {
            let verdict = trial(required).judge("a.txt", None, "x\n");
            (verdict.runs[0].outcome, verdict.runs[0].blocking, verdict.refuses())
        };
        let (with, without) = (judged(true), judged(false));
        assert_eq!((without.0, without.1, without.2), (with.0, false, false), "{script}");
        with
    };
    assert_eq!(define(FINDER, ""), (Outcome::Passed, false, false));
    assert_eq!(define("exit 9", ""), (Outcome::Broken, true, true));
    assert_eq!(define("sleep 60", ""), (Outcome::TimedOut, true, true));
    assert_eq!(define(FINDER, "bin: [no-such-program]"), (Outcome::Unavailable, true, true));
}

#[test]
fn a_required_gate_that_may_not_run_rejects_and_one_that_does_not_apply_does_not() {
    let mut trial = finder(", required: true", "");
    trial.permission = ExecPermission::Untrusted("nobody did".to_owned());
    assert!(trial.judge("a.txt", None, "x\n").refuses());
    for idle in [", enabled: false", ", on: [check]"] {
        let trial = finder(&format!(", required: true{idle}"), "");
        assert!(!trial.judge("a.txt", None, "bad\n").refuses(), "{idle}");
    }
}
