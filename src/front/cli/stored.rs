//! Where stored content lies, and whose of it a command reaches.
//!
//! Invariant: the password in a URL is shown to nobody: neither in a message, nor in a log, nor among the processes of the
//! machine.

use std::env;
use std::fmt;
use std::sync::Arc;

use super::roots::{CommandRoots, Roots};
use crate::engine::{EntityDatabase, Opening, Tenant, TrustOverride, Workspace};
use crate::error::{Code, Error};
use crate::front::toolset::{Selection, Toolset};
use crate::gate::adopt_orphans;
use crate::policy::is_id;

/// The variable that gives the URL of a database instead of `--store`.
pub(super) const STORE: &str = "LOCKGATE_STORE";

/// Where stored content lies.
#[derive(Debug, clap::Args)]
pub(super) struct StoreLocation {
    /// Database of stored content: sqlite:PATH or postgres://... [default: that of LOCKGATE_STORE, else one of the user's own]
    #[arg(long, value_name = "URL")]
    store: Option<Url>,
}

/// Where stored content lies, and whose of it is reached.
#[derive(Debug, clap::Args)]
pub(super) struct Stored {
    #[command(flatten)]
    store: StoreLocation,
    /// Organisation whose stored content is reached, beside what is no organisation's
    #[arg(long, value_name = "ID")]
    organization: Option<String>,
}

/// The URL of a database, which may hold a password.
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

/// The folders that a command edits in, and the stored content that it reaches.
#[derive(Debug, clap::Args)]
pub(super) struct CommandWorkspace {
    #[command(flatten)]
    roots: Roots,
    #[command(flatten)]
    stored: Stored,
}

impl CommandWorkspace {
    /// Opens the workspace of both.
    ///
    /// Errors: those of the folders, and of [`Stored::over`].
    pub(super) fn open(&self, promise: TrustOverride) -> Result<Arc<Workspace>, Error> {
        // Whoever opens a workspace here starts no other programs than those of its gates.
        adopt_orphans();
        let CommandRoots { roots, base } = self.roots.found()?;
        self.stored.over(Workspace::at(&roots).with_base(base).promising(promise))?.open()
    }

    /// The toolsets that are offered where nobody names any: what lies in a database is offered where it was asked for.
    pub(super) fn usual(&self) -> Selection {
        let Stored { store, organization } = &self.stored;
        match (&store.store, organization, given()) {
            (None, None, None) => Selection::default(),
            _ => Selection::default().with(Toolset::Content),
        }
    }
}

impl Stored {
    /// The same workspace with what was said of stored content.
    ///
    /// Errors: `INVALID_INPUT` for what is no URL of a database, for a password among the arguments, and for an
    /// organisation that cannot be one.
    pub(super) fn over<'a>(&self, opening: Opening<'a>) -> Result<Opening<'a>, Error> {
        let opening = match self.store.named()? {
            Some(depot) => opening.storing(depot),
            None => opening,
        };
        let Some(organization) = &self.organization else { return Ok(opening) };
        if !is_id(organization) {
            let seen = "an organisation has 1 to 128 bytes, none of them a control character";
            return Err(Error::new(Code::InvalidInput, seen).field("--organization"));
        }
        Ok(opening.reaching(Tenant::Organization(organization.clone())))
    }
}

impl StoreLocation {
    /// The database that was named.
    ///
    /// Errors: `INVALID_INPUT` for what is no URL of one, and for a password among the arguments.
    pub(super) fn named(&self) -> Result<Option<Arc<EntityDatabase>>, Error> {
        match &self.store {
            None => given().map(|url| at(&url, STORE)).transpose(),
            Some(Url(url)) if has_password(url) => {
                let seen = "a password among the arguments is seen by everybody on this machine";
                Err(Error::new(Code::InvalidInput, seen)
                    .field("--store")
                    .hint(format!("give the URL by the variable {STORE}")))
            }
            Some(Url(url)) => at(url, "--store").map(Some),
        }
    }
}

/// The database of this URL, which was given by that name.
///
/// Errors: `INVALID_INPUT`.
pub(super) fn at(url: &str, field: &'static str) -> Result<Arc<EntityDatabase>, Error> {
    EntityDatabase::at(url).map(Arc::new).map_err(|refusal| refusal.field(field))
}

/// The URL that the environment gives.
pub(super) fn given() -> Option<String> {
    // What is no text is no URL either, and is refused as such, not passed over.
    let text = env::var_os(STORE).filter(|text| !text.is_empty())?;
    Some(text.into_string().unwrap_or_default())
}

/// Whether a URL says a password, in any of the two places where it can.
pub(super) fn has_password(url: &str) -> bool {
    let rest = url.split_once("://").map_or("", |(_, rest)| rest);
    let (authority, _) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let user = authority.rsplit_once('@').map_or("", |(user, _)| user);
    let query = url.split_once('?').map_or("", |(_, query)| query);
    let says = |pair: &str| {
        let name = pair.split('=').next().unwrap_or_default().to_ascii_lowercase();
        // A name that is spelt in signs may be any.
        name.contains("pass") || name.contains('%')
    };
    user.contains(':') || query.split(['&', '#']).any(says)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_seen_wherever_it_stands() {
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
