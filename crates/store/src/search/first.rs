//! Keeps the first results in the order of the answer, whatever the order in which they are found.
//!
//! Invariant: memory is bounded by the number of results to show, however many are found.

use std::collections::BTreeMap;

/// The first entries by root and path, each with its count.
#[derive(Debug)]
pub(super) struct FirstEntries<T> {
    first: BTreeMap<(usize, String), (usize, T)>,
    /// The sum of the counts of the stored entries.
    counted: usize,
    most: usize,
}

impl<T> FirstEntries<T> {
    /// Stores as many entries as are needed to show `most` results.
    pub(super) fn new(most: usize) -> FirstEntries<T> {
        FirstEntries { first: BTreeMap::new(), counted: 0, most }
    }

    /// True if an entry with this key would be stored.
    fn would_keep(&self, key: &(usize, String)) -> bool {
        let last = self.first.last_key_value();
        self.counted < self.most || last.is_some_and(|(last, _)| key < last)
    }

    /// Adds an entry with its count. Only an entry that is stored has its value made; one without a value is
    /// left out.
    pub(super) fn put(&mut self, key: (usize, String), count: usize, value: impl FnOnce() -> Option<T>) {
        if !self.would_keep(&key) {
            return;
        }
        let Some(value) = value() else { return };
        self.first.insert(key, (count, value));
        self.counted += count;
        while let Some((_, (count, _))) = self.first.last_key_value()
            && self.counted - count >= self.most
        {
            self.counted -= count;
            self.first.pop_last();
        }
    }

    /// Adds the entries of another collection.
    pub(super) fn join(&mut self, other: FirstEntries<T>) {
        for (key, (count, value)) in other.first {
            self.put(key, count, || Some(value));
        }
    }

    /// Returns the stored entries in order.
    pub(super) fn into_first(self) -> impl Iterator<Item = (usize, T)> {
        self.first.into_values()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_first_are_kept_in_whatever_order_they_come(
            found in prop::collection::vec((0_u32..100, 1_usize..4), 0..40), most in 1_usize..8, at in 0_usize..40,
        ) {
            let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
            found.iter().for_each(|(name, count)| { counts.entry(*name).or_insert(*count); });
            let mut entries: Vec<(u32, usize)> =
                found.iter().filter_map(|(n, _)| counts.remove_entry(n)).collect();
            let (mut one, mut other) = (FirstEntries::new(most), FirstEntries::new(most));
            for (place, (name, count)) in entries.iter().enumerate() {
                let target = if place < at { &mut one } else { &mut other };
                target.put((0, format!("{name:03}")), *count, || Some(*name));
                prop_assert!(target.first.len() <= most);
            }
            one.join(other);
            entries.sort_unstable();
            let mut sum = 0;
            let expected: Vec<u32> = entries.iter().take_while(|(_, count)| {
                let before = sum;
                sum += count;
                before < most
            }).map(|(name, _)| *name).collect();
            prop_assert_eq!(one.into_first().map(|(_, name)| name).collect::<Vec<_>>(), expected);
        }
    }
}
