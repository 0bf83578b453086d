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
    guard: LockGuard,
}

impl HeldLocks {
    /// Returns the keys of the locks.
    pub(super) fn keys(&self) -> &[LockKey] {
        &self.keys
    }

    /// Returns the reason why other processes do not respect one of the locks, if they do not.
    pub(super) fn missing_process_lock(&self) -> Option<&str> {
        self.guard.missing_process_lock()
    }

    /// Releases the locks of all but these targets.
    pub(super) fn retain(&mut self, targets: &[ResolvedTarget]) {
        if self.keys.len() > targets.len() {
            self.keys = keys(targets);
            self.guard.retain(&self.keys);
        }
    }

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
    /// A folder of a target was made since it was resolved. Its lock has another key now.
    Outdated,
}

/// Takes the locks of the targets, unless `held` already has these, and maybe others.
pub(super) fn lock(services: &Services, targets: &[ResolvedTarget], held: Option<HeldLocks>) -> LockOutcome {
    let keys = keys(targets);
    let locks = match held.filter(|held| keys.iter().all(|key| held.keys.contains(key))) {
        Some(held) => held,
        None => match services.locks.try_hold(&keys) {
            Some(guard) => HeldLocks { keys, guard },
            None => return LockOutcome::Busy(keys),
        },
    };
    if targets.iter().all(|target| target.place.has_same_key(&services.store)) {
        LockOutcome::Acquired(locks)
    } else {
        LockOutcome::Outdated
    }
}

/// Waits for locks, at most for these times.
///
/// Errors: `LOCK_TIMEOUT`, `INTERNAL` when the caller cancelled the request, `IO_FAILED` when the server stops.
pub(super) async fn wait(
    services: &Services,
    keys: Vec<LockKey>,
    waits: LockWaits,
    watch: &Watch,
) -> Result<HeldLocks, Error> {
    let (guard, since) = (services.locks.hold(&keys, waits), Instant::now());
    let guard = tokio::select! { guard = guard => guard, () = watch.ended() => Err(cancelled(watch)) };
    watch.report_lock_wait(since.elapsed());
    Ok(HeldLocks { keys, guard: guard? })
}

fn keys(targets: &[ResolvedTarget]) -> Vec<LockKey> {
    targets.iter().map(|target| target.place.key()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Workspace;
    use crate::resolve::resolve_target;
    use lockgate_edit::request::Target;
    use lockgate_store::DefaultOwner;

    #[test]
    fn a_lock_does_not_count_if_a_folder_of_the_file_was_made_meanwhile() {
        let root = tempfile::tempdir().unwrap();
        let services = Workspace::at(&[root.path().to_owned()]).services().unwrap();
        let target = Target::File("new/a.txt".to_owned());
        let resolve = || [resolve_target(&services, &target, DefaultOwner::Closest, None).unwrap()];
        let before = resolve();
        assert!(matches!(lock(&services, &before, None), LockOutcome::Acquired(_)), "the control");
        std::fs::create_dir(root.path().join("new")).unwrap();
        assert_ne!(before[0].place.key(), resolve()[0].place.key());
        assert!(matches!(lock(&services, &before, None), LockOutcome::Outdated));
        assert!(matches!(lock(&services, &resolve(), None), LockOutcome::Acquired(_)));
    }
}
