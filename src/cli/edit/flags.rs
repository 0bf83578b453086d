//! The command-line flags that describe one edit.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use clap::ArgGroup;
use serde_json::{Map, Value, json};

use lockgate_error::{Code, Error};

/// The arguments that exclude those of an edit of lines. `requires` alone does not: it has no effect beside an argument
/// that excludes the required one.
const NOT_LINES: [&str; 5] = ["file", "patch", "content", "content_from", "search"];

/// The arguments that exclude those of a search.
const NOT_SEARCH: [&str; 5] = ["file", "patch", "content", "content_from", "new_content"];

/// The flags that describe one edit of one file.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Request as flags")]
#[command(group = ArgGroup::new("edit").required(true).args(["file", "patch", "content", "content_from", "new_content", "search"]))]
pub(super) struct EditFlags {
    /// File to edit: absolute, or relative to the first --root, else to the current folder
    #[arg(long, value_name = "PATH", required_unless_present_any = ["file", "patch"], conflicts_with_all = ["file", "patch"])]
    path: Option<String>,
    /// Whole new text of the file; creates the file if it does not exist
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    content: Option<String>,
    /// Like --content, read from a file or with `-` from standard input
    #[arg(long, value_name = "FILE")]
    content_from: Option<PathBuf>,
    /// New text of --lines, or text to insert at --at-line; empty deletes the lines
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, requires = "place")]
    new_content: Option<String>,
    /// Lines to replace with --new-content, or to search with --search; from 1, inclusive
    #[arg(long, value_name = "A-B", group = "place", value_parser = parse_lines)]
    #[arg(conflicts_with_all = ["file", "patch", "content", "content_from"])]
    lines: Option<(i64, i64)>,
    /// Line before which --new-content is inserted; the number of lines plus 1 appends
    #[arg(long, value_name = "N", group = "place", requires = "new_content", conflicts_with_all = NOT_LINES)]
    at_line: Option<i64>,
    /// Expected text at --lines or --at-line; the edit is rejected if it differs
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, requires = "new_content")]
    #[arg(conflicts_with_all = NOT_LINES)]
    expect: Option<String>,
    /// Text to find
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, requires = "replace")]
    search: Option<String>,
    /// Replacement for the text of --search
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, requires = "search")]
    #[arg(conflicts_with_all = NOT_SEARCH)]
    replace: Option<String>,
    /// Treats --search as a pattern of Python's `re`
    #[arg(long, requires = "search", conflicts_with_all = NOT_SEARCH)]
    regex: bool,
    /// Maximum number of replacements
    #[arg(long, value_name = "N", requires = "search", allow_negative_numbers = true)]
    #[arg(conflicts_with_all = NOT_SEARCH)]
    count: Option<i64>,
    /// Flags of the pattern: names as in `I|M`, or Python's integer
    #[arg(long, value_name = "FLAGS", requires = "regex", conflicts_with_all = NOT_SEARCH)]
    flags: Option<String>,
    /// Symbol to search in, such as `Class.method`
    #[arg(long, value_name = "SYMBOL", requires = "search", conflicts_with_all = NOT_SEARCH)]
    within: Option<String>,
    /// Version that the edit is for; the edit is rejected if the edited text changed since
    #[arg(long, value_name = "VERSION", conflicts_with_all = ["file", "patch"])]
    expected_version: Option<String>,
    /// Leaves the diff out of the answer
    #[arg(long, conflicts_with_all = ["file", "patch"])]
    no_diff: bool,
}

impl EditFlags {
    /// Converts the flags to the JSON of a request.
    ///
    /// Errors: those of [`read_text`] for `--content-from`.
    pub(super) fn into_object(self) -> Result<Map<String, Value>, Error> {
        let content = match &self.content_from {
            Some(source) => Some(read_text(source, "--content-from")?),
            None => self.content,
        };
        let mut object = Map::new();
        let mut put = |name: &str, value: Option<Value>| {
            if let Some(value) = value {
                object.insert(name.to_owned(), value);
            }
        };
        put("path", self.path.map(Value::from));
        put("content", content.map(Value::from));
        put("search", self.search.as_deref().map(Value::from));
        put("replace", self.replace.map(Value::from));
        put("regex", self.regex.then_some(Value::Bool(true)));
        put("search_count", self.count.map(Value::from));
        put("search_flags", self.flags.map(flags_value));
        match (self.new_content, self.lines, self.at_line) {
            (Some(mut text), Some((start, end)), _) => {
                // A shell's word has no final line end, and the text stands for whole lines.
                if !text.is_empty() && !text.ends_with('\n') {
                    text.push('\n');
                }
                let edit = json!({"start_line": start, "end_line": end, "new_content": text});
                put("line_edits", Some(with_expect(edit, self.expect)));
            }
            (Some(text), None, Some(line)) => {
                let insertion = json!({"at_line": line, "content": text});
                put("insert_lines", Some(with_expect(insertion, self.expect)));
            }
            (_, lines, _) => put("lines", lines.map(|(start, end)| json!({"start": start, "end": end}))),
        }
        put("within", self.within.map(Value::from));
        put("expected_version", self.expected_version.map(Value::from));
        put("show_diff", self.no_diff.then_some(Value::Bool(false)));
        Ok(object)
    }
}

fn with_expect(mut edit: Value, expect: Option<String>) -> Value {
    if let (Some(object), Some(expect)) = (edit.as_object_mut(), expect) {
        object.insert("expect".to_owned(), expect.into());
    }
    Value::Array(vec![edit])
}

/// Converts `--flags`: an integer stays a number, other text is a list of names.
fn flags_value(flags: String) -> Value {
    flags.parse::<i64>().map_or_else(|_| Value::from(flags), Value::from)
}

fn parse_lines(text: &str) -> Result<(i64, i64), String> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let number =
        |part: &str| part.trim().parse::<i64>().map_err(|_| format!("`{part}` is not a line number"));
    Ok((number(first)?, number(last)?))
}

/// Maximum number of bytes that are read, as for a message to the server.
const MAX_TEXT: u64 = 64 << 20;

/// Reads the text of a file, or of standard input for `-`.
///
/// Errors: `INVALID_INPUT` with the name of the flag; `TOO_LARGE` for more than [`MAX_TEXT`] bytes.
pub(super) fn read_text(source: &Path, flag: &str) -> Result<String, Error> {
    let cannot_read = |error: io::Error| {
        Error::new(Code::InvalidInput, format!("cannot read {}: {error}", source.display())).field(flag)
    };
    let mut bytes = Vec::new();
    // A device or a pipe may have no end.
    let read = if source == Path::new("-") {
        io::stdin().lock().take(MAX_TEXT + 1).read_to_end(&mut bytes)
    } else {
        File::open(source).and_then(|file| file.take(MAX_TEXT + 1).read_to_end(&mut bytes))
    };
    read.map_err(cannot_read)?;
    if bytes.len() as u64 > MAX_TEXT {
        let message = format!("{} has more than {MAX_TEXT} bytes", source.display());
        return Err(Error::new(Code::TooLarge, message).field(flag).hint("split it into smaller edits"));
    }
    String::from_utf8(bytes).map_err(|_| cannot_read(io::Error::other("stream did not contain valid UTF-8")))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        flags: EditFlags,
        #[arg(long)]
        file: Option<PathBuf>,
        #[arg(long)]
        patch: Option<PathBuf>,
    }

    fn object(arguments: &[&str]) -> Result<Value, clap::error::ErrorKind> {
        let line = Line::try_parse_from([&["edit"], arguments].concat()).map_err(|error| error.kind())?;
        Ok(Value::Object(line.flags.into_object().unwrap()))
    }

    #[test]
    fn each_mode_becomes_its_fields() {
        let cases = [
            (vec!["--content", "-x\n"], json!({"path": "p", "content": "-x\n"})),
            (
                vec!["--lines", "2-4", "--new-content", "", "--expect", "was"],
                json!({"path": "p", "line_edits": [{"start_line": 2, "end_line": 4, "new_content": "", "expect": "was"}]}),
            ),
            (
                vec!["--lines", "2", "--new-content", "x"],
                json!({"path": "p", "line_edits": [{"start_line": 2, "end_line": 2, "new_content": "x\n"}]}),
            ),
            (
                vec!["--at-line", "7", "--new-content", "x"],
                json!({"path": "p", "insert_lines": [{"at_line": 7, "content": "x"}]}),
            ),
            (
                vec![
                    "--search",
                    "a",
                    "--replace",
                    "b",
                    "--regex",
                    "--flags",
                    "2",
                    "--count",
                    "-1",
                    "--lines",
                    "3",
                    "--within",
                    "A.f",
                ],
                json!({"path": "p", "search": "a", "replace": "b", "regex": true, "search_count": -1,
                       "search_flags": 2, "lines": {"start": 3, "end": 3}, "within": "A.f"}),
            ),
            (
                vec!["--search", "a", "--replace", "", "--regex", "--flags", "I|M", "--no-diff"],
                json!({"path": "p", "search": "a", "replace": "", "regex": true, "search_flags": "I|M",
                       "show_diff": false}),
            ),
        ];
        for (mut arguments, expected) in cases {
            arguments.extend(["--path", "p"]);
            assert_eq!(object(&arguments).unwrap(), expected, "{arguments:?}");
        }
    }

    #[test]
    fn a_flag_without_effect_is_refused() {
        use clap::error::ErrorKind::ArgumentConflict;
        let modes: [(&str, &[&str]); 7] = [
            ("file", &["--file", "f"]),
            ("patch", &["--patch", "f"]),
            ("content", &["--path", "p", "--content", "x"]),
            ("content_from", &["--path", "p", "--content-from", "f"]),
            ("lines", &["--path", "p", "--lines", "1-2", "--new-content", "x"]),
            ("at_line", &["--path", "p", "--at-line", "1", "--new-content", "x"]),
            ("search", &["--path", "p", "--search", "a", "--replace", "b"]),
        ];
        let flags: [(&[&str], &[&str]); 7] = [
            (&["--expect", "x"], &["lines", "at_line"]),
            (&["--at-line", "1"], &["at_line"]),
            (&["--replace", "b"], &["search"]),
            (&["--regex", "--flags", "I"], &["search"]),
            (&["--count", "1"], &["search"]),
            (&["--within", "f"], &["search"]),
            (&["--lines", "1-2"], &["lines", "search"]),
        ];
        for (mode, edit) in modes {
            for (flag, allowed) in flags {
                let is_there = flag.first().is_some_and(|flag| edit.contains(flag));
                let added: &[&str] = if is_there { &[] } else { flag };
                let arguments = [&["edit"], edit, added].concat();
                let kind = Line::try_parse_from(arguments).map(drop).map_err(|error| error.kind());
                let expected = if allowed.contains(&mode) { Ok(()) } else { Err(ArgumentConflict) };
                assert_eq!(kind, expected, "{flag:?} with {mode}");
            }
        }
    }

    #[test]
    fn a_text_without_end_is_refused() {
        let error = read_text(Path::new("/dev/zero"), "--content-from").unwrap_err();
        assert_eq!((error.code, error.field.as_deref()), (Code::TooLarge, Some("--content-from")));
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a");
        std::fs::write(&file, "a\n").unwrap();
        assert_eq!(read_text(&file, "--file").unwrap(), "a\n");
        std::fs::write(&file, b"\xff").unwrap();
        assert_eq!(read_text(&file, "--file").unwrap_err().code, Code::InvalidInput);
    }

    #[test]
    fn flags_that_exclude_each_other_are_refused() {
        let cases: [&[&str]; 12] = [
            &["--path", "p"],
            &["--content", "x"],
            &["--path", "p", "--content", "x", "--search", "a", "--replace", "b"],
            &["--path", "p", "--content", "x", "--lines", "1-2"],
            &["--path", "p", "--new-content", "x"],
            &["--path", "p", "--new-content", "x", "--lines", "1-2", "--at-line", "1"],
            &["--path", "p", "--search", "a"],
            &["--path", "p", "--search", "a", "--replace", "b", "--flags", "I"],
            &["--path", "p", "--search", "a", "--replace", "b", "--lines", "one"],
            &["--path", "p", "--content", "x", "--within", "f"],
            &["--file", "f", "--path", "p"],
            &["--file", "f", "--no-diff"],
        ];
        for arguments in cases {
            assert!(object(arguments).is_err(), "{arguments:?} is accepted");
        }
    }
}
