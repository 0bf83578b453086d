//! What there is to say about a call, before it is cut to size.

use super::listed::Listed;
use crate::engine::{Report, Status};
use crate::error::{Code, Disk, Error, Family, Place};
use crate::gate::{Finding, Outcome, Run};
use crate::text::{Diff, Region, Shift};

/// The beginning of the message of every refusal after which the file is as it was.
const NOTHING: &str = "nothing was written: ";

/// The beginning of the message, and the next step, where that is not known.
const UNKNOWN: (&str, &str) = ("it is not known whether the file was written: ", "read the file");

/// Greatest number of findings that are shown, and of those among them that were there before.
const FINDINGS: (usize, usize) = (20, 3);

/// What there is to say about a call; lists are empty and options absent where there is nothing to say.
#[derive(Debug, Clone)]
pub(super) struct Facts<'a> {
    pub(super) success: bool,
    pub(super) status: Status,
    pub(super) disk: Disk,
    pub(super) code: Option<Code>,
    pub(super) message: String,
    pub(super) hint: Option<&'a str>,
    pub(super) field: Option<&'a str>,
    pub(super) path: Option<&'a str>,
    pub(super) resolved_path: Option<&'a str>,
    pub(super) version: Option<String>,
    pub(super) previous_version: Option<String>,
    pub(super) changed: bool,
    pub(super) compared: bool,
    pub(super) diff: Option<&'a Diff<'a>>,
    pub(super) replacements: Option<usize>,
    pub(super) lines_changed: Option<usize>,
    pub(super) created: bool,
    pub(super) places: &'a [Place],
    pub(super) regions: &'a [Region],
    pub(super) shifts: &'a [Shift],
    pub(super) errors: Listed<String>,
    pub(super) warnings: Listed<String>,
    pub(super) findings: Listed<&'a Finding>,
    pub(super) runs: &'a [Run],
    pub(super) notes: Listed<String>,
}

impl<'a> Facts<'a> {
    /// The facts of a call that was carried through to a decision.
    pub(super) fn of_report(report: &'a Report, diff: &'a Diff<'a>, regions: &'a [Region]) -> Facts<'a> {
        let refused = report.status == Status::Refused;
        let (blocking, other): (Vec<&Finding>, Vec<&Finding>) = report
            .verdict
            .findings
            .iter()
            .filter(|finding| finding.fresh)
            .partition(|finding| finding.blocking);
        let (errors, warned) =
            if refused { (blocking, other) } else { (Vec::new(), [blocking, other].concat()) };
        let unchecked = report.verdict.runs.iter().filter_map(unchecked);
        let mut warnings = told(&warned);
        warnings.shown.splice(0..0, report.warnings.iter().cloned().chain(unchecked));
        let touched =
            regions.iter().map(lines_touched).reduce(|one, other| (one.0 + other.0, one.1 + other.1));
        Facts {
            success: report.status.is_success(),
            status: report.status,
            disk: Disk::Untouched,
            code: refused.then_some(Code::GateRefused),
            message: message(report, diff, &errors),
            hint: refused.then(|| Code::GateRefused.remedy()),
            field: None,
            path: Some(&report.path),
            resolved_path: report.resolved_path.as_deref(),
            version: report.version.map(|stamp| stamp.to_string()),
            previous_version: report.previous_version.map(|stamp| stamp.to_string()),
            changed: report.created || diff.hunks() > 0,
            compared: true,
            diff: Some(diff),
            replacements: report.replacements,
            lines_changed: touched.map(|(old, new)| old.max(new)),
            created: report.created,
            places: &report.places,
            regions,
            shifts: &report.shifts,
            errors: told(&errors),
            warnings,
            findings: shown(&report.verdict.findings),
            runs: &report.verdict.runs,
            notes: Listed::all(report.notes.clone()),
        }
    }

    /// The facts of a call that was stopped.
    pub(super) fn of_error(error: &'a Error, path: Option<&'a str>) -> Facts<'a> {
        let field = error.field.as_deref();
        let (disk, hint) = match (error.disk, &error.hint) {
            (Disk::Unknown, None) => (UNKNOWN.0, UNKNOWN.1),
            (Disk::Unknown, Some(hint)) => (UNKNOWN.0, hint.as_str()),
            (Disk::Untouched, _) => (NOTHING, error.next_step()),
        };
        let message = match field {
            Some(field) if error.code.family() == Family::Request && !error.message.contains(field) => {
                format!("{disk}{field}: {}", error.message)
            }
            Some(_) | None => format!("{disk}{}", error.message),
        };
        Facts {
            success: false,
            status: Status::Refused,
            disk: error.disk,
            code: Some(error.code),
            message,
            hint: Some(hint),
            field,
            path,
            resolved_path: None,
            version: None,
            previous_version: None,
            changed: false,
            compared: false,
            diff: None,
            replacements: None,
            lines_changed: None,
            created: false,
            places: &error.places,
            regions: &[],
            shifts: &[],
            errors: Listed::all(Vec::new()),
            warnings: Listed::all(Vec::new()),
            findings: Listed::all(Vec::new()),
            runs: &[],
            notes: Listed::all(Vec::new()),
        }
    }

    /// The warnings that a reader of the message and of the findings has not met yet.
    pub(super) fn unsaid(&self) -> impl Iterator<Item = &String> {
        let findings =
            self.findings.shown.iter().map(|finding| (finding.line, finding.column, name(finding)));
        unsaid(&self.warnings.shown, &self.message, findings)
    }
}

/// The warnings that are said nowhere else: neither at the end of the message, nor by one of the findings that are
/// shown, each given by its line, its column and the name of its code or else of its gate.
pub fn unsaid<'a>(
    warnings: &'a [String],
    message: &'a str,
    findings: impl Iterator<Item = (usize, usize, &'a str)>,
) -> impl Iterator<Item = &'a String> {
    let openings: Vec<String> = findings.map(|(line, column, name)| opening(line, column, name)).collect();
    warnings.iter().filter(move |warning| {
        let found = openings.iter().any(|opening| warning.starts_with(opening));
        !found && !message.ends_with(&format!(": {warning}"))
    })
}

/// How the line begins that tells a finding.
fn opening(line: usize, column: usize, name: &str) -> String {
    format!("line {line}, column {column}: {name}: ")
}

fn name(finding: &Finding) -> &str {
    finding.code.as_deref().unwrap_or(&finding.gate)
}

/// A finding as one line.
fn line(finding: &Finding) -> String {
    opening(finding.line, finding.column, name(finding)) + &finding.message
}

/// The first findings, each as one line.
fn told(findings: &[&Finding]) -> Listed<String> {
    let shown: Vec<String> = findings.iter().take(FINDINGS.0).copied().map(line).collect();
    Listed { more: findings.len() - shown.len(), shown }
}

/// What is to be said of a gate that should have looked and has not.
fn unchecked(run: &Run) -> Option<String> {
    let happened = match run.outcome {
        Outcome::Passed | Outcome::Found | Outcome::Skipped => return None,
        Outcome::TimedOut => "gave no answer in time".to_owned(),
        Outcome::Broken => match &run.why {
            Some(why) => format!("is broken ({why})"),
            None => "is broken".to_owned(),
        },
    };
    Some(format!("{} {happened}, so the edit was not checked by it", run.gate))
}

/// The findings to show, the gravest first as they come; only the first of what was there before.
fn shown(findings: &[Finding]) -> Listed<&Finding> {
    let fresh = findings.iter().filter(|finding| finding.fresh).count();
    let mut shown = Listed::all(findings.iter().collect());
    shown.cut(FINDINGS.0.min(fresh + FINDINGS.1));
    shown
}

fn lines_touched(region: &Region) -> (usize, usize) {
    (
        (region.end_line + 1).saturating_sub(region.start_line),
        (region.new_end_line + 1).saturating_sub(region.new_start_line),
    )
}

fn message(report: &Report, diff: &Diff<'_>, blocking: &[&Finding]) -> String {
    let (path, counts) = (&report.path, format!("(+{} -{})", diff.added(), diff.removed()));
    let replaced = match report.replacements {
        Some(1) => ", 1 replacement".to_owned(),
        Some(count) => format!(", {count} replacements"),
        None => String::new(),
    };
    match report.status {
        Status::Written if report.created => format!("created {path} {counts}"),
        Status::Written => format!("wrote {path} {counts}{replaced}"),
        Status::Verified => {
            format!("verified {path} {counts}{replaced}: strict would write this, nothing was written")
        }
        Status::Unchanged => match report.warnings.first() {
            Some(warning) => format!("{path} is unchanged: {warning}"),
            None => format!("{path} is unchanged: the result equals what is there"),
        },
        Status::Refused => {
            let first = blocking.first().copied().map(line).unwrap_or_default();
            match blocking.len() {
                0 | 1 => format!("{NOTHING}the edit of {path} adds a finding that blocks: {first}"),
                count => format!(
                    "{NOTHING}the edit of {path} adds {count} findings that block; the first: {first}"
                ),
            }
        }
    }
}
