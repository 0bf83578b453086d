//! Takes the locks of all targets of a call, in one order.

use std::time::Instant;

use super::resolve::ResolvedTarget;
use super::services::{Services, cancelled};
use lockgate_checks::Watch;
use lockgate_error::Error;
use lockgate_store::{LockGuard, LockKey, LockWaits};

/// The locks of some targets; dropping it releases them.
pub(super) struct HeldLocks {
    keys: Vec<LockKey>,
    _guard: LockGuard,
}

impl HeldLocks {
    /// Releases the locks, and returns their keys.
    pub(super) fn release(self) -> Vec<LockKey> {
        self.keys
    }
}

/// The result of taking locks without waiting.
pub(super) enum LockOutcome {
    Acquired(HeldLocks),
    /// Another call holds one of these locks.
    Busy(Vec<LockKey>),
}

/// Takes the locks of the targets, unless `held` already has exactly these.
pub(super) fn lock(services: &Services, targets: &[ResolvedTarget], held: Option<HeldLocks>) -> LockOutcome {
    let keys: Vec<LockKey> = targets.iter().map(|target| target.place.key()).collect();
    if let Some(held) = held.filter(|held| held.keys == keys) {
        return LockOutcome::Acquired(held);
    }
    match services.locks.try_hold(&keys) {
        Some(guard) => LockOutcome::Acquired(HeldLocks { keys, _guard: guard }),
        None => LockOutcome::Busy(keys),
    }
}

/// Waits for locks, at most for these times.
///
/// Errors: `LOCK_TIMEOUT`, and `INTERNAL` when the caller cancelled the request.
pub(super) async fn wait(
    services: &Services,
    keys: Vec<LockKey>,
    waits: LockWaits,
    watch: &Watch,
) -> Result<HeldLocks, Error> {
    let (guard, since) = (services.locks.hold(&keys, waits), Instant::now());
    let guard = tokio::select! { guard = guard => guard, () = watch.ended() => Err(cancelled()) };
    watch.report_lock_wait(since.elapsed());
    Ok(HeldLocks { keys, _guard: guard? })
}
