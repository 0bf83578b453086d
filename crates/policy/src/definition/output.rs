//! The format of a program's output.

use regex::Regex;

use crate::node::{MAX_WORD, MapFields, PolicyError, YamlNode, clipped, unknown};
use crate::severity::Severity;
use crate::value_shape::ValueShape::{Either, Map};
use crate::value_shape::{Range, ValueShape, tables};
use crate::words::words;

/// The way in which a program's output is read.
#[derive(Debug)]
pub struct OutputSpec {
    /// The format of the output.
    pub form: OutputForm,
    /// The stream that contains the findings.
    pub from: Stream,
    /// The severity of findings without one.
    pub severity: Severity,
    /// The exit codes after which the output is read.
    pub exit_codes: Vec<i32>,
    /// Matches the output of a run that ignored the file, on standard output or standard error.
    pub ignored_input: Option<Regex>,
    /// The unit of columns.
    pub columns: Columns,
}

words! {
    /// The unit in which a program counts columns.
    pub enum Columns {
        /// Unicode scalar values, as Rust's `char`.
        Characters = "characters",
        /// Bytes of the UTF-8 encoding.
        Bytes = "bytes",
        /// UTF-16 code units, as in LSP by default.
        Utf16 = "utf16",
    }

    /// The stream that a program's findings are read from.
    pub enum Stream {
        /// Findings are on standard output only.
        Stdout = "stdout",
        /// Findings are on standard error only.
        Stderr = "stderr",
        /// Standard output, then standard error.
        Both = "both",
    }

    /// The meaning of an output without findings.
    enum TextForm {
        Exit = "exit",
        Formatted = "formatted",
    }
}

/// The exit codes of POSIX.
pub(super) const EXIT: Range = Range { min: 0, max: 255, description: "from 0 to 255" };

/// The format of a program's findings.
#[derive(Debug)]
pub enum OutputForm {
    /// One JSON value, with the findings at these paths.
    Json(Box<FindingPaths>),
    /// One JSON object on each line.
    Jsonl(Box<FindingPaths>),
    /// A log in the format SARIF 2.1.0.
    Sarif,
    /// A JSON value in Reviewdog's diagnostic format.
    Rdjson,
    /// One finding on each line, by the groups `file`, `line`, `column`, `code`, `severity`, `message`.
    Regex {
        /// A line that is a finding.
        pattern: Regex,
        /// A line that is not a finding and is ignored.
        ignore: Option<Regex>,
    },
    /// The exit code alone: any code but 0 is a finding with this message, or if that is empty with the end
    /// of the output.
    Exit(String),
    /// The corrected text of the file, instead of findings.
    Formatted {
        /// A line on standard error with the reason for an absent text.
        errors: Option<Regex>,
    },
}

/// The paths in a JSON value to the parts of a finding.
#[derive(Debug)]
pub struct FindingPaths {
    /// The list of findings; absent if the value itself is the list or the finding.
    pub items: Option<Pointer>,
    /// The path of the file; absent if the program reports on one file only.
    pub file: Option<Pointer>,
    /// The path of the line.
    pub line: Pointer,
    /// The path of the column.
    pub column: Option<Pointer>,
    /// The path of the rule's name.
    pub code: Option<Pointer>,
    /// The path of the severity.
    pub severity: Option<Pointer>,
    /// The path of the message.
    pub message: Pointer,
}

/// A path in a JSON value: `a.b.c`. `+1` at its end adds to the number, `^` before it starts at the parent item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pointer {
    /// True if it starts at the item that contains the list, not at the finding.
    pub above: bool,
    /// The keys of the path.
    pub keys: Vec<String>,
    /// The number to add to the value.
    pub plus: u32,
}

const FORMS: [&str; 6] = ["json", "jsonl", "sarif", "rdjson", "regex", "text"];

/// Reads the output of a command from the fields of its definition.
pub(super) fn output(definition: &MapFields) -> Result<OutputSpec, PolicyError> {
    let node = definition.require("output")?;
    let known: Vec<&str> =
        FORMS.iter().chain(&["from", "severity", "ignore", "message", "errors"]).copied().collect();
    let fields = node.fields("`output`", &known)?;
    let forms: Vec<&str> = FORMS.into_iter().filter(|form| fields.get(form).is_some()).collect();
    let [form] = forms.as_slice() else {
        return Err(node.fault(format!("`output` must name exactly one of {}", FORMS.join(", "))));
    };
    let (form, own) = output_form(form, &fields)?;
    let mut extra = ["ignore", "message", "errors"].into_iter().filter(|key| !own.contains(key));
    if let Some(node) = extra.find_map(|key| fields.get(key)) {
        return Err(node.fault("this key does not belong to this form of output"));
    }
    Ok(OutputSpec {
        form,
        from: fields.read("from", Stream::Stdout)?,
        severity: fields.read("severity", Severity::Error)?,
        exit_codes: definition.optional("ran", exit_codes)?.unwrap_or_else(|| vec![0, 1]),
        ignored_input: definition.read_optional("unseen")?,
        columns: definition.read("columns", Columns::Characters)?,
    })
}

fn exit_codes(node: &YamlNode, what: &str) -> Result<Vec<i32>, PolicyError> {
    node.list(what)?.iter().map(|code| exit_code(code, what)).collect()
}

pub(super) fn exit_code(node: &YamlNode, what: &str) -> Result<i32, PolicyError> {
    let code = node.whole(&format!("an exit code of {what}"), EXIT)?;
    Ok(i32::from(u8::try_from(code).unwrap_or(u8::MAX)))
}

/// The form, and the keys beside it that belong to it.
fn output_form(form: &str, fields: &MapFields) -> Result<(OutputForm, &'static [&'static str]), PolicyError> {
    let node = fields.require(form)?;
    Ok(match form {
        "json" => (OutputForm::Json(Box::new(finding_paths(node)?)), &[]),
        "jsonl" => (OutputForm::Jsonl(Box::new(finding_paths(node)?)), &[]),
        "sarif" => (node.fields("`sarif`", &[]).map(|_| OutputForm::Sarif)?, &[]),
        "rdjson" => (node.fields("`rdjson`", &[]).map(|_| OutputForm::Rdjson)?, &[]),
        "regex" => {
            let pattern = finding_pattern(node, "`regex`")?;
            (OutputForm::Regex { pattern, ignore: fields.read_optional("ignore")? }, &["ignore"])
        }
        _ => match fields.read_required("text")? {
            TextForm::Exit => (OutputForm::Exit(fields.read("message", String::new())?), &["message"]),
            TextForm::Formatted => {
                (OutputForm::Formatted { errors: fields.optional("errors", finding_pattern)? }, &["errors"])
            }
        },
    })
}

/// A pattern that finds the line and the message of a finding by named groups.
fn finding_pattern(node: &YamlNode, what: &str) -> Result<Regex, PolicyError> {
    const GROUPS: [&str; 6] = ["file", "line", "column", "code", "severity", "message"];
    let pattern = node.regex(what)?;
    let groups: Vec<&str> = pattern.capture_names().flatten().collect();
    if let Some(missing) = ["line", "message"].into_iter().find(|name| !groups.contains(name)) {
        return Err(node.fault(format!("{what} has no group `(?P<{missing}>...)`")));
    }
    match groups.into_iter().find(|name| !GROUPS.contains(name)) {
        Some(other) => Err(node.fault(unknown("group", other, &GROUPS))),
        None => Ok(pattern),
    }
}

fn finding_paths(node: &YamlNode) -> Result<FindingPaths, PolicyError> {
    let fields = node.settings("a place in JSON", &[POINTERS])?;
    Ok(FindingPaths {
        items: fields.optional("items", pointer)?,
        file: fields.optional("file", pointer)?,
        line: pointer(fields.require("line")?, "`line`")?,
        column: fields.optional("column", pointer)?,
        code: fields.optional("code", pointer)?,
        severity: fields.optional("severity", pointer)?,
        message: pointer(fields.require("message")?, "`message`")?,
    })
}

fn pointer(node: &YamlNode, what: &str) -> Result<Pointer, PolicyError> {
    let text = node.text(what)?;
    let (above, rest) = text.strip_prefix('^').map_or((false, text), |rest| (true, rest));
    let (way, plus) = match rest.rsplit_once('+') {
        Some((way, digits)) => (way, digits.parse().ok()),
        None => (rest, Some(0)),
    };
    let keys: Vec<String> = way.split('.').map(str::to_owned).collect();
    match plus {
        Some(plus) if !keys.iter().any(String::is_empty) => Ok(Pointer { above, keys, plus }),
        Some(_) | None => Err(node.fault(format!(
            "{what} must be a path into JSON such as `range.start.line+1`, not `{}`",
            clipped(text, MAX_WORD)
        ))),
    }
}

tables! {
    /// The keys that every form of output accepts.
    EVERY_FORM {
        "from": Words(Stream::WORDS), Is("stdout") => "the stream that is read";
        "severity": Words(Severity::WORDS), Is("error") => "the severity of findings without one";
    }
    JSON { "json": Map(&[POINTERS]), Required => "one JSON value, and where in it to find the parts of a finding"; }
    JSONL { "jsonl": Map(&[POINTERS]), Required => "one JSON object per line, with the same keys; other lines may occur between them"; }
    SARIF { "sarif": Map(&[]), Required => "SARIF 2.1.0"; }
    RDJSON { "rdjson": Map(&[]), Required => "Reviewdog's format"; }
    LINES {
        "regex": Regex, Required
            => "a regular expression whose matches are findings, with the groups `file`, `line`, `column`, `code`, `severity`, `message`";
        "ignore": Regex, Described("none") => "lines to ignore, in addition to the known notes of all programs";
    }
    EXITS {
        "text": Words(&["exit"]), Required
            => "`exit`: an exit code other than 0 is a finding; `formatted`: it is the text as it should be";
        "message": Text, Described("the lines of the output that name a failure, and the last two") => "what the finding says";
    }
    FORMATTED {
        "text": Words(&["formatted"]), Required
            => "`exit`: an exit code other than 0 is a finding; `formatted`: the output is the formatted text";
        "errors": Regex, Described("none") => "lines of standard error that say why there is no text";
    }
    POINTERS {
        "items": Text, Described("the value itself") => "the list of findings";
        "file": Text, Described("the edited file") => "the file";
        "line": Text, Required => "the line";
        "column": Text, Described("none") => "the column";
        "code": Text, Described("none") => "the rule's name";
        "severity": Text, Described("that of `output`") => "its severity";
        "message": Text, Required => "the message of the finding";
    }
}
/// The forms of `output` in a gate's definition.
pub(super) const OUTPUT: ValueShape = Either(&[
    Map(&[JSON, EVERY_FORM]),
    Map(&[JSONL, EVERY_FORM]),
    Map(&[SARIF, EVERY_FORM]),
    Map(&[RDJSON, EVERY_FORM]),
    Map(&[LINES, EVERY_FORM]),
    Map(&[EXITS, EVERY_FORM]),
    Map(&[FORMATTED, EVERY_FORM]),
]);
