//! An error in a query, with its position.

/// An error in a query. Its position is counted from 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryError {
    /// The line in the source.
    pub row: usize,
    /// The column in that line, in characters.
    pub column: usize,
    /// The description of the error, without its position.
    pub message: String,
}

pub(super) fn fault(error: &tree_sitter::QueryError, source: &str, language: &str) -> QueryError {
    let line = source.lines().nth(error.row).unwrap_or_default();
    let column = line.get(..error.column).map_or(0, |before| before.chars().count());
    let word: String =
        error.message.lines().next().unwrap_or_default().trim_matches('"').chars().take(60).collect();
    let what = match error.kind {
        tree_sitter::QueryErrorKind::Syntax => "syntax error".to_owned(),
        tree_sitter::QueryErrorKind::NodeType => format!("{language} has no node `{word}`"),
        tree_sitter::QueryErrorKind::Field => format!("{language} has no field `{word}`"),
        tree_sitter::QueryErrorKind::Capture => format!("no capture is named `{word}`"),
        tree_sitter::QueryErrorKind::Structure => format!("{language} never has nodes in this order"),
        tree_sitter::QueryErrorKind::Predicate => format!("invalid predicate: {word}"),
        tree_sitter::QueryErrorKind::Language => format!("there is no grammar for {language}"),
    };
    QueryError { row: error.row, column, message: what }
}
