//! The tables of the entity database, and their versions.
//!
//! Invariant: one process at a time creates a version, in one transaction together with its record.
//! After an interruption the next process creates it.

use super::super::super::columns::count;
use super::super::dialect::{IS_FOREIGN, SqlDialect};
use super::super::error::unexpected;
use super::super::statement::{Statement, UnboundStatement};
use super::super::value::Row;
use super::super::{EntityStoreError, Migrated};
use super::SqlConnection;
use sha2::{Digest, Sha384};
use std::time::Instant;

/// The table version of this lockgate.
const VERSION: i64 = 1;

/// The table that records the applied versions.
const MIGRATIONS_TABLE: &str = "lockgate_migrations";
/// Prepares a session for a migration: it may write as far as its role may, and waits while another
/// process creates the tables.
const SETUP: &str =
    "SET statement_timeout = 0; SET lock_timeout = 60000; RESET default_transaction_read_only";
/// The index that narrows searches in PostgreSQL, where its extension is available.
const SEARCH_INDEX: &str = include_str!("../postgres/narrow.sql");

/// The lock that one migrating process at a time has in PostgreSQL.
const LOCK: i64 = 0x6c6f_636b_6761_7465;

/// Returns the definitions of the tables.
fn tables(dialect: SqlDialect) -> &'static str {
    match dialect {
        SqlDialect::Sqlite => include_str!("../sqlite/0001_content.sql"),
        SqlDialect::Postgres => include_str!("../postgres/0001_content.sql"),
    }
}

/// Creates missing tables. A role without the right to create tables can still use existing ones.
pub(super) fn ensure(
    connection: &mut dyn SqlConnection,
    dialect: SqlDialect,
) -> Result<(), EntityStoreError> {
    let is_old = version(connection, dialect)? < VERSION;
    if is_old {
        check_owner(connection, dialect)?;
    }
    check_settings(connection, dialect)?;
    if is_old {
        run(connection, dialect)?;
        if !create_search_index(connection, dialect)? {
            tracing::warn!(
                "searches of entities read every row: the extension pg_trgm is missing, or the role may not use it"
            );
        }
    }
    Ok(())
}

/// Creates missing tables and indexes and returns the versions.
pub(super) fn migrate(
    connection: &mut dyn SqlConnection,
    dialect: SqlDialect,
) -> Result<Migrated, EntityStoreError> {
    if dialect == SqlDialect::Sqlite {
        one(connection, sql("PRAGMA journal_mode = WAL"))?;
    }
    check_settings(connection, dialect)?;
    let from = version(connection, dialect)?;
    run(connection, dialect)?;
    let narrows = create_search_index(connection, dialect)?;
    Ok(Migrated { from, to: version(connection, dialect)?, narrows })
}

/// Returns the name of the database's journal.
pub(super) fn journal(connection: &mut dyn SqlConnection) -> Result<u16, EntityStoreError> {
    let name: i64 = one(connection, sql("SELECT value FROM meta WHERE name = 'journal'"))?.get(0)?;
    u16::try_from(name).map_err(|_| EntityStoreError::Unusable("its journal name is invalid".to_owned()))
}

/// Rejects a database that cannot store all texts; warns about one without access control.
fn check_settings(connection: &mut dyn SqlConnection, dialect: SqlDialect) -> Result<(), EntityStoreError> {
    match dialect {
        SqlDialect::Sqlite => {
            let mode: String = one(connection, sql("PRAGMA journal_mode"))?.get(0)?;
            if mode != "wal" {
                return Err(EntityStoreError::Unusable(format!(
                    "its file system does not support SQLite's WAL mode, only {mode}"
                )));
            }
        }
        SqlDialect::Postgres => {
            let role = "SELECT pg_encoding_to_char(encoding)::text, rolsuper OR rolbypassrls
                FROM pg_database, pg_roles WHERE datname = current_database() AND rolname = current_user";
            let row = one(connection, sql(role))?;
            let (encoding, bypasses): (String, bool) = (row.get(0)?, row.get(1)?);
            if encoding != "UTF8" {
                return Err(EntityStoreError::Unusable(format!(
                    "its encoding is {encoding}, it must be UTF8"
                )));
            }
            if bypasses {
                tracing::warn!(
                    "the role in the store URL bypasses row-level security: use one that does not"
                );
            }
        }
    }
    Ok(())
}

/// Rejects a file of SQLite that another program made. A database of PostgreSQL often has tables of several programs.
fn check_owner(connection: &mut dyn SqlConnection, dialect: SqlDialect) -> Result<(), EntityStoreError> {
    if dialect == SqlDialect::Sqlite && one(connection, sql(IS_FOREIGN))?.get::<i64>(0)? > 0 {
        return Err(EntityStoreError::Unusable(
            "it has tables of another program; `lockgate store migrate` adds those of lockgate".to_owned(),
        ));
    }
    Ok(())
}

/// Returns the version of the existing tables; 0 for none.
fn version(connection: &mut dyn SqlConnection, dialect: SqlDialect) -> Result<i64, EntityStoreError> {
    let table = match dialect {
        SqlDialect::Sqlite => {
            UnboundStatement::new("SELECT count(*) FROM sqlite_master WHERE name = ").bind(MIGRATIONS_TABLE)
        }
        SqlDialect::Postgres => {
            UnboundStatement::new("SELECT count(to_regclass(").bind(MIGRATIONS_TABLE).push("))")
        }
    };
    if one(connection, table.without_scope())?.get::<i64>(0)? == 0 {
        return Ok(0);
    }
    let last = sql(&format!("SELECT coalesce(max(version), 0) FROM {MIGRATIONS_TABLE}"));
    match one(connection, last)?.get(0)? {
        version if version > VERSION => Err(newer(version)),
        version => Ok(version),
    }
}

/// Creates missing tables and checks the record of existing ones.
fn run(connection: &mut dyn SqlConnection, dialect: SqlDialect) -> Result<(), EntityStoreError> {
    create_tables(connection, dialect).map_err(|error| match error {
        // For example, another program has tables of these names.
        EntityStoreError::Other(reason) | EntityStoreError::Logged(reason) => {
            EntityStoreError::Unusable(format!("its tables cannot be created: {reason}"))
        }
        other => other,
    })
}

/// The table of versions is laid out as sqlx did, which made it first.
fn create_tables(connection: &mut dyn SqlConnection, dialect: SqlDialect) -> Result<(), EntityStoreError> {
    let since = Instant::now();
    begin_alone(connection, dialect)?;
    let (time, bytes) = match dialect {
        SqlDialect::Sqlite => ("TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP", "BLOB"),
        SqlDialect::Postgres => ("TIMESTAMPTZ NOT NULL DEFAULT now()", "BYTEA"),
    };
    connection.run(
        &[],
        &format!(
            "CREATE TABLE IF NOT EXISTS {MIGRATIONS_TABLE} (
    version BIGINT PRIMARY KEY,
    description TEXT NOT NULL,
    installed_on {time},
    success BOOLEAN NOT NULL,
    checksum {bytes} NOT NULL,
    execution_time BIGINT NOT NULL
)"
        ),
    )?;
    let recorded =
        sql(&format!("SELECT version, success, checksum FROM {MIGRATIONS_TABLE} ORDER BY version"));
    let recorded = connection.run(&[recorded], "")?;
    let checksum = Sha384::digest(tables(dialect));
    for row in recorded.iter().flatten() {
        check_record(row, &checksum)?;
    }
    if recorded.iter().all(Vec::is_empty) {
        connection.run(&[], tables(dialect))?;
        let columns = "version, description, success, checksum, execution_time";
        let record = UnboundStatement::new(&format!("INSERT INTO {MIGRATIONS_TABLE}({columns}) VALUES ("));
        let record = record.bind(VERSION).push(", 'content', TRUE, ").bind(checksum.as_slice()).push(", ");
        let took = count(since.elapsed().as_nanos());
        connection.run(&[record.bind(took).push(")").without_scope()], "")?;
    }
    connection.run(&[], "COMMIT").map(drop)
}

/// Begins a transaction that one process at a time can be in.
fn begin_alone(connection: &mut dyn SqlConnection, dialect: SqlDialect) -> Result<(), EntityStoreError> {
    match dialect {
        // SQLite has only the lock on its file: the process with the lock creates the tables, and later
        // ones find them.
        SqlDialect::Sqlite => connection.run(&[], "BEGIN IMMEDIATE").map(drop),
        SqlDialect::Postgres => {
            connection.run(&[], SETUP)?;
            connection.run(&[], "BEGIN")?;
            let lock = UnboundStatement::new("SELECT pg_advisory_xact_lock(").bind(LOCK).push(")");
            one(connection, lock.without_scope()).map(drop)
        }
    }
}

/// Checks the record of a version that was created: it must be the version of this lockgate, with the same tables.
fn check_record(record: &Row, checksum: &[u8]) -> Result<(), EntityStoreError> {
    let (version, is_complete, known): (i64, bool, &[u8]) = (record.get(0)?, record.get(1)?, record.get(2)?);
    if version != VERSION {
        return Err(newer(version));
    }
    if !is_complete || known != checksum {
        tracing::warn!("the tables of the database of stored content are not those of this lockgate");
        return Err(EntityStoreError::Unusable(
            "its tables differ from those that lockgate created".to_owned(),
        ));
    }
    Ok(())
}

/// Creates the index that narrows searches if it is available; returns true if it exists.
fn create_search_index(
    connection: &mut dyn SqlConnection,
    dialect: SqlDialect,
) -> Result<bool, EntityStoreError> {
    match dialect {
        SqlDialect::Sqlite => Ok(true),
        SqlDialect::Postgres => {
            connection.run(&[], SEARCH_INDEX)?;
            let index = one(connection, sql("SELECT count(to_regclass('lines_grams'))"))?;
            Ok(index.get::<i64>(0)? > 0)
        }
    }
}

fn sql(text: &str) -> Statement {
    UnboundStatement::new(text).without_scope()
}

/// Returns the row that a statement always finds.
fn one(connection: &mut dyn SqlConnection, statement: Statement) -> Result<Row, EntityStoreError> {
    connection.run(&[statement], "")?.into_iter().flatten().next().ok_or_else(unexpected)
}

/// The error for a database with tables of a newer version of lockgate.
fn newer(version: i64) -> EntityStoreError {
    EntityStoreError::Unusable(format!(
        "it was created by a newer lockgate: its table version is {version}, this one supports {VERSION}"
    ))
}
