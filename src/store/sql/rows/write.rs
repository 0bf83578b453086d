//! Writing an edit: its rows by compare-and-swap, their texts, and its entry in the journal, in one transaction.
//!
//! Invariant: each row that is changed was just what had been read, or nothing is changed; the edits of one row have times
//! that grow, whatever the clocks of the servers say.

use super::depot::Depot;
use super::prepare::{After, Prepared, now, number};
use super::session::{Session, get};
use super::statement::Draft;
use super::{Failure, RowKey};
use crate::store::journal::{Deed, EditId, Kind};
use crate::store::rows::{RowWrite, Tenant};
use crate::text::Stamp;

/// Whose an edit is that changed rows of several organisations: of nobody who is one. No organisation has this name.
const SEVERAL: &str = "\u{1}";

/// The kinds of an edit, as its row has them.
pub(super) const EDIT: i64 = 0;
pub(super) const UNDO: i64 = 1;
pub(super) const REDO: i64 = 2;

/// All that is to be written of one edit.
struct Edit<'a> {
    tenant: &'a Tenant,
    deed: &'a Deed,
    id: i64,
    /// In the order in which they are locked, which is the same for all who write.
    rows: Vec<Prepared<'a>>,
}

impl Depot {
    /// Writes all rows of one edit and remembers it; gives back its name, or nothing where a row is no longer what was read.
    pub(in crate::store) fn publish(
        &self,
        tenant: &Tenant,
        writes: &[RowWrite<'_>],
        deed: &Deed,
    ) -> Result<Option<EditId>, Failure> {
        let live = self.live()?;
        let id = number()?;
        let mut rows: Vec<Prepared<'_>> = writes.iter().enumerate().map(Prepared::of).collect();
        rows.sort_by_key(|row| row.key);
        if rows.iter().any(|row| !tenant.reaches(row.key.organization)) {
            return Err(Failure::Other("a row is out of reach".to_owned()));
        }
        let edit = Edit { tenant, deed, id, rows };
        match live.write(tenant, id, async |session| edit.write(session).await) {
            Ok(()) => Ok(Some(EditId::new(live.journal(), id.cast_unsigned()))),
            Err(Failure::Overtaken) => Ok(None),
            Err(failure) => Err(failure),
        }
    }
}

impl Edit<'_> {
    async fn write(&self, session: &mut Session<'_>) -> Result<(), Failure> {
        let at = self.time(session).await?;
        for row in &self.rows {
            self.swap(session, row, at).await?;
            if row.keep {
                self.keep(session, row, at).await?;
            }
        }
        self.remember(session, at).await
    }

    /// A time later than that of every edit of these rows.
    async fn time(&self, session: &mut Session<'_>) -> Result<i64, Failure> {
        let mut at = now();
        for row in &self.rows {
            let last = match row.before {
                Some(before) => Some(before.changed),
                // There may have been one, which was removed.
                None => {
                    let last = Draft::new("SELECT max(at) FROM changes").within(self.tenant, "organization");
                    let found = session.first(last.row("", row.key)).await?;
                    found.map_or(Ok(None), |found| get(&found, 0))?
                }
            };
            at = at.max(last.map_or(0, |last| last.saturating_add(1)));
        }
        Ok(at)
    }

    /// Puts the new text in the place of the one that was read.
    async fn swap(&self, session: &mut Session<'_>, row: &Prepared<'_>, at: i64) -> Result<(), Failure> {
        let swapped = match (row.before, &row.after) {
            (Some(before), Some(after)) => {
                let entity = Draft::new("UPDATE entities SET stamp = ")
                    .bind(after.stamp.bytes().as_slice())
                    .push(", size = ")
                    .bind(after.size)
                    .push(", encoding = ")
                    .bind(after.encoding.as_str())
                    .push(", author = ")
                    .bind(self.deed.author.as_str())
                    .push(", revision = revision + 1, changed = ")
                    .bind(at);
                let entity = self.as_read(entity, row.key, before.stamp).push(" AND changed < ").bind(at);
                session.change(entity).await?
            }
            (None, Some(after)) => session.change(self.new_entity(row.key, after, at)).await?,
            (Some(before), None) => {
                session
                    .change(self.as_read(Draft::new("DELETE FROM entities"), row.key, before.stamp))
                    .await?
            }
            (None, None) => 1,
        };
        if swapped != 1 {
            return Err(Failure::Overtaken);
        }
        self.show(session, row).await
    }

    /// Bound to the row as it was read.
    fn as_read(&self, draft: Draft, key: RowKey<'_>, stamp: Stamp) -> super::statement::Statement {
        let bound = draft.within(self.tenant, "organization").row("", key);
        bound.push(" AND stamp = ").bind(stamp.bytes().as_slice())
    }

    fn new_entity(&self, key: RowKey<'_>, after: &After, at: i64) -> super::statement::Statement {
        Draft::new(
            "INSERT INTO entities(kind, organization, app, path, stamp, size, encoding, author, revision, created, changed)
             VALUES (",
        )
        .key(key)
        .push(", ")
        .bind(after.stamp.bytes().as_slice())
        .push(", ")
        .bind(after.size)
        .push(", ")
        .bind(after.encoding.as_str())
        .push(", ")
        .bind(self.deed.author.as_str())
        .push(", 1, ")
        .bind(at)
        .push(", ")
        .bind(at)
        .push(") ON CONFLICT DO NOTHING")
        .unbound()
    }

    /// Has the text follow the row that was swapped.
    async fn show(&self, session: &mut Session<'_>, row: &Prepared<'_>) -> Result<(), Failure> {
        let text = match (row.before, &row.after) {
            (Some(_), Some(after)) => Draft::new("UPDATE contents SET text = ")
                .bind(after.text.as_str())
                .push(", raw = ")
                .bind(after.raw.as_deref())
                .within(self.tenant, "organization")
                .row("", row.key),
            (None, Some(after)) => {
                Draft::new("INSERT INTO contents(kind, organization, app, path, text, raw) VALUES (")
                    .key(row.key)
                    .push(", ")
                    .bind(after.text.as_str())
                    .push(", ")
                    .bind(after.raw.as_deref())
                    .push(")")
                    .unbound()
            }
            (Some(_), None) => {
                Draft::new("DELETE FROM contents").within(self.tenant, "organization").row("", row.key)
            }
            (None, None) => return Ok(()),
        };
        match session.change(text).await? {
            1 => Ok(()),
            _ => Err(Failure::Other("a row has no text of its own".to_owned())),
        }
    }

    /// Keeps both texts, so that the change can be taken back. The one before is there already, where an edit made it.
    async fn keep(&self, session: &mut Session<'_>, row: &Prepared<'_>, at: i64) -> Result<(), Failure> {
        if let Some(before) = row.before {
            let there = Draft::new("SELECT 1 FROM texts").within(self.tenant, "organization");
            let there = there.row("", row.key).push(" AND stamp = ").bind(before.stamp.bytes().as_slice());
            if session.first(there).await?.is_none() {
                let packed = super::super::pack::whole(before.bytes);
                self.put(session, row.key, before.stamp, &packed, at).await?;
            }
        }
        match &row.after {
            Some(After { stamp, packed: Some(packed), .. }) => {
                self.put(session, row.key, *stamp, packed, at).await
            }
            Some(_) | None => Ok(()),
        }
    }

    async fn put(
        &self,
        session: &mut Session<'_>,
        key: RowKey<'_>,
        stamp: Stamp,
        packed: &[u8],
        at: i64,
    ) -> Result<(), Failure> {
        let text =
            Draft::new("INSERT INTO texts(kind, organization, app, path, stamp, at, size, packed) VALUES (")
                .key(key)
                .push(", ")
                .bind(stamp.bytes().as_slice())
                .push(", ")
                .bind(at)
                .push(", ")
                .bind(i64::try_from(packed.len()).unwrap_or(i64::MAX))
                .push(", ")
                .bind(packed)
                .push(") ON CONFLICT DO NOTHING");
        session.change(text.unbound()).await.map(drop)
    }

    /// Writes the entry down; what it takes back or makes again is marked so, once.
    async fn remember(&self, session: &mut Session<'_>, at: i64) -> Result<(), Failure> {
        let (kind, of) = match self.deed.kind {
            Kind::Edit => (EDIT, 0),
            Kind::Undo(of) => (UNDO, of.number().cast_signed()),
            Kind::Redo(of) => (REDO, of.number().cast_signed()),
        };
        let Deed { tool, author, request, gates, kind: _ } = self.deed;
        let edit = Draft::new(
            "INSERT INTO edits(id, organization, at, tool, author, request, kind, of, gates) VALUES (",
        );
        let edit = edit.bind(self.id).push(", ").bind(self.organization()).push(", ").bind(at).push(", ");
        let edit = edit.bind(tool.as_str()).push(", ").bind(author.as_str()).push(", ");
        let edit = edit.bind(request.bytes().as_slice()).push(", ").bind(kind).push(", ").bind(of);
        session.change(edit.push(", ").bind(gates.as_str()).push(")").unbound()).await?;
        for row in &self.rows {
            session.change(self.change(row, at)).await?;
        }
        let mark = match self.deed.kind {
            Kind::Edit => return Ok(()),
            Kind::Undo(_) => Draft::new("UPDATE edits SET undone = ").bind(at),
            Kind::Redo(_) => Draft::new("UPDATE edits SET undone = NULL"),
        };
        let is_not_yet = if kind == UNDO { " AND undone IS NULL" } else { " AND undone IS NOT NULL" };
        let mark = mark.within(self.tenant, "organization").push(" AND id = ").bind(of).push(is_not_yet);
        if session.change(mark).await? == 1 { Ok(()) } else { Err(Failure::Overtaken) }
    }

    fn change(&self, row: &Prepared<'_>, at: i64) -> super::statement::Statement {
        let stamp = |stamp: Option<Stamp>| stamp.map(|stamp| stamp.bytes().to_vec());
        Draft::new(
            "INSERT INTO changes(edit, position, at, kind, organization, app, path, before, after, added, removed, kept)
             VALUES (",
        )
        .bind(self.id)
        .push(", ")
        .bind(row.position)
        .push(", ")
        .bind(at)
        .push(", ")
        .key(row.key)
        .push(", ")
        .bind(stamp(row.before.map(|before| before.stamp)))
        .push(", ")
        .bind(stamp(row.after.as_ref().map(|after| after.stamp)))
        .push(", ")
        .bind(row.added)
        .push(", ")
        .bind(row.removed)
        .push(", ")
        .bind(i64::from(row.keep))
        .push(")")
        .unbound()
    }

    /// Whose the edit is: what it changed has to be within reach of those who are shown it.
    fn organization(&self) -> &str {
        let owned = |row: &&Prepared<'_>| !row.key.organization.is_empty();
        let mut owners = self.rows.iter().filter(owned).map(|row| row.key.organization);
        let Some(first) = owners.next() else { return "" };
        if owners.all(|other| other == first) { first } else { SEVERAL }
    }
}
