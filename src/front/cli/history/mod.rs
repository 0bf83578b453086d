//! `lockgate log`, `show`, `undo` and `redo`: the past from the command line.

mod list;
pub(super) mod log;
pub(super) mod show;
pub(super) mod undo;
