//! The edit pipeline: admit the path, find the policy, lock, read, compare with the caller's version, plan,
//! apply, judge, decide, publish, report. A single edit is a batch of one, so there is one pipeline for all.

use std::sync::Arc;
use std::time::Instant;

use super::call::{Batch, ResolvedTarget};
use super::check::{CurrentText, Drafted, cancelled};
use super::draft::FileDraft;
use super::{Report, confirm, guards, services::Services};
use crate::edit::Edit;
use crate::error::{Code, Error};
use crate::gate::{Verdict, Watch};
use crate::request::Request;
use crate::store::{LockGuard, LockKey, WriteOutcome};

/// The number of times a call restarts because its paths changed while it waited for their locks.
const MAX_ATTEMPTS: usize = 8;

/// The result of an attempt.
enum Attempt {
    Done(Vec<Report>),
    /// These locks must be taken first.
    Wait(Vec<LockKey>),
}

/// The result of the pipeline.
enum PipelineOutcome {
    Completed(Vec<Report>),
    /// Another process changed the content while the drafts were judged.
    Overtaken,
}

impl Services {
    /// Makes one edit and returns its report.
    pub(super) async fn edit(self: &Arc<Self>, request: Request, watch: Watch) -> Result<Report, Error> {
        let reports = self.run_batch(Batch::single(request), watch).await?;
        reports.into_iter().next().ok_or_else(|| Error::new(Code::Internal, "the edit has no report"))
    }

    /// Runs all edits of a call through the pipeline together.
    pub(super) async fn run_batch(
        self: &Arc<Self>,
        mut call: Batch,
        watch: Watch,
    ) -> Result<Vec<Report>, Error> {
        let (watch, mut lock_guard) = (Arc::new(watch), None);
        call.requests.iter().for_each(|request| self.prewarm(&request.target));
        for _ in 0..MAX_ATTEMPTS {
            let (call_watch, previous_lock) = (Arc::clone(&watch), lock_guard.take());
            let attempt = move |workspace: &Services| {
                let attempt = workspace.attempt(&mut call, previous_lock, &call_watch);
                attempt.map(|attempt| (attempt, call))
            };
            let (attempt, back) = self.off_reactor(attempt).await?;
            let keys = match attempt {
                Attempt::Done(reports) => {
                    self.tidy_after(&reports, back.retention);
                    return Ok(reports);
                }
                Attempt::Wait(keys) => keys,
            };
            call = back;
            let (lock, since) = (self.locks.hold(&keys, call.wait), Instant::now());
            let lock = tokio::select! { lock = lock => lock, () = watch.ended() => Err(cancelled()) };
            watch.report_lock_wait(since.elapsed());
            let lock = lock?;
            lock_guard = Some((keys, lock));
        }
        Err(Error::new(Code::EditConflict, "the path resolves to a different file on each attempt"))
    }

    /// Runs the pipeline if the required locks are held or free.
    fn attempt(
        &self,
        call: &mut Batch,
        lock_guard: Option<(Vec<LockKey>, LockGuard)>,
        watch: &Watch,
    ) -> Result<Attempt, Error> {
        let mut targets = self.admit(call)?;
        let keys: Vec<LockKey> = targets.iter().map(|target| target.place.key()).collect();
        let lock_guard =
            lock_guard.filter(|(locked_keys, _)| *locked_keys == keys).map(|(_, lock_guard)| lock_guard);
        let Some(lock_guard) = lock_guard.or_else(|| self.locks.try_hold(&keys)) else {
            self.record_initial_texts(call, &targets);
            return Ok(Attempt::Wait(keys));
        };
        if !call.has_recovered && self.is_incomplete(&targets) {
            // Only once: an edit that cannot be recovered now, as with an unreadable file, is left for a
            // later call.
            call.has_recovered = true;
            drop(lock_guard);
            self.recover_edits();
            return Ok(Attempt::Wait(keys));
        }
        let current = self.read_all(call, &mut targets)?;
        let outcome = self.run_pipeline(call, &targets, current, watch)?;
        match outcome {
            PipelineOutcome::Completed(reports) => Ok(Attempt::Done(reports)),
            // Only once: from the current text, while its lock is still held.
            PipelineOutcome::Overtaken if !call.is_retry => {
                call.is_retry = true;
                self.attempt(call, Some((keys, lock_guard)), watch)
            }
            PipelineOutcome::Overtaken => Err(overtaken_twice()),
        }
    }

    fn run_pipeline(
        &self,
        call: &Batch,
        targets: &[ResolvedTarget],
        current: Vec<CurrentText>,
        watch: &Watch,
    ) -> Result<PipelineOutcome, Error> {
        let current = match self.previous_result(call, targets, current)? {
            Ok(reports) => return Ok(PipelineOutcome::Completed(reports)),
            Err(current) => current,
        };
        let both = call.requests.iter().zip(targets).zip(current).enumerate();
        let mut drafts = both
            .map(|(at, ((request, target), current))| {
                self.draft(call, request, target, current).map_err(|error| call.with_edit_index(error, at))
            })
            .collect::<Result<Vec<FileDraft<'_>>, Error>>()?;
        self.refuse_git_folders(call, &drafts)?;
        self.judge(call, &mut drafts, watch)?;
        self.check_types(call, &drafts, watch)?;
        confirm::check(call, &drafts)?;
        let published = match self.publish_drafts(call, &drafts)? {
            None => None,
            Some(WriteOutcome::All(published)) => Some(published),
            Some(WriteOutcome::Overtaken) => return Ok(PipelineOutcome::Overtaken),
        };
        Ok(PipelineOutcome::Completed(self.reports(call, drafts, published)))
    }

    /// Builds the draft of one request.
    pub(super) fn draft<'a>(
        &self,
        call: &Batch,
        request: &'a Request,
        target: &'a ResolvedTarget,
        current: CurrentText,
    ) -> Result<FileDraft<'a>, Error> {
        let ResolvedTarget { place, rules, .. } = target;
        guards::check(request, call.kind, place, &current, rules)?;
        current.snapshot.as_ref().map_or(Ok(()), |snapshot| snapshot.check_names(place, rules.publishing))?;
        current.check(request)?;
        let base = self.base(call, request, target, &current)?;
        let planned = self.plan(request, target, &current, base.as_ref())?;
        let mut drafted = Drafted::new(&current, &planned, rules)?;
        // An empty file differs from no file.
        drafted.is_changed |= request.edit == Edit::Remove;
        Ok(FileDraft {
            request,
            target,
            current,
            base,
            planned,
            drafted,
            verdict: Verdict::default(),
            is_overridden: false,
        })
    }
}

fn overtaken_twice() -> Error {
    let message = "another process changed the target twice while the gates checked this edit";
    Error::new(Code::EditConflict, message).hint("read it again, and send the edit with its `version`")
}
