//! Distributes the blank lines between the lines of a block.

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
/// A gap that the edit does not change keeps the file's lines, the last gap first. The other gaps are those of the
/// replacement.
pub(super) fn distribute(wanted: &[usize], quoted: &[usize], actual: &[Range<usize>]) -> Vec<Blanks> {
    if let ([wanted], [quoted], [actual]) = (wanted, quoted, actual) {
        return vec![if wanted == quoted { own(actual) } else { resized(actual, *wanted) }];
    }
    let mut shared: Vec<Blanks> = wanted.iter().map(|&added| Blanks { existing: 0..0, added }).collect();
    let mut remaining = quoted.len();
    for (gap, blanks) in wanted.iter().zip(&mut shared).rev() {
        let alike =
            quoted.iter().zip(actual).enumerate().take(remaining).filter(|(_, (quoted, _))| *quoted == gap);
        let chosen = if wanted.len() == 1 {
            alike.max_by_key(|(index, (_, actual))| (actual.len(), *index))
        } else {
            alike.max_by_key(|(index, _)| *index)
        };
        if let Some((index, (_, actual))) = chosen {
            *blanks = own(actual);
            remaining = index;
        }
    }
    shared
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
    fn where_a_line_is_taken_away_the_larger_gap_stays() {
        assert_eq!(distribute(&[0], &[0, 0], &[5..6, 7..7]), [blanks(5..6, 0)]);
        assert_eq!(distribute(&[0], &[0, 0], &[5..5, 6..6]), [blanks(6..6, 0)]);
        assert_eq!(distribute(&[1], &[1, 0], &[5..6, 7..7]), [blanks(5..6, 0)]);
    }

    #[test]
    fn at_an_end_there_may_be_none() {
        assert_eq!(distribute(&[], &[0], &[5..5]), []);
        assert_eq!(distribute(&[1], &[], &[]), [blanks(0..0, 1)]);
    }
}
