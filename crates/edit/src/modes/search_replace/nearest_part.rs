//! Finds the part of a line that is most similar to a quote that is shorter than a line.

use super::window::Window;
use lockgate_error::Score;

/// The maximum number of character pairs that are compared, some tens of milliseconds of work.
const MAX_CELLS: usize = 1 << 25;
/// The minimum number of characters of a quote; shorter ones are similar to anything.
const LEAST: usize = 4;
/// The minimum similarity, in per cent.
const LEAST_SIMILAR: usize = 70;

/// A part of a line.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// The number of the line, from 1.
    pub(super) line: usize,
    /// The text of the part.
    pub(super) text: String,
    /// The number of characters that differ from the quote.
    pub(super) distance: usize,
}

impl Part {
    /// Returns the similarity of the quote and the whole line, at least: all characters around the part count as different.
    pub(super) fn score(&self, quote: &str, line: &str) -> Score {
        let [quote, line, part] = [quote, line, &self.text].map(|text| text.trim().chars().count());
        Score::from_distance(self.distance + line.saturating_sub(part), quote.max(line))
    }
}

/// Returns the part with the smallest edit distance to the quote, the first of equals; `None` if the quote has several
/// lines, if nothing is similar, or if the text is too long to compare.
pub(super) fn nearest_part(quote: &str, window: &Window<'_>) -> Option<Part> {
    let wanted: Vec<char> = quote.trim().chars().collect();
    let bytes = window.bytes();
    if quote.trim().contains('\n')
        || wanted.len() < LEAST
        || wanted.len().checked_mul(bytes.len())? > MAX_CELLS
    {
        return None;
    }
    let lines = window.buffer.lines();
    let most = wanted.len() * (100 - LEAST_SIMILAR) / 100;
    let mut best: Option<Part> = None;
    for line in lines.lines_at(&bytes) {
        let below = best.as_ref().map_or(most + 1, |best| best.distance);
        if let Some((span, distance)) = nearest_in_line(&wanted, lines.text(line), below) {
            best = Some(Part { line, text: span, distance });
        }
    }
    // A part of a line: a whole line that is similar is shown with the lines around it.
    best.filter(|best| best.text.trim().len() < lines.text(best.line).trim().len())
}

/// Returns the part of a line whose edit distance to the wanted characters is smallest and below a bound (Sellers 1980).
fn nearest_in_line(wanted: &[char], line: &str, below: usize) -> Option<(String, usize)> {
    let text: Vec<char> = line.chars().collect();
    // For each prefix of the wanted characters: the distance to the nearest part that ends here, and where it begins.
    let mut column: Vec<(usize, usize)> = (0..=wanted.len()).map(|row| (row, 0)).collect();
    let mut best: Option<(usize, usize, usize)> = None;
    for (at, found) in text.iter().enumerate() {
        let mut diagonal = (0, at);
        let mut above = (0, at + 1);
        for (wanted, cell) in wanted.iter().zip(column.iter_mut().skip(1)) {
            let replaced = (diagonal.0 + usize::from(wanted != found), diagonal.1);
            let inserted = (cell.0 + 1, cell.1);
            let dropped = (above.0 + 1, above.1);
            diagonal = *cell;
            *cell = replaced.min(inserted).min(dropped);
            above = *cell;
        }
        let (distance, start) = column.last().copied()?;
        if distance < best.map_or(below, |(least, ..)| least) {
            best = Some((distance, start, at + 1));
        }
    }
    let (distance, start, end) = best?;
    Some((text.get(start..end)?.iter().collect(), distance))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nearest(quote: &str, line: &str) -> Option<(String, usize)> {
        nearest_in_line(&quote.chars().collect::<Vec<_>>(), line, usize::MAX)
    }

    #[test]
    fn the_nearest_part_of_a_line_is_found() {
        for (quote, line, part, distance) in [
            ("y = x + 2", "    y = x + 1  # sum", "y = x + ", 1),
            ("timeout=30", "connect(host, timeout=300, retries=2)", "timeout=30", 0),
            ("time_out=30", "connect(host, timeout=30)", "timeout=30", 1),
            ("abc", "xyz", "", 3),
        ] {
            let (found, least) = nearest(quote, line).unwrap();
            assert_eq!(least, distance, "{quote}: {found:?}");
            assert!(found.starts_with(part), "{quote}: {found:?}");
        }
    }

    #[test]
    fn the_distance_is_the_smallest_over_all_parts() {
        let parts = |line: &str| -> Vec<String> {
            let text: Vec<char> = line.chars().collect();
            let spans = (0..text.len()).flat_map(|from| (from + 1..=text.len()).map(move |to| from..to));
            spans.map(|span| text[span].iter().collect()).collect()
        };
        for (quote, line) in
            [("abab", "babbab"), ("kitten", "sitting on a mitten"), ("aaa", "baab"), ("xyz", "axbycz")]
        {
            let least = parts(line).iter().map(|part| strsim::levenshtein(quote, part)).min().unwrap();
            assert_eq!(nearest(quote, line).unwrap().1, least, "{quote} in {line}");
        }
    }
}
