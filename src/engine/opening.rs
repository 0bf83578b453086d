//! How a workspace is opened: which folders may be edited, by whose word programs run, and what lies in a database.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{TrustOverride, Workspace};
use crate::error::{Code, Error};
use crate::store::{EntityDatabase, EntityStore, Files, StateFolder, StoreTold, Tenant, outside};

/// A workspace that is still to be opened.
#[derive(Debug, Default)]
#[must_use = "a workspace is there once it is opened"]
pub struct Opening<'a> {
    roots: Option<&'a [PathBuf]>,
    base: String,
    promise: TrustOverride,
    own: Option<&'a Path>,
    depot: Option<Arc<EntityDatabase>>,
    tenant: Tenant,
}

impl Workspace {
    /// Opens the folders in which files may be edited; relative paths belong to the first.
    ///
    /// Errors: those of [`Opening::open`].
    pub fn open(roots: &[PathBuf]) -> Result<Arc<Workspace>, Error> {
        Workspace::at(roots).open()
    }

    /// The same where more is to be said.
    pub fn at(roots: &[PathBuf]) -> Opening<'_> {
        Opening { roots: Some(roots), ..Opening::default() }
    }

    /// A workspace without any folder: it has what lies in a database, and every path of a file is outside of it.
    pub fn without_roots() -> Opening<'static> {
        Opening::default()
    }

    /// The same for a caller that keeps lockgate's records in a folder of its own: locks, journals and trust.
    ///
    /// Errors: those of [`Opening::open`].
    pub fn keeping(roots: &[PathBuf], own: &Path) -> Result<Arc<Workspace>, Error> {
        Workspace::at(roots).keeping(own).open()
    }

    /// The stored content of the user who runs lockgate, for several workspaces that together have these roots.
    pub fn own_depot(roots: &[PathBuf]) -> Arc<EntityDatabase> {
        Arc::new(EntityDatabase::beside(&StateFolder::beside(roots)))
    }
}

impl Workspace {
    /// Has whoever keeps count told of what the database of stored content is asked, and what became of it; where
    /// workspaces share one, the first who wants to hear of it does.
    pub fn tell_of_store(&self, told: StoreTold) {
        self.store.rows.tell(told);
    }
}

impl<'a> Opening<'a> {
    /// For a caller whose relative paths are relative to a folder below the first root.
    pub fn with_base(self, base: String) -> Opening<'a> {
        Opening { base, ..self }
    }

    /// With a person's word about what may run.
    pub fn promising(self, promise: TrustOverride) -> Opening<'a> {
        Opening { promise, ..self }
    }

    /// For a caller that keeps lockgate's records in a folder of its own: locks, journals, trust and stored content.
    pub fn keeping(self, own: &'a Path) -> Opening<'a> {
        Opening { own: Some(own), ..self }
    }

    /// With this stored content, instead of that of the user who runs lockgate.
    pub fn storing(self, depot: Arc<EntityDatabase>) -> Opening<'a> {
        Opening { depot: Some(depot), ..self }
    }

    /// With what this caller reaches of the stored content.
    pub fn reaching(self, tenant: Tenant) -> Opening<'a> {
        Opening { tenant, ..self }
    }

    /// Opens it.
    ///
    /// Errors: `INVALID_INPUT` for `/`, the home directory, an empty list of roots, and a database in a root; what opening a
    /// folder gives.
    pub fn open(self) -> Result<Arc<Workspace>, Error> {
        let files = self.roots.map_or_else(|| Ok(Files::default()), Files::open)?.with_base(&self.base);
        let roots = files.root_paths();
        let state = match self.own {
            Some(own) => StateFolder::within(own, &roots),
            None => StateFolder::beside(&roots),
        };
        let depot = match self.depot {
            Some(depot) => {
                refuse_inside(&depot, &roots)?;
                depot
            }
            None => Arc::new(EntityDatabase::beside(&state)),
        };
        Workspace::with(files, &state, self.promise, EntityStore::new(depot, self.tenant))
    }
}

/// Refuses a database that an edit of files could change.
fn refuse_inside(depot: &EntityDatabase, roots: &[PathBuf]) -> Result<(), Error> {
    let Some(file) = depot.file() else { return Ok(()) };
    outside(file, roots).map(drop).map_err(|why| {
        Error::new(Code::InvalidInput, format!("edits of files could change the stored content: {why}"))
            .field("store")
            .hint("keep the database outside of every root")
    })
}
