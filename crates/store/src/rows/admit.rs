//! Resolves an entity to its row and owner.
//!
//! Invariant: an entity out of scope gets the same error, and causes the same queries, as one that does
//! not exist.

use super::store::EntityStore;
use crate::row_location::{RowLocation, non_empty};
use crate::sql::rows::check_id;
use crate::tenant::Tenant;
use lockgate_edit::request::Entity;
use lockgate_error::{Code, Error};
use lockgate_policy::EntityOwner;
use lockgate_text::escape_name;

/// The maximum length of a path in bytes.
const LONGEST_PATH: usize = 1024;

/// The owner of an entity that is named without an organisation, although organisations can own its type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DefaultOwner {
    /// The caller's organisation if it has such a row, else none if there is a global row, else the caller's
    /// organisation.
    Closest,
    /// As `Closest`, but a removed row counts as well while the history has an edit of it.
    ClosestInHistory,
    /// The caller's organisation if it has such a row, else the owner of the last edit in the history.
    LastChanged,
    /// None: the row is global.
    Global,
}

impl EntityStore {
    /// Resolves an entity to its row. The row need not exist; the result then says where a write would
    /// create it.
    ///
    /// Errors: `FILE_NOT_FOUND` for an app or an organisation that does not exist or is out of scope,
    /// `INVALID_INPUT` for a path that is not a plain relative one, `STORE_UNAVAILABLE`.
    pub fn admit(
        &self,
        entity: &Entity,
        owner: EntityOwner,
        default_owner: DefaultOwner,
    ) -> Result<RowLocation, Error> {
        check_path(&entity.path)?;
        let organization = match owner {
            EntityOwner::App => self.app_owner(entity.app_id.as_deref().unwrap_or_default())?,
            EntityOwner::Organization => match &entity.organization_id {
                Some(id) => self.check_organization(id)?,
                None => self.default_owner(entity, default_owner)?,
            },
            EntityOwner::Global => None,
        };
        let organization_id = organization.clone().filter(|_| owner == EntityOwner::Organization);
        let app_id = entity.app_id.clone().filter(|_| owner == EntityOwner::App);
        let entity = Entity { organization_id, app_id, ..entity.clone() };
        Ok(RowLocation { entity, owner: organization, database: self.database.number() })
    }

    /// Returns the organisation of an app; `None` for a global app.
    pub(super) fn app_owner(&self, app: &str) -> Result<Option<String>, Error> {
        check_id("app_id", app)?;
        if let Some(owner) = self.app_owners.lock().get(app) {
            return Ok(owner.clone());
        }
        let absent = || {
            let hint = "correct app_id; `lockgate store app add` registers an app";
            Error::new(Code::FileNotFound, format!("there is no app {}", escape_name(app)))
                .field("app_id")
                .hint(hint)
        };
        let owner = self.database.owner_of_app(&self.tenant, app)?;
        let owner = non_empty(owner.ok_or_else(absent)?);
        self.app_owners.lock().put(app.to_owned(), owner.clone());
        Ok(owner)
    }

    /// Returns the requested organisation if it is in scope.
    pub(super) fn check_organization(&self, organization: &str) -> Result<Option<String>, Error> {
        check_id("organization_id", organization)?;
        let is_within = match &self.tenant {
            Tenant::Global => false,
            Tenant::Organization(own) => own == organization,
            Tenant::All => true,
        };
        if is_within {
            return Ok(Some(organization.to_owned()));
        }
        let message = format!("there is no organisation {}", escape_name(organization));
        let hint = "correct organization_id, or leave it out";
        Err(Error::new(Code::FileNotFound, message).field("organization_id").hint(hint))
    }

    /// Returns the owner of an entity that is named without an organisation.
    fn default_owner(&self, entity: &Entity, default_owner: DefaultOwner) -> Result<Option<String>, Error> {
        let Tenant::Organization(own) = &self.tenant else { return Ok(None) };
        let (kind, path) = (entity.kind.name(), &entity.path);
        let row = || self.database.owner_of_path(&self.tenant, kind, path);
        let edits = || self.database.owners_in_history(&self.tenant, kind, path);
        // The global rows have the empty owner, which is less than any other.
        let found = match default_owner {
            DefaultOwner::Closest => row()?,
            DefaultOwner::ClosestInHistory => row()?.max(edits()?.into_iter().max()),
            DefaultOwner::LastChanged => match row()? {
                Some(owner) if owner == *own => Some(owner),
                other => edits()?.into_iter().next().or(other),
            },
            DefaultOwner::Global => return Ok(None),
        };
        Ok(non_empty(found.unwrap_or_else(|| own.clone())))
    }
}

/// Accepts only a path with a single spelling.
fn check_path(path: &str) -> Result<(), Error> {
    let reason = if path.len() > LONGEST_PATH {
        "is longer than 1024 bytes"
    } else if path.chars().any(|character| character.is_control() || character == '\\') {
        "contains a backslash or a control character"
    } else if path.split('/').any(|part| matches!(part, "" | "." | "..")) {
        "has an empty part, `.` or `..`"
    } else {
        return Ok(());
    };
    let hint = "give a relative path with `/` between its parts";
    Err(Error::new(Code::InvalidInput, format!("the path {reason}")).named_field("path").hint(hint))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_names_one_thing_in_one_way() {
        for path in ["a", "a/b.py", ".hidden", "a b/\u{e9}", "...", &"x".repeat(1024)] {
            assert_eq!(check_path(path), Ok(()), "{path}");
        }
        for path in
            ["", "/a", "a/", "a//b", "./a", "a/..", "..", "a\\b", "a\0", "a\nb", "\u{85}", &"x".repeat(1025)]
        {
            let error = check_path(path).unwrap_err();
            assert_eq!((error.code, error.field.as_deref()), (Code::InvalidInput, Some("path")), "{path:?}");
        }
    }
}
