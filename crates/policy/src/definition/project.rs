//! Inputs of a program from the project: its configuration, and values in files.

use regex::Regex;

use super::template::Hole;
use crate::node::{MapKey, PolicyError, YamlNode, YamlValue};
use crate::value_shape::tables;

/// A file whose text affects a program's result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Configuration {
    /// The name of the file, without a folder.
    pub name: String,
    /// The text that it must contain to count, as in `pyproject.toml#[tool.ruff`; empty for any text.
    pub contains: String,
}

impl Configuration {
    /// Creates a configuration that counts whatever it contains.
    pub(super) fn of_any_text(name: &str) -> Configuration {
        Configuration { name: name.to_owned(), contains: String::new() }
    }
}

/// The behaviour without a configuration of the tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unconfigured {
    /// The tool runs with these arguments before those that the policy adds.
    Words(Vec<String>),
    /// The tool does not run.
    Skip,
}

impl Default for Unconfigured {
    fn default() -> Unconfigured {
        Unconfigured::Words(Vec::new())
    }
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

/// Parses a list of file names; a name with a `/` is an error.
pub(super) fn names(node: &YamlNode, what: &str) -> Result<Vec<String>, PolicyError> {
    node.texts_unless(what, |name| !is_file_name(name), "must contain plain file names")
}

/// Parses a file name, with an optional required text after a `#`.
pub(super) fn configuration(item: &YamlNode, what: &str) -> Result<Configuration, PolicyError> {
    let text = item.text(what)?;
    let (name, contains) = text.split_once('#').unwrap_or((text, ""));
    if !is_file_name(name) {
        return Err(item.fault(format!("{what} must contain plain file names")));
    }
    Ok(Configuration { name: name.to_owned(), contains: contains.to_owned() })
}

fn is_file_name(name: &str) -> bool {
    !name.is_empty() && !name.contains(['/', '\0'])
}

pub(super) fn unconfigured(node: &YamlNode, what: &str) -> Result<Unconfigured, PolicyError> {
    match &node.value {
        YamlValue::Text(word) if word == "skip" => Ok(Unconfigured::Skip),
        YamlValue::List(_) => node.texts(what).map(Unconfigured::Words),
        _ => Err(node.fault(format!("{what} is `skip`, or a list of words"))),
    }
}

pub(super) fn value(key: &MapKey, node: &YamlNode) -> Result<ProjectValue, PolicyError> {
    let fields = node.settings("a value", &[VALUE])?;
    key.check_plain("a value name")?;
    if Hole::named(&key.name).is_some() {
        return Err(key.fault(format!("`{{{}}}` is filled in by lockgate: choose another name", key.name)));
    }
    let pattern: Regex = fields.read_required("match")?;
    if pattern.captures_len() != 2 {
        return Err(fields.require("match")?.fault("`match` needs exactly one group: the value"));
    }
    Ok(ProjectValue {
        name: key.name.clone(),
        files: names(fields.require("in")?, "`in`")?,
        pattern,
        default: fields.read_required("default")?,
    })
}

tables! {
    VALUE {
        "in": List(&Text, 1), Required => "names of files; the nearest one above the file that has the value counts";
        "match": Regex, Required => "the pattern of the value, as its only group";
        "default": Text, Required => "the value if no file has it";
    }
}
