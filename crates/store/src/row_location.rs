//! The location of an entity in a database, its content when it was read, and a write of it.

use super::content::Content;
use super::history::JournalRecord;
use super::lock_key::LockKey;
use lockgate_edit::request::{Entity, EntityKind};
use lockgate_text::Version;

/// An entity in scope, with its complete key. The row itself may not exist; a read tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowLocation {
    /// Its key, with the resolved organisation of a workflow.
    pub(crate) entity: Entity,
    /// Its owner: its own organisation or that of its app; `None` for a global entity.
    pub(crate) owner: Option<String>,
    /// The number of its database.
    pub(crate) database: u64,
}

/// A row as it was read.
#[derive(Debug)]
pub struct RowSnapshot {
    bytes: Vec<u8>,
    /// The version of its text; the write is conditional on it.
    pub(crate) version: Version,
    /// The time of its last change, in microseconds since 1970; later changes have later times.
    pub(crate) changed: i64,
}

/// A row to be replaced, created or removed.
#[derive(Debug, Clone, Copy)]
pub struct RowWrite<'a> {
    /// The key of the row to write.
    pub location: &'a RowLocation,
    /// The row as it was read; `None` if it did not exist.
    pub before: Option<(&'a RowSnapshot, Content<'a>)>,
    /// The new content; `None` removes the row.
    pub after: Option<Content<'a>>,
    /// The journal data of this write.
    pub record: JournalRecord,
}

/// The key of a row. An absent organisation or app is the empty string.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RowKey<'a> {
    /// The entity type.
    pub kind: &'a str,
    /// The organisation that owns the row.
    pub organization: &'a str,
    /// The app that the row belongs to.
    pub app: &'a str,
    pub path: &'a str,
}

/// Returns the id, unless it is the empty string, which stands for an absent one.
pub(crate) fn non_empty(id: String) -> Option<String> {
    Some(id).filter(|id| !id.is_empty())
}

impl RowKey<'_> {
    /// Returns the entity that callers name by this key; `None` if its type is no valid name. An app determines the
    /// organisation of its entities, so no caller names both.
    pub(crate) fn entity(self) -> Option<Entity> {
        let RowKey { kind, organization, app, path } = self;
        let (kind, app_id) = (EntityKind::from_name(kind)?, non_empty(app.to_owned()));
        let organization_id = non_empty(organization.to_owned()).filter(|_| app_id.is_none());
        Some(Entity { kind, path: path.to_owned(), app_id, organization_id })
    }
}

impl RowLocation {
    /// The key as a caller gives it.
    pub fn entity(&self) -> &Entity {
        &self.entity
    }

    /// Returns the path from the entity's key.
    pub fn path(&self) -> &str {
        &self.entity.path
    }

    /// The key as the database stores it.
    pub(crate) fn row_key(&self) -> RowKey<'_> {
        let Entity { kind, path, app_id, organization_id: _ } = &self.entity;
        let (organization, app) = (self.owner.as_deref(), app_id.as_deref());
        RowKey {
            kind: kind.name(),
            organization: organization.unwrap_or_default(),
            app: app.unwrap_or_default(),
            path,
        }
    }

    /// The lock key of the entity; no such key contains another as a folder does.
    pub fn key(&self) -> LockKey {
        let Entity { kind, path, app_id, organization_id } = &self.entity;
        let part = |id: &Option<String>| id.as_ref().map_or_else(|| "-".to_owned(), |id| format!("={id}"));
        let (app, organization) = (part(app_id), part(organization_id));
        let rest = [kind.name(), &app, &organization, path, ""].join("\0");
        LockKey::of_row(self.database, &rest)
    }
}

impl RowSnapshot {
    pub(crate) fn new(bytes: Vec<u8>, version: Version, changed: i64) -> RowSnapshot {
        RowSnapshot { bytes, version, changed }
    }

    /// The content; empty after `take_bytes`.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Moves the content out to save a copy.
    #[must_use]
    pub fn take_bytes(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.bytes)
    }
}
