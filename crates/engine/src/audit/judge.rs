//! Reads the changed files in parallel, then judges them together.
//!
//! All files form one tree, and their texts at the revision form the tree before. So a gate that checks the
//! whole project runs once for all of them, as it does for the edits of one call.

use parking_lot::Mutex;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::thread::Builder;
use std::time::Duration;

use super::super::judge::GateContext;
use super::super::links::{AuditedPage, checks_links, markdown};
use super::super::load;
use super::super::services::{Services, cancelled};
use super::super::trust::CallPermissions;
use super::changed_file::{AuditedFiles, ChangedFile, RenamedFrom};
use super::normalize::comparable;
use super::skipped::skipped;
use super::{Audit, ChangeKind, CheckedFile, SkippedFile, no_longer_exists};
use lockgate_checks::{
    self as gate, DeadLinks, Draft, GateInput, InputLocation, Lost, OnDisk, Verdict, Watch, parallel,
};
use lockgate_error::{Code, Error};
use lockgate_policy::{Baseline, Policy, Profile, language_of};
use lockgate_store::{FileAtRevision, FileLocation, ListedFolders, Revision};
use lockgate_text::{Buffer, LineMap};

/// The time limit for all gates together. An audit has no deadline of its own: each run has the full timeout
/// of its gate.
const TOTAL_TIMEOUT: Duration = Duration::from_secs(24 * 60 * 60);

/// A changed file with its previous text, ready to be judged.
pub(super) struct AuditedFile {
    pub(super) place: FileLocation,
    pub(super) policy: Arc<Policy>,
    pub(super) change: ChangeKind,
    pub(super) before: Option<Buffer>,
    pub(super) map: LineMap,
    pub(super) after: Arc<Buffer>,
    pub(super) path: String,
}

impl AuditedFile {
    /// Compares a file with its text before; `None` if there is none to compare with.
    ///
    /// Errors: those of [`comparable`].
    pub(super) fn new(
        place: FileLocation,
        policy: Arc<Policy>,
        change: ChangeKind,
        before: Option<Buffer>,
        after: Arc<Buffer>,
        path: String,
    ) -> Result<AuditedFile, Error> {
        let (before, map) = before.map(|before| comparable(before, &after)).transpose()?.unzip();
        Ok(AuditedFile { place, policy, change, before, map: map.unwrap_or_default(), after, path })
    }

    /// Returns the file with the verdict on it.
    pub(super) fn into_checked(self, root_index: usize, verdict: Verdict) -> CheckedFile {
        let AuditedFile { policy, change, after, path, .. } = self;
        let policy_folder = policy.origin.folder.clone();
        CheckedFile { root_index, path, change, text: after, policy_folder, verdict }
    }
}

/// The result of reading a file for the audit.
enum FileRead {
    Ready(Box<AuditedFile>),
    /// Only the encoding differs, not the text.
    Same,
    Skipped(SkippedFile),
}

impl Services {
    /// Judges the files of a survey.
    pub(super) fn judge_changed(
        &self,
        survey: AuditedFiles,
        audit: &mut Audit,
        watch: &Watch,
    ) -> Result<(), Error> {
        let root_index = survey.root_index;
        let root = audit.roots.get(root_index).map_or(0, |root| root.root);
        let mut subjects = Vec::with_capacity(survey.changed.len());
        for read in self.read_all_changed(root, &survey, watch)? {
            match read {
                FileRead::Ready(subject) => subjects.push(*subject),
                FileRead::Same => audit.unchanged += 1,
                FileRead::Skipped(file) => audit.skipped.push(file),
            }
        }
        let removed =
            survey.removed.iter().filter_map(|path| self.admit_named(root, path, &survey.listed).ok());
        let mut to_removed = self.links_to_removed_files(&removed.collect::<Vec<_>>(), watch)?;
        let unchanged = to_removed.keys().filter(|path| !subjects.iter().any(|file| file.path == **path));
        let pages: Vec<AuditedFile> =
            unchanged.filter_map(|path| self.unchanged_page(root, path, &survey.listed)).collect();
        audit.unchanged = audit.unchanged.saturating_sub(pages.len());
        subjects.extend(pages);
        subjects.sort_by(|one, other| one.path.cmp(&other.path));
        let to_removed: Vec<Vec<DeadLinks>> =
            subjects.iter().map(|file| to_removed.remove(&file.path).unwrap_or_default()).collect();
        let permissions = CallPermissions::new(&self.trust, &self.store.files);
        let mut contexts =
            parallel(&subjects, self.threads, |subject| self.audit_context(subject, &permissions));
        // Without a revision to compare with, every finding counts.
        if survey.revision.is_none() {
            contexts.iter_mut().for_each(|context| context.rules.baseline = Baseline::All);
        }
        let verdicts = self.audit_verdicts(&subjects, &contexts, to_removed, watch)?;
        let judged = subjects.into_iter().zip(verdicts);
        audit.files.extend(judged.map(|(subject, verdict)| subject.into_checked(root_index, verdict)));
        Ok(())
    }

    /// Judges files together; `to_removed` has the links of each to files that are gone.
    pub(super) fn audit_verdicts(
        &self,
        subjects: &[AuditedFile],
        contexts: &[GateContext<'_>],
        to_removed: Vec<Vec<DeadLinks>>,
        watch: &Watch,
    ) -> Result<Vec<Verdict>, Error> {
        let has_file: Vec<_> = subjects
            .iter()
            .map(|subject| |path: &str| self.store.files.exists(&subject.place, path))
            .collect();
        let mut dead = self.audit_dead_links(subjects, contexts, watch)?;
        dead.iter_mut().zip(to_removed).for_each(|(dead, links)| dead.extend(links));
        let parts = subjects.iter().zip(contexts).zip(has_file.iter().zip(&dead));
        let cases: Vec<GateInput<'_>> = parts
            .map(|((subject, context), (has_file, dead_links))| GateInput {
                draft: Draft {
                    path: subject.place.in_root(),
                    language: context.language,
                    before: subject.before.as_ref(),
                    after: &subject.after,
                    map: &subject.map,
                    input_location: context.location,
                    files_exist: has_file,
                },
                rules: context.rules.clone(),
                env: context.env(self, &subject.policy),
                removed: false,
                group: 0,
                on_disk: OnDisk::After,
                dead_links,
                lost: Lost::none(),
            })
            .collect();
        Ok(gate::judge_all(&cases, watch))
    }

    /// Reads a page that did not change; `None` if it cannot be judged, or if no gate checks its links.
    fn unchanged_page(&self, root: usize, path: &str, listed: &ListedFolders) -> Option<AuditedFile> {
        let (place, policy) = self.admit_with_policy(root, path, listed).ok()?;
        let rules = policy.effective_rules(place.in_root(), markdown(), Profile::Check);
        rules.rules.iter().find(|rule| rule.enabled && checks_links(rule))?;
        let after = load::read(self, &place.clone().into(), &policy).ok()?.buffer;
        let before = Buffer::read(after.bytes().to_vec(), self.store.files.hints(&place)).ok()?;
        AuditedFile::new(place, policy, ChangeKind::Unchanged, Some(before), after, path.to_owned()).ok()
    }

    /// Returns, for each file, the links of pages to headings that it lost since the revision.
    fn audit_dead_links(
        &self,
        subjects: &[AuditedFile],
        contexts: &[GateContext<'_>],
        watch: &Watch,
    ) -> Result<Vec<Vec<DeadLinks>>, Error> {
        let parts = subjects.iter().zip(contexts);
        let pages: Vec<AuditedPage<'_>> = parts
            .map(|(subject, context)| {
                let mut rules = context.rules.rules.iter();
                let is_page = context.language == markdown();
                let is_checked = is_page && rules.any(|rule| rule.enabled && checks_links(rule));
                let before = subject.before.as_ref().filter(|_| is_checked).map(Buffer::view);
                AuditedPage::new(&subject.place, before, subject.after.view())
            })
            .collect();
        self.links_to_lost_anchors(&pages, watch)
    }

    /// Returns the context of a file.
    pub(super) fn audit_context<'s>(
        &'s self,
        subject: &'s AuditedFile,
        permissions: &CallPermissions<'_>,
    ) -> GateContext<'s> {
        let AuditedFile { place, policy: rules, after, .. } = subject;
        let language = language_of(place.in_root(), after.view().lines().next());
        let mut effective_rules = rules.effective_rules(place.in_root(), language, Profile::Check);
        effective_rules.total = TOTAL_TIMEOUT;
        let permission = permissions.grant(place, rules, &effective_rules);
        let cache = self.trust.cache(&self.store.files, place, &permission);
        let root = self.store.files.root_path(place).unwrap_or(Path::new(""));
        let location = InputLocation::OverFile;
        GateContext { root, location, language, rules: effective_rules, permission, cache }
    }

    /// Reads the files in parallel, each with its text at the revision, in the order of the survey.
    ///
    /// A single thread reads from the repository, whose handle is not shared.
    fn read_all_changed(
        &self,
        root: usize,
        survey: &AuditedFiles,
        watch: &Watch,
    ) -> Result<Vec<FileRead>, Error> {
        let (root_index, revision, listed) = (survey.root_index, survey.revision.as_ref(), &*survey.listed);
        let contents = survey.changed.iter().map(|changed| {
            if watch.cancelled() {
                return Err(cancelled(watch));
            }
            Ok((changed, previous_content(changed, revision, survey.whole.as_ref())?))
        });
        let read = |(changed, was): (&ChangedFile, FileAtRevision)| {
            self.read_changed(root, root_index, listed, changed, was)
        };
        in_threads(self.threads, contents, read)
    }

    /// Reads a file and compares it with its previous content.
    fn read_changed(
        &self,
        root: usize,
        root_index: usize,
        listed: &ListedFolders,
        changed: &ChangedFile,
        was: FileAtRevision,
    ) -> Result<FileRead, Error> {
        let ChangedFile { path, renamed_from: from, .. } = changed;
        let read = || -> Result<_, Error> {
            let (place, policy) = self.admit_with_policy(root, path, listed)?;
            let current = load::read(self, &place.clone().into(), &policy)?;
            current.snapshot.ok_or_else(no_longer_exists)?;
            Ok((place, policy, current.buffer))
        };
        let (place, policy, after) = match read() {
            Ok(read) => read,
            Err(error) => return skipped(root_index, path.clone(), error).map(FileRead::Skipped),
        };
        let change = match (from, &was) {
            (Some(from), _) => ChangeKind::Renamed(from.path().to_owned()),
            (None, FileAtRevision::Absent) => ChangeKind::Added,
            (None, FileAtRevision::Text(_) | FileAtRevision::Elsewhere(_)) => ChangeKind::Modified,
        };
        let before = match was {
            FileAtRevision::Absent => None,
            FileAtRevision::Elsewhere(why) => {
                let (path, reason) = (path.clone(), why.to_owned());
                return Ok(FileRead::Skipped(SkippedFile { root_index, path, reason }));
            }
            // A previous version that was not text had no findings.
            FileAtRevision::Text(bytes) => match Buffer::read(bytes, self.store.files.hints(&place)) {
                Ok(before) if from.is_none() && before.view() == after.view() => return Ok(FileRead::Same),
                Ok(before) => Some(before),
                Err(_) => None,
            },
        };
        let file = AuditedFile::new(place, policy, change, before, after, path.clone())?;
        Ok(FileRead::Ready(Box::new(file)))
    }
}

/// Reads the content of a file at the revision.
fn previous_content(
    changed: &ChangedFile,
    revision: Option<&Revision>,
    whole: Option<&Revision>,
) -> Result<FileAtRevision, Error> {
    let (revision, path) = match &changed.renamed_from {
        None => (revision, &changed.path),
        Some(RenamedFrom::InRoot(path)) => (revision, path),
        Some(RenamedFrom::Outside { from_top, .. }) => (whole, from_top),
    };
    revision.map_or(Ok(FileAtRevision::Absent), |revision| revision.file_at(path, changed.limit))
}

/// Works on items in parallel while this thread makes them, and returns the results in their order.
///
/// If the system starts fewer threads, the existing ones do all of the work.
///
/// Errors: the first one of making an item, that of the first item whose work failed, and `INTERNAL` if the system starts
/// no thread.
fn in_threads<T: Send, R: Send>(
    threads: usize,
    items: impl Iterator<Item = Result<T, Error>>,
    work: impl Fn(T) -> Result<R, Error> + Sync,
) -> Result<Vec<R>, Error> {
    in_built_threads((0..threads.max(1)).map(|_| Builder::new()), items, work)
}

/// Does the same with a thread of each builder.
fn in_built_threads<T: Send, R: Send>(
    builders: impl ExactSizeIterator<Item = Builder>,
    items: impl Iterator<Item = Result<T, Error>>,
    work: impl Fn(T) -> Result<R, Error> + Sync,
) -> Result<Vec<R>, Error> {
    let (queue, waiting) = sync_channel::<(usize, T)>(builders.len());
    let (waiting, results) = (Arc::new(Mutex::new(waiting)), Mutex::new(Vec::new()));
    let (work, done) = (&work, &results);
    std::thread::scope(|scope| {
        for builder in builders {
            let waiting = Arc::clone(&waiting);
            let run = move || {
                loop {
                    let next = waiting.lock().recv();
                    let Ok((at, item)) = next else { return };
                    let result = work(item);
                    done.lock().push((at, result));
                }
            };
            drop(builder.spawn_scoped(scope, run));
        }
        // The threads alone have the receiver: without one, or once all have stopped, sending fails and does not wait
        // for ever.
        drop(waiting);
        let queue = queue;
        for (at, item) in items.enumerate() {
            queue.send((at, item?)).map_err(|_| threads_stopped())?;
        }
        Ok::<(), Error>(())
    })?;
    let mut results = results.into_inner();
    results.sort_unstable_by_key(|(at, _)| *at);
    results.into_iter().map(|(_, result)| result).collect()
}

fn threads_stopped() -> Error {
    Error::new(Code::Internal, "the threads that read the files stopped early, or the system started none")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_the_order_of_the_items() {
        let even = |number: usize| match number % 2 {
            0 => Ok(number),
            _ => Err(Error::new(Code::Internal, number.to_string())),
        };
        let numbers = (0..100).map(|number| Ok(2 * number));
        assert_eq!(
            in_threads(3, numbers, even).unwrap(),
            (0..100).map(|number| 2 * number).collect::<Vec<_>>()
        );
        assert_eq!(in_threads(3, (0..100).map(Ok), even).unwrap_err().message, "1");
        let broken = (0..100).map(|number| if number < 50 { Ok(0) } else { Err(threads_stopped()) });
        assert_eq!(in_threads(3, broken, even).unwrap_err().message, threads_stopped().message);
    }

    #[test]
    fn the_threads_that_the_system_starts_do_all_of_the_work() {
        // No address space has room for such a stack.
        let refused = || Builder::new().stack_size(1 << 50);
        let double = |number: usize| Ok(2 * number);
        let builders = [refused(), Builder::new(), refused()].into_iter();
        let doubled = in_built_threads(builders, (0..100).map(Ok), double).unwrap();
        assert_eq!(doubled, (0..100).map(|number| 2 * number).collect::<Vec<_>>());
        let none = in_built_threads([refused(), refused()].into_iter(), (0..100).map(Ok), double);
        assert_eq!(none.unwrap_err().message, threads_stopped().message);
    }

    #[test]
    #[should_panic = "a scoped thread panicked"]
    fn threads_that_all_panic_leave_no_one_waiting() {
        let work = |_: usize| -> Result<usize, Error> { panic!("as planned") };
        drop(in_threads(2, (0..100).map(Ok), work));
    }
}
