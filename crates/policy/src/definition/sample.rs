//! Texts with the findings that a gate must give for them.

use super::super::node::{PolicyError, YamlNode};
use super::super::severity::{SEVERITIES, Severity, severity};
use super::super::value_shape::Absent::{Described, Is, Refused};
use super::super::value_shape::ValueShape::{ByName, List, Map, Text, Whole, Words};
use super::super::value_shape::{Range, Setting, names_of, tables};
use super::output::{EXIT, exit_code};

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

pub(super) fn sample(node: &YamlNode) -> Result<Sample, PolicyError> {
    let fields = node.settings("a sample", &[SAMPLE])?;
    let finds = fields.optional("finds", YamlNode::list)?.unwrap_or_default();
    let text = |name: &str| fields.optional(name, YamlNode::text).map(|text| text.map(str::to_owned));
    Ok(Sample {
        path: fields.require("path")?.text("`path`")?.to_owned(),
        draft: fields.require("draft")?.text("`draft`")?.to_owned(),
        before: text("before")?,
        siblings: fields.optional("beside", YamlNode::texts)?.unwrap_or_default(),
        with: fields.optional("with", files)?.unwrap_or_default(),
        output: text("output")?,
        errors: text("errors")?.unwrap_or_default(),
        exit: fields.optional("exit", exit_code)?.unwrap_or(0),
        finds: finds.iter().map(expected).collect::<Result<_, PolicyError>>()?,
    })
}

fn files(node: &YamlNode, what: &str) -> Result<Vec<(String, String)>, PolicyError> {
    let entries = node.entries(what)?.iter();
    entries.map(|(key, text)| Ok((key.name.clone(), text.text("a file's text")?.to_owned()))).collect()
}

fn expected(node: &YamlNode) -> Result<Expected, PolicyError> {
    let fields = node.settings("a finding", &[FOUND])?;
    let text = |name: &str| fields.optional(name, YamlNode::text).map(|text| text.map(str::to_owned));
    let counted = |node: &YamlNode, what: &str| {
        node.whole_in_range(what, COUNT).map(|number| usize::try_from(number).unwrap_or(usize::MAX))
    };
    Ok(Expected {
        line: counted(fields.require("line")?, "`line`")?,
        column: fields.optional("column", counted)?,
        code: text("code")?,
        severity: fields.optional("severity", severity)?,
        message: text("message")?,
    })
}

tables! {
    SAMPLE {
        "path": Text, Refused => "the path of the text";
        "draft": Text, Refused => "the text";
        "before": Text, Described("it is a new file") => "the text before; only in-process gates see it";
        "beside": List(&Text, 0), Is("[]") => "other paths that exist";
        "with": ByName("", &Text), Is("{}") => "other files with their texts";
        "output": Text, Described("none") => "what the program wrote to standard output";
        "errors": Text, Is("") => "what it wrote to standard error";
        "exit": Whole(EXIT), Is("0") => "its exit code";
        "finds": List(&Map(&[FOUND]), 0), Is("[]") => "every finding, in the order of the text";
    }
    FOUND {
        "line": Whole(COUNT), Refused => "its line";
        "column": Whole(COUNT), Described("any") => "its column";
        "code": Text, Described("any") => "its code";
        "severity": Words(&names_of(&SEVERITIES)), Described("any") => "its severity";
        "message": Text, Described("any") => "a part of its message";
    }
}
/// A place in a text, counted from 1.
pub(super) const COUNT: Range = Range { min: 1, max: u32::MAX as u64, description: "at least 1" };
