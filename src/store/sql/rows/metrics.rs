//! Reports each database call to a metrics listener.

use super::{EntityStoreError, StoreTold};
use std::fmt;
use std::sync::OnceLock;
use std::time::Instant;

/// The metrics listener, if one is set.
#[derive(Default)]
pub(super) struct StoreMetrics(OnceLock<StoreTold>);

impl fmt::Debug for StoreMetrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tally")
    }
}

impl StoreMetrics {
    /// Sets the listener; later calls have no effect.
    pub fn tell(&self, told: StoreTold) {
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
        told(asked, done.as_ref().map_or_else(became, |_| "done"), since.elapsed());
        done
    }
}

const fn became(failure: &EntityStoreError) -> &'static str {
    match failure {
        EntityStoreError::Full => "full",
        EntityStoreError::Away(_) => "away",
        EntityStoreError::Lost(_) => "lost",
        EntityStoreError::Unknown => "unknown",
        EntityStoreError::Overtaken => "overtaken",
        EntityStoreError::Closed(_) => "closed",
        EntityStoreError::Other(_) => "refused",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    #[test]
    fn the_first_who_asks_is_told() {
        let tally = StoreMetrics::default();
        assert_eq!(tally.measure("read", || Ok(1)).unwrap(), 1);
        let heard = Arc::new(Mutex::new(Vec::new()));
        for who in 0..2 {
            let heard = Arc::clone(&heard);
            tally.tell(Box::new(move |asked, became, _| heard.lock().unwrap().push((who, asked, became))));
        }
        tally.measure("write", || Ok(())).unwrap();
        tally.measure::<()>("read", || Err(EntityStoreError::Full)).unwrap_err();
        assert_eq!(*heard.lock().unwrap(), [(0, "write", "done"), (0, "read", "full")]);
    }
}
