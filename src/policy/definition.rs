//! What a gate is: one file of the catalogue, raised to a [`Gate`].
//!
//! Invariant: a gate names known languages only, and its patterns compile.

use std::time::Duration;

use regex::Regex;

use super::language::{Language, language_named, languages};
use super::node::{Fault, Fields, Node, unknown};
use super::quantity;
use crate::text::nearest;

/// How long a gate may take when its definition does not say.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(5);
const KEYS: [&str; 8] =
    ["languages", "kind", "timeout", "samples", "structure", "must_match", "must_not_match", "message"];

/// One tool of the catalogue.
#[derive(Debug)]
pub struct Gate {
    /// The name that a policy uses.
    pub name: String,
    /// The languages that it can judge.
    pub languages: Languages,
    /// How it is run.
    pub kind: Kind,
    /// How long one run may take.
    pub timeout: Duration,
    /// Texts with the findings that they must give.
    pub samples: Vec<Sample>,
}

impl Gate {
    /// Whether the gate can judge files of this language; `None` is a file of no known language.
    pub fn covers(&self, language: Option<&Language>) -> bool {
        match &self.languages {
            Languages::Every => true,
            Languages::Only(names) => language.is_some_and(|language| names.contains(&language.name)),
        }
    }
}

/// Which languages a gate can judge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Languages {
    /// Any text.
    Every,
    /// These languages, by name.
    Only(Vec<String>),
}

/// How a gate is run.
#[derive(Debug)]
pub enum Kind {
    /// By the language's parser, in process.
    Syntax,
    /// By rules about the text itself, in process.
    Pattern(PatternRules),
}

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

/// A text with the findings that a gate must give for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sample {
    /// Where the text is taken to lie, relative to the root.
    pub path: String,
    /// The text.
    pub draft: String,
    /// Other paths that exist, relative to the root.
    pub beside: Vec<String>,
    /// Every finding, in the order of the text; none for a clean text.
    pub finds: Vec<Expected>,
}

/// A finding that a sample expects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expected {
    /// 1-based line.
    pub line: usize,
    /// 1-based column in characters, where the sample pins it.
    pub column: Option<usize>,
    /// The finding's code, where the sample pins it.
    pub code: Option<String>,
    /// A part of the message, where the sample pins it.
    pub message: Option<String>,
}

/// Raises one definition file.
pub(super) fn gate(name: &str, root: &Node) -> Result<Gate, Fault> {
    let fields = root.fields("a gate", &KEYS)?;
    let samples = fields.optional("samples", Node::list)?.unwrap_or_default();
    Ok(Gate {
        name: name.to_owned(),
        languages: judged(fields.require("languages")?)?,
        kind: kind(&fields)?,
        timeout: fields.optional("timeout", quantity::duration)?.unwrap_or(DEFAULT_TIMEOUT),
        samples: samples.iter().map(sample).collect::<Result<_, Fault>>()?,
    })
}

fn judged(node: &Node) -> Result<Languages, Fault> {
    let mut only = Vec::new();
    for item in node.list("`languages`")? {
        match item.text("a language")? {
            "*" => return Ok(Languages::Every),
            name if language_named(name).is_some() => only.push(name.to_owned()),
            name => return Err(item.fault(unknown_language(name))),
        }
    }
    Ok(Languages::Only(only))
}

/// The words for a language that the table does not have.
pub(super) fn unknown_language(name: &str) -> String {
    let mut known: Vec<&str> = languages().iter().map(|language| language.name.as_str()).collect();
    known.push("\"*\"");
    match super::language::meant_by(name) {
        Some(meant) if nearest(name, known.iter().copied()).is_none() => {
            format!("unknown language `{name}`, did you mean `{}`? (known: {})", meant.name, known.join(", "))
        }
        Some(_) | None => unknown("language", name, &known),
    }
}

fn kind(fields: &Fields) -> Result<Kind, Fault> {
    let node = fields.require("kind")?;
    match node.text("`kind`")? {
        "syntax" => Ok(Kind::Syntax),
        "pattern" => rules(fields, node).map(Kind::Pattern),
        other => Err(node.fault(unknown("kind", other, &["syntax", "pattern"]))),
    }
}

fn rules(fields: &Fields, kind: &Node) -> Result<PatternRules, Fault> {
    let must_match = fields.optional("must_match", regex)?;
    let must_not_match = fields.optional("must_not_match", regex)?;
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

fn regex(node: &Node, what: &str) -> Result<Regex, Fault> {
    let pattern = node.text(what)?;
    regex::RegexBuilder::new(pattern).multi_line(true).size_limit(1 << 20).build().map_err(|error| {
        let said = error.to_string();
        let reason = said.lines().last().unwrap_or_default();
        node.fault(format!("{what} is no regular expression: {}", reason.trim_start_matches("error: ")))
    })
}

fn sample(node: &Node) -> Result<Sample, Fault> {
    let fields = node.fields("a sample", &["path", "draft", "beside", "finds"])?;
    let finds = fields.optional("finds", Node::list)?.unwrap_or_default();
    Ok(Sample {
        path: fields.require("path")?.text("`path`")?.to_owned(),
        draft: fields.require("draft")?.text("`draft`")?.to_owned(),
        beside: fields.optional("beside", Node::texts)?.unwrap_or_default(),
        finds: finds.iter().map(expected).collect::<Result<_, Fault>>()?,
    })
}

fn expected(node: &Node) -> Result<Expected, Fault> {
    let fields = node.fields("a finding", &["line", "column", "code", "message"])?;
    let text = |name: &str| fields.optional(name, Node::text).map(|text| text.map(str::to_owned));
    let whole = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    Ok(Expected {
        line: whole(fields.require("line")?.whole("`line`")?),
        column: fields.optional("column", Node::whole)?.map(whole),
        code: text("code")?,
        message: text("message")?,
    })
}

#[cfg(test)]
mod tests {
    use super::super::yaml;
    use super::*;

    fn read(text: &str) -> Result<Gate, String> {
        yaml::read("gates/x.yaml", text, |root| gate("x", root)).map_err(|error| error.message)
    }

    #[track_caller]
    fn refused(text: &str, said: &str) {
        let message = read(text).expect_err(text);
        assert!(message.contains(said), "{message}");
    }

    #[test]
    fn a_definition_is_raised_to_a_gate() {
        let gate = read("languages: ['*']\nkind: pattern\nmust_match: '^// SPDX-'\nmessage: no SPDX line\n")
            .unwrap();
        assert_eq!((gate.timeout, gate.languages.clone()), (DEFAULT_TIMEOUT, Languages::Every));
        assert!(gate.covers(None));
        let Kind::Pattern(PatternRules::Regex { must_match: Some(regex), must_not_match: None, .. }) =
            gate.kind
        else {
            panic!("a wanted pattern")
        };
        assert!(regex.is_match("#!x\n// SPDX-"));
    }

    #[test]
    fn a_faulty_definition_is_refused_where_it_is_faulty() {
        let with = |rest: &str| format!("languages: [go]\n{rest}\n");
        refused(&with("kind: sintax"), "2:7: unknown kind `sintax`, did you mean `syntax`?");
        refused(&with("kind: pattern"), "2:7: a pattern gate needs structure, must_match or must_not_match");
        refused(
            &with("kind: pattern\nmust_match: 'a('\nmessage: m"),
            "3:13: `must_match` is no regular expression: unclosed group",
        );
        refused(&with("kind: pattern\nmust_match: a"), "the key `message` is missing");
        refused(&with("kind: pattern\nstructure: html"), "3:12: unknown structure `html`");
        refused(&with("kind: syntax\nrole: check"), "3:1: unknown key `role`");
        refused("about: a\nlanguages: [go]\nkind: syntax\n", "1:1: unknown key `about`");
        refused("languages: [golang]\nkind: syntax\n", "1:13: unknown language `golang`");
        refused(&with("kind: syntax\ntimeout: 5"), "3:10: `timeout` needs a unit, as in `5s` or `5ms`");
    }
}
