//! Opens a workspace: its roots, the trust in its programs, and its stored content.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::services::Services;
use super::trust::TrustOverride;
use super::workspace::Workspace;
use lockgate_error::{Code, Error};
use lockgate_store::{EntityDatabase, EntityStore, Files, StateFolder, Tenant, outside};

/// The options for opening a workspace.
#[derive(Debug, Default)]
#[must_use = "the workspace does not exist until it is opened"]
pub struct Opening<'a> {
    roots: Option<&'a [PathBuf]>,
    base: String,
    trust_override: TrustOverride,
    state_dir: Option<&'a Path>,
    database: Option<Arc<EntityDatabase>>,
    tenant: Tenant,
}

impl Workspace {
    /// Opens a workspace on these roots; relative paths belong to the first.
    ///
    /// Errors: those of [`Opening::open`].
    pub fn open(roots: &[PathBuf]) -> Result<Arc<Workspace>, Error> {
        Workspace::at(roots).open()
    }

    /// Returns the options for a workspace on these roots.
    pub fn at(roots: &[PathBuf]) -> Opening<'_> {
        Opening { roots: Some(roots), ..Opening::default() }
    }

    /// Returns the options for a workspace without roots: it has the stored content, and rejects every file
    /// path as outside.
    pub fn without_roots() -> Opening<'static> {
        Opening::default()
    }

    /// Returns the database of the user who runs lockgate, to be shared by workspaces that together have
    /// these roots.
    pub fn open_database(roots: &[PathBuf]) -> Arc<EntityDatabase> {
        Arc::new(EntityDatabase::in_state_folder(&StateFolder::for_user(roots)))
    }
}

impl<'a> Opening<'a> {
    /// Sets the folder below the first root that relative paths start from.
    pub fn with_base(self, base: String) -> Opening<'a> {
        Opening { base, ..self }
    }

    /// Sets the source of trust in programs.
    pub fn with_trust_override(self, trust_override: TrustOverride) -> Opening<'a> {
        Opening { trust_override, ..self }
    }

    /// Sets the folder for lockgate's state (locks, journals, trust and stored content), instead of that of the user.
    pub fn with_state_dir(self, own: &'a Path) -> Opening<'a> {
        Opening { state_dir: Some(own), ..self }
    }

    /// Sets the database, instead of that of the user who runs lockgate.
    pub fn with_database(self, database: Arc<EntityDatabase>) -> Opening<'a> {
        Opening { database: Some(database), ..self }
    }

    /// Sets the part of the stored content that this caller can reach.
    pub fn with_tenant(self, tenant: Tenant) -> Opening<'a> {
        Opening { tenant, ..self }
    }

    /// Opens the workspace.
    ///
    /// Errors: `INVALID_INPUT` for `/`, the home directory, an empty list of roots, and a database inside a
    /// root; the errors of opening a folder.
    pub fn open(self) -> Result<Arc<Workspace>, Error> {
        Ok(Arc::new(Workspace { services: self.services()? }))
    }

    pub(super) fn services(self) -> Result<Arc<Services>, Error> {
        let files = self.roots.map_or_else(|| Ok(Files::default()), Files::open)?.with_base(&self.base);
        let roots = files.root_paths();
        let state = match self.state_dir {
            Some(own) => StateFolder::in_folder(own, &roots),
            None => StateFolder::for_user(&roots),
        };
        let database = match self.database {
            Some(database) => {
                refuse_inside(&database, &roots)?;
                database
            }
            None => Arc::new(EntityDatabase::in_state_folder(&state)),
        };
        let rows = EntityStore::new(database, self.tenant);
        let services = Arc::new(Services::new(files, &state, self.trust_override, rows));
        services.recover_edits(&[]);
        Ok(services)
    }
}

/// Rejects a database that an edit of files could change.
fn refuse_inside(database: &EntityDatabase, roots: &[PathBuf]) -> Result<(), Error> {
    let Some(file) = database.file() else { return Ok(()) };
    outside(file, roots).map(drop).map_err(|why| {
        Error::new(Code::InvalidInput, format!("edits of files could change the stored content: {why}"))
            .named_field("store")
            .hint("move the database outside every root")
    })
}
