//! Definitions that an edit takes away, as whoever knows the other files of the call and of the project tells them.

/// A definition that an edit takes away.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LostDefinition {
    /// Its name with the names around it, as in `Class.method`.
    pub name: String,
    /// The line with its name, from 1, in the text before.
    pub line: usize,
    /// The nearest uses in other files, each with its line from 1.
    pub uses: Vec<(String, usize)>,
    /// The number of uses.
    pub count: usize,
}

/// The definitions that an edit takes away, and nothing else in its call brings back.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lost {
    /// Those that other files use.
    pub used: Vec<LostDefinition>,
    /// Those that a new content of the whole file does not have.
    pub dropped: Vec<LostDefinition>,
}

impl Lost {
    /// Nothing.
    pub fn none() -> &'static Lost {
        static NONE: Lost = Lost { used: Vec::new(), dropped: Vec::new() };
        &NONE
    }
}
