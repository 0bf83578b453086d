//! The levels of isolation.

/// The isolation of a program from the machine; each value is stricter than the one before.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Isolation {
    /// A process group, a cleaned environment and limits of time and output; nothing else.
    #[default]
    None,
    /// Landlock, the kernel's own: the tree can be read, not written; no TCP.
    Landlock,
    /// bubblewrap: namespaces of its own, in which the tree is read-only, the home empty and the network absent.
    Bubblewrap,
}

impl Isolation {
    /// Returns the name that policies and answers use.
    pub const fn name(self) -> &'static str {
        match self {
            Isolation::None => "none",
            Isolation::Landlock => "landlock",
            Isolation::Bubblewrap => "bubblewrap",
        }
    }
}
