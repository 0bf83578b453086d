//! State that gates keep between calls, and share among concurrent calls.

mod cache;
mod cache_key;
mod canary;
mod config_deps;
mod file_walk;
mod key_hasher;
mod program_kind;
mod slots;
mod traits;
mod versions;

use std::path::PathBuf;
use std::sync::Arc;

pub(super) use self::cache::CachedFindings;
use self::cache::ExpiringCache;
pub(super) use self::cache_key::{CacheKey, configured};
use self::canary::Proofs;
pub(super) use self::canary::{Proof, Subject};
pub(super) use self::file_walk::survey;
pub(super) use self::program_kind::ProgramKind;
pub(super) use self::slots::Slots;
pub(super) use self::traits::Traits;
pub(super) use self::versions::Versions;
use super::server::ServerPool;
use lockgate_sandbox::{Ceiling, Isolation, strongest, unavailable_reason};

/// State that gates keep between calls: slots, cached answers, servers, and proofs that programs work.
#[derive(Debug, Default)]
pub struct GateRuntime {
    pub(super) slots: Slots,
    pub(super) answers: ExpiringCache<CachedFindings>,
    pub(super) proofs: Proofs,
    pub(super) formatted: ExpiringCache<Arc<str>>,
    /// The strongest isolation that programs may get.
    pub(super) ceiling: Ceiling,
    pub(super) pool: ServerPool,
    pub(super) versions: Versions,
}

impl GateRuntime {
    /// Creates a runtime that saves proofs that programs work in this folder.
    pub fn with_proofs_dir(proofs: Option<PathBuf>) -> GateRuntime {
        GateRuntime { proofs: Proofs::with_directory(proofs), ..GateRuntime::default() }
    }

    /// Keeps language servers running from now on, for a long-lived process.
    pub fn keep_servers(&self) {
        self.pool.enable();
    }

    /// True if language servers are kept running.
    pub fn keeps_servers(&self) -> bool {
        self.pool.is_enabled()
    }

    /// Returns the isolation of gate programs on this machine; it is determined on first use.
    pub fn isolation(&self) -> Isolation {
        strongest(self.ceiling)
    }

    /// Returns the reason that no stronger isolation is available; `None` if it is the strongest.
    pub fn isolation_shortfall(&self) -> Option<String> {
        unavailable_reason(Isolation::Bubblewrap, self.ceiling)
    }
}
