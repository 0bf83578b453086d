//! Lists of words.

use std::collections::HashSet;
use std::sync::OnceLock;

/// A fixed list of words, which is written as one text: blanks and line ends are between the words.
#[derive(Debug)]
pub struct WordList {
    words: &'static str,
    /// The words, once one is looked up.
    set: OnceLock<HashSet<&'static str>>,
}

impl WordList {
    /// Creates the list of the words of a text.
    pub const fn new(words: &'static str) -> WordList {
        WordList { words, set: OnceLock::new() }
    }

    /// Returns true if a text is one of the words.
    pub fn has(&self, word: &str) -> bool {
        self.set.get_or_init(|| self.iter().collect()).contains(word)
    }

    /// Iterates over the words, in their order.
    pub fn iter(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.words.split_ascii_whitespace()
    }
}
