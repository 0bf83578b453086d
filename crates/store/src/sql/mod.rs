//! The SQLite database behind one root's journal, and in [`rows`] the database of entities.
//!
//! The journal defines the edits and the location of their files. This module stores rows and texts by
//! their versions, and manages SQLite's files on the disk.
//!
//! Invariant: whatever fails, a database holds all of an edit or none of it.

mod aside;
mod begin;
mod columns;
mod connection;
mod database;
mod error;
mod journal_row;
mod open;
mod pack;
mod queries;
pub(super) mod rows;
mod schema;
mod texts;
mod tidy;
mod unsettled;

pub(super) use begin::EntryState;
pub(super) use database::Database;
pub(super) use error::DatabaseError;
pub(super) use journal_row::JournalRow;
pub(super) use unsettled::{UnsettledEdit, UnsettledFile};

#[cfg(test)]
mod tests;
