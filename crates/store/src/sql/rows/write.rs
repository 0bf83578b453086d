//! Writes an edit in one transaction: its rows by compare-and-swap, their texts, and its journal entry.
//!
//! Invariant: every changed row still had the text that was read, or nothing is changed. The edits of
//! one row have ascending times, even if the servers' clocks disagree.

use super::super::columns::{count, kind_columns};
use super::super::pack;
use super::connection::EntityTransaction;
use super::database::EntityDatabase;
use super::prepare::{NewContent, PreparedRow, now, random_number};
use super::statement::{OWNER_BY_NUMBER, Statement, UnboundStatement};
use super::{EntityStoreError, lines};
use crate::history::{EditId, EditMeta, EntryKind};
use crate::row_location::{RowKey, RowWrite};
use crate::tenant::Tenant;
use lockgate_text::Version;

/// The owner of an edit that changed rows of several organisations. No organisation has this name.
const SEVERAL: &str = "\u{1}";

/// Makes a statement report the number of changed rows.
const RETURNING: &str = " RETURNING 1";

/// The complete data of one edit to be written.
struct RowEdit<'a> {
    tenant: &'a Tenant,
    meta: &'a EditMeta,
    id: i64,
    /// Sorted in locking order, which is the same for all writers.
    rows: Vec<PreparedRow<'a>>,
}

impl EntityDatabase {
    /// Writes and journals all rows of one edit. Returns its id, or `None` if a row no longer has the
    /// text that was read.
    pub(crate) fn publish(
        &self,
        tenant: &Tenant,
        writes: &[RowWrite<'_>],
        meta: &EditMeta,
    ) -> Result<Option<EditId>, EntityStoreError> {
        let id = random_number()?;
        let mut rows: Vec<PreparedRow<'_>> = writes.iter().enumerate().map(PreparedRow::new).collect();
        rows.sort_by_key(|row| row.key);
        if rows.iter().any(|row| !tenant.can_access(row.key.organization)) {
            return Err(EntityStoreError::Other("a row is out of scope".to_owned()));
        }
        let edit = RowEdit { tenant, meta, id, rows };
        match self.write(tenant, id, |session| edit.write(session)) {
            Ok(journal) => Ok(Some(EditId::new(journal, id.cast_unsigned()))),
            Err(EntityStoreError::Conflict) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl RowEdit<'_> {
    fn write(&self, session: &mut EntityTransaction<'_>) -> Result<(), EntityStoreError> {
        let at = self.next_time(session)?;
        let is_marked = self.has_reverted_entry(session)?;
        let mut all = Vec::new();
        let mut lookups = Vec::new();
        for row in &self.rows {
            all.extend(self.swap(row, at).map(|swap| (swap, Some(EntityStoreError::Conflict))));
            let no_text = EntityStoreError::Other("a row has no searchable text".to_owned());
            all.extend(self.update_text(row).map(|update| (update, Some(no_text))));
            let line_statements = lines::index_changes(self.tenant, row, self.id, at);
            all.extend(line_statements.into_iter().map(|lines| (lines.push(RETURNING), None)));
            if let (true, Some(before)) = (row.keeps_texts, row.before) {
                lookups.push((all.len(), row.key, before));
                all.push((self.select_text(row.key, before.version), None));
            }
            if let Some(NewContent { version, packed: Some(packed), .. }) = &row.after {
                all.push((self.keep_text(row.key, *version, packed, at), None));
            }
            all.push((self.change(row, at), None));
        }
        all.push((self.edit(at), None));
        let mark = self.mark(at).filter(|_| is_marked);
        all.extend(mark.map(|update| (update, Some(EntityStoreError::Conflict))));
        let counts = session.execute_all(all)?;
        // An earlier edit wrote the other versions, so their texts are kept already.
        let missing = lookups.into_iter().filter(|(number, ..)| counts.get(*number) == Some(&0));
        let texts: Vec<Statement> = missing
            .map(|(_, key, before)| self.keep_text(key, before.version, &pack::whole(before.bytes), at))
            .collect();
        session.execute(&texts).map(drop)
    }

    /// Returns a time after every edit of these rows.
    fn next_time(&self, session: &mut EntityTransaction<'_>) -> Result<i64, EntityStoreError> {
        let known = self.rows.iter().filter_map(|row| Some(row.before?.changed));
        let mut at = known.fold(now(), |at, changed| at.max(changed.saturating_add(1)));
        // An earlier row with the key of a new one may have been removed.
        let new = self.rows.iter().filter(|row| row.before.is_none());
        let last = |row: &PreparedRow<'_>| {
            UnboundStatement::new("SELECT max(at) FROM changes").of_row(self.tenant, row.key)
        };
        for last in session.execute(&new.map(last).collect::<Vec<_>>())?.iter().flatten() {
            at = at.max(last.get::<Option<i64>>(0)?.map_or(0, |last| last.saturating_add(1)));
        }
        Ok(at)
    }

    /// Replaces the text that was read with the new one.
    fn swap(&self, row: &PreparedRow<'_>, at: i64) -> Option<Statement> {
        let as_read = |draft: UnboundStatement, version: Version| {
            draft.of_row(self.tenant, row.key).push(" AND stamp = ").bind(version)
        };
        let swap = match (row.before, &row.after) {
            (Some(before), Some(NewContent { version, size, encoding, .. })) => {
                let entity = UnboundStatement::new("UPDATE entities SET stamp = ").bind(*version);
                let entity =
                    entity.push(", size = ").bind(*size).push(", encoding = ").bind(encoding.as_str());
                let entity = entity.push(", author = ").bind(self.meta.author.as_str());
                let entity = entity.push(", revision = revision + 1, changed = ").bind(at);
                as_read(entity, before.version).push(" AND changed < ").bind(at)
            }
            (None, Some(NewContent { version, size, encoding, .. })) => {
                let entity = UnboundStatement::new(
                    "INSERT INTO entities(kind, organization, app, path, stamp, size, encoding, author, \
                     revision, created, changed) VALUES (",
                );
                let entity = entity.key(row.key).bind_next(*version).bind_next(*size);
                let entity = entity.bind_next(encoding.as_str()).bind_next(self.meta.author.as_str());
                entity
                    .push(", 1")
                    .bind_next(at)
                    .bind_next(at)
                    .push(") ON CONFLICT DO NOTHING")
                    .without_scope()
            }
            (Some(before), None) => as_read(UnboundStatement::new("DELETE FROM entities"), before.version),
            (None, None) => return None,
        };
        Some(swap.push(RETURNING))
    }

    /// Updates the searchable text of the swapped row.
    fn update_text(&self, row: &PreparedRow<'_>) -> Option<Statement> {
        let bound = |draft: UnboundStatement| draft.of_row(self.tenant, row.key);
        let update = match (row.before, &row.after) {
            (Some(_), Some(NewContent { text, raw, .. })) => {
                let text = UnboundStatement::new("UPDATE contents SET text = ").bind(text.as_str());
                bound(text.push(", raw = ").bind(raw.as_deref()))
            }
            (None, Some(NewContent { text, raw, .. })) => {
                let row = UnboundStatement::new(
                    "INSERT INTO contents(kind, organization, app, path, text, raw) VALUES (",
                )
                .key(row.key);
                row.bind_next(text.as_str()).bind_next(raw.as_deref()).push(")").without_scope()
            }
            (Some(_), None) => bound(UnboundStatement::new("DELETE FROM contents")),
            (None, None) => return None,
        };
        Some(update.push(RETURNING))
    }

    /// Selects the kept text of a version.
    fn select_text(&self, key: RowKey<'_>, version: Version) -> Statement {
        let text = UnboundStatement::new("SELECT 1 FROM texts").of_row(self.tenant, key);
        text.push(" AND stamp = ").bind(version)
    }

    /// Keeps a text so that the edit can be undone.
    fn keep_text(&self, key: RowKey<'_>, version: Version, packed: &[u8], at: i64) -> Statement {
        let text = UnboundStatement::new(
            "INSERT INTO texts(kind, organization, app, path, stamp, at, size, packed) VALUES (",
        );
        let text = text.key(key).bind_next(version).bind_next(at);
        let text = text.bind_next(count(packed.len())).bind_next(packed);
        // A concurrent cleanup sees that this text is needed.
        let text =
            text.push(") ON CONFLICT(kind, organization, app, path, stamp) DO UPDATE SET at = excluded.at");
        text.without_scope().push(RETURNING)
    }

    /// Returns the statement that inserts the journal entry.
    fn edit(&self, at: i64) -> Statement {
        let EditMeta { tool, author, request, gates, kind } = self.meta;
        let (kind, of) = kind_columns(*kind);
        let edit = UnboundStatement::new(
            "INSERT INTO edits(id, organization, at, tool, author, request, kind, of, gates) VALUES (",
        );
        let edit = edit.bind(self.id).bind_next(self.organization()).bind_next(at).bind_next(tool.as_str());
        let edit = edit.bind_next(author.as_str()).bind_next(*request);
        let edit = edit.bind_next(kind).bind_next(of).bind_next(gates.as_str());
        edit.push(")").without_scope().push(RETURNING)
    }

    /// Inserts the change of one row.
    fn change(&self, row: &PreparedRow<'_>, at: i64) -> Statement {
        let change = UnboundStatement::new(
            "INSERT INTO changes(edit, position, at, kind, organization, app, path, before, after, added, \
             removed, kept) VALUES (",
        );
        let change = change.bind(self.id).bind_next(row.position).bind_next(at).push(", ").key(row.key);
        let change = change.bind_next(row.before.map(|before| before.version));
        let change = change.bind_next(row.after.as_ref().map(|after| after.version));
        let change = change.bind_next(row.added).bind_next(row.removed).bind_next(i64::from(row.keeps_texts));
        change.push(")").without_scope().push(RETURNING)
    }

    /// True if the history still has the entry that this edit undoes or redoes.
    fn has_reverted_entry(&self, session: &mut EntityTransaction<'_>) -> Result<bool, EntityStoreError> {
        let (EntryKind::Undo(of) | EntryKind::Redo(of)) = self.meta.kind else { return Ok(false) };
        let entry = UnboundStatement::new("SELECT 1 FROM edits").in_scope(self.tenant, OWNER_BY_NUMBER);
        let entry = entry.push(" AND id = ").bind(of.number().cast_signed());
        Ok(session.execute(&[entry])?.iter().any(|rows| !rows.is_empty()))
    }

    /// Marks the entry that this edit undoes or redoes; an entry is marked once.
    fn mark(&self, at: i64) -> Option<Statement> {
        let (update, of, is_not_yet) = match self.meta.kind {
            EntryKind::Edit => return None,
            EntryKind::Undo(of) => {
                (UnboundStatement::new("UPDATE edits SET undone = ").bind(at), of, " AND undone IS NULL")
            }
            EntryKind::Redo(of) => {
                (UnboundStatement::new("UPDATE edits SET undone = NULL"), of, " AND undone IS NOT NULL")
            }
        };
        let update =
            update.in_scope(self.tenant, OWNER_BY_NUMBER).push(" AND id = ").bind(of.number().cast_signed());
        Some(update.push(is_not_yet).push(RETURNING))
    }

    /// The owner of the edit. Everything it changed must be in scope for a tenant who can see it.
    fn organization(&self) -> &str {
        let owned = |row: &&PreparedRow<'_>| !row.key.organization.is_empty();
        let mut owners = self.rows.iter().filter(owned).map(|row| row.key.organization);
        let Some(first) = owners.next() else { return "" };
        if owners.all(|other| other == first) { first } else { SEVERAL }
    }
}
