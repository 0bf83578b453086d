//! Where an entity is, and what it held when it was read.

use crate::request::Entity;
use crate::store::document_path::LockKey;
use crate::store::publish::{Content, JournalRecord};
use crate::store::sql::rows::RowKey;
use crate::text::Version;

/// An entity that is within reach, by its whole key; whether there is a row of that key is found when it is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowPlace {
    /// Its key, with the organisation of a workflow that was found.
    pub(in crate::store) entity: Entity,
    /// Whose it is: its own organisation, or that of its app; nobody's where it is global.
    pub(in crate::store) owner: Option<String>,
    /// Which database it lies in.
    pub(in crate::store) depot: u64,
}

/// A row as it was read.
#[cfg_attr(not(feature = "content"), expect(dead_code, reason = "nothing is kept in a database"))]
#[derive(Debug)]
pub struct RowSnapshot {
    bytes: Vec<u8>,
    /// The stamp of its text, on which the write is conditional.
    pub(in crate::store) stamp: Version,
    /// When it was changed last, in microseconds since 1970: what comes later has a later time.
    pub(in crate::store) changed: i64,
}

/// One row that is to become another, to be made or to be removed.
#[derive(Debug, Clone, Copy)]
pub struct RowWrite<'a> {
    /// Where it is.
    pub place: &'a RowPlace,
    /// What was read there; absent when there was no row.
    pub before: Option<(&'a RowSnapshot, Content<'a>)>,
    /// What is to stand there; absent when the row is to be removed.
    pub after: Option<Content<'a>>,
    /// What the journal is told of it.
    pub told: JournalRecord,
}

impl RowPlace {
    /// Its key, as a caller names it.
    pub fn entity(&self) -> &Entity {
        &self.entity
    }

    /// Its path.
    pub fn path(&self) -> &str {
        &self.entity.path
    }

    /// Its key, as the database has it.
    pub(in crate::store) fn row_key(&self) -> RowKey<'_> {
        let Entity { kind, path, app_id, organization_id: _ } = &self.entity;
        let (organization, app) = (self.owner.as_deref(), app_id.as_deref());
        RowKey {
            kind: kind.name(),
            organization: organization.unwrap_or_default(),
            app: app.unwrap_or_default(),
            path,
        }
    }

    /// What to lock while it is edited. No such key is a folder to another.
    pub fn key(&self) -> LockKey {
        let Entity { kind, path, app_id, organization_id } = &self.entity;
        let part = |id: &Option<String>| id.as_ref().map_or_else(|| "-".to_owned(), |id| format!("={id}"));
        let (app, organization) = (part(app_id), part(organization_id));
        let rest = [kind.name(), &app, &organization, path, ""].join("\0");
        LockKey::of_row(self.depot, &rest)
    }
}

impl RowSnapshot {
    pub(in crate::store) fn new(bytes: Vec<u8>, stamp: Version, changed: i64) -> RowSnapshot {
        RowSnapshot { bytes, stamp, changed }
    }

    /// The content, unless it was taken.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Hands out the content, so that it need not be copied.
    #[must_use]
    pub fn take_bytes(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.bytes)
    }
}
