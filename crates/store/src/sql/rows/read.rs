//! Reads single rows and their owners.

use super::super::columns::count;
use super::database::EntityDatabase;
use super::history::of_row;
use super::statement::{Statement, UnboundStatement};
use super::value::Row;
use super::{EntityStoreError, RowRead};
use crate::history::{EditFilter, Entry};
use crate::row_location::RowKey;
use crate::tenant::Tenant;

impl EntityDatabase {
    /// Returns the row with this key if the tenant may access it. Bytes are omitted if there are more
    /// than `limit`.
    pub(crate) fn row(
        &self,
        tenant: &Tenant,
        key: RowKey<'_>,
        limit: u64,
    ) -> Result<Option<RowRead>, EntityStoreError> {
        self.read_first(tenant, row(tenant, key, limit), whole)
    }

    /// Returns the row and its last edit, both from one snapshot.
    pub(crate) fn row_and_last(
        &self,
        tenant: &Tenant,
        key: RowKey<'_>,
        limit: u64,
    ) -> Result<(Option<RowRead>, Option<Entry>), EntityStoreError> {
        let last = of_row(self.dialect(), tenant, key, EditFilter::Settled, 1);
        let found = self.read_all(tenant, &[row(tenant, key, limit), last])?;
        let [row, last] = found.as_slice() else {
            return Err(EntityStoreError::Other("a response is missing".to_owned()));
        };
        let last = self.entries_in(last)?.into_iter().next();
        Ok((row.first().map(whole).transpose()?, last))
    }

    /// True if the tenant can access a row with this key.
    pub(crate) fn has_row(&self, tenant: &Tenant, key: RowKey<'_>) -> Result<bool, EntityStoreError> {
        let row = UnboundStatement::new("SELECT 1 FROM entities").of_row(tenant, key);
        Ok(!self.read(tenant, row)?.is_empty())
    }

    /// Returns the organisation of the app with this id, if the tenant may access it; empty for a
    /// global app.
    pub(crate) fn owner_of_app(&self, tenant: &Tenant, id: &str) -> Result<Option<String>, EntityStoreError> {
        let app = UnboundStatement::new("SELECT organization FROM apps").in_scope(tenant, "organization");
        self.read_first(tenant, app.push(" AND id = ").bind(id), |app| app.get(0))
    }

    /// Returns the owner of the row with this path. The organisation's own row comes before a global
    /// one.
    pub(crate) fn owner_of_path(
        &self,
        tenant: &Tenant,
        kind: &str,
        path: &str,
    ) -> Result<Option<String>, EntityStoreError> {
        let row = UnboundStatement::new("SELECT organization FROM entities").in_scope(tenant, "organization");
        let row = of_path(row, kind, path).push(" ORDER BY organization DESC LIMIT 1");
        self.read_first(tenant, row, |row| row.get(0))
    }

    /// Returns the owners of the edits of this path in the history, that of the last edit first.
    pub(crate) fn owners_in_history(
        &self,
        tenant: &Tenant,
        kind: &str,
        path: &str,
    ) -> Result<Vec<String>, EntityStoreError> {
        let owners =
            UnboundStatement::new("SELECT organization FROM changes").in_scope(tenant, "organization");
        let owners = of_path(owners, kind, path)
            .push(" GROUP BY organization ORDER BY MAX(at) DESC, organization DESC");
        self.read(tenant, owners)?.iter().map(|row| row.get(0)).collect()
    }
}

/// Narrows a statement to the entities of this path that belong to no app.
fn of_path(statement: Statement, kind: &str, path: &str) -> Statement {
    statement.push(" AND kind = ").bind(kind).push(" AND app = '' AND path = ").bind(path)
}

/// Selects the row with this key, with its text if that has at most `limit` bytes.
fn row(tenant: &Tenant, key: RowKey<'_>, limit: u64) -> Statement {
    let limit = count(limit);
    let row = UnboundStatement::new("SELECT e.stamp, e.changed, e.size, CASE WHEN e.size <= ")
        .bind(limit)
        .push(" THEN c.text END, CASE WHEN e.size <= ")
        .bind(limit)
        .push(
            " THEN c.raw END FROM entities e JOIN contents c ON c.kind = e.kind
              AND c.organization = e.organization AND c.app = e.app AND c.path = e.path",
        );
    row.in_scope(tenant, "e.organization").row("e.", key)
}

fn whole(row: &Row) -> Result<RowRead, EntityStoreError> {
    let size = u64::try_from(row.get::<i64>(2)?).unwrap_or(u64::MAX);
    Ok(RowRead { bytes: row.content(3, 4)?, size, version: row.get(0)?, changed: row.get(1)? })
}
