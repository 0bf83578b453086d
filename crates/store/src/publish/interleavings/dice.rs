//! Chance that is the same each time.

/// A splitmix64 generator.
#[derive(Debug, Clone)]
pub struct Dice(u64);

impl Dice {
    /// The dice of one round.
    pub fn new(seed: u64, round: usize) -> Dice {
        Dice(seed ^ (round as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    /// A number below `most`.
    pub fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % most as u64) as usize
    }
}
