//! A compiled pattern.

use super::charset::CharSet;
use super::error::Error;
use super::flags::Flags;
use super::linear::Linear;
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
        let parsed = parse::parse(pattern, flags)?;
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
