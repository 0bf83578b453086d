//! Removes the oldest edits within a tenant's scope, and then the texts that are no longer needed.
//!
//! The edits of one organisation do not shorten the history of another, except for content that both
//! can access. A text that a row holds is no part of the history, so it does not count against its limit.
//!
//! Invariant: a text is kept while a row holds it or a remaining edit refers to it.

use super::super::columns::count;
use super::EntityStoreError;
use super::database::EntityDatabase;
use super::prepare::now;
use super::statement::{Statement, UnboundStatement};
use crate::history::RetentionLimits;
use crate::tenant::Tenant;

/// The most edits that one transaction removes.
const PORTION: i64 = 256;
/// The lock number that lets one server at a time remove edits.
const TIDY_LOCK: i64 = 1;

impl EntityDatabase {
    /// Removes the oldest edits until the rest are within these limits. The newest edit stays if its age is within the
    /// limit, whatever its size; with a size limit of 0, no edit stays.
    pub(crate) fn tidy(&self, tenant: &Tenant, bounds: RetentionLimits) -> Result<(), EntityStoreError> {
        let age = count(bounds.age.as_micros());
        let oldest = if bounds.size == 0 { i64::MAX } else { now().saturating_sub(age) };
        while self.forget_portion(tenant, oldest, PORTION)? {}
        self.forget_down_to(tenant, count(bounds.size))
    }

    /// Removes the oldest edits until the texts that only edits hold have at most `size` bytes, or one edit is left.
    fn forget_down_to(&self, tenant: &Tenant, size: i64) -> Result<(), EntityStoreError> {
        while self.size(tenant)? > size {
            let (edits, newest) = self.count_and_newest(tenant)?;
            // A sixteenth of them at a time, because each measurement reads all texts.
            let mut remaining = (edits / 16).max(1);
            let mut is_any_left = true;
            while remaining > 0 && is_any_left {
                is_any_left = self.forget_portion(tenant, newest, remaining.min(PORTION))?;
                remaining -= PORTION;
            }
            if !is_any_left {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Returns the total size in bytes of the tenant's texts that no row holds.
    fn size(&self, tenant: &Tenant) -> Result<i64, EntityStoreError> {
        let size = UnboundStatement::new("SELECT CAST(coalesce(sum(size), 0) AS BIGINT) FROM texts");
        let size = size.in_scope(tenant, "organization").push(&held_by_no_row());
        Ok(self.read_first(tenant, size, |size| size.get(0))?.unwrap_or(0))
    }

    /// Returns the number of the tenant's edits, and the time of the newest.
    fn count_and_newest(&self, tenant: &Tenant) -> Result<(i64, i64), EntityStoreError> {
        let edits = UnboundStatement::new("SELECT count(*), coalesce(max(at), 0) FROM edits");
        let edits = edits.in_scope(tenant, "organization");
        let found = self.read_first(tenant, edits, |edits| Ok((edits.get(0)?, edits.get(1)?)))?;
        Ok(found.unwrap_or((0, 0)))
    }

    /// Removes at most `most` of the oldest edits from before `before`, and those of the same moment as the last of them;
    /// returns true if there were any.
    fn forget_portion(&self, tenant: &Tenant, before: i64, most: i64) -> Result<bool, EntityStoreError> {
        let some = UnboundStatement::new("SELECT max(at) FROM (SELECT at FROM edits")
            .in_scope(tenant, "organization");
        let some = some.push(" AND at < ").bind(before).push(" ORDER BY at LIMIT ").bind(most);
        let last = self.read_first(tenant, some.push(") AS portion"), |last| last.get::<Option<i64>>(0))?;
        let Some(last) = last.flatten() else { return Ok(false) };
        let forget = forget(tenant, last);
        self.write(tenant, TIDY_LOCK, |session| session.execute(&forget).map(drop))?;
        Ok(true)
    }
}

/// The condition that a row of `texts` and one with the alias `c` belong to the same entity.
const SAME_ENTITY: &str = "c.kind = texts.kind AND c.organization = texts.organization AND c.app = texts.app AND c.path = texts.path";

/// Returns the condition that no row holds a text.
fn held_by_no_row() -> String {
    format!(" AND NOT EXISTS (SELECT 1 FROM entities c WHERE {SAME_ENTITY} AND c.stamp = texts.stamp)")
}

/// Removes the edits up to this time.
fn forget(tenant: &Tenant, last: i64) -> [Statement; 3] {
    let changes =
        UnboundStatement::new("DELETE FROM changes").in_scope(tenant, "organization").push(" AND edit IN (");
    let edits = UnboundStatement::new("DELETE FROM edits")
        .in_scope(tenant, "organization")
        .push(" AND at <= ")
        .bind(last);
    [delete_unused_texts(tenant, last), forgotten_edits(changes, tenant, last).push(")"), edits]
}

/// Appends a selection of the edits to be removed.
fn forgotten_edits(statement: Statement, tenant: &Tenant, last: i64) -> Statement {
    let edits = statement.push("SELECT id FROM edits WHERE ").push_scope(tenant, "organization");
    edits.push(" AND at <= ").bind(last)
}

/// Deletes the texts that only removed edits refer to and no row holds.
fn delete_unused_texts(tenant: &Tenant, last: i64) -> Statement {
    let mut texts = UnboundStatement::new("DELETE FROM texts")
        .in_scope(tenant, "organization")
        .push(" AND at <= ")
        .bind(last);
    texts = texts.push(" AND (kind, organization, app, path, stamp) IN (");
    for (union, side) in [("", "before"), (" UNION ", "after")] {
        texts = texts.push(union).push("SELECT kind, organization, app, path, ").push(side);
        texts = forgotten_edits(texts.push(" FROM changes WHERE edit IN ("), tenant, last).push(")");
    }
    let is_referenced = "c.before = texts.stamp OR c.after = texts.stamp";
    texts
        .push(")")
        .push(&held_by_no_row())
        .push(&format!(
            " AND NOT EXISTS (SELECT 1 FROM changes c WHERE {SAME_ENTITY} AND ({is_referenced}) AND c.at > "
        ))
        .bind(last)
        .push(")")
}
