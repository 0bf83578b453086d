//! The errors of a journal's database, to which those of SQLite and of the operating system are mapped.

use crate::system_error::{FILE_SIZE_HINT, file_size_limit};
use lockgate_error::{Code, Error};
use rusqlite::{ErrorCode, ffi};
use std::io;

/// An error of the journal's database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum DatabaseError {
    Full(String),
    /// A file has reached the file size limit of this process, which the text names.
    FileTooLarge(String),
    /// The file is not a database, or it is corrupt.
    Corrupt(String),
    /// An error that may be temporary.
    Other(String),
    /// The journal must not be used; the text is the reason.
    Unusable(String),
}

impl DatabaseError {
    /// Returns the error code and the reason.
    pub fn code_and_reason(&self) -> (Code, &str) {
        match self {
            DatabaseError::Full(reason) | DatabaseError::FileTooLarge(reason) => (Code::NoSpace, reason),
            DatabaseError::Corrupt(reason)
            | DatabaseError::Other(reason)
            | DatabaseError::Unusable(reason) => (Code::StoreUnavailable, reason),
        }
    }

    /// Converts this into the error of a caller; `problem` says what cannot be done.
    pub fn to_error(&self, problem: &str) -> Error {
        let (code, why) = self.code_and_reason();
        let error = Error::new(code, format!("{problem}: {why}"));
        if let DatabaseError::FileTooLarge(_) = self { error.hint(FILE_SIZE_HINT) } else { error }
    }
}

impl From<rusqlite::Error> for DatabaseError {
    fn from(error: rusqlite::Error) -> DatabaseError {
        let reason = error.to_string();
        let extended = error.sqlite_error().map(|error| error.extended_code);
        match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => DatabaseError::Full(reason),
            // The shared-memory index of the log could not grow; SQLite gives no more detail.
            _ if extended == Some(ffi::SQLITE_IOERR_SHMSIZE) => {
                above_file_size_limit(&reason).unwrap_or(DatabaseError::Full(reason))
            }
            // SQLite does not distinguish a file at its size limit from a disk error.
            _ if extended == Some(ffi::SQLITE_IOERR_WRITE) => {
                above_file_size_limit(&reason).unwrap_or(DatabaseError::Other(reason))
            }
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => DatabaseError::Corrupt(reason),
            _ => DatabaseError::Other(reason),
        }
    }
}

impl From<io::Error> for DatabaseError {
    fn from(error: io::Error) -> DatabaseError {
        let reason = error.to_string();
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => DatabaseError::Full(reason),
            io::ErrorKind::FileTooLarge => {
                above_file_size_limit(&reason).unwrap_or(DatabaseError::Full(reason))
            }
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                DatabaseError::Unusable(reason)
            }
            _ => DatabaseError::Other(reason),
        }
    }
}

/// Returns the error for a file that may have reached the file size limit of this process; `None` without a limit.
fn above_file_size_limit(reason: &str) -> Option<DatabaseError> {
    let limit = file_size_limit()?;
    let reason = format!("{reason}; files of this process are limited to {limit} bytes (`ulimit -f`)");
    Some(DatabaseError::FileTooLarge(reason))
}
