//! How a change is put on the disk, and what is remembered of it.

/// What is synced to the disk before an edit counts as done; the strictest first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Durability {
    /// The file, its folder and the journal: an answered edit survives a power cut.
    #[default]
    Full,
    /// The file alone: an answered edit survives the end of the process; after a power cut the file is whole, old or new.
    Process,
}

/// What becomes of a file with several names; the strictest first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum HardLinks {
    /// It is refused.
    #[default]
    Refuse,
    /// The name that is edited gets a file of its own; the others keep the old text.
    Split,
    /// The file itself is written, under all of its names; a crash in the middle can tear it.
    InPlace,
}

/// How a change is put on the disk.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Publishing {
    /// What is synced.
    pub durability: Durability,
    /// What becomes of a file with several names.
    pub hard_links: HardLinks,
}

impl Publishing {
    /// What two policies both allow.
    #[must_use]
    pub fn stricter(self, other: Publishing) -> Publishing {
        Publishing {
            durability: self.durability.min(other.durability),
            hard_links: self.hard_links.min(other.hard_links),
        }
    }
}
