//! Maps database errors to lockgate's errors.
//!
//! Invariant: driver messages are never returned to a client. They may contain another tenant's data or the
//! database's address, so they are logged at `debug`. The usual log has only those that hold no value of a row.

use super::dialect::TRANSACTION_TIMEOUT;
use crate::system_error::{FILE_SIZE_HINT, file_size_limit};
use lockgate_error::{Code, Error};
use rusqlite::{ErrorCode, ffi};
use std::ffi::c_int;
use std::io;
use tokio_postgres::error::DbError;
use tokio_rustls::rustls;

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
    /// The same, after the log got it with the cause that the driver gave.
    Logged(String),
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
            EntityStoreError::Other(reason) => {
                // The hint names the log.
                tracing::warn!("database of stored content: {reason}");
                EntityStoreError::Logged(reason).into()
            }
            EntityStoreError::Logged(reason) => unavailable(&reason)
                .hint("send the request again; if it keeps failing, ask a person to check the log"),
        }
    }
}

impl From<rusqlite::Error> for EntityStoreError {
    fn from(error: rusqlite::Error) -> EntityStoreError {
        log(&error);
        let failure = match &error {
            rusqlite::Error::SqlInputError { error, .. } => Some(error),
            other => other.sqlite_error(),
        };
        let Some(error) = failure else { return unexpected() };
        from_sqlite(error.extended_code).with_logged_cause(ffi::code_to_str(error.extended_code))
    }
}

impl From<tokio_postgres::Error> for EntityStoreError {
    fn from(error: tokio_postgres::Error) -> EntityStoreError {
        log(&error);
        let Some(code) = error.code() else { return connection_lost() };
        let message = error.as_db_error().filter(|_| may_be_logged(code.code())).map(DbError::message);
        from_postgres(code.code()).with_logged_cause(message.unwrap_or("its message is logged at `debug`"))
    }
}

/// True if PostgreSQL's messages with this code name tables, settings and resources, but hold no value of a row.
fn may_be_logged(code: &str) -> bool {
    ["0A", "42", "53", "55", "58"].iter().any(|class| code.starts_with(class))
}

impl EntityStoreError {
    /// Logs what a driver says about an error whose hint names the log.
    fn with_logged_cause(self, cause: &str) -> EntityStoreError {
        match self {
            EntityStoreError::Other(reason) => {
                tracing::warn!("database of stored content: {reason}: {cause}");
                EntityStoreError::Logged(reason)
            }
            other => other,
        }
    }
}

/// Maps an error of a connection, which may have TLS.
pub(super) fn lost(error: &io::Error) -> EntityStoreError {
    log(error);
    match error.get_ref().is_some_and(|cause| cause.is::<rustls::Error>()) {
        true => EntityStoreError::Unusable("its TLS certificate or handshake is invalid".to_owned()),
        false => connection_lost(),
    }
}

/// The error of a connection that ended before anything was written.
pub(super) fn connection_lost() -> EntityStoreError {
    EntityStoreError::ConnectionLost("the connection was lost".to_owned())
}

/// Maps an error of opening a connection. It is retried like a lost connection: the server may be starting.
pub(super) fn not_opened(error: &io::Error) -> EntityStoreError {
    log(error);
    EntityStoreError::ConnectionLost("no server can be reached at its address".to_owned())
}

fn log(error: &dyn std::error::Error) {
    let cause = error.source().map(|cause| format!(": {cause}")).unwrap_or_default();
    tracing::debug!("database of stored content: {error}{cause}");
}

/// The error for a row that lockgate's statements cannot return.
pub(super) fn unexpected() -> EntityStoreError {
    EntityStoreError::Other("it sent an unexpected response".to_owned())
}

/// The error of a transaction that exceeded [`TRANSACTION_TIMEOUT`].
pub(super) fn timed_out() -> EntityStoreError {
    let limit = TRANSACTION_TIMEOUT.as_secs();
    EntityStoreError::ConnectionLost(format!("it did not respond within {limit} s"))
}

/// Maps an extended code of SQLite.
fn from_sqlite(code: c_int) -> EntityStoreError {
    let at_limit = || file_size_limit().map(EntityStoreError::AtFileSizeLimit);
    let unusable = |reason: &str| EntityStoreError::Unusable(reason.to_owned());
    match (code, ffi::Error::new(code).code) {
        // The shared-memory index of the log could not grow; SQLite gives no more detail.
        (ffi::SQLITE_IOERR_SHMSIZE, _) => at_limit().unwrap_or(EntityStoreError::Full),
        // SQLite does not distinguish a file at its size limit from an error of the disk.
        (ffi::SQLITE_IOERR_WRITE, _) => at_limit().unwrap_or_else(|| unusable("its file cannot be written")),
        (_, ErrorCode::DiskFull) => EntityStoreError::Full,
        (_, ErrorCode::SystemIoFailure) => {
            unusable(&format!("its file cannot be read or written (SQLite's code {code})"))
        }
        (_, ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            EntityStoreError::Unreachable("other writers kept it locked for too long".to_owned())
        }
        (_, ErrorCode::ConstraintViolation) => EntityStoreError::Conflict,
        (_, ErrorCode::OperationInterrupted) => timed_out(),
        (_, ErrorCode::ReadOnly) => unusable("it is read-only"),
        (_, ErrorCode::CannotOpen) => unusable("its file cannot be opened"),
        (_, ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
            unusable("its file is not a database, or it is corrupt")
        }
        _ => EntityStoreError::Other(format!("SQLite reported an error (its code {code})")),
    }
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
        _ if code.starts_with("08") => EntityStoreError::ConnectionLost(with_code("the connection was lost")),
        _ if code.starts_with("28") || code == "3D000" => EntityStoreError::Unusable(with_code(
            "it rejects the credentials or the database name in its URL",
        )),
        _ => EntityStoreError::Other(with_code("PostgreSQL reported an error")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockgate_error::Disk;

    #[test]
    fn each_code_of_a_database_has_a_meaning() {
        let is_unreachable = |error| matches!(error, EntityStoreError::Unreachable(_));
        let is_lost = |error| matches!(error, EntityStoreError::ConnectionLost(_));
        let is_unusable = |error| matches!(error, EntityStoreError::Unusable(_));
        assert!(
            from_sqlite(13) == EntityStoreError::Full
                && from_sqlite(ffi::SQLITE_IOERR_SHMSIZE) == EntityStoreError::Full
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

    /// Returns the rejection of an error, and the lines of the usual log.
    fn rejection_and_log(make: impl FnOnce() -> EntityStoreError) -> (Error, String) {
        let log = tempfile::NamedTempFile::new().unwrap();
        let file = std::sync::Arc::new(log.reopen().unwrap());
        let subscriber = tracing_subscriber::fmt().with_max_level(tracing::Level::WARN).with_writer(file);
        let rejection = tracing::subscriber::with_default(subscriber.finish(), || Error::from(make()));
        (rejection, std::fs::read_to_string(log.path()).unwrap())
    }

    #[test]
    fn the_log_that_a_hint_names_has_the_cause_and_no_value() {
        let failure = rusqlite::Connection::open_in_memory()
            .unwrap()
            .execute_batch("SELECT json_extract('{}', 'secret')");
        let (rejection, log) = rejection_and_log(|| failure.unwrap_err().into());
        assert!(rejection.hint.is_some_and(|hint| hint.contains("the log")), "the control");
        assert!(log.contains("SQLite reported an error (its code 1): SQL logic error"), "{log}");
        assert_eq!(log.lines().count(), 1, "{log}");
        assert!(!log.contains("secret"), "{log}");
    }

    #[test]
    fn the_log_that_a_hint_names_has_every_error() {
        let own = || EntityStoreError::Other("an entity has an unknown type".to_owned());
        for (make, logged) in [
            (&own as &dyn Fn() -> EntityStoreError, "an entity has an unknown type"),
            (&unexpected, "it sent an unexpected response"),
        ] {
            let (rejection, log) = rejection_and_log(make);
            assert!(rejection.hint.is_some_and(|hint| hint.contains("the log")), "the control");
            assert_eq!(log.matches(logged).count(), 1, "{log}");
        }
    }

    #[test]
    fn a_message_that_may_hold_a_value_is_not_logged() {
        for (code, expected) in
            [("22P02", false), ("23505", false), ("P0001", false), ("42P01", true), ("58030", true)]
        {
            assert_eq!(may_be_logged(code), expected, "{code}");
        }
    }

    #[test]
    fn a_rejection_says_no_more_than_is_known() {
        let code_and_disk = |error: EntityStoreError| {
            let error = Error::from(error);
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
            assert_eq!(code_and_disk(new_error("why".to_owned())), (Code::StoreUnavailable, Disk::Untouched));
        }
    }
}
