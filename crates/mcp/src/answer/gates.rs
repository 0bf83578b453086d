//! Renders gate results: one line for each finding, and notes about gates that did not run.

use super::text::shell_word;
use lockgate_checks::{Finding, GateRun, Outcome, RunReason, Verdict, sanitize};

/// A finding as one line.
pub(super) fn finding_line(finding: &Finding) -> String {
    let Finding { line, column, message, .. } = finding;
    let file = finding.elsewhere.as_ref().map(|path| format!("{path}, ")).unwrap_or_default();
    let name = finding.code.as_ref().unwrap_or(&finding.gate);
    format!("{file}line {line}, column {column}: {name}: {message}")
}

/// Returns the warning for a gate that ran without a result.
pub(super) fn unchecked_warning(run: &GateRun) -> Option<String> {
    let happened = failure(run).filter(|_| run.outcome != Outcome::Unavailable)?;
    Some(format!("{} {happened}, so it did not check the edit", run.gate))
}

/// Returns the error for a gate that the policy requires and that has no result.
pub(super) fn required_error(run: &GateRun) -> Option<String> {
    let happened = failure(run).filter(|_| run.blocking)?;
    Some(format!("{} {happened}, and the policy requires it", run.gate))
}

/// Returns the reason why a gate has no result.
fn failure(run: &GateRun) -> Option<String> {
    let because = |what: &str| match &run.why {
        Some(why) => format!("{what} ({why})"),
        None => what.to_owned(),
    };
    match (run.outcome, run.reason) {
        (Outcome::Skipped, _) if run.withheld => Some(because("did not run")),
        (Outcome::Skipped, RunReason::Project) => {
            Some("is switched off by a comment that the edit adds".to_owned())
        }
        (Outcome::Passed | Outcome::Found | Outcome::Fixed | Outcome::Skipped, _) => None,
        (Outcome::Unavailable, RunReason::Template) => Some(because("could not run")),
        (Outcome::Unavailable, RunReason::NoProgram | RunReason::WeakIsolation) => {
            Some(because("is not available here"))
        }
        (Outcome::Unavailable, _) => Some(because("could not check the file")),
        (Outcome::TimedOut, RunReason::TimeLimit) => run.why.clone(),
        (Outcome::TimedOut, _) if run.why.is_none() => Some("timed out".to_owned()),
        (Outcome::TimedOut, _) => Some(because("gave no answer")),
        (Outcome::Broken, _) => Some(because("is broken")),
    }
}

/// Returns the command with which a person trusts the policy of a path; an empty path is the root.
pub fn trust_command(path: &str) -> String {
    if path.is_empty() { "lockgate trust".to_owned() } else { format!("lockgate trust {}", shell_word(path)) }
}

/// Returns notes about gates that could not run and about gates that changed the draft. `policy_folder` is the folder of
/// the policy, relative to its root.
pub(super) fn notes(verdict: &Verdict, policy_folder: &str) -> Vec<String> {
    let fixed = verdict.runs.iter().filter(|run| run.outcome == Outcome::Fixed || run.partial);
    let changed =
        |run: &GateRun| format!("{} {}", run.gate, run.why.as_deref().unwrap_or("changed the draft"));
    let unavailable =
        |reason| select(verdict, move |run| run.outcome == Outcome::Unavailable && run.reason == reason);
    let softened = select(verdict, |run| run.softened).map(|NamedGates { names, count, .. }| {
        let verb = if count == 1 { "only warns" } else { "only warn" };
        let remedy = "`level: block` in the policy rejects the edit instead";
        format!("{names} {verb} here, because the edit may be one step of several; {remedy}")
    });
    let withheld = select(verdict, |run| run.withheld).map(|NamedGates { names, first_reason, .. }| {
        let remedy = sanitize(&trust_command(policy_folder));
        let reason = first_reason.unwrap_or("not trusted");
        format!(
            "not checked by {names}: {reason}; a person can let the policy's programs run with `{remedy}`"
        )
    });
    let with_reason = [RunReason::Template, RunReason::WeakIsolation, RunReason::Project].map(|reason| {
        let NamedGates { names, first_reason, .. } = unavailable(reason)?;
        Some(format!("not checked by {names}: {}", first_reason.unwrap_or("not available")))
    });
    let absent = unavailable(RunReason::NoProgram).map(|NamedGates { names, count, .. }| {
        let word = if count == 1 { "its program is" } else { "their programs are" };
        format!("not checked by {names}: {word} not available here")
    });
    let notes = [softened, withheld].into_iter().chain(with_reason).chain([absent]).flatten();
    let left_out = verdict.runs.iter().filter(|run| run.reason == RunReason::LeftOut).map(left_out_note);
    fixed.map(changed).chain(notes).chain(other_reasons(verdict)).chain(left_out).collect()
}

/// Returns the note for a required gate that leaves the file out.
fn left_out_note(run: &GateRun) -> String {
    let reason = run.why.as_deref().unwrap_or("left out");
    format!("not checked by {}, which the policy requires ({reason})", run.gate)
}

/// Returns a note for each other reason for which gates could not check the draft.
fn other_reasons(verdict: &Verdict) -> Vec<String> {
    let is_other = |run: &GateRun| {
        let has_no_note = matches!(run.reason, RunReason::Outcome | RunReason::Unread);
        run.outcome == Outcome::Unavailable && has_no_note
    };
    let mut reasons: Vec<Option<&str>> = Vec::new();
    for run in verdict.runs.iter().filter(|run| is_other(run)) {
        if !reasons.contains(&run.why.as_deref()) {
            reasons.push(run.why.as_deref());
        }
    }
    let note = |reason: Option<&str>| {
        let gates = select(verdict, |run| is_other(run) && run.why.as_deref() == reason)?;
        Some(format!("not checked by {}: {}", gates.names, reason.unwrap_or("not available")))
    };
    reasons.into_iter().filter_map(note).collect()
}

/// Gates that one note is about.
struct NamedGates<'v> {
    /// Their names, as in `a, b and c`.
    names: String,
    count: usize,
    /// The reason of the first.
    first_reason: Option<&'v str>,
}

/// Returns the selected gates; `None` if there are none.
fn select(verdict: &Verdict, is_selected: impl Fn(&GateRun) -> bool) -> Option<NamedGates<'_>> {
    let runs: Vec<&GateRun> = verdict.runs.iter().filter(|run| is_selected(run)).collect();
    let first = runs.first()?;
    Some(NamedGates { names: names(&runs), count: runs.len(), first_reason: first.why.as_deref() })
}

/// Joins the names of the gates, as in `a, b and c`.
fn names(runs: &[&GateRun]) -> String {
    let names: Vec<&str> = runs.iter().map(|run| run.gate.as_str()).collect();
    match names.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        Some((one, _)) => (*one).to_owned(),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::gate_run as run;
    use super::*;

    #[test]
    fn gates_that_could_not_be_asked_are_named_in_one_note() {
        let withheld = |gate| GateRun { withheld: true, ..run(gate, Outcome::Skipped, Some("nobody did")) };
        let absent = |gate| GateRun {
            reason: RunReason::NoProgram,
            ..run(gate, Outcome::Unavailable, Some("not in the search path"))
        };
        let runs = vec![
            withheld("ruff"),
            absent("go-vet"),
            withheld("mypy"),
            withheld("black"),
            run("gofmt", Outcome::Fixed, Some("changed 3 lines")),
            run("syntax", Outcome::Skipped, Some("not for this language")),
        ];
        let trust = "a person can let the policy's programs run with `lockgate trust 'a b/c'`";
        assert_eq!(
            notes(&Verdict::new(runs, Vec::new()), "a b/c"),
            [
                "gofmt changed 3 lines".to_owned(),
                format!("not checked by ruff, mypy and black: nobody did; {trust}"),
                "not checked by go-vet: its program is not available here".to_owned(),
            ]
        );
        assert!(notes(&Verdict::default(), "").is_empty());
        let unavailable =
            |gate, reason, why| GateRun { reason, ..run(gate, Outcome::Unavailable, Some(why)) };
        let runs = vec![
            unavailable("ruff", RunReason::WeakIsolation, "the machine has none"),
            unavailable("json", RunReason::Template, "its tags"),
            unavailable("yaml", RunReason::Template, "its tags"),
            unavailable("mypy", RunReason::NoProgram, "a template is only a word here"),
            unavailable("syntax", RunReason::Outcome, "its syntax tree is too large"),
            unavailable("damage", RunReason::Outcome, "it is nested too deeply"),
            unavailable("links", RunReason::Outcome, "its syntax tree is too large"),
            unavailable("go-vet", RunReason::Project, "run `go mod download`, then retry"),
        ];
        assert_eq!(
            notes(&Verdict::new(runs, Vec::new()), ""),
            [
                "not checked by json and yaml: its tags",
                "not checked by ruff: the machine has none",
                "not checked by go-vet: run `go mod download`, then retry",
                "not checked by mypy: its program is not available here",
                "not checked by syntax and links: its syntax tree is too large",
                "not checked by damage: it is nested too deeply",
            ]
        );
        let left_out =
            |gate, why| GateRun { reason: RunReason::LeftOut, ..run(gate, Outcome::Skipped, Some(why)) };
        let runs = vec![
            left_out("eslint", "ignored the file: x"),
            left_out("mypy", "reads the file, but what it checks for is off"),
        ];
        assert_eq!(
            notes(&Verdict::new(runs, Vec::new()), ""),
            [
                "not checked by eslint, which the policy requires (ignored the file: x)",
                "not checked by mypy, which the policy requires (reads the file, but what it checks for is off)",
            ]
        );
        let softened = |gate| GateRun { softened: true, ..run(gate, Outcome::Found, None) };
        assert_eq!(
            notes(&Verdict::new(vec![softened("go-build"), softened("cargo-check")], Vec::new()), ""),
            ["go-build and cargo-check only warn here, because the edit may be one step of several; \
              `level: block` in the policy rejects the edit instead"]
        );
    }

    #[test]
    fn what_became_of_a_gate_is_warned_of_or_refuses() {
        let cases = [
            (run("a", Outcome::Passed, None), None, None),
            (run("a", Outcome::Skipped, Some("disabled")), None, None),
            (
                run("a", Outcome::Broken, Some("exit code 2")),
                Some("a is broken (exit code 2), so it did not check the edit"),
                Some("a is broken (exit code 2), and the policy requires it"),
            ),
            (
                run("a", Outcome::TimedOut, Some("on the text before the edit: timed out")),
                Some(
                    "a gave no answer (on the text before the edit: timed out), so it did not check the edit",
                ),
                Some("a gave no answer (on the text before the edit: timed out), and the policy requires it"),
            ),
            (
                GateRun { reason: RunReason::TimeLimit, ..run("a", Outcome::TimedOut, Some("was late")) },
                Some("a was late, so it did not check the edit"),
                Some("a was late, and the policy requires it"),
            ),
            (
                GateRun { reason: RunReason::Template, ..run("a", Outcome::Unavailable, Some("tags")) },
                None,
                Some("a could not run (tags), and the policy requires it"),
            ),
            (
                GateRun { reason: RunReason::NoProgram, ..run("a", Outcome::Unavailable, Some("no a")) },
                None,
                Some("a is not available here (no a), and the policy requires it"),
            ),
            (
                run("a", Outcome::Unavailable, Some("too large")),
                None,
                Some("a could not check the file (too large), and the policy requires it"),
            ),
        ];
        for (run, warning, rejection) in cases {
            assert_eq!(unchecked_warning(&run).as_deref(), warning);
            assert_eq!(required_error(&run), None);
            assert_eq!(required_error(&GateRun { blocking: true, ..run }).as_deref(), rejection);
        }
    }
}
