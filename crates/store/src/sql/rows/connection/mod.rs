//! Access to a database: its address, its connections, its tables, and transactions.
//!
//! A [`Connected`] database reads and writes over a [`pool`] of [`SqlConnection`]s. The drivers are in
//! [`sqlite`] and [`postgres`]; values are always bound to statements, never written into them.

mod address;
mod blocking;
mod connected;
mod migrate;
mod pgpass;
mod pool;
mod postgres;
mod server;
mod sql_connection;
mod sqlite;
mod tls;

pub(super) use self::address::Address;
pub(super) use self::connected::Connected;
pub(super) use self::sql_connection::EntityTransaction;

use self::server::PostgresOptions;
use self::sql_connection::SqlConnection;
use super::EntityStoreError;
use std::path::PathBuf;
use std::time::Duration;

/// What is needed to open a connection.
enum ConnectOptions {
    Sqlite(PathBuf),
    Postgres(Box<PostgresOptions>),
}

impl ConnectOptions {
    /// Opens a connection within a time limit.
    fn open(&self, limit: Duration) -> Result<Box<dyn SqlConnection>, EntityStoreError> {
        Ok(match self {
            ConnectOptions::Sqlite(path) => Box::new(sqlite::SqliteConnection::open(path)?),
            ConnectOptions::Postgres(options) => {
                Box::new(postgres::PostgresConnection::open(options, limit)?)
            }
        })
    }
}
