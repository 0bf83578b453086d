//! Recognises a request that is sent again because its answer was lost.
//!
//! Invariant: a call counts as done only if this same request made the current version of every file in it.

use std::sync::Arc;

use super::batch::Batch;
use super::load::CurrentText;
use super::report::Report;
use super::resolve::ResolvedTarget;
use super::services::Services;
use lockgate_edit::request::Expect;
use lockgate_error::{Code, Error};
use lockgate_store::{Entry, EntryKind, FileChange};

/// Returns the earlier call with these same requests that made the current versions from those that it names.
pub(super) fn find_repeated(
    services: &Services,
    batch: &Batch,
    targets: &[ResolvedTarget],
    current: &[CurrentText],
) -> Option<Entry> {
    let mut stale = batch.requests.iter().zip(current).filter(|(request, current)| match &request.expect {
        Expect::Version(version) => !current.buffer.version().matches(version),
        Expect::Anything | Expect::Absent => false,
    });
    stale.next()?;
    let last = targets.first()?.last.as_ref()?;
    if !targets.iter().all(|target| target.last.as_ref().is_some_and(|entry| entry.id == last.id)) {
        return None;
    }
    // The hash covers the named version, from which the edit may have been rebased.
    let made = made_by(services, batch, last)
        .filter(|made| made.meta.request == batch.digest && made.meta.kind == batch.kind)?;
    let is_current = |(target, current): (&ResolvedTarget, &CurrentText)| {
        let after = target.change_in(&made).map(|changed| changed.after);
        after == Some(current.text().map(|text| text.version()))
    };
    targets.iter().zip(current).all(is_current).then_some(made)
}

/// Returns the call that the last entry stands for: a redo makes its edit again.
fn made_by(services: &Services, batch: &Batch, last: &Entry) -> Option<Entry> {
    let id = match (batch.kind, last.meta.kind) {
        (EntryKind::Edit, EntryKind::Redo(of)) => of,
        _ => last.id,
    };
    services.store.entry(id).ok().flatten()
}

/// Returns the reports of the call that was carried out before.
///
/// Errors: those of comparing the versions.
pub(super) fn reports(
    services: &Services,
    entry: &Entry,
    targets: &[ResolvedTarget],
    texts: Vec<CurrentText>,
) -> Result<Vec<Report>, Error> {
    let report = |(target, current): (&ResolvedTarget, CurrentText)| match target.change_in(entry) {
        Some(changed) => done(services, target, entry, changed, current),
        None => Err(Error::new(Code::Internal, "the edit is no longer in the journal")),
    };
    targets.iter().zip(texts).map(report).collect()
}

fn done(
    services: &Services,
    target: &ResolvedTarget,
    entry: &Entry,
    changed: &FileChange,
    current: CurrentText,
) -> Result<Report, Error> {
    let text = |version: String| target.place.text(&services.store, &version).ok().flatten();
    let before = changed.before.and_then(|before| text(before.hex()));
    let before = before.map(|bytes| current.buffer.read_other(bytes).map(Arc::new)).transpose()?;
    Report::already_applied(target, entry.id, changed.before, before, current)
}
