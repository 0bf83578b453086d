//! What a gate of the kind `pattern` looks for.

use regex::Regex;

use super::super::node::{Fault, Fields, Node, unknown};

/// The rules of a `pattern` gate.
#[derive(Debug)]
pub enum PatternRules {
    /// A regular expression that must stand somewhere in the text, or nowhere; `^` and `$` are those of a line.
    Regex {
        /// Must match at least once.
        must_match: Option<Regex>,
        /// Must not match anywhere.
        must_not_match: Option<Regex>,
        /// What a finding says.
        message: String,
    },
    /// A title, and relative links that lead somewhere.
    Markdown,
}

pub(super) fn rules(fields: &Fields, kind: &Node) -> Result<PatternRules, Fault> {
    let must_match = fields.optional("must_match", super::regex)?;
    let must_not_match = fields.optional("must_not_match", super::regex)?;
    let is_regex = must_match.is_some() || must_not_match.is_some();
    match fields.get("structure") {
        Some(node) if is_regex => {
            Err(node.fault("`structure` stands alone, without must_match and must_not_match"))
        }
        Some(node) => match node.text("`structure`")? {
            "markdown" => Ok(PatternRules::Markdown),
            other => Err(node.fault(unknown("structure", other, &["markdown"]))),
        },
        None if is_regex => {
            let message = fields.require("message")?.text("`message`")?.to_owned();
            Ok(PatternRules::Regex { must_match, must_not_match, message })
        }
        None => Err(kind.fault("a pattern gate needs structure, must_match or must_not_match")),
    }
}
