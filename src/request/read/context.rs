//! What the code says: the outline of a file, the definition and the references of a symbol, the shape of a project.

use super::super::Target;
use super::search::number;
use crate::error::Error;

/// Tokens of an answer where nothing else is asked, and the range that can be.
const TOKENS: usize = 4000;
const RANGE: std::ops::RangeInclusive<i64> = 100..=50_000;

/// The fields of a look at what the code says, each as given or absent.
#[derive(Debug, Clone, Default)]
pub struct ContextFields {
    /// The file whose outline is wanted, and near which other things are nearer.
    pub target_file: Option<String>,
    /// Words that tell what is wanted.
    pub query: Option<String>,
    /// The symbol whose definition and references are wanted.
    pub symbol: Option<String>,
    /// The most tokens of the answer.
    pub max_tokens: Option<i64>,
}

/// A look at what the code says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContextLook {
    /// The file whose outline is wanted, and near which other things are nearer.
    pub target: Option<Target>,
    /// Words that tell what is wanted.
    pub query: Option<String>,
    /// The symbol whose definition and references are wanted, perhaps with the names around it, as in `Class.method`.
    pub symbol: Option<String>,
    /// The most tokens of the answer.
    pub tokens: usize,
}

impl ContextFields {
    /// Raises the fields to the look that they name; without any, the shape of the project is looked at.
    ///
    /// Errors: `INVALID_INPUT` for a number out of range.
    pub fn raise(self) -> Result<ContextLook, Error> {
        let tokens = number(self.max_tokens, TOKENS, RANGE, "max_tokens")?;
        let given = |text: Option<String>| text.filter(|text| !text.trim().is_empty());
        let (query, symbol) = (given(self.query), given(self.symbol));
        Ok(ContextLook { target: self.target_file.map(Target::File), query, symbol, tokens })
    }
}
