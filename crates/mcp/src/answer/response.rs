//! The response to one call, or to one file of several, before it is cut to size.

use std::collections::BTreeSet;

use super::entity::key;
use super::forms::Forms;
use super::gates::{finding_line, notes, required_error};
use super::message::{self, LineDisplay, Message};
use super::next::{self, NextStep};
use super::options::{DiffDisplay, ExtraField, ResponseOptions};
use super::text;
use lockgate_checks::{Finding, GateRun, Isolation};
use lockgate_edit::request::{Entity, EntityKind};
use lockgate_engine::{GuardLevel, Report, Status};
use lockgate_error::{Best, Code, Disk, Error, EvidenceLine, Since};
use lockgate_protocol::{
    ChangedRegion, EditResponse, EntityKey, FileChangesSince, FirstDifference, MatchDetails, MatchLocation,
    MovedLines, NearestLines, ReportedFinding, ReportedGate, ReportedWarning, TextFields,
};
use lockgate_text::Region;
use lockgate_text::diff::{Diff, Extent, ShownSide};

/// The hint when there are no findings but a required gate could not run.
const MISSING_GATE_HINT: &str = "make the gate run here, or ask a person to change the policy";

/// Maximum number of findings shown, and of those among them that do not count.
const MAX_FINDINGS: (usize, usize) = (20, 3);

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

/// The numbers of entries that a response never has, because only the first ones are shown.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct OmittedLines {
    pub(super) errors: usize,
    pub(super) warnings: usize,
    pub(super) findings: usize,
}

impl<'a> FullResponse<'a> {
    /// Creates the response for a request that reached a decision.
    pub(super) fn of_report(report: &'a Report, options: &ResponseOptions) -> FullResponse<'a> {
        let (diff, regions, verdict) = (report.diff(), report.regions(), &report.verdict);
        let refused = report.status == Status::Refused;
        let counted = verdict.findings.iter().enumerate().filter(|(_, finding)| finding.counts);
        let (blocking, mut warned): (Vec<_>, Vec<_>) =
            counted.partition(|(_, finding)| refused && finding.blocking);
        let blocking: Vec<&Finding> = blocking.into_iter().map(|(_, finding)| finding).collect();
        warned.sort_by_key(|(_, finding)| !finding.blocking);
        let old_findings = verdict.findings.iter().filter(|finding| !finding.counts).count();
        let shown = MAX_FINDINGS.0.min(verdict.findings.len() - old_findings + MAX_FINDINGS.1);

        let mut errors: Vec<String> =
            blocking.iter().take(MAX_FINDINGS.0).copied().map(finding_line).collect();
        errors.extend(verdict.runs.iter().filter_map(required_error));
        let forms = options.forms;
        let unchecked = verdict.runs.iter().filter(|run| !run.blocking);
        let unchecked = unchecked.filter_map(|run| {
            let text = options.shown_parts.warning(run, forms)?;
            // One note names all gates whose programs may not run, with the reason.
            Some(ReportedWarning { in_message: run.withheld, ..ReportedWarning::from(text) })
        });
        let mut warnings: Vec<ReportedWarning> =
            report.warnings.iter().cloned().map(ReportedWarning::from).chain(unchecked).collect();
        if let (Some(first), Status::Unchanged) = (report.warnings.first(), report.status) {
            warnings.iter_mut().filter(|warning| warning.text == *first).for_each(|it| it.in_message = true);
        }
        warnings.extend(warned.iter().take(MAX_FINDINGS.0).map(|(at, finding)| ReportedWarning {
            finding: Some(*at),
            ..ReportedWarning::from(finding_line(finding))
        }));

        // The caller knows the text of a file that it creates.
        let is_known = !refused && (report.change.before.is_none() || report.change.is_removal);
        let is_text = forms == Forms::Text;
        let lines = match options.diff {
            DiffDisplay::Shown if is_text && !is_known => LineDisplay::Shown,
            DiffDisplay::Shown | DiffDisplay::Omitted => LineDisplay::Unsure,
        };
        // The counts and the only changed lines tell how the others moved.
        let is_derivable = lines == LineDisplay::Shown && regions.len() == 1;
        let remedy = if blocking.is_empty() { MISSING_GATE_HINT } else { Code::GateRefused.remedy() };
        let (code, detail) = options.profile.code_pair(Code::GateRefused);
        let message = Message::of_report(report, &diff, &blocking, &errors, options);
        let match_details = report.matches.info.map(|info| MatchDetails {
            tier: info.level.name().into(),
            score: info.score.ratio(),
            candidates: info.candidates,
            runner_up: info.runner_up.map(|score| score.ratio()),
        });
        let mut response = EditResponse {
            success: Some(report.status.is_success()),
            status: Some(report.status.name().into()),
            code: code.filter(|_| refused),
            detail: detail.filter(|_| refused),
            message: Some(message.text()),
            error: error_field(&message, options).filter(|_| refused),
            key: target_key(report.target.entity.as_ref(), options),
            hint: refused.then(|| remedy.to_owned()),
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
            line_map: report
                .change
                .shifts
                .iter()
                .filter(|_| !is_derivable)
                .map(|shift| MovedLines { from: shift.from, by: shift.by })
                .collect(),
            errors,
            validation_warnings: warnings,
            findings: verdict.findings.iter().take(shown).map(reported_finding).collect(),
            gates: verdict.runs.iter().map(reported_gate).collect(),
            notes: report
                .notes
                .iter()
                .cloned()
                .chain(options.shown_parts.unshown(notes(verdict, &report.policy_folder), forms))
                .collect(),
            for_text: TextFields {
                headline: message::headline(report, &diff, blocking.len(), lines),
                match_details,
                old_findings,
                ..TextFields::default()
            },
            ..EditResponse::default()
        };
        response.for_text.are_gates_known =
            is_text && options.shown_parts.has_passed(&text::passed_names(&response));
        let omitted = OmittedLines {
            errors: blocking.len().saturating_sub(MAX_FINDINGS.0),
            warnings: warned.len().saturating_sub(MAX_FINDINGS.0),
            findings: verdict.findings.len() - response.findings.len(),
        };
        let listed = blocking.iter().take(MAX_FINDINGS.0).filter(|it| it.elsewhere.is_none());
        let near = refused.then(|| listed.map(|it| it.line).collect());
        let side = if refused && is_text { ShownSide::New } else { ShownSide::Both };
        let extent = (!is_known).then_some(Extent { max_run: MAX_SHOWN_RUN, near, side });
        FullResponse { response, message, diff: DiffSource::Edit(diff), extent, omitted }
            .in_forms(options.forms)
    }

    /// Removes what the forms do not have.
    fn in_forms(mut self, forms: Forms) -> FullResponse<'a> {
        if forms == Forms::Compact {
            self.response = self.response.compact();
            if let DiffSource::Edit(_) = self.diff {
                self.diff = DiffSource::None;
            }
        }
        self
    }

    /// Creates the response for an error.
    pub(super) fn of_error(error: &'a Error, options: &ResponseOptions) -> FullResponse<'a> {
        let hint = match (error.disk, &error.hint) {
            (Disk::Unknown, None) => format!("read the {}", options.noun()),
            (Disk::Untouched, _) | (Disk::Unknown, Some(_)) => {
                next::creation_step(error, options).unwrap_or_else(|| error.next_step().to_owned())
            }
        };
        let (next, hint) =
            match error.next.as_ref().and_then(|next| NextStep::new(next, error.entry_index(), options)) {
                None => (None, hint),
                Some(NextStep::Call(next)) => (Some(next), hint),
                Some(NextStep::Alternative(step)) => (None, format!("{hint}, or {step}")),
                Some(NextStep::Sentence(step)) => match &error.hint {
                    None => (None, step),
                    Some(own) => (None, format!("{own}; {step}")),
                },
            };
        let hint = match next::every_match_step(error, options) {
            Some(step) => format!("{hint}, or {step}"),
            None => hint,
        };
        let message = Message::of_error(error, options);
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
