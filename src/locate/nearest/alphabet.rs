//! Which characters matter: those of the needle.
//!
//! A distance depends only on which characters of a text equal which of the needle, so each of the needle's gets a
//! number and all others share one.
//!
//! Invariant: a number above [`OTHER`] stands for exactly one character.

/// The number of every character that the needle lacks.
pub(super) const OTHER: u16 = 0;

/// How a character's number is kept.
pub(super) trait CharNumber: Copy + Eq + Default {
    /// The mark of a character that is left out.
    const BLANK: Self;
    /// The width in bits.
    const BITS: u32;
    /// The symbol of a number that fits.
    fn from_number(number: u16) -> Self;
    /// The symbol's number.
    fn number(self) -> usize;
}

impl CharNumber for u8 {
    const BLANK: u8 = u8::MAX;
    const BITS: u32 = 8;

    fn from_number(number: u16) -> u8 {
        u8::try_from(number).unwrap_or_default()
    }

    fn number(self) -> usize {
        usize::from(self)
    }
}

impl CharNumber for u16 {
    const BLANK: u16 = u16::MAX;
    const BITS: u32 = 16;

    fn from_number(number: u16) -> u16 {
        number
    }

    fn number(self) -> usize {
        usize::from(self)
    }
}

/// The numbers of the needle's characters.
pub(super) struct Alphabet {
    numbers: Vec<u16>,
    count: u16,
}

impl Alphabet {
    /// Numbers the needle's characters; nothing for more than 65,533 different ones.
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

    /// How many different characters the needle has.
    pub(super) fn count(&self) -> usize {
        usize::from(self.count)
    }

    /// Whether each number fits into a byte.
    pub(super) fn is_narrow(&self) -> bool {
        self.count < u16::from(u8::MAX)
    }

    /// The character's symbol; nothing for white space.
    pub(super) fn symbol<S: CharNumber>(&self, c: char) -> Option<S> {
        (!c.is_whitespace()).then(|| S::from_number(self.numbers.get(c as usize).copied().unwrap_or(OTHER)))
    }

    /// The symbols of the bytes of an ASCII text.
    pub(super) fn bytes<S: CharNumber>(&self) -> [S; 256] {
        let mut table = [S::BLANK; 256];
        for (byte, slot) in (0..128u8).zip(table.iter_mut()) {
            *slot = self.symbol(char::from(byte)).unwrap_or(S::BLANK);
        }
        table
    }
}
