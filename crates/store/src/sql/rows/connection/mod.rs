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
mod session;
mod sqlite;
mod tls;

pub(super) use self::address::Address;
pub(super) use self::connected::Connected;
pub(super) use self::session::EntityTransaction;

use self::server::PostgresOptions;
use super::EntityStoreError;
use super::dialect::{SqlDialect, TransactionMode};
use super::statement::Statement;
use super::value::Row;
use crate::tenant::Tenant;
use std::path::PathBuf;
use std::time::Duration;

/// The time limit of waiting for a row or a file that another edit has locked.
const LOCK_TIMEOUT: Duration = Duration::from_secs(5);
/// The maximum number of prepared statements per connection; further ones are planned on each use.
const MAX_PREPARED: usize = 100;

/// A connection to a database. Its transactions see and change only what a tenant may access.
trait SqlConnection: Send {
    /// Begins a transaction; the connection may delay this until the next statement. A connection that
    /// is dropped before the commit changes nothing.
    fn begin(&mut self, tenant: &Tenant, mode: TransactionMode<'_>) -> Result<(), EntityStoreError>;

    /// Runs statements in order, then a script, which may be empty. Returns the rows of each statement.
    ///
    /// Errors: the first one. The transaction must not be committed then.
    fn run(&mut self, statements: &[Statement], script: &str) -> Result<Vec<Vec<Row>>, EntityStoreError>;

    /// Closes the connection with the server's closing handshake.
    fn close(self: Box<Self>);
}

/// What is needed to open a connection.
#[derive(Debug)]
enum ConnectOptions {
    Sqlite(PathBuf),
    Postgres(Box<PostgresOptions>),
}

impl ConnectOptions {
    fn dialect(&self) -> SqlDialect {
        match self {
            ConnectOptions::Sqlite(_) => SqlDialect::Sqlite,
            ConnectOptions::Postgres(_) => SqlDialect::Postgres,
        }
    }

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
