//! The fields of an edit on the wire, and their conversion to an [`Edit`].
//!
//! The presence of a field selects the mode, even if its value is empty: `content: ""` is content.

use std::num::NonZeroUsize;

use crate::modes::Edit;
use crate::operations::{Insertion, LineEdit, LineEditNames, LineWindow, Needle, Occurrences, Search};
use crate::pattern_error::pattern_error;
use lockgate_error::{Code, Error, NextCall};
use lockgate_matching::{MatchTolerance, OnDuplicate};
use lockgate_python_re::Flags;
use schemars::JsonSchema;
use serde::Deserialize;

/// The lines that a caller reads after a line number below 1.
const FIRST_LINES: usize = 100;

/// The most items in a list of one call.
const MAX_ITEMS: usize = 10_000;

/// The fields of an edit, each as given or absent.
#[derive(Debug, Clone, Default)]
pub struct Fields {
    /// The new text of the whole file.
    pub content: Option<String>,
    /// Ranges of lines with their new text.
    pub line_edits: Option<Vec<LineEditFields>>,
    /// Text to insert before lines.
    pub insert_lines: Option<Vec<InsertFields>>,
    /// The text or pattern to search for.
    pub search: Option<String>,
    /// The text that replaces a match; a template if `search` is a pattern.
    pub replace: Option<String>,
    /// True if `search` is a pattern.
    pub regex: Option<bool>,
    /// The most replacements, at least 1; absent for all.
    pub search_count: Option<i64>,
    /// The exact number of matches, at least 1; absent for any.
    pub expect_matches: Option<i64>,
    /// The flags of the pattern.
    pub search_flags: Option<FlagsValue>,
    /// The lines to search; the whole text if absent.
    pub lines: Option<WindowFields>,
    /// The symbol to search in.
    pub within: Option<String>,
    /// The action if the replacement is already in the file.
    pub on_duplicate: OnDuplicate,
}

/// Flags of a pattern, as Python's integer or by name.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum FlagsValue {
    /// An integer of Python's flags, as in `2`.
    Bits(i64),
    /// Flag names, as in `IGNORECASE|MULTILINE`.
    Names(String),
}

impl FlagsValue {
    /// Converts the value to flags.
    ///
    /// Errors: `BAD_PATTERN` for flags that Python does not know.
    pub fn into_flags(self) -> Result<Flags, Error> {
        let flags = match self {
            FlagsValue::Bits(bits) => Flags::from_bits(bits),
            FlagsValue::Names(names) => Flags::from_names(&names),
        };
        flags.map_err(pattern_error)
    }
}

/// One range of lines with its new text, as given.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[schemars(description = "")]
#[serde(deny_unknown_fields)]
pub struct LineEditFields {
    /// The first line, from 1.
    #[schemars(description = "The first line.")]
    pub start_line: i64,
    /// The last line, inclusive, from 1.
    #[schemars(description = "The last line.")]
    pub end_line: i64,
    /// The new text; empty deletes the lines.
    #[schemars(description = "Empty deletes the lines.")]
    pub new_content: String,
    /// The text that the caller expects in these lines.
    #[schemars(description = "The first line that you expect there, else rejected.")]
    pub expect: Option<String>,
}

/// One insertion before a line, as given.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[schemars(description = "")]
#[serde(deny_unknown_fields)]
pub struct InsertFields {
    /// The line before which to insert, from 1.
    #[schemars(description = "From 1; one past the last appends.")]
    pub at_line: i64,
    /// The text that is inserted.
    #[schemars(description = "A missing line end is added.")]
    pub content: String,
    /// The text that the caller expects at that line.
    #[schemars(description = "The line that you expect there.")]
    pub expect: Option<String>,
}

/// A range of lines, as given.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[schemars(description = "")]
#[serde(deny_unknown_fields)]
pub struct WindowFields {
    /// The first line, from 1.
    #[schemars(description = "First.")]
    pub start: i64,
    /// The last line, from 1 and inclusive.
    #[schemars(description = "Last.")]
    pub end: i64,
}

impl Fields {
    /// Converts the fields to the one edit that they describe.
    ///
    /// Errors: `MODE_MISSING`, `MODE_CONFLICT`, `INVALID_INPUT` with the path of the field,
    /// `RANGE_OUT_OF_BOUNDS` for a line below 1, `BAD_PATTERN` for flags that Python does not know.
    pub fn into_edit(self) -> Result<Edit, Error> {
        self.check_one_mode()?;
        match self {
            Fields { content: Some(content), .. } => Ok(Edit::Content(content)),
            Fields { line_edits: Some(edits), .. } => parse_line_edits(edits).map(Edit::Lines),
            Fields { insert_lines: Some(inserts), .. } => parse_insertions(inserts).map(Edit::Insert),
            Fields {
                search: Some(search),
                replace: Some(replace),
                regex,
                search_count,
                expect_matches,
                search_flags,
                lines,
                within,
                on_duplicate,
                ..
            } => {
                let count = parse_count(search_count, "search_count", "to replace every match")?;
                let expect_matches =
                    parse_count(expect_matches, "expect_matches", "to accept any number of matches")?;
                let lines = lines.map(parse_window).transpose()?;
                let needle = parse_needle(search, regex, search_flags)?;
                Ok(Edit::Search(Search {
                    needle,
                    replace,
                    count,
                    expect_matches,
                    lines,
                    within,
                    occurrences: Occurrences::Matches,
                    tolerance: MatchTolerance::Wrapping,
                    on_duplicate,
                }))
            }
            Fields { .. } => Err(no_mode()),
        }
    }

    fn check_one_mode(&self) -> Result<(), Error> {
        let searching = self.search.is_some() || self.replace.is_some();
        let modes: Vec<&str> = [
            ("content", self.content.is_some()),
            ("line_edits", self.line_edits.is_some()),
            ("insert_lines", self.insert_lines.is_some()),
            ("search/replace", searching),
        ]
        .into_iter()
        .filter_map(|(name, present)| present.then_some(name))
        .collect();
        match modes.as_slice() {
            [] => Err(no_mode()),
            ["search/replace"] => self.check_search_pair(),
            [_] => self.check_no_search_options(),
            [..] => Err(Error::new(
                Code::ModeConflict,
                format!("only one edit mode may be given in one call, found {}", modes.join(", ")),
            )),
        }
    }

    fn check_search_pair(&self) -> Result<(), Error> {
        let missing = match (&self.search, &self.replace) {
            (Some(_), Some(_)) => return Ok(()),
            (Some(_), None) => "replace",
            (None, _) => "search",
        };
        Err(Error::new(
            Code::InvalidInput,
            format!("this mode needs both search and replace; `{missing}` is missing"),
        )
        .named_field(missing))
    }

    fn check_no_search_options(&self) -> Result<(), Error> {
        let plain_flags = match &self.search_flags {
            None | Some(FlagsValue::Bits(0)) => true,
            Some(FlagsValue::Bits(_) | FlagsValue::Names(_)) => false,
        };
        let options = [
            ("regex", self.regex == Some(true)),
            ("search_flags", !plain_flags),
            ("search_count", self.search_count.is_some()),
            ("expect_matches", self.expect_matches.is_some()),
            ("lines", self.lines.is_some()),
            ("within", self.within.is_some()),
        ];
        match options.into_iter().find(|(_, is_set)| *is_set) {
            None => Ok(()),
            Some((name, _)) => {
                Err(Error::new(Code::ModeConflict, format!("`{name}` is only for search and replace"))
                    .named_field(name))
            }
        }
    }
}

fn no_mode() -> Error {
    Error::new(
        Code::ModeMissing,
        "at least one edit mode is needed: content, line_edits, insert_lines, or search with replace",
    )
}

fn parse_line_edits(edits: Vec<LineEditFields>) -> Result<Vec<LineEdit>, Error> {
    check_length("line_edits", &edits)?;
    edits.into_iter().enumerate().map(|(index, edit)| parse_line_edit(index, edit)).collect()
}

fn parse_line_edit(index: usize, edit: LineEditFields) -> Result<LineEdit, Error> {
    let start_line = parse_line(edit.start_line, || format!("line_edits[{index}].start_line"))?;
    let end_line = parse_line(edit.end_line, || format!("line_edits[{index}].end_line"))?;
    if start_line > end_line {
        return Err(Error::new(
            Code::InvalidInput,
            format!("start_line must be <= end_line, found {start_line} and {end_line}"),
        )
        .field(format!("line_edits[{index}].end_line")));
    }
    Ok(LineEdit {
        start_line,
        end_line,
        new_content: edit.new_content,
        expect: edit.expect,
        names: LineEditNames::Lists,
    })
}

fn parse_insertions(inserts: Vec<InsertFields>) -> Result<Vec<Insertion>, Error> {
    check_length("insert_lines", &inserts)?;
    let convert = |(index, insert): (usize, InsertFields)| {
        let at_line = parse_line(insert.at_line, || format!("insert_lines[{index}].at_line"))?;
        Ok(Insertion { at_line, content: insert.content, expect: insert.expect, names: LineEditNames::Lists })
    };
    inserts.into_iter().enumerate().map(convert).collect()
}

fn check_length<T>(field: &str, list: &[T]) -> Result<(), Error> {
    let message = match list.len() {
        0 => format!("`{field}` is an empty list"),
        1..=MAX_ITEMS => return Ok(()),
        length => format!("`{field}` has {length} items, more than the {MAX_ITEMS} of one call"),
    };
    Err(Error::new(Code::InvalidInput, message).named_field(field))
}

/// Converts a line number, which counts from 1.
///
/// Errors: `RANGE_OUT_OF_BOUNDS` with the field for a number below 1.
pub fn parse_line(line: i64, field: impl Fn() -> String) -> Result<usize, Error> {
    usize::try_from(line).ok().filter(|line| *line >= 1).ok_or_else(|| {
        Error::new(Code::RangeOutOfBounds, format!("line {line} is out of bounds; lines count from 1"))
            .field(field())
            .with_next(NextCall::Read { start_line: 1, end_line: FIRST_LINES })
    })
}

fn parse_window(window: WindowFields) -> Result<LineWindow, Error> {
    let start = parse_line(window.start, || "lines.start".to_owned())?;
    let end = parse_line(window.end, || "lines.end".to_owned())?;
    if start > end {
        return Err(Error::new(
            Code::InvalidInput,
            format!("lines.start must be <= lines.end, found {start} and {end}"),
        )
        .named_field("lines.end"));
    }
    Ok(LineWindow { start, end })
}

/// Converts a number of matches, which is at least 1. `purpose` says why the field can be left out.
fn parse_count(count: Option<i64>, field: &str, purpose: &str) -> Result<Option<NonZeroUsize>, Error> {
    let Some(count) = count else { return Ok(None) };
    match usize::try_from(count).ok().and_then(NonZeroUsize::new) {
        Some(count) => Ok(Some(count)),
        None => Err(Error::new(Code::InvalidInput, format!("{field} must be at least 1, found {count}"))
            .named_field(field)
            .hint(format!("leave {field} out {purpose}"))),
    }
}

fn parse_needle(search: String, regex: Option<bool>, flags: Option<FlagsValue>) -> Result<Needle, Error> {
    let invalid =
        |field: &str, message: &str| Err(Error::new(Code::InvalidInput, message).named_field(field));
    if search.is_empty() {
        return invalid("search", "search is empty, so it would match everywhere");
    }
    let flags = flags.map(FlagsValue::into_flags).transpose()?.unwrap_or_default();
    if regex == Some(true) {
        return Ok(Needle::Regex { pattern: search, flags });
    }
    if flags != Flags::default() {
        return invalid("search_flags", "search_flags needs regex: true");
    }
    Ok(Needle::Literal(search))
}
