//! The facts about a text that tell which names it uses.

use std::collections::HashSet;
use std::ops::Range;

use super::line_starts::LineStarts;
use lockgate_syntax::TagRole;
use lockgate_text::{Outline, SymbolKind};

/// The maximum length of an indexed name, in bytes.
pub(super) const LONGEST: usize = 200;
/// The maximum number of types examined before a position, from the nearest.
const MAX_TYPES: usize = 64;

/// The facts about a text that collecting its uses needs.
pub(super) struct UseContext<'a> {
    pub(super) language: &'a str,
    pub(super) view: &'a str,
    /// The roles of its positions, in text order.
    pub(super) roles: &'a [(TagRole, Range<usize>)],
    line_starts: &'a LineStarts,
    /// The positions of defined names, in text order.
    defined: Vec<Range<usize>>,
    /// The extents and the names of its types, in text order.
    types: Vec<(Range<usize>, &'a str)>,
    /// The paths of its symbols.
    paths: HashSet<&'a str>,
}

impl<'a> UseContext<'a> {
    pub(super) fn new(
        language: &'a str,
        view: &'a str,
        roles: &'a [(TagRole, Range<usize>)],
        line_starts: &'a LineStarts,
        outline: &'a Outline,
    ) -> UseContext<'a> {
        let mut defined: Vec<Range<usize>> =
            outline.symbols().filter(|it| it.kind != SymbolKind::Impl).map(|it| it.name).collect();
        defined.sort_unstable_by_key(|name| name.start);
        let types = outline.symbols().filter(|symbol| symbol.kind.has_members());
        let last = |path: &'a str| path.rsplit('.').next().unwrap_or(path);
        UseContext {
            language,
            view,
            roles,
            line_starts,
            defined,
            types: types.map(|symbol| (symbol.extent, last(symbol.path))).collect(),
            paths: outline.symbols().map(|symbol| symbol.path).collect(),
        }
    }

    /// Returns the line of an offset, from 1.
    pub(super) fn line(&self, at: usize) -> u32 {
        self.line_starts.line(at)
    }

    /// True if the text defines a name at this position.
    pub(super) fn defines(&self, span: &Range<usize>) -> bool {
        let before = self.defined.partition_point(|name| name.start <= span.start);
        let name = before.checked_sub(1).and_then(|at| self.defined.get(at));
        name.is_some_and(|name| span.end <= name.end)
    }

    /// Returns the name of the type around an offset.
    pub(super) fn owner(&self, at: usize) -> Option<&'a str> {
        let before = self.types.partition_point(|(extent, _)| extent.start <= at);
        let mut nearest = self.types.get(..before)?.iter().rev().take(MAX_TYPES);
        nearest.find(|(extent, _)| at < extent.end).map(|(_, name)| *name)
    }

    /// True if a type of the text has a member of this name.
    pub(super) fn has_member(&self, owner: &str, name: &str) -> bool {
        self.paths.contains(format!("{owner}.{name}").as_str())
    }
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
