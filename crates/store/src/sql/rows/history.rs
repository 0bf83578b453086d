//! Queries the edits of rows and the texts that they left.
//!
//! Invariant: each edit is read by one statement, so it is complete. An edit that changed a row out of
//! scope is not found.

use super::super::{columns, pack};
use super::EntityStoreError;
use super::database::EntityDatabase;
use super::dialect::SqlDialect;
use super::statement::{OWNER_BY_NUMBER_E, OWNER_BY_NUMBER_E2, Statement, UnboundStatement};
use super::value::Row;
use crate::history::{EditFilter, EditId, EditMeta, Entry, EntryKind, FileChange};
use crate::row_location::RowKey;
use crate::tenant::Tenant;
use lockgate_text::Version;
use std::time::{Duration, UNIX_EPOCH};

const ENTRIES: &str = "SELECT e.id, e.at, e.tool, e.author, e.request, e.kind, e.of, e.gates, e.undone,
    c.kind, c.organization, c.app, c.path, c.before, c.after, c.added, c.removed, c.kept
    FROM edits e JOIN changes c ON c.edit = e.id";
const ORDER: &str = " ORDER BY e.at DESC, e.id, c.position";

impl EntityDatabase {
    /// Returns the edit with this id.
    pub(crate) fn entry(&self, tenant: &Tenant, id: EditId) -> Result<Option<Entry>, EntityStoreError> {
        if self.connected()?.journal() != id.journal() {
            return Ok(None);
        }
        let id = id.number().cast_signed();
        let one = entries(tenant).push(" AND e.id = ").bind(id).push(ORDER);
        Ok(self.found(tenant, one)?.into_iter().next())
    }

    /// Returns the newest undo or redo of the edit with this id.
    pub(crate) fn last_reversal(
        &self,
        tenant: &Tenant,
        id: EditId,
    ) -> Result<Option<Entry>, EntityStoreError> {
        if self.connected()?.journal() != id.journal() {
            return Ok(None);
        }
        let all = entries(tenant).push(" AND e.of = ").bind(id.number().cast_signed()).push(ORDER);
        Ok(self.found(tenant, all)?.into_iter().find(|entry| entry.meta.kind != EntryKind::Edit))
    }

    /// Returns the edits of one row, or all edits, newest first.
    pub(crate) fn entries(
        &self,
        tenant: &Tenant,
        of: Option<RowKey<'_>>,
        most: usize,
    ) -> Result<Vec<Entry>, EntityStoreError> {
        let most = columns::count(most);
        let newest = match of {
            None => {
                let newest = |ids: Statement| ids.newest("edits", tenant, most);
                entries(tenant).found_first("e.id", self.dialect(), newest).push(ORDER)
            }
            Some(key) => of_row(self.dialect(), tenant, key, EditFilter::Settled, most),
        };
        self.found(tenant, newest)
    }

    /// Returns the first edit of a row that passes the filter.
    pub(crate) fn newest(
        &self,
        tenant: &Tenant,
        key: RowKey<'_>,
        filter: EditFilter,
    ) -> Result<Option<Entry>, EntityStoreError> {
        Ok(self.found(tenant, of_row(self.dialect(), tenant, key, filter, 1))?.into_iter().next())
    }

    fn found(&self, tenant: &Tenant, statement: Statement) -> Result<Vec<Entry>, EntityStoreError> {
        self.entries_in(&self.read(tenant, statement)?)
    }

    /// Builds the edits from their rows.
    pub(super) fn entries_in(&self, rows: &[Row]) -> Result<Vec<Entry>, EntityStoreError> {
        let journal = self.connected()?.journal();
        let mut entries: Vec<Entry> = Vec::new();
        for row in rows {
            let id = EditId::new(journal, row.get::<i64>(0)?.cast_unsigned());
            let changed = changed(row)?;
            match entries.last_mut().filter(|entry| entry.id == id) {
                Some(entry) => entry.changes.push(changed),
                None => entries.push(entry(row, id, changed)?),
            }
        }
        Ok(entries)
    }

    /// Returns the text of a version of a row. A prefix of at least twelve digits is enough if only one
    /// version has it.
    pub(crate) fn text(
        &self,
        tenant: &Tenant,
        key: RowKey<'_>,
        version: &str,
    ) -> Result<Option<Vec<u8>>, EntityStoreError> {
        let Some((lowest, highest)) = columns::version_range(version) else { return Ok(None) };
        let texts = UnboundStatement::new("SELECT stamp, packed FROM texts").of_row(tenant, key);
        let texts = texts.push(" AND stamp BETWEEN ").bind(lowest.as_slice());
        let found = self.read(tenant, texts.push(" AND ").bind(highest.as_slice()).push(" LIMIT 2"))?;
        let [only] = found.as_slice() else { return Ok(None) };
        let (recorded, packed): (Option<Version>, &[u8]) = (only.get(0)?, only.get(1)?);
        let mut text = Vec::new();
        let unpacked = pack::unpack(&mut text, packed);
        Ok(unpacked.filter(|()| Some(Version::hash(&text)) == recorded).map(|()| text))
    }
}

/// Selects edits. The caller adds conditions and ends the statement with [`ORDER`].
fn entries(tenant: &Tenant) -> Statement {
    UnboundStatement::new(ENTRIES).in_scope(tenant, OWNER_BY_NUMBER_E)
}

/// Selects the first edits of a row that pass the filter, at most `most`.
pub(super) fn of_row(
    dialect: SqlDialect,
    tenant: &Tenant,
    key: RowKey<'_>,
    filter: EditFilter,
    most: i64,
) -> Statement {
    let some = |ids: Statement| {
        let ids = ids.push("SELECT e2.id FROM changes c2 JOIN edits e2 ON e2.id = c2.edit WHERE ");
        let ids = ids.push_scope(tenant, OWNER_BY_NUMBER_E2).row("c2.", key);
        let ids = ids.push(match filter {
            EditFilter::Settled => " ORDER BY c2.at DESC",
            EditFilter::ToUndo => " AND e2.kind = 0 AND e2.undone IS NULL ORDER BY c2.at DESC",
            EditFilter::ToRedo => " AND e2.undone IS NOT NULL ORDER BY e2.undone DESC",
        });
        ids.push(" LIMIT ").bind(most)
    };
    entries(tenant).found_first("e.id", dialect, some).push(ORDER)
}

fn entry(row: &Row, id: EditId, changed: FileChange) -> Result<Entry, EntityStoreError> {
    Ok(Entry {
        id,
        at: UNIX_EPOCH + Duration::from_micros(u64::try_from(row.get::<i64>(1)?).unwrap_or(0)),
        meta: EditMeta {
            tool: row.get(2)?,
            author: row.get(3)?,
            request: row.get(4)?,
            kind: columns::to_kind((row.get(5)?, row.get(6)?), id.journal()),
            gates: row.get(7)?,
        },
        undone: row.get::<Option<i64>>(8)?.is_some(),
        changes: vec![changed],
    })
}

fn changed(row: &Row) -> Result<FileChange, EntityStoreError> {
    let key = RowKey { kind: row.get(9)?, organization: row.get(10)?, app: row.get(11)?, path: row.get(12)? };
    let entity =
        key.entity().ok_or_else(|| EntityStoreError::Other("an entity has an unknown type".to_owned()))?;
    Ok(FileChange {
        path: entity.path.clone(),
        entity: Some(entity),
        before: row.get(13)?,
        after: row.get(14)?,
        added: columns::to_count(row.get(15)?),
        removed: columns::to_count(row.get(16)?),
        mode: None,
        folders: 0,
        kept: row.get(17)?,
    })
}
