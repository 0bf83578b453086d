//! A request for code context: the outline of a file, the definition and references of a symbol, the summary
//! of a project.

use super::super::Target;
use super::search::number;
use lockgate_error::Error;

/// The default size of an answer in tokens, and the allowed range.
const TOKENS: usize = 4000;
const RANGE: std::ops::RangeInclusive<i64> = 100..=50_000;

/// The fields of a request for code context, each as given or absent.
#[derive(Debug, Clone, Default)]
pub struct ContextFields {
    /// The file to outline; results near it rank higher.
    pub target_file: Option<String>,
    /// The words to search for in names and documentation.
    pub query: Option<String>,
    /// The symbol whose definition and references are requested.
    pub symbol: Option<String>,
    /// The most tokens of the answer.
    pub max_tokens: Option<i64>,
}

/// A request for code context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContextRequest {
    /// The file to outline; results near it rank higher.
    pub target: Option<Target>,
    /// The words to search for in the project.
    pub query: Option<String>,
    /// The symbol whose definition and references are requested, optionally qualified, as in `Class.method`.
    pub symbol: Option<String>,
    /// The most tokens of the answer.
    pub tokens: usize,
}

impl ContextFields {
    /// Converts the fields to a request; without any field it asks for the project summary.
    ///
    /// Errors: `INVALID_INPUT` for a number out of range.
    pub fn into_request(self) -> Result<ContextRequest, Error> {
        let tokens = number(self.max_tokens, TOKENS, RANGE, "max_tokens")?;
        let non_blank = |text: Option<String>| text.filter(|text| !text.trim().is_empty());
        let (query, symbol) = (non_blank(self.query), non_blank(self.symbol));
        Ok(ContextRequest { target: self.target_file.map(Target::File), query, symbol, tokens })
    }
}
