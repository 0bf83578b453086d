//! The report of a request, which each frontend renders in its own way.

use std::cell::OnceCell;
use std::sync::Arc;

use super::batch::Batch;
use super::decide::Decision;
use super::difference::{line_map, plan_between};
use super::load::CurrentText;
use super::plan::{Drafted, FileDraft};
use super::resolve::ResolvedTarget;
use super::services::Services;
use lockgate_checks::{Outcome, Verdict, sanitize};
use lockgate_edit::request::Entity;
use lockgate_edit::{Edit, SearchMatches};
use lockgate_error::Error;
use lockgate_policy::Policy;
use lockgate_store::{
    EditId, Entry, EntryKind, FileLocation, GuardLevel, LockKey, PublishedBatch, PublishedFile,
};
use lockgate_text::diff::{self, Diff};
use lockgate_text::{Buffer, LineMap, LineShift, Plan, Region, Version};

/// The number of recent edits, and of changes in them, among which one of the same file by another path is sought.
const RECENT_ENTRIES: usize = 50;
const RECENT_CHANGES: usize = 500;

/// The status of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// The new text is on disk.
    Written,
    /// The result equals the current text, or a search in `interactive` had no match: nothing was written.
    Unchanged,
    /// The same request made this version before: nothing was written.
    AlreadyApplied,
    /// `verify_only`: `strict` would have written this. Nothing was written.
    Verified,
    /// A gate has a new blocking finding. Nothing was written.
    Refused,
}

impl Status {
    /// The name of the status on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Status::Written => "written",
            Status::Unchanged => "unchanged",
            Status::AlreadyApplied => "already_applied",
            Status::Verified => "verified",
            Status::Refused => "refused",
        }
    }

    /// True if the request succeeded.
    pub const fn is_success(self) -> bool {
        matches!(self, Status::Written | Status::Unchanged | Status::AlreadyApplied | Status::Verified)
    }
}

/// The result of a request that reached a decision.
#[derive(Debug)]
pub struct Report {
    /// The status of the target.
    pub status: Status,
    /// The names of the target.
    pub target: TargetNames,
    /// The version on disk after the call; `None` if there is no file.
    pub version: Option<Version>,
    /// The version before the call, if the call wrote another; `None` if there was no file.
    pub previous_version: Option<Version>,
    /// The id of the edit in the journal; `None` if it is not recorded.
    pub edit_id: Option<EditId>,
    /// The level of protection against concurrent writes by other programs; `None` when nothing was written.
    pub level: Option<GuardLevel>,
    /// The matches, for a search.
    pub matches: SearchMatches,
    /// The verdict of the gates.
    pub verdict: Verdict,
    /// The folder of the policy, relative to its root; empty for the root itself.
    pub policy_folder: String,
    /// Problems that did not stop the call, such as a search in `interactive` without a match.
    pub warnings: Vec<String>,
    /// Notes for the caller, such as the isolation of gates.
    pub notes: Vec<String>,
    /// The gates that fixed the draft, if that changed bytes outside the edit.
    pub fixed_outside: Vec<String>,
    /// The change of the text.
    pub change: TextChange,
}

/// The names of the target of a report.
#[derive(Debug)]
pub struct TargetNames {
    /// The path as lockgate names it: relative to its root, with `/`.
    pub path: String,
    /// The key of the entity, if it is stored in a database.
    pub entity: Option<Entity>,
    /// The real path, if a symbolic link was followed.
    pub resolved_path: Option<String>,
    in_root: String,
}

/// The change that an edit makes to a text, written or not.
#[derive(Debug, Default)]
pub struct TextChange {
    /// The text before; `None` if there was no file.
    pub before: Option<Arc<Buffer>>,
    /// The judged text: the written text, or the one that would have been written.
    pub draft: Arc<Buffer>,
    /// Set when the edit is a removal.
    pub is_removal: bool,
    /// The shifts of lines since the version that the caller refers to.
    pub shifts: Vec<LineShift>,
    /// Set when `shifts` also has those of changes that others made since that version.
    pub has_other_shifts: bool,
    plan: Plan,
}

impl Report {
    /// Returns the bytes that the change removes and those that it adds, together.
    pub fn size(&self) -> usize {
        let TextChange { before, draft, plan, .. } = &self.change;
        if before.is_some() { plan.size() } else { draft.bytes().len() }
    }

    /// True if the edit created the file.
    pub fn is_created(&self) -> bool {
        self.status == Status::Written && self.change.before.is_none()
    }

    /// True if the edit removed the file.
    pub fn is_removed(&self) -> bool {
        self.status == Status::Written && self.change.is_removal
    }

    /// Builds the report of one draft.
    pub(super) fn new(
        draft: FileDraft<'_>,
        decision: Decision,
        published: Option<PublishedFile>,
        edit_id: Option<EditId>,
    ) -> Report {
        let FileDraft { request, target, current, base, planned, drafted, verdict, .. } = draft;
        // An undo names no version; its lines refer to the current one.
        let base = base.filter(|_| !matches!(request.edit, Edit::Restore(_)));
        let own_shifts = drafted.map.shifts();
        let shifts = match base.map(|base| line_map(&base, &current.buffer)) {
            Some(Ok(map)) => map.then(&drafted.map).shifts(),
            Some(Err(_)) | None => own_shifts.clone(),
        };
        let before = current.into_previous_text();
        let status = status(decision, published.as_ref(), &drafted);
        let before_version = before.as_ref().map(|before| before.version());
        let is_removal = request.edit == Edit::Remove;
        let (version, previous_version) = match status {
            Status::Written if is_removal => (None, before_version),
            Status::Written => (Some(drafted.buffer.version()), before_version),
            Status::Unchanged | Status::AlreadyApplied | Status::Verified | Status::Refused => {
                (before_version, None)
            }
        };
        let fixed_outside = match &drafted.fix_plan {
            Some(fixed) if reaches_outside(&planned.plan, fixed, before.as_deref(), &drafted.buffer) => {
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
            edit_id,
            level,
            matches: planned.matches,
            verdict,
            warnings: planned.warnings,
            notes,
            fixed_outside,
            change: TextChange {
                before,
                draft: drafted.buffer,
                is_removal,
                has_other_shifts: shifts != own_shifts,
                shifts,
                plan: drafted.fix_plan.unwrap_or(planned.plan),
            },
            ..Report::for_target(target, status)
        }
    }

    /// Builds the report of a call that was carried out before, from the earlier text if it is still known.
    ///
    /// Errors: `INTERNAL`, should no plan lead from one text to the other.
    pub(super) fn already_applied(
        target: &ResolvedTarget,
        edit_id: EditId,
        previous_version: Option<Version>,
        before: Option<Arc<Buffer>>,
        current: CurrentText,
    ) -> Result<Report, Error> {
        let exists = current.snapshot.is_some();
        let draft = current.buffer;
        let report = Report {
            version: exists.then(|| draft.version()),
            previous_version,
            edit_id: Some(edit_id),
            ..Report::for_target(target, Status::AlreadyApplied)
        };
        let Some(before) = before else {
            return Ok(Report { change: TextChange { draft, ..TextChange::default() }, ..report });
        };
        let plan = plan_between(&before, &draft)?;
        let shifts = plan.line_map(&before, &draft).shifts();
        let change = TextChange { before: Some(before), draft, shifts, plan, ..TextChange::default() };
        Ok(Report { change, ..report })
    }

    /// Builds a report with a target and a status only.
    fn for_target(target: &ResolvedTarget, status: Status) -> Report {
        let place = &target.place;
        Report {
            status,
            target: TargetNames {
                path: place.shown().to_owned(),
                entity: place.entity().cloned(),
                resolved_path: place.resolved().map(str::to_owned),
                in_root: place.in_root().to_owned(),
            },
            version: None,
            previous_version: None,
            edit_id: None,
            level: None,
            matches: SearchMatches::default(),
            verdict: Verdict::default(),
            policy_folder: target.rules.origin.folder.clone(),
            warnings: Vec::new(),
            notes: Vec::new(),
            fixed_outside: Vec::new(),
            change: TextChange::default(),
        }
    }

    /// Returns the diff between the text before and the draft, rendered on demand.
    ///
    /// It names the real file, relative to its root: `git apply` does not write through a link.
    pub fn diff(&self) -> Diff<'_> {
        let TextChange { before, draft, plan, .. } = &self.change;
        let path = &self.target.in_root;
        match (before, self.status) {
            (Some(before), _) if self.change.is_removal => diff::removal(path, before, draft),
            // The text before is no longer stored, and this call changed nothing.
            (None, Status::AlreadyApplied) => {
                diff::unified_with_map(path, Some(draft), draft, &LineMap::default())
            }
            (before, _) => diff::unified(path, before.as_deref(), draft, plan),
        }
    }

    /// The edited ranges, before and after.
    pub fn regions(&self) -> Vec<Region> {
        let TextChange { before, draft, plan, .. } = &self.change;
        before.as_ref().map_or_else(Vec::new, |before| plan.regions(before, draft))
    }
}

/// Builds the report of each request; `published` is what was written.
pub(super) fn report(
    services: &Services,
    batch: &Batch,
    drafts: Vec<FileDraft<'_>>,
    published: Option<PublishedBatch>,
) -> Vec<Report> {
    let is_refused = drafts.iter().any(|draft| draft.decision() == Decision::Refuse);
    let edit = published.as_ref().and_then(|published| published.edit);
    let recent = RecentChanges::new(services, edit);
    let mut files = published.into_iter().flat_map(|published| published.files);
    let mut reports = Vec::with_capacity(drafts.len());
    for draft in drafts {
        // One rejected draft keeps the others from being written.
        let decision = match draft.decision() {
            Decision::Write if is_refused => Decision::Show,
            decision => decision,
        };
        let is_written = decision == Decision::Write && draft.drafted.is_changed;
        let published = if is_written { files.next() } else { None };
        let notes = notes(services, batch, &draft, published.as_ref(), &recent);
        let mut report = Report::new(draft, decision, published, edit.filter(|_| is_written));
        report.notes.extend(notes);
        reports.push(report);
    }
    if let Some(first) = reports.first_mut() {
        first.notes.append(&mut services.pending_notes.lock());
        first.notes.append(&mut services.store.journal.take_notes());
    }
    reports
}

/// Returns the notes on outside changes to the file, on this edit, and on the isolation of gates.
fn notes(
    services: &Services,
    batch: &Batch,
    draft: &FileDraft<'_>,
    published: Option<&PublishedFile>,
    recent: &RecentChanges<'_>,
) -> Vec<String> {
    let place = &draft.target.place;
    let last = draft.target.last.as_ref();
    let foreign = last.and_then(|last| outside_notes(last, recent, draft.target, &draft.current));
    let is_written = published.is_some();
    let unrecorded = unrecorded_reason(services, draft.target);
    let lost = unrecorded
        .filter(|_| is_written && batch.kind == EntryKind::Edit)
        .map(|why| format!("this edit cannot be undone: {why}"));
    let occasion = place.occasion().filter(|_| is_written);
    let review = occasion
        .map(|occasion| format!("{} runs {occasion}; a person should review it", sanitize(place.shown())));
    foreign.into_iter().chain(lost).chain(review).collect()
}

/// Returns the reason why the journal does not keep the texts of a target, if it does not.
fn unrecorded_reason(services: &Services, target: &ResolvedTarget) -> Option<String> {
    let place = &target.place;
    if let Some(why) = place.disabled_reason(&services.store) {
        return Some(why);
    }
    let why = if target.is_journaled {
        return None;
    } else if place.row().is_none() && target.rules.limits.journal == 0 {
        "`limits.journal: 0` of the policy turns the journal off"
    } else if Policy::has_secret_name(place.in_root()) {
        "the journal keeps no text of a file with this name, as it may hold secrets"
    } else {
        "the policy's `never_journal` keeps its texts out of the journal"
    };
    Some(why.to_owned())
}

/// Describes a change that another program made since the last edit.
fn outside_notes(
    last: &Entry,
    recent: &RecentChanges<'_>,
    target: &ResolvedTarget,
    current: &CurrentText,
) -> Option<String> {
    let (_, changed) = target.last_change()?;
    let now = current.text().map(Buffer::version);
    if now == changed.after || recent.is_made_by_other_path(last, target, now) {
        return None;
    }
    let (id, noun) = (last.id, target.place.noun());
    let kept = if changed.kept { ", whose text the journal keeps" } else { "" };
    Some(match (changed.after, now) {
        (None, _) => format!("the {noun} was created again by another program since edit {id} removed it"),
        (Some(_), Some(_)) => format!("the {noun} was overwritten by another program since edit {id}{kept}"),
        (Some(_), None) => format!("the {noun} was removed by another program since edit {id}{kept}"),
    })
}

/// The recent changes in the journals of all roots, which the reports of one call share.
struct RecentChanges<'s> {
    services: &'s Services,
    /// The entry of this call, if it has one already; its changes are left out.
    edit: Option<EditId>,
    /// The changes from the newest one on, read on first use.
    changes: OnceCell<Vec<RecentChange>>,
}

struct RecentChange {
    entry: EditId,
    /// The file, if its path may still be read, and its key.
    file: Option<(LockKey, FileLocation)>,
    after: Option<Version>,
}

impl<'s> RecentChanges<'s> {
    fn new(services: &'s Services, edit: Option<EditId>) -> RecentChanges<'s> {
        RecentChanges { services, edit, changes: OnceCell::new() }
    }

    /// True if the newest edit of the file before this call, and since the last one by this path, made the text that the
    /// call found. That edit was by another path: a second hard link, or in the journal of another root that has the
    /// file.
    fn is_made_by_other_path(&self, last: &Entry, target: &ResolvedTarget, now: Option<Version>) -> bool {
        let (files, names) = (&self.services.store.files, target.place.names());
        let Some(file) = target.place.file() else { return false };
        if names.is_empty() && files.root_paths().len() == 1 {
            return false;
        }
        let (key, root) = (file.key(), files.root_path(file).ok());
        let is_same_file = |changed: &&RecentChange| {
            changed.file.as_ref().is_some_and(|(other_key, other)| {
                let is_link = || names.iter().any(|name| name == other.in_root());
                *other_key == key || files.root_path(other).ok() == root && is_link()
            })
        };
        let newest = self.changes().iter().take_while(|changed| changed.entry != last.id).find(is_same_file);
        newest.is_some_and(|changed| changed.after == now)
    }

    fn changes(&self) -> &[RecentChange] {
        self.changes.get_or_init(|| {
            let recent = self.services.store.journal.entries(None, RECENT_ENTRIES).unwrap_or_default();
            let before = recent.iter().filter(|entry| Some(entry.id) != self.edit);
            let changes = before.flat_map(|entry| entry.changes.iter().map(|changed| (entry.id, changed)));
            let resolved = changes.take(RECENT_CHANGES).map(|(entry, changed)| {
                let file = self.services.store.files.admit_to_read(&changed.path).ok();
                let file = file.map(|file| (file.key(), file));
                RecentChange { entry, file, after: changed.after }
            });
            resolved.collect()
        })
    }
}

fn status(decision: Decision, published: Option<&PublishedFile>, drafted: &Drafted) -> Status {
    match (decision, published) {
        (Decision::Refuse, _) => Status::Refused,
        (Decision::Write, Some(_)) => Status::Written,
        (Decision::Show, _) if drafted.is_changed => Status::Verified,
        (Decision::Write, None) | (Decision::Show, _) => Status::Unchanged,
    }
}

/// True if the fixes of gates change lines that the edit itself left alone.
///
/// All bytes outside the splices of `fixed` were compared and are the same.
fn reaches_outside(planned: &Plan, fixed: &Plan, before: Option<&Buffer>, draft: &Buffer) -> bool {
    let Some(before) = before else { return false };
    let Ok(requested) = before.apply(planned) else { return true };
    let requested = planned.regions(before, &requested);
    let within = |region: &Region| {
        requested.iter().any(|requested| {
            requested.start_line <= region.start_line && region.end_line <= requested.end_line
        })
    };
    !fixed.regions(before, draft).iter().all(within)
}

fn fixers(verdict: &Verdict) -> Vec<String> {
    let fixed = verdict.runs.iter().filter(|run| run.outcome == Outcome::Fixed);
    fixed.map(|run| run.gate.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Workspace;
    use crate::resolve::resolve;
    use lockgate_checks::Watch;
    use lockgate_edit::request::{Request, Target};

    /// A relative path is in the first root, and an absolute one in the innermost.
    #[tokio::test]
    async fn an_edit_in_the_journal_of_another_root_is_not_one_of_another_program() {
        let dir = tempfile::tempdir().unwrap();
        let (root, own) = (dir.path().join("root"), dir.path().join("own"));
        let (inner, path) = (root.join("in"), root.join("in/a.txt"));
        std::fs::create_dir_all(&inner).unwrap();
        let services = Workspace::at(&[root, inner]).with_state_dir(&own).services().unwrap();
        let absolute = path.to_str().unwrap();
        let edit = async |path: &str, text: &str| {
            let request =
                Request::new(Target::File(path.to_owned()), Edit::Restore(text.as_bytes().to_vec()));
            services.edit(request, Watch::idle()).await.unwrap()
        };
        edit("in/a.txt", "one\n").await;
        let journals = [edit(absolute, "two\n").await, edit("in/a.txt", "three\n").await];
        let ids = journals.each_ref().map(|report| report.edit_id.unwrap().to_string());
        assert_ne!(
            ids[0].split_once('-').unwrap().0,
            ids[1].split_once('-').unwrap().0,
            "two journals: {ids:?}"
        );
        let last = edit(absolute, "four\n").await;
        assert!(journals.iter().chain([&last]).all(|report| report.notes.is_empty()), "{last:?}");
        // The controls: an earlier text, and one of another file.
        for (text, other) in [("one\n", None), ("five\n", Some("in/b.txt"))] {
            if let Some(other) = other {
                edit(other, text).await;
            }
            std::fs::write(&path, text).unwrap();
            let report = edit("in/a.txt", "six\n").await;
            let is_note = |note: &String| note.contains("was overwritten by another program since edit ");
            assert!(report.notes.iter().any(is_note), "{report:?}");
        }
    }

    #[tokio::test]
    async fn recent_changes_are_read_once_and_not_where_no_other_path_leads_to_the_file() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("root");
        let inner = root.join("in");
        std::fs::create_dir_all(&inner).unwrap();
        for (roots, own, expected) in [(vec![root.clone()], "one", None), (vec![root, inner], "two", Some(2))]
        {
            let services = Workspace::at(&roots).with_state_dir(&dir.path().join(own)).services().unwrap();
            let request = |path: &str| Request::new(Target::File(path.to_owned()), Edit::Restore(own.into()));
            for path in ["a.txt", "b.txt"] {
                services.edit(request(path), Watch::idle()).await.unwrap();
            }
            let last = services.store.journal.entries(None, 2).unwrap().pop().unwrap();
            let targets = resolve(&services, &Batch::single(request("a.txt")), &[], &[]).unwrap();
            let recent = RecentChanges::new(&services, None);
            let read = || {
                assert!(!recent.is_made_by_other_path(&last, &targets[0], None));
                recent.changes.get().map(|changes| (changes.len(), changes.as_ptr()))
            };
            let first = read();
            assert_eq!(first.map(|(count, _)| count), expected, "{own}");
            services.edit(request("c.txt"), Watch::idle()).await.unwrap();
            assert_eq!(read(), first, "{own}");
        }
    }

    /// Two roots may have files of the same name.
    #[tokio::test]
    async fn a_file_of_another_root_is_no_hard_link() {
        let dir = tempfile::tempdir().unwrap();
        let roots = ["one", "two"].map(|name| dir.path().join(name));
        roots.iter().for_each(|root| std::fs::create_dir(root).unwrap());
        let [file, link] = ["a.txt", "b.txt"].map(|name| roots[0].join(name));
        std::fs::write(roots[0].join("quality.yaml"), "hard_links: in_place\n").unwrap();
        std::fs::write(&file, "one\n").unwrap();
        std::fs::hard_link(&file, &link).unwrap();
        let other = roots[1].join("b.txt");
        let services = Workspace::at(&roots).with_state_dir(&dir.path().join("own")).services().unwrap();
        let edit = async |path: &std::path::Path, text: &str| {
            let target = Target::File(path.to_str().unwrap().to_owned());
            let request = Request::new(target, Edit::Restore(text.as_bytes().to_vec()));
            services.edit(request, Watch::idle()).await.unwrap()
        };
        for (path, notes) in [(&link, 0), (&other, 1)] {
            edit(&file, "two\n").await;
            edit(path, "three\n").await;
            std::fs::write(&file, "three\n").unwrap();
            let report = edit(&file, "four\n").await;
            assert_eq!(report.notes.len(), notes, "{report:?}");
            edit(&other, "five\n").await;
        }
    }
}
