//! SQL statements, and the one clause that restricts them to a tenant's scope.
//!
//! Invariant: only [`UnboundStatement::in_scope`] makes a statement about rows, so every such statement
//! has the clause.

use super::connection::SqlDialect;
use super::value::SqlValue;
use crate::row_location::RowKey;
use crate::tenant::Tenant;
use sqlx::Arguments;
use sqlx::any::AnyArguments;
use std::fmt::Write;

/// The owner of an edit that is selected by its number. No index covers this expression, so a plan made
/// for empty tables stays good for large ones.
pub(super) const OWNER_BY_NUMBER: &str = "(organization || '')";
/// The same expression for the aliases `e` and `e2`.
pub(super) const OWNER_BY_NUMBER_E: &str = "(e.organization || '')";
pub(super) const OWNER_BY_NUMBER_E2: &str = "(e2.organization || '')";

/// A statement that is not yet restricted to a tenant's scope.
#[derive(Debug, Clone, Default)]
pub(super) struct UnboundStatement {
    /// A value follows each piece except the last.
    pieces: Vec<String>,
    last: String,
    values: Vec<SqlValue>,
}

/// A statement that reads and changes rows within a tenant's scope.
#[derive(Debug, Clone)]
pub(super) struct Statement {
    inner: UnboundStatement,
    /// Set when the database is to keep the prepared statement.
    pub is_persistent: bool,
}

impl UnboundStatement {
    pub fn new(text: &str) -> UnboundStatement {
        UnboundStatement { last: text.to_owned(), ..UnboundStatement::default() }
    }

    /// Appends SQL text, which must not contain data.
    #[must_use]
    pub fn push(mut self, text: &str) -> UnboundStatement {
        self.last.push_str(text);
        self
    }

    /// Appends a placeholder for a value.
    #[must_use]
    pub fn bind(mut self, value: impl Into<SqlValue>) -> UnboundStatement {
        self.pieces.push(std::mem::take(&mut self.last));
        self.values.push(value.into());
        self
    }

    /// Appends the four values of a key, separated by commas.
    #[must_use]
    pub fn key(self, RowKey { kind, organization, app, path }: RowKey<'_>) -> UnboundStatement {
        self.bind(kind).push(", ").bind(organization).push(", ").bind(app).push(", ").bind(path)
    }

    fn append(mut self, other: UnboundStatement) -> UnboundStatement {
        for (piece, value) in other.pieces.into_iter().zip(other.values) {
            self = self.push(&piece).bind(value);
        }
        self.push(&other.last)
    }

    /// Restricts the statement to a tenant's scope. `column` is the column that holds a row's owner.
    #[must_use]
    pub fn in_scope(self, tenant: &Tenant, column: &str) -> Statement {
        self.push(" WHERE ").push_scope(tenant, column).unbound()
    }

    /// Appends the condition that restricts a statement. This is the only definition of a tenant's
    /// scope.
    fn push_scope(self, tenant: &Tenant, column: &str) -> UnboundStatement {
        match tenant {
            // For administrative commands; row-level security gets the same setting.
            Tenant::All => self.push("1 = 1"),
            Tenant::Global => self.push(column).push(" = ''"),
            Tenant::Organization(name) => self.push(column).push(" IN ('', ").bind(name.as_str()).push(")"),
        }
    }

    /// A statement about the database itself, or about a new row.
    #[must_use]
    pub fn unbound(self) -> Statement {
        Statement { inner: self, is_persistent: true }
    }
}

impl Statement {
    #[must_use]
    pub fn push(self, text: &str) -> Statement {
        Statement { inner: self.inner.push(text), ..self }
    }

    #[must_use]
    pub fn bind(self, value: impl Into<SqlValue>) -> Statement {
        Statement { inner: self.inner.bind(value), ..self }
    }

    /// Restricts the statement to one row. `of` is the table's name followed by a dot, or empty.
    #[must_use]
    pub fn row(self, of: &str, key: RowKey<'_>) -> Statement {
        let RowKey { kind, organization, app, path } = key;
        let part = |statement: Statement, name: &str, value: &str| {
            statement.push(" AND ").push(of).push(name).push(" = ").bind(value)
        };
        let parts = [("kind", kind), ("organization", organization), ("app", app), ("path", path)];
        parts.into_iter().fold(self, |statement, (name, value)| part(statement, name, value))
    }

    /// Appends the four values of a key, separated by commas.
    #[must_use]
    pub fn key(self, key: RowKey<'_>) -> Statement {
        Statement { inner: self.inner.key(key), ..self }
    }

    /// Appends a condition that restricts another table of the statement as well.
    #[must_use]
    pub fn push_scope(self, tenant: &Tenant, column: &str) -> Statement {
        Statement { inner: self.inner.push_scope(tenant, column), ..self }
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
            all = all.push(&format!(" ORDER BY at DESC LIMIT {most}) AS reached{number}"));
        }
        all.push(&format!(") AS newest ORDER BY at DESC LIMIT {most}"))
    }

    /// Has the database plan the statement anew for each value, because the best plan depends on the
    /// value.
    #[must_use]
    pub fn plan_each_time(self) -> Statement {
        Statement { is_persistent: false, ..self }
    }

    /// Combines several statements into one PostgreSQL statement that returns how many rows each found
    /// or changed. Each must return a row for each row that it found or changed.
    pub fn combine(statements: Vec<Statement>) -> Statement {
        let (mut all, mut counts) = (UnboundStatement::new("WITH "), String::new());
        for (number, statement) in statements.into_iter().enumerate() {
            let comma = if number == 0 { "" } else { ", " };
            all = all.push(&format!("{comma}s{number} AS (")).append(statement.inner).push(")");
            let _ = write!(counts, "{comma}(SELECT count(*) FROM s{number})");
        }
        all.push(" SELECT ").push(&counts).unbound()
    }

    /// Returns the SQL text with numbered placeholders.
    pub fn text(&self) -> String {
        self.written(|number, _, text| write!(text, "${}", number + 1))
    }

    /// Returns the SQL text with its values as literals.
    pub fn with_literals(&self) -> String {
        self.written(|_, value, text| text.write_str(&value.literal()))
    }

    fn written(&self, put: impl Fn(usize, &SqlValue, &mut String) -> std::fmt::Result) -> String {
        let UnboundStatement { pieces, last, values } = &self.inner;
        let mut text = String::new();
        for (number, (piece, value)) in pieces.iter().zip(values).enumerate() {
            text.push_str(piece);
            // Writing to a string cannot fail.
            let _ = put(number, value, &mut text);
        }
        text + last
    }

    pub fn values(&self) -> &[SqlValue] {
        &self.inner.values
    }

    /// Returns the SQL text and the values for the driver.
    pub fn parts(self) -> (String, AnyArguments) {
        let text = self.text();
        let mut arguments = AnyArguments::default();
        arguments.reserve(self.inner.values.len(), 0);
        for value in self.inner.values {
            // The driver accepts every value.
            let _ = match value {
                SqlValue::Number(number) => arguments.add(number),
                SqlValue::Text(text) => arguments.add(text),
                SqlValue::Bytes(bytes) => arguments.add(bytes),
            };
        }
        (text, arguments)
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
            let parts = UnboundStatement::new("SELECT 1 FROM t")
                .in_scope(&tenant, "o")
                .push(" AND a = ")
                .bind("x")
                .parts();
            assert_eq!((parts.0.as_str(), parts.1.len()), (text, values));
        }
    }

    #[test]
    fn the_values_of_several_statements_are_counted_together() {
        let one = |value: i64| UnboundStatement::new("SELECT ").bind(value).push(", ").bind("a").unbound();
        let (text, values) = Statement::combine(vec![one(1), one(2)]).parts();
        assert_eq!(
            text,
            "WITH s0 AS (SELECT $1, $2), s1 AS (SELECT $3, $4) SELECT (SELECT count(*) FROM s0), (SELECT count(*) FROM s1)"
        );
        assert_eq!(values.len(), 4);
    }
}
