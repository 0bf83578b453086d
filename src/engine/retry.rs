//! Recognises a request that is sent again because its answer was lost.
//!
//! Invariant: a call counts as done only if this same request made the current version of every file in it.

use super::call::{Batch, ResolvedTarget};
use super::check::CurrentText;
use super::{Report, services::Services};
use crate::error::Error;
use crate::request::Expect;
use crate::store::{Entry, FileChange};

impl Services {
    /// Returns the reports of a call that was carried out before, or else the texts that were read.
    ///
    /// Errors: those of comparing the versions.
    pub(super) fn previous_result(
        &self,
        call: &Batch,
        targets: &[ResolvedTarget],
        texts: Vec<CurrentText>,
    ) -> Result<Result<Vec<Report>, Vec<CurrentText>>, Error> {
        if !is_done(call, targets, &texts) {
            return Ok(Err(texts));
        }
        let report = |(target, current): (&ResolvedTarget, CurrentText)| match target.last_change() {
            Some((entry, changed)) => self.done(target, entry, changed, current),
            None => Err(Error::new(crate::error::Code::Internal, "the edit is no longer in the journal")),
        };
        targets.iter().zip(texts).map(report).collect::<Result<_, _>>().map(Ok)
    }

    fn done(
        &self,
        target: &ResolvedTarget,
        entry: &Entry,
        changed: &FileChange,
        current: CurrentText,
    ) -> Result<Report, Error> {
        let text = |version: String| self.store.text(&target.place, &version).ok().flatten();
        let before = changed.before.and_then(|before| text(before.hex()));
        let before = before.map(|bytes| current.buffer.read_other(bytes)).transpose()?;
        Report::already_applied(target, entry.id, changed.before, before, current)
    }
}

/// True if this same call made the current versions from those that it names.
fn is_done(call: &Batch, targets: &[ResolvedTarget], current: &[CurrentText]) -> bool {
    let mut stale = call.requests.iter().zip(current).filter(|(request, current)| match &request.expect {
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
                && entry.meta.request == call.digest
                && entry.meta.kind == call.kind
                && changed.after == current.snapshot.as_ref().map(|_| current.buffer.version())
        })
    })
}
