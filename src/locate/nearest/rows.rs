//! The needle as rows of bits, and one column of an alignment in blocks of 64 rows (Myers 1999, Hyyrö 2003).

use super::alphabet::CharNumber;

/// The rows of a block.
pub(super) const ROWS: usize = 64;

/// The most words that the rows of all symbols may take; a needle that needs more is not aligned.
const MOST: usize = 1 << 21;

/// Where each of the needle's symbols stands.
pub(super) struct SymbolRows {
    length: usize,
    blocks: usize,
    bits: Vec<u64>,
}

impl SymbolRows {
    /// The rows of a needle that is not empty; nothing for one that is too large.
    pub(super) fn new<S: CharNumber>(
        needle: impl ExactSizeIterator<Item = S>,
        count: usize,
    ) -> Option<SymbolRows> {
        let length = needle.len();
        let blocks = length.div_ceil(ROWS);
        let words = blocks.checked_mul(count + 1).filter(|words| (1..=MOST).contains(words))?;
        let mut bits = vec![0u64; words];
        for (row, symbol) in needle.enumerate() {
            let word = bits.get_mut(symbol.number() * blocks + row / ROWS)?;
            *word |= 1 << (row % ROWS);
        }
        Some(SymbolRows { length, blocks, bits })
    }

    /// How many rows there are.
    pub(super) fn length(&self) -> usize {
        self.length
    }

    /// How many blocks there are; at least one.
    pub(super) fn blocks(&self) -> usize {
        self.blocks
    }

    /// Where the symbol stands, block by block.
    pub(super) fn of_symbol<S: CharNumber>(&self, symbol: S) -> &[u64] {
        let start = symbol.number() * self.blocks;
        self.bits.get(start..start + self.blocks).unwrap_or_default()
    }

    /// The rows of the last block that lie beyond the needle.
    fn beyond(&self) -> u64 {
        u64::MAX.checked_shl(u32::try_from(self.length - (self.blocks - 1) * ROWS).unwrap_or(0)).unwrap_or(0)
    }
}

/// What goes from one block to the one below: whether the row at their border rises or falls.
#[derive(Debug, Clone, Copy)]
pub(super) struct Carry {
    pub(super) rise: u64,
    pub(super) fall: u64,
}

/// 64 rows of a column: which are one more than the row above, which one less.
#[derive(Debug, Clone, Copy)]
pub(super) struct BitBlock {
    more: u64,
    less: u64,
}

impl BitBlock {
    /// Each row one more than the one above: the most that can be.
    pub(super) const STEEP: BitBlock = BitBlock { more: u64::MAX, less: 0 };

    /// Goes on to the next column.
    #[inline]
    pub(super) fn advance(&mut self, equal: u64, carry: Carry) -> Carry {
        let vertical = equal | self.less;
        let equal = equal | carry.fall;
        let level = ((equal & self.more).wrapping_add(self.more) ^ self.more) | equal;
        let rise = self.less | !(level | self.more);
        let fall = self.more & level;
        let (rises, falls) = ((rise << 1) | carry.rise, (fall << 1) | carry.fall);
        self.more = falls | !(vertical | rises);
        self.less = rises & vertical;
        Carry { rise: rise >> 63, fall: fall >> 63 }
    }

    /// The distance above the block's first row, from that of its last one.
    pub(super) fn above(self, last: usize) -> usize {
        climb(self.more, self.less, last)
    }

    /// The distance at the needle's last row, from that of the last row of its last block.
    pub(super) fn at_end(self, rows: &SymbolRows, last: usize) -> usize {
        climb(self.more & rows.beyond(), self.less & rows.beyond(), last)
    }

    /// A distance that no row is below, from that of the last row.
    pub(super) fn floor(self, last: usize) -> usize {
        let (mut low, mut floor) = (last, last);
        for (more, less) in self.more.to_be_bytes().iter().zip(self.less.to_be_bytes()) {
            let high = climb(u64::from(*more), u64::from(less), low);
            floor = floor.min((low + high).saturating_sub(8) / 2);
            low = high;
        }
        floor
    }
}

fn climb(more: u64, less: u64, last: usize) -> usize {
    (last + less.count_ones() as usize).saturating_sub(more.count_ones() as usize)
}
