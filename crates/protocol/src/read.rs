//! The responses of the tools that read, search and list.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};

use super::{EntityKey, Name};

/// Some lines of a text.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct LinesResponse {
    /// The path of the text.
    pub path: String,
    /// The first line of `content`, from 1.
    pub start_line: usize,
    /// The last line of `content`, inclusive.
    pub end_line: usize,
    /// The number of lines in the text.
    pub total_lines: usize,
    /// The version of the text.
    pub version: String,
    /// The lines, each after its number.
    pub content: String,
    /// The key of the text, if it is an entity.
    #[serde(flatten)]
    pub key: EntityKey,
    /// The path that a symbolic link leads to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolved_path: Option<String>,
    /// True if requested lines are not shown; else absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub truncated: Option<bool>,
    /// The shown part, if the first line is cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
}

/// A whole text, or the part of it that fits into the answer.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct TextResponse {
    /// The path of the text.
    pub path: String,
    /// The text, with line ends of one character.
    pub content: String,
    /// The number of lines in the text.
    pub total_lines: usize,
    /// The version of the text.
    pub version: String,
    /// True if a part of the text is not shown.
    pub truncated: bool,
    /// The key of the text, if it is an entity.
    #[serde(flatten)]
    pub key: EntityKey,
    /// The path that a symbolic link leads to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolved_path: Option<String>,
    /// The shown part, if it is not all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
}

/// The matches of a search.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct SearchResponse {
    /// The first matches, by path and line.
    pub matches: Vec<SearchRow>,
    /// The number of all matches.
    pub total_matches: usize,
    /// True if matches are not shown or not counted.
    pub truncated: bool,
    /// The `offset` of the next matches, if there are more; only the text form shows it.
    #[serde(skip)]
    pub next_offset: Option<usize>,
    /// If matches are not shown: the number of matches in each of the first 50 files or entities with matches.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub counts: Vec<FileMatches>,
    /// The parts of the key that all matches share.
    #[serde(flatten)]
    pub key: EntityKey,
    /// Notes on what was left out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// The number of matches in one file or entity.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct FileMatches {
    /// The path of the text.
    pub path: String,
    /// The number of matches; several in one line count once.
    pub matches: usize,
    /// The parts of the key that differ between the matches.
    #[serde(flatten)]
    pub key: EntityKey,
}

/// A match of a search.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct SearchRow {
    /// The path of the text.
    pub path: String,
    /// The line of the match; the first one of a multi-line match.
    pub line_number: usize,
    /// The last line of a multi-line match, inclusive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_line: Option<usize>,
    /// The lines that contain the match; if they are more than [`MAX_LINES`](Self::MAX_LINES), the first ones and `...`.
    #[serde(rename = "match")]
    pub text: String,
    /// The lines before the match.
    pub context_before: Vec<NumberedText>,
    /// The lines after the match.
    pub context_after: Vec<NumberedText>,
    /// The version of the text.
    pub version: String,
    /// The parts of the key in which the matches differ.
    #[serde(flatten)]
    pub key: EntityKey,
}

impl SearchRow {
    /// The most lines of one match that are shown.
    pub const MAX_LINES: usize = 50;
}

/// A line with its number. On the wire it is a string such as `7: text`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NumberedText {
    /// The number of the line.
    pub line: usize,
    /// The text of the line.
    pub text: String,
}

impl Serialize for NumberedText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{}: {}", self.line, self.text))
    }
}

/// A list of files or entities.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ListResponse {
    /// The first entries, by path.
    pub entries: Vec<ListRow>,
    /// True if entries are not shown.
    pub truncated: bool,
    /// The parts of the key that all entries share.
    #[serde(flatten)]
    pub key: EntityKey,
    /// Notes on what was left out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// A file or entity of a list.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ListRow {
    /// The path of the text.
    pub path: String,
    /// The size in bytes, as stored.
    pub size: u64,
    /// The parts of the key in which the entries differ.
    #[serde(flatten)]
    pub key: EntityKey,
    /// The version of the text; absent if it could not be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
}

/// The symbols and files that a context query found. Parts that were not requested are absent.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ContextResponse {
    /// The requested file and its outline.
    #[serde(flatten)]
    pub target: Option<ContextTarget>,
    /// The definitions of the requested symbol, most relevant first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub definitions: Option<Vec<ContextSymbol>>,
    /// The symbols that match the words of the query, most relevant first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub symbols: Option<Vec<ContextSymbol>>,
    /// The uses of the requested symbol, nearest first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub references: Option<Vec<ContextReference>>,
    /// The definitions of the names that the requested file uses, nearest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub uses: Vec<ContextSymbol>,
    /// The summary of the project.
    #[serde(flatten)]
    pub project: Option<ContextProject>,
    /// The versions of the shown files except the requested one, by path.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub versions: BTreeMap<String, String>,
    /// Notes on what was left out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// True if something was left out; else absent.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
    /// The maximum size of each form of the response, in bytes.
    #[serde(skip)]
    pub max_bytes: usize,
}

/// A file and its symbols.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ContextTarget {
    /// The path of the file; cut if it does not fit.
    pub path: String,
    /// The version of its whole text.
    pub version: String,
    /// The number of lines in its text.
    pub total_lines: usize,
    /// Its symbols, in its order.
    pub outline: Vec<ContextSymbol>,
}

/// A symbol and its definition.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ContextSymbol {
    /// The path of its file; empty if the response states the file once for all symbols.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub path: String,
    /// The name with the names around it, as in `Class.method`; `within` accepts it.
    pub name: String,
    /// The kind of symbol, such as `function`.
    pub kind: Name,
    /// The first line, such as that of a decorator, if it is not `line`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_line: Option<usize>,
    /// The line with the name.
    pub line: usize,
    /// The last line of the symbol, inclusive.
    pub end_line: usize,
    /// The declaration, on one line.
    pub signature: String,
    /// The first line of the documentation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub doc: Option<String>,
    /// The complete code, if it fits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
}

/// A line that uses a symbol.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ContextReference {
    /// The path of the file.
    pub path: String,
    /// The line in the file.
    pub line: usize,
    /// The text of the line.
    pub text: String,
    /// The symbol around the line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub within: Option<String>,
}

/// A summary of a project.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ContextProject {
    /// The number of files in all folders.
    pub files: usize,
    /// Its folders, those nearest to the root first.
    pub folders: Vec<ContextFolder>,
    /// The paths of its key files, most informative first.
    pub important: Vec<String>,
}

/// A folder of the project.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ContextFolder {
    /// The path; `.` for the top of the first root.
    pub path: String,
    /// The number of files in it and its subfolders.
    pub files: usize,
    /// The most common languages, each with its number of files.
    #[serde(serialize_with = "as_map")]
    pub languages: Vec<(String, usize)>,
}

fn as_map<S: Serializer>(pairs: &[(String, usize)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(pairs.iter().map(|(name, value)| (name, value)))
}
