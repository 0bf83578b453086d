//! What became of a request, for every front to render in its own way.

use super::Decision;
use super::base::moved;
use super::call::ResolvedTarget;
use super::check::CurrentText;
use super::draft::FileDraft;
use crate::edit::Edit;
use crate::error::{Error, EvidenceLine};
use crate::gate::{Outcome, Verdict};
use crate::locate::MatchInfo;
use crate::request::Entity;
use crate::store::{EditId, GuardLevel, PublishedFile};
use crate::text::diff::{self, Diff};
use crate::text::{Buffer, LineMap, LineShift, Plan, Region, Version};

/// What happened to the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// The new text is on disk.
    Written,
    /// The result equals what was there, or a search in `interactive` found nothing: nothing was written.
    Unchanged,
    /// The very request had made this version before: nothing was written.
    AlreadyApplied,
    /// `verify_only`: strict would have written this. Nothing was written.
    Verified,
    /// A gate found something new that blocks. Nothing was written.
    Refused,
}

impl Status {
    /// The status as it stands on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Status::Written => "written",
            Status::Unchanged => "unchanged",
            Status::AlreadyApplied => "already_applied",
            Status::Verified => "verified",
            Status::Refused => "refused",
        }
    }

    /// Whether the caller got what was asked for.
    pub const fn is_success(self) -> bool {
        match self {
            Status::Written | Status::Unchanged | Status::AlreadyApplied | Status::Verified => true,
            Status::Refused => false,
        }
    }
}

/// What became of a request that the engine could carry through to a decision.
#[derive(Debug)]
pub struct Report {
    /// What happened to the target.
    pub status: Status,
    /// The target as lockgate names it: relative to its root, with `/`.
    pub path: String,
    /// Its key, where it is kept in a database.
    pub entity: Option<Entity>,
    /// Where the text really lies, when a symbolic link was followed.
    pub resolved_path: Option<String>,
    /// The version that is on disk after the call; absent when there is no file.
    pub version: Option<Version>,
    /// The version before the call, when the call wrote another; absent when there was no file.
    pub previous_version: Option<Version>,
    /// Whether the edit made the file.
    pub created: bool,
    /// Whether the edit removed the file.
    pub removed: bool,
    /// Whether the edit removes the file, be it written or not.
    pub removes: bool,
    /// The name under which the edit is remembered; absent when it is not.
    pub edit_id: Option<EditId>,
    /// How the write was guarded against other programs; absent when nothing was written.
    pub level: Option<GuardLevel>,
    /// How many matches were replaced; only a search has this.
    pub replacements: Option<usize>,
    /// Where the search matched.
    pub places: Vec<EvidenceLine>,
    /// How the text was found; only a literal search has this.
    pub receipt: Option<MatchInfo>,
    /// How the lines moved since the version that the caller spoke of.
    pub shifts: Vec<LineShift>,
    /// What the gates said.
    pub verdict: Verdict,
    /// What could not be done but does not stop the call, such as a search in `interactive` that found nothing.
    pub warnings: Vec<String>,
    /// What the caller should know.
    pub notes: Vec<String>,
    /// The gates that mended the draft, where that changed bytes outside of the edit.
    pub mended_outside: Vec<String>,
    /// The text before; absent when there was no file.
    pub before: Option<Buffer>,
    /// The text that was judged: what was written, or would have been.
    pub draft: Buffer,
    plan: Plan,
    in_root: String,
}

impl Report {
    /// How many bytes its texts have.
    pub fn size(&self) -> usize {
        self.draft.view().len() + self.before.as_ref().map_or(0, |before| before.view().len())
    }

    /// What became of one draft.
    pub(super) fn new(
        draft: FileDraft<'_>,
        decision: Decision,
        published: Option<PublishedFile>,
        edit_id: Option<EditId>,
    ) -> Report {
        let FileDraft { request, target, seen, base, planned, drafted, verdict, .. } = draft;
        // Who takes an edit back names no version, and counts from the one that is there.
        let base = base.filter(|_| !matches!(request.edit, Edit::Restore(_)));
        let shifts = match base.map(|base| moved(&base, &drafted.buffer)) {
            Some(Ok(map)) => map.shifts(),
            Some(Err(_)) | None => drafted.map.shifts(),
        };
        let before = seen.release();
        let status = status(decision, published.is_some(), drafted.differs);
        let before_stamp = before.as_ref().map(Buffer::stamp);
        let removed = status == Status::Written && request.edit == Edit::Remove;
        let (version, previous_version) = match status {
            Status::Written if removed => (None, before_stamp),
            Status::Written => (Some(drafted.buffer.stamp()), before_stamp),
            Status::Unchanged | Status::AlreadyApplied | Status::Verified | Status::Refused => {
                (before_stamp, None)
            }
        };
        let mended_outside = match &drafted.mended {
            Some(mended) if reaches_out(&planned.plan, mended, before.as_ref(), &drafted.buffer) => {
                fixers(&verdict)
            }
            Some(_) | None => Vec::new(),
        };
        let level = published.as_ref().map(|published| published.level);
        let mut notes = planned.notes;
        notes.extend(published.into_iter().flat_map(|published| published.notes));
        Report {
            version,
            previous_version,
            created: status == Status::Written && before.is_none(),
            removed,
            removes: request.edit == Edit::Remove,
            edit_id,
            level,
            replacements: planned.replacements,
            places: planned.places,
            receipt: planned.receipt,
            shifts,
            verdict,
            warnings: planned.warnings,
            notes,
            mended_outside,
            before,
            draft: drafted.buffer,
            plan: drafted.mended.unwrap_or(planned.plan),
            ..Report::for_target(target, status)
        }
    }

    /// What a call is told that was carried out before, from the text that stood there then, as far as it is known.
    ///
    /// Errors: `INTERNAL`, should no plan lead from the one text to the other.
    pub(super) fn again(
        target: &ResolvedTarget,
        edit_id: EditId,
        previous_version: Option<Version>,
        before: Option<Buffer>,
        seen: CurrentText,
    ) -> Result<Report, Error> {
        let there = seen.snapshot.is_some();
        let draft = seen.buffer;
        let report = Report {
            version: there.then(|| draft.stamp()),
            previous_version,
            edit_id: Some(edit_id),
            ..Report::for_target(target, Status::AlreadyApplied)
        };
        let Some(before) = before else { return Ok(Report { draft, ..report }) };
        let plan =
            if before.is_alike(&draft) { before.toward(&draft)? } else { before.replaced(draft.bytes())? };
        let shifts = plan.line_map(&before, &draft).shifts();
        Ok(Report { shifts, plan, before: Some(before), draft, ..report })
    }

    /// A report that says no more than where it is about.
    fn for_target(target: &ResolvedTarget, status: Status) -> Report {
        let place = &target.place;
        Report {
            status,
            path: place.shown().to_owned(),
            entity: place.entity().cloned(),
            resolved_path: place.resolved().map(str::to_owned),
            version: None,
            previous_version: None,
            created: false,
            removed: false,
            removes: false,
            edit_id: None,
            level: None,
            replacements: None,
            places: Vec::new(),
            receipt: None,
            shifts: Vec::new(),
            verdict: Verdict::default(),
            warnings: Vec::new(),
            notes: Vec::new(),
            mended_outside: Vec::new(),
            before: None,
            draft: Buffer::default(),
            plan: Plan::default(),
            in_root: place.in_root().to_owned(),
        }
    }

    /// The difference between the text before and the draft, written when it is asked for.
    ///
    /// It names the file that the text really lies in, relative to its root: `git apply` does not write through a
    /// link.
    pub fn diff(&self) -> Diff<'_> {
        match (&self.before, self.status) {
            (Some(before), _) if self.removes => diff::removal(&self.in_root, before, &self.draft),
            // The text before is not kept any more, and nothing was done now.
            (None, Status::AlreadyApplied) => {
                diff::along(&self.in_root, Some(&self.draft), &self.draft, &LineMap::default())
            }
            (before, _) => diff::unified(&self.in_root, before.as_ref(), &self.draft, &self.plan),
        }
    }

    /// The edited ranges, before and after.
    pub fn regions(&self) -> Vec<Region> {
        self.before.as_ref().map_or_else(Vec::new, |before| self.plan.regions(before, &self.draft))
    }
}

fn status(decision: Decision, published: bool, differs: bool) -> Status {
    match (decision, published) {
        (Decision::Refuse, _) => Status::Refused,
        (Decision::Write, true) => Status::Written,
        (Decision::Show, _) if differs => Status::Verified,
        (Decision::Write, false) | (Decision::Show, _) => Status::Unchanged,
    }
}

/// Whether what the gates made of an edit changes lines of the text before that the edit itself left alone.
///
/// Outside of the splices of `mended` all bytes were compared and found the same.
fn reaches_out(planned: &Plan, mended: &Plan, before: Option<&Buffer>, draft: &Buffer) -> bool {
    let Some(before) = before else { return false };
    let Ok(asked) = before.apply(planned) else { return true };
    let asked = planned.regions(before, &asked);
    let within = |region: &Region| {
        asked.iter().any(|asked| asked.start_line <= region.start_line && region.end_line <= asked.end_line)
    };
    !mended.regions(before, draft).iter().all(within)
}

fn fixers(verdict: &Verdict) -> Vec<String> {
    let fixed = verdict.runs.iter().filter(|run| run.outcome == Outcome::Fixed);
    fixed.map(|run| run.gate.clone()).collect()
}
