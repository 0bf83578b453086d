//! Finds the nearest block within some ranges of lines: seeds first, then every start that no bound excludes.
//!
//! Invariant: the limit never rises, and a start that was excluded under it has no block within it.

use std::ops::Range;

use super::align::{Effort, Height, align};
use super::alphabet::CharNumber;
use super::budget::{NearestBudget, OutOfSteps};
use super::needle::{NearestSearch, area_end};
use super::span_cache::{CachedSpan, SpanCache};
use super::starts::{StartLine, Starts};

/// The width of the first alignment at a start.
const NARROW: usize = 128;

/// The number of starts with the most hits that are aligned before all others.
const SEEDS: usize = 6;

/// A block of lines, with its distance from the needle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Candidate {
    pub(super) lines: Range<usize>,
    pub(super) distance: usize,
    pub(super) gap: usize,
}

impl Candidate {
    fn new(start: usize, Height { end, distance, gap }: Height) -> Candidate {
        Candidate { lines: start..end, distance, gap }
    }

    /// Orders by distance, then difference in length, then position.
    fn rank(&self) -> (usize, usize, usize) {
        (self.distance, self.gap, self.lines.start)
    }
}

impl<S: CharNumber> NearestSearch<'_, S> {
    /// Returns the nearest block within the limit that is inside one of the areas, and true if it is proved.
    pub(super) fn nearest(
        &self,
        areas: &[Range<usize>],
        limit: usize,
        steps: &mut NearestBudget,
    ) -> (Option<Candidate>, bool) {
        let mut state = SearchState { search: self, limit, best: None, cache: SpanCache::default() };
        let outcome = state.run(areas, steps);
        (state.best, outcome.is_ok())
    }

    /// Returns a block that shares many runs with the needle; its distance may be too high.
    pub(super) fn hint(&self, area: &Range<usize>, steps: &mut NearestBudget) -> Option<Candidate> {
        let starts = Starts { search: self, limit: 0 };
        let seeds = starts.seeds(std::slice::from_ref(area), SEEDS / 2, steps).unwrap_or_default();
        seeds.into_iter().map(|seed| self.measure(seed..area.end, steps)).min_by_key(Candidate::rank)
    }

    /// Returns the line that shares most runs with the needle, if any does.
    pub(super) fn line(&self, steps: &mut NearestBudget) -> Option<Candidate> {
        let all = 0..self.symbol_text.lines();
        steps.take(all.len()).ok()?;
        let first = all.map(|line| (std::cmp::Reverse(self.symbol_text.hits(&(line..line + 1))), line)).min();
        let (_, line) = first.filter(|(hits, _)| hits.0 > 0)?;
        Some(self.measure(line..line + 1, steps))
    }

    /// Returns the best height from the first of the lines on, as exactly as the steps allow.
    fn measure(&self, lines: Range<usize>, steps: &mut NearestBudget) -> Candidate {
        let mut width = NARROW;
        loop {
            let cost = (self.needle.len() + width) * (width / 16).min(self.rows.blocks() + 2);
            let last = steps.remaining() / 8 < cost as u64 || width > 2 * self.needle.len();
            let effort = if last { Effort::Rough } else { Effort::Exact };
            let height = align(self.rows, self.symbol_text, lines.clone(), width, effort, steps);
            if let Ok(Some(height)) = height {
                return Candidate::new(lines.start, height);
            }
            if effort == Effort::Rough || height.is_err() {
                return self.guess(lines);
            }
            width *= 4;
        }
    }

    /// Returns as many lines as the needle is long, with the maximum distance.
    fn guess(&self, lines: Range<usize>) -> Candidate {
        let end = self.symbol_text.reach(lines.start, self.needle.len(), lines.end).max(lines.start + 1);
        let lines = lines.start..end;
        let length = self.symbol_text.length(&lines);
        let gap = length.abs_diff(self.needle.len());
        Candidate { lines, distance: length.max(self.needle.len()), gap }
    }
}

/// The state of a search.
struct SearchState<'a, S> {
    search: &'a NearestSearch<'a, S>,
    limit: usize,
    best: Option<Candidate>,
    cache: SpanCache,
}

impl<S: CharNumber> SearchState<'_, S> {
    fn run(&mut self, areas: &[Range<usize>], steps: &mut NearestBudget) -> Result<(), OutOfSteps> {
        let seeds = Starts { search: self.search, limit: self.limit }.seeds(areas, SEEDS, steps)?;
        let mut width = NARROW;
        while self.best.is_none() {
            for seed in &seeds {
                self.align_within(*seed, areas, width, steps)?;
            }
            if width >= self.limit {
                break;
            }
            width *= 4;
        }
        for start in self.candidates(areas, steps)? {
            if start.bound as usize > self.limit {
                break;
            }
            self.align_start(start.line as usize, areas, steps)?;
        }
        Ok(())
    }

    fn candidates(
        &self,
        areas: &[Range<usize>],
        steps: &mut NearestBudget,
    ) -> Result<Vec<StartLine>, OutOfSteps> {
        let starts = Starts { search: self.search, limit: self.limit };
        let mut remaining = starts.by_fours(areas, steps)?;
        if remaining.len() > self.search.tuning.few_starts {
            starts.by_twos(&mut remaining, areas, steps)?;
        }
        if remaining.len() > self.search.tuning.few_starts {
            remaining = starts.by_sweep(remaining, areas, steps)?;
        }
        steps.take(4 * remaining.len())?;
        remaining.sort_unstable();
        Ok(remaining)
    }

    /// Finds the best height from a start on, unless it is beyond the limit.
    fn align_start(
        &mut self,
        line: usize,
        areas: &[Range<usize>],
        steps: &mut NearestBudget,
    ) -> Result<(), OutOfSteps> {
        let mut width = NARROW;
        while width < self.limit {
            if self.align_within(line, areas, width, steps)? {
                return Ok(());
            }
            width *= 4;
        }
        let stop = area_end(areas, line);
        let end_line = self.search.symbol_text.reach(line, self.search.needle.len() + self.limit, stop);
        let height = match self.cache.get(self.search.symbol_text, &(line..end_line), steps)? {
            CachedSpan::Aligned(height) => height,
            CachedSpan::Unknown => {
                let NearestSearch { rows, symbol_text, .. } = self.search;
                let height = align(rows, symbol_text, line..stop, self.limit, Effort::Exact, steps)?;
                self.cache.insert(symbol_text, line..end_line, height);
                height
            }
        };
        if let Some(height) = height.filter(|height| height.distance <= self.limit) {
            self.take(Candidate::new(line, height));
        }
        Ok(())
    }

    /// Aligns within this width; returns true if a block was found.
    fn align_within(
        &mut self,
        line: usize,
        areas: &[Range<usize>],
        width: usize,
        steps: &mut NearestBudget,
    ) -> Result<bool, OutOfSteps> {
        let NearestSearch { rows, symbol_text, .. } = self.search;
        let width = width.min(self.limit);
        let Some(height) =
            align(rows, symbol_text, line..area_end(areas, line), width, Effort::Exact, steps)?
        else {
            return Ok(false);
        };
        self.take(Candidate::new(line, height));
        Ok(true)
    }

    fn take(&mut self, found: Candidate) {
        if self.best.as_ref().is_none_or(|best| found.rank() < best.rank()) {
            self.limit = self.limit.min(found.distance);
            self.best = Some(found);
        }
    }
}
