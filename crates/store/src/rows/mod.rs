//! The store of entities in a database: it resolves, reads, replaces and searches rows, and keeps their
//! history.
//!
//! Invariant: rows and their history are accessible only within the tenant's scope. A row out of scope
//! gets the same answers as one that does not exist.

mod admit;
mod search;
mod selector;
mod store;

pub use admit::DefaultOwner;
pub use search::{RowListed, RowText};
pub use selector::{EntityFilter, EntitySelector};
pub use store::EntityStore;

#[cfg(test)]
mod tests;
