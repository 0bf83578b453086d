//! Adds a server to a client's configuration without changing other bytes.
//!
//! Invariant: pure. The result contains the entry; without the entry it equals the original text, except for a comma
//! and blanks between two braces.

use std::ops::Range;

use jsonc_parser::ast::{Object, ObjectProp, Value as Node};
use jsonc_parser::common::Ranged;
use jsonc_parser::tokens::{Token, TokenAndRange};
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, ParseOptions, ParseResult, parse_to_ast};
use serde_json::{Map, Value, json};

use super::layout::{TextLayout, quoted, single_line};

/// The byte order mark that some editors write at the start of a text.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// The entry to add to a configuration.
#[derive(Debug)]
pub(super) struct WantedEntry<'a> {
    /// The property that contains the servers.
    pub(super) key: &'a str,
    pub(super) name: &'a str,
    pub(super) entry: &'a Map<String, Value>,
}

/// The result of a merge.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum MergeResult {
    /// The configuration already has the entry.
    Unchanged,
    /// The new text, in a configuration without a server of that name.
    Added(String),
    /// The new text, in a configuration with a different server of that name at this line and column.
    Replaced(String, (usize, usize)),
}

/// The reason why a text cannot be merged, with line and column.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct MergeError {
    pub(super) problem: String,
    /// Line and column, from 1.
    pub(super) at: (usize, usize),
}

pub(super) fn merge(text: &str, wanted: &WantedEntry<'_>) -> Result<MergeResult, MergeError> {
    let body = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    let page = ConfigText::read(body)?;
    let Some(value) = &page.parsed.value else {
        return Ok(MergeResult::Added(format!("{text}{}", page.full_text(wanted))));
    };
    let root = page.object(value, "the text")?;
    let byte_order_mark = text.get(..text.len() - body.len()).unwrap_or_default();
    let patched = |splices: Vec<ConfigSplice>| format!("{byte_order_mark}{}", apply(body, splices));
    let Some(servers) = page.find_unique(root, wanted.key)? else {
        return Ok(MergeResult::Added(patched(page.insert(
            root,
            wanted.key,
            &json!({ wanted.name: wanted.entry }),
        ))));
    };
    let servers = page.object(&servers.value, &format!("`{}`", wanted.key))?;
    let Some(existing) = page.find_unique(servers, wanted.name)? else {
        return Ok(MergeResult::Added(patched(page.insert(servers, wanted.name, &json!(wanted.entry)))));
    };
    let server = page.object(&existing.value, &format!("the server `{}`", wanted.name))?;
    let splices = page.update(server, wanted.entry)?;
    Ok(if splices.is_empty() {
        MergeResult::Unchanged
    } else {
        MergeResult::Replaced(patched(splices), page.position(existing.range.start))
    })
}

/// True if a text has features outside strict JSON: comments or trailing commas.
pub(super) fn is_lenient(text: &str) -> bool {
    let strict = ParseOptions { allow_comments: false, allow_trailing_commas: false, ..options() };
    let body = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    parse_to_ast(body, &CollectOptions::default(), &strict).is_err()
}

/// Returns the options for JSON with comments and trailing commas.
fn options() -> ParseOptions {
    ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    }
}

#[derive(Debug)]
struct ConfigSplice {
    span: Range<usize>,
    text: String,
}

impl ConfigSplice {
    fn at(place: usize, text: impl Into<String>) -> ConfigSplice {
        ConfigSplice { span: place..place, text: text.into() }
    }
}

/// Applies the splices; those at the same offset keep their order.
fn apply(body: &str, mut splices: Vec<ConfigSplice>) -> String {
    splices.sort_by_key(|splice| (splice.span.start, splice.span.end));
    let (mut text, mut copied) = (String::with_capacity(body.len()), 0);
    for ConfigSplice { span, text: new } in splices {
        text += body.get(copied..span.start).unwrap_or_default();
        text += &new;
        copied = span.end;
    }
    text + body.get(copied..).unwrap_or_default()
}

struct ConfigText<'a> {
    body: &'a str,
    layout: TextLayout<'a>,
    parsed: ParseResult<'a>,
}

impl<'a> ConfigText<'a> {
    fn read(body: &'a str) -> Result<ConfigText<'a>, MergeError> {
        let collect = CollectOptions { comments: CommentCollectionStrategy::AsTokens, tokens: true };
        let parsed = parse_to_ast(body, &collect, &options()).map_err(|error| MergeError {
            problem: error.kind().to_string().to_lowercase(),
            at: (error.line_display(), error.column_display()),
        })?;
        Ok(ConfigText { body, layout: TextLayout::detect(body), parsed })
    }

    /// Returns the line and column of an offset, from 1.
    fn position(&self, at: usize) -> (usize, usize) {
        let before = self.body.get(..at).unwrap_or_default();
        let line = before.rsplit('\n').next().unwrap_or_default();
        (before.matches('\n').count() + 1, line.chars().count() + 1)
    }

    fn error(&self, at: usize, problem: String) -> MergeError {
        MergeError { problem, at: self.position(at) }
    }

    fn object<'n>(&self, node: &'n Node<'a>, what: &str) -> Result<&'n Object<'a>, MergeError> {
        node.as_object().ok_or_else(|| self.error(node.range().start, format!("{what} is not an object")))
    }

    /// Returns the property with this name; fails if there are two.
    fn find_unique<'n>(
        &self,
        object: &'n Object<'a>,
        name: &str,
    ) -> Result<Option<&'n ObjectProp<'a>>, MergeError> {
        let mut properties = object.properties.iter().filter(|property| property.name.as_str() == name);
        match (properties.next(), properties.next()) {
            (Some(_), Some(second)) => Err(self.error(second.range.start, format!("`{name}` occurs twice"))),
            (first, _) => Ok(first),
        }
    }

    /// Returns the whole content for a text that has no value yet, to append to it.
    fn full_text(&self, wanted: &WantedEntry<'_>) -> String {
        let value = json!({ wanted.key: { wanted.name: wanted.entry } });
        let open = !self.body.is_empty() && !self.body.ends_with(['\n', '\r']);
        let begin = if open { self.layout.line_end } else { "" };
        format!("{begin}{}{}", self.layout.multi_line(&value, ""), self.layout.line_end)
    }

    /// Sets each field of the entry in the existing server; other fields stay.
    fn update(
        &self,
        server: &Object<'a>,
        entry: &Map<String, Value>,
    ) -> Result<Vec<ConfigSplice>, MergeError> {
        let mut splices = Vec::new();
        let mut missing = Vec::new();
        for (name, value) in entry {
            match self.find_unique(server, name)? {
                Some(existing) if equals(&existing.value, value) => {}
                Some(existing) => {
                    let Range { start, end } = span(&existing.value);
                    splices.push(ConfigSplice { span: start..end, text: single_line(value) });
                }
                None => missing.push((name.as_str(), value)),
            }
        }
        splices.extend(self.insert_all(server, &missing));
        Ok(splices)
    }

    fn insert(&self, object: &Object<'a>, name: &str, value: &Value) -> Vec<ConfigSplice> {
        self.insert_all(object, &[(name, value)])
    }

    /// Inserts properties at the end of an object.
    fn insert_all(&self, object: &Object<'a>, fields: &[(&str, &Value)]) -> Vec<ConfigSplice> {
        if fields.is_empty() {
            return Vec::new();
        }
        let end = ObjectEnd::find(self, object);
        let close = object.range.end - 1;
        let inside = self.body.get(object.range.start..close).unwrap_or_default();
        let is_spread = end.last.is_none() || end.in_line_comment || inside.contains(['\n', '\r']);
        let mut splices: Vec<ConfigSplice> = end.comma().into_iter().collect();
        let after = if end.has_comma { "," } else { "" };
        let blanks = self.body.get(end.tail_end..close).unwrap_or_default();
        if !is_spread {
            let each: Vec<String> = fields
                .iter()
                .map(|(name, value)| format!(" {}: {}", quoted(name), single_line(value)))
                .collect();
            splices.push(ConfigSplice::at(end.tail_end, each.join(",") + after));
            return splices;
        }
        let base = self
            .layout
            .indentation_if_first(close)
            .unwrap_or_else(|| self.layout.indentation(object.range.start));
        let sample = object
            .properties
            .iter()
            .find_map(|property| self.layout.indentation_if_first(property.range.start));
        let indent = self.layout.inner_indentation(base, sample);
        let line_end = self.layout.line_end;
        let field = |(name, value): &(&str, &Value)| {
            format!("{line_end}{indent}{}: {}", quoted(name), self.layout.multi_line(value, &indent))
        };
        let mut text = fields.iter().map(field).collect::<Vec<_>>().join(",") + after;
        // Put the brace on its own line; blanks before it would become trailing blanks.
        let is_open = blanks.contains(['\n', '\r']);
        if !is_open {
            text += &format!("{line_end}{base}");
        }
        splices.push(ConfigSplice { span: end.tail_end..if is_open { end.tail_end } else { close }, text });
        splices
    }
}

/// The end of an object.
struct ObjectEnd {
    /// End offset of the last property.
    last: Option<usize>,
    has_comma: bool,
    in_line_comment: bool,
    /// End offset of the last token before the closing brace: a property, a comma, a comment, or the opening brace.
    tail_end: usize,
}

impl ObjectEnd {
    fn find(page: &ConfigText<'_>, object: &Object<'_>) -> ObjectEnd {
        let last = object.properties.last().map(|property| property.range.end);
        let open = last.unwrap_or(object.range.start + 1);
        let behind =
            |token: &&TokenAndRange<'_>| token.range.start >= open && token.range.end < object.range.end;
        let tokens = || page.parsed.tokens.iter().flatten().filter(behind);
        let ending = tokens().next_back();
        ObjectEnd {
            last,
            has_comma: tokens().any(|token| token.token == Token::Comma),
            in_line_comment: ending.is_some_and(|token| matches!(token.token, Token::CommentLine(_))),
            tail_end: ending.map_or(open, |token| token.range.end),
        }
    }

    /// Returns the comma that the last property needs before another one.
    fn comma(&self) -> Option<ConfigSplice> {
        self.last.filter(|_| !self.has_comma).map(|end| ConfigSplice::at(end, ","))
    }
}

fn span(node: &Node<'_>) -> Range<usize> {
    let range = node.range();
    range.start..range.end
}

/// True if a value equals the wanted one, which consists of strings and arrays only.
fn equals(node: &Node<'_>, wanted: &Value) -> bool {
    match (node, wanted) {
        (Node::StringLit(node), Value::String(text)) => node.value == *text,
        (Node::Array(node), Value::Array(items)) => {
            node.elements.len() == items.len()
                && node.elements.iter().zip(items).all(|(node, item)| equals(node, item))
        }
        _ => false,
    }
}
