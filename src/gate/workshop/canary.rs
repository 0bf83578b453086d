//! Whether a program looks at what it is given: it must find something in a text that no configuration lets pass.
//!
//! A program that is told to leave a file or a folder alone, or that reads the file on disk instead of the draft, says
//! of everything that it is clean. So a clean answer counts only where the program was seen to find something.
//!
//! Invariant: what is remembered holds for one file, one program and one configuration: a program may be told to leave
//! alone a single file of a folder.

use std::num::NonZeroUsize;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use lru::LruCache;

use super::basis::Basis;
use crate::text::Stamp;

/// The most that is remembered.
const MOST_PROOFS: NonZeroUsize = NonZeroUsize::MIN.saturating_add(4095);

/// How long a proof holds: a configuration may include files that its gate's definition does not name.
const LIFE: Duration = Duration::from_secs(60);

/// What a canary showed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::gate) enum Proof {
    /// The program found something in it.
    Works,
    /// The program reads the file, but what it is asked for is not judged there.
    Off,
    /// The program found nothing in it.
    Blind,
}

/// What canaries showed, until the program or its configuration changes, or a minute is over.
#[derive(Debug)]
pub(in crate::gate) struct Proofs(Mutex<LruCache<Stamp, (Proof, Instant)>>);

impl Default for Proofs {
    fn default() -> Proofs {
        Proofs(Mutex::new(LruCache::new(MOST_PROOFS)))
    }
}

impl Proofs {
    /// Gives what is known of the program for the file at this place in the list.
    pub(in crate::gate) fn of(&self, basis: &Basis<'_>, at: usize) -> Option<Proof> {
        let key = basis.of_file(at)?;
        let mut proofs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        proofs.get(&key).filter(|(_, since)| since.elapsed() < LIFE).map(|(proof, _)| *proof)
    }

    /// Remembers what a canary showed.
    pub(in crate::gate) fn keep(&self, basis: &Basis<'_>, at: usize, proof: Proof) {
        let Some(key) = basis.of_file(at) else { return };
        let mut proofs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        proofs.put(key, (proof, Instant::now()));
    }
}
