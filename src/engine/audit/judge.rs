//! The changed files before the gates: several at a time, each by itself.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::super::Workspace;
use super::super::check::cancelled;
use super::dress::alike;
use super::survey::{Changed, Survey, passed_over};
use super::{Audit, Change, Checked};
use crate::error::{Code, Error};
use crate::gate::{self, Draft, Grant, Means, Stands, Watch};
use crate::policy::{Baseline, Policy, Profile, Terms, language_of};
use crate::store::{FilePlace, Revision, Was};
use crate::text::{Buffer, LineMap};

/// A file with what it was, ready to be judged.
struct Subject {
    at: usize,
    place: FilePlace,
    rules: std::sync::Arc<Policy>,
    change: Change,
    before: Option<(Buffer, LineMap)>,
    after: Buffer,
    path: String,
}

/// What became of a file before it came to the gates.
enum Read {
    Ready(Box<Subject>),
    /// It differs in nothing but how it is written.
    Same,
    PassedOver(super::PassedOver),
}

/// What the threads that judge share.
struct Line<'a> {
    ground: usize,
    all_counts: bool,
    waiting: Mutex<Receiver<Subject>>,
    judged: Mutex<Vec<(usize, Checked)>>,
    done: AtomicUsize,
    total: usize,
    watch: &'a Watch,
}

impl Workspace {
    /// Judges the files of a survey; `(done, total)` counts them among all.
    pub(super) fn judge_changed(
        &self,
        survey: Survey,
        audit: &mut Audit,
        watch: &Watch,
        (done, total): (usize, usize),
    ) -> Result<(), Error> {
        let threads = std::thread::available_parallelism().map_or(2, usize::from).min(survey.changed.len());
        // Few wait with their texts while the gates are busy.
        let (queue, waiting) = sync_channel(threads);
        let line = Line {
            ground: survey.ground,
            all_counts: survey.revision.is_none(),
            waiting: Mutex::new(waiting),
            judged: Mutex::default(),
            done: AtomicUsize::new(done),
            total,
            watch,
        };
        let root = audit.grounds.get(survey.ground).map_or(0, |ground| ground.root);
        std::thread::scope(|scope| {
            let start = |_| std::thread::Builder::new().spawn_scoped(scope, || self.work(&line)).map(drop);
            // One suffices; without any, nobody would take what is put into the queue.
            let started = (0..threads).map(start).reduce(std::io::Result::or);
            started.unwrap_or(Ok(())).map_err(|why| {
                Error::new(Code::IoFailed, format!("no thread can be started to judge files: {why}"))
                    .hint("raise the limit on processes (`ulimit -u`), and start it again")
            })?;
            let queue = queue;
            for (at, changed) in survey.changed.iter().enumerate() {
                if watch.cancelled() {
                    return Err(cancelled());
                }
                match self.read_changed(root, survey.ground, (at, changed), survey.revision.as_ref())? {
                    Read::Ready(subject) => queue.send(*subject).map_err(|_| stopped())?,
                    Read::Same => audit.unchanged += 1,
                    Read::PassedOver(passed) => audit.passed_over.push(passed),
                }
            }
            Ok(())
        })?;
        let mut judged = line.judged.into_inner().unwrap_or_else(PoisonError::into_inner);
        judged.sort_by_key(|(at, _)| *at);
        audit.files.extend(judged.into_iter().map(|(_, checked)| checked));
        Ok(())
    }

    /// Judges one file after the other, until there are no more.
    fn work(&self, line: &Line<'_>) {
        loop {
            let next = line.waiting.lock().unwrap_or_else(PoisonError::into_inner).recv();
            let Ok(subject) = next else { return };
            let done = line.done.fetch_add(1, Ordering::Relaxed);
            line.watch.report(&subject.path, done, line.total);
            let at = subject.at;
            let checked = self.judged(subject, line);
            line.judged.lock().unwrap_or_else(PoisonError::into_inner).push((at, checked));
        }
    }

    fn judged(&self, subject: Subject, line: &Line<'_>) -> Checked {
        let Subject { place, rules, change, before, after, path, .. } = subject;
        let language = language_of(place.in_root(), after.view().lines().next());
        let mut terms = rules.terms(place.in_root(), language, Profile::Check);
        terms.total = patience(&terms);
        if line.all_counts {
            terms.baseline = Baseline::All;
        }
        let grant = self.grant(&place, &rules, &terms);
        let cache = match &grant {
            Grant::Pinned(_) => self.cache(&place),
            Grant::Withheld(_) | Grant::Nowhere(_) => None,
        };
        let nothing_moved = LineMap::default();
        let root = self.store.files.root_path(&place).map(std::path::Path::to_owned).unwrap_or_default();
        let draft = Draft {
            path: place.in_root(),
            language,
            before: before.as_ref().map(|(buffer, _)| buffer),
            after: &after,
            map: before.as_ref().map_or(&nothing_moved, |(_, map)| map),
            stands: Stands::of_file(before.as_ref().map(|(buffer, _)| buffer)),
            beside: &|path: &str| self.store.files.exists(&place, path),
        };
        let means = Means {
            root: &root,
            grant: &grant,
            workshop: &self.workshop,
            isolation: rules.isolation,
            cache: cache.as_deref(),
        };
        let verdict = gate::judge(&draft, &terms, &means, &line.watch.silent());
        Checked { ground: line.ground, path, change, text: after, verdict }
    }

    /// Reads a file and what it was.
    fn read_changed(
        &self,
        root: usize,
        ground: usize,
        (at, changed): (usize, &Changed),
        revision: Option<&Revision>,
    ) -> Result<Read, Error> {
        let Changed { path, from } = changed;
        let read = || -> Result<_, Error> {
            let place = self.store.files.admit_to_read(&self.store.files.named(root, path)?)?;
            let rules = self.rules.of(&self.store.files, &place)?;
            let seen = self.read(&place.clone().into(), &rules)?;
            Ok((place, rules, seen))
        };
        let (place, rules, seen) = match read() {
            Ok((_, _, seen)) if seen.snapshot.is_none() => {
                let gone = Error::new(Code::FileNotFound, "it is gone by now");
                return passed_over(ground, path.clone(), gone).map(Read::PassedOver);
            }
            Ok(read) => read,
            Err(refusal) => return passed_over(ground, path.clone(), refusal).map(Read::PassedOver),
        };
        let after = seen.buffer;
        let was = match revision {
            Some(revision) => revision.was(from.as_ref().unwrap_or(path), rules.limits.file)?,
            None => Was::Absent,
        };
        let before = match was {
            Was::Absent => None,
            Was::Elsewhere(why) => {
                let why = why.to_owned();
                return Ok(Read::PassedOver(super::PassedOver { ground, path: path.clone(), why }));
            }
            // What was no text had no findings.
            Was::Text(bytes) => match Buffer::read(bytes, self.store.files.hints(&place)) {
                Ok(before) if from.is_none() && before.view() == after.view() => return Ok(Read::Same),
                Ok(before) => Some(alike(before, &after)?),
                Err(_) => None,
            },
        };
        let change = match (from, &before) {
            (Some(from), _) => Change::Renamed(from.clone()),
            (None, Some(_)) => Change::Modified,
            (None, None) => Change::Added,
        };
        let path = path.clone();
        Ok(Read::Ready(Box::new(Subject { at, place, rules, change, before, after, path })))
    }
}

/// How long all gates of one file may take: nobody waits for a single file, so each may take its own time, on both texts.
fn patience(terms: &Terms<'_>) -> Duration {
    let each: Duration = terms.rules.iter().map(|rule| rule.timeout).sum();
    terms.total.saturating_add(each.saturating_mul(2))
}

fn stopped() -> Error {
    Error::new(Code::Internal, "the judges stopped half-way")
}
