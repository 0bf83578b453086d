//! Texts with the findings that a gate must give for them.

use super::output::{EXIT, exit_code};
use crate::node::{MapKey, PolicyError, YamlNode};
use crate::severity::Severity;
use crate::value_shape::{Range, tables};

/// A text with the findings that a gate must give for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sample {
    /// The assumed path of the text, relative to the root.
    pub path: String,
    /// The text that the gate judges.
    pub draft: String,
    /// The text before; absent for a new file. A gate that runs a program does not get it.
    pub before: Option<String>,
    /// Other paths that exist, relative to the root.
    pub siblings: Vec<String>,
    /// Other files of the project, by path, with their text.
    pub with: Vec<(String, String)>,
    /// The tool's standard output, with `{root}` for the project's folder; absent if no tool runs.
    pub output: Option<String>,
    /// The tool's standard error; empty by default.
    pub errors: String,
    /// The tool's exit code; 0 by default.
    pub exit: i32,
    /// Every finding, in the order of the text; none for a clean text.
    pub finds: Vec<Expected>,
}

/// A finding that a sample expects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expected {
    /// The line of the finding, from 1.
    pub line: usize,
    /// The column, from 1, in characters; `None` accepts any.
    pub column: Option<usize>,
    /// The finding's code; `None` accepts any.
    pub code: Option<String>,
    /// The severity; `None` accepts any.
    pub severity: Option<Severity>,
    /// A part of the message; `None` accepts any.
    pub message: Option<String>,
}

pub(super) fn sample(node: &YamlNode, _: &str) -> Result<Sample, PolicyError> {
    let fields = node.settings("a sample", &[SAMPLE])?;
    Ok(Sample {
        path: fields.read_required("path")?,
        draft: fields.read_required("draft")?,
        before: fields.read_optional("before")?,
        siblings: fields.read("beside", Vec::new())?,
        with: fields.each_entry("with", file)?,
        output: fields.read_optional("output")?,
        errors: fields.read("errors", String::new())?,
        exit: fields.optional("exit", exit_code)?.unwrap_or(0),
        finds: fields.each("finds", expected)?,
    })
}

fn file(path: &MapKey, text: &YamlNode) -> Result<(String, String), PolicyError> {
    Ok((path.name.clone(), text.text("a file's text")?.to_owned()))
}

fn expected(node: &YamlNode, _: &str) -> Result<Expected, PolicyError> {
    let fields = node.settings("a finding", &[EXPECTED])?;
    Ok(Expected {
        line: fields.read_required("line")?,
        column: fields.read_optional("column")?,
        code: fields.read_optional("code")?,
        severity: fields.read_optional("severity")?,
        message: fields.read_optional("message")?,
    })
}

tables! {
    SAMPLE {
        "path": Text, Required => "the path of the text";
        "draft": Text, Required => "the text";
        "before": Text, Described("it is a new file") => "the text before; only in-process gates see it";
        "beside": List(&Text, 0), Is("[]") => "other paths that exist";
        "with": ByName("", &Text), Is("{}") => "other files with their texts";
        "output": Text, Described("none") => "what the program wrote to standard output";
        "errors": Text, Is("") => "what it wrote to standard error";
        "exit": Whole(EXIT), Is("0") => "its exit code";
        "finds": List(&Map(&[EXPECTED]), 0), Is("[]") => "every finding, in the order of the text";
    }
    EXPECTED {
        "line": Whole(COUNT), Required => "its line";
        "column": Whole(COUNT), Described("any") => "its column";
        "code": Text, Described("any") => "its code";
        "severity": Words(Severity::WORDS), Described("any") => "its severity";
        "message": Text, Described("any") => "a part of its message";
    }
}
/// A place in a text, counted from 1.
const COUNT: Range = Range { min: 1, max: u32::MAX as u64, description: "at least 1" };
