//! One policy file: its text, where it stands, and what it is laid over.

use std::sync::Arc;

use super::node::{PolicyError, YamlNode, YamlValue};
use super::policy::{Policy, laid_over};
use super::yaml;
use crate::error::Error;
use crate::text::{Version, fold};

/// Where a policy file stands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PolicyOrigin {
    /// The file's name in messages.
    pub name: String,
    /// The file's path, relative to its root.
    pub in_root: String,
    /// The folder that its patterns are relative to, by its path relative to the root; empty for the root itself.
    pub folder: String,
}

impl PolicyOrigin {
    /// A policy file at the top of a root.
    pub fn top(name: &str) -> PolicyOrigin {
        PolicyOrigin { name: name.to_owned(), in_root: name.to_owned(), folder: String::new() }
    }

    /// What is left of a path, relative to the root, below the folder.
    pub(super) fn below<'a>(&self, path: &'a str) -> Option<&'a str> {
        match self.folder.as_str() {
            "" => Some(path),
            folder => path.strip_prefix(folder)?.strip_prefix('/'),
        }
    }

    /// The same, whatever way the names of the folder are spelled.
    pub(super) fn below_alike<'a>(&self, path: &'a str) -> Option<&'a str> {
        let mut below = path;
        for name in self.folder.split('/').filter(|name| !name.is_empty()) {
            let (first, rest) = below.split_once('/')?;
            below = if fold(first) == fold(name) { rest } else { return None };
        }
        Some(below)
    }
}

/// What a policy is laid over.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Extends {
    /// Nothing: it rules alone.
    #[default]
    Nothing,
    /// The built-in policy.
    Default,
    /// The next policy above its folder, else the built-in one.
    Parent,
}

pub(super) const EXTENDS: [(&str, Extends); 2] = [("parent", Extends::Parent), ("default", Extends::Default)];

/// One policy file, read and not yet understood.
#[derive(Debug)]
pub struct PolicySource {
    origin: Arc<PolicyOrigin>,
    text: String,
    root: YamlNode,
    extends: Extends,
}

impl PolicySource {
    /// Reads the text of a policy file.
    ///
    /// Errors: `POLICY_INVALID` for a text that is no YAML, or does not say clearly what it extends.
    pub fn read(origin: PolicyOrigin, text: &str) -> Result<PolicySource, Error> {
        let text = yaml::plain(text);
        let read = || {
            let root = yaml::parse(text)?;
            let extends = extends(&root)?;
            Ok((root, extends))
        };
        let (root, extends) = read().map_err(|fault: PolicyError| fault.into_error(&origin.name, text))?;
        Ok(PolicySource { origin: Arc::new(origin), text: text.to_owned(), root, extends })
    }

    /// What the policy is laid over.
    pub fn extends(&self) -> Extends {
        self.extends
    }

    /// Raises the policy; `parent` is the next one above its folder, else the built-in one, and is looked at only when
    /// the policy extends it.
    ///
    /// Errors: `POLICY_INVALID` with place, excerpt and what is wrong.
    pub fn raise(&self, parent: &Policy) -> Result<Policy, Error> {
        let built_in;
        let base = match self.extends {
            Extends::Parent => Some(parent),
            Extends::Default => {
                built_in = Policy::embedded();
                Some(built_in.as_ref())
            }
            Extends::Nothing => None,
        };
        laid_over(&self.root, &self.origin, base, self.stamp())
            .map_err(|fault| fault.into_error(&self.origin.name, &self.text))
    }

    /// The hash of the text and of where it stands.
    fn stamp(&self) -> Version {
        let named = format!("{}:{}{}", self.origin.in_root.len(), self.origin.in_root, self.text);
        Version::hash(named.as_bytes())
    }
}

/// What a policy says that it extends; whatever else is wrong with it is told later.
fn extends(root: &YamlNode) -> Result<Extends, PolicyError> {
    let YamlValue::Map(entries) = &root.value else { return Ok(Extends::Nothing) };
    match entries.iter().find(|(key, _)| key.name == "extends") {
        Some((_, node)) => node.one_of("`extends`", &EXTENDS),
        None => Ok(Extends::Nothing),
    }
}
