//! What the operations of a workspace share: its stores, locks, policies, gates and caches.

use parking_lot::Mutex;
use std::collections::HashSet;
use std::sync::Arc;

use tokio::sync::Semaphore;

use super::policy_cache::PolicyCache;
use super::read::CodeIndex;
use super::recent_edits::RecentEdits;
use super::text_cache::TextCache;
use super::trust::{Trust, TrustOverride};
use lockgate_checks::{GateRuntime, Watch};
use lockgate_error::{Code, Error};
use lockgate_store::{
    EntityStore, Files, IndexFile, Journal, LockKey, Locks, Recovery, StateFolder, Store, ToolCallRecords,
    UnrecordedEdit,
};

/// The number of edits in progress per core. Edits wait for the disk more than they compute.
const EDITS_PER_CORE: usize = 8;
/// The most folders that are remembered; above this, all are forgotten.
const MAX_PREWARMED: usize = 1000;

/// The roots that may be edited, with their locks, policies and caches.
pub struct Services {
    pub(super) store: Store,
    pub(super) locks: Locks,
    /// Notes of the recovery that no report has shown yet.
    pub(super) pending_notes: Mutex<Vec<String>>,
    pub(super) policies: PolicyCache,
    pub(super) trust: Trust,
    pub(super) gate_runtime: GateRuntime,
    pub(super) prewarmed: Prewarmed,
    pub(super) state: StateFolder,
    /// The tool calls of hosts that are not finished.
    pub(super) tool_calls: ToolCallRecords,
    /// The code index of the workspace, built on first use. Poisoning tells that it may be incomplete.
    pub(super) code_index: std::sync::Mutex<CodeIndex>,
    /// The stored form of the code index.
    pub(super) index_file: IndexFile,
    pub(super) texts: TextCache,
    pub(super) recent_edits: RecentEdits,
    permits: Arc<Semaphore>,
    /// The number of worker threads for calls over many files.
    pub(super) threads: usize,
}

impl Services {
    pub(super) fn new(
        files: Files,
        state: &StateFolder,
        trust_override: TrustOverride,
        rows: EntityStore,
    ) -> Services {
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        let index_file = IndexFile::new(state, &files.root_paths(), CodeIndex::LABEL);
        Services {
            trust: Trust::new(trust_override, &files, state.clone()),
            locks: Locks::open(state),
            pending_notes: Mutex::default(),
            store: Store { journal: Journal::open(state, &files), files, rows },
            policies: PolicyCache::default(),
            gate_runtime: GateRuntime::with_proofs_dir(state.proofs()),
            prewarmed: Prewarmed::default(),
            state: state.clone(),
            tool_calls: ToolCallRecords::new(state),
            code_index: std::sync::Mutex::default(),
            index_file,
            texts: TextCache::default(),
            recent_edits: RecentEdits::default(),
            permits: Arc::new(Semaphore::new(cores * EDITS_PER_CORE)),
            threads: cores,
        }
    }

    /// Completes or rolls back incomplete edits, and keeps the notes for the next report. `held` are the keys of the locks
    /// that the caller holds.
    pub(super) fn recover_edits(&self, held: &[LockKey]) -> Recovery {
        let mut recovery = self.store.journal.recover(&self.store.files, &self.locks, held);
        let notes = std::mem::take(&mut recovery.notes);
        self.keep_notes(notes).iter().for_each(|note| tracing::warn!("{note}"));
        recovery
    }

    /// Keeps notes for the next report, and returns those that are new. An edit that cannot be recovered has the same note
    /// each time.
    fn keep_notes(&self, mut notes: Vec<String>) -> Vec<String> {
        let mut pending = self.pending_notes.lock();
        notes.retain(|note| !pending.contains(note));
        pending.extend_from_slice(&notes);
        notes
    }

    /// Recovers incomplete edits before the history is read, so that no edit that was written is missing there. Edits that
    /// are in progress are left alone.
    ///
    /// Returns the edits that a journal could not record, which the history then lacks.
    pub(super) fn recover_for_history(&self) -> Vec<UnrecordedEdit> {
        if !self.store.journal.has_unsettled_edits() {
            return Vec::new();
        }
        self.recover_edits(&[]).unrecorded
    }

    /// Runs blocking or expensive work on a thread where it does not delay other calls.
    pub(super) async fn off_reactor<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Services) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let services = Arc::clone(self);
        let closed = |_| Error::new(Code::Internal, "the workspace is closed");
        let permit = Arc::clone(&self.permits).acquire_owned().await.map_err(closed)?;
        let job = move || {
            // The permit is released when the work ends, even if the caller has stopped waiting.
            let _permit = permit;
            work(&services)
        };
        tokio::task::spawn_blocking(job).await.unwrap_or_else(|error| {
            let message = format!("the work stopped early: {error}");
            Err(Error::new(Code::Internal, message).with_unknown_disk())
        })
    }
}

/// The error of a call that its caller cancelled, or the server because it stops.
pub(super) fn cancelled(watch: &Watch) -> Error {
    if watch.is_stopping() {
        return Error::new(Code::IoFailed, "the server is shutting down")
            .hint("send the request again when the server runs again");
    }
    Error::new(Code::Internal, "the caller cancelled the request")
        .hint("send the request again if you still need it")
}

/// The folders, each with a file extension, for which language servers were started.
#[derive(Debug, Default)]
pub(super) struct Prewarmed(Mutex<HashSet<String>>);

impl Prewarmed {
    /// True if this is the first file of its extension in its folder.
    pub(super) fn is_first(&self, path: &str) -> bool {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let extension = name.rsplit_once('.').map_or(name, |(_, extension)| extension);
        let mut known = self.0.lock();
        if known.len() >= MAX_PREWARMED {
            known.clear();
        }
        known.insert(format!("{folder}/{extension}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::Fixture;
    use tokio_util::sync::CancellationToken;

    #[test]
    fn a_note_is_new_only_once() {
        let services = Fixture::new(&[]).services;
        let notes = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect::<Vec<_>>();
        assert_eq!(services.keep_notes(notes(&["a"])), ["a"]);
        assert_eq!(services.keep_notes(notes(&["a", "b"])), ["b"]);
        assert_eq!(*services.pending_notes.lock(), ["a", "b"]);
    }

    #[test]
    fn a_call_that_the_server_ends_is_not_cancelled_by_its_caller() {
        let (call, stop) = (CancellationToken::new(), CancellationToken::new());
        let watch = Watch::new(call, None).with_stop(stop.clone());
        assert_eq!(cancelled(&watch).message, "the caller cancelled the request");
        stop.cancel();
        for watch in [watch.without_progress(), watch] {
            let error = cancelled(&watch);
            assert_eq!((error.code, error.message.as_str()), (Code::IoFailed, "the server is shutting down"));
        }
    }
}
