//! Parses the letters of `(?i)` and `(?i-s:...)`.
//!
//! Invariant: the parser takes flags for the whole pattern; flags for a group are returned.

use super::error::Error;
use super::flags::Flags;
use super::group::is_flag;
use super::parse::Parser;
use super::source::PatternToken;

impl Parser {
    /// Returns the flags to add and to remove in a group; `None` if they were for the whole pattern.
    pub(super) fn inline_flags(&mut self, letter: char) -> Result<Option<(Flags, Flags)>, Error> {
        let (mut add, mut sign) = (Flags::default(), letter);
        while sign != '-' && sign != ':' && sign != ')' {
            let flag = Flags::inline(sign).ok_or_else(|| match sign {
                'L' => self.source.error("bad inline flags: cannot use 'L' flag with a str pattern", 0),
                _ => self.source.unsupported("the flag 't'"),
            })?;
            add = add.with(flag);
            if is_type(flag) && add.has(Flags::ASCII.with(Flags::UNICODE)) {
                return Err(self
                    .source
                    .error("bad inline flags: flags 'a', 'u' and 'L' are incompatible", 0));
            }
            sign = self.letter("missing -, : or )", &[')', '-', ':'])?;
        }
        match sign {
            ')' => {
                self.flags = self.flags.with(add);
                Ok(None)
            }
            '-' => {
                let remove = self.removed()?;
                if add.bits() & remove.bits() != 0 {
                    return Err(self.source.error("bad inline flags: flag turned on and off", 1));
                }
                Ok(Some((add, remove)))
            }
            _ => Ok(Some((add, Flags::default()))),
        }
    }

    fn removed(&mut self) -> Result<Flags, Error> {
        let mut remove = Flags::default();
        let mut sign = self.letter("missing flag", &[])?;
        while sign != ':' {
            let flag = Flags::inline(sign);
            if sign == 'L' || flag.is_some_and(is_type) {
                return Err(self.source.error("bad inline flags: cannot turn off flags 'a', 'u' and 'L'", 0));
            }
            remove = remove.with(flag.ok_or_else(|| self.source.unsupported("the flag 't'"))?);
            sign = self.letter("missing :", &[':'])?;
        }
        Ok(remove)
    }

    /// Returns the next flag letter, or one of the characters that may end the letters.
    fn letter(&mut self, missing: &str, terminators: &[char]) -> Result<char, Error> {
        let token = self.sign(missing)?;
        match token {
            PatternToken::Plain(char) if terminators.contains(&char) || is_flag(char) => Ok(char),
            PatternToken::Plain(char) if char.is_alphabetic() => Err(self.source.error("unknown flag", 1)),
            PatternToken::Plain(_) | PatternToken::Escaped(_) => Err(self.source.error(missing, token.len())),
        }
    }
}

fn is_type(flag: Flags) -> bool {
    flag == Flags::ASCII || flag == Flags::UNICODE
}
