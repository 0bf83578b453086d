//! The calls of the system on open files and folders, and what they tell.
//!
//! Invariant: nothing here knows roots or rules; a name is always one in an open folder.

pub(super) mod bytes;
pub(super) mod file_system;
pub(super) mod fingerprint;
pub(super) mod folder;
pub(super) mod inode;
pub(super) mod names;
pub(super) mod permit;
