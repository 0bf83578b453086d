//! The differences between SQLite and PostgreSQL.

use super::super::value::literal;
use crate::tenant::Tenant;
use std::time::Duration;

/// The time limit of a statement, and of waiting for a row that another edit has locked.
pub const STATEMENT_TIMEOUT: Duration = Duration::from_secs(10);
const LOCK_TIMEOUT: Duration = Duration::from_secs(5);
/// The time after which a server aborts an idle transaction and releases its locks.
const IDLE_TIMEOUT: Duration = Duration::from_secs(3);

/// Compresses texts with lz4 if the server supports it: the default method takes a tenth of an edit's
/// time.
const FAST_COMPRESSION: &str = "SELECT set_config(name, 'lz4', false) FROM pg_settings
    WHERE name = 'default_toast_compression' AND 'lz4' = ANY(enumvals)";

/// The isolation level in which all reads see one snapshot.
const SNAPSHOT: &str = "ISOLATION LEVEL REPEATABLE READ READ ONLY";

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

impl SqlDialect {
    /// Returns the statements that set up a new connection.
    pub fn session_setup(self) -> String {
        match self {
            SqlDialect::Sqlite => format!(
                "PRAGMA busy_timeout = {}; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
                 PRAGMA foreign_keys = ON; PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON;
                 PRAGMA temp_store = MEMORY; PRAGMA journal_size_limit = {};",
                LOCK_TIMEOUT.as_millis(),
                16 << 20
            ),
            // A plan lives as long as its connection and is often made while the tables are empty.
            // These settings make the server look rows up by key, whatever the row counts were then.
            SqlDialect::Postgres => format!(
                "SET enable_seqscan = off; SET jit = off; SET statement_timeout = {}; SET lock_timeout = {}; SET idle_in_transaction_session_timeout = {};
                 SET client_min_messages = warning; SET default_transaction_isolation = 'read committed'; {FAST_COMPRESSION}",
                STATEMENT_TIMEOUT.as_millis(),
                LOCK_TIMEOUT.as_millis(),
                IDLE_TIMEOUT.as_millis()
            ),
        }
    }

    /// Returns the statements that begin a transaction. In PostgreSQL the same message sets the tenant
    /// for row-level security.
    pub fn begin(self, tenant: &Tenant, purpose: TransactionMode<'_>) -> String {
        match (self, purpose) {
            (SqlDialect::Sqlite, TransactionMode::Read | TransactionMode::Search(_)) => "BEGIN".to_owned(),
            (SqlDialect::Sqlite, TransactionMode::Write(_)) => "BEGIN IMMEDIATE".to_owned(),
            (SqlDialect::Postgres, TransactionMode::Read) => {
                format!("BEGIN {SNAPSHOT}; {}", scope_setting(tenant))
            }
            (SqlDialect::Postgres, TransactionMode::Search(needle)) => {
                let needle = literal(needle);
                // Here a comparison scans a whole text, which costs more than an index lookup.
                let cost_setting = "SET LOCAL cpu_operator_cost = 0.25";
                format!(
                    "BEGIN {SNAPSHOT}; {}; {cost_setting}; SET LOCAL lockgate.needle = {needle}",
                    scope_setting(tenant)
                )
            }
            (SqlDialect::Postgres, TransactionMode::Write(edit)) => {
                format!("BEGIN; {}; SELECT pg_advisory_xact_lock({edit})", scope_setting(tenant))
            }
        }
    }
}

fn scope_setting(tenant: &Tenant) -> String {
    match tenant {
        Tenant::Global => "SET LOCAL lockgate.organization = ''".to_owned(),
        Tenant::Organization(name) => format!("SET LOCAL lockgate.organization = {}", literal(name)),
        Tenant::All => "SET LOCAL lockgate.everybody = 'on'".to_owned(),
    }
}
