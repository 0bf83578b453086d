//! The part of the diff that an answer shows.

use super::clip::TextLimits;
use super::forms::Forms;
use super::options::{DiffDisplay, ResponseOptions};
use super::response::{DiffSource, FullResponse};
use lockgate_text::{Diff, DiffCut};

/// The start of each hunk; no other line of a diff starts like this.
const HUNK_START: &str = "\n@@ ";

/// The part of the diff that is shown.
#[derive(Default)]
pub(super) struct DiffExcerpt {
    /// The diff text; empty if no hunk fits.
    pub(super) diff: String,
    /// The changed lines of the same hunks, for the text form.
    pub(super) changed_lines: String,
    /// A note about the missing hunks.
    pub(super) omitted_note: Option<String>,
}

impl DiffExcerpt {
    /// Renders as many hunks as fit into `budget` bytes: those of a rejection that have findings, or the first ones. A diff
    /// of changes made by others is always shown, because it explains the rejection.
    pub(super) fn new(
        full: &FullResponse<'_>,
        limits: TextLimits,
        budget: usize,
        options: &ResponseOptions,
    ) -> DiffExcerpt {
        let lines = |diff: &Diff<'_>| full.extent.as_ref().map(|extent| diff.numbered(budget, extent));
        let (diff, changed_lines, cut) = match (&full.diff, options.diff, options.forms) {
            (DiffSource::Since(diff), ..) => {
                let (diff, cut) = first_hunks(diff, budget);
                (diff, String::new(), cut)
            }
            (DiffSource::Edit(diff), DiffDisplay::Shown, Forms::Text) => {
                let (lines, cut) = lines(diff).unwrap_or((String::new(), DiffCut::Whole));
                (String::new(), lines, cut)
            }
            (DiffSource::Edit(diff), DiffDisplay::Shown, _) => {
                let (shown, cut) = match diff.render(budget) {
                    (_, DiffCut::Partial { .. }) if full.extent.is_some() => {
                        diff.render_near(budget, full.extent.as_ref())
                    }
                    whole => whole,
                };
                // Changed lines may fit where a hunk does not, because its context is long.
                let lines = lines(diff).map(|(lines, _)| lines);
                (shown, lines.unwrap_or_default(), cut)
            }
            (DiffSource::Edit(_), DiffDisplay::Omitted, _) | (DiffSource::None, ..) => {
                return DiffExcerpt::default();
            }
        };
        let omitted_note = match cut {
            DiffCut::Whole => None,
            DiffCut::Partial { shown, total: of } => {
                let more = if options.offers.has_max_bytes { ", a larger max_bytes shows more" } else { "" };
                let counted = format!("the diff is cut: {shown} of {of} hunks are shown{more}");
                let short = if shown == 0 { "the diff is not shown" } else { "the diff is cut" };
                Some(limits.sentence(counted, short))
            }
        };
        DiffExcerpt { diff, changed_lines, omitted_note }
    }

    /// Returns the bytes of the larger of its forms.
    pub(super) fn size(&self) -> usize {
        self.diff.len().max(self.changed_lines.len())
    }
}

/// Returns the head of a diff and as many whole hunks as fit into `most` bytes, which is a valid diff; empty if the first
/// does not fit.
fn first_hunks(diff: &str, most: usize) -> (String, DiffCut) {
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
