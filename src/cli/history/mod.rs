//! `lockgate log`, `show`, `undo` and `redo`: the history on the command line.

mod list;
pub(super) mod log;
pub(super) mod show;
mod since;
pub(super) mod undo;
