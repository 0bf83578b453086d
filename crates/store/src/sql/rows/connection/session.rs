//! An open transaction and its operations.
//!
//! Invariant: the tenant is set in the database before the first statement. A dropped transaction
//! changes nothing.

use super::super::EntityStoreError;
use super::super::prepare::count;
use super::super::statement::Statement;
use super::dialect::SqlDialect;
use lockgate_text::Version;
use sqlx::any::AnyRow;
use sqlx::{Any, AssertSqlSafe, Decode, Row, Transaction, Type};

/// An open transaction and the dialect of its database.
pub struct EntityTransaction<'c> {
    transaction: Transaction<'c, Any>,
    pub dialect: SqlDialect,
}

impl<'c> EntityTransaction<'c> {
    pub(super) fn new(transaction: Transaction<'c, Any>, dialect: SqlDialect) -> EntityTransaction<'c> {
        EntityTransaction { transaction, dialect }
    }

    /// Returns all rows that a statement finds.
    pub async fn all(&mut self, statement: Statement) -> Result<Vec<AnyRow>, EntityStoreError> {
        let is_persistent = statement.is_persistent;
        let (text, arguments) = statement.parts();
        let query = sqlx::query_with(AssertSqlSafe(text), arguments).persistent(is_persistent);
        Ok(query.fetch_all(&mut *self.transaction).await?)
    }

    /// Returns the first row that a statement finds.
    pub async fn first(&mut self, statement: Statement) -> Result<Option<AnyRow>, EntityStoreError> {
        Ok(self.all(statement).await?.into_iter().next())
    }

    /// Executes a change and returns the number of changed rows.
    pub async fn change(&mut self, statement: Statement) -> Result<u64, EntityStoreError> {
        let is_persistent = statement.is_persistent;
        let (text, arguments) = statement.parts();
        let query = sqlx::query_with(AssertSqlSafe(text), arguments).persistent(is_persistent);
        Ok(query.execute(&mut *self.transaction).await?.rows_affected())
    }

    /// Executes several statements, in one message where the database supports it. Each returns a row
    /// for each row that it found or changed; returns these counts.
    ///
    /// Errors: that of the first statement with an error of its own that did not affect exactly one row.
    /// The caller must not commit then.
    pub async fn execute_all(
        &mut self,
        statements: Vec<(Statement, Option<EntityStoreError>)>,
    ) -> Result<Vec<i64>, EntityStoreError> {
        let (statements, meanings): (Vec<_>, Vec<_>) = statements.into_iter().unzip();
        let counts: Vec<i64> = match self.dialect {
            SqlDialect::Sqlite => {
                let mut counts = Vec::with_capacity(statements.len());
                for statement in statements {
                    counts.push(count(self.all(statement).await?.len()));
                }
                counts
            }
            SqlDialect::Postgres => {
                let row = self.first(Statement::combine(statements)).await?;
                let row = row.ok_or_else(|| EntityStoreError::Other("a row count is missing".to_owned()))?;
                (0..meanings.len()).map(|column| get(&row, column)).collect::<Result<_, _>>()?
            }
        };
        let wrong = counts.iter().zip(meanings).find_map(|(count, meaning)| meaning.filter(|_| *count != 1));
        wrong.map_or(Ok(counts), Err)
    }

    pub(super) async fn rollback(self) -> Result<(), EntityStoreError> {
        Ok(self.transaction.rollback().await?)
    }

    pub(super) async fn commit(self) -> Result<(), EntityStoreError> {
        Ok(self.transaction.commit().await?)
    }
}

/// Returns a column of a row.
pub fn get<'r, T: Decode<'r, Any> + Type<Any>>(
    row: &'r AnyRow,
    column: usize,
) -> Result<T, EntityStoreError> {
    Ok(row.try_get(column)?)
}

/// Returns the version in a column of a row.
pub fn read_version(row: &AnyRow, column: usize) -> Result<Option<Version>, EntityStoreError> {
    let bytes: Option<&[u8]> = get(row, column)?;
    let known = |bytes: &[u8]| match bytes.try_into() {
        Ok(bytes) => Ok(Version::from_bytes(bytes)),
        Err(_) => Err(EntityStoreError::Other("a stored version is invalid".to_owned())),
    };
    bytes.map(known).transpose()
}
