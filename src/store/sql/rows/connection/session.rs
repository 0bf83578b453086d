//! A transaction that is open: what may be asked in it.
//!
//! Invariant: its tenant was told to the database before the first statement; dropped, it changes nothing.

use super::super::EntityStoreError;
use super::super::prepare::count;
use super::super::statement::Statement;
use super::dialect::SqlDialect;
use crate::text::Version;
use sqlx::any::AnyRow;
use sqlx::{Any, AssertSqlSafe, Decode, Row, Transaction, Type};

/// An open transaction.
pub struct EntityTransaction<'c> {
    transaction: Transaction<'c, Any>,
    /// Which database it is.
    pub dialect: SqlDialect,
}

impl<'c> EntityTransaction<'c> {
    pub(super) fn new(transaction: Transaction<'c, Any>, dialect: SqlDialect) -> EntityTransaction<'c> {
        EntityTransaction { transaction, dialect }
    }

    /// All rows that are found.
    pub async fn all(&mut self, statement: Statement) -> Result<Vec<AnyRow>, EntityStoreError> {
        let kept = statement.is_kept;
        let (text, arguments) = statement.parts();
        let query = sqlx::query_with(AssertSqlSafe(text), arguments).persistent(kept);
        Ok(query.fetch_all(&mut *self.transaction).await?)
    }

    /// The first row that is found.
    pub async fn first(&mut self, statement: Statement) -> Result<Option<AnyRow>, EntityStoreError> {
        Ok(self.all(statement).await?.into_iter().next())
    }

    /// Carries a change out; tells how many rows it changed.
    pub async fn change(&mut self, statement: Statement) -> Result<u64, EntityStoreError> {
        let kept = statement.is_kept;
        let (text, arguments) = statement.parts();
        let query = sqlx::query_with(AssertSqlSafe(text), arguments).persistent(kept);
        Ok(query.execute(&mut *self.transaction).await?.rows_affected())
    }

    /// Carries several statements out, in one message where there is a way to be short of: each gives back a row for each
    /// that it found or changed. Where one did not find just one and says what that means, nothing of it is to be kept.
    pub async fn together(
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
                let row = self.first(Statement::together(statements)).await?;
                let row = row.ok_or_else(|| EntityStoreError::Other("it counted nothing".to_owned()))?;
                (0..meanings.len()).map(|column| get(&row, column)).collect::<Result<_, _>>()?
            }
        };
        let wrong = counts.iter().zip(meanings).find_map(|(count, meaning)| meaning.filter(|_| *count != 1));
        wrong.map_or(Ok(counts), Err)
    }

    /// Ends it; nothing is changed.
    pub(super) async fn leave(self) -> Result<(), EntityStoreError> {
        Ok(self.transaction.rollback().await?)
    }

    /// Makes all that was changed last.
    pub(super) async fn commit(self) -> Result<(), EntityStoreError> {
        Ok(self.transaction.commit().await?)
    }
}

/// What a row has in that column.
pub fn get<'r, T: Decode<'r, Any> + Type<Any>>(
    row: &'r AnyRow,
    column: usize,
) -> Result<T, EntityStoreError> {
    Ok(row.try_get(column)?)
}

/// The stamp that a row has in that column.
pub fn stamp(row: &AnyRow, column: usize) -> Result<Option<Version>, EntityStoreError> {
    let bytes: Option<&[u8]> = get(row, column)?;
    let known = |bytes: &[u8]| match bytes.try_into() {
        Ok(bytes) => Ok(Version::from_bytes(bytes)),
        Err(_) => Err(EntityStoreError::Other("a stamp in it is none".to_owned())),
    };
    bytes.map(known).transpose()
}
