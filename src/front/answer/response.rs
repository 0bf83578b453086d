//! The content of an answer for one call, or for one file of several, before it is cut to size.

use std::borrow::Cow;

use serde_json::Value;

use super::entity::EntityKeyParts;
use super::gates::{FindingLabel, finding_line, notes, required_error, unchecked_warning, unreported};
use super::message::{self, NOTHING_WRITTEN};
use super::next::ProposedCall;
use super::shown_entries::ShownEntries;
use super::{ExtraField, ResponseOptions};
use crate::engine::{GuardLevel, Report, Status};
use crate::error::{Best, Code, Disk, Error, EvidenceLine, Since};
use crate::gate::{Finding, GateRun};
use crate::locate::MatchInfo;
use crate::request::{Entity, EntityKind};
use crate::text::{Diff, LineShift, Region};

/// The hint when there are no findings but a required gate could not run.
const MISSING_GATE_HINT: &str = "make the gate run here, or ask a person to change the policy";

/// Maximum number of findings shown, and of those among them that do not count.
const MAX_FINDINGS: (usize, usize) = (20, 3);

/// The content of an answer; lists are empty and options absent when there is nothing to report.
#[derive(Debug, Clone)]
pub(super) struct EditResponse<'a> {
    /// Set for a whole answer, unset for one file of several.
    pub(super) whole: bool,
    pub(super) success: bool,
    pub(super) status: Status,
    pub(super) disk: Disk,
    pub(super) code: Option<Code>,
    /// The original code, if `code` is one of a tool's few codes.
    pub(super) detail: Option<Code>,
    pub(super) message: String,
    /// Set when `error` repeats the message without the common prefix.
    pub(super) has_error_field: bool,
    pub(super) key: EntityKeyParts<'a>,
    pub(super) hint: Option<Cow<'a, str>>,
    pub(super) field: Option<&'a str>,
    pub(super) path: Option<&'a str>,
    pub(super) resolved_path: Option<&'a str>,
    pub(super) version: Option<String>,
    pub(super) previous_version: Option<String>,
    pub(super) changed: bool,
    /// The state of the bytes outside the edit, if they were compared.
    pub(super) outside_edit: Option<String>,
    pub(super) diff: Option<&'a Diff<'a>>,
    pub(super) replacements: Option<usize>,
    pub(super) lines_changed: Option<usize>,
    /// Set when the edit created the file; absent when the default applies.
    pub(super) created: Option<bool>,
    pub(super) removed: bool,
    pub(super) edit_id: Option<String>,
    pub(super) level: Option<&'static str>,
    /// The changes to the file since the version that the caller knows.
    pub(super) since: Option<&'a Since>,
    pub(super) locations: &'a [EvidenceLine],
    pub(super) match_info: Option<MatchInfo>,
    /// The most similar lines, if the text was not found.
    pub(super) best: Option<NearestLines<'a>>,
    /// The proposed call; whole, or counted as omitted.
    pub(super) next: ShownEntries<Value>,
    pub(super) regions: &'a [Region],
    pub(super) shifts: &'a [LineShift],
    pub(super) errors: ShownEntries<String>,
    pub(super) warnings: ShownEntries<String>,
    pub(super) findings: ShownEntries<&'a Finding>,
    /// Number of findings that do not count because they existed before.
    pub(super) old_findings: usize,
    pub(super) runs: &'a [GateRun],
    pub(super) notes: ShownEntries<String>,
}

/// The lines that are most similar to the searched text.
#[derive(Debug, Clone)]
pub(super) struct NearestLines<'a> {
    pub(super) best: &'a Best,
    pub(super) lines: ShownEntries<&'a str>,
}

impl<'a> NearestLines<'a> {
    pub(super) fn new(best: &'a Best) -> NearestLines<'a> {
        NearestLines { best, lines: ShownEntries::complete(best.lines.iter().map(String::as_str).collect()) }
    }
}

impl<'a> EditResponse<'a> {
    /// Returns an empty response for a rejection.
    fn empty_rejection() -> EditResponse<'a> {
        EditResponse {
            whole: true,
            success: false,
            status: Status::Refused,
            disk: Disk::Untouched,
            code: None,
            detail: None,
            message: String::new(),
            has_error_field: false,
            key: EntityKeyParts::default(),
            hint: None,
            field: None,
            path: None,
            resolved_path: None,
            version: None,
            previous_version: None,
            changed: false,
            outside_edit: None,
            diff: None,
            replacements: None,
            lines_changed: None,
            created: None,
            removed: false,
            edit_id: None,
            level: None,
            since: None,
            locations: &[],
            match_info: None,
            best: None,
            next: ShownEntries::complete(Vec::new()),
            regions: &[],
            shifts: &[],
            errors: ShownEntries::complete(Vec::new()),
            warnings: ShownEntries::complete(Vec::new()),
            findings: ShownEntries::complete(Vec::new()),
            old_findings: 0,
            runs: &[],
            notes: ShownEntries::complete(Vec::new()),
        }
    }

    /// Creates the response for a request that reached a decision.
    pub(super) fn of_report(
        report: &'a Report,
        diff: &'a Diff<'a>,
        regions: &'a [Region],
        options: &'a ResponseOptions,
    ) -> EditResponse<'a> {
        let is_refused = report.status == Status::Refused;
        let (blocking, other): (Vec<&Finding>, Vec<&Finding>) = report
            .verdict
            .findings
            .iter()
            .filter(|finding| finding.counts)
            .partition(|finding| finding.blocking);
        let (errors, warned) =
            if is_refused { (blocking, other) } else { (Vec::new(), [blocking, other].concat()) };
        let mut listed = finding_lines(&errors);
        listed.entries.extend(report.verdict.runs.iter().filter_map(required_error));
        let warnings = warnings(report, &warned);
        let remedy = if errors.is_empty() { MISSING_GATE_HINT } else { Code::GateRefused.remedy() };
        let (code, detail) = is_refused.then(|| options.profile.code_pair(Code::GateRefused)).unzip();
        let own = report.notes.iter().map(|note| options.profile.rename_fields(note));
        EditResponse {
            success: report.status.is_success(),
            status: report.status,
            code,
            detail: detail.flatten(),
            message: message::of_report(report, diff, &errors, &listed.entries, options),
            has_error_field: is_refused && options.profile.has_extra_field(ExtraField::Error),
            key: key(report.entity.as_ref(), options),
            hint: is_refused.then_some(remedy.into()),
            path: Some(&report.path),
            resolved_path: report.resolved_path.as_deref(),
            version: report.version.map(|version| version.to_string()),
            previous_version: report.previous_version.map(|version| version.to_string()),
            changed: report.created || report.removed || diff.hunks() > 0,
            outside_edit: Some(message::outside_edit(report)),
            diff: Some(diff),
            replacements: report.replacements,
            lines_changed: lines_changed(regions, options),
            created: created(report, options),
            removed: report.removed,
            edit_id: report.edit_id.map(|id| id.to_string()),
            level: report.level.map(GuardLevel::name),
            locations: &report.places,
            match_info: report.match_info,
            regions,
            shifts: &report.shifts,
            errors: listed,
            warnings,
            findings: shown_findings(&report.verdict.findings),
            old_findings: report.verdict.findings.iter().filter(|finding| !finding.counts).count(),
            runs: &report.verdict.runs,
            notes: ShownEntries::complete(own.chain(notes(&report.verdict)).collect()),
            ..EditResponse::empty_rejection()
        }
    }

    /// Creates the response for an error.
    pub(super) fn of_error(error: &'a Error, options: &'a ResponseOptions) -> EditResponse<'a> {
        let noun = options.noun();
        let (start, hint) = match (error.disk, &error.hint) {
            (Disk::Unknown, None) => (message::unknown_outcome(noun), Cow::from(format!("read the {noun}"))),
            (Disk::Unknown, Some(hint)) => (message::unknown_outcome(noun), hint.into()),
            (Disk::Untouched, _) => (NOTHING_WRITTEN.to_owned(), error.next_step().into()),
        };
        let (next, hint) = proposed_call(error, hint, options);
        let (code, detail) = options.profile.code_pair(error.code);
        EditResponse {
            disk: error.disk,
            code: Some(code),
            detail,
            message: format!("{start}{}", message::of_error(error, options)),
            has_error_field: options.profile.has_extra_field(ExtraField::Error),
            key: key(options.entity.as_ref(), options),
            hint: Some(hint),
            field: error.field.as_deref(),
            path: options.path.as_deref(),
            since: error.since.as_deref(),
            locations: &error.places,
            best: error.best.as_deref().map(NearestLines::new),
            next,
            ..EditResponse::empty_rejection()
        }
    }

    /// Returns the warnings that the message and the findings do not contain.
    pub(super) fn unreported(&self) -> impl Iterator<Item = &String> {
        let findings = self.findings.entries.iter().map(|finding| FindingLabel::from(*finding));
        unreported(&self.warnings.entries, &self.message, findings)
    }
}

/// Returns the proposed call and the hint; a proposal without an offered tool is added to the hint.
fn proposed_call<'a>(
    error: &'a Error,
    hint: Cow<'a, str>,
    options: &ResponseOptions,
) -> (ShownEntries<Value>, Cow<'a, str>) {
    let proposal = error.next.as_ref().and_then(|next| ProposedCall::from_next(next, options));
    let (next, hint) = match (proposal, &error.hint) {
        (None, _) => (Vec::new(), hint),
        (Some(ProposedCall::Call(next)), _) => (vec![next], hint),
        (Some(ProposedCall::Sentence(words)), None) => (Vec::new(), words.into()),
        (Some(ProposedCall::Sentence(words)), Some(own)) => (Vec::new(), format!("{own}; {words}").into()),
    };
    (ShownEntries::complete(next), hint)
}

/// Returns the reported parts of a target's key.
fn key<'a>(entity: Option<&'a Entity>, options: &ResponseOptions) -> EntityKeyParts<'a> {
    match entity {
        None if options.profile.has_extra_field(ExtraField::EntityType) => {
            EntityKeyParts { entity_type: Some(EntityKind::FILE), ..EntityKeyParts::default() }
        }
        entity => EntityKeyParts::new(entity),
    }
}

/// Returns the report's own warnings, the gates without a result, and the first findings, one line each.
fn warnings(report: &Report, findings: &[&Finding]) -> ShownEntries<String> {
    let unchecked = report.verdict.runs.iter().filter(|run| !run.blocking).filter_map(unchecked_warning);
    let mut warnings = finding_lines(findings);
    warnings.entries.splice(0..0, report.warnings.iter().cloned().chain(unchecked));
    warnings
}

/// Renders the first findings, one line each.
fn finding_lines(findings: &[&Finding]) -> ShownEntries<String> {
    let shown: Vec<String> = findings.iter().take(MAX_FINDINGS.0).copied().map(finding_line).collect();
    ShownEntries { omitted: findings.len() - shown.len(), entries: shown }
}

/// Returns the findings to show, most severe first, with only the first of those that do not count.
fn shown_findings(findings: &[Finding]) -> ShownEntries<&Finding> {
    let counted = findings.iter().filter(|finding| finding.counts).count();
    let mut shown = ShownEntries::complete(findings.iter().collect());
    shown.truncate(MAX_FINDINGS.0.min(counted + MAX_FINDINGS.1));
    shown
}

/// Returns `created` if the tool reports it always, or if the edit created the file.
fn created(report: &Report, options: &ResponseOptions) -> Option<bool> {
    let is_reported = report.status.is_success() && options.profile.has_extra_field(ExtraField::Created);
    (is_reported || report.created).then_some(report.created)
}

/// Returns the number of removed or inserted lines, whichever is larger.
fn lines_changed(regions: &[Region], options: &ResponseOptions) -> Option<usize> {
    let touched = regions.iter().map(lines_touched).reduce(|one, other| (one.0 + other.0, one.1 + other.1));
    touched.map(|(old, new)| old.max(new).max(options.quoted_line_count.unwrap_or_default()))
}

fn lines_touched(region: &Region) -> (usize, usize) {
    (
        (region.end_line + 1).saturating_sub(region.start_line),
        (region.new_end_line + 1).saturating_sub(region.new_start_line),
    )
}
