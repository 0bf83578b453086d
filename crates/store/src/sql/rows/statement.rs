//! SQL statements, and the one clause that restricts them to a tenant's scope.
//!
//! Invariant: a statement that reads, changes or removes rows is made by [`UnboundStatement::in_scope`], so it has the
//! clause. [`UnboundStatement::without_scope`] is only for statements that find no row: those about the database itself,
//! and each `INSERT`, whose row has the owner that the caller checked.

use super::dialect::SqlDialect;
use super::value::SqlValue;
use crate::row_location::RowKey;
use crate::tenant::Tenant;
use std::fmt::Write;
use std::marker::PhantomData;

/// The owner of an edit that is selected by its number. No index covers this expression, so a plan made
/// for empty tables stays good for large ones.
pub(super) const OWNER_BY_NUMBER: &str = "(organization || '')";
/// The same expression for the aliases `e` and `e2`.
pub(super) const OWNER_BY_NUMBER_E: &str = "(e.organization || '')";
pub(super) const OWNER_BY_NUMBER_E2: &str = "(e2.organization || '')";

/// The state of a statement that is not yet restricted to a tenant's scope.
#[derive(Debug, Clone)]
pub(super) enum Unbound {}

/// The state of a statement that reads and changes rows within a tenant's scope.
#[derive(Debug, Clone)]
pub(super) enum Scoped {}

/// A statement, and the values of its placeholders.
#[derive(Debug, Clone)]
pub(super) struct Statement<S = Scoped> {
    /// The text has the placeholders `$1`, `$2` and so on, in this order.
    text: String,
    values: Vec<SqlValue>,
    /// Set when the database is to keep the prepared statement.
    pub is_persistent: bool,
    state: PhantomData<S>,
}

/// A statement that is not yet restricted to a tenant's scope, and so cannot be run.
pub(super) type UnboundStatement = Statement<Unbound>;

impl<S> Statement<S> {
    /// Appends SQL text, which must not contain data.
    #[must_use]
    pub fn push(mut self, text: &str) -> Statement<S> {
        self.text.push_str(text);
        self
    }

    /// Appends a placeholder for a value.
    #[must_use]
    pub fn bind(mut self, value: impl Into<SqlValue>) -> Statement<S> {
        self.values.push(value.into());
        // Writing to a string cannot fail.
        let _ = write!(self.text, "${}", self.values.len());
        self
    }

    /// Appends a comma and a placeholder for the next value of a list.
    #[must_use]
    pub fn bind_next(self, value: impl Into<SqlValue>) -> Statement<S> {
        self.push(", ").bind(value)
    }

    /// Appends the four values of a key, separated by commas.
    #[must_use]
    pub fn key(self, RowKey { kind, organization, app, path }: RowKey<'_>) -> Statement<S> {
        self.bind(kind).bind_next(organization).bind_next(app).bind_next(path)
    }

    /// Appends the condition that restricts a table of the statement. This is the only definition of a
    /// tenant's scope.
    #[must_use]
    pub fn push_scope(self, tenant: &Tenant, column: &str) -> Statement<S> {
        match tenant {
            // For administrative commands; row-level security gets the same setting.
            Tenant::All => self.push("1 = 1"),
            Tenant::Global => self.push(column).push(" = ''"),
            Tenant::Organization(name) => self.push(column).push(" IN ('', ").bind(name.as_str()).push(")"),
        }
    }
}

impl UnboundStatement {
    pub fn new(text: &str) -> UnboundStatement {
        Statement { text: text.to_owned(), values: Vec::new(), is_persistent: true, state: PhantomData }
    }

    /// Restricts the statement to a tenant's scope. `column` is the column that holds a row's owner.
    #[must_use]
    pub fn in_scope(self, tenant: &Tenant, column: &str) -> Statement {
        self.push(" WHERE ").push_scope(tenant, column).without_scope()
    }

    /// Restricts the statement to one row of a table, if that is in a tenant's scope.
    #[must_use]
    pub fn of_row(self, tenant: &Tenant, key: RowKey<'_>) -> Statement {
        self.in_scope(tenant, "organization").row("", key)
    }

    /// A statement about the database itself, or an `INSERT` of a row of which the caller checked the owner.
    #[must_use]
    pub fn without_scope(self) -> Statement {
        let Statement { text, values, is_persistent, state: _ } = self;
        Statement { text, values, is_persistent, state: PhantomData }
    }
}

impl Statement {
    /// Restricts the statement to one row. `of` is the table's name followed by a dot, or empty.
    #[must_use]
    pub fn row(self, of: &str, key: RowKey<'_>) -> Statement {
        let RowKey { kind, organization, app, path } = key;
        let parts = [("kind", kind), ("organization", organization), ("app", app), ("path", path)];
        parts.into_iter().fold(self, |statement, (name, value)| {
            statement.push(" AND ").push(of).push(name).push(" = ").bind(value)
        })
    }

    /// Restricts the statement to the rows of a subquery that is evaluated first. Otherwise the join
    /// order would depend on the planner's row estimates.
    #[must_use]
    pub fn found_first(
        self,
        column: &str,
        dialect: SqlDialect,
        ids: impl FnOnce(Statement) -> Statement,
    ) -> Statement {
        let (open, close) = match dialect {
            SqlDialect::Sqlite => (" IN (", ")"),
            SqlDialect::Postgres => (" = ANY(ARRAY(", "))"),
        };
        ids(self.push(" AND ").push(column).push(open)).push(close)
    }

    /// Appends the newest rows of a table with the columns `id`, `organization` and `at`. Each
    /// organisation's rows are selected separately, so the time does not depend on the number of other
    /// organisations' rows.
    #[must_use]
    pub fn newest(self, table: &str, tenant: &Tenant, most: i64) -> Statement {
        let tenants = match tenant {
            Tenant::Global | Tenant::All => vec![tenant.clone()],
            Tenant::Organization(_) => vec![Tenant::Global, tenant.clone()],
        };
        let mut all = self.push("SELECT id FROM (");
        for (number, reached) in tenants.iter().enumerate() {
            let union = if number == 0 { "" } else { " UNION ALL " };
            all = all.push(union).push("SELECT id, at FROM (SELECT id, at FROM ").push(table).push(" WHERE ");
            all = match reached {
                Tenant::Organization(own) => all.push("organization = ").bind(own.as_str()),
                Tenant::Global | Tenant::All => all.push_scope(reached, "organization"),
            };
            all = all.push(" ORDER BY at DESC LIMIT ").bind(most).push(&format!(") AS reached{number}"));
        }
        all.push(") AS newest ORDER BY at DESC LIMIT ").bind(most)
    }

    /// Has the database plan the statement anew for each value, because the best plan depends on the
    /// value.
    #[must_use]
    pub fn plan_each_time(self) -> Statement {
        Statement { is_persistent: false, ..self }
    }

    /// Returns the SQL text with numbered placeholders.
    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn values(&self) -> &[SqlValue] {
        &self.values
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_is_bound_to_what_a_tenant_reaches() {
        for (tenant, text, values) in [
            (Tenant::Global, "SELECT 1 FROM t WHERE o = '' AND a = $1", 1),
            (Tenant::Organization("x".to_owned()), "SELECT 1 FROM t WHERE o IN ('', $1) AND a = $2", 2),
            (Tenant::All, "SELECT 1 FROM t WHERE 1 = 1 AND a = $1", 1),
        ] {
            let statement =
                UnboundStatement::new("SELECT 1 FROM t").in_scope(&tenant, "o").push(" AND a = ").bind("x");
            assert_eq!((statement.text(), statement.values().len()), (text, values));
        }
    }
}
