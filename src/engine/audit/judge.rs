//! Reads the changed files in parallel, then judges them together.
//!
//! All files form one tree, and their texts at the revision form the tree before. So a gate that checks the
//! whole project runs once for all of them, as it does for the edits of one call.

use std::path::{Path, PathBuf};
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::super::Workspace;
use super::super::check::cancelled;
use super::dress::alike;
use super::survey::{AuditedFiles, ChangedFile, passed_over};
use super::{Audit, ChangeKind, Checked, SkippedFile};
use crate::error::{Code, Error};
use crate::gate::{
    self, Case, Draft, ExecPermission, GateEnv, InputLocation, Lost, OnDisk, Verdict, Watch, parallel,
};
use crate::policy::{Baseline, EffectiveRules, Language, Policy, Profile, language_of};
use crate::store::{Cache, FilePlace, Revision, Was};
use crate::text::{Buffer, LineMap};

/// The time limit for all gates together. An audit has no deadline of its own: each run has the full timeout
/// of its gate.
const TOTAL: Duration = Duration::from_secs(24 * 60 * 60);

/// A changed file with its previous text, ready to be judged.
struct AuditedFile {
    place: FilePlace,
    rules: Arc<Policy>,
    change: ChangeKind,
    before: Option<Buffer>,
    map: LineMap,
    after: Buffer,
    path: String,
}

/// The result of reading a file for the audit.
enum FileRead {
    Ready(Box<AuditedFile>),
    /// Only the encoding differs, not the text.
    Same,
    PassedOver(SkippedFile),
}

/// The rules, permission and cache with which a file is judged.
struct AuditContext<'a> {
    language: Option<&'static Language>,
    terms: EffectiveRules<'a>,
    grant: ExecPermission,
    cache: Option<Arc<Cache>>,
    root: PathBuf,
}

impl Workspace {
    /// Judges the files of a survey.
    pub(super) fn judge_changed(
        &self,
        survey: AuditedFiles,
        audit: &mut Audit,
        watch: &Watch,
    ) -> Result<(), Error> {
        let ground = survey.ground;
        let root = audit.grounds.get(ground).map_or(0, |ground| ground.root);
        let mut subjects = Vec::with_capacity(survey.changed.len());
        for read in self.read_all_changed(root, &survey, watch)? {
            match read {
                FileRead::Ready(subject) => subjects.push(*subject),
                FileRead::Same => audit.unchanged += 1,
                FileRead::PassedOver(passed) => audit.passed_over.push(passed),
            }
        }
        let verdicts = self.verdicts_of(&subjects, survey.revision.is_none(), watch);
        audit.files.extend(subjects.into_iter().zip(verdicts).map(|(subject, verdict)| {
            let AuditedFile { change, after, path, .. } = subject;
            Checked { ground, path, change, text: after, verdict }
        }));
        Ok(())
    }

    /// Judges files together; `all_counts` is set when there is no revision to compare with.
    fn verdicts_of(&self, subjects: &[AuditedFile], all_counts: bool, watch: &Watch) -> Vec<Verdict> {
        let benches = parallel(subjects, self.threads, |subject| self.audit_bench(subject, all_counts));
        let beside: Vec<_> = subjects
            .iter()
            .map(|subject| |path: &str| self.store.files.exists(&subject.place, path))
            .collect();
        let parts = subjects.iter().zip(&benches).zip(&beside);
        let cases: Vec<Case<'_>> = parts
            .map(|((subject, bench), beside)| Case {
                draft: Draft {
                    path: subject.place.in_root(),
                    language: bench.language,
                    before: subject.before.as_ref(),
                    after: &subject.after,
                    map: &subject.map,
                    stands: InputLocation::OverFile,
                    beside,
                },
                terms: bench.terms.clone(),
                means: GateEnv {
                    root: &bench.root,
                    grant: &bench.grant,
                    workshop: &self.workshop,
                    isolation: subject.rules.isolation,
                    cache: bench.cache.as_ref().map(|cache| cache.folder()),
                },
                removed: false,
                among: 0,
                on_disk: OnDisk::After,
                dead_links: &[],
                lost: Lost::none(),
            })
            .collect();
        gate::judge_all(&cases, watch)
    }

    fn audit_bench<'s>(&self, subject: &'s AuditedFile, all_counts: bool) -> AuditContext<'s> {
        let AuditedFile { place, rules, after, .. } = subject;
        let language = language_of(place.in_root(), after.view().lines().next());
        let mut terms = rules.terms(place.in_root(), language, Profile::Check);
        terms.total = TOTAL;
        if all_counts {
            terms.baseline = Baseline::All;
        }
        let grant = self.grant(place, rules, &terms);
        let cache = match &grant {
            ExecPermission::Pinned(_) => self.cache(place),
            ExecPermission::Withheld(_) | ExecPermission::Nowhere(_) => None,
        };
        let root = self.store.files.root_path(place).map(Path::to_owned).unwrap_or_default();
        AuditContext { language, terms, grant, cache, root }
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
        let (queue, waiting) = sync_channel::<(usize, &ChangedFile, Was)>(self.threads);
        let (waiting, read) = (Mutex::new(waiting), Mutex::new(Vec::with_capacity(survey.changed.len())));
        let (ground, revision) = (survey.ground, survey.revision.as_ref());
        let work = || {
            loop {
                let next = waiting.lock().unwrap_or_else(PoisonError::into_inner).recv();
                let Ok((at, changed, was)) = next else { return };
                let done = self.read_changed(root, ground, changed, was);
                read.lock().unwrap_or_else(PoisonError::into_inner).push((at, done));
            }
        };
        std::thread::scope(|scope| {
            (0..self.threads.max(1)).for_each(|_| drop(scope.spawn(work)));
            let queue = queue;
            for (at, changed) in survey.changed.iter().enumerate() {
                if watch.cancelled() {
                    return Err(cancelled());
                }
                queue.send((at, changed, was(changed, revision)?)).map_err(|_| stopped())?;
            }
            Ok(())
        })?;
        let mut read = read.into_inner().unwrap_or_else(PoisonError::into_inner);
        read.sort_unstable_by_key(|(at, _)| *at);
        read.into_iter().map(|(_, read)| read).collect()
    }

    /// Reads a file and compares it with its previous content.
    fn read_changed(
        &self,
        root: usize,
        ground: usize,
        changed: &ChangedFile,
        was: Was,
    ) -> Result<FileRead, Error> {
        let ChangedFile { path, from, limit: _ } = changed;
        let read = || -> Result<_, Error> {
            let place = self.store.files.admit_to_read(&self.store.files.named(root, path)?)?;
            let rules = self.rules.policy(&self.store.files, &place)?;
            let seen = self.read(&place.clone().into(), &rules)?;
            Ok((place, rules, seen))
        };
        let (place, rules, seen) = match read() {
            Ok((_, _, seen)) if seen.snapshot.is_none() => {
                let gone = Error::new(Code::FileNotFound, "it is gone by now");
                return passed_over(ground, path.clone(), gone).map(FileRead::PassedOver);
            }
            Ok(read) => read,
            Err(refusal) => return passed_over(ground, path.clone(), refusal).map(FileRead::PassedOver),
        };
        let after = seen.buffer;
        let before = match was {
            Was::Absent => None,
            Was::Elsewhere(why) => {
                let why = why.to_owned();
                return Ok(FileRead::PassedOver(SkippedFile { ground, path: path.clone(), why }));
            }
            // A previous version that was not text had no findings.
            Was::Text(bytes) => match Buffer::read(bytes, self.store.files.hints(&place)) {
                Ok(before) if from.is_none() && before.view() == after.view() => return Ok(FileRead::Same),
                Ok(before) => Some(alike(before, &after)?),
                Err(_) => None,
            },
        };
        let change = match (from, &before) {
            (Some(from), _) => ChangeKind::Renamed(from.clone()),
            (None, Some(_)) => ChangeKind::Modified,
            (None, None) => ChangeKind::Added,
        };
        let path = path.clone();
        let (before, map) = before.map_or((None, LineMap::default()), |(before, map)| (Some(before), map));
        Ok(FileRead::Ready(Box::new(AuditedFile { place, rules, change, before, map, after, path })))
    }
}

/// Reads the content of a file at the revision.
fn was(changed: &ChangedFile, revision: Option<&Revision>) -> Result<Was, Error> {
    let ChangedFile { path, from, limit } = changed;
    revision.map_or(Ok(Was::Absent), |revision| revision.was(from.as_ref().unwrap_or(path), *limit))
}

fn stopped() -> Error {
    Error::new(Code::Internal, "the threads that read the files stopped half-way")
}
