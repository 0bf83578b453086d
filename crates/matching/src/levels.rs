//! The match levels from `space` to `marks`: finds the lines of a block and ignores blank lines.
//!
//! All of these levels need lines with the same folded text. One search finds the sites of every level, and each site
//! has the strictest level that it satisfies.

use super::budget::MatchBudget;
use super::fold::fold;
use super::indent::{IndentMap, indent_of};
use super::located::MatchLevel;
use super::quotes;
use super::rows::{FoldedLines, NonBlankLines};

/// The strictness of a match, the strictest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Strictness {
    Space,
    Indent,
    Loose,
    MarkedSpace,
    MarkedIndent,
    MarkedLoose,
    Quoted,
}

impl Strictness {
    /// Returns the level that is reported to callers.
    pub(super) fn level(self) -> MatchLevel {
        match self {
            Strictness::Space => MatchLevel::Space,
            Strictness::Indent => MatchLevel::Indent,
            Strictness::Loose => MatchLevel::Loose,
            Strictness::MarkedSpace
            | Strictness::MarkedIndent
            | Strictness::MarkedLoose
            | Strictness::Quoted => MatchLevel::Marks,
        }
    }

    /// Returns true if each line must have the quoted indentation.
    pub(super) fn has_quoted_indent(self) -> bool {
        matches!(self, Strictness::Space | Strictness::MarkedSpace)
    }

    /// Returns true if no rule maps the quoted indentation to that of the file.
    pub(super) fn is_loose(self) -> bool {
        matches!(self, Strictness::Loose | Strictness::MarkedLoose)
    }

    /// Returns true if the file has another indentation than the quote.
    pub(super) fn has_other_indent(self) -> bool {
        self.is_loose() || matches!(self, Strictness::Indent | Strictness::MarkedIndent)
    }
}

/// The sites of the strictest level that has any.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MatchSites {
    pub(super) strictness: Strictness,
    /// The index of each site's first line in the folded lines.
    pub(super) at: Vec<usize>,
}

/// The result of a search through the levels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum LevelSearch {
    NotFound,
    Found(MatchSites),
    /// There are too many sites to examine each; these are some of them.
    TooMany(Vec<usize>),
}

/// The minimum cost of a line in steps.
const LINE: usize = 64;

/// Finds the sites of a block.
pub(super) fn find(
    block: &NonBlankLines<'_>,
    folded: &FoldedLines<'_>,
    steps: &mut MatchBudget,
) -> LevelSearch {
    if block.len() == 0 || block.len() > folded.len() || !steps.take(folded.len() / 2) {
        return LevelSearch::NotFound;
    }
    let mut found: Option<MatchSites> = None;
    let mut tried = Vec::new();
    let cost = block.lines.iter().map(|line| line.len() + LINE).sum();
    for at in folded.windows(&block.keys()) {
        tried.push(at);
        if !steps.take(cost) {
            return LevelSearch::TooMany(tried);
        }
        let Some(level) = strictness(block, folded, at) else { continue };
        match &mut found {
            Some(sites) if sites.strictness < level => {}
            Some(sites) if sites.strictness == level => sites.at.push(at),
            Some(_) | None => found = Some(MatchSites { strictness: level, at: vec![at] }),
        }
    }
    found.map_or(LevelSearch::NotFound, LevelSearch::Found)
}

/// Returns the strictest level that a site satisfies.
pub(super) fn strictness(
    block: &NonBlankLines<'_>,
    folded: &FoldedLines<'_>,
    at: usize,
) -> Option<Strictness> {
    let pairs = pairs(block, folded, at);
    let all = |same: fn(&str, &str) -> bool| pairs.iter().all(|(quoted, actual)| same(quoted, actual));
    if all(|quoted, actual| quoted.trim_end() == actual.trim_end()) {
        return Some(Strictness::Space);
    }
    let mapped = || map(&pairs).is_some();
    if all(|quoted, actual| quoted.trim() == actual.trim()) {
        return Some(if mapped() { Strictness::Indent } else { Strictness::Loose });
    }
    if !all(|quoted, actual| fold(quoted.trim()) == fold(actual.trim())) {
        return (folded.range.has_interchangeable_quotes() && all(quotes::same_trimmed))
            .then_some(Strictness::Quoted);
    }
    Some(if all(|quoted, actual| indent_of(quoted) == indent_of(actual)) {
        Strictness::MarkedSpace
    } else if mapped() {
        Strictness::MarkedIndent
    } else {
        Strictness::MarkedLoose
    })
}

/// Returns true if the lines at a site have the block's indentation, possibly shifted as a whole or with tabs for
/// blanks.
pub(super) fn is_moved_block(block: &NonBlankLines<'_>, folded: &FoldedLines<'_>, at: usize) -> bool {
    map(&pairs(block, folded, at)).is_some_and(|map| !map.changes_unit())
}

fn pairs<'a>(block: &NonBlankLines<'a>, folded: &FoldedLines<'a>, at: usize) -> Vec<(&'a str, &'a str)> {
    block.lines.iter().enumerate().map(|(index, line)| (*line, folded.line(at + index))).collect()
}

fn map(pairs: &[(&str, &str)]) -> Option<IndentMap> {
    let indents: Vec<(&str, &str)> =
        pairs.iter().map(|(quoted, actual)| (indent_of(quoted), indent_of(actual))).collect();
    IndentMap::explaining(&indents, &[])
}
