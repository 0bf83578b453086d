//! The connection to a database of any kind, and its transactions.

use super::super::EntityStoreError;
use super::super::dialect::TransactionMode;
use super::super::statement::Statement;
use super::super::value::Row;
use crate::tenant::Tenant;
use std::time::Duration;

/// The time limit of waiting for a row or a file that another edit has locked.
pub const LOCK_TIMEOUT: Duration = Duration::from_secs(5);
/// The maximum number of prepared statements per connection; further ones are planned on each use.
pub const MAX_PREPARED: usize = 100;

/// A connection to a database. Its transactions see and change only what a tenant may access.
pub trait SqlConnection: Send {
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
