//! The spans that were aligned, so that equal ones are aligned once.

use std::collections::BTreeMap;
use std::ops::Range;

use super::align::Height;
use super::alphabet::CharNumber;
use super::sheet::Sheet;
use super::steps::{NearestBudget, Spent};

/// How many lines, and how many symbols, tell spans apart at first sight.
const SIGHT: (usize, usize) = (8, 48);

/// What was found in spans; of those that look alike at first sight, in the last one.
#[derive(Default)]
pub(super) struct SpanCache {
    spans: BTreeMap<u64, (Range<usize>, Option<Height>)>,
}

impl SpanCache {
    /// What was found in a span with the same symbols and line ends, as if it had been this one.
    pub(super) fn recall<S: CharNumber>(
        &self,
        sheet: &Sheet<S>,
        lines: &Range<usize>,
        steps: &mut NearestBudget,
    ) -> Result<Option<Option<Height>>, Spent> {
        let Some((seen, height)) = self.spans.get(&sight(sheet, lines)) else { return Ok(None) };
        let other = seen.start..seen.start + lines.len();
        steps.take(16 + lines.len() + sheet.length(lines) / 32)?;
        let starts =
            |span: &Range<usize>, line: usize| sheet.start(span.start + line) - sheet.start(span.start);
        let same = other.end <= seen.end
            && sheet.span(&other) == sheet.span(lines)
            && (0..lines.len()).all(|line| starts(&other, line) == starts(lines, line));
        let moved = height.map(|height| Height { end: height.end - seen.start + lines.start, ..height });
        // What was found may need lines that this span, cut short by the end of its area, lacks.
        Ok((same && moved.is_none_or(|height| height.end <= lines.end)).then_some(moved))
    }

    /// Keeps what was found in a span.
    pub(super) fn keep<S: CharNumber>(
        &mut self,
        sheet: &Sheet<S>,
        lines: Range<usize>,
        height: Option<Height>,
    ) {
        self.spans.insert(sight(sheet, &lines), (lines, height));
    }
}

fn sight<S: CharNumber>(sheet: &Sheet<S>, lines: &Range<usize>) -> u64 {
    let lengths = lines.clone().take(SIGHT.0).map(|line| sheet.length(&(line..line + 1)) as u64);
    let symbols = sheet.span(lines).iter().take(SIGHT.1).map(|symbol| symbol.number() as u64);
    lengths
        .chain(symbols)
        .fold(0, |hash: u64, part| (hash ^ part).wrapping_mul(0x0100_0000_01B3).rotate_left(5))
}
