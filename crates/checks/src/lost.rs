//! Definitions that an edit removes, as found by a caller that knows the other files of the call and the
//! project.

/// A definition that an edit removes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LostDefinition {
    /// The qualified name, as in `Class.method`.
    pub name: String,
    /// The line of its name in the text before, 1-based.
    pub line: usize,
    /// The nearest uses in other files, each as a path and a 1-based line.
    pub uses: Vec<(String, usize)>,
    /// The total number of uses, of which `uses` lists the nearest.
    pub count: usize,
}

/// The definitions that an edit removes and that nothing else in its call adds again.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lost {
    /// The removed definitions that other files use.
    pub used: Vec<LostDefinition>,
    /// The definitions that a full replacement of the file does not contain.
    pub dropped: Vec<LostDefinition>,
}

impl Lost {
    /// Returns an empty value: no definition is removed.
    pub fn none() -> &'static Lost {
        static NONE: Lost = Lost { used: Vec::new(), dropped: Vec::new() };
        &NONE
    }
}
