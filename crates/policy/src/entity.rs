//! Entity types: the name, owner, language and rules of each.
//!
//! Invariant: the embedded types are part of every policy, and each rule of a type can judge its texts.

use std::sync::{Arc, OnceLock};

use super::definition::{Gate, GateKind};
use super::language::{Language, language_named, unknown_language};
use super::node::{MapKey, PolicyError, YamlNode};
use super::rule::{Baseline, Rule};
use super::tools::find_gate;
use super::value_shape::tables;
use super::words::words;
use super::yaml;

const TABLE: &str = lockgate_gates::ENTITIES;

/// The reserved name for files, which no type may have.
const FILE: &str = "file";

/// The longest name of a type, in bytes.
const MAX_NAME: usize = 40;

/// The most types that a policy may have, with those that it extends and without those that are compiled in.
const MAX_TYPES: usize = 100;

/// The most gates that one type may have.
const MAX_GATES: usize = 20;

/// The most bytes of an id.
const MAX_ID: usize = 128;

words! {
    /// The kind of owner of a type's entities.
    #[derive(Hash)]
    pub enum EntityOwner {
        /// An app: the key is `app_id` and `path`.
        App = "app",
        /// An organisation, or global: the key is `path` and optionally `organization_id`.
        Organization = "organization",
        /// Global: the key is `path`.
        Global = "global",
    }
}

/// The definition of an entity type.
#[derive(Debug, Clone)]
pub struct EntityType {
    /// Its name, as `entity_type` says it.
    pub name: String,
    /// The kind of owner of its entities.
    pub owner: EntityOwner,
    /// The language, if paths do not determine it.
    pub language: Option<&'static Language>,
    /// The rules for its texts; each judges the whole text, and must be able to.
    pub rules: Vec<Rule>,
}

impl EntityType {
    /// Rejects a gate that cannot be one of its rules. The error is a whole message.
    fn check_gate(&self, gate: &Gate) -> Result<(), String> {
        let (name, own) = (&gate.name, &self.name);
        match &gate.kind {
            GateKind::Pattern(_) | GateKind::Syntax => {}
            GateKind::Damage | GateKind::Command(_) | GateKind::Server(_) => {
                let expected = "only gates of the kinds `pattern` and `syntax` can";
                return Err(format!("`{name}` cannot check `{own}`: {expected}"));
            }
        }
        if gate.covers(self.language) {
            return Ok(());
        }
        let language = self.language.map_or("every language", |language| &language.name);
        Err(format!("`{name}` cannot check `{own}`: it does not support {language}"))
    }

    /// Uses this gate instead of the one of the same name. The error is a whole message.
    pub(super) fn rebind(&mut self, gate: &Arc<Gate>) -> Result<(), String> {
        if self.rules.iter().any(|rule| rule.gate.name == gate.name) {
            self.check_gate(gate)?;
        }
        for rule in self.rules.iter_mut().filter(|rule| rule.gate.name == gate.name) {
            *rule = whole(Arc::clone(gate));
        }
        Ok(())
    }
}

/// The types that are compiled in, in the order of the table. They are parsed on first use, because few servers need them.
pub(super) fn embedded_types() -> &'static [EntityType] {
    static TYPES: OnceLock<Vec<EntityType>> = OnceLock::new();
    TYPES.get_or_init(|| {
        let read = |root: &YamlNode| {
            root.entries("the types")?.iter().map(|(key, node)| parse_type(key, node, &[])).collect()
        };
        yaml::read_embedded("gates/entities.yaml", TABLE, read)
    })
}

/// Reads `entities`; its types come after those of `base`, or in the place of those of the same name.
pub(super) fn entities(
    node: &YamlNode,
    own: &[Arc<Gate>],
    mut base: Vec<EntityType>,
) -> Result<Vec<EntityType>, PolicyError> {
    for (key, node) in node.entries("`entities`")? {
        check_name(key)?;
        base.retain(|known| known.name != key.name);
        if base.len() >= MAX_TYPES {
            return Err(key.fault(format!("there are more than {MAX_TYPES} entity types")));
        }
        base.push(parse_type(key, node, own)?);
    }
    Ok(base)
}

fn check_name(key: &MapKey) -> Result<(), PolicyError> {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    if !(1..=MAX_NAME).contains(&key.name.len()) || !key.name.bytes().all(plain) {
        let expected = "lower-case letters, digits and `_`";
        return Err(key.fault(format!("a type name may contain only {expected}, at most {MAX_NAME} of them")));
    }
    if key.name == FILE || embedded_types().iter().any(|known| known.name == key.name) {
        return Err(key.fault(format!("`{}` is a built-in type: choose another name", key.name)));
    }
    Ok(())
}

fn parse_type(key: &MapKey, node: &YamlNode, own: &[Arc<Gate>]) -> Result<EntityType, PolicyError> {
    let fields = node.settings("a type of entities", &[ENTITY])?;
    let mut entity_type = EntityType {
        name: key.name.clone(),
        owner: fields.read_required("owner")?,
        language: fields.optional("language", language)?.flatten(),
        rules: Vec::new(),
    };
    for item in fields.optional("gates", YamlNode::list)?.unwrap_or_default() {
        let gate = find_gate(item, "a gate", own)?;
        entity_type.check_gate(&gate).map_err(|message| item.fault(message))?;
        if entity_type.rules.iter().any(|other| other.gate.name == gate.name) {
            return Err(item.fault(format!("duplicate gate `{}`", gate.name)));
        }
        if entity_type.rules.len() >= MAX_GATES {
            return Err(item.fault(format!("a type has at most {MAX_GATES} gates")));
        }
        entity_type.rules.push(whole(gate));
    }
    Ok(entity_type)
}

/// The rule of a gate that all of a text must pass.
fn whole(gate: Arc<Gate>) -> Rule {
    Rule { required: true, baseline: Some(Baseline::All), ..Rule::plain(gate) }
}

fn language(node: &YamlNode, what: &str) -> Result<Option<&'static Language>, PolicyError> {
    match node.text(what)? {
        "*" => Ok(None),
        name => language_named(name).map(Some).ok_or_else(|| node.fault(unknown_language(name))),
    }
}

/// True if a text is valid as the id of an app or of an organisation.
pub fn is_id(text: &str) -> bool {
    (1..=MAX_ID).contains(&text.len()) && !text.chars().any(char::is_control)
}

tables! {
    /// The keys of each type in `entities`.
    ENTITY {
        "owner": Words(EntityOwner::WORDS), Required
            => "its key and owner: `app`: `app_id` and `path`, owned by the app; `organization`: `path` and optionally `organization_id`; `global`: `path`, without an owner";
        "language": Language, Is("\"*\"") => "its language, whatever its path; `\"*\"`: by its path";
        "gates": List(&Tool, 0), Is("[]")
            => "gates of the kinds `pattern` and `syntax` for its text; a finding of one of them rejects the edit in every mode";
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_short_and_can_be_shown() {
        for id in ["1", "acme", "a b/c", "\u{e9}", &"x".repeat(128)] {
            assert!(is_id(id), "{id}");
        }
        for text in ["", "a\n", "\0", "\u{1b}[m", "\u{85}", &"x".repeat(129), &"\u{e9}".repeat(65)] {
            assert!(!is_id(text), "{text:?}");
        }
    }
}
