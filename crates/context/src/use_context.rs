//! The facts about a text that tell which names it uses.

use std::ops::Range;

use lockgate_syntax::TagRole;

/// The maximum length of an indexed name, in bytes.
pub(super) const LONGEST: usize = 200;

/// The facts about a text that collecting its uses needs.
pub(super) struct UseContext<'a> {
    pub(super) language: &'a str,
    pub(super) view: &'a str,
    /// The roles of its positions, in text order.
    pub(super) places: &'a [(TagRole, Range<usize>)],
    /// The positions of defined names, in text order.
    pub(super) defined: &'a [Range<usize>],
    /// Returns the line of an offset.
    pub(super) line: &'a dyn Fn(usize) -> u32,
    /// Returns the name of the type around an offset.
    pub(super) owner: &'a dyn Fn(usize) -> Option<String>,
    /// True if a type of the text has a member of this name.
    pub(super) has: &'a dyn Fn(&str, &str) -> bool,
}

/// The sign between a name and the thing that it is a member of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sign {
    Dot,
    Colons,
    None,
}

/// Returns the sign before a name, and the name directly before that sign, if there is one.
pub(super) fn receiver(view: &str, at: usize) -> (Sign, Option<&str>) {
    let before = view.get(..at).unwrap_or_default().trim_end();
    let (sign, before) = match before {
        _ if before.ends_with("::") => (Sign::Colons, before.strip_suffix("::")),
        _ if before.ends_with("->") => (Sign::Dot, before.strip_suffix("->")),
        _ if before.ends_with("..") => return (Sign::None, None),
        _ if before.ends_with('.') => (Sign::Dot, before.strip_suffix('.')),
        _ => return (Sign::None, None),
    };
    let before = before.unwrap_or_default().trim_end().trim_end_matches(['?', '!']);
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$');
    let start = before.trim_end_matches(is_part).len();
    let name = before.get(start..).filter(|name| !name.is_empty() && name.len() <= LONGEST);
    (sign, name)
}
