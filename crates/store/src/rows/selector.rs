//! Selects rows for a search or a listing: by path, folder, glob or path prefix.

use super::store::EntityStore;
use crate::paths::spelling::without_idle_dots;
use crate::row_location::{RowLocation, non_empty};
use crate::search::{SearchGlob, nothing_at};
use crate::sql::rows::{Paths, RowFound, Span};
use lockgate_edit::request::{Entity, EntityKind};
use lockgate_error::{Error, NextCall};
use lockgate_policy::EntityOwner;

/// The entities that a search or a listing covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EntityFilter<'a> {
    /// The type of the covered entities.
    pub kind: &'a EntityKind,
    /// The kind of owner that the type has.
    pub owner: EntityOwner,
    /// The app whose files are covered.
    pub app_id: Option<&'a str>,
    /// The organisation to which the request is limited.
    pub organization_id: Option<&'a str>,
}

/// The rows of one entity type that a request selects.
#[derive(Debug)]
pub struct EntitySelector {
    entity: Entity,
    owner: EntityOwner,
    organization: Option<String>,
    database_number: u64,
    paths: PathSelection,
}

#[derive(Debug)]
enum PathSelection {
    Everywhere,
    Nowhere,
    At(String),
    /// Paths with this prefix; if there is a glob, only those that match it.
    Prefix(String, Option<Box<SearchGlob>>),
}

impl EntityStore {
    /// Selects the rows that a search names: at a path, in a folder or by a glob. Without a path,
    /// selects all.
    ///
    /// Errors: `FILE_NOT_FOUND` for an app, an organisation or a path that does not exist or is out of
    /// scope, `BAD_PATTERN` for a glob, `STORE_UNAVAILABLE`.
    pub fn select(&self, filter: &EntityFilter<'_>, path: Option<&str>) -> Result<EntitySelector, Error> {
        let mut selector = self.select_all(filter)?;
        let path = path.unwrap_or_default();
        if path.starts_with('/') || path.chars().any(char::is_control) {
            return Err(no_rows_at(&path.escape_debug().to_string()));
        }
        let plain = without_idle_dots(path);
        if plain.is_empty() {
            return Ok(selector);
        }
        if !path.ends_with('/') {
            selector.paths = PathSelection::At(plain.clone());
            if self.has_any(&selector)? {
                return Ok(selector);
            }
        }
        selector.paths = PathSelection::Prefix(format!("{plain}/"), None);
        if self.has_any(&selector)? {
            return Ok(selector);
        }
        self.select_glob(selector, path)
    }

    /// Limits a selection to the rows that a glob matches.
    ///
    /// Errors: `FILE_NOT_FOUND` if the path is no glob, or begins with a folder that has no row; `BAD_PATTERN`,
    /// `STORE_UNAVAILABLE`.
    fn select_glob(&self, mut selector: EntitySelector, path: &str) -> Result<EntitySelector, Error> {
        if !SearchGlob::is_glob(path) {
            return Err(no_rows_at(path));
        }
        let plain = without_idle_dots(path);
        let glob = SearchGlob::parse(&plain, path)?;
        let fixed = plain.split('/').take_while(|name| !SearchGlob::is_glob(name));
        let folder: String = fixed.map(|name| format!("{name}/")).collect();
        selector.paths = PathSelection::Prefix(folder.clone(), None);
        // As with files, the top is a folder even if nothing is in it.
        if !folder.is_empty() && !self.has_any(&selector)? {
            return Err(no_rows_at(path));
        }
        selector.paths = PathSelection::Prefix(folder, Some(Box::new(glob)));
        Ok(selector)
    }

    /// Selects the rows in a folder, those with a path prefix, or those that a glob matches. An empty prefix
    /// selects all.
    ///
    /// Errors: `FILE_NOT_FOUND` for an app or an organisation that does not exist or is out of scope, and for a
    /// glob in a folder without rows; `BAD_PATTERN` for a glob, `STORE_UNAVAILABLE`.
    pub fn select_prefix(&self, filter: &EntityFilter<'_>, prefix: &str) -> Result<EntitySelector, Error> {
        let mut selector = self.select_all(filter)?;
        if prefix.starts_with('/') || prefix.chars().any(char::is_control) {
            selector.paths = PathSelection::Nowhere;
            return Ok(selector);
        }
        let plain = without_idle_dots(prefix);
        if plain.is_empty() {
            return Ok(selector);
        }
        selector.paths = PathSelection::Prefix(format!("{plain}/"), None);
        if self.has_any(&selector)? {
            return Ok(selector);
        }
        if !prefix.ends_with('/') {
            selector.paths = PathSelection::Prefix(plain, None);
        }
        if !SearchGlob::is_glob(prefix) || self.has_any(&selector)? {
            return Ok(selector);
        }
        self.select_glob(selector, prefix)
    }

    /// Selects all rows that pass the filter, after checking that they are in scope.
    fn select_all(&self, filter: &EntityFilter<'_>) -> Result<EntitySelector, Error> {
        let EntityFilter { kind, owner, app_id, organization_id } = *filter;
        let organization = match owner {
            EntityOwner::App => Some(self.app_owner(app_id.unwrap_or_default())?.unwrap_or_default()),
            EntityOwner::Organization => {
                organization_id.map_or(Ok(None), |id| self.check_organization(id))?
            }
            EntityOwner::Global => Some(String::new()),
        };
        let app_id = app_id.filter(|_| owner == EntityOwner::App).map(str::to_owned);
        let entity = Entity { kind: kind.clone(), path: String::new(), app_id, organization_id: None };
        Ok(EntitySelector {
            entity,
            owner,
            organization,
            database_number: self.database.number(),
            paths: PathSelection::Everywhere,
        })
    }

    fn has_any(&self, selector: &EntitySelector) -> Result<bool, Error> {
        let found = self.database.find(&self.tenant, selector.span(), &[], None, 1)?;
        Ok(!found.is_empty())
    }
}

impl EntitySelector {
    /// True if the selection leaves out some of the rows in its span.
    pub fn is_narrowed(&self) -> bool {
        matches!(self.paths, PathSelection::Nowhere | PathSelection::Prefix(_, Some(_)))
    }

    /// True if the selection has the rows with a path prefix, and no glob leaves out any of them.
    pub fn is_prefix(&self) -> bool {
        matches!(self.paths, PathSelection::Prefix(_, None))
    }

    /// True if the selection cannot contain any row.
    pub(super) fn is_empty(&self) -> bool {
        matches!(self.paths, PathSelection::Nowhere)
    }

    /// True if the selection contains this row of its span.
    pub(super) fn contains(&self, row: &RowFound) -> bool {
        match &self.paths {
            PathSelection::Everywhere | PathSelection::At(_) | PathSelection::Prefix(_, None) => true,
            PathSelection::Nowhere => false,
            PathSelection::Prefix(_, Some(glob)) => glob.matches(&row.path),
        }
    }

    /// The location of a row.
    pub(super) fn location(&self, RowFound { organization, path, .. }: &RowFound) -> RowLocation {
        let owner = non_empty(organization.clone());
        let organization_id = owner.clone().filter(|_| self.owner == EntityOwner::Organization);
        let entity = Entity { path: path.clone(), organization_id, ..self.entity.clone() };
        RowLocation { entity, owner, database: self.database_number }
    }

    /// The span of the selection.
    pub(super) fn span(&self) -> Span<'_> {
        Span {
            kind: self.entity.kind.name(),
            app: self.entity.app_id.as_deref().unwrap_or_default(),
            organization: self.organization.as_deref(),
            paths: match &self.paths {
                PathSelection::Everywhere | PathSelection::Nowhere => Paths::All,
                PathSelection::At(path) => Paths::Only(path),
                PathSelection::Prefix(prefix, _) => Paths::Prefix(prefix),
            },
        }
    }
}

/// The error for a path at which there is no row.
fn no_rows_at(path: &str) -> Error {
    let hint = "name an entity, a folder, or a glob such as `*.py` or `src/**/*.rs`; without a path, all are searched";
    nothing_at(path).hint(hint).with_next(NextCall::List { folder: String::new() })
}
