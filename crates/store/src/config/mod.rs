//! Configuration files in the folders above a path: policies and `.editorconfig`.
//!
//! Invariant: they are read through the root's descriptor, and none is left out because it cannot be read.

mod ancestors;
pub(super) mod editorconfig;
mod file;
pub(super) mod policy_file;
pub(super) mod policy_listing;
mod section_pattern;
