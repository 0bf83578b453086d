//! The searched text without blanks and blank lines.
//!
//! Invariant: there is one border more than there are lines, and the values never decrease from border to border.

use std::ops::Range;

use memchr::memchr_iter;

use super::alphabet::{Alphabet, CharNumber};
use super::budget::NearestBudget;
use super::grams::Fours;

/// The number of lines between two stored positions.
const STRIDE: usize = 64;

/// The counts before a line.
#[derive(Debug, Clone, Copy, Default)]
struct Border {
    symbols: u32,
    hits: u32,
}

/// The symbols of a text, line by line.
pub(super) struct SymbolText<S> {
    symbols: Vec<S>,
    borders: Vec<Border>,
    offsets: Vec<u32>,
    window: Range<usize>,
    /// Set if this is the whole window; unset if the steps did not suffice.
    pub(super) whole: bool,
}

impl<S: CharNumber> SymbolText<S> {
    /// Builds the text from the lines of the window, as far as the steps suffice.
    pub(super) fn read(
        view: &str,
        window: Range<usize>,
        alphabet: &Alphabet,
        fours: &mut Fours,
        steps: &mut NearestBudget,
    ) -> SymbolText<S> {
        let (whole, window) = affordable(view, window, *steps);
        let text = view.get(window.clone()).unwrap_or_default();
        // The measured length fits by construction.
        let _ = steps.take(text.len());
        let mut symbol_text = SymbolText {
            symbols: vec![S::default(); text.len()],
            borders: vec![Border::default()],
            offsets: Vec::new(),
            window,
            whole,
        };
        symbol_text.fill(text, alphabet, fours);
        symbol_text
    }

    fn fill(&mut self, text: &str, alphabet: &Alphabet, fours: &mut Fours) {
        let table = alphabet.bytes();
        let (mut start, mut filled, mut hits) = (0, 0, 0);
        for end in memchr_iter(b'\n', text.as_bytes()).chain([text.len()]) {
            let room = self.symbols.get_mut(filled..).unwrap_or_default();
            let line = text.as_bytes().get(start..end).unwrap_or_default();
            let added = if line.is_ascii() {
                pack_bytes(line, &table, room)
            } else {
                pack_chars(text.get(start..end).unwrap_or_default(), alphabet, room)
            };
            if added > 0 {
                if (self.borders.len() - 1).is_multiple_of(STRIDE) {
                    self.offsets.push(short(start));
                }
                hits += fours.hits(room.get(..added).unwrap_or_default());
                filled += added;
                self.borders.push(Border { symbols: short(filled), hits });
            }
            start = end + 1;
        }
        self.symbols.truncate(filled);
    }

    /// Returns the number of lines.
    pub(super) fn lines(&self) -> usize {
        self.borders.len() - 1
    }

    fn border(&self, line: usize) -> Border {
        self.borders.get(line).or(self.borders.last()).copied().unwrap_or_default()
    }

    /// Returns the index of the line's first symbol; for the number of lines, the end of the last line.
    pub(super) fn start(&self, line: usize) -> usize {
        self.border(line).symbols as usize
    }

    /// Returns the number of symbols in the lines.
    pub(super) fn length(&self, lines: &Range<usize>) -> usize {
        self.start(lines.end).saturating_sub(self.start(lines.start))
    }

    /// Returns an upper bound of the needle's runs of four in the lines.
    pub(super) fn hits(&self, lines: &Range<usize>) -> usize {
        self.border(lines.end).hits.saturating_sub(self.border(lines.start).hits) as usize
    }

    /// Returns the symbols of the lines.
    pub(super) fn span(&self, lines: &Range<usize>) -> &[S] {
        self.symbols.get(self.start(lines.start)..self.start(lines.end)).unwrap_or_default()
    }

    pub(super) fn symbols(&self) -> &[S] {
        &self.symbols
    }

    /// Returns the end of the longest run of lines from `first` on with at most `length` symbols, not beyond `stop`.
    pub(super) fn reach(&self, first: usize, length: usize, stop: usize) -> usize {
        let most = self.start(first) + length;
        // No line is empty, so there are at most as many lines as symbols.
        let stop = stop.min(first.saturating_add(length));
        let borders = self.borders.get(first..=stop).unwrap_or_default();
        first + borders.partition_point(|border| border.symbols as usize <= most).saturating_sub(1)
    }

    /// Returns the range of the lines in the view, without the last one's line end.
    pub(super) fn view_range(&self, view: &str, lines: &Range<usize>) -> Range<usize> {
        let first = self.line(view, lines.start);
        let last = self.line(view, lines.end.saturating_sub(1));
        first.start..last.end
    }

    fn line(&self, view: &str, line: usize) -> Range<usize> {
        let offset = self.offsets.get(line / STRIDE).map_or(0, |place| *place as usize);
        let base = self.window.start + offset;
        let text = view.get(base..self.window.end).unwrap_or_default();
        let mut remaining = line % STRIDE;
        let mut start = 0;
        for end in memchr_iter(b'\n', text.as_bytes()).chain([text.len()]) {
            if text.get(start..end).is_some_and(|line| line.contains(|c: char| !c.is_whitespace())) {
                if remaining == 0 {
                    return base + start..base + end;
                }
                remaining -= 1;
            }
            start = end + 1;
        }
        base..base
    }
}

/// Returns the lines of the window that the steps can read, and true if these are all.
fn affordable(view: &str, window: Range<usize>, steps: NearestBudget) -> (bool, Range<usize>) {
    let most = usize::try_from(steps.remaining() / 5 * 4).unwrap_or(usize::MAX).min(u32::MAX as usize / 2);
    if window.len() <= most {
        return (true, window);
    }
    let part = view.as_bytes().get(window.start..window.start.saturating_add(most)).unwrap_or_default();
    let end = memchr::memrchr(b'\n', part).map_or(0, |at| at + 1);
    (false, window.start..window.start + end)
}

fn pack_bytes<S: CharNumber>(line: &[u8], table: &[S; 256], room: &mut [S]) -> usize {
    let mut filled = 0;
    for byte in line {
        let symbol = table.get(usize::from(*byte)).copied().unwrap_or(S::BLANK);
        if let Some(slot) = room.get_mut(filled) {
            *slot = symbol;
        }
        filled += usize::from(symbol != S::BLANK);
    }
    filled
}

fn pack_chars<S: CharNumber>(line: &str, alphabet: &Alphabet, room: &mut [S]) -> usize {
    let symbols = line.chars().filter_map(|c| alphabet.symbol(c));
    room.iter_mut().zip(symbols).map(|(slot, symbol)| *slot = symbol).count()
}

fn short(place: usize) -> u32 {
    u32::try_from(place).unwrap_or(u32::MAX)
}
