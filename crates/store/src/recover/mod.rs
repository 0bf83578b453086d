//! Decides about edits whose process ended before they were settled: all of an edit is applied, or none.
//!
//! Invariant: decisions depend only on the content of the files, under the locks of all of them. A text that
//! is neither the edit's own nor the one that it replaced is never removed.

mod edit;
mod inspect;
mod journal;
mod repair;
mod sweep;

pub use journal::{Recovery, UnrecordedEdit};

#[cfg(test)]
mod tests;
