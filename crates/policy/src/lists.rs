//! The gates of each language, as `quality_gates` lists them.
//!
//! Invariant: a gate occurs once in a list, and no list is empty.

use std::sync::Arc;

use super::definition::Gate;
use super::language::{Language, language_named, unknown_language};
use super::node::{MapKey, PolicyError, YamlNode};
use super::rule::{Rule, rule};

/// The key for every language.
const EVERY: &str = "*";

/// The rules of each language, and of `*`.
#[derive(Debug, Clone, Default)]
pub(super) struct Lists(Vec<(String, Vec<Rule>)>);

impl Lists {
    /// The rules for a file: those of its language, then those of `*` whose gate its language does not name itself.
    pub(super) fn rules_for(&self, language: Option<&Language>) -> Vec<&Rule> {
        let own = self.own_rules(language);
        let is_named = |rule: &&Rule| own.iter().any(|other| other.gate.name == rule.gate.name);
        own.iter().chain(self.list(EVERY).iter().filter(|rule| !is_named(rule))).collect()
    }

    /// The rules in the list of a language.
    pub(super) fn own_rules(&self, language: Option<&Language>) -> &[Rule] {
        language.map_or(&[], |language| self.list(&language.name))
    }

    pub(super) fn rules(&self) -> impl Iterator<Item = &Rule> {
        self.0.iter().flat_map(|(_, rules)| rules)
    }

    /// Replaces the lists of the languages that `others` has, and adds its other lists.
    pub(super) fn replace(&mut self, lists: Lists) {
        self.0.retain(|(name, _)| lists.list(name).is_empty());
        self.0.extend(lists.0);
    }

    /// Uses this gate instead of the one of the same name. An error is the reason, as the end of a sentence.
    pub(super) fn rebind(&mut self, gate: &Arc<Gate>) -> Result<(), String> {
        let rules = self.0.iter_mut().flat_map(|(_, rules)| rules);
        rules.filter(|rule| rule.gate.name == gate.name).try_for_each(|rule| {
            *rule = rule.rebind(gate)?;
            Ok(())
        })
    }

    fn list(&self, language: &str) -> &[Rule] {
        self.0.iter().find(|(name, _)| name == language).map_or(&[], |(_, rules)| rules)
    }
}

/// Parses `quality_gates`; an empty value is an error.
pub(super) fn lists(node: &YamlNode, own: &[Arc<Gate>]) -> Result<Lists, PolicyError> {
    if node.is_nothing() {
        return Err(node.fault("`quality_gates` is empty: write `quality_gates: {}` for no gates, or leave it out for the default ones"));
    }
    let entries = node.entries("`quality_gates`")?.iter();
    let read =
        |(language, list): &(MapKey, YamlNode)| Ok((language.name.clone(), list_of(language, list, own)?));
    entries.map(read).collect::<Result<_, _>>().map(Lists)
}

fn list_of(language: &MapKey, list: &YamlNode, own: &[Arc<Gate>]) -> Result<Vec<Rule>, PolicyError> {
    let name = &language.name;
    if name != EVERY && language_named(name).is_none() {
        return Err(language.fault(unknown_language(name)));
    }
    let items = if list.is_nothing() { &[] } else { list.list(&format!("`{name}`"))? };
    if items.is_empty() {
        return Err(language.fault(format!(
            "`{name}` has no gates: name one, or leave `{name}` out (`quality_gates: {{}}` means no gates at all)"
        )));
    }
    let mut rules: Vec<(usize, Rule)> = Vec::new();
    for item in items {
        let (tool, rule) = rule(item, own)?;
        if let Some((line, _)) = rules.iter().find(|(_, other)| other.gate.name == rule.gate.name) {
            return Err(
                tool.fault(format!("tool `{}` is already in this list, on line {line}", rule.gate.name))
            );
        }
        rules.push((tool.position.line, rule));
    }
    Ok(rules.into_iter().map(|(_, rule)| rule).collect())
}
