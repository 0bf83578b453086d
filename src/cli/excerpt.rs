//! Parts of a text with line numbers, used to show the source of a finding.

/// Consecutive lines of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Excerpt {
    /// Number of the first line, from 1.
    pub first_line: usize,
    /// The lines with their line ends.
    pub text: String,
}

impl Excerpt {
    /// Creates an excerpt of a whole text.
    pub(super) fn whole(text: &str) -> Excerpt {
        Excerpt { first_line: 1, text: text.to_owned() }
    }

    /// Returns the new side of each hunk of a unified diff.
    pub(super) fn from_diff(diff: &str) -> Vec<Excerpt> {
        let mut excerpts: Vec<Excerpt> = Vec::new();
        for line in diff.split_inclusive('\n') {
            if let Some(first_line) = new_start(line) {
                excerpts.push(Excerpt { first_line, text: String::new() });
            } else if let (Some(excerpt), Some(' ' | '+')) = (excerpts.last_mut(), line.chars().next()) {
                excerpt.text.extend(line.chars().skip(1));
            }
        }
        excerpts
    }

    /// Returns the byte offset of a position within the excerpt; `None` if the excerpt does not contain the line.
    ///
    /// `line` and `column` start at 1; columns are in characters. A column past the end means the end of the line.
    pub(super) fn offset(&self, line: usize, column: usize) -> Option<usize> {
        let within = line.checked_sub(self.first_line)?;
        let start: usize = self.text.split_inclusive('\n').take(within).map(str::len).sum();
        let found = self.text.split_inclusive('\n').nth(within)?.trim_end_matches(['\r', '\n']);
        let column = found.char_indices().nth(column.saturating_sub(1)).map_or(found.len(), |(at, _)| at);
        Some(start + column)
    }
}

/// Returns the first line of the new side if the line is a hunk header.
fn new_start(line: &str) -> Option<usize> {
    let ranges = line.strip_prefix("@@ -")?;
    let (_, new) = ranges.split_once(" +")?;
    new.split([',', ' ']).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIFF: &str = "--- a/x\n+++ b/x\n@@ -3,3 +3,3 @@ fn f\n a\n-b\n+ä c\n d\n@@ -9 +9,2 @@\n-z\n+y\n+x\n\\ No newline at end of file\n";

    #[test]
    fn the_new_side_of_each_hunk_is_kept() {
        assert_eq!(
            Excerpt::from_diff(DIFF),
            [
                Excerpt { first_line: 3, text: "a\nä c\nd\n".into() },
                Excerpt { first_line: 9, text: "y\nx\n".into() }
            ]
        );
    }

    #[test]
    fn a_place_is_found_by_line_and_character() {
        let excerpt = Excerpt { first_line: 3, text: "a\nä c\nd\n".into() };
        assert_eq!(excerpt.offset(4, 3), Some("a\nä ".len()));
        assert_eq!(excerpt.offset(4, 99), Some("a\nä c".len()));
        assert_eq!(excerpt.offset(2, 1), None);
        assert_eq!(excerpt.offset(6, 1), None);
    }
}
