//! The path of an edit, from the request to the report:
//!
//! ```text
//! resolve -> lock -> load -> rebase -> plan -> judge -> confirm -> commit -> report
//! ```
//!
//! Each step is a module of this name. A single edit is a batch of one; undo, redo and `verify_only` take the
//! same path. [`retry`] starts an attempt and, where needed, the next.
//!
//! Invariant: nothing under a target's path changes before `commit`, and a target's lock is held from before
//! `load` until after `commit`.

use std::sync::Arc;

use super::batch::Batch;
use super::commit::{self, Committed};
use super::link_target::check_no_newer_link;
use super::load::{self, CurrentText};
use super::lock::{self, HeldLocks, LockOutcome};
use super::plan::{self, FileDraft};
use super::report::{self, Report};
use super::resolve::{self, ResolvedTarget};
use super::retry::{self, Attempt, Outcome};
use super::services::Services;
use super::{confirm, corrections, guards, judge, mismatch, rebase, repeated};
use lockgate_checks::Watch;
use lockgate_edit::request::Request;
use lockgate_error::{Code, Error};
use lockgate_store::{EntryKind, PublishedBatch};

impl Services {
    /// Makes one edit and returns its report.
    pub(super) async fn edit(self: &Arc<Self>, request: Request, watch: Watch) -> Result<Report, Error> {
        let reports = run(self, Batch::single(request), Arc::new(watch)).await?;
        reports.into_iter().next().ok_or_else(|| Error::new(Code::Internal, "the edit has no report"))
    }

    /// Makes several edits of different files and returns their reports, in the order of the requests.
    pub(super) async fn edit_all(
        self: &Arc<Self>,
        requests: Vec<Request>,
        watch: Watch,
    ) -> Result<Vec<Report>, Error> {
        if requests.is_empty() {
            return Err(Error::new(Code::InvalidInput, "`edits` is an empty list").named_field("edits"));
        }
        run(self, Batch::new(requests, EntryKind::Edit), Arc::new(watch)).await
    }
}

/// Carries out all requests of a call, or none.
///
/// Errors: those of the steps; `LOCK_TIMEOUT`; `EDIT_CONFLICT` when others change the targets each time. After
/// an error, nothing was written, unless its `disk` is unknown.
pub(super) async fn run(
    services: &Arc<Services>,
    batch: Batch,
    watch: Arc<Watch>,
) -> Result<Vec<Report>, Error> {
    let batch = Arc::new(batch);
    let result = retry::run(services, Arc::clone(&batch), watch, attempt).await;
    let Err(error) = result else { return result };
    let correct =
        move |services: &Services| Err(corrections::with_nearest_paths(services, &batch, error, try_to_plan));
    services.off_reactor(correct).await
}

/// Plans the edits of a call without locks.
///
/// Errors: those of the steps up to the drafts.
fn try_to_plan(services: &Services, batch: &Batch) -> Result<(), Error> {
    let targets = resolve::resolve(services, batch, &[], &[])?;
    let texts = batch.try_each(&targets, |target| load::read(services, &target.place, &target.rules))?;
    drafts(services, batch, &targets, texts).map(drop)
}

/// Makes one attempt, without waiting for a lock.
fn attempt(
    services: &Services,
    batch: &Batch,
    attempt: &mut Attempt,
    watch: &Watch,
) -> Result<Outcome, Error> {
    // A text that alone shows that it is not of its type is rejected before the call waits for a lock.
    mismatch::check_whole_texts(services, batch)?;
    let mut targets = resolve::resolve(services, batch, &attempt.initial_texts, &attempt.rows)?;
    attempt.rows = targets.iter().map(|target| target.place.row().cloned()).collect();
    let mut locks = match lock::lock(services, &targets, attempt.locks.take()) {
        LockOutcome::Acquired(locks) => locks,
        LockOutcome::Busy(keys) => return Ok(retry::busy(services, batch, &targets, keys, attempt)),
        LockOutcome::Outdated => return Ok(Outcome::Again),
    };
    if retry::needs_recovery(services, batch, &mut targets, attempt)? {
        return Ok(retry::recover(services, batch, &targets, locks, attempt));
    }
    // An attempt that waited for a recovery may hold locks of other files.
    locks.retain(&targets);
    let texts = load::load(services, batch, &mut targets)?;
    if let Some(entry) = repeated::find_repeated(services, batch, &targets, &texts) {
        let reports = repeated::reports(services, &entry, &targets, texts)?;
        return Ok(Outcome::Done(reports));
    }
    rebase::set_initial_texts(services, batch, &mut targets, &texts, attempt.initial_times(watch))?;
    let mut drafts = drafts(services, batch, &targets, texts)?;
    guards::check_git_folders(services, batch, &drafts)?;
    guards::check_same_files(batch, &drafts)?;
    judge::judge(services, batch, &mut drafts, watch)?;
    // Gates may have fixed the drafts: the text that is written must be of its type, and is what a person confirms.
    mismatch::check_types(services, batch, &drafts, watch)?;
    confirm::confirm(batch, &drafts)?;
    let published = match commit::commit(services, batch, &drafts)? {
        Committed::Nothing => None,
        Committed::Written(published) => Some(with_lock_note(published, &locks)),
        Committed::Overtaken(error) => {
            // For the next attempt, if `retry` makes one: it has the same locks.
            attempt.initial_texts = retry::judged_texts(batch, drafts);
            attempt.locks = Some(locks);
            return Ok(Outcome::Overtaken(error));
        }
    };
    // The reports need time, and no lock.
    drop(locks);
    let reports = report::report(services, batch, drafts, published);
    commit::tidy_journal(services, &targets, &reports);
    Ok(Outcome::Done(reports))
}

/// Builds the drafts of all requests.
///
/// Errors: that of the first wrong edit, with the corrections of the others.
pub(super) fn drafts<'a>(
    services: &Services,
    batch: &'a Batch,
    targets: &'a [ResolvedTarget],
    texts: Vec<CurrentText>,
) -> Result<Vec<FileDraft<'a>>, Error> {
    let inputs = batch.requests.iter().zip(targets).zip(texts).enumerate();
    let mut results = inputs.map(|(at, ((request, target), current))| {
        draft(services, batch, request, target, current).map_err(|error| batch.with_edit_index(error, at))
    });
    let drafts = results.by_ref().collect::<Result<_, _>>();
    drafts.map_err(|error| corrections::with_other_corrections(error, results.filter_map(Result::err)))
}

/// Checks a request, and plans it on the text that it refers to.
fn draft<'a>(
    services: &Services,
    batch: &Batch,
    request: &'a Request,
    target: &'a ResolvedTarget,
    current: CurrentText,
) -> Result<FileDraft<'a>, Error> {
    guards::check(request, batch.kind, target, &current)?;
    services.check_removal(request, batch.kind, target)?;
    if batch.kind != EntryKind::Edit {
        check_no_newer_link(target)?;
    }
    let base = rebase::find_base(services, batch, request, target, &current)?;
    plan::plan(batch, request, target, current, base)
}

/// Adds a note to what was written, if other processes could write to the files at the same time.
fn with_lock_note(mut published: PublishedBatch, locks: &HeldLocks) -> PublishedBatch {
    if let Some((file, why)) = published.files.first_mut().zip(locks.missing_process_lock()) {
        file.notes.push(format!("other lockgate processes were not kept out while this was written: {why}"));
    }
    published
}
