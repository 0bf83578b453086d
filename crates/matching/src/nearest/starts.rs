//! Selects the lines at which a block within the limit may start.
//!
//! Invariant: a bound never exceeds the distance of the best block that starts at the line and is inside its area.

use std::ops::Range;

use super::alphabet::CharNumber;
use super::budget::{NearestBudget, OutOfSteps};
use super::grams::Twos;
use super::needle::{NearestSearch, area_end};
use super::sweep::Sweep;

/// A candidate start line; the smallest bound comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct StartLine {
    pub(super) bound: u32,
    pub(super) line: u32,
}

/// Excludes starts under a limit.
pub(super) struct Starts<'a, S> {
    pub(super) search: &'a NearestSearch<'a, S>,
    pub(super) limit: usize,
}

impl<S: CharNumber> Starts<'_, S> {
    /// Returns the starts of the needle-sized blocks that have most of its runs of four.
    pub(super) fn seeds(
        &self,
        areas: &[Range<usize>],
        most: usize,
        steps: &mut NearestBudget,
    ) -> Result<Vec<usize>, OutOfSteps> {
        let (symbol_text, length) = (self.search.symbol_text, self.search.needle.len());
        let mut seeds: Vec<(usize, usize)> = Vec::with_capacity(most + 1);
        for area in areas {
            steps.take(2 * area.len())?;
            let mut end = area.start;
            for line in area.clone() {
                end = end.max(line + 1);
                let enough = symbol_text.start(line) + length;
                while end < area.end && symbol_text.start(end) < enough {
                    end += 1;
                }
                let lines = line..end;
                let missing = symbol_text.length(&lines).max(length).saturating_sub(symbol_text.hits(&lines));
                if seeds.len() < most || seeds.last().is_some_and(|last| missing < last.0) {
                    let place = seeds.partition_point(|seed| seed.0 <= missing);
                    seeds.insert(place, (missing, line));
                    seeds.truncate(most);
                }
            }
        }
        Ok(seeds.into_iter().map(|(_, line)| line).collect())
    }

    /// Returns the starts that the runs of four do not exclude.
    pub(super) fn by_fours(
        &self,
        areas: &[Range<usize>],
        steps: &mut NearestBudget,
    ) -> Result<Vec<StartLine>, OutOfSteps> {
        let mut remaining = Vec::new();
        for area in areas {
            steps.take(2 * area.len())?;
            let mut end = area.start;
            for line in area.clone() {
                end = end.max(line);
                let most = self.search.symbol_text.start(line) + self.longest();
                while end < area.end && self.search.symbol_text.start(end + 1) <= most {
                    end += 1;
                }
                if let Some(bound) = self.bound(line, end, steps)? {
                    remaining.push(StartLine { bound: narrow(bound), line: narrow(line) });
                }
            }
        }
        Ok(remaining)
    }

    fn longest(&self) -> usize {
        self.search.needle.len() + self.limit
    }

    /// Returns the minimum bound of the blocks that start at the line and end at `end` or before.
    fn bound(&self, line: usize, end: usize, steps: &mut NearestBudget) -> Result<Option<usize>, OutOfSteps> {
        let NearestSearch { symbol_text, needle, tuning, .. } = self.search;
        let missing = |length: usize, lines: &Range<usize>| {
            length.saturating_sub(3 + symbol_text.hits(lines)).div_ceil(tuning.lost_fours)
        };
        if missing(needle.len(), &(line..end)) > self.limit {
            return Ok(None);
        }
        let mut least = None;
        for end in (line + 1..=end).rev() {
            steps.take(2)?;
            let lines = line..end;
            let length = symbol_text.length(&lines);
            if length + self.limit < needle.len() {
                break;
            }
            let bound = missing(length.max(needle.len()), &lines).max(length.abs_diff(needle.len()));
            least = least.filter(|least| *least <= bound).or(Some(bound));
        }
        Ok(least.filter(|least| *least <= self.limit))
    }

    /// Keeps the starts that the runs of two do not exclude.
    pub(super) fn by_twos(
        &self,
        starts: &mut Vec<StartLine>,
        areas: &[Range<usize>],
        steps: &mut NearestBudget,
    ) -> Result<(), OutOfSteps> {
        let NearestSearch { symbol_text, needle, tuning, .. } = self.search;
        let mut twos = Twos::new(needle, symbol_text.symbols());
        let mut result = Ok(());
        starts.retain_mut(|start| {
            let line = start.line as usize;
            let end_line = symbol_text.reach(line, self.longest(), area_end(areas, line));
            let (common, steps_taken) = twos.common(symbol_text.start(line), symbol_text.start(end_line));
            result = result.and_then(|()| steps.take(steps_taken + 1));
            let bound = needle.len().saturating_sub(1 + common).div_ceil(tuning.lost_twos);
            start.bound = start.bound.max(narrow(bound));
            result.is_ok() && bound <= self.limit
        });
        result
    }

    /// Keeps the starts that a sweep does not exclude, if that is cheaper than aligning them.
    pub(super) fn by_sweep(
        &self,
        starts: Vec<StartLine>,
        areas: &[Range<usize>],
        steps: &mut NearestBudget,
    ) -> Result<Vec<StartLine>, OutOfSteps> {
        let mut remaining = Vec::new();
        let mut group: Vec<StartLine> = Vec::new();
        let mut end = 0;
        for start in starts {
            let line = start.line as usize;
            if line >= end {
                self.sweep(&group, end, &mut remaining, steps)?;
                group.clear();
            }
            end = self.search.symbol_text.reach(line, self.longest(), area_end(areas, line));
            group.push(start);
        }
        self.sweep(&group, end, &mut remaining, steps)?;
        Ok(remaining)
    }

    /// Sweeps the lines from the first of the starts to the end.
    fn sweep(
        &self,
        group: &[StartLine],
        end: usize,
        remaining: &mut Vec<StartLine>,
        steps: &mut NearestBudget,
    ) -> Result<(), OutOfSteps> {
        let Some(first) = group.first() else { return Ok(()) };
        let lines = first.line as usize..end;
        if !self.is_worth(group.len(), self.search.symbol_text.length(&lines)) {
            remaining.extend_from_slice(group);
            return Ok(());
        }
        let mut sweep = Sweep::new(self.search.back, self.limit);
        let mut line = end;
        for start in group.iter().rev() {
            let next = start.line as usize;
            sweep.read(self.search.symbol_text.span(&(next..line)), steps)?;
            line = next;
            if let Some(bound) = sweep.distance().filter(|bound| *bound <= self.limit) {
                remaining.push(StartLine { bound: start.bound.max(narrow(bound)), ..*start });
            }
        }
        Ok(())
    }

    fn is_worth(&self, starts: usize, symbols: usize) -> bool {
        let align = (2 * self.limit + 64).min(self.search.needle.len()) * (self.limit / 64 + 2);
        let sweep = self.limit / 48 + 3;
        starts * align >= symbols * sweep * self.search.tuning.cost_ratio
    }
}

fn narrow(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
