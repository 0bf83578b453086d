//! Finds the tokens in which quote and replacement differ.

use std::collections::HashSet;
use std::ops::Range;

use super::tokens::Tokens;
use lockgate_text::differing_lines;

/// Some differing tokens: those that only the quote has, and those that only the replacement has in their place.
#[derive(Debug, Clone)]
pub(super) struct TokenHunk {
    pub(super) removed: Range<usize>,
    pub(super) added: Range<usize>,
}

/// Returns the hunks of differing lines, so that a line that stays is not taken apart.
pub(super) fn hunks(quote: &Tokens<'_>, replacement: &Tokens<'_>) -> Vec<TokenHunk> {
    let (old, new) = (line_starts(quote), line_starts(replacement));
    let (old_lines, new_lines) = (quoted_lines(quote, &old), quoted_lines(replacement, &new));
    let tokens = |starts: &[usize], lines: Range<usize>| {
        let offset = |line: usize| starts.get(line).copied().unwrap_or_default();
        offset(lines.start)..offset(lines.end)
    };
    let mut hunks = Vec::new();
    for (removed, added) in differing(&old_lines, &new_lines) {
        for (gone, fresh) in pair_lines(&old_lines, removed, &new_lines, added) {
            hunks.extend(token_hunks(quote, tokens(&old, gone), replacement, tokens(&new, fresh)));
        }
    }
    joined(quote, replacement, hunks)
}

/// Returns the texts of some tokens.
fn texts<'t>(tokens: &Tokens<'t>, range: Range<usize>) -> Vec<&'t str> {
    range.map(|index| tokens.text(index)).collect()
}

/// Returns the index of the first token of each line, and the number of tokens.
fn line_starts(tokens: &Tokens<'_>) -> Vec<usize> {
    (0..=tokens.len())
        .filter(|index| *index == 0 || *index == tokens.len() || tokens.breaks_before(*index))
        .collect()
}

/// A line of the quote or of the replacement.
struct QuotedLine<'t> {
    indent: &'t str,
    /// Its tokens, separated by NUL.
    tokens: String,
}

/// Returns the lines that begin with these tokens.
fn quoted_lines<'t>(tokens: &Tokens<'t>, starts: &[usize]) -> Vec<QuotedLine<'t>> {
    let quoted_line = |(start, end): (&usize, &usize)| {
        let indent = tokens.indent(*start).unwrap_or_default();
        QuotedLine { indent, tokens: texts(tokens, *start..*end).join("\0") }
    };
    starts.iter().zip(starts.iter().skip(1)).map(quoted_line).collect()
}

/// Returns the differing lines. Two lines that differ only in their indentation are different if that leaves no line of
/// which only the indentation changed: so of two equal lines that one stays whose indentation stays.
fn differing(old: &[QuotedLine<'_>], new: &[QuotedLine<'_>]) -> Vec<(Range<usize>, Range<usize>)> {
    let (old_texts, new_texts) = (indented_lines(old), indented_lines(new));
    let [old_keys, new_keys] =
        [&old_texts, &new_texts].map(|texts| texts.iter().map(String::as_str).collect::<Vec<_>>());
    let exact = differing_lines(&old_keys, &new_keys);
    let (old_bare, new_bare) = (bare_lines(old), bare_lines(new));
    let removed: HashSet<&str> =
        exact.iter().filter_map(|(gone, _)| old_bare.get(gone.clone())).flatten().copied().collect();
    let mut added = exact.iter().filter_map(|(_, fresh)| new_bare.get(fresh.clone())).flatten();
    if added.any(|line| removed.contains(line)) { differing_lines(&old_bare, &new_bare) } else { exact }
}

fn indented_lines(lines: &[QuotedLine<'_>]) -> Vec<String> {
    lines.iter().map(|line| format!("{}\0{}", line.indent, line.tokens)).collect()
}

fn bare_lines<'l>(lines: &'l [QuotedLine<'_>]) -> Vec<&'l str> {
    lines.iter().map(|line| line.tokens.as_str()).collect()
}

/// Divides differing lines where a line only became another: such a pair is a part of its own, and so is what lies
/// between two pairs.
fn pair_lines(
    old: &[QuotedLine<'_>],
    removed: Range<usize>,
    new: &[QuotedLine<'_>],
    added: Range<usize>,
) -> Vec<(Range<usize>, Range<usize>)> {
    let mut parts = Vec::new();
    let (mut from, mut row) = (removed.start, added.start);
    for index in removed.clone() {
        let Some(line) = old.get(index) else { continue };
        let alike =
            |other: &usize| new.get(*other).is_some_and(|other| is_alike(&line.tokens, &other.tokens));
        let Some(other) = (row..added.end).find(alike) else { continue };
        parts.push((from..index, row..other));
        parts.push((index..index + 1, other..other + 1));
        (from, row) = (index + 1, other + 1);
    }
    parts.push((from..removed.end, row..added.end));
    parts.retain(|(gone, fresh)| !gone.is_empty() || !fresh.is_empty());
    parts
}

/// Returns true if more than half of the tokens of two lines are the same, in order.
fn is_alike(one: &str, other: &str) -> bool {
    let [one, other] = [one, other].map(|line| line.split('\0').collect::<Vec<_>>());
    let removed: usize = differing_lines(&one, &other).iter().map(|(gone, _)| gone.len()).sum();
    2 * (one.len() - removed) > one.len().max(other.len())
}

/// Joins a hunk that only removes tokens with an adjacent one that only adds some: a token that both have stays.
fn joined(quote: &Tokens<'_>, replacement: &Tokens<'_>, hunks: Vec<TokenHunk>) -> Vec<TokenHunk> {
    let mut joined: Vec<TokenHunk> = Vec::with_capacity(hunks.len());
    for hunk in hunks {
        let TokenHunk { removed, added } = &hunk;
        let adjacent = joined.pop_if(|last| {
            last.removed.end == removed.start
                && last.added.end == added.start
                && (last.added.is_empty() && removed.is_empty()
                    || last.removed.is_empty() && added.is_empty())
        });
        match adjacent {
            Some(last) => {
                let (removed, added) = (last.removed.start..removed.end, last.added.start..added.end);
                joined.extend(token_hunks(quote, removed, replacement, added));
            }
            None => joined.push(hunk),
        }
    }
    joined
}

/// Returns the differing tokens of a part of the quote and a part of the replacement.
fn token_hunks(
    quote: &Tokens<'_>,
    removed: Range<usize>,
    replacement: &Tokens<'_>,
    added: Range<usize>,
) -> Vec<TokenHunk> {
    let moved = |range: Range<usize>, by: usize| range.start + by..range.end + by;
    let (one, other) = (texts(quote, removed.clone()), texts(replacement, added.clone()));
    let hunk =
        |(gone, fresh)| TokenHunk { removed: moved(gone, removed.start), added: moved(fresh, added.start) };
    differing_lines(&one, &other).into_iter().map(hunk).collect()
}
