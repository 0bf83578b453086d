//! What a request edits.

/// The thing that a request edits.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Target {
    /// A file, by its path: absolute inside a root, or relative to the first root.
    File(String),
}

impl Target {
    /// The target as the caller named it.
    pub fn shown(&self) -> &str {
        match self {
            Target::File(path) => path,
        }
    }
}
