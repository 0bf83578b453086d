//! `lockgate log`, `show`, `undo` and `redo`: the past from the command line.

pub(super) mod log;
pub(super) mod one;
mod told;
pub(super) mod turn;
