//! The rungs from `space` to `marks`: where the lines of a block stand, blank lines aside.
//!
//! All of them ask for lines that fold to the same, so one search finds the places of every rung, and each place is
//! held to the strictest rung that it keeps.

use super::Tier;
use super::fold::fold;
use super::indent::{Map, indent_of};
use super::quotes::{self, Quotes};
use super::rows::{Ground, Rows};
use super::steps::Steps;

/// How strictly a place keeps to the quoted block, the strictest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rung {
    Space,
    Indent,
    Loose,
    MarkedSpace,
    MarkedIndent,
    MarkedLoose,
    Quoted,
}

impl Rung {
    /// The tier that a caller is told.
    pub(super) fn tier(self) -> Tier {
        match self {
            Rung::Space => Tier::Space,
            Rung::Indent => Tier::Indent,
            Rung::Loose => Tier::Loose,
            Rung::MarkedSpace | Rung::MarkedIndent | Rung::MarkedLoose | Rung::Quoted => Tier::Marks,
        }
    }
}

/// The places of the strictest rung that has any.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Places {
    pub(super) rung: Rung,
    /// The index in the ground of each place's first line.
    pub(super) at: Vec<usize>,
}

/// What a search along the rungs came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Search {
    /// No rung has a place.
    Nowhere,
    /// A rung has places.
    At(Places),
    /// There are too many places to look at each; these are some of them.
    TooMany(Vec<usize>),
}

/// The steps that a line takes whatever its length.
const LINE: usize = 64;

/// Finds the places of a block.
pub(super) fn find(block: &Rows<'_>, ground: &Ground<'_>, steps: &mut Steps) -> Search {
    if block.len() == 0 || block.len() > ground.len() {
        return Search::Nowhere;
    }
    if !steps.take(ground.len() / 2) {
        return Search::Nowhere;
    }
    let mut found: Option<Places> = None;
    let mut seen = Vec::new();
    let cost = block.lines.iter().map(|line| line.len() + LINE).sum();
    for at in ground.windows(&block.keys()) {
        seen.push(at);
        if !steps.take(cost) {
            return Search::TooMany(seen);
        }
        let Some(rung) = rung(block, ground, at) else { continue };
        match &mut found {
            Some(places) if places.rung < rung => {}
            Some(places) if places.rung == rung => places.at.push(at),
            Some(_) | None => found = Some(Places { rung, at: vec![at] }),
        }
    }
    found.map_or(Search::Nowhere, Search::At)
}

/// The strictest rung that a place keeps to.
pub(super) fn rung(block: &Rows<'_>, ground: &Ground<'_>, at: usize) -> Option<Rung> {
    rung_of(&pairs(block, ground, at), ground.quotes)
}

/// Tells whether the lines at a place are indented as the block is, or moved as a whole, or with tabs for blanks.
pub(super) fn moves(block: &Rows<'_>, ground: &Ground<'_>, at: usize) -> bool {
    map(&pairs(block, ground, at)).is_some_and(|map| !map.changes_unit())
}

fn pairs<'a>(block: &Rows<'a>, ground: &Ground<'a>, at: usize) -> Vec<(&'a str, &'a str)> {
    block.lines.iter().enumerate().map(|(index, line)| (*line, ground.line(at + index))).collect()
}

/// The strictest rung that pairs of a quoted line and a line of the file keep to.
fn rung_of(pairs: &[(&str, &str)], quotes: Quotes) -> Option<Rung> {
    let all = |same: fn(&str, &str) -> bool| pairs.iter().all(|(quoted, there)| same(quoted, there));
    if all(|quoted, there| quoted.trim_end() == there.trim_end()) {
        return Some(Rung::Space);
    }
    let mapped = || map(pairs).is_some();
    if all(|quoted, there| quoted.trim() == there.trim()) {
        return Some(if mapped() { Rung::Indent } else { Rung::Loose });
    }
    if !all(|quoted, there| fold(quoted.trim()) == fold(there.trim())) {
        return (quotes == Quotes::Alike && all(quotes::same_trimmed)).then_some(Rung::Quoted);
    }
    Some(if all(|quoted, there| indent_of(quoted) == indent_of(there)) {
        Rung::MarkedSpace
    } else if mapped() {
        Rung::MarkedIndent
    } else {
        Rung::MarkedLoose
    })
}

fn map(pairs: &[(&str, &str)]) -> Option<Map> {
    let indents: Vec<(&str, &str)> =
        pairs.iter().map(|(quoted, there)| (indent_of(quoted), indent_of(there))).collect();
    Map::explaining(&indents, &[])
}
