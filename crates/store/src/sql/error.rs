//! The errors of a journal's database.

use crate::system_error::FILE_SIZE_HINT;
use lockgate_error::{Code, Error};

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
