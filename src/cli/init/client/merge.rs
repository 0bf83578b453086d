//! Adds servers, hooks and settings to a client's JSON configuration without changing other bytes, and removes them.
//! [`ConfigText`] has the places in the text.
//!
//! Invariant: pure. The result contains what was wanted; without that it equals the original text, except for a comma
//! and blanks between two brackets.

use jsonc_parser::ast::{Array, Object, ObjectProp, Value as Node};
use jsonc_parser::common::Ranged;
use serde_json::{Map, Value, json};

use super::addition::NAME;
use super::config_text::{
    ConfigSplice, ConfigText, Container, LineColumn, MergeError, Position, PropertyStep, position,
};
use super::hooks::{self, Owner};
use super::layout::single_line;
use super::wanted::{Wanted, WantedValue, is_foreign_field, object_fields};

/// The result of a merge.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum MergeResult {
    /// The configuration already has everything.
    Unchanged,
    /// The new text; what was there before stays.
    Added(String),
    /// The new text, in which something else at this line and column is replaced.
    Replaced(String, LineColumn),
}

/// An object that a configuration has.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ExistingObject {
    pub(super) fields: Map<String, Value>,
    /// Line and column, from 1.
    pub(super) at: LineColumn,
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
        while let Some((text, place)) = cut_foreign_field(current.as_deref().unwrap_or(text), part)? {
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
    let config = ConfigText::read(text)?;
    let (splices, place) = match config.walk(&wanted.path)? {
        Position::NoValue => return Ok(MergeResult::Added(format!("{text}{}", config.full_text(wanted)))),
        Position::Missing { object, name, below } => {
            let value = nested(below, wanted.fresh());
            (config.insert_all(&Container::from_object(object), &[(Some(name), &value)]), None)
        }
        Position::Found(chain) => match chain.last() {
            Some((_, existing)) => config.update_part(existing, wanted)?,
            None => return Ok(MergeResult::Unchanged),
        },
    };
    Ok(match place {
        _ if splices.is_empty() => MergeResult::Unchanged,
        None => MergeResult::Added(config.apply(splices)),
        Some(place) => MergeResult::Replaced(config.apply(splices), position(config.body, place)),
    })
}

/// Cuts a field of a server that is reached over the network from one that is started as a program. Returns the new text
/// and the line and column of the server; `None` if it has no such field.
fn cut_foreign_field(text: &str, wanted: &Wanted) -> Result<Option<(String, LineColumn)>, MergeError> {
    let WantedValue::Object(fields) = &wanted.value else { return Ok(None) };
    let config = ConfigText::read(text)?;
    let Some(existing) = config.property(&wanted.path)? else { return Ok(None) };
    let Some(server) = existing.value.as_object() else { return Ok(None) };
    let is_foreign = |property: &ObjectProp<'_>| {
        is_foreign_field(fields, property.name.as_str(), &Value::from(property.value.clone()))
    };
    let Some(index) = server.properties.iter().position(is_foreign) else { return Ok(None) };
    let place = position(config.body, existing.range.start);
    let splices = config.cut(&Container::from_object(server), index);
    Ok(Some((config.apply(splices), place)))
}

/// Returns the object at the end of a path of names; `None` if the text has none.
pub(super) fn find(text: &str, path: &[&'static str]) -> Result<Option<ExistingObject>, MergeError> {
    let config = ConfigText::read(text)?;
    let Some(existing) = config.property(path)? else { return Ok(None) };
    config.object(&existing.value, &format!("`{}`", existing.name.as_str()))?;
    let fields = object_fields(Value::from(existing.value.clone()));
    Ok(Some(ExistingObject { fields, at: position(config.body, existing.range.start) }))
}

/// The path of an object or an array: the names from the root object.
pub(super) type ContainerPath = Vec<String>;

/// Returns the objects and arrays that a text does not have, and that are made to add all parts to it.
pub(super) fn new_containers(text: &str, wanted: &[Wanted]) -> Result<Vec<ContainerPath>, MergeError> {
    let config = ConfigText::read(text)?;
    let mut made: Vec<ContainerPath> = Vec::new();
    for path in wanted.iter().flat_map(Wanted::containers) {
        let is_there = config.property(path)?.is_some();
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
    nested(&wanted.path, wanted.fresh())
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
    let config = ConfigText::read(text)?;
    let Position::Found(chain) = config.walk(&wanted.path)? else { return Ok(None) };
    let Some((_, existing)) = chain.last() else { return Ok(None) };
    let splices = match &wanted.value {
        WantedValue::Default(_) => return Ok(None),
        WantedValue::Exact(value) if Value::from(existing.value.clone()) != *value => return Ok(None),
        WantedValue::Object(_) | WantedValue::Exact(_) => config.cut_property(&chain, made),
        WantedValue::Element(value) => {
            let array = config.array(existing)?;
            config.check_keys(&existing.value)?;
            let Some((container, index)) = find_own(array, value) else { return Ok(None) };
            let is_last = array.elements.len() == 1 && container == Container::from_array(array);
            if is_last && is_made(&chain, made) {
                config.cut_property(&chain, made)
            } else {
                config.cut(&container, index)
            }
        }
    };
    Ok(Some(config.apply(splices)))
}

/// Returns the container and index of the element that is the wanted one, or a hook of lockgate if that is wanted.
fn find_own(array: &Array<'_>, wanted: &Value) -> Option<(Container, usize)> {
    array.elements.iter().enumerate().find_map(|(index, element)| {
        let value = Value::from(element.clone());
        let is_own = value == *wanted
            || (Owner::from_hook(wanted) == Owner::Own && Owner::from_hook(&value) == Owner::Own);
        if is_own {
            return Some((Container::from_array(array), index));
        }
        // A person may have put lockgate's hook into a group with others.
        let hooks = element.as_object()?.get_array(hooks::LIST)?;
        let own = |hook: &Node<'_>| Owner::from_hook(&Value::from(hook.clone())) == Owner::Own;
        let index = hooks.elements.iter().position(own).filter(|_| Owner::from_hook(wanted) == Owner::Own)?;
        Some((Container::from_array(hooks), index))
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

impl<'a> ConfigText<'a> {
    /// Returns the splices for a part whose place exists, and the offset of what they replace.
    fn update_part(
        &self,
        existing: &ObjectProp<'a>,
        wanted: &Wanted,
    ) -> Result<(Vec<ConfigSplice>, Option<usize>), MergeError> {
        match &wanted.value {
            WantedValue::Default(_) => Ok((Vec::new(), None)),
            WantedValue::Object(fields) => {
                let name = existing.name.as_str();
                let what = if name == NAME { format!("the server `{NAME}`") } else { format!("`{name}`") };
                let object = self.object(&existing.value, &what)?;
                self.check_keys(&existing.value)?;
                Ok((self.update(object, fields)?, Some(existing.range.start)))
            }
            WantedValue::Exact(value) if Value::from(existing.value.clone()) == *value => {
                Ok((Vec::new(), None))
            }
            WantedValue::Exact(value) => {
                let splice = ConfigSplice { span: existing.value.range(), text: single_line(value) };
                Ok((vec![splice], Some(existing.range.start)))
            }
            WantedValue::Element(value) => {
                let array = self.array(existing)?;
                self.check_keys(&existing.value)?;
                Ok(self.update_element(array, value))
            }
        }
    }

    fn update_element(&self, array: &Array<'a>, wanted: &Value) -> (Vec<ConfigSplice>, Option<usize>) {
        let container = Container::from_array(array);
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
        splices.extend(self.insert_all(&Container::from_array(array), &[(None, wanted)]));
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
        index.map_or_else(Vec::new, |index| self.cut(&Container::from_object(object), index))
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
        splices.extend(self.insert_all(&Container::from_object(server), &missing));
        Ok(splices)
    }
}
