//! Adds servers, hooks and settings to a client's JSON configuration without changing other bytes, and removes them.
//!
//! Invariant: pure. The result contains what was wanted; without that it equals the original text, except for a comma
//! and blanks between two brackets.

use std::ops::Range;

use jsonc_parser::ast::{Array, Object, ObjectProp, Value as Node};
use jsonc_parser::common::Ranged;
use jsonc_parser::tokens::{Token, TokenAndRange};
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, ParseOptions, ParseResult, parse_to_ast};
use serde_json::{Map, Value, json};

use super::hooks;
use super::kinds::JsonDialect;
use super::layout::{TextLayout, quoted, single_line};
use super::wanted::Wanted;

/// The byte order mark that some editors write at the start of a text.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// The result of a merge.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum MergeResult {
    /// The configuration already has everything.
    Unchanged,
    /// The new text; what was there before stays.
    Added(String),
    /// The new text, in which something else at this line and column is replaced.
    Replaced(String, (usize, usize)),
}

/// The reason why a text cannot be merged, with line and column.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct MergeError {
    pub(super) problem: String,
    /// Line and column, from 1.
    pub(super) at: (usize, usize),
}

/// An object that a configuration has.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ExistingObject {
    pub(super) fields: Map<String, Value>,
    /// Line and column, from 1.
    pub(super) at: (usize, usize),
}

/// Adds all parts to a text.
pub(super) fn merge(text: &str, wanted: &[Wanted]) -> Result<MergeResult, MergeError> {
    let (mut current, mut replaced) = (None, None);
    for part in wanted {
        match merge_part(current.as_deref().unwrap_or(text), part)? {
            MergeResult::Unchanged => {}
            MergeResult::Added(text) => current = Some(text),
            MergeResult::Replaced(text, place) => {
                current = Some(text);
                replaced = replaced.or(Some(place));
            }
        }
    }
    Ok(match (current, replaced) {
        (None, _) => MergeResult::Unchanged,
        (Some(text), None) => MergeResult::Added(text),
        (Some(text), Some(place)) => MergeResult::Replaced(text, place),
    })
}

fn merge_part(text: &str, wanted: &Wanted) -> Result<MergeResult, MergeError> {
    let page = ConfigText::read(text)?;
    let Some(root) = page.root()? else {
        return Ok(MergeResult::Added(format!("{text}{}", page.full_text(wanted))));
    };
    let (splices, place) = match page.walk(root, wanted.path())? {
        Position::Missing { object, rest: [name, below @ ..] } => {
            let value = nested(below, wanted.fresh());
            (page.insert_all(&Container::of_object(object), &[(Some(name), &value)]), None)
        }
        Position::Missing { rest: [], .. } => return Ok(MergeResult::Unchanged),
        Position::Found { chain } => {
            let Some(existing) = chain.last() else { return Ok(MergeResult::Unchanged) };
            page.update_part(existing, wanted)?
        }
    };
    Ok(match place {
        _ if splices.is_empty() => MergeResult::Unchanged,
        None => MergeResult::Added(page.apply(splices)),
        Some(place) => MergeResult::Replaced(page.apply(splices), position(page.body, place)),
    })
}

/// Returns the object at the end of a path of names; `None` if the text has none.
pub(super) fn find(text: &str, path: &[&'static str]) -> Result<Option<ExistingObject>, MergeError> {
    let page = ConfigText::read(text)?;
    let Some(root) = page.root()? else { return Ok(None) };
    let Position::Found { chain } = page.walk(root, path)? else { return Ok(None) };
    let Some(existing) = chain.last() else { return Ok(None) };
    page.object(&existing.value, &format!("`{}`", existing.name.as_str()))?;
    let fields = Value::from(existing.value.clone()).as_object().cloned().unwrap_or_default();
    Ok(Some(ExistingObject { fields, at: position(page.body, existing.range.start) }))
}

/// The path of an object or an array: the names from the root object.
pub(super) type ContainerPath = Vec<String>;

/// Returns the objects and arrays that a text does not have, and that are made to add all parts to it.
pub(super) fn new_containers(text: &str, wanted: &[Wanted]) -> Result<Vec<ContainerPath>, MergeError> {
    let page = ConfigText::read(text)?;
    let root = page.root()?;
    let mut made: Vec<ContainerPath> = Vec::new();
    for path in wanted.iter().flat_map(Wanted::containers) {
        let is_there = match root {
            Some(root) => matches!(page.walk(root, path)?, Position::Found { .. }),
            None => false,
        };
        let path: ContainerPath = path.iter().map(|name| (*name).to_owned()).collect();
        if !is_there && !made.contains(&path) {
            made.push(path);
        }
    }
    Ok(made)
}

/// Returns the parts that a text has, each as a configuration with nothing else.
pub(super) fn existing_parts(text: &str, wanted: &[Wanted]) -> Vec<Value> {
    let is_there = |part: &&Wanted| merge_part(text, part) == Ok(MergeResult::Unchanged);
    wanted.iter().filter(is_there).map(whole_config).collect()
}

/// Returns a configuration with nothing but a part.
pub(super) fn whole_config(wanted: &Wanted) -> Value {
    nested(wanted.path(), wanted.fresh())
}

/// Removes all parts from a text; `None` if it has none of them. The objects and arrays of `made` are removed, too, if
/// they are empty then; all others may be a person's.
pub(super) fn remove(
    text: &str,
    wanted: &[Wanted],
    made: &[ContainerPath],
) -> Result<Option<String>, MergeError> {
    let mut current: Option<String> = None;
    for part in wanted {
        while let Some(text) = remove_part(current.as_deref().unwrap_or(text), part, made)? {
            current = Some(text);
        }
    }
    Ok(current)
}

/// Removes one part, or one element of it.
fn remove_part(text: &str, wanted: &Wanted, made: &[ContainerPath]) -> Result<Option<String>, MergeError> {
    let page = ConfigText::read(text)?;
    let Some(root) = page.root()? else { return Ok(None) };
    let Position::Found { chain } = page.walk(root, wanted.path())? else { return Ok(None) };
    let Some(existing) = chain.last() else { return Ok(None) };
    let splices = match wanted {
        Wanted::Default { .. } => return Ok(None),
        Wanted::Value { value, .. } if Value::from(existing.value.clone()) != *value => return Ok(None),
        Wanted::Object { .. } | Wanted::Value { .. } => page.cut_property(root, &chain, made),
        Wanted::Element { path, value } => {
            let array = page.array(&existing.value, path)?;
            let Some((container, index)) = find_own(array, value) else { return Ok(None) };
            let is_last = array.elements.len() == 1 && container == Container::of_array(array);
            if is_last && is_made(&chain, made) {
                page.cut_property(root, &chain, made)
            } else {
                page.cut(&container, index)
            }
        }
    };
    Ok(Some(page.apply(splices)))
}

/// Returns the container and index of the element that is the wanted one, or a hook of lockgate if that is wanted.
fn find_own(array: &Array<'_>, wanted: &Value) -> Option<(Container, usize)> {
    array.elements.iter().enumerate().find_map(|(index, element)| {
        let value = Value::from(element.clone());
        let is_own = value == *wanted
            || (Owner::from_hook(wanted) == Owner::Own && Owner::from_hook(&value) == Owner::Own);
        if is_own {
            return Some((Container::of_array(array), index));
        }
        // A person may have put lockgate's hook into a group with others.
        let hooks = element.as_object()?.get_array(hooks::LIST)?;
        let own = |hook: &Node<'_>| Owner::from_hook(&Value::from(hook.clone())) == Owner::Own;
        let index = hooks.elements.iter().position(own).filter(|_| Owner::from_hook(wanted) == Owner::Own)?;
        Some((Container::of_array(hooks), index))
    })
}

/// True if the value at the end of a chain is one of `made`.
fn is_made(chain: &[&ObjectProp<'_>], made: &[ContainerPath]) -> bool {
    made.iter().any(|path| path.iter().eq(chain.iter().map(|property| property.name.as_str())))
}

/// Returns the value below a path of names.
fn nested(path: &[&str], value: Value) -> Value {
    path.iter().rev().fold(value, |value, name| json!({ *name: value }))
}

/// The owner of a hook, or of a group of hooks.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// All its programs are lockgate.
    Own,
    /// It starts lockgate and other programs.
    Mixed,
    Other,
}

impl Owner {
    pub(super) fn from_hook(hook: &Value) -> Owner {
        if let Some(hooks) = hook.get(hooks::LIST).and_then(Value::as_array) {
            let own = hooks.iter().filter(|hook| Owner::from_hook(hook) == Owner::Own).count();
            return match own {
                0 => Owner::Other,
                _ if own == hooks.len() => Owner::Own,
                _ => Owner::Mixed,
            };
        }
        let word = |name: &str| hook.get(name).and_then(Value::as_str).unwrap_or_default();
        let starts_hook = ["command", "bash"].map(word).into_iter().any(|command| {
            let words: Vec<&str> = command.split([' ', ';']).collect();
            words.windows(2).any(|pair| matches!(pair, [program, "hook"] if is_lockgate(program)))
        });
        let has_argument =
            hook.get("args").and_then(|args| args.get(0)).and_then(Value::as_str) == Some("hook");
        if starts_hook || (has_argument && is_lockgate(word("command"))) { Owner::Own } else { Owner::Other }
    }

    /// Returns the owner of an object with a list of groups for each event.
    pub(super) fn from_events(events: &Map<String, Value>) -> Owner {
        let groups: Vec<&Value> = events.values().filter_map(Value::as_array).flatten().collect();
        let own = groups.iter().filter(|group| Owner::from_hook(group) == Owner::Own).count();
        match own {
            _ if own == groups.len() => Owner::Own,
            0 => Owner::Other,
            _ => Owner::Mixed,
        }
    }
}

fn is_lockgate(program: &str) -> bool {
    program.trim_matches(['"', '\'']).rsplit('/').next() == Some("lockgate")
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

/// Splits a text into its byte order mark, if it has one, and the rest.
fn split_mark(text: &str) -> (&str, &str) {
    let mark = if text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len_utf8() } else { 0 };
    text.split_at(mark)
}

/// Returns the line and column of an offset, from 1.
pub(super) fn position(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or(text);
    let line = before.rsplit('\n').next().unwrap_or_default();
    (before.matches('\n').count() + 1, line.chars().count() + 1)
}

struct ConfigText<'a> {
    mark: &'a str,
    body: &'a str,
    layout: TextLayout<'a>,
    parsed: ParseResult<'a>,
}

impl<'a> ConfigText<'a> {
    fn read(text: &'a str) -> Result<ConfigText<'a>, MergeError> {
        let (mark, body) = split_mark(text);
        let collect = CollectOptions { comments: CommentCollectionStrategy::AsTokens, tokens: true };
        let parsed = parse_to_ast(body, &collect, &options()).map_err(|error| MergeError {
            problem: error.kind().to_string().to_lowercase(),
            at: (error.line_display(), error.column_display()),
        })?;
        Ok(ConfigText { mark, body, layout: TextLayout::detect(body), parsed })
    }

    /// Returns the root object; `None` for a text without a value.
    fn root(&self) -> Result<Option<&Object<'a>>, MergeError> {
        self.parsed.value.as_ref().map(|value| self.object(value, "the text")).transpose()
    }

    /// Returns the whole text after the splices; those at the same offset keep their order.
    fn apply(&self, mut splices: Vec<ConfigSplice>) -> String {
        splices.sort_by_key(|splice| (splice.span.start, splice.span.end));
        let (mut text, mut copied) = (self.mark.to_owned(), 0);
        for ConfigSplice { span, text: new } in splices {
            text += self.body.get(copied..span.start).unwrap_or_default();
            text += &new;
            copied = span.end;
        }
        text + self.body.get(copied..).unwrap_or_default()
    }

    fn error(&self, at: usize, problem: String) -> MergeError {
        MergeError { problem, at: position(self.body, at) }
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

    fn array<'n>(&self, node: &'n Node<'a>, path: &[&str]) -> Result<&'n Array<'a>, MergeError> {
        let name = path.last().copied().unwrap_or_default();
        node.as_array().ok_or_else(|| self.error(node.range().start, format!("`{name}` is not an array")))
    }

    /// Follows a path of names as far as the text has it.
    fn walk<'n, 'p>(
        &self,
        root: &'n Object<'a>,
        path: &'p [&'static str],
    ) -> Result<Position<'n, 'a, 'p>, MergeError> {
        let (mut object, mut chain) = (root, Vec::new());
        for (depth, name) in path.iter().enumerate() {
            let Some(property) = self.find_unique(object, name)? else {
                return Ok(Position::Missing { object, rest: path.get(depth..).unwrap_or_default() });
            };
            chain.push(property);
            if depth + 1 < path.len() {
                object = self.object(&property.value, &format!("`{name}`"))?;
            }
        }
        Ok(Position::Found { chain })
    }

    /// Returns the splices for a part whose place exists, and the offset of what they replace.
    fn update_part(
        &self,
        existing: &ObjectProp<'a>,
        wanted: &Wanted,
    ) -> Result<(Vec<ConfigSplice>, Option<usize>), MergeError> {
        let name = wanted.path().last().copied().unwrap_or_default();
        match wanted {
            Wanted::Default { .. } => Ok((Vec::new(), None)),
            Wanted::Object { fields, .. } => {
                let what =
                    if name == "lockgate" { "the server `lockgate`".to_owned() } else { format!("`{name}`") };
                let object = self.object(&existing.value, &what)?;
                Ok((self.update(object, fields)?, Some(existing.range.start)))
            }
            Wanted::Value { value, .. } if Value::from(existing.value.clone()) == *value => {
                Ok((Vec::new(), None))
            }
            Wanted::Value { value, .. } => {
                let splice = ConfigSplice { span: span(&existing.value), text: single_line(value) };
                Ok((vec![splice], Some(existing.range.start)))
            }
            Wanted::Element { path, value } => {
                let array = self.array(&existing.value, path)?;
                Ok(self.update_element(array, value))
            }
        }
    }

    fn update_element(&self, array: &Array<'a>, wanted: &Value) -> (Vec<ConfigSplice>, Option<usize>) {
        let container = Container::of_array(array);
        let Some((place, index)) = find_own(array, wanted) else {
            return (self.insert_all(&container, &[(None, wanted)]), None);
        };
        // Within a group of several programs, it stays as the person has put it.
        let Some(existing) = array.elements.get(index).filter(|_| place == container) else {
            return (Vec::new(), None);
        };
        if Value::from(existing.clone()) == *wanted {
            return (Vec::new(), None);
        }
        let indent = self.layout.indentation(span(existing).start);
        let text = self.layout.multi_line(wanted, indent);
        (vec![ConfigSplice { span: span(existing), text }], Some(span(existing).start))
    }

    /// Returns the whole content for a text that has no value yet, to append to it.
    fn full_text(&self, wanted: &Wanted) -> String {
        let value = whole_config(wanted);
        let open = !self.body.is_empty() && !self.body.ends_with(['\n', '\r']);
        let begin = if open { self.layout.line_end } else { "" };
        format!("{begin}{}{}", self.layout.multi_line(&value, ""), self.layout.line_end)
    }

    /// Cuts the last property of a chain, and those of `made` above it that would be empty.
    fn cut_property(
        &self,
        root: &Object<'a>,
        chain: &[&ObjectProp<'a>],
        made: &[ContainerPath],
    ) -> Vec<ConfigSplice> {
        let mut objects = vec![root];
        objects.extend(chain.iter().filter_map(|property| property.value.as_object()));
        let mut depth = chain.len().saturating_sub(1);
        while depth > 0 {
            let (Some(above), Some(property)) = (objects.get(depth), chain.get(depth - 1)) else { break };
            let is_kept = above.properties.len() > 1
                || !is_made(chain.get(..depth).unwrap_or_default(), made)
                || self.has_comment(property.range.start..property.range.end);
            if is_kept {
                break;
            }
            depth -= 1;
        }
        let (Some(object), Some(property)) = (objects.get(depth), chain.get(depth)) else {
            return Vec::new();
        };
        let index = object.properties.iter().position(|it| it.range.start == property.range.start);
        index.map_or_else(Vec::new, |index| self.cut(&Container::of_object(object), index))
    }

    fn has_comment(&self, range: Range<usize>) -> bool {
        let within =
            |token: &&TokenAndRange<'_>| token.range.start >= range.start && token.range.end <= range.end;
        self.parsed
            .tokens
            .iter()
            .flatten()
            .filter(within)
            .any(|token| matches!(token.token, Token::CommentLine(_) | Token::CommentBlock(_)))
    }

    /// Cuts an item with its comma and the blanks before it, so that an appended item leaves no trace.
    fn cut(&self, container: &Container, index: usize) -> Vec<ConfigSplice> {
        let Some(item) = container.items.get(index).cloned() else { return Vec::new() };
        let next = container.items.get(index + 1);
        let before = index.checked_sub(1).and_then(|before| container.items.get(before));
        let comma = |range: Range<usize>| {
            let within =
                |token: &&TokenAndRange<'_>| range.start <= token.range.start && token.range.end <= range.end;
            let mut tokens = self.parsed.tokens.iter().flatten().filter(within);
            tokens.find(|token| token.token == Token::Comma).map(|token| token.range.start..token.range.end)
        };
        let close = container.range.end - 1;
        let own_comma = comma(item.end..next.map_or(close, |next| next.start));
        // A comment between the item and its comma stays.
        let comment_between = own_comma.as_ref().is_some_and(|comma| self.has_comment(item.end..comma.start));
        let end = own_comma.as_ref().filter(|_| !comment_between).map_or(item.end, |comma| comma.end);
        let start = self.blanks_before(item.start, end);
        let delete = |span: Range<usize>| ConfigSplice { span, text: String::new() };
        let mut splices = match &own_comma {
            Some(comma) if comment_between => vec![delete(start..end), delete(comma.clone())],
            _ => vec![delete(start..end)],
        };
        match (before, next) {
            (Some(before), None) if own_comma.is_none() => {
                splices.extend(comma(before.end..item.start).map(delete));
            }
            (None, None) if !self.has_comment(container.range.clone()) => {
                splices = vec![delete(container.range.start + 1..close)];
            }
            // The first of several on one line leaves its blanks to the next.
            (None, Some(next))
                if !self.body.get(end..next.start).unwrap_or_default().contains(['\n', '\r'])
                    && !self.has_comment(item.end..next.start) =>
            {
                splices = vec![delete(item.start..next.start)];
            }
            _ => {}
        }
        splices
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
                Some(existing) if Value::from(existing.value.clone()) == *value => {}
                Some(existing) => {
                    let Range { start, end } = span(&existing.value);
                    splices.push(ConfigSplice { span: start..end, text: single_line(value) });
                }
                None => missing.push((Some(name.as_str()), value)),
            }
        }
        splices.extend(self.insert_all(&Container::of_object(server), &missing));
        Ok(splices)
    }

    /// Inserts items at the end of an object or array; those of an object have names.
    fn insert_all(&self, container: &Container, items: &[(Option<&str>, &Value)]) -> Vec<ConfigSplice> {
        if items.is_empty() {
            return Vec::new();
        }
        let end = ContainerEnd::find(self, container);
        let close = container.range.end - 1;
        let inside = self.body.get(container.range.start..close).unwrap_or_default();
        let is_spread = end.last.is_none() || end.in_line_comment || inside.contains(['\n', '\r']);
        let mut splices: Vec<ConfigSplice> = end.comma().into_iter().collect();
        let after = if end.has_comma { "," } else { "" };
        let blanks = self.body.get(end.tail_end..close).unwrap_or_default();
        if !is_spread {
            let each: Vec<String> = items
                .iter()
                .map(|(name, value)| format!(" {}{}", label(*name), single_line(value)))
                .collect();
            splices.push(ConfigSplice::at(end.tail_end, each.join(",") + after));
            return splices;
        }
        let base = self
            .layout
            .indentation_if_first(close)
            .unwrap_or_else(|| self.layout.indentation(container.range.start));
        let sample = container.items.iter().find_map(|item| self.layout.indentation_if_first(item.start));
        let indent = self.layout.inner_indentation(base, sample);
        let line_end = self.layout.line_end;
        let item = |(name, value): &(Option<&str>, &Value)| {
            format!("{line_end}{indent}{}{}", label(*name), self.layout.multi_line(value, &indent))
        };
        let mut text = items.iter().map(item).collect::<Vec<_>>().join(",") + after;
        // Put the brace on its own line; blanks before it would become trailing blanks.
        let is_open = blanks.contains(['\n', '\r']);
        if !is_open {
            text += &format!("{line_end}{base}");
        }
        splices.push(ConfigSplice { span: end.tail_end..if is_open { end.tail_end } else { close }, text });
        splices
    }
}

/// The place of a part in a text.
enum Position<'n, 'a, 'p> {
    /// The object has no property of the first of the remaining names.
    Missing { object: &'n Object<'a>, rest: &'p [&'static str] },
    /// The properties along the path.
    Found { chain: Vec<&'n ObjectProp<'a>> },
}

/// An object or array, with the ranges of its items.
#[derive(Debug, PartialEq, Eq)]
struct Container {
    range: Range<usize>,
    items: Vec<Range<usize>>,
}

impl Container {
    fn of_object(object: &Object<'_>) -> Container {
        let items = object.properties.iter().map(|property| property.range.start..property.range.end);
        Container { range: object.range.start..object.range.end, items: items.collect() }
    }

    fn of_array(array: &Array<'_>) -> Container {
        let items = array.elements.iter().map(span);
        Container { range: array.range.start..array.range.end, items: items.collect() }
    }
}

/// The end of a container.
struct ContainerEnd {
    /// End offset of the last item.
    last: Option<usize>,
    has_comma: bool,
    in_line_comment: bool,
    /// End offset of the last token before the closing bracket: an item, a comma, a comment, or the opening bracket.
    tail_end: usize,
}

impl ContainerEnd {
    fn find(page: &ConfigText<'_>, container: &Container) -> ContainerEnd {
        let last = container.items.last().map(|item| item.end);
        let open = last.unwrap_or(container.range.start + 1);
        let behind =
            |token: &&TokenAndRange<'_>| token.range.start >= open && token.range.end < container.range.end;
        let tokens = || page.parsed.tokens.iter().flatten().filter(behind);
        let ending = tokens().next_back();
        ContainerEnd {
            last,
            has_comma: tokens().any(|token| token.token == Token::Comma),
            in_line_comment: ending.is_some_and(|token| matches!(token.token, Token::CommentLine(_))),
            tail_end: ending.map_or(open, |token| token.range.end),
        }
    }

    /// Returns the comma that the last item needs before another one.
    fn comma(&self) -> Option<ConfigSplice> {
        self.last.filter(|_| !self.has_comma).map(|end| ConfigSplice::at(end, ","))
    }
}

/// Formats the name before a value, if it has one.
fn label(name: Option<&str>) -> String {
    name.map(|name| format!("{}: ", quoted(name))).unwrap_or_default()
}

fn span(node: &Node<'_>) -> Range<usize> {
    let range = node.range();
    range.start..range.end
}
