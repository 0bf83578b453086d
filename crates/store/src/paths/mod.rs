//! From the path that a caller names to an admitted file: the root, the folders and links on the way, and the
//! rules that protect files under any name.
//!
//! Invariant: containment is decided relative to a root's descriptor. A rule applies under every name that a
//! file has.

pub(super) mod access;
pub(super) mod admit;
pub(super) mod alias;
pub(super) mod file_location;
pub(super) mod folder_names;
pub(super) mod git_layout;
mod git_settings;
pub(super) mod listed_folders;
pub(super) mod project;
pub(super) mod root;
pub(super) mod spelling;
pub(super) mod walk;
