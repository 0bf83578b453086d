//! Administration of a whole database: its tables, its apps and all of its rows.

use super::connection::Connected;
use super::database::EntityDatabase;
use super::prepare::{now, random_number};
use super::statement::UnboundStatement;
use super::value::Row;
use super::{Added, EntityStoreError, Migrated};
use crate::row_location::RowKey;
use crate::tenant::Tenant;
use lockgate_edit::request::{Entity, EntityKind};
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
        let (connected, migrated) =
            Connected::migrate(self.address()).map_err(EntityStoreError::into_error)?;
        self.use_connected(connected);
        Ok(migrated)
    }

    /// Returns all apps with their organisations, ordered by id.
    ///
    /// Errors: `STORE_UNAVAILABLE`.
    pub fn apps(&self) -> Result<Vec<(String, Option<String>)>, Error> {
        let all = &Tenant::All;
        let apps = UnboundStatement::new("SELECT id, organization FROM apps").in_scope(all, "organization");
        let apps = self.read(all, apps.push(" ORDER BY id")).map_err(EntityStoreError::into_error)?;
        let app = |app: &Row| Ok((app.get(0)?, non_empty(app.get(1)?)));
        apps.iter().map(app).collect::<Result<_, EntityStoreError>>().map_err(EntityStoreError::into_error)
    }

    /// Registers an app of this organisation, or a global one.
    ///
    /// Errors: `INVALID_INPUT` if another organisation owns the app, because an app's owner never
    /// changes; `STORE_UNAVAILABLE`.
    pub fn add_app(&self, id: &str, organization: Option<&str>) -> Result<Added, Error> {
        for (field, id) in [("app_id", Some(id)), ("organization_id", organization)] {
            if id.is_some_and(|id| !is_id(id)) {
                let message = format!("{field} must have 1 to 128 bytes and no control characters");
                return Err(Error::new(Code::InvalidInput, message).field(field));
            }
        }
        match self.put_app(id, organization.unwrap_or_default()).map_err(EntityStoreError::into_error)? {
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
            let app =
                UnboundStatement::new("INSERT INTO apps(id, organization, at) VALUES (").bind(id).push(", ");
            let app =
                app.bind(organization).push(", ").bind(now()).push(") ON CONFLICT DO NOTHING RETURNING 1");
            let inserted = session.execute(&[app.unbound()])?;
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
            let [kind, organization, app, path] = &last;
            let after = RowKey { kind, organization, app, path };
            let rows = self.rows_after(after).map_err(EntityStoreError::into_error)?;
            let Some((key, _)) = rows.last() else { return Ok(()) };
            let next = key.clone();
            for ([kind, organization, app, path], bytes) in rows {
                // Skip types that no policy of this lockgate declares: nothing could request them.
                let Some(kind) = EntityKind::from_name(&kind) else { continue };
                let app_id = non_empty(app);
                let organization_id = non_empty(organization).filter(|_| app_id.is_none());
                if see(Entity { kind, path, app_id, organization_id }, bytes).is_break() {
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
            let (text, raw): (&str, Option<&[u8]>) = (row.get(4)?, row.get(5)?);
            Ok((key, raw.unwrap_or(text.as_bytes()).to_vec()))
        };
        self.read(all, rows)?.iter().map(row).collect()
    }
}

/// Returns the id unless it is empty.
fn non_empty(id: String) -> Option<String> {
    Some(id).filter(|id| !id.is_empty())
}
