//! The value shapes of the key tables: the values that a key may have, and its default.

/// One key of a map, in a policy or in the definition of a gate.
#[derive(Debug)]
pub struct Setting {
    /// The name of the key.
    pub name: &'static str,
    /// The values that are allowed.
    pub shape: ValueShape,
    /// The behaviour if the key is absent.
    pub absent: Absent,
    /// The meaning, as part of a sentence.
    pub meaning: &'static str,
}

/// The behaviour if a key is absent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Absent {
    /// The text is rejected without the key.
    Required,
    /// The default is this value.
    Is(&'static str),
    /// The default is described by this text.
    Described(&'static str),
}

/// The values that a key may have.
#[derive(Debug)]
pub enum ValueShape {
    /// One of these fixed words.
    Words(&'static [&'static str]),
    /// One of the words `true` and `false`.
    Flag,
    /// A text with any content.
    Text,
    /// A whole number in a range.
    Whole(Range),
    /// A number of bytes, with or without a unit.
    Size(Range),
    /// A length of time, in milliseconds here, with `ms`, `s` or `m`.
    Duration(Range),
    /// A length of time, in milliseconds here, with `h` and `d` as well.
    Age(Range),
    /// A regular expression whose `^` and `$` are those of a line.
    Regex,
    /// A pattern for paths, with gitignore's meaning.
    Glob,
    /// The name of a gate, of the catalogue or of `define`.
    Tool,
    /// The name of a language, or `*`.
    Language,
    /// A list with at least this many items.
    List(&'static ValueShape, usize),
    /// A map with the keys of all these tables.
    Map(&'static [&'static [Setting]]),
    /// A map whose keys are languages, or `*`.
    ByLanguage(&'static ValueShape),
    /// A map whose keys are free names that match this regular expression.
    ByName(&'static str, &'static ValueShape),
    /// A value of one of these shapes.
    Either(&'static [ValueShape]),
}

/// An inclusive range of numbers, with its description, such as `at least 1 byte`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Range {
    /// The lowest allowed number, inclusive.
    pub min: u64,
    /// The highest allowed number, inclusive.
    pub max: u64,
    /// The description after `must be`.
    pub description: &'static str,
}

/// The time limits that a policy may set.
pub(super) const TIME: Range = Range { min: 1, max: 3_600_000, description: "at least 1ms and at most 60m" };

/// Declares tables: key, allowed values, behaviour without the key, meaning.
///
/// The rows name the variants of [`ValueShape`] and [`Absent`] directly.
macro_rules! tables {
    ($($(#[$about:meta])* $table:ident { $($name:literal: $shape:expr, $absent:expr => $meaning:expr;)* })*) => {
        $($(#[$about])* pub(crate) const $table: &[$crate::Setting] = {
            use $crate::{Absent::*, ValueShape::*};
            &[$($crate::Setting { name: $name, shape: $shape, absent: $absent, meaning: $meaning },)*]
        };)*
    };
}

pub(super) use tables;
