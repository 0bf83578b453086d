//! Match level `similar`, for one letter: the search differs from exactly one span by an inserted, dropped, swapped
//! or replaced letter, and no other span is within two letters.

use std::ops::Range;

use super::budget::MatchBudget;
use super::exact::{beginnings, has_word_boundaries, is_line_end};
use super::fold::non_blank_count;
use super::rebase::{is_word_char, tokens};
use lockgate_text::differing_lines;

/// The minimum number of non-blank characters in a search that is matched by similarity.
const LEAST: usize = 10;
/// The minimum number of letters in a word with a differing letter.
const WORD: usize = 4;
/// The number of pieces of the search. Every span within two letters contains at least one piece, because a swap
/// across a border affects two.
const PIECES: usize = 5;
/// The cost in steps of a span that contains a piece.
const HIT: usize = 64;
/// The maximum distance to search for.
const FAR: usize = 2;

/// Returns the span that is one letter away, in bytes of the view; `None` if there is none, or if another span is
/// within two letters.
pub(super) fn find(
    search: &str,
    view: &str,
    window: Range<usize>,
    steps: &mut MatchBudget,
) -> Option<Range<usize>> {
    let whole_lines = search.ends_with('\n');
    let search = bare(search);
    if non_blank_count(search) < LEAST {
        return None;
    }
    let spans = close_spans(search, view, window, steps)?;
    let first = spans.first()?.0.start;
    // Spans of one site begin close to each other; a span that begins further away is another site.
    let apart = |at: usize| view.get(first..at).is_none_or(|between| between.chars().count() > 2 * FAR);
    if spans.iter().any(|(span, distance)| *distance == 0 || apart(span.start)) {
        return None;
    }
    let good = |span: &Range<usize>| {
        (!whole_lines || is_line_end(view, span.end))
            && has_word_boundaries(view, span)
            && view.get(span.clone()).is_some_and(|actual| is_typo(search, actual, view))
    };
    spans.into_iter().filter(|(_, distance)| *distance == 1).map(|(span, _)| span).find(good)
}

/// The part of its lines that a matched text covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MatchExtent {
    WholeLines,
    PartOfLine,
}

/// Applies the difference between search and replacement to the actual text, word by word. If the edit changes the
/// differing word, the replacement's word wins.
///
/// Returns `None` for an edit that deletes everything, removes blank lines at the edges, or moves the differing word.
/// Blank lines are only added at the edges of whole lines.
pub(super) fn rebase(search: &str, replace: &str, actual: &str, extent: MatchExtent) -> Option<String> {
    let (above, below) = added_edges(search, replace, extent)?;
    let (search, replace) = (bare(search), bare(replace));
    let (old, new, own) = (tokens(search), tokens(replace), tokens(actual));
    if old.len() != own.len() || replace.trim().is_empty() {
        return None;
    }
    let apart = old.iter().zip(&own).position(|(quoted, actual)| quoted != actual);
    let mut out = "\n".repeat(above);
    let (mut from, end) = (0, (old.len()..old.len(), new.len()..new.len()));
    for (removed, added) in differing_lines(&old, &new).into_iter().chain([end]) {
        let word = apart.filter(|apart| removed.contains(apart)).and_then(|apart| old.get(apart));
        if word.is_some_and(|word| new.contains(word)) {
            return None;
        }
        own.get(from..removed.start)?.iter().chain(new.get(added)?).for_each(|token| out.push_str(token));
        from = removed.end;
    }
    Some(out + &"\n".repeat(below))
}

/// Returns the number of blank lines that the replacement adds at each edge; `None` if it has fewer.
fn added_edges(search: &str, replace: &str, extent: MatchExtent) -> Option<(usize, usize)> {
    let edges = |text: &str| {
        let rest = text.trim_start_matches('\n');
        (text.len() - rest.len(), rest.len() - rest.trim_end_matches('\n').len())
    };
    let ((above, below), (more_above, more_below)) = (edges(search), edges(replace));
    if extent == MatchExtent::PartOfLine {
        return ((above, below) == (more_above, more_below)).then_some((0, 0));
    }
    // A newline at the end only terminates the last line.
    let blank = |newlines: usize| newlines.saturating_sub(1);
    Some((more_above.checked_sub(above)?, blank(more_below).checked_sub(blank(below))?))
}

/// Returns a text without the newlines at its edges.
fn bare(text: &str) -> &str {
    text.trim_matches('\n')
}

/// Returns the spans of the view within two letters of the search, with their distances, in order; `None` if the
/// budget is too small to find all.
fn close_spans(
    search: &str,
    view: &str,
    window: Range<usize>,
    steps: &mut MatchBudget,
) -> Option<Vec<(Range<usize>, usize)>> {
    let letters: Vec<char> = search.chars().collect();
    let mut starts = Vec::new();
    let size = letters.len() / PIECES;
    for piece in 0..PIECES {
        let text: String = letters.iter().skip(piece * size).take(size).collect();
        if !steps.take(window.len() / 8) {
            return None;
        }
        for hit in beginnings(view, window.clone(), &text) {
            let before = view.get(window.start..hit.start)?;
            let back = piece * size;
            if !steps.take(back + size + HIT) {
                return None;
            }
            let begins = before.char_indices().rev().map(|(at, _)| window.start + at);
            let begins = std::iter::once(hit.start).chain(begins).skip(back.saturating_sub(FAR));
            starts.extend(begins.take(2 * FAR + 1));
        }
    }
    starts.sort_unstable();
    starts.dedup();
    let mut spans = Vec::new();
    for start in starts {
        if !aligned(&letters, start, view, window.end, &mut spans, steps) {
            return None;
        }
    }
    Some(spans)
}

/// A row of a banded table: the distances of a prefix of the search to the texts that end at most two letters before
/// or behind it.
type DistanceRow = [usize; 2 * FAR + 1];

/// Adds the spans from this start that are close enough; returns false if the budget is used up.
fn aligned(
    letters: &[char],
    start: usize,
    view: &str,
    end: usize,
    spans: &mut Vec<(Range<usize>, usize)>,
    steps: &mut MatchBudget,
) -> bool {
    const NEVER: usize = usize::MAX / 2;
    let mut actual = view.get(start..end).unwrap_or_default().char_indices();
    let mut text: Vec<(usize, char)> = actual.by_ref().take(FAR).collect();
    let cell = |row: &DistanceRow, at: Option<usize>| at.and_then(|at| row.get(at)).copied().unwrap_or(NEVER);
    // In the row of `i` letters, cell `k` belongs to the text of `i + k - FAR` letters.
    let mut row: DistanceRow = std::array::from_fn(|k| k.checked_sub(FAR).unwrap_or(NEVER));
    let mut above: DistanceRow = [NEVER; 2 * FAR + 1];
    for (i, letter) in letters.iter().enumerate() {
        text.extend(actual.next());
        let mut next: DistanceRow = [NEVER; 2 * FAR + 1];
        for k in 0..next.len() {
            let Some(length) = (i + 1 + k).checked_sub(FAR).filter(|length| *length <= text.len()) else {
                continue;
            };
            let at =
                |length: usize| length.checked_sub(1).and_then(|at| text.get(at)).map(|(_, actual)| actual);
            let same = at(length) == Some(letter);
            let swap = length >= 2
                && at(length - 1) == Some(letter)
                && i.checked_sub(1).and_then(|before| letters.get(before)) == at(length);
            let best = [
                if length == 0 { NEVER } else { cell(&row, Some(k)) + usize::from(!same) },
                cell(&row, Some(k + 1)) + 1,
                cell(&next, k.checked_sub(1)) + 1,
                if swap && !same { cell(&above, Some(k)) + 1 } else { NEVER },
            ];
            if let Some(slot) = next.get_mut(k) {
                *slot = best.into_iter().min().unwrap_or(NEVER);
            }
        }
        (above, row) = (row, next);
        if !steps.take(16) {
            return false;
        }
        if row.iter().all(|distance| *distance > FAR) {
            return true;
        }
    }
    for (k, distance) in row.into_iter().enumerate().filter(|(_, distance)| *distance <= FAR) {
        let Some(length) = (letters.len() + k).checked_sub(FAR).filter(|length| *length <= text.len()) else {
            continue;
        };
        let stop = length
            .checked_sub(1)
            .and_then(|last| text.get(last))
            .map_or(0, |(at, last)| at + last.len_utf8());
        spans.push((start..start + stop, distance));
    }
    true
}

/// The difference of two texts that differ in one letter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CharEdit {
    /// The search lacks a letter.
    Dropped(char),
    /// The search has an extra letter.
    Added(char),
    /// Two adjacent letters are swapped.
    Swapped,
    /// One letter is replaced by another.
    Replaced,
}

/// Letters that end a different name: plurals, inflections, `printf`, `asinh`, `max`.
const ENDINGS: [char; 8] = ['s', 'd', 'r', 'y', 'f', 'h', 'x', 'e'];

/// Returns true if the search differs from a text by one inserted, dropped, swapped or replaced letter, and its word
/// does not occur in the view. A word that occurs there is a name of its own.
pub(super) fn is_typo(search: &str, actual: &str, view: &str) -> bool {
    differing_letter(search, actual).is_some_and(|letter| !is_known(&letter.word, view))
}

/// Returns true if the search differs from a text by one swapped, dropped or doubled letter, and its word does not
/// occur in the view.
pub(super) fn is_certain_typo(search: &str, actual: &str, view: &str) -> bool {
    let Some(DifferingLetter { edit, before, word }) = differing_letter(search, actual) else { return false };
    let is_slip = match edit {
        CharEdit::Dropped(_) | CharEdit::Swapped => true,
        CharEdit::Added(letter) => before == Some(letter),
        CharEdit::Replaced => false,
    };
    is_slip && !is_known(&word, view)
}

/// Returns true if a text contains a word as a whole.
fn is_known(word: &str, view: &str) -> bool {
    beginnings(view, 0..view.len(), word).any(|span| has_word_boundaries(view, &span))
}

/// The one letter in which a search differs from a text.
struct DifferingLetter {
    edit: CharEdit,
    /// The letter before it.
    before: Option<char>,
    /// The search's word.
    word: String,
}

/// Returns the one letter in which two texts differ. The letter must be
/// inside or at the end of a part of a word with four or more letters, and not be the part's first one. A digit, a
/// capital or an ending that makes a different name does not count. The parts of a word begin with its capitals and
/// behind `_`.
fn differing_letter(search: &str, actual: &str) -> Option<DifferingLetter> {
    let (one, other): (Vec<char>, Vec<char>) = (search.chars().collect(), actual.chars().collect());
    let head = one.iter().zip(&other).take_while(|(one, other)| one == other).count();
    let most = one.len().min(other.len()) - head;
    let tail =
        one.iter().rev().zip(other.iter().rev()).take(most).take_while(|(one, other)| one == other).count();
    let before = one.get(head.checked_sub(1)?).copied();
    let after = one.get(one.len() - tail).copied().filter(char::is_ascii_lowercase);
    let [search_part, actual_part] =
        [&one, &other].map(|text| text.get(head..text.len() - tail).unwrap_or_default());
    let edit = match (search_part, actual_part) {
        ([], [letter]) => CharEdit::Dropped(*letter),
        ([letter], []) => CharEdit::Added(*letter),
        ([a, b], [c, d]) if a == d && b == c => CharEdit::Swapped,
        ([_], [_]) => CharEdit::Replaced,
        _ => return None,
    };
    let inside = match edit {
        CharEdit::Dropped(letter) | CharEdit::Added(letter) => after.is_some() || !ENDINGS.contains(&letter),
        CharEdit::Swapped => true,
        CharEdit::Replaced => after.is_some(),
    };
    let plain = search_part.iter().chain(actual_part).all(char::is_ascii_lowercase);
    let in_part = before.is_some_and(|letter| letter.is_ascii_alphabetic());
    let long = [&one, &other].iter().all(|text| part(text, head) >= WORD);
    (plain && inside && in_part && long).then(|| DifferingLetter { edit, before, word: word(&one, head) })
}

/// Returns the number of letters of the word part around an offset.
fn part(text: &[char], at: usize) -> usize {
    let (before, after) = text.split_at_checked(at).unwrap_or_default();
    let small = before.iter().rev().take_while(|letter| letter.is_ascii_lowercase()).count();
    let capital = before.iter().rev().nth(small).is_some_and(char::is_ascii_uppercase);
    small + usize::from(capital) + after.iter().take_while(|letter| letter.is_ascii_lowercase()).count()
}

/// Returns the word around an offset.
fn word(text: &[char], at: usize) -> String {
    let (before, after) = text.split_at_checked(at).unwrap_or_default();
    let start = before.len() - before.iter().rev().take_while(|letter| is_word_char(**letter)).count();
    let end = after.iter().take_while(|letter| is_word_char(**letter)).count();
    text.iter().skip(start).take(at + end - start).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(search: &str, view: &str) -> Option<String> {
        let mut steps = MatchBudget::of_one_search();
        find(search, view, 0..view.len(), &mut steps).map(|span| view.get(span).unwrap().to_owned())
    }

    #[test]
    fn one_letter_in_a_word_may_differ() {
        let view = "\tfmt.Println(\"Hello world\")\n\tnext()\n";
        for search in [
            "fmt.Printl(\"Hello world\")",
            "fmt.Pritnln(\"Hello world\")",
            "fmt.Printtln(\"Hello world\")",
            "fmt.Prontln(\"Hello world\")",
        ] {
            assert_eq!(found(search, view).as_deref(), Some("fmt.Println(\"Hello world\")"), "{search}");
        }
    }

    #[test]
    fn whole_lines_end_where_a_line_does() {
        assert_eq!(found("let total = non_ascii;\n", "let total = non_ascii_value;\n"), None);
        assert_eq!(found("let totl = non_ascii;\n", "let total = non_ascii_value;\n"), None);
        assert!(found("let totl = non_ascii;\n", "let total = non_ascii;\n").is_some());
    }

    #[test]
    fn what_may_be_another_name_is_not_found() {
        for (search, view) in [
            ("let items = get_item();", "let items = get_items();"),
            ("var b = 1 + a + c", "var a = 1 + a + c"),
            ("let value1 = compute();", "let value2 = compute();"),
            ("let value = compute();", "let Value = compute();"),
            ("short one", "shart one"),
            ("let total = sum(a);", "let total = sum(b);"),
            ("let pointX = compute();", "let pointY = compute();"),
            ("let update = compute();", "let updated = compute();"),
            ("let nodeA = compute();", "let node = compute();"),
            ("get_item_list(first)", "get_items_list(first)"),
            ("let mod_name = modx;", "let mod_name = mod;"),
            ("encode(message, key)", "decode(message, key)"),
            ("lock_acounts(user, 1)", "unlock_accounts(user, 1)"),
            ("return total_amunt", "return total_amounts"),
            ("print(\"json\", tree)", "print(\"jsonc\", tree); json()"),
        ] {
            assert_eq!(found(search, view), None, "{search}");
        }
    }

    #[test]
    fn another_place_as_near_as_two_letters_refuses() {
        let view = "let total = compute();\nlet totul = compote();\n";
        assert_eq!(found("let totl = compute();", view), None);
        assert!(found("let totl = compute();", "let total = compute();\nlet other = 1;\n").is_some());
    }

    #[test]
    fn the_replacement_wins_where_it_changes_the_differing_word() {
        let actual = "fmt.Println(\"a\")";
        assert_eq!(
            rebase("fmt.Printl(\"a\")", "fmt.Printl(\"b\")", actual, MatchExtent::WholeLines).as_deref(),
            Some("fmt.Println(\"b\")")
        );
        assert_eq!(
            rebase("fmt.Printl(\"a\")", "log.Print(1)", actual, MatchExtent::WholeLines).as_deref(),
            Some("log.Print(1)")
        );
    }

    proptest::proptest! {
        #[test]
        fn the_distances_are_those_of_the_definition(search in "[abc]{10,16}", view in "[abc]{8,30}") {
            let mut spans = Vec::new();
            let letters: Vec<char> = search.chars().collect();
            let mut steps = MatchBudget::of_one_search();
            for start in 0..view.len() {
                aligned(&letters, start, &view, view.len(), &mut spans, &mut steps);
            }
            for start in 0..view.len() {
                for end in start..=view.len() {
                    let distance = strsim::osa_distance(&search, view.get(start..end).unwrap());
                    let listed = spans.iter().find(|(span, _)| *span == (start..end)).map(|(_, distance)| *distance);
                    proptest::prop_assert_eq!(listed, (distance <= FAR).then_some(distance));
                }
            }
        }
    }

    #[test]
    fn blank_lines_at_the_edges_are_added_to_whole_lines_alone() {
        let rebased = |replace, extent| rebase("retrun total;\n", replace, "return total;", extent);
        let (whole, part) = (MatchExtent::WholeLines, MatchExtent::PartOfLine);
        assert_eq!(rebased("\nretrun sum;\n\n", whole).as_deref(), Some("\nreturn sum;\n"));
        assert_eq!(rebased("\nretrun sum;\n", part), None);
        assert_eq!(rebased("", whole), None);
        assert_eq!(rebase("\nretrun total;\n", "retrun sum;\n", "return total;", whole), None);
    }

    #[test]
    fn a_word_that_differs_is_not_moved() {
        assert_eq!(
            rebase(
                "first;\nvaule;\nlast;",
                "vaule;\nfirst;\nlast;",
                "first;\nvalue;\nlast;",
                MatchExtent::WholeLines
            ),
            None
        );
    }
}
