//! Names, each kept once and known by a number.

use std::collections::HashMap;
use std::sync::Arc;

/// Names by their numbers.
#[derive(Debug, Default)]
pub(in crate::context) struct NameTable {
    texts: Vec<Arc<str>>,
    numbers: HashMap<Arc<str>, u32>,
}

impl NameTable {
    /// The number of a name, which is kept from now on.
    pub(in crate::context) fn keep(&mut self, text: &str) -> u32 {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        let number = u32::try_from(self.texts.len()).unwrap_or(u32::MAX);
        let text: Arc<str> = text.into();
        self.texts.push(Arc::clone(&text));
        self.numbers.insert(text, number);
        number
    }

    /// The number of a name that is kept.
    pub(in crate::context) fn number(&self, text: &str) -> Option<u32> {
        self.numbers.get(text).copied()
    }

    /// A name as it is kept.
    pub(in crate::context) fn known(&self, text: &str) -> Option<&str> {
        self.numbers.get_key_value(text).map(|(text, _)| &**text)
    }

    /// The name with this number.
    pub(in crate::context) fn text(&self, number: u32) -> &str {
        usize::try_from(number).ok().and_then(|number| self.texts.get(number)).map_or("", |text| text)
    }

    /// Every name, by its number.
    pub(in crate::context) fn all(&self) -> impl Iterator<Item = &str> {
        self.texts.iter().map(|text| &**text)
    }

    /// Every name that begins so, with its number.
    pub(in crate::context) fn beginning(&self, with: &str) -> impl Iterator<Item = (u32, &str)> {
        let numbered = (0..).zip(self.texts.iter());
        numbered.filter_map(move |(number, text)| text.starts_with(with).then_some((number, &**text)))
    }

    /// Every name that ends so, with its number.
    pub(in crate::context) fn ending(&self, with: &str) -> impl Iterator<Item = (u32, &str)> {
        let numbered = (0..).zip(self.texts.iter());
        numbered.filter_map(move |(number, text)| text.ends_with(with).then_some((number, &**text)))
    }

    /// How many there are.
    pub(in crate::context) fn len(&self) -> usize {
        self.texts.len()
    }
}
