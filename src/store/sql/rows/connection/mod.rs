//! How a database is reached: its address, the connections to it, the tables in it, and transactions.
//!
//! A [`Live`] database is asked for what is read and told what is written; it has a [`pool`] of [`seat`]s, each a connection
//! with the reactor that listens to it. What SQLite and PostgreSQL are told differently stands in [`dialect`].
//!
//! PostgreSQL is asked all that is read in one message: whose rows are reached, what is looked for, and that this was all.
//! A message for each of these would cost more than what it asks for.

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
pub(super) use self::session::{EntityTransaction, get, stamp};

use super::EntityStoreError;
use super::statement::Statement;
use super::value::SqlValue;
use futures_util::TryStreamExt;
use sqlx::any::AnyRow;
use sqlx::{AnyConnection, AssertSqlSafe, Either};
use std::collections::HashMap;

/// Statements that a server remembers at most for a connection; more it thinks about each time.
const MOST: usize = 100;

/// A connection, and what its server remembers for it.
#[derive(Debug)]
struct DatabaseConnection {
    /// The connection itself.
    pub connection: AnyConnection,
    /// The statements that PostgreSQL remembers by name, each with the number in its name.
    remembered: HashMap<String, usize>,
}

impl DatabaseConnection {
    /// A connection that was just made.
    pub fn new(connection: AnyConnection) -> DatabaseConnection {
        DatabaseConnection { connection, remembered: HashMap::new() }
    }

    /// The rows that PostgreSQL finds for each statement in a transaction that begins like this, and changes nothing.
    pub async fn ask(
        &mut self,
        begin: String,
        statements: &[Statement],
    ) -> Result<Vec<Vec<AnyRow>>, EntityStoreError> {
        let mut message = begin;
        for statement in statements {
            message.push_str("; ");
            message.push_str(&self.call(statement).await?);
        }
        message.push_str("; ROLLBACK");
        let mut answers = Vec::new();
        let mut rows = Vec::new();
        let mut heard = sqlx::raw_sql(AssertSqlSafe(message)).fetch_many(&mut self.connection);
        while let Some(heard) = heard.try_next().await? {
            match heard {
                Either::Right(row) => rows.push(row),
                Either::Left(_) => answers.push(std::mem::take(&mut rows)),
            }
        }
        // The last answer is that to the end, and the first ones are those to the beginning.
        answers.pop();
        let beginning = answers.len().checked_sub(statements.len());
        let beginning =
            beginning.ok_or_else(|| EntityStoreError::Other("it left an answer out".to_owned()))?;
        Ok(answers.split_off(beginning))
    }

    /// How a statement is asked in a message: by its name, under which the server remembers how it is carried out.
    async fn call(&mut self, statement: &Statement) -> Result<String, EntityStoreError> {
        if !statement.is_kept {
            return Ok(statement.spelled());
        }
        let sorts: Vec<&str> = statement.values().iter().map(SqlValue::sort).collect();
        let sorts = between(&sorts.join(", "));
        let text = format!("{sorts} AS {}", statement.text());
        let number = match self.remembered.get(&text) {
            Some(number) => *number,
            None if self.remembered.len() >= MOST => return Ok(statement.spelled()),
            None => {
                let number = self.remembered.len();
                let prepare = format!("PREPARE lockgate_{number}{text}");
                sqlx::raw_sql(AssertSqlSafe(prepare)).execute(&mut self.connection).await?;
                self.remembered.insert(text, number);
                number
            }
        };
        let values: Vec<String> = statement.values().iter().map(SqlValue::literal).collect();
        Ok(format!("EXECUTE lockgate_{number}{}", between(&values.join(", "))))
    }
}

/// Between parentheses, where there is something.
fn between(list: &str) -> String {
    if list.is_empty() { String::new() } else { format!("({list})") }
}
