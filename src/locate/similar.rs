//! Match level `similar`, for one line: a block of at least three lines that differs from the search in one line,
//! with no other block nearly as near.
//!
//! Either the file has exactly one extra line, strictly inside the block, or one line differs. That line is not the
//! first, and differs by a typing error or in a comment. Any other difference could equally mean that the block was
//! deleted and this one is a similar block.

use std::ops::RangeInclusive;

use super::elision::{is_closer, is_mark};
use super::fold::fold;
use super::indent::indent_of;
use super::matcher::Matcher;
use super::nearest::{self, Hit, Nearest, NearestQuery};
use super::rebase::{Block, MatchSite, is_word_char, rebase, tokens};
use super::rows::FoldedLines;
use super::scope::Outline;
use super::{
    Located, MatchInfo, MatchLevel, OnRepeat, SimilarLines, TypoPolicy, UniqueMatch, char_edit, exact,
    proposal,
};
use crate::error::Score;

/// The minimum number of lines in a block.
const LEAST: usize = 3;
/// The minimum lead over the second best match, in per cent.
const LEAD: usize = 15;
/// The maximum number of character pairs compared for two lines.
const MOST_CELLS: usize = 1 << 24;
/// The minimum similarity of a differing line, in per cent.
const HALF: u16 = 50;

/// The block nearest to a search text, and the score of the second nearest.
pub(super) struct NearestBlocks {
    best: Option<SimilarLines>,
    runner_up: Option<Score>,
    proved: bool,
}

impl NearestBlocks {
    /// Searches for the nearest block; it is only proved if it reaches the threshold.
    pub(super) fn new(seeker: &Matcher<'_>, threshold: Score) -> NearestBlocks {
        let (quote, field) = (seeker.search_text, seeker.range);
        let length = quote.search.chars().filter(|character| !character.is_whitespace()).count();
        let cut = reach(length, threshold);
        let margin = (length + cut) * LEAD / 100 + 1;
        let quest = NearestQuery { view: field.view, window: field.window(), needle: quote.search };
        let mut steps = nearest::NearestBudget::new(nearest::NearestBudget::SEARCH);
        let Nearest { best, runner_up, proved, .. } = nearest::nearest(&quest, cut, margin, &mut steps);
        let score = |hit: &Hit| Score::from_distance(hit.distance, hit.longer);
        let near = best.map(|hit| SimilarLines {
            first: field.text.line_at(hit.span.start),
            last: field.text.line_at(hit.span.end.saturating_sub(1).max(hit.span.start)),
            score: score(&hit),
        });
        NearestBlocks { best: near, runner_up: runner_up.as_ref().map(score), proved }
    }

    /// Returns the nearest block, proved or not.
    pub(super) fn best(&self) -> Option<SimilarLines> {
        self.best
    }

    fn leads(&self, best: Score) -> bool {
        let lead = Score::from_distance(100 - LEAD, 100);
        self.proved && self.runner_up.is_none_or(|runner_up| best.above(runner_up) >= lead)
    }
}

/// Returns the largest distance that can reach a threshold, for a search text of `length` characters.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a length"
)]
fn reach(length: usize, threshold: Score) -> usize {
    let ratio = threshold.ratio().max(0.5);
    ((length as f64) * (1.0 - ratio) / ratio) as usize
}

/// Finds the only match that is a letter or a line away.
pub(super) fn find(
    seeker: &mut Matcher<'_>,
    neighbours: &NearestBlocks,
    (threshold, slip): (Score, TypoPolicy),
    outline: &dyn Fn() -> Option<Outline>,
) -> Option<Located> {
    let located =
        by_letter(seeker, threshold).or_else(|| by_line(seeker, neighbours, (threshold, slip), outline))?;
    Some(match located {
        Located::One(found) if repeats(seeker, &found) => {
            Located::AlreadyApplied { line: found.match_info.line }
        }
        located => located,
    })
}

fn repeats(seeker: &Matcher<'_>, found: &UniqueMatch) -> bool {
    seeker.search_text.on_repeat == OnRepeat::Reject && proposal::is_applied(found, seeker.range)
}

fn by_letter(seeker: &mut Matcher<'_>, threshold: Score) -> Option<Located> {
    let (quote, field) = (seeker.search_text, seeker.range);
    let span = char_edit::find(quote.search, field.view, field.window(), &mut seeker.steps)?;
    let there = field.view.get(span.clone())?;
    if exact::begins_in_indent(field.view, &span, quote.replace.trim_end_matches('\n')) {
        return None;
    }
    let length = there.chars().filter(|character| !character.is_whitespace()).count();
    let score = Score::from_distance(1, length);
    if score < threshold {
        return None;
    }
    let lines = field.text.line_at(span.start)..=field.text.line_at(span.end.saturating_sub(1));
    let whole = field.text.block(*lines.start(), *lines.end());
    let whole = span.start == whole.start && (span.end..=span.end + 1).contains(&whole.end);
    let text = char_edit::rebase(quote.search, quote.replace, there, whole)?;
    let end = if field.view.get(span.end..).is_some_and(|rest| rest.starts_with('\n')) { "\n" } else { "" };
    let changes = exact::line_by_line(span.start, &format!("{there}{end}"), &format!("{text}{end}"));
    let receipt = MatchInfo::only(MatchLevel::Similar, score, *lines.start());
    Some(Located::One(UniqueMatch { changes, match_info: receipt, lines }))
}

fn by_line(
    seeker: &Matcher<'_>,
    neighbours: &NearestBlocks,
    (threshold, slip): (Score, TypoPolicy),
    outline: &dyn Fn() -> Option<Outline>,
) -> Option<Located> {
    let near = neighbours.best.filter(|near| near.score >= threshold && neighbours.leads(near.score))?;
    let block = Block::new(seeker.search_text.search, seeker.search_text.replace);
    let site = site(seeker, &block, near.first..=near.last)?;
    if let Some(apart) = site.differing {
        let (quoted, line) = (block.search.line(apart), site.line(apart));
        let like = slip == TypoPolicy::Any || is_typo(seeker, quoted, line, outline);
        if !like || is_mark(quoted) || is_half_done(&block, quoted, seeker.range.text.text(line)) {
            return None;
        }
    }
    let receipt = MatchInfo {
        runner_up: neighbours.runner_up,
        ..MatchInfo::only(MatchLevel::Similar, near.score, near.first)
    };
    Some(match rebase(&block, &site, seeker.range.text) {
        Ok(changes) => {
            Located::One(UniqueMatch { changes, match_info: receipt, lines: near.first..=near.last })
        }
        Err(conflict) => Located::Conflict(conflict),
    })
}

/// Returns the site of a block that differs from the quoted lines in exactly one line.
fn site(seeker: &Matcher<'_>, block: &Block<'_>, lines: RangeInclusive<usize>) -> Option<MatchSite> {
    let ground = FoldedLines::new(seeker.range.text, *lines.start(), *lines.end(), seeker.range.quotes);
    let (from, to) = (0, ground.len());
    let search = &block.search;
    let same = |row: usize, index: usize| fold(search.line(row).trim()) == fold(ground.line(index).trim());
    let n = search.len();
    if n < LEAST {
        return None;
    }
    let first = (0..n).find(|row| !same(*row, from + row))?;
    if first == 0 {
        return None;
    }
    let rest = first + 1..n;
    let (apart, extra) = if to - from == n && rest.clone().all(|row| same(row, from + row)) {
        (Some(first), None)
    } else if to - from == n + 1 && (first..n).all(|row| same(row, from + row + 1)) {
        (None, Some(first))
    } else {
        return None;
    };
    if extra.is_some_and(|extra| leaves_block(&ground, from + extra)) {
        return None;
    }
    let moved = |row: usize| usize::from(extra.is_some_and(|extra| row >= extra));
    let lines = (0..n).map(|row| ground.number(from + row + moved(row))).collect();
    Some(MatchSite { lines, differing: apart, extra, window: (seeker.range.first, seeker.range.last) })
}

/// Returns true if a line between two others ends their block or begins another: it closes one, is a header, or is
/// indented less than both.
fn leaves_block(ground: &FoldedLines<'_>, index: usize) -> bool {
    let depth = |index: usize| indent_of(ground.line(index)).len();
    let line = ground.line(index).trim();
    let around = depth(index.saturating_sub(1)).min(depth(index + 1));
    is_closer(line) || line.starts_with('[') && line.ends_with(']') || depth(index) < around
}

/// Returns true if a quoted line differs from the file's by a typing error, or only inside a comment.
fn is_typo(seeker: &Matcher<'_>, quoted: &str, line: usize, outline: &dyn Fn() -> Option<Outline>) -> bool {
    let (text, start) = (seeker.range.text.text(line), seeker.range.text.span(line).start);
    let (quoted, there) = (quoted.trim(), text.trim());
    let [one, other] = [quoted, there].map(|line| line.chars().count());
    if one.saturating_mul(other) > MOST_CELLS {
        return false;
    }
    let similarity = Score::from_distance(strsim::levenshtein(quoted, there), one.max(other));
    if similarity.percent() < HALF {
        return false;
    }
    if char_edit::is_certain_typo(&fold(quoted), &fold(there), seeker.range.view) {
        return true;
    }
    let indent = text.len() - text.trim_start().len();
    let Some((asked, found)) = differing(quoted, there) else { return false };
    let span = start + indent + found.start..start + indent + found.end;
    let closes = ["*/", "-->", "\"\"\"", "'''"];
    let words = quoted.get(asked).unwrap_or_default();
    !closes.iter().any(|sign| words.contains(sign))
        && outline().is_some_and(|outline| outline.in_comment(span))
}

/// Returns true if the quoted line has a word that the file's line lacks and that the edit moves elsewhere: the
/// caller assumes that a part of the edit was already made.
fn is_half_done(block: &Block<'_>, quoted: &str, there: &str) -> bool {
    let own: Vec<&str> = words(there).collect();
    let count = |lines: &[&str], word: &str| -> usize {
        lines.iter().map(|line| words(line).filter(|other| *other == word).count()).sum()
    };
    let strange = words(quoted).filter(|word| !own.contains(word));
    let mut brought =
        strange.filter(|word| count(&block.replace.lines, word) > count(&block.search.lines, word));
    brought.next().is_some()
}

fn words(line: &str) -> impl Iterator<Item = &str> {
    tokens(line).into_iter().filter(|token| token.chars().all(is_word_char))
}

/// Returns the differing ranges of two lines, at least one character wide, so that each is inside something.
fn differing(one: &str, other: &str) -> Option<(std::ops::Range<usize>, std::ops::Range<usize>)> {
    let change = super::rebase::trimmed(0, other, one)?;
    let head = change.span.start;
    let tail = other.len() - change.span.end;
    let there = if change.span.is_empty() {
        let before = other.get(..head)?.chars().next_back().map_or(0, char::len_utf8);
        let after = other.get(head..)?.chars().next().map_or(0, char::len_utf8);
        head - before..head + after
    } else {
        change.span
    };
    Some((head..one.len() - tail, there))
}
