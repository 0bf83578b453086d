//! The text of a client's JSON configuration: where its objects, arrays, commas and comments are, and splices of it.
//!
//! Invariant: pure. A splice that inserts or cuts an item changes no other byte, except for a comma and blanks between
//! two brackets.

use std::collections::HashSet;

use jsonc_parser::ast::{Array, Object, ObjectProp, Value as Node};
use jsonc_parser::common::{Range, Ranged};
use jsonc_parser::tokens::{Token, TokenAndRange};
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, ParseOptions, ParseResult, parse_to_ast};
use serde_json::Value;

use super::kinds::JsonDialect;
use super::layout::{TextLayout, quoted, single_line};

/// The byte order mark that some editors write at the start of a text.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// A line and a column, from 1.
pub(super) type LineColumn = (usize, usize);

/// The reason why a text cannot be merged, with line and column.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct MergeError {
    pub(super) problem: String,
    /// Line and column, from 1.
    pub(super) at: LineColumn,
}

/// True if a text has features that the dialect lacks: comments or trailing commas.
pub(super) fn exceeds(text: &str, dialect: JsonDialect) -> bool {
    let read = ParseOptions {
        allow_comments: dialect != JsonDialect::Strict,
        allow_trailing_commas: dialect == JsonDialect::CommentsAndCommas,
        ..options()
    };
    parse_to_ast(split_mark(text).1, &CollectOptions::default(), &read).is_err()
}

/// Returns the options for JSON with comments and trailing commas.
pub(super) fn options() -> ParseOptions {
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

/// A replacement of a part of the text without its byte order mark.
pub(super) struct ConfigSplice {
    pub(super) span: Range,
    pub(super) text: String,
}

impl ConfigSplice {
    fn delete(span: Range) -> ConfigSplice {
        ConfigSplice { span, text: String::new() }
    }
}

/// Splits a text into its byte order mark, if it has one, and the rest.
pub(super) fn split_mark(text: &str) -> (&str, &str) {
    let mark = if text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len_utf8() } else { 0 };
    text.split_at(mark)
}

/// Returns the line and column of an offset, from 1.
pub(super) fn position(text: &str, at: usize) -> LineColumn {
    let before = text.get(..at).unwrap_or(text);
    let line = before.rsplit('\n').next().unwrap_or_default();
    (before.matches('\n').count() + 1, line.chars().count() + 1)
}

/// A configuration that was parsed, with its layout.
pub(super) struct ConfigText<'a> {
    mark: &'a str,
    /// The text without its byte order mark.
    pub(super) body: &'a str,
    pub(super) layout: TextLayout<'a>,
    parsed: ParseResult<'a>,
}

impl<'a> ConfigText<'a> {
    /// Parses a text.
    ///
    /// Errors: invalid JSON, with its place.
    pub(super) fn read(text: &'a str) -> Result<ConfigText<'a>, MergeError> {
        let (mark, body) = split_mark(text);
        let collect = CollectOptions { comments: CommentCollectionStrategy::AsTokens, tokens: true };
        let parsed = parse_to_ast(body, &collect, &options()).map_err(|error| MergeError {
            problem: error.kind().to_string().to_lowercase(),
            at: (error.line_display(), error.column_display()),
        })?;
        Ok(ConfigText { mark, body, layout: TextLayout::detect(body), parsed })
    }

    /// Returns the whole text after the splices; those at the same offset keep their order.
    pub(super) fn apply(&self, mut splices: Vec<ConfigSplice>) -> String {
        splices.sort_by_key(|splice| (splice.span.start, splice.span.end));
        let mut body = self.body.to_owned();
        for ConfigSplice { span, text } in splices.into_iter().rev() {
            body.replace_range(span.start..span.end, &text);
        }
        format!("{}{body}", self.mark)
    }

    pub(super) fn error(&self, at: usize, problem: String) -> MergeError {
        MergeError { problem, at: position(self.body, at) }
    }

    pub(super) fn object<'n>(&self, node: &'n Node<'a>, what: &str) -> Result<&'n Object<'a>, MergeError> {
        node.as_object().ok_or_else(|| self.error(node.range().start, format!("{what} is not an object")))
    }

    /// Returns the property with this name; fails if there are two.
    pub(super) fn find_unique<'n>(
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

    /// Checks that no object in a value has a key twice, so that its meaning is clear.
    pub(super) fn check_keys(&self, node: &Node<'a>) -> Result<(), MergeError> {
        match node {
            Node::Object(object) => {
                let mut known = HashSet::new();
                object.properties.iter().try_for_each(|property| {
                    let name = property.name.as_str();
                    if !known.insert(name) {
                        return Err(self.error(property.range.start, format!("`{name}` occurs twice")));
                    }
                    self.check_keys(&property.value)
                })
            }
            Node::Array(array) => array.elements.iter().try_for_each(|element| self.check_keys(element)),
            Node::StringLit(_) | Node::NumberLit(_) | Node::BooleanLit(_) | Node::NullKeyword(_) => Ok(()),
        }
    }

    pub(super) fn array<'n>(&self, property: &'n ObjectProp<'a>) -> Result<&'n Array<'a>, MergeError> {
        property.value.as_array().ok_or_else(|| {
            let problem = format!("`{}` is not an array", property.name.as_str());
            self.error(property.value.range().start, problem)
        })
    }

    /// Follows a path of names as far as the text has it.
    pub(super) fn walk<'n, 'p>(
        &'n self,
        path: &'p [&'static str],
    ) -> Result<Position<'n, 'a, 'p>, MergeError> {
        let Some(root) = &self.parsed.value else { return Ok(Position::NoValue) };
        let (mut object, mut chain) = (self.object(root, "the text")?, Vec::new());
        let mut names = path;
        while let [name, below @ ..] = names {
            let Some(property) = self.find_unique(object, name)? else {
                return Ok(Position::Missing { object, name, below });
            };
            chain.push((object, property));
            if !below.is_empty() {
                object = self.object(&property.value, &format!("`{name}`"))?;
            }
            names = below;
        }
        Ok(Position::Found(chain))
    }

    /// Returns the property at the end of a path of names; `None` if the text does not have it.
    pub(super) fn property<'n>(
        &'n self,
        path: &[&'static str],
    ) -> Result<Option<&'n ObjectProp<'a>>, MergeError> {
        Ok(match self.walk(path)? {
            Position::Found(chain) => chain.last().map(|(_, property)| *property),
            Position::NoValue | Position::Missing { .. } => None,
        })
    }

    fn tokens(&self, within: Range) -> impl DoubleEndedIterator<Item = &TokenAndRange<'a>> {
        let is_within = move |range: Range| within.start <= range.start && range.end <= within.end;
        self.parsed.tokens.iter().flatten().filter(move |token| is_within(token.range))
    }

    fn comma(&self, within: Range) -> Option<Range> {
        self.tokens(within).find(|token| token.token == Token::Comma).map(|token| token.range)
    }

    pub(super) fn has_comment(&self, within: Range) -> bool {
        self.tokens(within).any(|token| matches!(token.token, Token::CommentLine(_) | Token::CommentBlock(_)))
    }

    fn has_line_break(&self, within: Range) -> bool {
        self.body.get(within.start..within.end).unwrap_or_default().contains(['\n', '\r'])
    }

    /// Cuts an item with its comma and the blanks before it, so that an appended item leaves no trace.
    pub(super) fn cut(&self, container: &Container, index: usize) -> Vec<ConfigSplice> {
        let Some(item) = container.items.get(index) else { return Vec::new() };
        let before = index.checked_sub(1).and_then(|before| container.items.get(before));
        let next = container.items.get(index + 1);
        let behind = Range::new(item.end, next.map_or(container.inside.end, |next| next.start));
        let own_comma = self.comma(behind);
        // A comment between the item and its comma stays.
        let joined = own_comma.filter(|comma| !self.has_comment(Range::new(item.end, comma.start)));
        let end = joined.map_or(item.end, |comma| comma.end);
        match (before, next) {
            (None, None) if !self.has_comment(container.inside) => {
                return vec![ConfigSplice::delete(container.inside)];
            }
            // The first of several on one line leaves its blanks to the next.
            (None, Some(next))
                if !self.has_line_break(Range::new(end, next.start)) && !self.has_comment(behind) =>
            {
                return vec![ConfigSplice::delete(Range::new(item.start, next.start))];
            }
            _ => {}
        }
        let cut = Range::new(self.blanks_before(item.start, end), end);
        let comma = own_comma.or_else(|| self.comma(Range::new(before?.end, item.start)));
        let apart = comma.filter(|_| joined.is_none());
        [Some(cut), apart].into_iter().flatten().map(ConfigSplice::delete).collect()
    }

    /// Returns the start of the blanks before an item that ends at `end`, or of the item itself where the line break
    /// before it has to end a line comment.
    fn blanks_before(&self, at: usize, end: usize) -> usize {
        let before = self.body.get(..at).unwrap_or_default();
        let start = before.trim_end_matches([' ', '\t', '\n', '\r']).len();
        let after_comment = self.parsed.tokens.iter().flatten().any(|token| {
            matches!(token.token, Token::CommentLine(_))
                && token.range.end >= start
                && token.range.start < start
        });
        let rest = self.body.get(end..).unwrap_or_default();
        if after_comment && !rest.starts_with(['\n', '\r']) { at } else { start }
    }

    /// Inserts items at the end of an object or array; those of an object have names.
    pub(super) fn insert_all(
        &self,
        container: &Container,
        items: &[(Option<&str>, &Value)],
    ) -> Vec<ConfigSplice> {
        if items.is_empty() {
            return Vec::new();
        }
        let last = container.items.last().map(|item| item.end);
        let close = container.inside.end;
        let behind = Range::new(last.unwrap_or(container.inside.start), close);
        // The last token before the closing bracket: an item, a comma, a comment, or the opening bracket.
        let ending = self.tokens(behind).next_back();
        let place = ending.map_or(behind.start, |token| token.range.end);
        let in_line_comment = ending.is_some_and(|token| matches!(token.token, Token::CommentLine(_)));
        let is_spread = last.is_none() || in_line_comment || self.has_line_break(container.inside);
        let is_closed = is_spread && !self.has_line_break(Range::new(place, close));
        let has_comma = self.comma(behind).is_some();
        let base = self.layout.indentation_if_first(close);
        let base = base.unwrap_or_else(|| self.layout.indentation(container.inside.start));
        let sample = container.items.iter().find_map(|item| self.layout.indentation_if_first(item.start));
        let indent = self.layout.inner_indentation(base, sample);
        let line_end = self.layout.line_end;
        let item = |(name, value): &(Option<&str>, &Value)| match is_spread {
            true => format!("{line_end}{indent}{}{}", label(*name), self.layout.multi_line(value, &indent)),
            false => format!(" {}{}", label(*name), single_line(value)),
        };
        let mut text = items.iter().map(item).collect::<Vec<_>>().join(",");
        if has_comma {
            text += ",";
        }
        // Put the bracket on its own line; blanks before it would become trailing blanks.
        if is_closed {
            text += &format!("{line_end}{base}");
        }
        let comma = |at| ConfigSplice { span: Range::from_byte_index(at), text: ",".to_owned() };
        let new = ConfigSplice { span: Range::new(place, if is_closed { close } else { place }), text };
        last.filter(|_| !has_comma).map(comma).into_iter().chain([new]).collect()
    }
}

/// The place of a part in a text.
pub(super) enum Position<'n, 'a, 'p> {
    /// The text has no value.
    NoValue,
    /// The object has no property of that name.
    Missing { object: &'n Object<'a>, name: &'static str, below: &'p [&'static str] },
    /// The properties along the path.
    Found(Vec<PropertyStep<'n, 'a>>),
}

/// A property on a path, and the object that has it.
pub(super) type PropertyStep<'n, 'a> = (&'n Object<'a>, &'n ObjectProp<'a>);

/// An object or array.
#[derive(Debug, PartialEq)]
pub(super) struct Container {
    /// The range between the brackets.
    pub(super) inside: Range,
    items: Vec<Range>,
}

impl Container {
    pub(super) fn from_object(object: &Object<'_>) -> Container {
        Container::new(object.range, object.properties.iter().map(|property| property.range))
    }

    pub(super) fn from_array(array: &Array<'_>) -> Container {
        Container::new(array.range, array.elements.iter().map(Ranged::range))
    }

    fn new(range: Range, items: impl Iterator<Item = Range>) -> Container {
        Container { inside: Range::new(range.start + 1, range.end - 1), items: items.collect() }
    }
}

/// Formats the name before a value, if it has one.
fn label(name: Option<&str>) -> String {
    name.map(|name| format!("{}: ", quoted(name))).unwrap_or_default()
}
