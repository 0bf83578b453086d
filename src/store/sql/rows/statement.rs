//! A statement, with the one clause that binds it to a tenant's reach.
//!
//! Invariant: a statement about rows is made by [`Draft::within`] only, so none is without its clause.

use super::RowKey;
use crate::store::rows::Tenant;
use sqlx::any::{Any, AnyArguments};
use sqlx::{Arguments, Encode, Type};
use std::fmt::Write;

/// A statement whose rows are not bound yet.
#[derive(Default)]
pub(super) struct Draft {
    text: String,
    arguments: AnyArguments,
}

/// A statement that sees and changes rows within a tenant's reach.
pub(super) struct Statement {
    draft: Draft,
    /// Whether the database is to remember how it is carried out.
    pub is_kept: bool,
}

impl Draft {
    /// Begins a statement.
    pub fn new(text: &str) -> Draft {
        Draft { text: text.to_owned(), ..Draft::default() }
    }

    /// Goes on.
    #[must_use]
    pub fn push(mut self, text: &str) -> Draft {
        self.text.push_str(text);
        self
    }

    /// Goes on with a value.
    #[must_use]
    pub fn bind<'v, T: Encode<'v, Any> + Type<Any>>(mut self, value: T) -> Draft {
        // There is no value that this driver does not take.
        let _ = self.arguments.add(value);
        let _ = write!(self.text, "${}", self.arguments.len());
        self
    }

    /// Goes on with the four values of a key, between commas.
    #[must_use]
    pub fn key(self, RowKey { kind, organization, app, path }: RowKey<'_>) -> Draft {
        self.bind(kind).push(", ").bind(organization).push(", ").bind(app).push(", ").bind(path)
    }

    /// Binds the statement to what a tenant reaches: `column` is where its table says whose a row is.
    #[must_use]
    pub fn within(self, tenant: &Tenant, column: &str) -> Statement {
        Statement { draft: self.push(" WHERE ").reaching(tenant, column), is_kept: true }
    }

    /// The condition that binds a statement. This is the one place where it is said what a tenant reaches.
    fn reaching(self, tenant: &Tenant, column: &str) -> Draft {
        match tenant {
            // For a person's own commands; row-level security is told the same.
            Tenant::Everybody => self.push("1 = 1"),
            Tenant::Nobody => self.push(column).push(" = ''"),
            Tenant::Organization(name) => self.push(column).push(" IN ('', ").bind(name.as_str()).push(")"),
        }
    }

    /// A statement about the database itself, or about one row that is new.
    #[must_use]
    pub fn unbound(self) -> Statement {
        Statement { draft: self, is_kept: true }
    }
}

impl Statement {
    /// Goes on.
    #[must_use]
    pub fn push(self, text: &str) -> Statement {
        Statement { draft: self.draft.push(text), ..self }
    }

    /// Goes on with a value.
    #[must_use]
    pub fn bind<'v, T: Encode<'v, Any> + Type<Any>>(self, value: T) -> Statement {
        Statement { draft: self.draft.bind(value), ..self }
    }

    /// Narrows it to one row; `of` is the table's name with a dot, or nothing.
    #[must_use]
    pub fn row(self, of: &str, key: RowKey<'_>) -> Statement {
        let RowKey { kind, organization, app, path } = key;
        let part = |statement: Statement, name: &str, value: &str| {
            statement.push(" AND ").push(of).push(name).push(" = ").bind(value)
        };
        let parts = [("kind", kind), ("organization", organization), ("app", app), ("path", path)];
        parts.into_iter().fold(self, |statement, (name, value)| part(statement, name, value))
    }

    /// Goes on with the four values of a key, between commas.
    #[must_use]
    pub fn key(self, key: RowKey<'_>) -> Statement {
        Statement { draft: self.draft.key(key), ..self }
    }

    /// Goes on with a condition that binds another table of the statement, too.
    #[must_use]
    pub fn reaching(self, tenant: &Tenant, column: &str) -> Statement {
        Statement { draft: self.draft.reaching(tenant, column), ..self }
    }

    /// Narrows it to the newest rows of a table with the columns `id`, `organization` and `at`: those of each organisation
    /// are found by themselves, so that it takes no time how much others did.
    #[must_use]
    pub fn among_newest(self, column: &str, table: &str, tenant: &Tenant, most: i64) -> Statement {
        let tenants = match tenant {
            Tenant::Nobody | Tenant::Everybody => vec![tenant.clone()],
            Tenant::Organization(_) => vec![Tenant::Nobody, tenant.clone()],
        };
        let mut all = self.push(" AND ").push(column).push(" IN (SELECT id FROM (");
        for (number, reached) in tenants.iter().enumerate() {
            let union = if number == 0 { "" } else { " UNION ALL " };
            all = all.push(union).push("SELECT id, at FROM (SELECT id, at FROM ").push(table).push(" WHERE ");
            all = match reached {
                Tenant::Organization(own) => all.push("organization = ").bind(own.as_str()),
                Tenant::Nobody | Tenant::Everybody => all.reaching(reached, "organization"),
            };
            all = all.push(&format!(" ORDER BY at DESC LIMIT {most}) AS reached{number}"));
        }
        all.push(&format!(") AS newest ORDER BY at DESC LIMIT {most})"))
    }

    /// Has the database think about it anew, for a value on which it depends how it is best carried out.
    #[must_use]
    pub fn thought_over(self) -> Statement {
        Statement { is_kept: false, ..self }
    }

    /// Its text and its values.
    pub fn parts(self) -> (String, AnyArguments) {
        (self.draft.text, self.draft.arguments)
    }
}
