//! Match level `layout`: the file has the quoted code token for token, in another layout.
//!
//! A formatter moves line breaks, adds a trailing comma to a list that it breaks, and puts a broken expression in
//! parentheses. The quote then has the same tokens as one part of the file. Strings and comments are single tokens, as
//! the grammar of the language sees them, so their blanks count. In Python, line breaks outside of brackets count as
//! well.
//!
//! Invariant: only tokens that the edit changes are replaced; all others keep the layout of the file. The result is
//! parsed again, and must have the replacement token for token in the place of the match.

mod code;
mod hunk_site;
mod hunks;
mod lexer;
mod match_context;
mod rebase;
mod rules;
#[cfg(test)]
mod tests;
mod tokens;

use std::ops::RangeInclusive;

use super::located::{Located, MatchLevel, MatchTolerance, UniqueMatch};
use super::matcher::{MAX_CELLS, Matcher};
use super::rebase::{Block, Conflict, MatchSite};
use super::search_text::OnDuplicate;
use code::{CodeMatch, SourceCode};
use lockgate_error::Score;
use tokens::Tokens;

/// Finds the only match of the quote, token for token.
pub(super) fn find(matcher: &mut Matcher<'_>) -> Option<Located> {
    let (search_text, range) = (matcher.search_text, matcher.range);
    let source = range.source?;
    let rules = rules::of_language(source.language)?;
    let is_plain = |tokens: &Tokens<'_>| !tokens.has_directive(rules) && !tokens.has_odd_blank();
    let tokens = |text| Tokens::new(text, rules).filter(is_plain);
    let quote = tokens(search_text.search).filter(Tokens::is_long_enough)?;
    let replacement = tokens(search_text.replace)?;
    let is_new = search_text.on_duplicate == OnDuplicate::Reject && replacement.is_long_enough();
    let has_words = quote.occurs_in(range.view);
    let may_be_applied = is_new && replacement.occurs_in(range.view);
    if !has_words && !may_be_applied {
        return None;
    }
    let code = SourceCode::parse(source, range.view, rules)?;
    let mut found =
        if has_words { code.matches(&quote, range.window(), &mut matcher.steps)? } else { Vec::new() };
    found.retain(|one| code.has_same_edges(&quote, one));
    let line = |found: &CodeMatch| range.text.line_at(found.span(&code).start);
    match found.as_slice() {
        [] => {
            if !may_be_applied || replacement.len() < quote.len() {
                return None;
            }
            let applied = code.matches(&replacement, range.window(), &mut matcher.steps)?;
            let [applied] = applied.as_slice() else { return None };
            Some(Located::AlreadyApplied { line: line(applied) })
        }
        [one] => {
            if may_be_applied && replacement.len() > quote.len() {
                let applied = code.matches(&replacement, 0..range.view.len(), &mut matcher.steps)?;
                let own = one.span(&code);
                let overlaps = |other: &&CodeMatch| {
                    let other = other.span(&code);
                    other.start < own.end && own.start < other.end
                };
                if let Some(applied) = applied.iter().find(overlaps) {
                    return Some(Located::AlreadyApplied { line: line(applied) });
                }
            }
            let own = one.span(&code);
            let lines = range.text.lines_at(&own);
            let first = *lines.start();
            let cost = matcher.folded_lines().len().saturating_mul(search_text.search.lines().count());
            if !matcher.steps.take(cost) {
                return None;
            }
            if let Some(conflict) = near_duplicate(matcher, &lines) {
                return Some(Located::Conflict(conflict));
            }
            Some(match rebase::rebase(code, one, &quote, &replacement) {
                Some(changes) => {
                    Located::One(UniqueMatch::new(changes, MatchLevel::Layout, Score::IDENTICAL, lines))
                }
                None => {
                    let reason = "the file has this code in another layout, and the edit does not fit there";
                    Located::Conflict(Conflict::new(
                        first,
                        reason,
                        search_text.search,
                        range.text.text(first),
                    ))
                }
            })
        }
        several => {
            let lines = several.iter().map(line).collect();
            Some(Located::Ambiguous { level: MatchLevel::Layout, lines, is_complete: true })
        }
    }
}

/// Finds lines outside of the match that have the layout of the quote and nearly its text: the quote may be an earlier
/// version of them.
fn near_duplicate(matcher: &Matcher<'_>, own: &RangeInclusive<usize>) -> Option<Conflict> {
    let block = Block::new(matcher.search_text.search, matcher.search_text.replace);
    let keys = block.search.keys();
    let folded = matcher.folded_lines();
    let own = folded.index_of(*own.start())..folded.index_of(*own.end() + 1);
    let others = (0..(folded.len() + 1).saturating_sub(keys.len()))
        .filter(|at| at + keys.len() <= own.start || own.end <= *at)
        .filter(|at| folded.equal_lines(&keys, *at) * 2 >= keys.len());
    let mut cells = MAX_CELLS;
    let site = others
        .map(|at| MatchSite::at(&block.search, folded, at))
        .find(|site| matcher.score(&block, site, &mut cells) >= MatchTolerance::THRESHOLD)?;
    let text = matcher.range.text;
    let (row, line) = site
        .lines
        .iter()
        .enumerate()
        .find(|(row, line)| block.search.line(*row).trim() != text.text(**line).trim())?;
    let reason = "the file has this code in another layout, and nearly the same lines in this one";
    Some(Conflict::new(*line, reason, block.search.line(row), text.text(*line)))
}
