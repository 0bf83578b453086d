//! Where a block is: the rungs by which a quoted text finds its place.
//!
//! Invariant: a rung lists places in the text and changes nothing.
#![deny(clippy::disallowed_methods)]

pub mod exact;
