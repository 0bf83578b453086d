//! Lists of which a caller is told a part.
//!
//! Invariant: whatever a list loses is counted.

/// The entries that are shown, and how many more there are.
#[derive(Debug, Clone)]
pub(super) struct ShownEntries<T> {
    pub(super) shown: Vec<T>,
    pub(super) more: usize,
}

impl<T> ShownEntries<T> {
    /// A list that is shown as a whole.
    pub(super) fn all(shown: Vec<T>) -> ShownEntries<T> {
        ShownEntries { shown, more: 0 }
    }

    /// Keeps no more than the first `entries`.
    pub(super) fn cut(&mut self, entries: usize) {
        self.more += self.shown.len().saturating_sub(entries);
        self.shown.truncate(entries);
    }

    /// Keeps those that `fits` takes.
    pub(super) fn keep(&mut self, fits: impl FnMut(&T) -> bool) {
        let before = self.shown.len();
        self.shown.retain(fits);
        self.more += before - self.shown.len();
    }
}
