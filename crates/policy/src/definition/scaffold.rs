//! Rules for files made from a template.

use regex::Regex;

use super::super::node::{MapFields, MapKey, PolicyError, YamlNode};
use super::super::value_shape::Absent::{Described, Is, Refused};
use super::super::value_shape::ValueShape::{List, Map, Text};
use super::super::value_shape::{Setting, ValueShape, tables};

/// The rule for headers, and the templates that they name.
#[derive(Debug)]
pub struct Scaffold {
    /// The rule for the header.
    pub header: HeaderRule,
    /// The known templates, by name.
    pub templates: Vec<(String, ScaffoldLayout)>,
}

/// The rule for the header of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeaderRule {
    /// A file without a header is skipped.
    Optional,
    /// A file without a header gets a finding.
    Required,
}

pub(crate) const HEADERS: [(&str, HeaderRule); 2] =
    [("optional", HeaderRule::Optional), ("required", HeaderRule::Required)];

/// The requirements of a template.
#[derive(Debug, Default)]
pub struct ScaffoldLayout {
    /// Headings that a page must have, at any level.
    pub sections: Vec<String>,
    /// Symbols that a text must define.
    pub symbols: Vec<String>,
    /// Patterns that must, or must not, match; a finding is an error.
    pub required: Vec<Demand>,
    /// The same, as advice; a finding is a warning.
    pub guidelines: Vec<Demand>,
}

/// A pattern that must, or must not, match.
#[derive(Debug)]
pub struct Demand {
    /// The regular expression to search the text for.
    pub pattern: Regex,
    /// True if the pattern must match.
    pub wanted: bool,
    /// The message of a finding.
    pub message: String,
}

pub(super) fn scaffold(fields: &MapFields) -> Result<Scaffold, PolicyError> {
    let header = fields.optional("header", |node, what| node.one_of(what, &HEADERS))?;
    let templates = fields.optional("templates", |node, what| {
        let template = |(MapKey { name, .. }, node): &(MapKey, YamlNode)| Ok((name.clone(), layout(node)?));
        node.entries(what)?.iter().map(template).collect::<Result<Vec<_>, PolicyError>>()
    })?;
    Ok(Scaffold { header: header.unwrap_or(HeaderRule::Optional), templates: templates.unwrap_or_default() })
}

fn layout(node: &YamlNode) -> Result<ScaffoldLayout, PolicyError> {
    let fields = node.settings("a template", &[LAYOUT])?;
    let texts = |name: &str| fields.optional(name, YamlNode::texts).map(Option::unwrap_or_default);
    let demands = |name: &str| {
        let list = fields.optional(name, YamlNode::list)?.unwrap_or_default();
        list.iter().map(demand).collect::<Result<Vec<_>, PolicyError>>()
    };
    Ok(ScaffoldLayout {
        sections: texts("sections")?,
        symbols: texts("symbols")?,
        required: demands("required")?,
        guidelines: demands("guidelines")?,
    })
}

fn demand(node: &YamlNode) -> Result<Demand, PolicyError> {
    let fields = node.settings("a requirement", &[DEMAND])?;
    let message = fields.require("message")?.text("`message`")?.to_owned();
    match (
        fields.optional("must_match", YamlNode::regex)?,
        fields.optional("must_not_match", YamlNode::regex)?,
    ) {
        (Some(pattern), None) => Ok(Demand { pattern, wanted: true, message }),
        (None, Some(pattern)) => Ok(Demand { pattern, wanted: false, message }),
        _ => Err(node.fault("an entry needs either must_match or must_not_match")),
    }
}

tables! {
    /// The keys of each entry in `templates`.
    LAYOUT {
        "sections": List(&Text, 0), Is("[]") => "headings that a page must have, at any level";
        "symbols": List(&Text, 0), Is("[]") => "functions, classes and other symbols that must be defined";
        "required": List(&Map(&[DEMAND]), 0), Is("[]") => "other text that is required or forbidden; a violation is an error";
        "guidelines": List(&Map(&[DEMAND]), 0), Is("[]") => "text that is recommended or discouraged; a warning, checked if all else passes";
    }
    DEMAND {
        "must_match": ValueShape::Regex, Described("nothing must") => "what the text must contain";
        "must_not_match": ValueShape::Regex, Described("anything may") => "what the text must not contain";
        "message": Text, Refused => "the message of the finding";
    }
}
