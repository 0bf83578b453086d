//! What gates that run programs need beside the draft: a place, a permission, and what is kept between calls.

use std::path::Path;

use super::pins::Pins;
use super::workshop::Workshop;
use crate::policy::Isolation;

/// What gates of the kind `command` may use for one draft.
#[derive(Debug, Clone, Copy)]
pub struct Means<'a> {
    /// The absolute path of the root in which the file really lies.
    pub root: &'a Path,
    /// Whether programs may run.
    pub grant: &'a Grant,
    /// What is kept from one call to the next.
    pub workshop: &'a Workshop,
    /// What programs must at least be kept apart by.
    pub isolation: Isolation,
    /// A folder of lockgate's own in which programs may keep what they know of this root; absent where there is none.
    pub cache: Option<&'a Path>,
}

/// Whether the programs that a policy names may run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Grant {
    /// A person allowed it, for these programs.
    Pinned(Pins),
    /// Nobody did; why, for the answer.
    Withheld(String),
}
