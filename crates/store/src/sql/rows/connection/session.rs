//! An open transaction and its operations.

use super::super::EntityStoreError;
use super::super::statement::Statement;
use super::super::value::Row;
use super::SqlConnection;

/// An open transaction.
pub struct EntityTransaction<'c>(&'c mut dyn SqlConnection);

impl<'c> EntityTransaction<'c> {
    pub(super) fn new(connection: &'c mut dyn SqlConnection) -> EntityTransaction<'c> {
        EntityTransaction(connection)
    }

    /// Executes statements in order and returns the rows that each found or changed.
    pub fn execute(&mut self, statements: &[Statement]) -> Result<Vec<Vec<Row>>, EntityStoreError> {
        if statements.is_empty() { Ok(Vec::new()) } else { self.0.run(statements, "") }
    }

    /// Executes statements in order. Each returns a row for each row that it found or changed; returns
    /// these counts.
    ///
    /// Errors: that of the first statement with an error of its own that did not affect exactly one row.
    /// The caller must not commit then.
    pub fn execute_all(
        &mut self,
        statements: Vec<(Statement, Option<EntityStoreError>)>,
    ) -> Result<Vec<usize>, EntityStoreError> {
        let (statements, meanings): (Vec<_>, Vec<_>) = statements.into_iter().unzip();
        let counts: Vec<usize> = self.execute(&statements)?.iter().map(Vec::len).collect();
        let wrong = counts.iter().zip(meanings).find_map(|(count, meaning)| meaning.filter(|_| *count != 1));
        wrong.map_or(Ok(counts), Err)
    }
}
