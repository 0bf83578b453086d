//! The edit pipeline, from the request to the report, and the read operations.
//!
//! Invariant: nothing under a target's path changes before the decision to write, and a target's lock is held
//! from before it is read until after it is published.

#[cfg(feature = "check")]
mod audit;
mod base;
mod batch;
mod caches;
mod call;
mod check;
mod confirm;
mod decide;
mod draft;
mod edit;
mod entity;
mod gate_cwd;
mod guards;
mod history;
mod judge;
mod links;
mod mismatch;
mod opening;
mod prewarm;
mod publish;
mod read;
mod report;
mod retry;
#[cfg(feature = "check")]
mod root_files;
mod rules;
mod transfer;
mod trust;
mod undo;

use std::sync::{Arc, Mutex};

use tokio::sync::Semaphore;

use crate::error::{Code, Error};
use crate::gate::GateRuntime;
use crate::store::{EntityStore, Files, Journal, Locks, StateFolder, Store};
use prewarm::Prewarmed;
use read::{CodeIndex, TextCache};
use rules::PolicyCache;
use trust::Trust;

pub use crate::store::{
    Added, Cache, Cached, EditId, EditMeta, EntityDatabase, Entry, EntryKind, FileChange, GuardLevel,
    Migrated, ProjectRoot, Tenant,
};
#[cfg(feature = "check")]
pub use audit::{
    Audit, AuditRoot, AuditTarget, ChangeKind, CheckBase, CheckedFile, ProjectTrial, SkippedFile,
};
pub use caches::Caches;
pub use decide::{Decision, decide};
pub use history::EntryDiffs;
pub use opening::Opening;
pub use read::{
    CodeContext, CodeSymbol, Entries, LineMatch, ListedText, Matches, NumberedLine, ProjectSummary,
    ReadLines, ReadResponse, Reference,
};
pub use report::{Report, Status};
#[cfg(feature = "check")]
pub use root_files::OwnFile;
pub use transfer::{Exported, Import, ImportStatus, Imported, OnConflict};
pub use trust::{Commands, TrustOverride};

/// The number of edits in progress per core. Edits wait for the disk more than they compute.
const EDITS_PER_CORE: usize = 8;

/// The roots that may be edited, with their locks, policies and caches.
pub struct Workspace {
    store: Store,
    locks: Locks,
    /// Notes of the recovery that no report has shown yet.
    pending_notes: Mutex<Vec<String>>,
    rules: PolicyCache,
    trust: Trust,
    gate_runtime: GateRuntime,
    prewarmed: Prewarmed,
    /// The code index of the workspace, built on first use.
    code_index: Mutex<CodeIndex>,
    texts: TextCache,
    permits: Arc<Semaphore>,
    /// The number of worker threads for calls over many files.
    #[cfg_attr(not(feature = "check"), expect(dead_code, reason = "only `check` works on many files"))]
    threads: usize,
}

impl Workspace {
    fn with(
        files: Files,
        state: &StateFolder,
        promise: TrustOverride,
        rows: EntityStore,
    ) -> Result<Arc<Workspace>, Error> {
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        let workspace = Workspace {
            trust: Trust::new(promise, &files, state.clone()),
            locks: Locks::open(state),
            pending_notes: Mutex::default(),
            store: Store { journal: Journal::open(state, &files), files, rows },
            rules: PolicyCache::default(),
            gate_runtime: GateRuntime::with_proofs_dir(state.proofs()),
            prewarmed: Prewarmed::default(),
            code_index: Mutex::default(),
            texts: TextCache::default(),
            permits: Arc::new(Semaphore::new(cores * EDITS_PER_CORE)),
            threads: cores,
        };
        workspace.recover();
        Ok(Arc::new(workspace))
    }

    /// Keeps language servers running from now on, for a long-lived process. The first answer of a server
    /// takes longer than its gate's command, and each further one a fraction of that.
    pub fn keep_servers(&self) {
        self.gate_runtime.keep_servers();
    }

    /// Runs blocking or expensive work on a thread where it does not delay other calls.
    async fn off_reactor<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Workspace) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let workspace = Arc::clone(self);
        let closed = |_| Error::new(Code::Internal, "the workspace is closed");
        let permit = Arc::clone(&self.permits).acquire_owned().await.map_err(closed)?;
        let job = move || {
            // The permit is released when the work ends, even if the caller has stopped waiting.
            let _permit = permit;
            work(&workspace)
        };
        tokio::task::spawn_blocking(job).await.unwrap_or_else(|error| {
            let message = format!("the work stopped early: {error}");
            Err(Error::new(Code::Internal, message).with_unknown_disk())
        })
    }
}
