//! What the gates keep from one call to the next, and share while calls run side by side.

mod ancestors;
mod cache;
mod cache_key;
mod canary;
mod config_deps;
mod formatted;
mod slots;
mod traits;
mod versions;

use std::path::PathBuf;

pub(super) use self::ancestors::survey;
use self::cache::Answers;
pub(super) use self::cache::CachedFindings;
pub(super) use self::cache_key::{CacheInputs, CacheKey, configured};
use self::canary::Proofs;
pub(super) use self::canary::{Proof, Subject};
use self::formatted::Formatted;
pub(super) use self::slots::Slots;
pub(super) use self::traits::Traits;
pub(super) use self::versions::Versions;
use super::process::{Ceiling, strongest, unavailable_reason};
use super::server::ServerPool;
use crate::policy::Isolation;

/// What the gates keep from one call to the next: places to run in, answers, and which programs were seen to work.
#[derive(Debug)]
pub struct GateRuntime {
    pub(super) slots: Slots,
    pub(super) answers: Answers,
    pub(super) proofs: Proofs,
    pub(super) formatted: Formatted,
    /// What programs are kept apart by at most.
    pub(super) ceiling: Ceiling,
    pub(super) pool: ServerPool,
    /// The versions of programs.
    pub(super) versions: Versions,
}

impl GateRuntime {
    /// Makes one that writes down in this folder which programs were seen to work.
    pub fn with_proofs_dir(proofs: Option<PathBuf>) -> GateRuntime {
        GateRuntime { proofs: Proofs::with_directory(proofs), ..GateRuntime::default() }
    }

    /// Has language servers kept from here on, for a process that lasts.
    pub fn keep_servers(&self) {
        self.pool.enable();
    }

    /// True if language servers are kept running.
    pub fn keeps_servers(&self) -> bool {
        self.pool.is_enabled()
    }

    /// What the programs of gates are kept apart by here; found out when it is asked first.
    pub fn isolation(&self) -> Isolation {
        strongest(self.ceiling)
    }

    /// Why a better one is not to be had; nothing where it is the best.
    pub fn isolation_shortfall(&self) -> Option<String> {
        unavailable_reason(Isolation::Bubblewrap, self.ceiling)
    }
}

impl Default for GateRuntime {
    /// Without servers that stay. As many programs may run at one time as the machine has cores.
    fn default() -> GateRuntime {
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        GateRuntime {
            slots: Slots::new(cores),
            answers: Answers::default(),
            proofs: Proofs::default(),
            formatted: Formatted::default(),
            ceiling: Ceiling::default(),
            pool: ServerPool::default(),
            versions: Versions::default(),
        }
    }
}
