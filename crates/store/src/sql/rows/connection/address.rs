//! The address of a database, parsed from a URL.
//!
//! Invariant: no part of a URL is shown, logged or put into an error, because it may contain a
//! password.

use super::super::EntityStoreError;
use super::super::dialect::SqlDialect;
use super::ConnectOptions;
use super::server::PostgresOptions;
use crate::state::{StateFolder, doubt, open_or_create};
use lockgate_error::{Code, Error};
use lockgate_text::Version;
use rustix::fs::OFlags;
use std::fmt;
use std::path::{Path, PathBuf};
use url::Url;

/// The name of the database's file in lockgate's state folder.
const FILE_NAME: &str = "content.db";

/// The address of a database.
#[derive(Clone)]
pub enum Address {
    /// A file in lockgate's state folder, created on first use.
    InStateFolder(StateFolder),
    /// A file named in the configuration.
    File(PathBuf),
    /// The URL of a PostgreSQL server.
    Server(String),
}

impl Address {
    /// Parses a URL.
    ///
    /// Errors: `INVALID_INPUT`; the message does not quote the URL.
    pub fn parse(url: &str) -> Result<Address, Error> {
        if let Some(path) = url.strip_prefix("sqlite:") {
            let path = path.strip_prefix("//").unwrap_or(path);
            if path.is_empty() || path == ":memory:" || path.contains(['?', '#', '\0']) {
                return Err(invalid_url("`sqlite:` must be followed by a file path and nothing else"));
            }
            return Ok(Address::File(PathBuf::from(path)));
        }
        let is_server = url.starts_with("postgres://") || url.starts_with("postgresql://");
        if is_server && Url::parse(url).is_ok() {
            return Ok(Address::Server(url.to_owned()));
        }
        Err(invalid_url("it is neither sqlite:PATH nor postgres://USER:PASSWORD@HOST/DATABASE"))
    }

    /// The database system at this address.
    pub fn dialect(&self) -> SqlDialect {
        match self {
            Address::InStateFolder(_) | Address::File(_) => SqlDialect::Sqlite,
            Address::Server(_) => SqlDialect::Postgres,
        }
    }

    /// The file named in the configuration, if any.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Address::File(path) => Some(path),
            Address::InStateFolder(_) | Address::Server(_) => None,
        }
    }

    /// The path of the database's file; `None` for a server.
    pub fn path(&self) -> Result<Option<PathBuf>, EntityStoreError> {
        match self {
            Address::InStateFolder(state) => path_in(state).map(Some),
            Address::File(path) => Ok(Some(path.clone())),
            Address::Server(_) => Ok(None),
        }
    }

    /// A number that identifies the database, the same in all processes.
    pub fn number(&self) -> u64 {
        let name = match self {
            Address::InStateFolder(_) => "beside".to_owned(),
            Address::File(path) => std::path::absolute(path).unwrap_or_default().display().to_string(),
            Address::Server(url) => url.clone(),
        };
        let hash = Version::hash(name.as_bytes());
        u64::from_le_bytes(*hash.bytes().first_chunk().unwrap_or(&[0; 8]))
    }

    /// True if the database may hold content. The first write creates the one in lockgate's state
    /// folder.
    pub fn may_have_content(&self) -> bool {
        match self {
            Address::InStateFolder(state) => path_in(state).is_ok_and(|path| path.exists()),
            Address::File(_) | Address::Server(_) => true,
        }
    }

    /// Returns the connection options. Creates a missing file, readable by this user only.
    pub(super) fn options(&self) -> Result<ConnectOptions, EntityStoreError> {
        match self {
            Address::InStateFolder(state) => {
                let path = path_in(state)?;
                create_file(&path, OFlags::NOFOLLOW)?;
                let found = path.symlink_metadata().map_err(|error| unusable(&error))?;
                doubt(&found)
                    .map_or(Ok(()), |reason| Err(EntityStoreError::Unusable(format!("its file {reason}"))))?;
                sqlite(&path)
            }
            Address::File(path) => {
                create_file(path, OFlags::empty())?;
                sqlite(path)
            }
            Address::Server(url) => {
                let invalid = || EntityStoreError::Unusable("its URL is invalid".to_owned());
                Ok(ConnectOptions::Postgres(Box::new(PostgresOptions::parse(url).ok_or_else(invalid)?)))
            }
        }
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Address::InStateFolder(_) => "InStateFolder",
            Address::File(_) => "File",
            Address::Server(_) => "Server",
        })
    }
}

fn invalid_url(reason: &str) -> Error {
    Error::new(Code::InvalidInput, format!("invalid store URL: {reason}")).field("store")
}

/// The path of the database's file in lockgate's state folder.
fn path_in(state: &StateFolder) -> Result<PathBuf, EntityStoreError> {
    state.content().map(|folder| folder.join(FILE_NAME)).map_err(EntityStoreError::Unusable)
}

/// Creates a missing file, readable by this user only.
fn create_file(path: &Path, extra_flags: OFlags) -> Result<(), EntityStoreError> {
    let flags = OFlags::NONBLOCK | extra_flags;
    let file = open_or_create(path, flags).map_err(|error| unusable(&error))?;
    match file.metadata() {
        Ok(found) if found.is_file() => Ok(()),
        _ => Err(EntityStoreError::Unusable("its path is not a regular file".to_owned())),
    }
}

fn unusable(error: &std::io::Error) -> EntityStoreError {
    match error.kind() {
        std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => EntityStoreError::Full,
        _ => EntityStoreError::Unusable(format!("its file cannot be opened: {error}")),
    }
}

/// Returns the options for a file by its canonical path.
fn sqlite(path: &Path) -> Result<ConnectOptions, EntityStoreError> {
    path.canonicalize().map(ConnectOptions::Sqlite).map_err(|error| unusable(&error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_that_is_not_understood_is_refused_and_not_quoted() {
        for url in [
            "",
            "content.db",
            "sqlite:",
            "sqlite://",
            "sqlite::memory:",
            "sqlite://:memory:",
            "sqlite:a?mode=memory",
            "mysql://root:hunter2@host/db",
            "postgres:hunter2",
            "postgres://u:hunter2@[host/db",
            "POSTGRES://u:hunter2@host/db",
        ] {
            let error = Address::parse(url).unwrap_err();
            assert_eq!((error.code, error.field.as_deref()), (Code::InvalidInput, Some("store")), "{url}");
            assert!(!format!("{error:?}").contains("hunter2"), "{error:?}");
        }
        for url in [
            "sqlite:a.db",
            "sqlite:///a/b c.db",
            "postgres://u:hunter2@host/db",
            "postgresql:///db?host=/tmp",
        ] {
            let address = Address::parse(url).unwrap();
            assert!(!format!("{address:?}").contains("hunter2"));
        }
    }

    #[test]
    fn a_file_is_made_for_the_user_alone_whatever_its_name_holds() {
        use std::os::unix::fs::MetadataExt;
        use std::time::Duration;
        let dir = tempfile::tempdir().unwrap();
        for name in ["a.db", "a b%20c?d#e&ü'\".db"] {
            let path = dir.path().join(name);
            let options = Address::File(path.clone()).options().unwrap();
            assert_eq!(path.metadata().unwrap().mode() & 0o777, 0o600);
            options.open(Duration::ZERO).unwrap().run(&[], "CREATE TABLE t(a)").unwrap();
            assert!(path.metadata().unwrap().len() > 0);
        }
        assert!(Address::File(dir.path().to_owned()).options().is_err(), "a folder");
        assert!(Address::File(dir.path().join("no/such")).options().is_err());
    }
}
