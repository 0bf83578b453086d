//! Python's `re` flags of a pattern.
//!
//! Invariant: a [`Flags`] holds only flags that Python allows together in a `str` pattern.

use super::error::Error;

/// Python's flags for a `str` pattern: a set of `I`, `M`, `S`, `U`, `X`, `A`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Flags(u32);

/// Each flag of Python's `re`, its letter and its long name.
///
/// `LOCALE` is listed although `str` patterns cannot use it, so that its error names it.
const KNOWN: [(Flags, &str, &str); 7] = [
    (Flags::IGNORECASE, "I", "IGNORECASE"),
    (Flags::LOCALE, "L", "LOCALE"),
    (Flags::MULTILINE, "M", "MULTILINE"),
    (Flags::DOTALL, "S", "DOTALL"),
    (Flags::UNICODE, "U", "UNICODE"),
    (Flags::VERBOSE, "X", "VERBOSE"),
    (Flags::ASCII, "A", "ASCII"),
];

impl Flags {
    /// `re.IGNORECASE`: upper and lower case match each other.
    pub const IGNORECASE: Flags = Flags(2);
    const LOCALE: Flags = Flags(4);
    /// `re.MULTILINE`: `^` and `$` also match at the ends of each line.
    pub const MULTILINE: Flags = Flags(8);
    /// `re.DOTALL`: `.` matches a line end, too.
    pub const DOTALL: Flags = Flags(16);
    pub(super) const UNICODE: Flags = Flags(32);
    /// `re.VERBOSE`: blanks and comments in the pattern are ignored.
    pub const VERBOSE: Flags = Flags(64);
    /// `re.ASCII`: `\w`, `\d`, `\s` and `\b` match ASCII characters only.
    pub const ASCII: Flags = Flags(256);

    /// Parses the integer form of Python's `re` flags.
    ///
    /// Errors: [`Error::Flags`] for unknown or unsupported bits.
    pub fn from_bits(bits: i64) -> Result<Flags, Error> {
        let known = KNOWN.iter().fold(0, |all, (flag, ..)| all | i64::from(flag.0));
        if bits & !known != 0 {
            return Err(Error::Flags(format!("{bits} is not a sum of I=2, M=8, S=16, U=32, X=64, A=256")));
        }
        let flags = u32::try_from(bits).map_err(|_| Error::Flags(format!("{bits} is negative")))?;
        Flags(flags).checked()
    }

    /// Parses flag names, as in `IGNORECASE`, `I|M`, `re.I | re.S`.
    ///
    /// Errors: [`Error::Flags`] for other names.
    pub fn from_names(names: &str) -> Result<Flags, Error> {
        let mut flags = Flags::default();
        for part in names.split(['|', ',', '+']).map(str::trim).filter(|part| !part.is_empty()) {
            let name = part.strip_prefix("re.").unwrap_or(part).to_ascii_uppercase();
            let found = KNOWN.iter().find(|(_, letter, long)| name == *letter || name == *long);
            let (flag, ..) =
                found.ok_or_else(|| Error::Flags(format!("`{part}` is not the name of a flag")))?;
            flags = flags.with(*flag);
        }
        flags.checked()
    }

    /// Returns the flags as Python's integer.
    pub fn bits(self) -> u32 {
        self.0
    }

    /// Returns true if all of the other flags are set.
    pub fn has(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }

    pub(super) fn with(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }

    pub(super) fn without(self, other: Flags) -> Flags {
        Flags(self.0 & !other.0)
    }

    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns the flags inside `(?add-remove:...)`.
    pub(super) fn scoped(self, add: Flags, remove: Flags) -> Flags {
        let types = Flags::ASCII.with(Flags::UNICODE);
        let base = if add.0 & types.0 == 0 { self } else { self.without(types) };
        base.with(add).without(remove)
    }

    /// Returns the flag of a letter in `(?...)`.
    pub(super) fn inline(letter: char) -> Option<Flags> {
        let name = letter.to_ascii_uppercase();
        let lower = letter.is_ascii_lowercase() && letter != 'l';
        let known = KNOWN.iter().find(|(_, known, _)| known.starts_with(name));
        known.filter(|_| lower).map(|(flag, ..)| *flag)
    }

    fn checked(self) -> Result<Flags, Error> {
        if self.has(Flags::LOCALE) {
            return Err(Error::Flags("cannot use LOCALE flag with a str pattern".to_owned()));
        }
        if self.has(Flags::ASCII.with(Flags::UNICODE)) {
            return Err(Error::Flags("ASCII and UNICODE flags are incompatible".to_owned()));
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_bits_agree() {
        for (names, bits) in [("I|M", 10), ("re.I | re.S", 18), ("dotall,VERBOSE", 80), ("", 0), ("A", 256)] {
            assert_eq!(Flags::from_names(names).unwrap(), Flags::from_bits(bits).unwrap(), "{names}");
        }
    }

    #[test]
    fn flags_that_python_refuses_for_a_str_are_refused() {
        for (bits, message) in [
            (4, "LOCALE"),
            (288, "incompatible"),
            (1, "not a sum"),
            (128, "not a sum"),
            (-2, "not a sum"),
            (i64::MIN, "not a sum"),
        ] {
            let error = Flags::from_bits(bits).unwrap_err();
            assert!(matches!(&error, Error::Flags(what) if what.contains(message)), "{error}");
        }
        assert!(Flags::from_names("L").is_err() && Flags::from_names("Q").is_err());
    }
}
