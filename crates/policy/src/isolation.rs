//! The isolation of gate programs.

/// The isolation of a gate's program from the machine; each value is stricter than the one before.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RequiredIsolation {
    /// A process group, a cleaned environment and limits of time and output; nothing else.
    #[default]
    None,
    /// Landlock, the kernel's own: the tree can be read, not written; no TCP.
    Landlock,
    /// bubblewrap: namespaces of its own, in which the tree is read-only, the home empty and the network absent.
    Bubblewrap,
}

pub(super) const ISOLATIONS: [(&str, RequiredIsolation); 3] = [
    ("none", RequiredIsolation::None),
    ("landlock", RequiredIsolation::Landlock),
    ("bubblewrap", RequiredIsolation::Bubblewrap),
];
