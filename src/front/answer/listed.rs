//! Lists that may be shown in part.
//!
//! Invariant: every omitted entry is counted.

/// The shown entries and the number of omitted ones.
#[derive(Debug, Clone)]
pub(super) struct ShownEntries<T> {
    pub(super) shown: Vec<T>,
    pub(super) more: usize,
}

impl<T> ShownEntries<T> {
    /// Creates a list without omitted entries.
    pub(super) fn all(shown: Vec<T>) -> ShownEntries<T> {
        ShownEntries { shown, more: 0 }
    }

    /// Keeps at most the first `entries` entries.
    pub(super) fn cut(&mut self, entries: usize) {
        self.more += self.shown.len().saturating_sub(entries);
        self.shown.truncate(entries);
    }

    /// Keeps the entries for which `fits` returns true.
    pub(super) fn keep(&mut self, fits: impl FnMut(&T) -> bool) {
        let before = self.shown.len();
        self.shown.retain(fits);
        self.more += before - self.shown.len();
    }
}
