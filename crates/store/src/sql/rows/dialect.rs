//! The supported database systems, and the purposes and time limit of transactions.

use std::time::Duration;

/// Is 1 for a file of SQLite with tables of another program only. One statement, because another process may make the
/// tables of lockgate meanwhile.
pub(super) const IS_FOREIGN: &str =
    "SELECT count(*) > 0 AND total(name = 'lockgate_migrations') = 0 FROM sqlite_master";

/// The time limit of a transaction, for example when a network drops packets.
pub const TRANSACTION_TIMEOUT: Duration = Duration::from_secs(15);

/// A database system that lockgate supports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SqlDialect {
    /// A file, for one machine.
    Sqlite,
    /// A server, for many machines.
    Postgres,
}

/// The purpose of a transaction.
#[derive(Debug, Clone, Copy)]
pub enum TransactionMode<'a> {
    Read,
    /// Searches texts like this pattern. In PostgreSQL the row-level security policy includes it, so
    /// the index is used.
    Search(&'a str),
    /// Writes the edit with this number, which is locked: the next owner of the lock sees the edit's
    /// final state.
    Write(i64),
}
