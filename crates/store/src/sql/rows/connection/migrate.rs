//! The tables of the entity database, and their versions.
//!
//! Invariant: one process at a time creates a version, in one transaction together with its record.
//! After an interruption the next process creates it.

use super::super::error::newer;
use super::super::{EntityStoreError, Migrated};
use super::dialect::SqlDialect;
use super::session::get;

use sqlx::migrate::{Migration, MigrationType, Migrator};
use sqlx::{AnyConnection, AssertSqlSafe, Connection, Executor, SqlSafeStr};

/// The table version of this lockgate.
pub const VERSION: i64 = 1;

/// The table that records the applied versions.
const MIGRATIONS_TABLE: &str = "lockgate_migrations";
/// The time limits while another process creates the tables.
const TIMEOUTS: &str = "SET statement_timeout = 0; SET lock_timeout = 60000";
/// The index that narrows searches in PostgreSQL, where its extension is available.
const SEARCH_INDEX: &str = include_str!("../postgres/narrow.sql");

/// Returns the table definitions of each version.
fn migrator(dialect: SqlDialect) -> Migrator {
    let content = match dialect {
        SqlDialect::Sqlite => include_str!("../sqlite/0001_content.sql"),
        SqlDialect::Postgres => include_str!("../postgres/0001_content.sql"),
    };
    let content =
        Migration::new(VERSION, "content".into(), MigrationType::Simple, content.into_sql_str(), false);
    let mut migrator = Migrator::with_migrations(vec![content]);
    migrator.dangerous_set_table_name(MIGRATIONS_TABLE);
    migrator
}

/// Creates missing tables. A role without the right to create tables can still use existing ones.
pub(super) async fn ensure(
    connection: &mut AnyConnection,
    dialect: SqlDialect,
) -> Result<(), EntityStoreError> {
    check_settings(connection, dialect).await?;
    if version(connection, dialect).await? < VERSION {
        run(connection, dialect).await?;
        if !create_search_index(connection, dialect).await? {
            tracing::warn!(
                "searches of entities read every row: the extension pg_trgm is missing, or the role may not use it"
            );
        }
    }
    Ok(())
}

/// Creates missing tables and indexes and returns the versions.
pub(super) async fn migrate(
    connection: &mut AnyConnection,
    dialect: SqlDialect,
) -> Result<Migrated, EntityStoreError> {
    check_settings(connection, dialect).await?;
    let from = version(connection, dialect).await?;
    run(connection, dialect).await?;
    let narrows = create_search_index(connection, dialect).await?;
    Ok(Migrated { from, to: version(connection, dialect).await?, narrows })
}

/// Returns the name of the database's journal.
pub(super) async fn journal(connection: &mut AnyConnection) -> Result<u16, EntityStoreError> {
    let row = sqlx::query("SELECT value FROM meta WHERE name = 'journal'").fetch_one(connection).await?;
    let name: i64 = get(&row, 0)?;
    u16::try_from(name).map_err(|_| EntityStoreError::Unusable("its journal name is invalid".to_owned()))
}

/// Rejects a database that cannot store all texts; warns about one without access control.
async fn check_settings(connection: &mut AnyConnection, dialect: SqlDialect) -> Result<(), EntityStoreError> {
    match dialect {
        SqlDialect::Sqlite => {
            let row = sqlx::query("PRAGMA journal_mode").fetch_one(connection).await?;
            let mode: String = get(&row, 0)?;
            if mode != "wal" {
                return Err(EntityStoreError::Unusable(format!(
                    "its file system does not support SQLite's WAL mode, only {mode}"
                )));
            }
        }
        SqlDialect::Postgres => {
            let sql = "SELECT pg_encoding_to_char(encoding)::text, rolsuper OR rolbypassrls
                FROM pg_database, pg_roles WHERE datname = current_database() AND rolname = current_user";
            let row = sqlx::query(sql).fetch_one(connection).await?;
            let (encoding, bypasses): (String, bool) = (get(&row, 0)?, get(&row, 1)?);
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

/// Returns the version of the existing tables; 0 for none.
async fn version(connection: &mut AnyConnection, dialect: SqlDialect) -> Result<i64, EntityStoreError> {
    let sql = match dialect {
        SqlDialect::Sqlite => "SELECT count(*) FROM sqlite_master WHERE name = $1",
        SqlDialect::Postgres => "SELECT count(to_regclass($1))",
    };
    let row = sqlx::query(sql).bind(MIGRATIONS_TABLE).fetch_one(&mut *connection).await?;
    if get::<i64>(&row, 0)? == 0 {
        return Ok(0);
    }
    let last = AssertSqlSafe(format!("SELECT coalesce(max(version), 0) FROM {MIGRATIONS_TABLE}"));
    let row = sqlx::query(last).fetch_one(connection).await?;
    match get(&row, 0)? {
        version if version > VERSION => Err(newer(version)),
        version => Ok(version),
    }
}

async fn run(connection: &mut AnyConnection, dialect: SqlDialect) -> Result<(), EntityStoreError> {
    let migrator = migrator(dialect);
    match dialect {
        // SQLite has only the lock on its file: the process with the lock creates the tables, and later
        // ones find them.
        SqlDialect::Sqlite => {
            let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
            migrator.run_direct(None, &mut *transaction, false).await?;
            Ok(transaction.commit().await?)
        }
        SqlDialect::Postgres => {
            connection.execute(TIMEOUTS).await?;
            Ok(migrator.run_direct(None, connection, false).await?)
        }
    }
}

/// Creates the index that narrows searches if it is available; returns true if it exists.
async fn create_search_index(
    connection: &mut AnyConnection,
    dialect: SqlDialect,
) -> Result<bool, EntityStoreError> {
    match dialect {
        SqlDialect::Sqlite => Ok(true),
        SqlDialect::Postgres => {
            connection.execute(SEARCH_INDEX).await?;
            let row = sqlx::query("SELECT count(to_regclass('lines_grams'))").fetch_one(connection).await?;
            Ok(get::<i64>(&row, 0)? > 0)
        }
    }
}
