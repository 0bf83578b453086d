//! Lists that may be shown in part.
//!
//! Invariant: every omitted entry is counted.

/// The shown entries and the number of omitted ones.
#[derive(Debug, Clone)]
pub(super) struct ShownEntries<T> {
    pub(super) entries: Vec<T>,
    pub(super) omitted: usize,
}

impl<T> ShownEntries<T> {
    /// Creates a list without omitted entries.
    pub(super) fn complete(entries: Vec<T>) -> ShownEntries<T> {
        ShownEntries { entries, omitted: 0 }
    }

    /// Keeps at most the first `entries` entries.
    pub(super) fn truncate(&mut self, entries: usize) {
        self.omitted += self.entries.len().saturating_sub(entries);
        self.entries.truncate(entries);
    }

    /// Keeps the entries for which `fits` returns true.
    pub(super) fn retain(&mut self, fits: impl FnMut(&T) -> bool) {
        let before = self.entries.len();
        self.entries.retain(fits);
        self.omitted += before - self.entries.len();
    }
}
