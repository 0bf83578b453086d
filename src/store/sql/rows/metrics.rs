//! Reports each database call to a metrics listener.

use super::{EntityStoreError, StoreListener};
use std::fmt;
use std::sync::OnceLock;
use std::time::Instant;

/// The metrics listener, if one is set.
#[derive(Default)]
pub(super) struct StoreMetrics(OnceLock<StoreListener>);

impl fmt::Debug for StoreMetrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tally")
    }
}

impl StoreMetrics {
    /// Sets the listener; later calls have no effect.
    pub fn set_listener(&self, told: StoreListener) {
        drop(self.0.set(told));
    }

    /// Runs `work` and reports it.
    pub fn measure<T>(
        &self,
        asked: &'static str,
        work: impl FnOnce() -> Result<T, EntityStoreError>,
    ) -> Result<T, EntityStoreError> {
        let Some(told) = self.0.get() else { return work() };
        let since = Instant::now();
        let done = work();
        told(asked, done.as_ref().map_or_else(result_label, |_| "done"), since.elapsed());
        done
    }
}

const fn result_label(failure: &EntityStoreError) -> &'static str {
    match failure {
        EntityStoreError::Full => "full",
        EntityStoreError::Unreachable(_) => "away",
        EntityStoreError::ConnectionLost(_) => "lost",
        EntityStoreError::Unknown => "unknown",
        EntityStoreError::Conflict => "overtaken",
        EntityStoreError::Unusable(_) => "closed",
        EntityStoreError::Other(_) => "refused",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    #[test]
    fn only_the_first_listener_is_set() {
        let tally = StoreMetrics::default();
        assert_eq!(tally.measure("read", || Ok(1)).unwrap(), 1);
        let heard = Arc::new(Mutex::new(Vec::new()));
        for who in 0..2 {
            let heard = Arc::clone(&heard);
            tally.set_listener(Box::new(move |asked, became, _| {
                heard.lock().unwrap().push((who, asked, became))
            }));
        }
        tally.measure("write", || Ok(())).unwrap();
        tally.measure::<()>("read", || Err(EntityStoreError::Full)).unwrap_err();
        assert_eq!(*heard.lock().unwrap(), [(0, "write", "done"), (0, "read", "full")]);
    }
}
