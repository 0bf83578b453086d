//! Cuts a rendered unified diff between hunks.
//!
//! Invariant: the result is a valid diff of the first hunks, or empty.

use lockgate_text::DiffCut;

/// The start of each hunk; no other line of a diff starts like this.
const HUNK_START: &str = "\n@@ ";

/// Returns the head of a diff and as many whole hunks as fit into `most` bytes; empty if the first does not fit.
pub(super) fn first_hunks(diff: &str, most: usize) -> (String, DiffCut) {
    let starts: Vec<usize> = diff.match_indices(HUNK_START).map(|(at, _)| at + 1).collect();
    let next_starts = starts.iter().copied().skip(1).chain([diff.len()]);
    let fitting = next_starts.take(starts.len()).take_while(|end| *end <= most);
    let (shown, end) = fitting.fold((0, 0), |(shown, _), end| (shown + 1, end));
    if shown == starts.len() && diff.len() <= most {
        return (diff.to_owned(), DiffCut::Whole);
    }
    (diff.get(..end).unwrap_or_default().to_owned(), DiffCut::Partial { shown, total: starts.len() })
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "--- a/x\n+++ b/x\n";
    const ONE: &str = "@@ -1 +1 @@\n-a\n+@@ b\n";
    const TWO: &str = "@@ -9 +9 @@\n-@@ c\n+d\n";

    #[test]
    fn a_diff_is_cut_where_a_hunk_begins() {
        let (diff, first) = ([HEAD, ONE, TWO].concat(), [HEAD, ONE].concat());
        let one = first.len();
        for (most, shown, cut) in [
            (diff.len(), diff.as_str(), DiffCut::Whole),
            (diff.len() - 1, first.as_str(), DiffCut::Partial { shown: 1, total: 2 }),
            (one, first.as_str(), DiffCut::Partial { shown: 1, total: 2 }),
            (one - 1, "", DiffCut::Partial { shown: 0, total: 2 }),
            (0, "", DiffCut::Partial { shown: 0, total: 2 }),
        ] {
            assert_eq!(first_hunks(&diff, most), (shown.to_owned(), cut), "{most}");
        }
        assert_eq!(first_hunks("", 0), (String::new(), DiffCut::Whole));
    }
}
