//! The needle as bit rows, and one column of an alignment in blocks of 64 rows (Myers 1999, Hyyrö 2003).

use super::alphabet::CharNumber;

/// The number of rows in a block.
pub(super) const ROWS: usize = 64;

/// The maximum number of words for the rows of all symbols; a larger needle is not aligned.
const MOST: usize = 1 << 21;

/// The positions of each of the needle's symbols.
pub(super) struct SymbolRows {
    length: usize,
    blocks: usize,
    bits: Vec<u64>,
}

impl SymbolRows {
    /// Creates the rows of a nonempty needle; `None` if it is too large.
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

    /// Returns the number of rows.
    pub(super) fn length(&self) -> usize {
        self.length
    }

    /// Returns the number of blocks, at least one.
    pub(super) fn blocks(&self) -> usize {
        self.blocks
    }

    /// Returns the positions of a symbol, block by block.
    pub(super) fn of_symbol<S: CharNumber>(&self, symbol: S) -> &[u64] {
        let start = symbol.number() * self.blocks;
        self.bits.get(start..start + self.blocks).unwrap_or_default()
    }

    /// Returns the rows of the last block beyond the needle.
    fn beyond(&self) -> u64 {
        u64::MAX.checked_shl(u32::try_from(self.length - (self.blocks - 1) * ROWS).unwrap_or(0)).unwrap_or(0)
    }
}

/// The carry from one block to the one below: the value rises or falls across their border.
#[derive(Debug, Clone, Copy)]
pub(super) struct Carry {
    pub(super) rise: u64,
    pub(super) fall: u64,
}

/// 64 rows of a column: the rows with one more than the row above, and those with one less.
#[derive(Debug, Clone, Copy)]
pub(super) struct BitBlock {
    more: u64,
    less: u64,
}

impl BitBlock {
    /// Each row is one more than the one above: the maximum.
    pub(super) const STEEP: BitBlock = BitBlock { more: u64::MAX, less: 0 };

    /// Advances to the next column.
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

    /// Returns the distance above the block's first row, from that of its last row.
    pub(super) fn above(self, last: usize) -> usize {
        climb(self.more, self.less, last)
    }

    /// Returns the distance at the needle's last row, from that of the last row of its last block.
    pub(super) fn at_end(self, rows: &SymbolRows, last: usize) -> usize {
        climb(self.more & rows.beyond(), self.less & rows.beyond(), last)
    }

    /// Returns a lower bound of the distances of all rows, from that of the last row.
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
