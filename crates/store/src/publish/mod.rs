//! Publishes a change to the disk: the new text is staged in the target's folder, exchanged with the target,
//! and the displaced file is checked.
//!
//! Not guaranteed: where the file system has no leases, a program that has the old file open can go on
//! writing to the unlinked file. Where it cannot exchange files either, another program can still write
//! between the comparison and the rename, for some microseconds.
//!
//! Invariant: until all writes of an edit are applied, each can be reverted, and an earlier failure leaves no
//! trace. No text of another program is ever removed.

mod batch;
mod compare;
mod exchange;
mod expected;
mod folders;
mod guards;
mod in_place;
mod lease;
mod metadata;
mod prepare;
mod revert;
mod stage;
mod swap;
mod sync_threads;

pub(super) use expected::ExpectedFile;
pub(super) use guards::Guards;
pub(super) use in_place::{is_torn, overwrite};
pub(super) use swap::{SwapError, SwapNames};

#[cfg(test)]
mod interleavings;
#[cfg(test)]
mod tests;
