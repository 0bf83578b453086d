//! Reports each database call to a metrics listener.

use super::{EntityStoreError, StoreListener};
use std::sync::OnceLock;
use std::time::Instant;

/// The metrics listener, if one is set.
#[derive(Default)]
pub(super) struct StoreMetrics(OnceLock<StoreListener>);

impl StoreMetrics {
    /// Sets the listener; later calls have no effect.
    pub fn set_listener(&self, listener: StoreListener) {
        drop(self.0.set(listener));
    }

    /// Runs `work` and reports it.
    pub fn measure<T>(
        &self,
        call: &'static str,
        work: impl FnOnce() -> Result<T, EntityStoreError>,
    ) -> Result<T, EntityStoreError> {
        let Some(listener) = self.0.get() else { return work() };
        let since = Instant::now();
        let result = work();
        listener(call, result.as_ref().map_or_else(result_label, |_| "done"), since.elapsed());
        result
    }
}

const fn result_label(error: &EntityStoreError) -> &'static str {
    match error {
        EntityStoreError::Full | EntityStoreError::AtFileSizeLimit(_) => "full",
        EntityStoreError::Unreachable(_) => "away",
        EntityStoreError::ConnectionLost(_) => "lost",
        EntityStoreError::Unknown => "unknown",
        EntityStoreError::Conflict => "overtaken",
        EntityStoreError::Unusable(_) => "closed",
        EntityStoreError::Other(_) | EntityStoreError::Logged(_) => "refused",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parking_lot::Mutex;
    use std::sync::Arc;

    #[test]
    fn only_the_first_listener_is_set() {
        let metrics = StoreMetrics::default();
        assert_eq!(metrics.measure("read", || Ok(1)).unwrap(), 1);
        let calls = Arc::new(Mutex::new(Vec::new()));
        for number in 0..2 {
            let calls = Arc::clone(&calls);
            metrics.set_listener(Box::new(move |call, label, _| calls.lock().push((number, call, label))));
        }
        metrics.measure("write", || Ok(())).unwrap();
        metrics.measure::<()>("read", || Err(EntityStoreError::Full)).unwrap_err();
        assert_eq!(*calls.lock(), [(0, "write", "done"), (0, "read", "full")]);
    }
}
