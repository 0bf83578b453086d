//! Counts the runs of four and of two characters that a block shares with the needle.
//!
//! One edit destroys at most four runs of four, and two runs of two. The number of missing runs is a lower bound of
//! the distance.
//!
//! Invariant: every count is at least the true one, so no bound exceeds the true distance.

use super::alphabet::CharNumber;

const WORDS: usize = 1024;
const SLOTS: usize = 1 << 12;

/// The needle's runs of four characters, as a bitmap that fits the first-level cache.
pub(super) struct Fours {
    bits: [u64; WORDS],
    run: u64,
}

impl Fours {
    pub(super) fn new<S: CharNumber>(needle: &[S]) -> Fours {
        let mut fours = Fours { bits: [0; WORDS], run: 0 };
        for run in needle.windows(4) {
            let key = run.iter().fold(0, |run, symbol| join::<S>(run, *symbol));
            let (word, bit) = slot(key);
            if let Some(word) = fours.bits.get_mut(word) {
                *word |= bit;
            }
        }
        fours
    }

    /// Counts the needle's runs that end in these symbols, which follow those of the last call.
    pub(super) fn hits<S: CharNumber>(&mut self, symbols: &[S]) -> u32 {
        let mut run = self.run;
        let mut hits = 0;
        for symbol in symbols {
            run = join::<S>(run, *symbol);
            let (word, bit) = slot(run);
            hits += u32::from(self.bits.get(word).copied().unwrap_or_default() & bit != 0);
        }
        self.run = run;
        hits
    }
}

fn join<S: CharNumber>(run: u64, symbol: S) -> u64 {
    let run = (run << S::BITS) | symbol.number() as u64;
    if S::BITS == 16 { run } else { run & 0xFFFF_FFFF }
}

fn slot(run: u64) -> (usize, u64) {
    let hash = run.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 48;
    ((hash >> 6) as usize % WORDS, 1 << (hash & 63))
}

/// Counts the runs of two that a moving span of symbols shares with the needle.
pub(super) struct Twos<'a, S> {
    symbols: &'a [S],
    slots: [i32; SLOTS],
    from: usize,
    to: usize,
    common: usize,
}

impl<'a, S: CharNumber> Twos<'a, S> {
    /// Creates an empty span of these symbols.
    pub(super) fn new(needle: &[S], symbols: &'a [S]) -> Twos<'a, S> {
        let mut twos = Twos { symbols, slots: [0; SLOTS], from: 0, to: 0, common: 0 };
        for pair in needle.windows(2) {
            if let Some(room) = pair_slot(pair).and_then(|room| twos.slots.get_mut(room)) {
                *room += 1;
            }
        }
        twos
    }

    /// Moves the span to `from..to`, neither of which may decrease. Returns the number of shared runs and the number
    /// of symbols passed.
    pub(super) fn common(&mut self, from: usize, to: usize) -> (usize, usize) {
        let last = to.saturating_sub(1).max(from);
        let removed = self.symbols.get(self.from..from.min(self.to) + 1).unwrap_or_default();
        for pair in removed.windows(2) {
            if let Some(room) = pair_slot(pair).and_then(|room| self.slots.get_mut(room)) {
                *room += 1;
                self.common -= usize::from(*room > 0);
            }
        }
        let fresh = self.to.max(from);
        let added = self.symbols.get(fresh..last + 1).unwrap_or_default();
        for pair in added.windows(2) {
            if let Some(room) = pair_slot(pair).and_then(|room| self.slots.get_mut(room)) {
                self.common += usize::from(*room > 0);
                *room -= 1;
            }
        }
        (self.from, self.to) = (from, last.max(fresh));
        (self.common, removed.len() + added.len())
    }
}

fn pair_slot<S: CharNumber>(pair: &[S]) -> Option<usize> {
    match pair {
        [first, second] => Some(((first.number() << 6) ^ second.number()) % SLOTS),
        _ => None,
    }
}
