//! Inputs of a program from the project: its configuration, and values in files.

use regex::Regex;

use super::super::node::{self, PolicyError, YamlNode};
use super::super::value_shape::Absent::Refused;
use super::super::value_shape::ValueShape::{List, Text};
use super::super::value_shape::{Setting, ValueShape, tables};
use super::template::Hole;

/// A file whose text affects a program's result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Configuration {
    /// The name of the file, without a folder.
    pub name: String,
    /// The text that it must contain to count, as in `pyproject.toml#[tool.ruff`; empty for any text.
    pub contains: String,
}

/// The behaviour without a configuration of the tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unconfigured {
    /// The tool runs with these arguments before those that the policy adds.
    Words(Vec<String>),
    /// The tool does not run.
    Skip,
}

/// A value from a file of the project.
#[derive(Debug)]
pub struct ProjectValue {
    /// The name by which it is filled in.
    pub name: String,
    /// The names of the files to search; the nearest one above the edited file that has the value counts.
    pub files: Vec<String>,
    /// Matches the value, as its first group.
    pub pattern: Regex,
    /// The default if no file has the value.
    pub default: String,
}

impl Default for Unconfigured {
    fn default() -> Unconfigured {
        Unconfigured::Words(Vec::new())
    }
}

/// Parses a list of file names; a name with a `/` is an error.
pub(super) fn names(node: &YamlNode, what: &str) -> Result<Vec<String>, PolicyError> {
    let wrong = |item: &&YamlNode| matches!(&item.value, node::YamlValue::Text(name) if name.is_empty() || name.contains(['/', '\0']));
    match node.list(what)?.iter().find(wrong) {
        Some(item) => Err(item.fault(format!("{what} must contain plain file names"))),
        None => node.texts(what),
    }
}

/// Parses a list of file names, each with an optional required text after a `#`.
pub(super) fn configurations(node: &YamlNode, what: &str) -> Result<Vec<Configuration>, PolicyError> {
    let read = |item: &YamlNode| {
        let (name, holds) = item.text(what)?.split_once('#').unwrap_or((item.text(what)?, ""));
        if name.is_empty() || name.contains(['/', '\0']) {
            return Err(item.fault(format!("{what} must contain plain file names")));
        }
        Ok(Configuration { name: name.to_owned(), contains: holds.to_owned() })
    };
    node.list(what)?.iter().map(read).collect()
}

pub(super) fn unconfigured(node: &YamlNode, what: &str) -> Result<Unconfigured, PolicyError> {
    match &node.value {
        node::YamlValue::Text(word) if word == "skip" => Ok(Unconfigured::Skip),
        node::YamlValue::List(_) => node.texts(what).map(Unconfigured::Words),
        _ => Err(node.fault(format!("{what} is `skip`, or a list of words"))),
    }
}

pub(super) fn values(node: &YamlNode, what: &str) -> Result<Vec<ProjectValue>, PolicyError> {
    let read = |(key, node): &(node::MapKey, YamlNode)| {
        let fields = node.settings("a value", &[VALUE])?;
        if key.name.is_empty() || !key.name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
            return Err(key.fault("a value name may contain only letters, digits and `_`"));
        }
        if Hole::is_named(&key.name) {
            let name = &key.name;
            return Err(key.fault(format!("`{{{name}}}` is filled in by lockgate: choose another name")));
        }
        let pattern = fields.require("match")?.regex("`match`")?;
        if pattern.captures_len() != 2 {
            return Err(fields.require("match")?.fault("`match` needs exactly one group: the value"));
        }
        Ok(ProjectValue {
            name: key.name.clone(),
            files: names(fields.require("in")?, "`in`")?,
            pattern,
            default: fields.require("default")?.text("`default`")?.to_owned(),
        })
    };
    node.entries(what)?.iter().map(read).collect()
}

tables! {
    VALUE {
        "in": List(&Text, 1), Refused => "names of files; the nearest one above the file that has the value counts";
        "match": ValueShape::Regex, Refused => "the pattern of the value, as its only group";
        "default": Text, Refused => "the value if no file has it";
    }
}
