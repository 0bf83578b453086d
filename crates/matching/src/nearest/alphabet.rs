//! Numbers the characters of the needle.
//!
//! A distance depends only on the equality of characters in the text and the needle. Each character of the needle
//! gets a number, and all others share one.
//!
//! Invariant: a number above [`OTHER`] represents exactly one character.

/// The number of every character that is not in the needle.
pub(super) const OTHER: u16 = 0;

/// The representation of a character's number.
pub(super) trait CharNumber: Copy + Eq + Default + TryFrom<u16> + Into<usize> {
    /// The number of a character that is ignored.
    const BLANK: Self;
    /// The width of a number in bits.
    const BITS: u32;

    /// Returns the number as an index.
    fn number(self) -> usize {
        self.into()
    }
}

impl CharNumber for u8 {
    const BLANK: u8 = u8::MAX;
    const BITS: u32 = u8::BITS;
}

impl CharNumber for u16 {
    const BLANK: u16 = u16::MAX;
    const BITS: u32 = u16::BITS;
}

/// The numbers of the needle's characters.
pub(super) struct Alphabet {
    numbers: Vec<u16>,
    count: u16,
}

impl Alphabet {
    /// Numbers the needle's characters; `None` for more than 65,533 different ones.
    pub(super) fn new(needle: &str) -> Option<Alphabet> {
        let mut alphabet = Alphabet { numbers: vec![OTHER; 128], count: 0 };
        for c in needle.chars().filter(|c| !c.is_whitespace()) {
            alphabet.admit(c)?;
        }
        Some(alphabet)
    }

    fn admit(&mut self, c: char) -> Option<()> {
        let place = c as usize;
        if place >= self.numbers.len() {
            self.numbers.resize(place + 1, OTHER);
        }
        let number = self.numbers.get_mut(place)?;
        if *number == OTHER {
            self.count = self.count.checked_add(1).filter(|count| *count < u16::MAX - 1)?;
            *number = self.count;
        }
        Some(())
    }

    /// Returns the number of different characters in the needle.
    pub(super) fn count(&self) -> usize {
        usize::from(self.count)
    }

    /// Returns true if each number fits into a byte.
    pub(super) fn is_narrow(&self) -> bool {
        self.count < u16::from(u8::MAX)
    }

    /// Returns the character's number; `None` for white space.
    pub(super) fn symbol<S: CharNumber>(&self, c: char) -> Option<S> {
        let number = self.numbers.get(c as usize).copied().unwrap_or(OTHER);
        (!c.is_whitespace()).then(|| S::try_from(number).unwrap_or_default())
    }

    /// Returns the numbers of the bytes of an ASCII text.
    pub(super) fn bytes<S: CharNumber>(&self) -> [S; 256] {
        let mut table = [S::BLANK; 256];
        for (byte, slot) in (0..128u8).zip(table.iter_mut()) {
            *slot = self.symbol(char::from(byte)).unwrap_or(S::BLANK);
        }
        table
    }
}
