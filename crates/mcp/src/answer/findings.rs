//! The findings of an edit that its answer lists.

use super::forms::Forms;
use super::gates::{finding_line, required_error};
use super::options::ResponseOptions;
use lockgate_checks::Finding;
use lockgate_engine::{Report, Status};
use lockgate_protocol::{ReportedFinding, ReportedWarning};

/// Maximum number of findings shown.
const MAX_FINDINGS: usize = 20;

/// Maximum number of those among them that do not count.
const MAX_UNCOUNTED: usize = 3;

/// The findings of an edit that its answer lists.
pub(super) struct ListedFindings<'a> {
    /// All findings that block.
    pub(super) blocking: Vec<&'a Finding>,
    /// The number of findings that do not count because they existed before.
    pub(super) old: usize,
    /// The sentences of the first findings that block, and of the required gates that have no result.
    pub(super) errors: Vec<String>,
    /// The warnings of the edit, of the gates that have no result, and of the other findings that count.
    pub(super) warnings: Vec<ReportedWarning>,
    /// The first findings.
    pub(super) reported: Vec<ReportedFinding>,
    pub(super) omitted: OmittedLines,
}

/// The numbers of entries that a response never has, because only the first ones are shown.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct OmittedLines {
    pub(super) errors: usize,
    pub(super) warnings: usize,
    pub(super) findings: usize,
}

impl<'a> ListedFindings<'a> {
    /// Selects the findings of a report.
    pub(super) fn new(report: &'a Report, options: &ResponseOptions) -> ListedFindings<'a> {
        let (findings, refused) = (&report.verdict.findings, report.status == Status::Refused);
        let counted = findings.iter().enumerate().filter(|(_, finding)| finding.counts);
        let (blocking, mut warned): (Vec<_>, Vec<_>) =
            counted.partition(|(_, finding)| refused && finding.blocking);
        let blocking: Vec<&Finding> = blocking.into_iter().map(|(_, finding)| finding).collect();
        warned.sort_by_key(|(_, finding)| !finding.blocking);
        let counting = blocking.len() + warned.len();
        let shown = MAX_FINDINGS.min(counting + MAX_UNCOUNTED);
        let reported: Vec<ReportedFinding> = findings.iter().take(shown).map(reported_finding).collect();

        let mut errors: Vec<String> = blocking.iter().take(MAX_FINDINGS).copied().map(finding_line).collect();
        errors.extend(report.verdict.runs.iter().filter_map(required_error));
        let mut warnings = other_warnings(report, options);
        warnings.extend(warned.iter().take(MAX_FINDINGS).map(|(at, finding)| ReportedWarning {
            finding: Some(*at),
            ..ReportedWarning::from(finding_line(finding))
        }));
        // The text form has no line for a finding that does not count.
        let is_listed = |found: &&Finding| options.forms != Forms::Text || found.counts;
        let omitted = OmittedLines {
            errors: blocking.len().saturating_sub(MAX_FINDINGS),
            warnings: warned.len().saturating_sub(MAX_FINDINGS),
            findings: findings.iter().skip(shown).filter(is_listed).count(),
        };
        ListedFindings { blocking, old: findings.len() - counting, errors, warnings, reported, omitted }
    }

    /// Returns the lines of the edited file at which the listed findings block.
    pub(super) fn blocking_lines(&self) -> Vec<usize> {
        let listed = self.blocking.iter().take(MAX_FINDINGS).filter(|finding| finding.elsewhere.is_none());
        listed.map(|finding| finding.line).collect()
    }
}

/// Returns the warnings of the edit itself, and those of the gates that have no result.
fn other_warnings(report: &Report, options: &ResponseOptions) -> Vec<ReportedWarning> {
    let (first, is_unchanged) = (report.warnings.first(), report.status == Status::Unchanged);
    // The message of an edit that changes nothing ends with the first warning.
    let of_edit = report.warnings.iter().map(|text| ReportedWarning {
        in_message: is_unchanged && Some(text) == first,
        ..ReportedWarning::from(text.clone())
    });
    let unchecked = report.verdict.runs.iter().filter(|run| !run.blocking).filter_map(|run| {
        let text = options.shown_parts.warning(run, options.forms)?;
        // One note names all gates whose programs may not run, with the reason.
        Some(ReportedWarning { in_message: run.withheld, ..ReportedWarning::from(text) })
    });
    of_edit.chain(unchecked).collect()
}

/// A finding as an answer reports it.
pub fn reported_finding(finding: &Finding) -> ReportedFinding {
    ReportedFinding {
        gate: finding.gate.clone(),
        severity: finding.severity.name().into(),
        path: finding.elsewhere.clone(),
        line: finding.line,
        column: finding.column,
        code: finding.code.clone(),
        message: finding.message.clone(),
        new: finding.fresh,
        blocking: finding.blocking,
        counts: finding.counts,
    }
}
