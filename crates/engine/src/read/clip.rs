//! Shortens lines that are too long to be shown.

use std::ops::Range;

/// The most characters of a line that are shown.
const LINE: usize = 500;
/// The characters shown before a match that is far into the line.
const LEAD: usize = 100;
/// The mark for omitted text.
const GAP: &str = "...";

/// True if a line is too long to be shown whole.
pub(super) fn clip_line(line: &str) -> bool {
    line.len() > LINE && line.chars().nth(LINE).is_some()
}

/// Returns a line, or the part around a match, with `...` for omitted text.
pub(super) fn clip(line: &str, matched: Range<usize>) -> String {
    if !clip_line(line) {
        return line.to_owned();
    }
    let at = line.floor_char_boundary(matched.start.min(line.len()));
    let (before, behind) = line.split_at_checked(at).unwrap_or(("", line));
    let rest = behind.chars().count();
    // A match near the end leaves room for more of the text before it.
    let lead = LEAD.max(LINE.saturating_sub(rest));
    let start = before.char_indices().rev().nth(lead.saturating_sub(1)).map_or(0, |(at, _)| at);
    let shown = line.get(start..).unwrap_or_default();
    let end = shown.char_indices().nth(LINE).map_or(shown.len(), |(at, _)| at);
    let open = if start > 0 { GAP } else { "" };
    let close = if end < shown.len() { GAP } else { "" };
    format!("{open}{}{close}", shown.get(..end).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_long_line_is_shown_around_its_match() {
        let line = format!("{}needle{}", "a".repeat(3000), "ß".repeat(3000));
        assert_eq!(clip(&line, 3000..3006), format!("...{}needle{}...", "a".repeat(100), "ß".repeat(394)));
        assert_eq!(clip(&line, 0..0), format!("{}...", "a".repeat(500)));
        let late = format!("{}needle", "a".repeat(3000));
        assert_eq!(clip(&late, 3000..3006), format!("...{}needle", "a".repeat(494)));
        assert_eq!(clip(&"é".repeat(500), 3..5), "é".repeat(500));
    }

    proptest! {
        #[test]
        fn what_is_shown_is_a_part_of_the_line(line in "[aé]{0,1200}", start in 0_usize..3000, length in 0_usize..900) {
            let shown = clip(&line, start..start + length);
            prop_assert!(shown.chars().count() <= LINE + 2 * GAP.len());
            let part = shown.strip_prefix(GAP).unwrap_or(&shown);
            let part = part.strip_suffix(GAP).unwrap_or(part);
            prop_assert!(line.contains(part));
            prop_assert_eq!(shown == line, line.chars().count() <= LINE);
        }
    }
}
