//! Adds servers, hooks and settings to a client's JSON configuration without changing other bytes, and removes them.
//!
//! Invariant: pure. The result contains what was wanted; without that it equals the original text, except for a comma
//! and blanks between two brackets.

use jsonc_parser::ast::{Array, Object, ObjectProp, Value as Node};
use jsonc_parser::common::{Range, Ranged};
use jsonc_parser::tokens::{Token, TokenAndRange};
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, ParseOptions, ParseResult, parse_to_ast};
use serde_json::{Map, Value, json};

use super::hooks;
use super::kinds::JsonDialect;
use super::layout::{TextLayout, quoted, single_line};
use super::wanted::{Wanted, is_foreign_field};

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
        while let MergeResult::Replaced(text, place) =
            cut_foreign_field(current.as_deref().unwrap_or(text), part)?
        {
            current = Some(text);
            replaced = replaced.or(Some(place));
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
    let (splices, place) = match page.walk(wanted.path())? {
        Position::NoValue => return Ok(MergeResult::Added(format!("{text}{}", page.full_text(wanted)))),
        Position::Missing { object, name, below } => {
            let value = nested(below, wanted.fresh());
            (page.insert_all(&Container::of_object(object), &[(Some(name), &value)]), None)
        }
        Position::Found(chain) => match chain.last() {
            Some((_, existing)) => page.update_part(existing, wanted)?,
            None => return Ok(MergeResult::Unchanged),
        },
    };
    Ok(match place {
        _ if splices.is_empty() => MergeResult::Unchanged,
        None => MergeResult::Added(page.apply(splices)),
        Some(place) => MergeResult::Replaced(page.apply(splices), position(page.body, place)),
    })
}

/// Cuts a field of a server that is reached over the network from one that is started as a program, if it
/// has one.
fn cut_foreign_field(text: &str, wanted: &Wanted) -> Result<MergeResult, MergeError> {
    let Wanted::Object { path, fields } = wanted else { return Ok(MergeResult::Unchanged) };
    let page = ConfigText::read(text)?;
    let Position::Found(chain) = page.walk(path)? else { return Ok(MergeResult::Unchanged) };
    let Some((_, existing)) = chain.last() else { return Ok(MergeResult::Unchanged) };
    let Some(server) = existing.value.as_object() else { return Ok(MergeResult::Unchanged) };
    let is_foreign = |property: &ObjectProp<'_>| {
        is_foreign_field(fields, property.name.as_str(), &Value::from(property.value.clone()))
    };
    let Some(index) = server.properties.iter().position(is_foreign) else {
        return Ok(MergeResult::Unchanged);
    };
    let place = position(page.body, existing.range.start);
    let splices = page.cut(&Container::of_object(server), index);
    Ok(MergeResult::Replaced(page.apply(splices), place))
}

/// Returns the object at the end of a path of names; `None` if the text has none.
pub(super) fn find(text: &str, path: &[&'static str]) -> Result<Option<ExistingObject>, MergeError> {
    let page = ConfigText::read(text)?;
    let Position::Found(chain) = page.walk(path)? else { return Ok(None) };
    let Some((_, existing)) = chain.last() else { return Ok(None) };
    page.object(&existing.value, &format!("`{}`", existing.name.as_str()))?;
    let fields = Value::from(existing.value.clone()).as_object().cloned().unwrap_or_default();
    Ok(Some(ExistingObject { fields, at: position(page.body, existing.range.start) }))
}

/// The path of an object or an array: the names from the root object.
pub(super) type ContainerPath = Vec<String>;

/// Returns the objects and arrays that a text does not have, and that are made to add all parts to it.
pub(super) fn new_containers(text: &str, wanted: &[Wanted]) -> Result<Vec<ContainerPath>, MergeError> {
    let page = ConfigText::read(text)?;
    let mut made: Vec<ContainerPath> = Vec::new();
    for path in wanted.iter().flat_map(Wanted::containers) {
        let is_there = matches!(page.walk(path)?, Position::Found(_));
        let path: ContainerPath = path.iter().map(|name| (*name).to_owned()).collect();
        if !is_there && !made.contains(&path) {
            made.push(path);
        }
    }
    Ok(made)
}

/// Returns the parts that a text has, each as a configuration with nothing else.
pub(super) fn existing_parts(text: &str, wanted: &[Wanted]) -> Vec<Value> {
    let is_there = |part: &&Wanted| merge(text, std::slice::from_ref(part)) == Ok(MergeResult::Unchanged);
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
    let Position::Found(chain) = page.walk(wanted.path())? else { return Ok(None) };
    let Some((_, existing)) = chain.last() else { return Ok(None) };
    let splices = match wanted {
        Wanted::Default { .. } => return Ok(None),
        Wanted::Value { value, .. } if Value::from(existing.value.clone()) != *value => return Ok(None),
        Wanted::Object { .. } | Wanted::Value { .. } => page.cut_property(&chain, made),
        Wanted::Element { path, value } => {
            let array = page.array(&existing.value, path)?;
            let Some((container, index)) = find_own(array, value) else { return Ok(None) };
            let is_last = array.elements.len() == 1 && container == Container::of_array(array);
            if is_last && is_made(&chain, made) {
                page.cut_property(&chain, made)
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
fn is_made(chain: &[PropertyStep<'_, '_>], made: &[ContainerPath]) -> bool {
    made.iter().any(|path| path.iter().eq(chain.iter().map(|(_, property)| property.name.as_str())))
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
            return Owner::from_all(hooks.iter()).unwrap_or(Owner::Other);
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
        Owner::from_all(events.values().filter_map(Value::as_array).flatten()).unwrap_or(Owner::Own)
    }

    /// Returns the owner of all hooks or groups; `None` if there are none.
    fn from_all<'v>(hooks: impl Iterator<Item = &'v Value>) -> Option<Owner> {
        hooks.map(Owner::from_hook).reduce(|one, other| if one == other { one } else { Owner::Mixed })
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

/// A replacement of a part of the text without its byte order mark.
struct ConfigSplice {
    span: Range,
    text: String,
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

    /// Returns the whole text after the splices; those at the same offset keep their order.
    fn apply(&self, mut splices: Vec<ConfigSplice>) -> String {
        splices.sort_by_key(|splice| (splice.span.start, splice.span.end));
        let mut body = self.body.to_owned();
        for ConfigSplice { span, text } in splices.into_iter().rev() {
            body.replace_range(span.start..span.end, &text);
        }
        format!("{}{body}", self.mark)
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
    fn walk<'n, 'p>(&'n self, path: &'p [&'static str]) -> Result<Position<'n, 'a, 'p>, MergeError> {
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
                let splice = ConfigSplice { span: existing.value.range(), text: single_line(value) };
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
        let elements = || array.elements.iter().map(|element| Value::from(element.clone()));
        if elements().any(|element| element == *wanted) {
            return (Vec::new(), None);
        }
        let Some((place, index)) = find_own(array, wanted) else {
            return (self.insert_all(&container, &[(None, wanted)]), None);
        };
        let Some(existing) = array.elements.get(index).filter(|_| place == container) else {
            return self.update_mixed(array, (&place, index), wanted);
        };
        let span = existing.range();
        let text = self.layout.multi_line(wanted, self.layout.indentation(span.start));
        (vec![ConfigSplice { span, text }], Some(span.start))
    }

    /// Moves lockgate's hook out of a group with other programs, unless the group is for all tools of the wanted one: then
    /// it stays as the person has put it.
    fn update_mixed(
        &self,
        array: &Array<'a>,
        (programs, index): (&Container, usize),
        wanted: &Value,
    ) -> (Vec<ConfigSplice>, Option<usize>) {
        let is_around = |group: &&Node<'a>| {
            group.range().start < programs.inside.start && programs.inside.end < group.range().end
        };
        let group = array.elements.iter().find(is_around);
        let Some(group) = group.filter(|group| !hooks::covers(&Value::from((*group).clone()), wanted)) else {
            return (Vec::new(), None);
        };
        let mut splices = self.cut(programs, index);
        splices.extend(self.insert_all(&Container::of_array(array), &[(None, wanted)]));
        (splices, Some(group.range().start))
    }

    /// Returns the whole content for a text that has no value yet, to append to it.
    fn full_text(&self, wanted: &Wanted) -> String {
        let value = whole_config(wanted);
        let open = !self.body.is_empty() && !self.body.ends_with(['\n', '\r']);
        let begin = if open { self.layout.line_end } else { "" };
        format!("{begin}{}{}", self.layout.multi_line(&value, ""), self.layout.line_end)
    }

    /// Cuts the last property of a chain, and those of `made` above it that would be empty.
    fn cut_property(&self, chain: &[PropertyStep<'_, 'a>], made: &[ContainerPath]) -> Vec<ConfigSplice> {
        let mut rest = chain;
        while let [above @ .., (object, _)] = rest
            && let Some((_, parent)) = above.last()
            && object.properties.len() == 1
            && is_made(above, made)
            && !self.has_comment(parent.range)
        {
            rest = above;
        }
        let Some((object, property)) = rest.last() else { return Vec::new() };
        let index = object.properties.iter().position(|it| it.range == property.range);
        index.map_or_else(Vec::new, |index| self.cut(&Container::of_object(object), index))
    }

    fn tokens(&self, within: Range) -> impl DoubleEndedIterator<Item = &TokenAndRange<'a>> {
        let is_within = move |range: Range| within.start <= range.start && range.end <= within.end;
        self.parsed.tokens.iter().flatten().filter(move |token| is_within(token.range))
    }

    fn comma(&self, within: Range) -> Option<Range> {
        self.tokens(within).find(|token| token.token == Token::Comma).map(|token| token.range)
    }

    fn has_comment(&self, within: Range) -> bool {
        self.tokens(within).any(|token| matches!(token.token, Token::CommentLine(_) | Token::CommentBlock(_)))
    }

    fn has_line_break(&self, within: Range) -> bool {
        self.body.get(within.start..within.end).unwrap_or_default().contains(['\n', '\r'])
    }

    /// Cuts an item with its comma and the blanks before it, so that an appended item leaves no trace.
    fn cut(&self, container: &Container, index: usize) -> Vec<ConfigSplice> {
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
                    splices.push(ConfigSplice { span: existing.value.range(), text: single_line(value) });
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
enum Position<'n, 'a, 'p> {
    /// The text has no value.
    NoValue,
    /// The object has no property of that name.
    Missing { object: &'n Object<'a>, name: &'static str, below: &'p [&'static str] },
    /// The properties along the path.
    Found(Vec<PropertyStep<'n, 'a>>),
}

/// A property on a path, and the object that has it.
type PropertyStep<'n, 'a> = (&'n Object<'a>, &'n ObjectProp<'a>);

/// An object or array.
#[derive(Debug, PartialEq)]
struct Container {
    /// The range between the brackets.
    inside: Range,
    items: Vec<Range>,
}

impl Container {
    fn of_object(object: &Object<'_>) -> Container {
        Container::new(object.range, object.properties.iter().map(|property| property.range))
    }

    fn of_array(array: &Array<'_>) -> Container {
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
