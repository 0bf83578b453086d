//! A compiled pattern.

use super::charset::CharSet;
use super::error::Error;
use super::flags::Flags;
use super::linear::Linear;
use super::parse::CarriageReturnMode;
use super::program::{self, Program};
use super::{first, lower, parse};

/// A compiled regular expression in Python's syntax.
#[derive(Debug)]
pub struct Pattern {
    pub(super) program: Program,
    pub(super) linear: Option<Linear>,
    pub(super) first: Option<CharSet>,
    pub(super) groups: usize,
    pub(super) names: Vec<(String, usize)>,
}

impl Pattern {
    /// Compiles a pattern.
    ///
    /// Errors: [`Error::Pattern`] with Python's message and position if Python rejects it, or if it is not supported here.
    pub fn compile(pattern: &str, flags: Flags) -> Result<Pattern, Error> {
        Pattern::compile_with(pattern, flags, CarriageReturnMode::Kept)
    }

    /// Compiles a pattern for texts whose only line end is a newline: `\r` directly before `\n` is left out, as in `a\r\nb`,
    /// unless one of them is repeated, as in `\r\n+`.
    ///
    /// Errors: those of [`Pattern::compile`].
    pub fn compile_for_newlines(pattern: &str, flags: Flags) -> Result<Pattern, Error> {
        Pattern::compile_with(pattern, flags, CarriageReturnMode::Folded)
    }

    fn compile_with(
        pattern: &str,
        flags: Flags,
        carriage_returns: CarriageReturnMode,
    ) -> Result<Pattern, Error> {
        let parsed = parse::parse(pattern, flags, carriage_returns)?;
        let program = program::compile(&parsed)?;
        first::check_start(&parsed)?;
        let linear = lower::lower(&parsed).and_then(|lowered| Linear::new(&lowered));
        let first = first::first(&program);
        Ok(Pattern { program, linear, first, groups: parsed.widths.len() - 1, names: parsed.names })
    }

    /// Returns the number of a named group.
    pub(super) fn group_named(&self, name: &str) -> Option<usize> {
        self.names.iter().find(|(known, _)| known == name).map(|(_, group)| *group)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ReplacementTemplate, StepBudget};

    fn counts(pattern: &str, text: &str) -> [usize; 2] {
        [Pattern::compile, Pattern::compile_for_newlines].map(|compile| {
            let pattern = compile(pattern, Flags::default()).unwrap();
            let template = ReplacementTemplate::parse("", &pattern).unwrap();
            let mut budget = StepBudget::new(1_000_000);
            pattern.replace(text, 0..text.len(), &template, None, &mut budget).unwrap().len()
        })
    }

    #[test]
    fn a_carriage_return_before_a_newline_is_left_out_if_asked_for() {
        for pattern in [
            r"a\r\nb",
            "a\r\nb",
            r"a\x0d\nb",
            r"(a)\r\n(?=b)",
            r"(?<=a\r\n)b",
            r"(?x) a \r \n b",
            r"a(?:\r\n|x)b",
            r"a(\r\n)+b",
            r"a(?:\r\nb|\rx)",
        ] {
            assert_eq!(counts(pattern, "a\nb"), [0, 1], "{pattern:?}");
        }
        for pattern in [r"a\r\n+b", r"a\r+\nb", r"a\r{1}\nb", r"a\r\r\nb"] {
            assert_eq!(counts(pattern, "a\nb"), [0, 0], "{pattern:?}");
        }
        for pattern in [r"a\r?\nb", r"a[\r\n]b", r"a\nb"] {
            assert_eq!(counts(pattern, "a\nb"), [1, 1], "{pattern:?}");
        }
    }
}
