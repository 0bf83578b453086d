//! Administration of a whole database: its tables, its apps and all of its rows.

use super::connection::Connected;
use super::database::EntityDatabase;
use super::prepare::{now, random_number};
use super::statement::UnboundStatement;
use super::value::Row;
use super::{Added, EntityStoreError, Migrated};
use crate::row_location::{RowKey, non_empty};
use crate::tenant::Tenant;
use lockgate_edit::request::Entity;
use lockgate_error::{Code, Error};
use lockgate_policy::is_id;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

/// Rows per read; each may be as large as a file.
const ROWS_PER_READ: i64 = 16;

/// The parts of a row's key, and its bytes.
type KeyAndBytes = ([String; 4], Vec<u8>);

impl EntityDatabase {
    /// Creates the missing tables and indexes and returns the versions.
    ///
    /// Errors: `STORE_UNAVAILABLE`, `NO_SPACE`.
    pub fn migrate(&self) -> Result<Migrated, Error> {
        let (connected, migrated) = Connected::migrate(self.address())?;
        self.use_connected(connected);
        Ok(migrated)
    }

    /// Returns all apps with their organisations, ordered by id.
    ///
    /// Errors: `STORE_UNAVAILABLE`.
    pub fn apps(&self) -> Result<Vec<(String, Option<String>)>, Error> {
        let all = &Tenant::All;
        let apps = UnboundStatement::new("SELECT id, organization FROM apps").in_scope(all, "organization");
        let apps = self.read(all, apps.push(" ORDER BY id"))?;
        let app = |app: &Row| Ok((app.get(0)?, non_empty(app.get(1)?)));
        apps.iter().map(app).collect()
    }

    /// Registers an app of this organisation, or a global one.
    ///
    /// Errors: `INVALID_INPUT` for an invalid id, and if another organisation owns the app, because an
    /// app's owner never changes; `STORE_UNAVAILABLE`.
    pub fn add_app(&self, id: &str, organization: Option<&str>) -> Result<Added, Error> {
        check_id("app_id", id)?;
        organization.map_or(Ok(()), |id| check_id("organization_id", id))?;
        match self.put_app(id, organization.unwrap_or_default())? {
            (true, _) => Ok(Added::New),
            (false, owner) if owner.as_deref() == organization => Ok(Added::Existing),
            (false, owner) => {
                let description =
                    owner.map_or_else(|| "global".to_owned(), |owner| format!("owned by {owner}"));
                Err(Error::new(
                    Code::InvalidInput,
                    format!("the app {id} already exists, and is {description}"),
                )
                .field("app_id")
                .hint("an app cannot change its organisation: use another id"))
            }
        }
    }

    /// Inserts an app; returns true if it is new, and its owner.
    fn put_app(&self, id: &str, organization: &str) -> Result<(bool, Option<String>), EntityStoreError> {
        let all = &Tenant::All;
        let number = random_number()?;
        let is_new = AtomicBool::new(false);
        self.write(all, number, |session| {
            let app = UnboundStatement::new("INSERT INTO apps(id, organization, at) VALUES (").bind(id);
            let app = app.bind_next(organization).bind_next(now());
            let app = app.push(") ON CONFLICT DO NOTHING RETURNING 1");
            let inserted = session.execute(&[app.without_scope()])?;
            is_new.store(inserted.iter().flatten().next().is_some(), Ordering::Relaxed);
            Ok(())
        })?;
        Ok((is_new.load(Ordering::Relaxed), self.owner_of_app(all, id)?.and_then(non_empty)))
    }

    /// Visits every row of all organisations in key order until `see` breaks. Each row is complete;
    /// concurrent edits may or may not be included.
    ///
    /// Errors: `STORE_UNAVAILABLE`.
    pub fn each_row(&self, see: &mut dyn FnMut(Entity, Vec<u8>) -> ControlFlow<()>) -> Result<(), Error> {
        let mut last = [const { String::new() }; 4];
        loop {
            let rows = self.rows_after(row_key(&last))?;
            let Some((key, _)) = rows.last() else { return Ok(()) };
            let next = key.clone();
            for (key, bytes) in rows {
                // No request can name a type that is no valid name.
                let Some(entity) = row_key(&key).entity() else { continue };
                if see(entity, bytes).is_break() {
                    return Ok(());
                }
            }
            last = next;
        }
    }

    fn rows_after(&self, key: RowKey<'_>) -> Result<Vec<KeyAndBytes>, EntityStoreError> {
        let all = &Tenant::All;
        let rows = UnboundStatement::new("SELECT kind, organization, app, path, text, raw FROM contents");
        let rows = rows.in_scope(all, "organization").push(" AND (kind, organization, app, path) > (");
        let rows = rows.key(key).push(") ORDER BY kind, organization, app, path LIMIT ").bind(ROWS_PER_READ);
        let row = |row: &Row| {
            let key = [row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?];
            Ok((key, row.content(4, 5)?.unwrap_or_default()))
        };
        self.read(all, rows)?.iter().map(row).collect()
    }
}

fn row_key([kind, organization, app, path]: &[String; 4]) -> RowKey<'_> {
    RowKey { kind, organization, app, path }
}

/// Fails with `INVALID_INPUT` for an id that no app and no organisation can have.
pub(crate) fn check_id(field: &str, id: &str) -> Result<(), Error> {
    if is_id(id) {
        return Ok(());
    }
    let message = format!("{field} must have 1 to 128 bytes and no control characters");
    Err(Error::new(Code::InvalidInput, message).named_field(field))
}
