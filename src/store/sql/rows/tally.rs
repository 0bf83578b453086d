//! What whoever keeps count is told of each thing that a database was asked.

use super::{Failure, StoreTold};
use std::fmt;
use std::sync::OnceLock;
use std::time::Instant;

/// Whoever keeps count, if anybody does.
#[derive(Default)]
pub(super) struct Tally(OnceLock<StoreTold>);

impl fmt::Debug for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tally")
    }
}

impl Tally {
    /// Tells from now on; the first who asks for it is told.
    pub fn tell(&self, told: StoreTold) {
        drop(self.0.set(told));
    }

    /// Does what is asked, and tells of it.
    pub fn of<T>(
        &self,
        asked: &'static str,
        work: impl FnOnce() -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let Some(told) = self.0.get() else { return work() };
        let since = Instant::now();
        let done = work();
        told(asked, done.as_ref().map_or_else(became, |_| "done"), since.elapsed());
        done
    }
}

const fn became(failure: &Failure) -> &'static str {
    match failure {
        Failure::Full => "full",
        Failure::Away(_) => "away",
        Failure::Lost(_) => "lost",
        Failure::Unknown => "unknown",
        Failure::Overtaken => "overtaken",
        Failure::Closed(_) => "closed",
        Failure::Other(_) => "refused",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    #[test]
    fn the_first_who_asks_is_told() {
        let tally = Tally::default();
        assert_eq!(tally.of("read", || Ok(1)).unwrap(), 1);
        let heard = Arc::new(Mutex::new(Vec::new()));
        for who in 0..2 {
            let heard = Arc::clone(&heard);
            tally.tell(Box::new(move |asked, became, _| heard.lock().unwrap().push((who, asked, became))));
        }
        tally.of("write", || Ok(())).unwrap();
        tally.of::<()>("read", || Err(Failure::Full)).unwrap_err();
        assert_eq!(*heard.lock().unwrap(), [(0, "write", "done"), (0, "read", "full")]);
    }
}
