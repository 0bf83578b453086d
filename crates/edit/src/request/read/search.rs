//! A search request: the lines that a pattern matches.

use super::super::fields::FlagsValue;
use super::super::{EntityFields, SearchScope};
use lockgate_error::{Code, Error, FieldValue, NextCall};
use lockgate_python_re::Flags;

/// The default number of context lines on each side of a match, and of matches.
const CONTEXT: usize = 3;
const DEFAULT_MATCHES: usize = 20;
/// The largest values that can be requested.
const MAX_CONTEXT: i64 = 50;
const MAX_MATCHES: i64 = 1000;
const MAX_OFFSET: i64 = 100_000;

/// The fields of a search request, each as given or absent.
#[derive(Debug, Clone, Default)]
pub struct SearchFields {
    /// The pattern to search for.
    pub pattern: String,
    /// A file, a folder, or a glob of files.
    pub path: Option<String>,
    /// The entity type and its ids.
    pub scope: EntityFields,
    /// Lines shown before and after each match.
    pub context_lines: Option<i64>,
    /// The most matches that are shown.
    pub max_results: Option<i64>,
    /// True if hidden files are searched, too.
    pub hidden: bool,
    /// True if a match may span lines.
    pub multiline: bool,
    /// True if the pattern is a text to find as it is.
    pub literal: bool,
    /// The flags of the pattern, as in Python's `re`. `MULTILINE` is always set.
    pub flags: Option<FlagsValue>,
    /// The number of matches to skip.
    pub offset: Option<i64>,
}

/// A request for the lines that a pattern matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchRequest {
    /// The pattern, in the syntax of the crate `regex`.
    pub pattern: String,
    /// A file, a folder, or a glob of files relative to the first root; every root, where it is absent.
    pub path: Option<String>,
    /// The scope of the search.
    pub entity_scope: SearchScope,
    /// Lines shown before and after each match.
    pub context: usize,
    /// The most matches that are shown, from 1.
    pub max_matches: usize,
    /// True if hidden files are searched, too.
    pub hidden: bool,
    /// True if a match may span lines.
    pub multiline: bool,
    /// The number of matches that are skipped before the first one that is shown.
    pub offset: usize,
}

impl SearchFields {
    /// Converts the fields to a request.
    ///
    /// Errors: `INVALID_INPUT`, with the field, for an empty pattern, for numbers out of range, and for ids
    /// of another scope.
    pub fn into_request(self) -> Result<SearchRequest, Error> {
        if self.pattern.is_empty() {
            return Err(Error::new(Code::InvalidInput, "pattern is empty, so every line would match")
                .named_field("pattern"));
        }
        let context = number(self.context_lines, CONTEXT, 0..=MAX_CONTEXT, "context_lines")?;
        let most = number(self.max_results, DEFAULT_MATCHES, 1..=MAX_MATCHES, "max_results")?;
        let offset = number(self.offset, 0, 0..=MAX_OFFSET, "offset")?;
        let SearchFields { pattern, path, scope, hidden, multiline, literal, flags, .. } = self;
        let flags = flags.map(FlagsValue::into_flags).transpose()?.unwrap_or_default();
        if flags.has(Flags::ASCII) {
            let message = "the flag A is only for safe_edit_file; here \\w and \\d match all of Unicode";
            return Err(Error::new(Code::InvalidInput, message).field("search_flags"));
        }
        let pattern = if literal { regex_syntax::escape(&pattern) } else { pattern };
        Ok(SearchRequest {
            pattern: inline_flags(flags) + &pattern,
            path,
            entity_scope: scope.into_scope()?,
            context,
            max_matches: most,
            hidden,
            multiline: multiline || flags.has(Flags::DOTALL),
            offset,
        })
    }
}

/// Returns the flags as the beginning of a pattern, as in `(?is)`; empty without flags.
fn inline_flags(flags: Flags) -> String {
    let letters = [(Flags::IGNORECASE, 'i'), (Flags::DOTALL, 's'), (Flags::VERBOSE, 'x')];
    let set: String =
        letters.iter().filter(|(flag, _)| flags.has(*flag)).map(|(_, letter)| *letter).collect();
    if set.is_empty() { set } else { format!("(?{set})") }
}

/// Returns a number within a range, or its default.
pub(super) fn number(
    value: Option<i64>,
    default: usize,
    range: std::ops::RangeInclusive<i64>,
    field: &str,
) -> Result<usize, Error> {
    let Some(value) = value else { return Ok(default) };
    let fits = usize::try_from(value).ok().filter(|_| range.contains(&value));
    fits.ok_or_else(|| {
        let message = format!("{field} must be from {} to {}, found {value}", range.start(), range.end());
        let nearest = value.clamp(*range.start(), *range.end()).unsigned_abs();
        let next = NextCall::Correct { field: field.to_owned(), value: FieldValue::Number(nearest) };
        Error::new(Code::InvalidInput, message).named_field(field).with_next(next)
    })
}
