//! Renders gate results: one line for each finding, and notes about gates that did not run.

use crate::gate::{Finding, GateRun, Outcome, Verdict};

/// The position and label of a finding; the label is its code, or the gate if it has no code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FindingLabel<'a> {
    /// Path of the file, if it is not the edited file.
    pub path: Option<&'a str>,
    /// Line number of the finding, from 1.
    pub line: usize,
    /// Column number of the finding, from 1.
    pub column: usize,
    /// The code of the finding, or its gate.
    pub name: &'a str,
}

impl<'a> From<&'a Finding> for FindingLabel<'a> {
    fn from(finding: &'a Finding) -> FindingLabel<'a> {
        FindingLabel {
            path: finding.elsewhere.as_deref(),
            line: finding.line,
            column: finding.column,
            name: finding.code.as_deref().unwrap_or(&finding.gate),
        }
    }
}

/// Returns the warnings that neither end the message nor repeat a finding that is shown.
pub fn unreported<'a>(
    warnings: &'a [String],
    message: &'a str,
    findings: impl Iterator<Item = FindingLabel<'a>>,
) -> impl Iterator<Item = &'a String> {
    let openings: Vec<String> = findings.map(finding_prefix).collect();
    warnings.iter().filter(move |warning| {
        let found = openings.iter().any(|opening| warning.starts_with(opening));
        !found && !message.ends_with(&format!(": {warning}"))
    })
}

/// Returns the prefix of the line that describes a finding.
fn finding_prefix(FindingLabel { path, line, column, name }: FindingLabel<'_>) -> String {
    let file = path.map(|path| format!("{path}, ")).unwrap_or_default();
    format!("{file}line {line}, column {column}: {name}: ")
}

/// A finding as one line.
pub(super) fn finding_line(finding: &Finding) -> String {
    finding_prefix(finding.into()) + &finding.message
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
    let describe = |what: &str| match &run.why {
        Some(why) => format!("{what} ({why})"),
        None => what.to_owned(),
    };
    match run.outcome {
        Outcome::Skipped if run.withheld => Some(describe("did not run")),
        Outcome::Passed | Outcome::Found | Outcome::Fixed | Outcome::Skipped => None,
        Outcome::Unavailable if run.why.as_deref().is_some_and(|why| why.starts_with("a template")) => {
            Some(describe("could not run"))
        }
        Outcome::Unavailable => Some(describe("is not available here")),
        Outcome::TimedOut => Some(match run.why.as_deref() {
            Some(why) if why.starts_with("timed out") => why.to_owned(),
            None => "timed out".to_owned(),
            Some(why) => format!("gave no answer ({why})"),
        }),
        Outcome::Broken => Some(describe("is broken")),
    }
}

/// Returns notes about gates that could not run and about gates that changed the draft.
pub(super) fn notes(verdict: &Verdict) -> Vec<String> {
    let runs = || verdict.runs.iter();
    let fixed = runs().filter(|run| run.outcome == Outcome::Fixed || run.partial);
    let mut notes: Vec<String> = fixed
        .map(|run| format!("{} {}", run.gate, run.why.as_deref().unwrap_or("changed the draft")))
        .collect();
    let softened: Vec<&GateRun> = runs().filter(|run| run.softened).collect();
    if !softened.is_empty() {
        let verb = if softened.len() == 1 { "only warns" } else { "only warn" };
        let remedy = "`level: block` in the policy rejects the edit instead";
        notes.push(format!(
            "{} {verb} here, because the edit may be one step of several; {remedy}",
            names(&softened)
        ));
    }
    let withheld: Vec<&GateRun> = runs().filter(|run| run.withheld).collect();
    if let Some(first) = withheld.first() {
        let why = first.why.as_deref().unwrap_or("not trusted");
        let remedy = "a person can let the policy's programs run with `lockgate trust`";
        notes.push(format!("not checked by {}: {why}; {remedy}", names(&withheld)));
    }
    let unavailable = runs().filter(|run| run.outcome == Outcome::Unavailable);
    let has_reason =
        |run: &GateRun, start: &str| run.why.as_deref().is_some_and(|why| why.starts_with(start));
    let (templates, programs): (Vec<&GateRun>, Vec<&GateRun>) =
        unavailable.partition(|run| has_reason(run, "a template"));
    if let Some(why) = templates.first().and_then(|run| run.why.as_deref()) {
        notes.push(format!("not checked by {}: {why}", names(&templates)));
    }
    let (disabled, absent): (Vec<&GateRun>, Vec<&GateRun>) =
        programs.into_iter().partition(|run| has_reason(run, "the policy requires "));
    if let Some(why) = disabled.first().and_then(|run| run.why.as_deref()) {
        notes.push(format!("not checked by {}: {why}", names(&disabled)));
    }
    if !absent.is_empty() {
        let phrase = if absent.len() == 1 { "its program is" } else { "their programs are" };
        notes.push(format!("not checked by {}: {phrase} not available here", names(&absent)));
    }
    notes
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
    use super::*;

    fn run(gate: &str, outcome: Outcome, why: Option<&str>) -> GateRun {
        GateRun {
            isolation: None,
            gate: gate.to_owned(),
            outcome,
            ms: 1,
            why: why.map(str::to_owned),
            blocking: false,
            withheld: false,
            softened: false,
            partial: false,
        }
    }

    #[test]
    fn gates_that_could_not_run_are_named_in_one_note() {
        let withheld = |gate| GateRun { withheld: true, ..run(gate, Outcome::Skipped, Some("nobody did")) };
        let runs = vec![
            withheld("ruff"),
            run("go-vet", Outcome::Unavailable, Some("no go")),
            withheld("mypy"),
            withheld("black"),
            run("gofmt", Outcome::Fixed, Some("changed 3 lines")),
            run("syntax", Outcome::Skipped, Some("not for this language")),
        ];
        let trust = "a person can let the policy's programs run with `lockgate trust`";
        assert_eq!(
            notes(&Verdict::new(runs, Vec::new())),
            [
                "gofmt changed 3 lines".to_owned(),
                format!("not checked by ruff, mypy and black: nobody did; {trust}"),
                "not checked by go-vet: its program is not available here".to_owned(),
            ]
        );
        assert!(notes(&Verdict::default()).is_empty());
        let softened = |gate| GateRun { softened: true, ..run(gate, Outcome::Found, None) };
        assert_eq!(
            notes(&Verdict::new(vec![softened("go-build"), softened("cargo-check")], Vec::new())),
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
                run("a", Outcome::Unavailable, Some("no a")),
                None,
                Some("a is not available here (no a), and the policy requires it"),
            ),
        ];
        for (run, warning, error) in cases {
            assert_eq!(unchecked_warning(&run).as_deref(), warning);
            assert_eq!(required_error(&run), None);
            assert_eq!(required_error(&GateRun { blocking: true, ..run }).as_deref(), error);
        }
    }
}
