//! The response to one call, or to one file of several, before it is cut to size.

use std::collections::BTreeSet;

use super::entity::key;
use super::findings::{ListedFindings, OmittedLines};
use super::forms::Forms;
use super::gates;
use super::message::{self, Message, is_known};
use super::next;
use super::options::{ExtraField, ResponseOptions};
use super::text;
use lockgate_checks::{GateRun, Isolation, RunReason};
use lockgate_edit::request::{Entity, EntityKind};
use lockgate_engine::{GuardLevel, Report, Status};
use lockgate_error::{Best, Code, Disk, Error, EvidenceLine, Score, Since};
use lockgate_matching::MatchInfo;
use lockgate_protocol::{
    ChangedRegion, EditResponse, EntityKey, FileChangesSince, FirstDifference, Headline, MatchDetails,
    MatchLocation, MovedLines, NearestLines, ReportedFinding, ReportedGate, TextFields,
};
use lockgate_text::Region;
use lockgate_text::diff::{Diff, Extent, ShownSide};

/// The hint when there are no findings but a required gate could not run.
const MISSING_GATE_HINT: &str = "make the gate run here, or ask a person to change the policy";

/// The hint when a required formatter could not read the draft.
const UNREAD_HINT: &str = "correct the text so that the formatter can read it";

/// Maximum length of a run of changed lines that the text form shows in full.
const MAX_SHOWN_RUN: usize = 12;

/// A response with all its parts except the diff.
#[derive(Default)]
pub(super) struct FullResponse<'a> {
    pub(super) response: EditResponse,
    pub(super) message: Message,
    pub(super) diff: DiffSource<'a>,
    /// The part of the diff that the text form shows.
    pub(super) extent: Option<Extent>,
    pub(super) omitted: OmittedLines,
}

/// The diff that belongs to a response.
#[derive(Default)]
pub(super) enum DiffSource<'a> {
    #[default]
    None,
    /// The diff of the edit.
    Edit(Diff<'a>),
    /// The rendered diff of the changes by others.
    Since(&'a str),
}

impl<'a> FullResponse<'a> {
    /// Creates the response for a request that reached a decision.
    pub(super) fn from_report(report: &'a Report, options: &ResponseOptions) -> FullResponse<'a> {
        let (diff, regions) = (report.diff(), report.regions());
        let refused = report.status == Status::Refused;
        let findings = ListedFindings::new(report, options);
        let message = Message::from_report(report, &diff, &findings, options);
        let headline = message::headline(report, &diff, findings.blocking.len(), options);
        let extent = extent(report, &findings, options);
        let match_details = report.matches.info.map(match_details);
        let mut response = EditResponse {
            success: Some(report.status.is_success()),
            status: Some(report.status.name().into()),
            message: Some(message.text()),
            key: target_key(report.target.entity.as_ref(), options),
            path: Some(report.target.path.clone()),
            resolved_path: report.target.resolved_path.clone(),
            version: report.version.map(|version| version.to_string()),
            previous_version: report.previous_version.map(|version| version.to_string()),
            written: Some(report.status == Status::Written),
            changed: Some(report.is_created() || report.is_removed() || diff.hunks() > 0),
            edit_id: report.edit_id.map(|id| id.to_string()),
            level: report.level.map(GuardLevel::name).map(Into::into),
            bytes_outside_edit: Some(message::outside_edit(report)),
            replacements: report.matches.replacements,
            lines_changed: lines_changed(&regions, options),
            created: created(report, options),
            removed: report.is_removed().then_some(true),
            match_locations: locations(&report.matches.lines),
            edits: changed_regions(report, &regions, match_details.as_ref()),
            line_map: moved_lines(report, &regions, options),
            errors: findings.errors,
            validation_warnings: findings.warnings,
            findings: findings.reported,
            gates: report.verdict.runs.iter().map(reported_gate).collect(),
            notes: notes(report, options),
            for_text: TextFields {
                headline,
                match_details,
                old_findings: findings.old,
                ..TextFields::default()
            },
            ..EditResponse::default()
        };
        if refused {
            (response.code, response.detail) = options.profile.code_pair(Code::GateRefused);
            response.error = error_field(&message, options);
            response.hint = Some(rejection_hint(report).to_owned());
        }
        response.for_text.are_gates_known =
            options.forms == Forms::Text && options.shown_parts.has_passed(&text::passed_names(&response));
        let (diff, omitted) = (DiffSource::Edit(diff), findings.omitted);
        FullResponse { response, message, diff, extent, omitted }.in_forms(options.forms)
    }

    /// Removes what the forms do not have.
    fn in_forms(mut self, forms: Forms) -> FullResponse<'a> {
        if forms == Forms::Compact {
            self.response = compact(self.response);
            if let DiffSource::Edit(_) = self.diff {
                self.diff = DiffSource::None;
            }
        }
        self
    }

    /// Creates the response for an error.
    pub(super) fn from_error(error: &'a Error, options: &ResponseOptions) -> FullResponse<'a> {
        let (hint, next) = next::next_step(error, options);
        let message = Message::from_error(error, options);
        let (code, detail) = options.profile.code_pair(error.code);
        let is_known = error.disk == Disk::Untouched;
        let response = EditResponse {
            success: Some(false),
            status: Some(EditResponse::REFUSED.into()),
            code,
            detail,
            message: Some(message.text()),
            error: error_field(&message, options),
            hint: Some(hint),
            field: error.field_path(),
            path: options.path.clone(),
            key: match error.field.as_deref() {
                // The type that the call names is none, so it is not `file` either.
                Some("entity_type") => key(options.entity.as_ref()),
                Some(_) | None => target_key(options.entity.as_ref(), options),
            },
            written: is_known.then_some(false),
            changed: is_known.then_some(false),
            since: error.since.as_deref().map(|Since { noun, version, .. }| FileChangesSince {
                noun: noun.clone(),
                version: version.clone(),
                diff: None,
            }),
            match_locations: locations(&error.places),
            best: error.best.as_deref().map(nearest_lines),
            next,
            ..EditResponse::default()
        };
        let since: Option<&Since> = error.since.as_deref();
        let diff = since.map_or(DiffSource::None, |since| DiffSource::Since(&since.diff));
        FullResponse { response, message, diff, ..FullResponse::default() }.in_forms(options.forms)
    }

    /// Replaces the message in all forms, and removes the headline.
    pub(super) fn set_message(&mut self, message: Message) {
        self.response.for_text.headline = None;
        self.response.message = Some(message.text());
        self.message = message;
    }
}

/// Returns only what the next call needs: the result, the version, the edit ID, the moved lines, the findings that
/// count, and after a rejection the next step.
fn compact(response: EditResponse) -> EditResponse {
    let succeeded = response.is_success();
    let headline = response.for_text.headline.as_ref().filter(|_| succeeded);
    let message = headline.map(|Headline { summary, details, .. }| format!("{summary}{details}"));
    let reported = response.unreported().cloned().collect();
    let findings: Vec<ReportedFinding> =
        response.findings.into_iter().filter(|finding| finding.counts).collect();
    let names_blocking = findings.iter().any(|finding| finding.blocking);
    EditResponse {
        status: response.status,
        code: response.code,
        detail: response.detail,
        message: message.or(response.message),
        hint: response.hint,
        field: response.field,
        path: response.path,
        key: response.key,
        resolved_path: response.resolved_path,
        version: response.version,
        edit_id: response.edit_id,
        since: response.since,
        best: response.best,
        next: response.next,
        match_locations: if succeeded { Vec::new() } else { response.match_locations },
        line_map: response.line_map,
        errors: if names_blocking { Vec::new() } else { response.errors },
        validation_warnings: reported,
        findings,
        notes: response.notes,
        for_text: TextFields { headline: response.for_text.headline, ..TextFields::default() },
        ..EditResponse::default()
    }
}

/// Returns the hint of a rejection: it has findings that block, or required gates without a result.
fn rejection_hint(report: &Report) -> &'static str {
    if report.verdict.blocking().next().is_some() {
        return Code::GateRefused.remedy();
    }
    let mut required = report.verdict.runs.iter().filter(|run| run.blocking);
    if required.all(|run| run.reason == RunReason::Unread) { UNREAD_HINT } else { MISSING_GATE_HINT }
}

/// Returns the part of the diff that the text form shows: for a rejection that near the findings that block.
fn extent(report: &Report, findings: &ListedFindings<'_>, options: &ResponseOptions) -> Option<Extent> {
    let refused = report.status == Status::Refused;
    let near = refused.then(|| findings.blocking_lines());
    let side = if refused && options.forms == Forms::Text { ShownSide::New } else { ShownSide::Both };
    (!is_known(report)).then_some(Extent { max_run: MAX_SHOWN_RUN, near, side })
}

fn error_field(message: &Message, options: &ResponseOptions) -> Option<String> {
    options.profile.has_extra_field(ExtraField::Error).then(|| message.reason())
}

/// Returns the reported parts of a target's key.
fn target_key(entity: Option<&Entity>, options: &ResponseOptions) -> EntityKey {
    let is_named = entity.is_none() && options.profile.has_extra_field(ExtraField::EntityType);
    let named = || EntityKey { entity_type: Some(EntityKind::FILE.to_owned()), ..EntityKey::default() };
    if is_named { named() } else { key(entity) }
}

/// Returns `created` if the tool reports it always, or if the edit created the file.
fn created(report: &Report, options: &ResponseOptions) -> Option<bool> {
    let says = report.status.is_success() && options.profile.has_extra_field(ExtraField::Created);
    (says || report.is_created()).then_some(report.is_created())
}

/// Returns the number of removed or inserted lines, whichever is larger.
fn lines_changed(regions: &[Region], options: &ResponseOptions) -> Option<usize> {
    let length = |start: usize, end: usize| (end + 1).saturating_sub(start);
    let old: usize = regions.iter().map(|region| length(region.start_line, region.end_line)).sum();
    let new: usize = regions.iter().map(|region| length(region.new_start_line, region.new_end_line)).sum();
    (!regions.is_empty()).then(|| old.max(new).max(options.quoted_line_count.unwrap_or_default()))
}

/// Returns the notes of the edit and of its gates, without those of the gates that the client knows.
fn notes(report: &Report, options: &ResponseOptions) -> Vec<String> {
    let of_gates = gates::notes(&report.verdict, &report.policy_folder);
    let unshown = options.shown_parts.unshown(of_gates, options.forms);
    report.notes.iter().cloned().chain(unshown).collect()
}

fn match_details(info: MatchInfo) -> MatchDetails {
    MatchDetails {
        tier: info.level.name().into(),
        score: info.score.ratio(),
        candidates: info.candidates,
        runner_up: info.runner_up.map(Score::ratio),
    }
}

/// Returns the shifts of the lines; none if the text form shows how the lines moved.
fn moved_lines(report: &Report, regions: &[Region], options: &ResponseOptions) -> Vec<MovedLines> {
    // The counts and the only changed lines tell how the others moved, unless the caller knows an earlier text.
    let is_only_change = regions.len() == 1 && !report.change.has_other_shifts;
    if message::shows_lines(report, options) && is_only_change {
        return Vec::new();
    }
    report.change.shifts.iter().map(|shift| MovedLines { from: shift.from, by: shift.by }).collect()
}

fn locations(places: &[EvidenceLine]) -> Vec<MatchLocation> {
    let location = |place: &EvidenceLine| MatchLocation {
        line: place.line,
        preview: place.preview.clone(),
        symbol: place.symbol.clone(),
    };
    places.iter().map(location).collect()
}

fn nearest_lines(best: &Best) -> NearestLines {
    NearestLines {
        start_line: best.start_line,
        end_line: best.end_line,
        score: best.score.ratio(),
        lines: best.lines.clone(),
        excerpt: best.excerpt.clone(),
        first_difference: best.first_difference.as_ref().map(|difference| FirstDifference {
            line: difference.line,
            column: difference.column,
            asked: difference.expected.clone(),
            found: difference.found.clone(),
        }),
    }
}

/// Returns the edited ranges. If a fixer changed other lines, too, only the ranges of the matches say how they were found:
/// the first range at or after the beginning of each match.
fn changed_regions(report: &Report, regions: &[Region], found: Option<&MatchDetails>) -> Vec<ChangedRegion> {
    let first_at =
        |line: usize| regions.partition_point(|region| region.start_line.max(region.end_line) < line);
    let starts = report.matches.spans.iter().map(|span| *span.start());
    let lines = report.matches.lines.iter().map(|place| place.line).chain(starts);
    let matched: BTreeSet<usize> = lines.map(first_at).collect();
    let is_of_edit = |at: &usize| report.fixed_outside.is_empty() || matched.contains(at);
    let region = |(at, region): (usize, &Region)| ChangedRegion {
        start_line: region.start_line,
        end_line: region.end_line,
        new_start_line: region.new_start_line,
        new_end_line: region.new_end_line,
        found: found.filter(|_| is_of_edit(&at)).cloned(),
    };
    regions.iter().enumerate().map(region).collect()
}

pub(super) fn reported_gate(run: &GateRun) -> ReportedGate {
    // The strongest isolation is the default and is not reported.
    let isolation = run.isolation.filter(|isolation| *isolation < Isolation::Bubblewrap);
    ReportedGate {
        gate: run.gate.clone(),
        outcome: run.outcome.name().into(),
        ms: run.ms,
        why: run.why.clone(),
        isolation: isolation.map(|isolation| isolation.name().into()),
    }
}
