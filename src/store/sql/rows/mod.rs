//! Where SQL of stored content is spoken: the database that keeps entities, and what was done to them.
//!
//! Every statement but those about the database itself is bound to a tenant's reach in `statement`, and asked in a
//! transaction of `link`, which has what differs between SQLite and PostgreSQL, but for the two schemas beside it.
//!
//! Invariant: no row leaves this place but within the reach of the tenant who asked; whatever fails, an edit is there with
//! its entry in the journal, or neither is.

#[cfg(not(feature = "content"))]
mod absent;
#[cfg(feature = "content")]
mod connection;
#[cfg(feature = "content")]
mod database;
mod failure;
#[cfg(feature = "content")]
mod lines;
#[cfg(feature = "content")]
mod look;
#[cfg(feature = "content")]
mod metrics;
#[cfg(feature = "content")]
mod owned;
#[cfg(feature = "content")]
mod past;
#[cfg(feature = "content")]
mod prepare;
#[cfg(feature = "content")]
mod read;
#[cfg(feature = "content")]
mod statement;
#[cfg(feature = "content")]
mod tidy;
#[cfg(feature = "content")]
mod value;
#[cfg(feature = "content")]
mod write;

#[cfg(not(feature = "content"))]
pub use absent::EntityDatabase;
#[cfg(feature = "content")]
pub use database::EntityDatabase;
pub(in crate::store) use failure::EntityStoreError;

use crate::text::Version;
use std::time::Duration;

/// Takes what a database was asked, what became of it, and how long that took.
pub type StoreTold = Box<dyn Fn(&'static str, &'static str, Duration) + Send + Sync>;

/// The key of a row; an organisation or an app that there is none of is empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::store) struct RowKey<'a> {
    /// What sort of entity it is.
    pub kind: &'a str,
    /// Whose it is.
    pub organization: &'a str,
    /// The app that it belongs to.
    pub app: &'a str,
    /// Its path.
    pub path: &'a str,
}

/// What was done to a database's tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Migrated {
    /// The version that was there; 0 for none.
    pub from: i64,
    /// The version that is there now.
    pub to: i64,
    /// Whether searches are narrowed by an index.
    pub narrows: bool,
}

/// What became of an app that was to be made known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Added {
    /// It is known now.
    New,
    /// It was known, and is the same organisation's.
    There,
}

/// A row as it was read.
#[derive(Debug)]
pub(in crate::store) struct RowRead {
    /// Its bytes; absent where they are more than was asked for.
    pub bytes: Option<Vec<u8>>,
    /// How many they are.
    pub size: u64,
    /// The stamp of its text.
    pub stamp: Version,
    /// When it was changed last, in microseconds since 1970.
    pub changed: i64,
}

/// Which rows are looked through.
#[cfg_attr(not(feature = "content"), expect(dead_code, reason = "nothing is kept in a database"))]
#[derive(Debug, Clone, Copy)]
pub(in crate::store) struct Span<'a> {
    /// What sort of entities.
    pub kind: &'a str,
    /// The app that they belong to; empty where they have none.
    pub app: &'a str,
    /// Whose they are; whoever's is reached, where it is absent.
    pub organization: Option<&'a str>,
    /// Where they are.
    pub paths: Paths<'a>,
}

/// Which paths are meant.
#[cfg_attr(not(feature = "content"), expect(dead_code, reason = "nothing is kept in a database"))]
#[derive(Debug, Clone, Copy)]
pub(in crate::store) enum Paths<'a> {
    /// Every one.
    All,
    /// This one.
    Only(&'a str),
    /// Those from the first on, up to the one behind them, where there is one.
    From(&'a str, Option<&'a str>),
}

/// A row that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::store) struct RowFound {
    /// Whose it is.
    pub organization: String,
    /// Its path.
    pub path: String,
    /// How many bytes it has.
    pub size: u64,
    /// The stamp of its text.
    pub stamp: Version,
}

#[cfg(feature = "content")]
#[cfg(test)]
mod tests;
