//! What there is to say about a call, before it is cut to size.

use crate::engine::{Report, Status};
use crate::error::{Code, Error, Family, Place};
use crate::gate::{Finding, Run};
use crate::text::{Diff, Region, Shift};

/// The beginning of the message of every refusal.
const NOTHING: &str = "nothing was written: ";

/// Greatest number of findings that are shown, and of those among them that were there before.
const FINDINGS: (usize, usize) = (20, 3);

/// What there is to say about a call; lists are empty and options absent where there is nothing to say.
#[derive(Debug, Clone)]
pub(super) struct Facts<'a> {
    pub(super) success: bool,
    pub(super) status: Status,
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
    pub(super) errors: Vec<String>,
    pub(super) warnings: Vec<String>,
    pub(super) findings: Vec<&'a Finding>,
    pub(super) more_findings: usize,
    pub(super) runs: &'a [Run],
    pub(super) notes: Vec<String>,
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
        let findings = shown(&report.verdict.findings);
        let touched =
            regions.iter().map(lines_touched).reduce(|one, other| (one.0 + other.0, one.1 + other.1));
        Facts {
            success: report.status.is_success(),
            status: report.status,
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
            errors: errors.iter().take(FINDINGS.0).copied().map(told).collect(),
            warnings: report
                .warnings
                .iter()
                .cloned()
                .chain(warned.into_iter().take(FINDINGS.0).map(told))
                .collect(),
            more_findings: report.verdict.findings.len() - findings.len(),
            findings,
            runs: &report.verdict.runs,
            notes: report.notes.clone(),
        }
    }

    /// The facts of a call that was stopped.
    pub(super) fn of_error(error: &'a Error, path: Option<&'a str>) -> Facts<'a> {
        let field = error.field.as_deref();
        let said = match field {
            Some(field) if error.code.family() == Family::Request && !error.message.contains(field) => {
                format!("{NOTHING}{field}: {}", error.message)
            }
            Some(_) | None => format!("{NOTHING}{}", error.message),
        };
        Facts {
            success: false,
            status: Status::Refused,
            code: Some(error.code),
            message: said,
            hint: Some(error.next_step()),
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
            errors: Vec::new(),
            warnings: Vec::new(),
            findings: Vec::new(),
            more_findings: 0,
            runs: &[],
            notes: Vec::new(),
        }
    }
}

/// A finding as one line.
fn told(finding: &Finding) -> String {
    let name = finding.code.as_deref().unwrap_or(&finding.gate);
    format!("line {}, column {}: {name}: {}", finding.line, finding.column, finding.message)
}

/// The findings to show: what blocks first, then what is new, and only the first of what was there before.
fn shown(findings: &[Finding]) -> Vec<&Finding> {
    let rank = |finding: &&Finding| (!(finding.blocking && finding.fresh), !finding.fresh);
    let mut shown: Vec<&Finding> = findings.iter().collect();
    shown.sort_by_key(rank);
    let fresh = shown.iter().filter(|finding| finding.fresh).count();
    shown.truncate(FINDINGS.0.min(fresh + FINDINGS.1));
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
            let first = blocking.first().copied().map(told).unwrap_or_default();
            match blocking.len() {
                0 | 1 => format!("{NOTHING}the edit of {path} adds a finding that blocks: {first}"),
                count => format!(
                    "{NOTHING}the edit of {path} adds {count} findings that block; the first: {first}"
                ),
            }
        }
    }
}
