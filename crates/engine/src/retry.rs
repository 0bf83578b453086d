//! Starts the pipeline again: after a lock was awaited, after recovery, and when another process changed the
//! content first.

use std::sync::Arc;
use std::time::Instant;

use super::batch::Batch;
use super::lock::{self, HeldLocks};
use super::plan::FileDraft;
use super::rebase::InitialTimes;
use super::report::Report;
use super::resolve::ResolvedTarget;
use super::services::Services;
use super::{commit, load};
use lockgate_checks::Watch;
use lockgate_edit::request::{Expect, Request};
use lockgate_error::{Code, Error};
use lockgate_store::{EntryKind, LockKey, LockWaits, Recovery, RowLocation};
use lockgate_text::Buffer;

/// The number of attempts of a call, whose paths can change while it waits for their locks.
const MAX_ATTEMPTS: usize = 8;

/// What an attempt leaves for the next one.
#[derive(Default)]
pub(super) struct Attempt {
    /// The locks that the next attempt may use.
    pub(super) locks: Option<HeldLocks>,
    /// The rows of the requests' entities, which stay the same for the whole call.
    pub(super) rows: Vec<Option<RowLocation>>,
    /// The texts that the requests refer to, if they are not the current ones: those at the time of a call that had to
    /// wait, for requests that use line numbers, and those that were judged while another program wrote.
    pub(super) initial_texts: Vec<Option<Arc<Buffer>>>,
    /// The time at which these texts were recorded.
    recorded: Option<Instant>,
    /// Set after a recovery that had all locks it needs: the call goes on, even if an edit could not be recovered.
    has_recovered: bool,
    /// Set when another process has already overtaken this call once.
    was_overtaken: bool,
}

impl Attempt {
    /// True if the call can go on from a text that another program has written: by a rebase, or because an undo, or a call
    /// that makes a new file, is decided by the current text itself.
    fn may_follow(&self, batch: &Batch) -> bool {
        let is_new = |request: &Request| matches!(request.expect, Expect::Absent);
        batch.kind != EntryKind::Edit || !self.initial_texts.is_empty() || batch.requests.iter().all(is_new)
    }

    /// Records the current texts for those requests that use line numbers, unless an attempt before has done so.
    fn record_initial_texts(&mut self, services: &Services, batch: &Batch, targets: &[ResolvedTarget]) {
        let text = |(request, target): (&Request, &ResolvedTarget)| {
            let uses_lines = request.edit.counts_lines();
            let current = uses_lines.then(|| load::read(services, &target.place, &target.rules).ok())??;
            current.snapshot.is_some().then_some(current.buffer)
        };
        if self.initial_texts.is_empty() {
            self.initial_texts = batch.requests.iter().zip(targets).map(text).collect();
            self.recorded = Some(Instant::now());
        }
    }

    /// Returns the times that tell which of the initial texts are those at the arrival of the call.
    pub(super) fn initial_times(&self, watch: &Watch) -> InitialTimes {
        let recorded = self.recorded.unwrap_or_else(Instant::now);
        InitialTimes { arrival: watch.arrival(), recorded }
    }
}

/// The result of an attempt.
pub(super) enum Outcome {
    Done(Vec<Report>),
    /// These locks must be taken first.
    Busy {
        keys: Vec<LockKey>,
        /// The longest waits for them.
        waits: LockWaits,
    },
    /// The next attempt is to be made at once, with the locks that this one leaves.
    Again,
    /// Another program changed the content while the drafts were judged, as the error says. The locks are still held.
    Overtaken(Error),
}

/// An attempt to carry out the requests of a call.
pub(super) type AttemptFn = fn(&Services, &Batch, &mut Attempt, &Watch) -> Result<Outcome, Error>;

/// Makes attempts until one is done, and takes the locks between them.
///
/// Errors: those of the steps; `LOCK_TIMEOUT`; `EDIT_CONFLICT` when others change the targets each time.
pub(super) async fn run(
    services: &Arc<Services>,
    batch: Arc<Batch>,
    watch: Arc<Watch>,
    attempt_once: AttemptFn,
) -> Result<Vec<Report>, Error> {
    batch.requests.iter().for_each(|request| services.prewarm(&request.target));
    let mut attempt = Attempt::default();
    for _ in 0..MAX_ATTEMPTS {
        let (call, call_watch) = (Arc::clone(&batch), Arc::clone(&watch));
        let work = move |services: &Services| {
            let outcome = attempt_twice(services, &call, &mut attempt, &call_watch, attempt_once)?;
            Ok((outcome, attempt))
        };
        let outcome;
        (outcome, attempt) = services.off_reactor(work).await?;
        match outcome {
            Outcome::Done(reports) => {
                commit::tidy_rows(services, &reports);
                return Ok(reports);
            }
            Outcome::Busy { keys, waits } => {
                attempt.locks = Some(lock::wait(services, keys, waits, &watch).await?);
            }
            Outcome::Again => {}
            Outcome::Overtaken(error) => return Err(error),
        }
    }
    Err(Error::new(
        Code::EditConflict,
        "on each attempt the path led to another file, or an edit of it had been interrupted",
    ))
}

/// Runs the pipeline, and once more if it was overtaken, while the locks are held: the edit of the text that was judged is
/// rebased onto the current text, and judged again.
fn attempt_twice(
    services: &Services,
    batch: &Batch,
    attempt: &mut Attempt,
    watch: &Watch,
    attempt_once: AttemptFn,
) -> Result<Outcome, Error> {
    match attempt_once(services, batch, attempt, watch)? {
        // Only once in a call: the gates run again each time.
        Outcome::Overtaken(_) if !attempt.was_overtaken && attempt.may_follow(batch) => {
            attempt.was_overtaken = true;
            attempt_once(services, batch, attempt, watch)
        }
        outcome => Ok(outcome),
    }
}

/// Returns the outcome of an attempt whose locks another call holds, and records the texts at this time.
pub(super) fn busy(
    services: &Services,
    batch: &Batch,
    targets: &[ResolvedTarget],
    keys: Vec<LockKey>,
    attempt: &mut Attempt,
) -> Outcome {
    attempt.record_initial_texts(services, batch, targets);
    wait_for(targets, keys)
}

fn wait_for(targets: &[ResolvedTarget], keys: Vec<LockKey>) -> Outcome {
    Outcome::Busy { keys, waits: lock_waits(targets) }
}

/// Returns the longest waits for the locks of these targets.
pub(super) fn lock_waits(targets: &[ResolvedTarget]) -> LockWaits {
    let limits = || targets.iter().map(|target| &target.rules.limits);
    LockWaits {
        queue: limits().map(|limits| limits.queue_wait).max().unwrap_or_default(),
        process: limits().map(|limits| limits.lock_wait).max().unwrap_or_default(),
    }
}

/// Returns the texts of the drafts, onto whose successors the edits can be rebased. Empty if an edit makes a new text, or
/// takes an edit back: then the change by another program decides.
pub(super) fn judged_texts(batch: &Batch, drafts: Vec<FileDraft<'_>>) -> Vec<Option<Arc<Buffer>>> {
    let is_rebased = |draft: &FileDraft<'_>| draft.current.snapshot.is_some();
    if batch.kind != EntryKind::Edit || !drafts.iter().all(is_rebased) {
        return Vec::new();
    }
    drafts.into_iter().map(|draft| Some(draft.base.unwrap_or(draft.current.buffer))).collect()
}

/// True if a terminated process left one of the targets half-written, so that it must be recovered. Sets the last journal
/// entry of each file, which the same query finds.
///
/// Errors: `STORE_UNAVAILABLE` if the journal cannot be read and the call may write: the file of a half-written edit must
/// not be changed.
pub(super) fn needs_recovery(
    services: &Services,
    batch: &Batch,
    targets: &mut [ResolvedTarget],
    attempt: &Attempt,
) -> Result<bool, Error> {
    let mut has_interrupted = false;
    for target in targets {
        let found = target.place.interrupted_and_last(&services.store);
        let (is_interrupted, last) = if batch.may_write() { found? } else { found.unwrap_or_default() };
        target.last = last;
        has_interrupted |= is_interrupted;
    }
    Ok(has_interrupted && !attempt.has_recovered)
}

/// Completes or rolls back incomplete edits, and starts again.
///
/// An incomplete edit may have other files, which others edit or are about to recover. This call must not change its own
/// file before that edit is recovered, so it gives up its locks and waits for those of all these files. An edit that cannot
/// be recovered with all locks, as with an unreadable file, is left for a later call.
pub(super) fn recover(
    services: &Services,
    batch: &Batch,
    targets: &[ResolvedTarget],
    locks: HeldLocks,
    attempt: &mut Attempt,
) -> Outcome {
    attempt.record_initial_texts(services, batch, targets);
    let Recovery { awaited, .. } = services.recover_edits(locks.keys());
    if awaited.is_empty() {
        attempt.has_recovered = true;
        attempt.locks = Some(locks);
        return Outcome::Again;
    }
    let mut keys = locks.release();
    keys.extend(awaited);
    wait_for(targets, keys)
}
