//! Rebases an edit: applies the difference between search and replacement to the actual text, and leaves the rest of
//! that text unchanged.
//!
//! This is a three-way merge: the search is the base, the replacement is one side, the file is the other.
//!
//! Invariant: a line that the edit does not touch keeps its bytes, its line end and its position.

mod belonging;
mod blanks;
mod block;
mod file_base;
mod output;
mod pairs;
mod render;
mod tokens;

use std::ops::Range;

use blanks::{Blanks, distribute, distribute_below_first};
use file_base::search_of_file;
use lockgate_text::{Change, Lines};
use output::Output;
use pairs::Segment;
use render::LineRenderer;

pub use block::Conflict;
pub(super) use block::{Block, MatchSite};
pub(super) use output::trimmed;
pub(super) use tokens::{Evidence, is_joiner, is_word_char, merged, tokens};

/// Applies the difference between search and replacement to the lines of a site.
///
/// Returns no changes if the file already has the requested text.
pub(super) fn rebase(block: &Block<'_>, site: &MatchSite, text: Lines<'_>) -> Result<Vec<Change>, Conflict> {
    let lines = search_of_file(block, site, text);
    let of_file = lines.as_deref().map(|lines| block.with_search(lines));
    let quoted = &block.search;
    let block = of_file.as_ref().unwrap_or(block);
    let Block { search, replace } = block;
    let origins = pairs::origins(block);
    let renderer = LineRenderer::new(block, quoted, site, text, &origins);
    let mut output = Output::new(text, site);
    let (above, below) = edges(block);
    let spacing = SpacingRules::new(block, site);
    output.remove_above(above.removed());
    for segment in pairs::segments(&origins, search.len()) {
        check(block, site, &segment, text)?;
        let wanted: Vec<usize> = segment.gaps(replace.len()).map(|gap| replace.gap(gap)).collect();
        let base = segment.base_gaps(search.len());
        let quoted: Vec<usize> = base.clone().map(|gap| search.gap(gap)).collect();
        let actual: Vec<Range<usize>> = base.map(|gap| site.between(gap)).collect();
        let distribute =
            if segment.keeps_blanks_above(block, &origins) { distribute_below_first } else { distribute };
        let mut shared = distribute(&wanted, &quoted, &actual).into_iter();
        for row in segment.rows() {
            let blanks = if row == replace.len() {
                below.blanks(&segment, &quoted, &actual)
            } else if row == 0 {
                above.blanks(&segment, &quoted, &actual)
            } else {
                spacing.of_file(shared.next().unwrap_or_default())
            };
            output.blanks(blanks);
            if row < replace.len() {
                output.push(renderer.row(row)?);
            }
        }
    }
    output.remove_below(below.removed());
    Ok(output.changes())
}

/// Returns true if the replacement was made from the text of a site, and only the search has another form.
pub(super) fn is_made_from_file(block: &Block<'_>, site: &MatchSite, text: Lines<'_>) -> bool {
    search_of_file(block, site, text).is_some()
}

/// A rule by which the search has more blank lines between its lines than the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineSpacing {
    /// As many more in each gap.
    More(usize),
    /// Each line end is there twice.
    Doubled,
}

impl LineSpacing {
    /// Returns the number of blank lines that the file has for those of the search.
    fn in_file(self, quoted: usize) -> Option<usize> {
        match self {
            LineSpacing::More(more) => quoted.checked_sub(more),
            LineSpacing::Doubled => (quoted % 2 == 1).then_some(quoted / 2),
        }
    }
}

/// The rules of a block by which it has more blank lines than the file.
struct SpacingRules(Vec<LineSpacing>);

impl SpacingRules {
    /// Creates the rules that hold for all gaps of the search; none unless one of them applies to all of the replacement.
    fn new(block: &Block<'_>, site: &MatchSite) -> SpacingRules {
        let Block { search, replace } = block;
        // One gap shows no rule.
        let shown = if search.len() > 2 { 1..search.len() } else { 0..0 };
        let mut gaps = shown.map(|gap| (search.gap(gap), site.between(gap).len())).peekable();
        let more =
            gaps.peek().and_then(|(quoted, actual)| quoted.checked_sub(*actual)).filter(|more| *more > 0);
        let mut rules =
            more.map_or_else(Vec::new, |more| vec![LineSpacing::More(more), LineSpacing::Doubled]);
        for (quoted, actual) in gaps {
            rules.retain(|rule| rule.in_file(quoted) == Some(actual));
        }
        let applies =
            |rule: &LineSpacing| (1..replace.len()).all(|gap| rule.in_file(replace.gap(gap)).is_some());
        if !rules.iter().any(applies) {
            rules.clear();
        }
        SpacingRules(rules)
    }

    /// Returns the blank lines of a gap of the replacement: as many new ones as the file would have, if all rules have the
    /// same result.
    fn of_file(&self, blanks: Blanks) -> Blanks {
        let mut counts = self.0.iter().map(|rule| rule.in_file(blanks.added));
        match counts.next().flatten().filter(|_| blanks.existing.is_empty()) {
            Some(added) if counts.all(|other| other == Some(added)) => Blanks { added, ..blanks },
            Some(_) | None => blanks,
        }
    }
}

/// The numbers of blank lines that search and replacement have above, or below, their other lines.
struct Edge {
    quoted: usize,
    wanted: usize,
}

impl Edge {
    fn removed(&self) -> usize {
        self.quoted.saturating_sub(self.wanted)
    }

    /// Returns the blank lines that the replacement has more at this edge. Where the edit only removes lines, they were
    /// between those, so that the file's stay.
    fn blanks(&self, segment: &Segment, quoted: &[usize], actual: &[Range<usize>]) -> Blanks {
        let added = self.wanted.saturating_sub(self.quoted);
        if added > 0 && segment.is_removal() {
            return distribute(&[added], quoted, actual).pop().unwrap_or_default();
        }
        Blanks { existing: 0..0, added }
    }
}

/// Returns the edges above and below the lines of a block. If the replacement has only blank lines, those that the search
/// has above its lines come first.
fn edges(Block { search, replace }: &Block<'_>) -> (Edge, Edge) {
    let (quoted_above, quoted_below) = (search.gap(0), search.gap(search.len()));
    let (above, below) = if replace.len() > 0 {
        (replace.gap(0), replace.gap(replace.len()))
    } else {
        let kept = replace.gap(0).min(quoted_above);
        (kept, replace.gap(0) - kept)
    };
    (Edge { quoted: quoted_above, wanted: above }, Edge { quoted: quoted_below, wanted: below })
}

/// Rejects the removal of a line that differs in the file, and changes next to a line that only the file has.
fn check(block: &Block<'_>, site: &MatchSite, segment: &Segment, text: Lines<'_>) -> Result<(), Conflict> {
    if let Some(apart) = site.differing.filter(|apart| segment.deletes(*apart)) {
        let why = "the edit removes a line that differs in the file";
        return Err(Conflict::new(
            site.line(apart),
            why,
            block.search.line(apart),
            text.text(site.line(apart)),
        ));
    }
    let Some(extra) = site.extra.filter(|extra| segment.spans(*extra)) else { return Ok(()) };
    if segment.is_plain() && block.search.gap(extra) == block.replace.gap(segment.last_row()) {
        return Ok(());
    }
    let extra_lines = site.between(extra).map(|line| (line, text.text(line)));
    let (line, actual) =
        extra_lines.into_iter().find(|(_, text)| !text.trim().is_empty()).unwrap_or_default();
    let why = "the edit changes the place where the file has an extra line";
    Err(Conflict::new(line, why, block.search.line(extra), actual))
}
