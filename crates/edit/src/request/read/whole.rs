//! A text from one of its lines to the end.

use super::super::fields::parse_line;
use super::super::{EntityFields, Target};
use super::search::number;
use lockgate_error::Error;

/// The default and the largest number of characters that are shown.
const DEFAULT_CHARS: usize = 40_000;
const MAX_CHARS: i64 = 1_000_000;

/// The fields of a request for a text, each as given or absent.
#[derive(Debug, Clone, Default)]
pub struct WholeFields {
    /// The path of the file or entity.
    pub path: String,
    /// The entity type and its ids.
    pub scope: EntityFields,
    /// The first line, from 1.
    pub start_line: Option<i64>,
    /// The most characters that are shown.
    pub max_chars: Option<i64>,
}

/// A request for a text from one of its lines to the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WholeRequest {
    /// The file or entity to read.
    pub target: Target,
    /// The first line, from 1.
    pub start_line: usize,
    /// The most characters that are shown.
    pub max_chars: usize,
}

impl From<Target> for WholeRequest {
    /// Creates a request for the whole of a text.
    fn from(target: Target) -> WholeRequest {
        WholeRequest { target, start_line: 1, max_chars: DEFAULT_CHARS }
    }
}

impl WholeFields {
    /// Converts the fields to a request.
    ///
    /// Errors: `RANGE_OUT_OF_BOUNDS` for a line below 1, `INVALID_INPUT` for a number out of range and for ids of
    /// another scope.
    pub fn into_request(self) -> Result<WholeRequest, Error> {
        let start_line =
            self.start_line.map_or(Ok(1), |line| parse_line(line, || "start_line".to_owned()))?;
        let max_chars = number(self.max_chars, DEFAULT_CHARS, 1..=MAX_CHARS, "max_chars")?;
        Ok(WholeRequest { target: self.scope.into_target(self.path)?, start_line, max_chars })
    }
}
