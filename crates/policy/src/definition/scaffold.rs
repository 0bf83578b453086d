//! Rules for files made from a template.

use regex::Regex;

use crate::node::{MapFields, MapKey, PolicyError, YamlNode};
use crate::value_shape::tables;
use crate::words::words;

/// The rule for headers, and the templates that they name.
#[derive(Debug)]
pub struct Scaffold {
    /// The rule for the header.
    pub header: HeaderRule,
    /// The known templates, by name.
    pub templates: Vec<(String, ScaffoldLayout)>,
}

words! {
    /// The rule for the header of a file.
    pub enum HeaderRule {
        /// A file without a header is skipped.
        Optional = "optional",
        /// A file without a header gets a finding.
        Required = "required",
    }
}

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
    let header = fields.read("header", HeaderRule::Optional)?;
    let template = |key: &MapKey, node: &YamlNode| Ok((key.name.clone(), layout(node)?));
    Ok(Scaffold { header, templates: fields.each_entry("templates", template)? })
}

fn layout(node: &YamlNode) -> Result<ScaffoldLayout, PolicyError> {
    let fields = node.settings("a template", &[LAYOUT])?;
    Ok(ScaffoldLayout {
        sections: fields.read("sections", Vec::new())?,
        symbols: fields.read("symbols", Vec::new())?,
        required: fields.each("required", demand)?,
        guidelines: fields.each("guidelines", demand)?,
    })
}

fn demand(node: &YamlNode, _: &str) -> Result<Demand, PolicyError> {
    let fields = node.settings("a requirement", &[DEMAND])?;
    let message = fields.read_required("message")?;
    match (fields.read_optional("must_match")?, fields.read_optional("must_not_match")?) {
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
        "must_match": Regex, Described("nothing must") => "what the text must contain";
        "must_not_match": Regex, Described("anything may") => "what the text must not contain";
        "message": Text, Required => "the message of the finding";
    }
}
