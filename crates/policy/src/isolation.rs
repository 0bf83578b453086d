//! The isolation of gate programs.

use super::words::words;

words! {
    /// The isolation of a gate's program from the machine; each value is stricter than the one before.
    #[derive(Default, PartialOrd, Ord, Hash)]
    pub enum RequiredIsolation {
        /// A process group, a cleaned environment and limits of time and output; nothing else.
        #[default]
        None = "none",
        /// Landlock, the kernel's own: the tree can be read, not written; no TCP.
        Landlock = "landlock",
        /// bubblewrap: namespaces of its own, in which the tree is read-only, the home empty and the network absent.
        Bubblewrap = "bubblewrap",
    }
}
