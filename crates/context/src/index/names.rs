//! A table of names, each stored once with a number.

use std::collections::HashMap;
use std::sync::Arc;

#[derive(Debug, Default)]
pub(crate) struct NameTable {
    texts: Vec<Arc<str>>,
    numbers: HashMap<Arc<str>, u32>,
}

impl NameTable {
    /// Returns the number of a name, and adds the name if it is missing.
    pub(crate) fn insert(&mut self, text: &str) -> u32 {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        let number = u32::try_from(self.texts.len()).unwrap_or(u32::MAX);
        let text: Arc<str> = text.into();
        self.texts.push(Arc::clone(&text));
        self.numbers.insert(text, number);
        number
    }

    /// Returns the number of a name, if the table has it.
    pub(crate) fn number(&self, text: &str) -> Option<u32> {
        self.numbers.get(text).copied()
    }

    /// Returns the table's copy of a name.
    pub(crate) fn get(&self, text: &str) -> Option<&str> {
        self.numbers.get_key_value(text).map(|(text, _)| &**text)
    }

    /// Returns the name with this number.
    pub(crate) fn text(&self, number: u32) -> &str {
        usize::try_from(number).ok().and_then(|number| self.texts.get(number)).map_or("", |text| text)
    }

    /// Returns all names, in the order of their numbers.
    pub(crate) fn all(&self) -> impl Iterator<Item = &str> {
        self.texts.iter().map(|text| &**text)
    }

    /// Returns the names with this prefix, with their numbers.
    pub(crate) fn with_prefix(&self, with: &str) -> impl Iterator<Item = (u32, &str)> {
        (0..).zip(self.all()).filter(move |(_, text)| text.starts_with(with))
    }

    /// Returns the names with this suffix, with their numbers.
    pub(crate) fn with_suffix(&self, with: &str) -> impl Iterator<Item = (u32, &str)> {
        (0..).zip(self.all()).filter(move |(_, text)| text.ends_with(with))
    }

    pub(crate) fn len(&self) -> usize {
        self.texts.len()
    }
}
