//! The database of a command and the organisation whose entities it reaches.
//!
//! Invariant: the password of a URL is never shown: not in a message, in a log, or in the process list.

use std::env;
use std::fmt;
use std::sync::Arc;

use super::roots::{CommandRoots, Roots};
use lockgate_checks::adopt_orphans;
use lockgate_engine::{EntityDatabase, Tenant, TrustOverride, Workspace};
use lockgate_error::{Code, Error};
use lockgate_mcp::selection::Selection;
use lockgate_mcp::toolset::Toolset;
use lockgate_policy::is_id;

/// The environment variable that contains the URL of a database instead of `--store`.
pub(super) const STORE: &str = "LOCKGATE_STORE";

/// The database of entities.
#[derive(Debug, clap::Args)]
pub(super) struct StoreLocation {
    /// Database of stored content: sqlite:PATH or postgres://... [default: that of LOCKGATE_STORE, else one of the user's own]
    #[arg(long, value_name = "URL")]
    store: Option<Url>,
}

/// The URL of a database, which may contain a password.
#[derive(Clone)]
pub(super) struct Url(String);

impl fmt::Debug for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Url")
    }
}

impl From<String> for Url {
    fn from(text: String) -> Url {
        Url(text)
    }
}

/// The roots of a command, its database of entities, and the organisation whose entities it reaches.
#[derive(Debug, clap::Args)]
pub(super) struct CommandWorkspace {
    #[command(flatten)]
    roots: Roots,
    #[command(flatten)]
    store: StoreLocation,
    /// Organisation whose stored content can be reached, in addition to global content
    #[arg(long, value_name = "ID")]
    organization: Option<String>,
}

impl CommandWorkspace {
    /// Opens the workspace.
    ///
    /// Errors: those of the roots; `INVALID_INPUT` for an invalid database URL, a password in the arguments, or an
    /// invalid organisation.
    pub(super) fn open(&self, trust_override: TrustOverride) -> Result<Arc<Workspace>, Error> {
        self.open_with(self.store.database()?, trust_override)
    }

    /// Opens the workspace for a command that only reads.
    ///
    /// Errors: those of [`CommandWorkspace::open`]; `FILE_NOT_FOUND` for a database that does not exist.
    pub(super) fn open_to_read(&self) -> Result<Arc<Workspace>, Error> {
        self.open_with(self.store.existing_database()?, TrustOverride::default())
    }

    fn open_with(
        &self,
        database: Option<Arc<EntityDatabase>>,
        trust_override: TrustOverride,
    ) -> Result<Arc<Workspace>, Error> {
        // This process starts only gate programs.
        adopt_orphans();
        let CommandRoots { roots, base } = self.roots.resolve()?;
        let mut opening = Workspace::at(&roots).with_base(base).with_trust_override(trust_override);
        if let Some(database) = database {
            opening = opening.with_database(database);
        }
        if let Some(organization) = &self.organization {
            if !is_id(organization) {
                let message = "an organisation must have 1 to 128 bytes and no control characters";
                return Err(Error::new(Code::InvalidInput, message).field("--organization"));
            }
            opening = opening.with_tenant(Tenant::Organization(organization.clone()));
        }
        opening.open()
    }

    /// Returns the default toolsets; those for entities are included if a database or organisation is given.
    pub(super) fn default_selection(&self) -> Selection {
        match (&self.store.store, &self.organization, url_from_env()) {
            (None, None, None) => Selection::default(),
            _ => Selection::default().with(Toolset::Content),
        }
    }
}

impl StoreLocation {
    /// Returns the database of `--store` or the environment.
    ///
    /// Errors: `INVALID_INPUT` for an invalid URL, and for a password in the arguments.
    pub(super) fn database(&self) -> Result<Option<Arc<EntityDatabase>>, Error> {
        match &self.store {
            None => url_from_env().map(|url| open_url(&url, STORE)).transpose(),
            Some(Url(url)) if has_password(url) => {
                let message = "every user of this machine can see a password in the arguments";
                Err(Error::new(Code::InvalidInput, message)
                    .field("--store")
                    .hint(format!("set the URL in the variable {STORE}")))
            }
            Some(Url(url)) => open_url(url, "--store").map(Some),
        }
    }

    /// Returns the database of `--store` or the environment for a command that only reads.
    ///
    /// Errors: those of [`StoreLocation::database`]; `FILE_NOT_FOUND` for a file of `--store` that does not exist, because
    /// reading would create it and find nothing. One of the environment may be for later edits.
    pub(super) fn existing_database(&self) -> Result<Option<Arc<EntityDatabase>>, Error> {
        let database = self.database()?;
        let named = database.as_deref().filter(|_| self.store.is_some());
        let file = named.and_then(EntityDatabase::file);
        if let Some(file) = file.filter(|file| matches!(file.try_exists(), Ok(false))) {
            let message = format!("there is no database at {}", file.display());
            let hint = "correct the path; `lockgate store migrate` creates a database";
            return Err(Error::new(Code::FileNotFound, message).hint(hint));
        }
        Ok(database)
    }
}

/// Returns the database of this URL; `field` is the name of its source.
///
/// Errors: `INVALID_INPUT`.
pub(super) fn open_url(url: &str, field: &'static str) -> Result<Arc<EntityDatabase>, Error> {
    let opened = EntityDatabase::from_url(url).map(Arc::new);
    opened.map_err(|error| error.field(field).hint(format!("correct `{field}`")))
}

/// Returns the URL from the environment.
pub(super) fn url_from_env() -> Option<String> {
    // A value that is not UTF-8 is rejected as an invalid URL, not ignored.
    let text = env::var_os(STORE).filter(|text| !text.is_empty())?;
    Some(text.into_string().unwrap_or_default())
}

/// True if a URL contains a password, in the authority or in the query.
pub(super) fn has_password(url: &str) -> bool {
    let rest = url.split_once("://").map_or("", |(_, rest)| rest);
    let (authority, _) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let user = authority.rsplit_once('@').map_or("", |(user, _)| user);
    let query = url.split_once('?').map_or("", |(_, query)| query);
    let is_password = |pair: &str| {
        let name = pair.split('=').next().unwrap_or_default().to_ascii_lowercase();
        // A percent-encoded name may be any name.
        name.contains("pass") || name.contains('%')
    };
    user.contains(':') || query.split(['&', '#']).any(is_password)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_detected_anywhere_in_the_url() {
        for url in [
            "postgres://u:p@h/d",
            "postgresql://u:@h/d",
            "postgres://u:p@/d?host=/run",
            "postgres://a@b:p@h/d",
            "postgres://u@h/d?password=p",
            "postgres://h?sslmode=require&PASSWORD=p",
            "postgres://h?p%61ssword=p",
        ] {
            assert!(has_password(url), "{url}");
        }
        for url in [
            "postgres://u@h:5432/d",
            "postgres://h:5432/a:b@c",
            "sqlite:/a:b@c",
            "sqlite://a",
            "",
            "x?y=pass",
        ] {
            assert!(!has_password(url), "{url}");
        }
    }
}
