//! The stack frames of the backtracking engine, and how marks are saved and restored.
//!
//! Invariant: marks are popped in the reverse order of their pushes.

use super::ast::ENDLESS;
use super::error::Error;
use super::machine::{Frame, Machine, NOWHERE, Point, RepeatState, Wait};

/// The innermost repetition in progress.
pub(super) struct ActiveRepeat {
    pub(super) index: usize,
    pub(super) state: RepeatState,
    /// The number of times that the body has begun.
    pub(super) count: u32,
}

impl Machine<'_> {
    /// Returns a frame of a step that is in no repetition of its own.
    pub(super) fn frame(&self, wait: Wait, from: Point) -> Frame {
        self.repeat_frame(wait, from, NOWHERE)
    }

    /// Returns a frame of a step of the repetition with this index.
    pub(super) fn repeat_frame(&self, wait: Wait, from: Point, repeat: usize) -> Frame {
        Frame { wait, from, count: 0, last_mark: self.last_mark, repeat, last_at: NOWHERE }
    }

    pub(super) fn active_repeat(&self) -> Option<ActiveRepeat> {
        let index = self.current?;
        let state = self.repeats.get(index).copied()?;
        let count = u32::try_from(state.count + 1).unwrap_or(ENDLESS);
        Some(ActiveRepeat { index, state, count })
    }

    pub(super) fn set_count(&mut self, index: usize, count: i64) {
        if let Some(repeat) = self.repeats.get_mut(index) {
            repeat.count = count;
        }
    }

    pub(super) fn set_last(&mut self, index: usize, at: usize) {
        if let Some(repeat) = self.repeats.get_mut(index) {
            repeat.last_at = at;
        }
    }

    pub(super) fn save(&mut self, last_mark: isize) -> Result<(), Error> {
        let count = marks(last_mark);
        self.budget.spend(count / 4)?;
        self.saved.extend(self.marks.iter().take(count));
        Ok(())
    }

    pub(super) fn save_if_repeating(&mut self, last_mark: isize) -> Result<(), Error> {
        if self.current.is_some() { self.save(last_mark) } else { Ok(()) }
    }

    /// Restores saved marks, which stay on the stack.
    pub(super) fn restore(&mut self, last_mark: isize) {
        let count = marks(last_mark);
        let from = self.saved.len().saturating_sub(count);
        for (mark, saved) in self.marks.iter_mut().zip(self.saved.iter().skip(from)) {
            *mark = *saved;
        }
    }

    pub(super) fn restore_and_drop(&mut self, last_mark: isize) {
        self.restore(last_mark);
        self.drop_saved(last_mark);
    }

    pub(super) fn drop_saved(&mut self, last_mark: isize) {
        self.saved.truncate(self.saved.len().saturating_sub(marks(last_mark)));
    }

    pub(super) fn drop_saved_if_repeating(&mut self, last_mark: isize) {
        if self.current.is_some() {
            self.drop_saved(last_mark);
        }
    }
}

/// Returns the number of marks up to the last one.
fn marks(last_mark: isize) -> usize {
    usize::try_from(last_mark + 1).unwrap_or_default()
}
