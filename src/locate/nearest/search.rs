//! The nearest block within some stretches of lines: seeds first, then every start that a bound does not rule out.
//!
//! Invariant: the limit never rises, and what was ruled out under it holds no block that is within it.

use std::ops::Range;

use super::align::{Effort, align};
use super::alphabet::CharNumber;
use super::rows::SymbolRows;
use super::seen::SpanCache;
use super::sheet::Sheet;
use super::starts::{StartLine, Starts};
use super::steps::{NearestBudget, Spent};

/// How wide the first look at a start is.
const NARROW: usize = 128;

/// How many starts with the most hits are looked at before all others.
const SEEDS: usize = 6;

/// What the search takes for granted; tests take other things.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tuning {
    /// How many runs of four one edit destroys at most.
    pub(super) four: usize,
    /// How many runs of two one edit destroys at most.
    pub(super) two: usize,
    /// How many starts are few enough to align them without a second bound.
    pub(super) few: usize,
    /// How many times dearer than the sweep the alignments must be.
    pub(super) dear: usize,
}

impl Tuning {
    /// What holds.
    pub(super) const USUAL: Tuning = Tuning { four: 4, two: 2, few: 8, dear: 1 };
}

/// A block of lines and how far from the needle it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Candidate {
    pub(super) lines: Range<usize>,
    pub(super) distance: usize,
    pub(super) gap: usize,
}

impl Candidate {
    /// Nearer, else nearer in length, else earlier.
    fn rank(&self) -> (usize, usize, usize) {
        (self.distance, self.gap, self.lines.start)
    }
}

/// What is searched, and in what.
pub(super) struct NearestSearch<'a, S> {
    pub(super) needle: &'a [S],
    pub(super) rows: &'a SymbolRows,
    pub(super) back: &'a SymbolRows,
    pub(super) sheet: &'a Sheet<S>,
    pub(super) tuning: Tuning,
}

impl<S: CharNumber> NearestSearch<'_, S> {
    /// The nearest block within the limit of those that lie in one of the areas; and whether it is proved.
    pub(super) fn nearest(
        &self,
        areas: &[Range<usize>],
        limit: usize,
        steps: &mut NearestBudget,
    ) -> (Option<Candidate>, bool) {
        let mut hunt = Hunt { search: self, limit, best: None, seen: SpanCache::default() };
        let done = hunt.run(areas, steps);
        (hunt.best, done.is_ok())
    }

    /// A block that shares much with the needle; its distance may be too high.
    pub(super) fn hint(&self, area: &Range<usize>, steps: &mut NearestBudget) -> Option<Candidate> {
        let starts = Starts { search: self, limit: 0 };
        let seeds = starts.seeds(std::slice::from_ref(area), SEEDS / 2, steps).unwrap_or_default();
        seeds.into_iter().map(|seed| self.measure(seed..area.end, steps)).min_by_key(Candidate::rank)
    }

    /// The line that shares most with the needle, if any shares anything.
    pub(super) fn line(&self, steps: &mut NearestBudget) -> Option<Candidate> {
        let all = 0..self.sheet.lines();
        steps.take(all.len()).ok()?;
        let first = all.map(|line| (std::cmp::Reverse(self.sheet.hits(&(line..line + 1))), line)).min();
        let (_, line) = first.filter(|(hits, _)| hits.0 > 0)?;
        Some(self.measure(line..line + 1, steps))
    }

    /// The best height from the first of the lines on, as exactly as the steps allow.
    fn measure(&self, lines: Range<usize>, steps: &mut NearestBudget) -> Candidate {
        let mut width = NARROW;
        loop {
            let cost = (self.needle.len() + width) * (width / 16).min(self.rows.blocks() + 2);
            let last = steps.left() / 8 < cost as u64 || width > 2 * self.needle.len();
            let effort = if last { Effort::Rough } else { Effort::Exact };
            let height = align(self.rows, self.sheet, lines.clone(), width, effort, steps);
            if let Ok(Some(height)) = height {
                let (distance, gap) = (height.distance, height.gap);
                return Candidate { lines: lines.start..height.end, distance, gap };
            }
            if effort == Effort::Rough || height.is_err() {
                return self.guess(lines);
            }
            width *= 4;
        }
    }

    /// As many lines as the needle is long, as far away as they can be.
    fn guess(&self, lines: Range<usize>) -> Candidate {
        let end = self.sheet.reach(lines.start, self.needle.len(), lines.end).max(lines.start + 1);
        let lines = lines.start..end;
        let length = self.sheet.length(&lines);
        let gap = length.abs_diff(self.needle.len());
        Candidate { lines, distance: length.max(self.needle.len()), gap }
    }
}

/// A search under way.
struct Hunt<'a, S> {
    search: &'a NearestSearch<'a, S>,
    limit: usize,
    best: Option<Candidate>,
    seen: SpanCache,
}

impl<S: CharNumber> Hunt<'_, S> {
    fn run(&mut self, areas: &[Range<usize>], steps: &mut NearestBudget) -> Result<(), Spent> {
        let seeds = Starts { search: self.search, limit: self.limit }.seeds(areas, SEEDS, steps)?;
        let mut width = NARROW;
        while self.best.is_none() {
            for seed in &seeds {
                self.look(*seed, areas, width, steps)?;
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
            self.settle(start.line as usize, areas, steps)?;
        }
        Ok(())
    }

    fn candidates(&self, areas: &[Range<usize>], steps: &mut NearestBudget) -> Result<Vec<StartLine>, Spent> {
        let starts = Starts { search: self.search, limit: self.limit };
        let mut left = starts.by_fours(areas, steps)?;
        if left.len() > self.search.tuning.few {
            starts.by_twos(&mut left, areas, steps)?;
        }
        if left.len() > self.search.tuning.few {
            left = starts.by_sweep(left, areas, steps)?;
        }
        steps.take(4 * left.len())?;
        left.sort_unstable();
        Ok(left)
    }

    /// Finds the best height from a start on, unless it is beyond the limit.
    fn settle(
        &mut self,
        line: usize,
        areas: &[Range<usize>],
        steps: &mut NearestBudget,
    ) -> Result<(), Spent> {
        let mut width = NARROW;
        while width < self.limit {
            if self.look(line, areas, width, steps)? {
                return Ok(());
            }
            width *= 4;
        }
        let stop = stop(areas, line);
        let reach = self.search.sheet.reach(line, self.search.needle.len() + self.limit, stop);
        let height = match self.seen.recall(self.search.sheet, &(line..reach), steps)? {
            Some(height) => height,
            None => {
                let NearestSearch { rows, sheet, .. } = self.search;
                let height = align(rows, sheet, line..stop, self.limit, Effort::Exact, steps)?;
                self.seen.keep(sheet, line..reach, height);
                height
            }
        };
        if let Some(height) = height.filter(|height| height.distance <= self.limit) {
            let (distance, gap) = (height.distance, height.gap);
            self.take(Candidate { lines: line..height.end, distance, gap });
        }
        Ok(())
    }

    /// Looks no wider than this; says whether there was something.
    fn look(
        &mut self,
        line: usize,
        areas: &[Range<usize>],
        width: usize,
        steps: &mut NearestBudget,
    ) -> Result<bool, Spent> {
        let NearestSearch { rows, sheet, .. } = self.search;
        let width = width.min(self.limit);
        let Some(height) = align(rows, sheet, line..stop(areas, line), width, Effort::Exact, steps)? else {
            return Ok(false);
        };
        self.take(Candidate { lines: line..height.end, distance: height.distance, gap: height.gap });
        Ok(true)
    }

    fn take(&mut self, found: Candidate) {
        if self.best.as_ref().is_none_or(|best| found.rank() < best.rank()) {
            self.limit = self.limit.min(found.distance);
            self.best = Some(found);
        }
    }
}

/// The end of the area that the line lies in.
pub(super) fn stop(areas: &[Range<usize>], line: usize) -> usize {
    areas.iter().find(|area| area.contains(&line)).map_or(line, |area| area.end)
}
