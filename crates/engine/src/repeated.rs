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
use lockgate_store::{Entry, FileChange};

/// True if an earlier call with these same requests made the current versions from those that it names.
pub(super) fn is_repeated(batch: &Batch, targets: &[ResolvedTarget], current: &[CurrentText]) -> bool {
    let mut stale = batch.requests.iter().zip(current).filter(|(request, current)| match &request.expect {
        Expect::Version(version) => !current.buffer.version().matches(version),
        Expect::Anything | Expect::Absent => false,
    });
    if stale.next().is_none() {
        return false;
    }
    let first = targets.first().and_then(|target| target.last.as_ref()).map(|entry| entry.id);
    targets.iter().zip(current).all(|(target, current)| {
        target.last_change().is_some_and(|(entry, changed)| {
            // The hash covers the named version, from which the edit may have been rebased.
            Some(entry.id) == first
                && entry.meta.request == batch.digest
                && entry.meta.kind == batch.kind
                && changed.after == current.text().map(|text| text.version())
        })
    })
}

/// Returns the reports of the call that was carried out before.
///
/// Errors: those of comparing the versions.
pub(super) fn reports(
    services: &Services,
    targets: &[ResolvedTarget],
    texts: Vec<CurrentText>,
) -> Result<Vec<Report>, Error> {
    let report = |(target, current): (&ResolvedTarget, CurrentText)| match target.last_change() {
        Some((entry, changed)) => done(services, target, entry, changed, current),
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
