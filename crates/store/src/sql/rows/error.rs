//! Maps database errors to lockgate's errors.
//!
//! Invariant: driver messages are logged but never returned to a client. They may contain another
//! tenant's data or the database's address.

use crate::system_error::FILE_SIZE_HINT;
use lockgate_error::{Code, Error};

/// An error of an entity database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum EntityStoreError {
    Full,
    /// The file of the database may have reached the limit of this process for files, in bytes.
    AtFileSizeLimit(u64),
    /// The database cannot be reached.
    Unreachable(String),
    /// The connection was lost before anything was written; a retry on another connection is safe.
    ConnectionLost(String),
    /// The connection was lost during a commit, and it is unknown if the edit was written.
    Unknown,
    /// A concurrent write changed the same row first.
    Conflict,
    /// The database must not be used in its current state; the text is the reason.
    Unusable(String),
    /// Any other error, with its message.
    Other(String),
}

/// The error that a client gets.
impl From<EntityStoreError> for Error {
    fn from(error: EntityStoreError) -> Error {
        let unavailable = |reason: &str| {
            Error::new(
                Code::StoreUnavailable,
                format!("the database of stored content cannot be used: {reason}"),
            )
        };
        match error {
            EntityStoreError::Full => {
                Error::new(Code::NoSpace, "the database of stored content has no room left on its disk")
            }
            EntityStoreError::AtFileSizeLimit(limit) => {
                let message = format!(
                    "the database of stored content cannot be used: its file cannot grow; files of this process are \
                     limited to {limit} bytes (`ulimit -f`)"
                );
                Error::new(Code::NoSpace, message).hint(FILE_SIZE_HINT)
            }
            EntityStoreError::Unreachable(reason) | EntityStoreError::ConnectionLost(reason) => {
                unavailable(&reason)
                    .hint("send the request again; if it keeps failing, ask a person to check the database")
            }
            EntityStoreError::Unknown => unavailable("the connection was lost during the commit")
                .hint("read it again: the edit was written completely or not at all")
                .with_unknown_disk(),
            EntityStoreError::Conflict => {
                unavailable("concurrent edits keep changing the same rows").hint("send the request again")
            }
            EntityStoreError::Unusable(reason) => {
                unavailable(&reason).hint("ask a person to check the database and the value of `--store`")
            }
            EntityStoreError::Other(reason) => unavailable(&reason)
                .hint("send the request again; if it keeps failing, ask a person to check the log"),
        }
    }
}

mod driver {
    use super::EntityStoreError;
    use crate::sql::rows::dialect::TRANSACTION_TIMEOUT;
    use std::error::Error;
    use std::ffi::c_int;
    use std::io;
    use tokio_rustls::rustls;

    /// The lower byte of SQLite's extended codes is the primary result code.
    const SQLITE: c_int = 0xff;
    const BUSY: c_int = 5;
    const LOCKED: c_int = 6;
    const READ_ONLY: c_int = 8;
    const CORRUPT: c_int = 11;
    const FULL: c_int = 13;
    const INTERRUPTED: c_int = 9;
    const CANNOT_OPEN: c_int = 14;
    const CONSTRAINT: c_int = 19;
    const NO_DATABASE: c_int = 26;
    /// The shared-memory index of the log could not grow; SQLite gives no more detail.
    const NO_SHARED_MEMORY: c_int = 10 | (19 << 8);
    /// A write failed; SQLite does not distinguish a file at its size limit from an error of the disk.
    const WRITE_FAILED: c_int = 10 | (3 << 8);
    const INPUT_OUTPUT: c_int = 10;

    impl From<rusqlite::Error> for EntityStoreError {
        fn from(error: rusqlite::Error) -> EntityStoreError {
            log(&error);
            error.sqlite_error().map_or_else(unexpected, |error| from_sqlite(error.extended_code))
        }
    }

    impl From<tokio_postgres::Error> for EntityStoreError {
        fn from(error: tokio_postgres::Error) -> EntityStoreError {
            log(&error);
            let lost = || EntityStoreError::ConnectionLost("the connection was lost".to_owned());
            error.code().map_or_else(lost, |code| from_postgres(code.code()))
        }
    }

    /// Maps an error of a connection, which may have TLS.
    pub(in crate::sql::rows) fn lost(error: &io::Error) -> EntityStoreError {
        log(error);
        match error.get_ref().is_some_and(|cause| cause.is::<rustls::Error>()) {
            true => EntityStoreError::Unusable("its TLS certificate or handshake is invalid".to_owned()),
            false => EntityStoreError::ConnectionLost("the connection was lost".to_owned()),
        }
    }

    /// Maps an error of opening a connection. It is retried like a lost connection: the server may be starting.
    pub(in crate::sql::rows) fn not_opened(error: &io::Error) -> EntityStoreError {
        log(error);
        EntityStoreError::ConnectionLost("no server can be reached at its address".to_owned())
    }

    fn log(error: &dyn Error) {
        let cause = error.source().map(|cause| format!(": {cause}")).unwrap_or_default();
        tracing::debug!("database of stored content: {error}{cause}");
    }

    /// The error for a row that lockgate's statements cannot return.
    pub(in crate::sql::rows) fn unexpected() -> EntityStoreError {
        EntityStoreError::Other("it sent an unexpected response".to_owned())
    }

    /// The error of a transaction that exceeded [`TRANSACTION_TIMEOUT`].
    pub(in crate::sql::rows) fn timed_out() -> EntityStoreError {
        let limit = TRANSACTION_TIMEOUT.as_secs();
        EntityStoreError::ConnectionLost(format!("it did not respond within {limit} s"))
    }

    fn from_sqlite(code: c_int) -> EntityStoreError {
        match code & SQLITE {
            FULL => EntityStoreError::Full,
            _ if code == NO_SHARED_MEMORY => at_file_size_limit().unwrap_or(EntityStoreError::Full),
            _ if code == WRITE_FAILED => at_file_size_limit()
                .unwrap_or_else(|| EntityStoreError::Unusable("its file cannot be written".to_owned())),
            INPUT_OUTPUT => EntityStoreError::Unusable(format!(
                "its file cannot be read or written (SQLite's code {code})"
            )),
            BUSY | LOCKED => {
                EntityStoreError::Unreachable("other writers kept it locked for too long".to_owned())
            }
            CONSTRAINT => EntityStoreError::Conflict,
            INTERRUPTED => timed_out(),
            READ_ONLY => EntityStoreError::Unusable("it is read-only".to_owned()),
            CANNOT_OPEN => EntityStoreError::Unusable("its file cannot be opened".to_owned()),
            CORRUPT | NO_DATABASE => {
                EntityStoreError::Unusable("its file is not a database, or it is corrupt".to_owned())
            }
            _ => EntityStoreError::Other(format!("SQLite reported an error (its code {code})")),
        }
    }

    /// Returns the error of a file that may have reached the file size limit of this process; `None` without a limit.
    fn at_file_size_limit() -> Option<EntityStoreError> {
        let limit = rustix::process::getrlimit(rustix::process::Resource::Fsize).current?;
        Some(EntityStoreError::AtFileSizeLimit(limit))
    }

    fn from_postgres(code: &str) -> EntityStoreError {
        let with_code = |reason: &str| format!("{reason} (SQLSTATE {code})");
        match code {
            // The disk is full, or a tablespace's quota is used up.
            "53100" => EntityStoreError::Full,
            // A serialization failure, a deadlock, or a duplicate key from a concurrent insert.
            "40001" | "40P01" | "23505" => EntityStoreError::Conflict,
            // The server shut down, crashed or is starting up, or it closed an idle session.
            "57P01" | "57P02" | "57P03" | "25P03" => {
                EntityStoreError::ConnectionLost(with_code("it closed the connection"))
            }
            "53300" => EntityStoreError::Unreachable(with_code("it has too many connections")),
            "57014" | "55P03" => EntityStoreError::Unreachable(with_code("it took too long")),
            "42501" => EntityStoreError::Unusable(with_code("its role lacks a permission")),
            _ if code.starts_with("08") => {
                EntityStoreError::ConnectionLost(with_code("the connection was lost"))
            }
            _ if code.starts_with("28") || code == "3D000" => EntityStoreError::Unusable(with_code(
                "it rejects the credentials or the database name in its URL",
            )),
            _ => EntityStoreError::Other(with_code("PostgreSQL reported an error")),
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use lockgate_error::{Code, Disk};

        #[test]
        fn each_code_of_a_database_has_a_meaning() {
            let is_unreachable = |error| matches!(error, EntityStoreError::Unreachable(_));
            let is_lost = |error| matches!(error, EntityStoreError::ConnectionLost(_));
            let is_unusable = |error| matches!(error, EntityStoreError::Unusable(_));
            assert!(
                from_sqlite(13) == EntityStoreError::Full
                    && from_sqlite(NO_SHARED_MEMORY) == EntityStoreError::Full
            );
            assert!(
                from_sqlite(1555) == EntityStoreError::Conflict
                    && from_sqlite(2067) == EntityStoreError::Conflict
            );
            assert!([5, 261, 517, 6].into_iter().all(|code| is_unreachable(from_sqlite(code))));
            assert!([8, 264, 11, 14, 26].into_iter().all(|code| is_unusable(from_sqlite(code))));
            assert!([10, 266, 778].into_iter().all(|code| is_unusable(from_sqlite(code))), "without a limit");
            assert!(is_lost(from_sqlite(9)), "after the time limit");
            assert!(matches!(from_sqlite(1), EntityStoreError::Other(_)));
            let tls = io::Error::other(rustls::Error::HandshakeNotComplete);
            assert!(is_unusable(lost(&tls)) && is_lost(lost(&io::ErrorKind::BrokenPipe.into())));
            assert_eq!(from_postgres("53100"), EntityStoreError::Full);
            assert!(
                ["40001", "40P01", "23505"]
                    .into_iter()
                    .all(|code| from_postgres(code) == EntityStoreError::Conflict)
            );
            assert!(
                ["57P01", "57P02", "57P03", "25P03", "08006"]
                    .into_iter()
                    .all(|code| is_lost(from_postgres(code)))
            );
            assert!(["57014", "55P03", "53300"].into_iter().all(|code| is_unreachable(from_postgres(code))));
            assert!(
                ["28P01", "28000", "3D000", "42501"].into_iter().all(|code| is_unusable(from_postgres(code)))
            );
            assert!(matches!(from_postgres("42601"), EntityStoreError::Other(_)));
        }

        #[test]
        fn a_rejection_says_no_more_than_is_known() {
            let code_and_disk = |error: EntityStoreError| {
                let error = lockgate_error::Error::from(error);
                (error.code, error.disk)
            };
            assert_eq!(code_and_disk(EntityStoreError::Unknown), (Code::StoreUnavailable, Disk::Unknown));
            assert_eq!(code_and_disk(EntityStoreError::Full), (Code::NoSpace, Disk::Untouched));
            let limited = EntityStoreError::AtFileSizeLimit(512);
            assert_eq!(code_and_disk(limited), (Code::NoSpace, Disk::Untouched));
            for new_error in [
                EntityStoreError::Unreachable,
                EntityStoreError::ConnectionLost,
                EntityStoreError::Unusable,
                EntityStoreError::Other,
            ] {
                assert_eq!(
                    code_and_disk(new_error("why".to_owned())),
                    (Code::StoreUnavailable, Disk::Untouched)
                );
            }
        }
    }
}

pub(super) use driver::{lost, not_opened, timed_out, unexpected};
