//! The last steps of the pipeline: publishes all drafts or none, and reports.

use std::sync::Arc;

use super::call::{Batch, ResolvedTarget, RestoredMetadata};
use super::check::CurrentText;
use super::draft::FileDraft;
use super::{Decision, Report, services::Services};
use crate::edit::Edit;
use crate::error::Error;
use crate::gate::{Outcome, Verdict, sanitize};
use crate::policy::Publishing;
use crate::store::{
    Content, DocumentPath, Entry, EntryKind, JournalRecord, PlannedFile, PublishedBatch, RetentionLimits,
    Write, WriteOutcome,
};
use crate::text::Buffer;

/// The most characters of the gates' summary in the journal.
const MAX_GATES: usize = 200;

impl Services {
    /// Reads all targets and their last journal entries.
    pub(super) fn read_all(
        &self,
        call: &Batch,
        targets: &mut [ResolvedTarget],
    ) -> Result<Vec<CurrentText>, Error> {
        let read = |(at, target): (usize, &mut ResolvedTarget)| {
            let (current, last) = self
                .read_with_last_entry(&target.place, &target.rules)
                .map_err(|error| call.with_edit_index(error, at))?;
            target.last = last;
            Ok(current)
        };
        targets.iter_mut().enumerate().map(read).collect()
    }

    /// Rejects a call that would turn a folder into a git folder, even if it only verifies.
    pub(super) fn refuse_git_folders(&self, call: &Batch, drafts: &[FileDraft<'_>]) -> Result<(), Error> {
        let (mut numbers, mut planned) = (Vec::new(), Vec::new());
        for (at, draft) in drafts.iter().enumerate() {
            let DocumentPath::File(place) = &draft.target.place else { continue };
            if draft.drafted.is_changed && draft.request.edit != Edit::Remove {
                numbers.push(at);
                planned.push(PlannedFile { place, after: Some(draft.drafted.buffer.bytes()) });
            }
        }
        self.store.files.refuse_git_folders(&planned).map_err(|rejected| {
            let (number, error) = *rejected;
            match numbers.get(number) {
                Some(at) => call.with_edit_index(error, *at),
                None => error,
            }
        })
    }

    /// Publishes the drafts, unless one of them is rejected.
    pub(super) fn publish_drafts(
        &self,
        call: &Batch,
        drafts: &[FileDraft<'_>],
    ) -> Result<Option<WriteOutcome>, Error> {
        if drafts.iter().any(|draft| draft.decision() != Decision::Write) {
            return Ok(None);
        }
        let wanted = drafts.iter().filter(|draft| draft.drafted.is_changed);
        let writes: Vec<Write<'_>> = wanted.clone().map(write).collect();
        if writes.is_empty() {
            return Ok(None);
        }
        let how = wanted.map(|draft| draft.target.rules.publishing).reduce(Publishing::stricter);
        let meta = call.edit_meta(gates(drafts));
        self.store.publish(&writes, how.unwrap_or_default(), &meta).map(Some)
    }

    /// Builds the report of each request.
    pub(super) fn reports(
        &self,
        call: &Batch,
        drafts: Vec<FileDraft<'_>>,
        batch: Option<PublishedBatch>,
    ) -> Vec<Report> {
        let is_refused = drafts.iter().any(|draft| draft.decision() == Decision::Refuse);
        let edit = batch.as_ref().and_then(|batch| batch.edit);
        let mut published = batch.into_iter().flat_map(|batch| batch.files);
        let mut reports = Vec::with_capacity(drafts.len());
        for draft in drafts {
            let is_written = !is_refused && draft.decision() == Decision::Write && draft.drafted.is_changed;
            let published = if is_written { published.next() } else { None };
            let notes = self.notes(call, &draft, published.is_some());
            let decision = match draft.decision() {
                Decision::Write if is_refused => Decision::Show,
                decision => decision,
            };
            let mut report = Report::new(draft, decision, published, edit.filter(|_| is_written));
            report.notes.extend(notes);
            reports.push(report);
        }
        if let (Some(first), Ok(mut pending)) = (reports.first_mut(), self.pending_notes.lock()) {
            first.notes.append(&mut pending);
        }
        reports
    }

    /// Returns the notes on outside changes to the file, on this edit, and on the isolation of gates.
    fn notes(&self, call: &Batch, draft: &FileDraft<'_>, is_written: bool) -> Vec<String> {
        let place = &draft.target.place;
        let foreign =
            draft.target.last.as_ref().and_then(|last| outside_notes(last, draft.target, &draft.current));
        let lost = match self.store.disabled_reason(place) {
            Some(why) => Some(format!("this edit cannot be undone: {why}")),
            None if !draft.target.rules.journals(place.in_root()) => Some(
                "this edit cannot be undone: the policy's `never_journal` keeps its texts out of the journal"
                    .to_owned(),
            ),
            None => None,
        };
        let lost = lost.filter(|_| is_written && call.kind == EntryKind::Edit);
        let occasion = place.occasion().filter(|_| is_written);
        let review = occasion.map(|occasion| {
            format!("{} runs {occasion}; a person should review it", sanitize(place.shown()))
        });
        foreign.into_iter().chain(lost).chain(review).collect()
    }

    /// Applies the journal's limits in the background.
    pub(super) fn tidy_after(self: &Arc<Self>, reports: &[Report], bounds: Option<RetentionLimits>) {
        let mut written_reports = reports.iter().filter(|report| report.edit_id.is_some()).peekable();
        let is_due = written_reports.peek().is_some()
            && self.store.is_due(written_reports.any(|report| report.entity.is_none()));
        let (Some(bounds), true) = (bounds, is_due) else { return };
        let workspace = Arc::clone(self);
        tokio::task::spawn_blocking(move || {
            if let Err(error) = workspace.store.tidy(bounds) {
                tracing::warn!("the journal was not cleaned up: {}", error.message);
            }
        });
    }
}

/// Describes a change that another program made since the last edit.
fn outside_notes(last: &Entry, target: &ResolvedTarget, current: &CurrentText) -> Option<String> {
    let (_, changed) = target.last_change()?;
    let now = current.snapshot.as_ref().map(|_| current.buffer.version());
    let (id, noun) = (last.id, target.place.noun());
    match now {
        now if now == changed.after => None,
        Some(_) => Some(format!(
            "the {noun} was overwritten by another program since edit {id}, whose text the journal keeps"
        )),
        None => Some(format!(
            "the {noun} was removed by another program since edit {id}, whose text the journal keeps"
        )),
    }
}

fn write<'a>(draft: &'a FileDraft<'_>) -> Write<'a> {
    let FileDraft { target, current, drafted, request, .. } = draft;
    let RestoredMetadata { mode, folders } = target.restored;
    let (added, removed) = drafted.map.counts();
    Write {
        place: &target.place,
        before: current.snapshot.as_ref().map(|snapshot| (snapshot, content(&current.buffer))),
        after: (request.edit != Edit::Remove).then(|| content(&drafted.buffer)),
        mode,
        folders,
        record: JournalRecord { added, removed, keep: target.rules.journals(target.place.in_root()) },
    }
}

/// Pairs a text with its version.
pub(super) fn content(buffer: &Buffer) -> Content<'_> {
    Content { version: buffer.version(), bytes: buffer.bytes() }
}

/// Summarises the verdicts of the gates.
fn gates(drafts: &[FileDraft<'_>]) -> String {
    let ran = |verdict: &Verdict| {
        let has_run = |outcome| matches!(outcome, Outcome::Passed | Outcome::Found | Outcome::Fixed);
        let runs = verdict.runs.iter().filter(|run| has_run(run.outcome));
        runs.map(|run| format!("{} {}", run.gate, run.outcome.name())).collect::<Vec<_>>()
    };
    let mut names: Vec<String> = drafts.iter().flat_map(|draft| ran(&draft.verdict)).collect();
    names.dedup();
    names.join(", ").chars().take(MAX_GATES).collect()
}
