//! A cache of aligned spans, so that equal spans are aligned once.

use std::collections::BTreeMap;
use std::ops::Range;

use super::align::Height;
use super::alphabet::CharNumber;
use super::budget::{NearestBudget, OutOfSteps};
use super::symbol_text::SymbolText;

/// The number of lines and of symbols in a span's hash key.
const KEY_SIZE: (usize, usize) = (8, 48);

/// The results of aligned spans; for equal hash keys, the last one.
#[derive(Default)]
pub(super) struct SpanCache {
    spans: BTreeMap<u64, (Range<usize>, Option<Height>)>,
}

/// The result of a lookup in the cache.
pub(super) enum CachedSpan {
    /// The span was aligned; `None` if that found no block.
    Aligned(Option<Height>),
    /// No span like it was aligned.
    Unknown,
}

impl SpanCache {
    /// Returns the result of a span with the same symbols and line ends, moved to this span.
    pub(super) fn get<S: CharNumber>(
        &self,
        symbol_text: &SymbolText<S>,
        lines: &Range<usize>,
        steps: &mut NearestBudget,
    ) -> Result<CachedSpan, OutOfSteps> {
        let Some((known, height)) = self.spans.get(&hash_key(symbol_text, lines)) else {
            return Ok(CachedSpan::Unknown);
        };
        let other = known.start..known.start + lines.len();
        steps.take(16 + lines.len() + symbol_text.length(lines) / 32)?;
        let starts = |span: &Range<usize>, line: usize| {
            symbol_text.start(span.start + line) - symbol_text.start(span.start)
        };
        let same = other.end <= known.end
            && symbol_text.span(&other) == symbol_text.span(lines)
            && (0..lines.len()).all(|line| starts(&other, line) == starts(lines, line));
        let moved = height.map(|height| Height { end: height.end - known.start + lines.start, ..height });
        // The result may need lines beyond the end of this span, which the end of its area cuts short.
        let fits = moved.is_none_or(|height| height.end <= lines.end);
        Ok(if same && fits { CachedSpan::Aligned(moved) } else { CachedSpan::Unknown })
    }

    /// Stores the result of a span.
    pub(super) fn insert<S: CharNumber>(
        &mut self,
        symbol_text: &SymbolText<S>,
        lines: Range<usize>,
        height: Option<Height>,
    ) {
        self.spans.insert(hash_key(symbol_text, &lines), (lines, height));
    }
}

fn hash_key<S: CharNumber>(symbol_text: &SymbolText<S>, lines: &Range<usize>) -> u64 {
    let lengths = lines.clone().take(KEY_SIZE.0).map(|line| symbol_text.length(&(line..line + 1)) as u64);
    let symbols = symbol_text.span(lines).iter().take(KEY_SIZE.1).map(|symbol| symbol.number() as u64);
    lengths
        .chain(symbols)
        .fold(0, |hash: u64, part| (hash ^ part).wrapping_mul(0x0100_0000_01B3).rotate_left(5))
}
