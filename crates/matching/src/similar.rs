//! Match level `similar`, for one line: a block of at least three lines that differs from the search in one line,
//! with no other block nearly as near.
//!
//! Either the file has exactly one extra line, strictly inside the block, or one line differs. That line is not the
//! first, and differs by a typing error or in a comment. Any other difference could equally mean that the block was
//! deleted and this one is a similar block.
//!
//! If all quoted lines are in another place as well, in order, the search is ambiguous, however near the block is.

use std::ops::RangeInclusive;

use super::char_edit::MatchExtent;
use super::elision::{is_closer, is_mark};
use super::fold::{fold, non_blank_count};
use super::indent::indent_of;
use super::located::{Located, MatchLevel, MatchTolerance, Proposal, SimilarLines, TypoPolicy, UniqueMatch};
use super::matcher::Matcher;
use super::nearest::{self, Hit, Nearest, NearestQuery};
use super::other_place::OtherPlace;
use super::rebase::{Block, MatchSite, is_word_char, rebase, tokens};
use super::rows::FoldedLines;
use super::search_text::{LineRange, OnDuplicate};
use super::{char_edit, comment, exact, other_place, proposal};
use lockgate_error::Score;
use lockgate_text::Outline;

/// The minimum number of lines in a block.
const LEAST: usize = 3;
/// The minimum lead over the second best match, in per cent.
const LEAD: usize = 15;
/// The maximum number of character pairs compared for two lines.
const MAX_CELLS: usize = 1 << 24;
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
    pub(super) fn new(matcher: &Matcher<'_>, threshold: Score) -> NearestBlocks {
        let (search_text, range) = (matcher.search_text, matcher.range);
        let length = non_blank_count(search_text.search);
        let cut = reach(length, threshold);
        let margin = (length + cut) * LEAD / 100 + 1;
        let query = NearestQuery { view: range.view, window: range.window(), needle: search_text.search };
        let mut steps = nearest::NearestBudget::new(nearest::NearestBudget::SEARCH);
        let Nearest { best, runner_up, proved, .. } = nearest::nearest(&query, cut, margin, &mut steps);
        let score = |hit: &Hit| Score::from_distance(hit.distance, hit.longer);
        let similar = best.map(|hit| {
            let (first, last) = range.text.lines_at(&hit.span).into_inner();
            SimilarLines { first, last, score: score(&hit) }
        });
        NearestBlocks { best: similar, runner_up: runner_up.as_ref().map(score), proved }
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

impl Matcher<'_> {
    /// Tries level `similar` up to the requested tolerance; otherwise returns the nearest lines.
    pub(super) fn similar(
        &mut self,
        tolerance: MatchTolerance,
        outline: &dyn Fn() -> Option<Outline>,
    ) -> Located {
        let usual = (MatchTolerance::THRESHOLD, TypoPolicy::Certain);
        let requested = match tolerance {
            MatchTolerance::Wrapping => None,
            MatchTolerance::Similar { threshold, typos } => Some((threshold, typos)),
        };
        let nearest_blocks =
            NearestBlocks::new(self, requested.map_or(usual.0, |(threshold, _)| threshold.min(usual.0)));
        if let Some(found) = requested.and_then(|requested| find(self, &nearest_blocks, requested, outline)) {
            return found;
        }
        // The text that was searched for first is not searched for again.
        let usual = (requested != Some(usual)).then(|| find(self, &nearest_blocks, usual, outline)).flatten();
        let proposal = match usual {
            Some(Located::One(found)) => Proposal::from_match(&found, self.range),
            Some(_) | None => None,
        };
        Located::NotFound { nearest: nearest_blocks.best(), proposal }
    }
}

/// A match that may not be the only one.
struct SimilarBlock {
    located: Located,
    /// The line of the search that differs in the file, if all others are the same.
    differing: Option<usize>,
}

/// Finds the only match that is a letter or a line away.
pub(super) fn find(
    matcher: &mut Matcher<'_>,
    nearest_blocks: &NearestBlocks,
    (threshold, typos): (Score, TypoPolicy),
    outline: &dyn Fn() -> Option<Outline>,
) -> Option<Located> {
    let SimilarBlock { located, differing } = by_letter(matcher, threshold)
        .map(|located| SimilarBlock { located, differing: None })
        .or_else(|| by_line(matcher, nearest_blocks, (threshold, typos), outline))?;
    let Located::One(found) = located else { return Some(located) };
    match other_place::find(matcher, &found.lines, differing, outline) {
        OtherPlace::Absent => {}
        OtherPlace::At(other) => {
            let mut lines = vec![found.match_info.line, other];
            lines.sort_unstable();
            return Some(Located::Ambiguous { level: MatchLevel::Similar, lines, is_complete: false });
        }
        OtherPlace::OutOfBudget => return None,
    }
    let is_applied = matcher.search_text.on_duplicate == OnDuplicate::Reject
        && proposal::is_applied(&found, matcher.range);
    Some(if is_applied {
        Located::AlreadyApplied { line: found.match_info.line }
    } else {
        Located::One(found)
    })
}

fn by_letter(matcher: &mut Matcher<'_>, threshold: Score) -> Option<Located> {
    let (search_text, range) = (matcher.search_text, matcher.range);
    let span = char_edit::find(search_text.search, range.view, range.window(), &mut matcher.steps)?;
    let actual = range.view.get(span.clone())?;
    if exact::begins_in_indent(range.view, &span, search_text.replace.trim_end_matches('\n')) {
        return None;
    }
    let score = Score::from_distance(1, non_blank_count(actual));
    if score < threshold {
        return None;
    }
    let lines = range.text.lines_at(&span);
    let whole = range.text.block(*lines.start(), *lines.end());
    let is_whole = span.start == whole.start && (span.end..=span.end + 1).contains(&whole.end);
    let extent = if is_whole { MatchExtent::WholeLines } else { MatchExtent::PartOfLine };
    let text = char_edit::rebase(search_text.search, search_text.replace, actual, extent)?;
    let end = if range.view.get(span.end..).is_some_and(|rest| rest.starts_with('\n')) { "\n" } else { "" };
    let changes = exact::line_by_line(span.start, &format!("{actual}{end}"), &format!("{text}{end}"));
    Some(Located::One(UniqueMatch::new(changes, MatchLevel::Similar, score, lines)))
}

fn by_line(
    matcher: &Matcher<'_>,
    nearest_blocks: &NearestBlocks,
    (threshold, typos): (Score, TypoPolicy),
    outline: &dyn Fn() -> Option<Outline>,
) -> Option<SimilarBlock> {
    let similar = nearest_blocks
        .best
        .filter(|similar| similar.score >= threshold && nearest_blocks.leads(similar.score))?;
    let block = Block::new(matcher.search_text.search, matcher.search_text.replace);
    let site = site(matcher, &block, similar.first..=similar.last)?;
    if let Some(apart) = site.differing {
        let (quoted, line) = (block.search.line(apart), site.line(apart));
        let like = typos == TypoPolicy::Any || is_typo(matcher, quoted, line, outline);
        if !like || is_mark(quoted) || is_half_done(&block, quoted, matcher.range.text.text(line)) {
            return None;
        }
    }
    let located = match rebase(&block, &site, matcher.range.text) {
        Ok(changes) => {
            let lines = similar.first..=similar.last;
            let mut found = UniqueMatch::new(changes, MatchLevel::Similar, similar.score, lines);
            found.match_info.runner_up = nearest_blocks.runner_up;
            Located::One(found)
        }
        Err(conflict) => Located::Conflict(conflict),
    };
    Some(SimilarBlock { located, differing: site.differing })
}

/// Returns the site of a block that differs from the quoted lines in exactly one line.
fn site(matcher: &Matcher<'_>, block: &Block<'_>, lines: RangeInclusive<usize>) -> Option<MatchSite> {
    let folded = FoldedLines::new(LineRange { first: *lines.start(), last: *lines.end(), ..matcher.range });
    let search = &block.search;
    let same = |row: usize, index: usize| fold(search.line(row).trim()) == fold(folded.line(index).trim());
    let n = search.len();
    if n < LEAST {
        return None;
    }
    let first = (0..n).find(|row| !same(*row, *row))?;
    if first == 0 {
        return None;
    }
    let rest = first + 1..n;
    let (apart, extra) = if folded.len() == n && rest.clone().all(|row| same(row, row)) {
        (Some(first), None)
    } else if folded.len() == n + 1 && (first..n).all(|row| same(row, row + 1)) {
        (None, Some(first))
    } else {
        return None;
    };
    if extra.is_some_and(|extra| leaves_block(&folded, extra)) {
        return None;
    }
    let moved = |row: usize| usize::from(extra.is_some_and(|extra| row >= extra));
    let lines = (0..n).map(|row| folded.number(row + moved(row))).collect();
    Some(MatchSite { lines, differing: apart, extra, window: (matcher.range.first, matcher.range.last) })
}

/// Returns true if a line between two others ends their block or begins another: it closes one, is a header, or is
/// indented less than both.
fn leaves_block(folded: &FoldedLines<'_>, index: usize) -> bool {
    let depth = |index: usize| indent_of(folded.line(index)).len();
    let line = folded.line(index).trim();
    let around = depth(index.saturating_sub(1)).min(depth(index + 1));
    is_closer(line) || line.starts_with('[') && line.ends_with(']') || depth(index) < around
}

/// Returns true if a quoted line differs from the file's by a typing error, or only inside a comment.
fn is_typo(matcher: &Matcher<'_>, quoted: &str, line: usize, outline: &dyn Fn() -> Option<Outline>) -> bool {
    let (text, start) = (matcher.range.text.text(line), matcher.range.text.span(line).start);
    let (quoted, actual) = (quoted.trim(), text.trim());
    if has_same_code(matcher, quoted, line, outline) {
        return true;
    }
    let [one, other] = [quoted, actual].map(|line| line.chars().count());
    if one.saturating_mul(other) > MAX_CELLS {
        return false;
    }
    let similarity = Score::from_distance(strsim::levenshtein(quoted, actual), one.max(other));
    if similarity.percent() < HALF {
        return false;
    }
    if char_edit::is_certain_typo(&fold(quoted), &fold(actual), matcher.range.view) {
        return true;
    }
    let indent = text.len() - text.trim_start().len();
    let Some((quoted_span, found)) = differing(quoted, actual) else { return false };
    let span = start + indent + found.start..start + indent + found.end;
    let delimiters = ["/*", "*/", "<!--", "-->", "\"\"\"", "'''"];
    let words = quoted.get(quoted_span).unwrap_or_default();
    // A line that ends the comment is another line, even if it differs in one character.
    !delimiters.iter().any(|sign| words.contains(sign) || quoted.contains(sign) != actual.contains(sign))
        && outline().is_some_and(|outline| outline.in_comment(span))
}

/// Returns true if only one of a quoted line and the file's ends with a comment, and that is their only difference.
fn has_same_code(
    matcher: &Matcher<'_>,
    quoted: &str,
    line: usize,
    outline: &dyn Fn() -> Option<Outline>,
) -> bool {
    let (text, span) = (matcher.range.text.text(line), matcher.range.text.span(line));
    let same = |code: Option<&str>, other: &str| code.is_some_and(|code| fold(code) == fold(other));
    // Looking for signs is cheaper than parsing.
    let may_be_code =
        |longer: &str, shorter: &str| comment::before_signs(longer).any(|head| fold(head) == fold(shorter));
    if may_be_code(text, quoted) {
        let outline = outline();
        return same(outline.and_then(|outline| comment::before_comment(text, span.start, &outline)), quoted);
    }
    // Whether a sign begins a comment depends on the text around it.
    let is_longer = may_be_code(quoted, text.trim());
    let Some(source) = matcher.range.source.filter(|_| is_longer) else { return false };
    let around = (matcher.range.view.get(..span.start), matcher.range.view.get(span.end..));
    let (Some(before), Some(after)) = around else { return false };
    let with_comment = format!("{}{quoted}", indent_of(text));
    let outline =
        source.syntax.outline(source.language, source.path, &format!("{before}{with_comment}\n{after}"));
    let code = outline.and_then(|outline| comment::before_comment(&with_comment, span.start, &outline));
    same(code, text.trim())
}

/// Returns true if the quoted line has a word that the file's line lacks and that the edit moves elsewhere: the
/// caller assumes that a part of the edit was already made.
fn is_half_done(block: &Block<'_>, quoted: &str, actual: &str) -> bool {
    let own: Vec<&str> = words(actual).collect();
    let count = |lines: &[&str], word: &str| -> usize {
        lines.iter().map(|line| words(line).filter(|other| *other == word).count()).sum()
    };
    let strange = words(quoted).filter(|word| !own.contains(word));
    let mut added =
        strange.filter(|word| count(&block.replace.lines, word) > count(&block.search.lines, word));
    added.next().is_some()
}

fn words(line: &str) -> impl Iterator<Item = &str> {
    tokens(line).into_iter().filter(|token| token.chars().all(is_word_char))
}

/// Returns the differing ranges of two lines, at least one character wide, so that each is inside something.
fn differing(one: &str, other: &str) -> Option<(std::ops::Range<usize>, std::ops::Range<usize>)> {
    let change = super::rebase::trimmed(0, other, one)?;
    let head = change.span.start;
    let tail = other.len() - change.span.end;
    let found = if change.span.is_empty() {
        let before = other.get(..head)?.chars().next_back().map_or(0, char::len_utf8);
        let after = other.get(head..)?.chars().next().map_or(0, char::len_utf8);
        head - before..head + after
    } else {
        change.span
    };
    Some((head..one.len() - tail, found))
}
