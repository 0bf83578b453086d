//! What SQLite and PostgreSQL are told differently.

use super::super::value::literal;
use crate::store::rows::Tenant;
use std::time::Duration;

/// How long a statement may take; how long it may wait for a row that another edit has.
pub const STATEMENT: Duration = Duration::from_secs(10);
const LOCK: Duration = Duration::from_secs(5);
/// How long a server waits for the next statement of a transaction before it takes its locks away.
const IDLE: Duration = Duration::from_secs(3);

/// Texts are packed the quick way, where the server was built with it: its usual way takes a tenth of what an edit costs it.
const QUICKLY: &str = "SELECT set_config(name, 'lz4', false) FROM pg_settings
    WHERE name = 'default_toast_compression' AND 'lz4' = ANY(enumvals)";

/// Reading sees what is there at one moment.
const ONE_MOMENT: &str = "ISOLATION LEVEL REPEATABLE READ READ ONLY";

/// Which database it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SqlDialect {
    /// A file, for one machine.
    Sqlite,
    /// A server, for many.
    Postgres,
}

/// What a transaction is for.
#[derive(Debug, Clone, Copy)]
pub enum TransactionMode<'a> {
    /// Reading.
    Read,
    /// Reading texts that are like this pattern; in PostgreSQL it becomes a part of the policy, which is asked by index.
    Search(&'a str),
    /// Writing the edit of that number, which is locked: whoever has the lock sees what became of it.
    Write(i64),
}

impl SqlDialect {
    /// What a new connection is told first.
    pub fn greeting(self) -> String {
        match self {
            SqlDialect::Sqlite => format!(
                "PRAGMA busy_timeout = {}; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
                 PRAGMA foreign_keys = ON; PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON;
                 PRAGMA temp_store = MEMORY; PRAGMA journal_size_limit = {};",
                LOCK.as_millis(),
                16 << 20
            ),
            // A plan is kept for as long as a connection, and was often made when the tables were empty: what is asked for by
            // its key is looked up by it, however many rows there were then.
            SqlDialect::Postgres => format!(
                "SET enable_seqscan = off; SET jit = off; SET statement_timeout = {}; SET lock_timeout = {}; SET idle_in_transaction_session_timeout = {};
                 SET client_min_messages = warning; SET default_transaction_isolation = 'read committed'; {QUICKLY}",
                STATEMENT.as_millis(),
                LOCK.as_millis(),
                IDLE.as_millis()
            ),
        }
    }

    /// How a transaction begins: in PostgreSQL row-level security is told whose rows are reached, in the same message.
    pub fn begin(self, tenant: &Tenant, purpose: TransactionMode<'_>) -> String {
        match (self, purpose) {
            (SqlDialect::Sqlite, TransactionMode::Read | TransactionMode::Search(_)) => "BEGIN".to_owned(),
            (SqlDialect::Sqlite, TransactionMode::Write(_)) => "BEGIN IMMEDIATE".to_owned(),
            (SqlDialect::Postgres, TransactionMode::Read) => format!("BEGIN {ONE_MOMENT}; {}", reach(tenant)),
            (SqlDialect::Postgres, TransactionMode::Search(needle)) => {
                let needle = literal(needle);
                // Comparing goes through a whole text here, which is dearer than looking things up in an index.
                let dear = "SET LOCAL cpu_operator_cost = 0.25";
                format!("BEGIN {ONE_MOMENT}; {}; {dear}; SET LOCAL lockgate.needle = {needle}", reach(tenant))
            }
            (SqlDialect::Postgres, TransactionMode::Write(edit)) => {
                format!("BEGIN; {}; SELECT pg_advisory_xact_lock({edit})", reach(tenant))
            }
        }
    }
}

fn reach(tenant: &Tenant) -> String {
    match tenant {
        Tenant::Nobody => "SET LOCAL lockgate.organization = ''".to_owned(),
        Tenant::Organization(name) => format!("SET LOCAL lockgate.organization = {}", literal(name)),
        Tenant::Everybody => "SET LOCAL lockgate.everybody = 'on'".to_owned(),
    }
}
