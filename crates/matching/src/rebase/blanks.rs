//! Distributes the blank lines between the lines of a block.

use std::collections::HashMap;
use std::ops::Range;

/// The blank lines of one gap: the file's lines that stay, and the number of new ones behind them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Blanks {
    pub(super) existing: Range<usize>,
    pub(super) added: usize,
}

/// Distributes the gaps between two unchanged lines. `wanted` are the gaps of the replacement, `quoted` those of the
/// search, `actual` the file's lines in each of these.
///
/// A gap that the edit does not change keeps the file's lines, the last gap first. The same holds for a gap with the
/// file's blank lines that the search lacks. The other gaps are those of the replacement.
pub(super) fn distribute(wanted: &[usize], quoted: &[usize], actual: &[Range<usize>]) -> Vec<Blanks> {
    // A gap between two added lines is of the added text.
    pair(wanted, quoted, actual, [wanted.first(), wanted.last()])
}

/// Pairs the gaps from the end. A gap with blank lines that the search lacks equals one of the `edges` with these.
fn pair(
    wanted: &[usize],
    quoted: &[usize],
    actual: &[Range<usize>],
    edges: [Option<&usize>; 2],
) -> Vec<Blanks> {
    if let ([wanted], [quoted], [actual]) = (wanted, quoted, actual) {
        return vec![if wanted == quoted { own(actual) } else { resized(actual, *wanted) }];
    }
    let mut shared: Vec<Blanks> = wanted.iter().map(|&added| Blanks { existing: 0..0, added }).collect();
    let mut alike: HashMap<usize, Vec<(usize, &Range<usize>)>> = HashMap::new();
    for (index, (&gap, actual)) in quoted.iter().zip(actual).enumerate() {
        let has_more = wanted.len() > 1 && actual.len() > gap && edges.contains(&Some(&actual.len()));
        alike.entry(if has_more { actual.len() } else { gap }).or_default().push((index, actual));
    }
    if let ([gap], [blanks]) = (wanted, shared.as_mut_slice()) {
        let largest = alike.get(gap).and_then(|alike| alike.iter().max_by_key(|(_, actual)| actual.len()));
        if let Some((_, actual)) = largest {
            *blanks = own(actual);
        }
        return shared;
    }
    let mut remaining = quoted.len();
    for (gap, blanks) in wanted.iter().zip(&mut shared).rev() {
        let Some(alike) = alike.get_mut(gap) else { continue };
        // The gaps behind the chosen one are of no use for those above either.
        while alike.pop_if(|(index, _)| *index >= remaining).is_some() {}
        if let Some((index, actual)) = alike.pop() {
            *blanks = own(actual);
            remaining = index;
        }
    }
    shared
}

/// Distributes the gaps as [`distribute`] does, but the first gap keeps the file's blank lines if the edit does not change
/// their number.
pub(super) fn distribute_below_first(
    wanted: &[usize],
    quoted: &[usize],
    actual: &[Range<usize>],
) -> Vec<Blanks> {
    let ([first, wanted_below @ ..], [gap, quoted_below @ ..], [blanks, actual_below @ ..]) =
        (wanted, quoted, actual)
    else {
        return distribute(wanted, quoted, actual);
    };
    if blanks.is_empty() || first != gap && *first != blanks.len() {
        return distribute(wanted, quoted, actual);
    }
    let below = match (wanted_below, quoted_below, actual_below) {
        ([], _, _) => Vec::new(),
        ([_], [.., gap], [.., actual]) => distribute(wanted_below, &[*gap], std::slice::from_ref(actual)),
        ([.., last], _, _) => pair(wanted_below, quoted_below, actual_below, [None, Some(last)]),
    };
    [vec![own(blanks)], below].concat()
}

fn own(actual: &Range<usize>) -> Blanks {
    Blanks { existing: actual.clone(), added: 0 }
}

fn resized(actual: &Range<usize>, wanted: usize) -> Blanks {
    let existing = actual.start..actual.end.min(actual.start + wanted);
    Blanks { added: wanted.saturating_sub(existing.len()), existing }
}

#[cfg(test)]
#[expect(clippy::single_range_in_vec_init, reason = "one gap of some lines")]
mod tests {
    use super::*;

    fn blanks(existing: Range<usize>, added: usize) -> Blanks {
        Blanks { existing, added }
    }

    #[test]
    fn an_unchanged_gap_is_the_file_s_own() {
        assert_eq!(distribute(&[0], &[0], &[5..7]), [blanks(5..7, 0)]);
        assert_eq!(distribute(&[1], &[1], &[5..5]), [blanks(5..5, 0)]);
    }

    #[test]
    fn a_changed_gap_is_the_one_of_the_replacement() {
        assert_eq!(distribute(&[2], &[0], &[5..6]), [blanks(5..6, 1)]);
        assert_eq!(distribute(&[0], &[1], &[5..7]), [blanks(5..5, 0)]);
    }

    #[test]
    fn where_a_line_is_added_the_last_gap_keeps_the_file_s_blanks() {
        assert_eq!(distribute(&[0, 0], &[0], &[5..6]), [blanks(0..0, 0), blanks(5..6, 0)]);
        assert_eq!(distribute(&[1, 0], &[1], &[5..7]), [blanks(5..7, 0), blanks(0..0, 0)]);
    }

    #[test]
    fn a_gap_of_the_replacement_with_the_file_s_blanks_gets_those() {
        assert_eq!(distribute(&[0, 1], &[0], &[5..6]), [blanks(0..0, 0), blanks(5..6, 0)]);
        assert_eq!(distribute(&[1, 0], &[0], &[5..6]), [blanks(5..6, 0), blanks(0..0, 0)]);
        assert_eq!(distribute(&[0, 1], &[0, 0], &[5..5, 6..7]), [blanks(5..5, 0), blanks(6..7, 0)]);
        assert_eq!(distribute(&[1, 2], &[1], &[5..7]), [blanks(0..0, 1), blanks(5..7, 0)]);
        assert_eq!(distribute(&[1, 0], &[1], &[5..5]), [blanks(5..5, 0), blanks(0..0, 0)], "fewer");
        let inside = [blanks(0..0, 0), blanks(0..0, 1), blanks(5..6, 0)];
        assert_eq!(distribute(&[0, 1, 0], &[0], &[5..6]), inside, "within the added text");
    }

    #[test]
    fn the_first_gap_keeps_the_file_s_blanks_where_it_is_told_apart() {
        let below_first = distribute_below_first;
        assert_eq!(below_first(&[0, 0], &[0], &[5..6]), [blanks(5..6, 0), blanks(0..0, 0)]);
        assert_eq!(below_first(&[0, 0], &[0, 0], &[5..6, 7..8]), [blanks(5..6, 0), blanks(7..8, 0)]);
        let inside = [blanks(5..6, 0), blanks(0..0, 1), blanks(7..8, 0)];
        assert_eq!(below_first(&[0, 1, 0], &[0, 0], &[5..6, 7..8]), inside, "within the added text");
        assert_eq!(below_first(&[0, 1], &[0, 0], &[5..6, 7..7]), [blanks(5..6, 0), blanks(7..7, 1)]);
        let fewer = [blanks(5..6, 0), blanks(8..9, 0)];
        assert_eq!(below_first(&[0, 0], &[0, 0, 0], &[5..6, 7..7, 8..9]), fewer, "the gap below");
        assert_eq!(below_first(&[0], &[0, 0], &[5..6, 7..9]), [blanks(5..6, 0)], "at the end of the block");
    }

    #[test]
    fn a_first_gap_that_the_edit_changes_is_distributed_as_the_others() {
        for (wanted, quoted, actual) in [([1, 0], [0, 0], [5..7, 8..8]), ([0, 0], [0, 0], [5..5, 6..7])] {
            let all = distribute(&wanted, &quoted, &actual);
            assert_eq!(distribute_below_first(&wanted, &quoted, &actual), all, "{wanted:?}");
        }
    }

    #[test]
    fn where_a_line_is_taken_away_the_larger_gap_stays() {
        assert_eq!(distribute(&[0], &[0, 0], &[5..6, 7..7]), [blanks(5..6, 0)]);
        assert_eq!(distribute(&[0], &[0, 0], &[5..5, 6..6]), [blanks(6..6, 0)]);
        assert_eq!(distribute(&[1], &[1, 0], &[5..6, 7..7]), [blanks(5..6, 0)]);
    }

    #[test]
    fn gaps_that_no_other_has_are_distributed_in_linear_time() {
        let (wanted, quoted): (Vec<usize>, Vec<usize>) = (vec![1; 300_000], vec![0; 300_000]);
        let actual = vec![5..5; 300_000];
        assert_eq!(distribute(&wanted, &quoted, &actual), vec![blanks(0..0, 1); 300_000]);
        assert_eq!(distribute(&quoted, &quoted, &actual), vec![blanks(5..5, 0); 300_000], "the control");
    }

    #[test]
    fn at_an_end_there_may_be_none() {
        assert_eq!(distribute(&[], &[0], &[5..5]), []);
        assert_eq!(distribute(&[1], &[], &[]), [blanks(0..0, 1)]);
    }

    proptest::proptest! {
        /// From the last gap up, each takes the last gap of the search that is equal and above those taken. A gap without
        /// the blank line of the file equals one with it.
        #[test]
        fn equal_gaps_are_paired_from_the_end(
            wanted in proptest::collection::vec(0..3_usize, 2..7),
            quoted in proptest::collection::vec(0..3_usize, 0..7),
        ) {
            let actual: Vec<Range<usize>> = (0..quoted.len()).map(|index| index..index + 1).collect();
            let mut expected: Vec<Blanks> = wanted.iter().map(|&added| blanks(0..0, added)).collect();
            let has_blank = [wanted.first(), wanted.last()].contains(&Some(&1));
            let gap_of = |quoted: &usize| if has_blank && *quoted == 0 { 1 } else { *quoted };
            let mut rest = quoted.as_slice();
            for (gap, expected) in wanted.iter().zip(&mut expected).rev() {
                if let Some(index) = rest.iter().rposition(|quoted| gap_of(quoted) == *gap) {
                    *expected = blanks(index..index + 1, 0);
                    rest = &rest[..index];
                }
            }
            proptest::prop_assert_eq!(distribute(&wanted, &quoted, &actual), expected);
        }
    }
}
