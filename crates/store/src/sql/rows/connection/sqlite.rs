//! Connections to SQLite.

use super::super::EntityStoreError;
use super::super::dialect::{IS_FOREIGN, TRANSACTION_TIMEOUT, TransactionMode};
use super::super::statement::Statement;
use super::super::value::{Row, SqlValue};
use super::sql_connection::{LOCK_TIMEOUT, MAX_PREPARED, SqlConnection};
use crate::tenant::Tenant;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use rusqlite::{Connection, OpenFlags, params_from_iter};
use std::ffi::c_int;
use std::path::Path;
use std::time::Instant;

/// The size in bytes to which the write-ahead log is truncated after a checkpoint.
const LOG_KEPT: u64 = 16 << 20;
/// The number of SQLite's instructions between two looks at the clock.
const OPERATIONS: c_int = 10_000;

pub struct SqliteConnection(Connection);

impl SqliteConnection {
    /// Opens an existing file.
    pub fn open(path: &Path) -> Result<SqliteConnection, EntityStoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags)?;
        connection.busy_timeout(LOCK_TIMEOUT)?;
        connection.set_prepared_statement_cache_capacity(MAX_PREPARED);
        connection.execute_batch(&format!(
            "PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;
             PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA temp_store = MEMORY;
             PRAGMA journal_size_limit = {LOG_KEPT};"
        ))?;
        // The mode stays in the file, so another program's database keeps its own.
        let is_empty = path.metadata().is_ok_and(|file| file.len() == 0);
        if is_empty || connection.query_row(IS_FOREIGN, [], |row| row.get::<_, i64>(0))? == 0 {
            connection.execute_batch("PRAGMA journal_mode = WAL")?;
        }
        Ok(SqliteConnection(connection))
    }

    fn rows(&self, statement: &Statement) -> rusqlite::Result<Vec<Row>> {
        let mut prepared = self.0.prepare_cached(statement.text())?;
        let columns = prepared.column_count();
        let rows = prepared.query_map(params_from_iter(statement.values()), |row| {
            (0..columns).map(|column| row.get(column)).collect::<rusqlite::Result<_>>().map(Row)
        })?;
        rows.collect()
    }
}

impl SqlConnection for SqliteConnection {
    fn begin(&mut self, _tenant: &Tenant, mode: TransactionMode<'_>) -> Result<(), EntityStoreError> {
        let deadline = Instant::now() + TRANSACTION_TIMEOUT;
        self.0.progress_handler(OPERATIONS, Some(move || Instant::now() >= deadline))?;
        Ok(self.0.execute_batch(match mode {
            TransactionMode::Read | TransactionMode::Search(_) => "BEGIN",
            TransactionMode::Write(_) => "BEGIN IMMEDIATE",
        })?)
    }

    fn run(&mut self, statements: &[Statement], script: &str) -> Result<Vec<Vec<Row>>, EntityStoreError> {
        let found = statements.iter().map(|statement| self.rows(statement)).collect::<Result<_, _>>()?;
        self.0.execute_batch(script)?;
        Ok(found)
    }

    fn close(self: Box<Self>) {}
}

impl ToSql for SqlValue {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            SqlValue::Null => ValueRef::Null,
            SqlValue::Number(number) => ValueRef::Integer(*number),
            SqlValue::Text(text) => ValueRef::Text(text.as_bytes()),
            SqlValue::Bytes(bytes) => ValueRef::Blob(bytes),
        }))
    }
}

impl FromSql for SqlValue {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<SqlValue> {
        Ok(match value {
            ValueRef::Null => SqlValue::Null,
            ValueRef::Integer(number) => SqlValue::Number(number),
            ValueRef::Text(_) => SqlValue::from(value.as_str()?),
            ValueRef::Blob(bytes) => SqlValue::from(bytes),
            ValueRef::Real(_) => return Err(FromSqlError::InvalidType),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::error::timed_out;
    use super::super::super::statement::UnboundStatement;
    use super::*;

    fn connection() -> SqliteConnection {
        SqliteConnection::open(Path::new(":memory:")).unwrap()
    }

    #[test]
    fn values_come_back_as_they_were_bound() {
        let values = [
            SqlValue::Null,
            SqlValue::from(-5),
            SqlValue::from("o'\\\0\u{fffd}"),
            SqlValue::Bytes(vec![0, 0xff]),
        ];
        let select = |select: UnboundStatement, value: &SqlValue| select.push(", ").bind(value.clone());
        let statement = values.iter().fold(UnboundStatement::new("SELECT 1"), select).without_scope();
        let found = connection().run(&[statement], "").unwrap();
        assert_eq!(found[0][0].0[1..], values);
    }

    #[test]
    fn a_transaction_that_takes_too_long_is_ended() {
        let mut connection = connection();
        connection.0.progress_handler(1, Some(|| true)).unwrap();
        let endless = "WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n) SELECT max(n) FROM n";
        let found = connection.run(&[UnboundStatement::new(endless).without_scope()], "");
        assert_eq!(found.map(drop), Err(timed_out()));
    }
}
