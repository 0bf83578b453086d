//! The terms of the table of keys: what may stand at a key, and what holds where nothing stands there.

/// One key of a map, in a policy or in the definition of a gate.
#[derive(Debug)]
pub struct Setting {
    /// The key.
    pub name: &'static str,
    /// What may stand there.
    pub shape: ValueShape,
    /// What holds where the key is left out.
    pub absent: Absent,
    /// What it says, as a part of a sentence.
    pub meaning: &'static str,
}

/// What holds where a key is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Absent {
    /// The text is refused.
    Refused,
    /// The same as if this stood there.
    Is(&'static str),
    /// What these words say.
    Says(&'static str),
}

/// What may stand at a key.
#[derive(Debug)]
pub enum ValueShape {
    /// One of these words.
    Words(&'static [&'static str]),
    /// `true` or `false`.
    Flag,
    /// A text.
    Text,
    /// A whole number.
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
    /// A list of at least so many.
    List(&'static ValueShape, usize),
    /// A map with the keys of all these tables.
    Map(&'static [&'static [Setting]]),
    /// A map whose keys are languages, or `*`.
    ByLanguage(&'static ValueShape),
    /// A map whose keys are names of one's own that match this regular expression.
    ByName(&'static str, &'static ValueShape),
    /// One of these.
    Either(&'static [ValueShape]),
}

/// From which to which number, both included, and how that is said: `at least 1 byte`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Range {
    /// The least.
    pub least: u64,
    /// The most.
    pub most: u64,
    /// How it is said after `must be`.
    pub said: &'static str,
}

/// The words of a list of named values.
#[expect(
    clippy::indexing_slicing,
    reason = "both lists have as many, and a constant that fails does not compile"
)]
pub(super) const fn words<T: Copy, const COUNT: usize>(
    named: &[(&'static str, T); COUNT],
) -> [&'static str; COUNT] {
    let mut words = [""; COUNT];
    let mut at = 0;
    while at < COUNT {
        words[at] = named[at].0;
        at += 1;
    }
    words
}
