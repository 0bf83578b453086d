//! The rules of gates of the kind `pattern`.

use regex::Regex;

use super::scaffold::{self, HeaderRule, LAYOUT, Scaffold};
use crate::language::{Languages, parse_languages};
use crate::node::{MapFields, PolicyError, YamlNode, unknown};
use crate::value_shape::tables;
use lockgate_syntax::Query;

/// The rules of a `pattern` gate.
#[derive(Debug)]
pub enum PatternRules {
    /// A regular expression that must, or must not, match in the text; in multi-line mode.
    Regex {
        /// Must match at least once.
        must_match: Option<Regex>,
        /// Must not match anywhere in the text.
        must_not_match: Option<Regex>,
        /// The message of a finding.
        message: String,
    },
    /// A query that must, or must not, match in the syntax tree.
    Query {
        /// A query that must match.
        must_match: Option<Query>,
        /// A query that must not match.
        must_not_match: Option<Query>,
        /// The message of a finding.
        message: String,
    },
    /// A title, and relative links to existing targets.
    Markdown,
    /// A header that names a template, and the requirements of that template.
    Scaffold(Scaffold),
}

const STRUCTURES: [&str; 2] = ["markdown", "scaffold"];

pub(super) fn rules(fields: &MapFields, kind: &YamlNode) -> Result<PatternRules, PolicyError> {
    let must_match: Option<Regex> = fields.read_optional("must_match")?;
    let must_not_match: Option<Regex> = fields.read_optional("must_not_match")?;
    let is_regex = must_match.is_some() || must_not_match.is_some();
    let message = || fields.read_required("message");
    let scaffolds = fields.get("header").or_else(|| fields.get("templates"));
    match (fields.get("structure"), fields.get("query")) {
        (Some(node), query) if is_regex || query.is_some() => {
            Err(node.fault("`structure` excludes must_match, must_not_match and query"))
        }
        (Some(node), _) => match (node.text("`structure`")?, scaffolds) {
            ("markdown", None) => Ok(PatternRules::Markdown),
            ("scaffold", _) => scaffold::scaffold(fields).map(PatternRules::Scaffold),
            ("markdown", Some(other)) => Err(other.fault("requires `structure: scaffold`")),
            (other, _) => Err(node.fault(unknown("structure", other, &STRUCTURES))),
        },
        (None, Some(node)) if is_regex => {
            Err(node.fault("`query` excludes must_match and must_not_match at the same level"))
        }
        (None, _) if scaffolds.is_some() => {
            Err(kind.fault("`header` and `templates` require `structure: scaffold`"))
        }
        (None, Some(node)) => query(fields, node, message()?),
        (None, None) if is_regex => {
            Ok(PatternRules::Regex { must_match, must_not_match, message: message()? })
        }
        (None, None) => {
            Err(kind.fault("a pattern gate needs structure, query, must_match or must_not_match"))
        }
    }
}

fn query(fields: &MapFields, node: &YamlNode, message: String) -> Result<PatternRules, PolicyError> {
    let languages = match parse_languages(fields.require("languages")?)? {
        Languages::Only(names) => names,
        Languages::Every => return Err(node.fault("`query` needs a list of its languages, not \"*\"")),
    };
    let compiled = |source: &YamlNode, what: &str| {
        Query::compile(&languages, source.text(what)?).map_err(|error| {
            let place = format!("line {}, column {} of it", error.row + 1, error.column + 1);
            source.fault(format!("{what} is not a query: {} ({place})", error.message))
        })
    };
    let inner = node.settings("`query`", &[QUERY])?;
    let must_match = inner.optional("must_match", compiled)?;
    let must_not_match = inner.optional("must_not_match", compiled)?;
    if must_match.is_none() && must_not_match.is_none() {
        return Err(node.fault("`query` needs must_match or must_not_match"));
    }
    Ok(PatternRules::Query { must_match, must_not_match, message })
}

tables! {
    /// Definitions of the kind `pattern`.
    PATTERN {
        "must_match": Regex, Described("nothing must") => "`pattern`: what the text must contain";
        "must_not_match": Regex, Described("anything may") => "`pattern`: what the text must not contain";
        "message": Text, Described("none") => "`pattern`: the message of a finding; required with a regular expression or a query";
        "query": Map(&[QUERY]), Described("none") => "`pattern`: queries for tree-sitter, instead of regular expressions";
        "structure": Words(&["markdown", "scaffold"]), Described("none")
            => "`pattern`: `markdown`: a title and working links; `scaffold`: a header that names a template, and what the template requires";
        "header": Words(HeaderRule::WORDS), Is("optional")
            => "`structure: scaffold`: whether a file without a header is skipped, or is an error";
        "templates": ByName("^[A-Za-z0-9][A-Za-z0-9_.-]*$", &Map(&[LAYOUT])), Is("{}")
            => "`structure: scaffold`: the requirements of each template";
    }
    QUERY {
        "must_match": Text, Described("nothing must") => "a query that must match";
        "must_not_match": Text, Described("anything may") => "a query that must not match; a finding is at the first capture";
    }
}
