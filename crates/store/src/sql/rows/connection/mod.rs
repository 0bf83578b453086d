//! Access to a database: its address, its connections, its tables, and transactions.
//!
//! A [`Connected`] database reads and writes over a [`pool`] of [`PooledConnection`]s, each with its
//! own runtime. [`dialect`] holds the differences between SQLite and PostgreSQL.
//!
//! A read sends one message to PostgreSQL: the tenant, the queries and the end of the transaction.
//! Separate messages would cost more than the queries.

mod address;
mod connected;
mod dialect;
mod migrate;
mod pool;
mod pooled;
mod session;

pub(super) use self::address::Address;
pub(super) use self::connected::Connected;
pub(super) use self::dialect::{SqlDialect, TransactionMode};
pub(super) use self::migrate::VERSION;
pub(super) use self::session::{EntityTransaction, get, read_version};

use super::EntityStoreError;
use super::statement::Statement;
use super::value::SqlValue;
use futures_util::TryStreamExt;
use sqlx::any::AnyRow;
use sqlx::{AnyConnection, AssertSqlSafe, Either};
use std::collections::HashMap;

/// The maximum number of prepared statements per connection; further ones are planned on each use.
const MAX_PREPARED: usize = 100;

/// A connection and the statements prepared on it.
#[derive(Debug)]
struct DatabaseConnection {
    pub connection: AnyConnection,
    /// The statements prepared in PostgreSQL, each with the number in its name.
    prepared: HashMap<String, usize>,
}

impl DatabaseConnection {
    pub fn new(connection: AnyConnection) -> DatabaseConnection {
        DatabaseConnection { connection, prepared: HashMap::new() }
    }

    /// Returns the rows that PostgreSQL finds for each statement in one read-only transaction that
    /// begins with `begin`.
    pub async fn query(
        &mut self,
        begin: String,
        statements: &[Statement],
    ) -> Result<Vec<Vec<AnyRow>>, EntityStoreError> {
        let mut message = begin;
        for statement in statements {
            message.push_str("; ");
            message.push_str(&self.prepared_call(statement).await?);
        }
        message.push_str("; ROLLBACK");
        let mut results = Vec::new();
        let mut rows = Vec::new();
        let mut stream = sqlx::raw_sql(AssertSqlSafe(message)).fetch_many(&mut self.connection);
        while let Some(item) = stream.try_next().await? {
            match item {
                Either::Right(row) => rows.push(row),
                Either::Left(_) => results.push(std::mem::take(&mut rows)),
            }
        }
        // The last response is for the end of the transaction, the first ones for its beginning.
        results.pop();
        let beginning = results.len().checked_sub(statements.len());
        let beginning =
            beginning.ok_or_else(|| EntityStoreError::Other("a response is missing".to_owned()))?;
        Ok(results.split_off(beginning))
    }

    /// Returns the call of a statement by its prepared name; prepares it if needed.
    async fn prepared_call(&mut self, statement: &Statement) -> Result<String, EntityStoreError> {
        if !statement.is_persistent {
            return Ok(statement.with_literals());
        }
        let sorts: Vec<&str> = statement.values().iter().map(SqlValue::sql_type).collect();
        let sorts = parenthesized(&sorts.join(", "));
        let text = format!("{sorts} AS {}", statement.text());
        let number = match self.prepared.get(&text) {
            Some(number) => *number,
            None if self.prepared.len() >= MAX_PREPARED => return Ok(statement.with_literals()),
            None => {
                let number = self.prepared.len();
                let prepare = format!("PREPARE lockgate_{number}{text}");
                sqlx::raw_sql(AssertSqlSafe(prepare)).execute(&mut self.connection).await?;
                self.prepared.insert(text, number);
                number
            }
        };
        let values: Vec<String> = statement.values().iter().map(SqlValue::literal).collect();
        Ok(format!("EXECUTE lockgate_{number}{}", parenthesized(&values.join(", "))))
    }
}

/// Wraps a list in parentheses unless it is empty.
fn parenthesized(list: &str) -> String {
    if list.is_empty() { String::new() } else { format!("({list})") }
}
