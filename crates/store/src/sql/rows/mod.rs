//! The SQL store of entities and their history.
//!
//! `statement` restricts every statement to a tenant's scope, except those about the database itself.
//! `connection` runs the statements in transactions and holds the differences between SQLite and
//! PostgreSQL, apart from the two schemas.
//!
//! Invariant: a row is returned only within the requesting tenant's scope. Whatever fails, an edit and
//! its journal entry are written together or not at all.

mod admin;
mod connection;
mod database;
mod dialect;
mod error;
mod history;
mod lines;
mod metrics;
mod prepare;
mod read;
mod search;
mod statement;
mod tidy;
mod value;
mod write;

pub(crate) use admin::check_id;
pub use database::EntityDatabase;
pub(crate) use error::EntityStoreError;

use lockgate_text::Version;
use std::time::Duration;

/// A listener that gets each database call's operation, its result and its duration.
pub type StoreListener = Box<dyn Fn(&'static str, &'static str, Duration) + Send + Sync>;

/// The result of a migration of a database's tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Migrated {
    /// The version before; 0 for none.
    pub from: i64,
    /// The version after the migration.
    pub to: i64,
    /// Set when an index narrows searches.
    pub narrows: bool,
}

/// The result of registering an app.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Added {
    /// The app is newly registered.
    New,
    /// The app was registered before, with the same owner.
    Existing,
}

/// A row as it was read.
#[derive(Debug)]
pub(crate) struct RowRead {
    /// Its bytes; `None` if there are more than the caller's limit.
    pub bytes: Option<Vec<u8>>,
    /// The length of the text in bytes, also if `bytes` is `None`.
    pub size: u64,
    /// The version of its text.
    pub version: Version,
    /// The time of its last change, in microseconds since 1970.
    pub changed: i64,
}

/// The rows to search or list.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Span<'a> {
    pub kind: &'a str,
    /// The app that they belong to; empty for none.
    pub app: &'a str,
    /// Their owner; `None` for every owner in the tenant's scope.
    pub organization: Option<&'a str>,
    pub paths: Paths<'a>,
}

/// The paths to search or list.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Paths<'a> {
    All,
    Only(&'a str),
    /// The paths that begin with this.
    Prefix(&'a str),
}

/// A row found by a search or listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RowFound {
    /// The organisation that owns it.
    pub organization: String,
    pub path: String,
    /// The length of its text in bytes.
    pub size: u64,
    /// The version of its text.
    pub version: Version,
}

#[cfg(test)]
mod tests;
