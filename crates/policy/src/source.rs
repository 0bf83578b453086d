//! A policy file: its text, its location, and the policy that it extends.

use std::sync::Arc;

use super::node::{PolicyError, YamlNode, YamlValue};
use super::policy::{Policy, extend};
use super::yaml;
use lockgate_error::Error;
use lockgate_text::{Version, fold};

/// The location of a policy file.
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

    /// Returns the part of a path, relative to the root, below the folder.
    pub(super) fn relative_path<'a>(&self, path: &'a str) -> Option<&'a str> {
        match self.folder.as_str() {
            "" => Some(path),
            folder => path.strip_prefix(folder)?.strip_prefix('/'),
        }
    }

    /// Like the function above, with any spelling of the folder's names.
    pub(super) fn relative_path_ignoring_case<'a>(&self, path: &'a str) -> Option<&'a str> {
        let mut below = path;
        for name in self.folder.split('/').filter(|name| !name.is_empty()) {
            let (first, rest) = below.split_once('/')?;
            below = if fold(first) == fold(name) { rest } else { return None };
        }
        Some(below)
    }
}

/// The base of a policy.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Extends {
    /// No base: the policy stands alone.
    #[default]
    Nothing,
    /// The default policy that is built into lockgate.
    Default,
    /// The next policy above its folder, or the built-in one.
    Parent,
}

pub(super) const EXTENDS: [(&str, Extends); 2] = [("parent", Extends::Parent), ("default", Extends::Default)];

/// A policy file whose YAML is parsed but not its settings.
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
    /// Errors: `POLICY_INVALID` for invalid YAML, or an unclear `extends`.
    pub fn read(origin: PolicyOrigin, text: &str) -> Result<PolicySource, Error> {
        let text = yaml::plain(text);
        let read = || {
            let root = yaml::parse(text)?;
            let extends = extends(&root)?;
            Ok((root, extends))
        };
        let (root, extends) = read().map_err(|error: PolicyError| error.into_error(&origin.name, text))?;
        Ok(PolicySource { origin: Arc::new(origin), text: text.to_owned(), root, extends })
    }

    /// Returns the base of the policy.
    pub fn extends(&self) -> Extends {
        self.extends
    }

    /// Parses the policy; `parent` is the next one above its folder, or the built-in one, and is used only if
    /// the policy extends it.
    ///
    /// Errors: `POLICY_INVALID` with position, excerpt and reason.
    pub fn into_policy(&self, parent: &Policy) -> Result<Policy, Error> {
        let built_in;
        let base = match self.extends {
            Extends::Parent => Some(parent),
            Extends::Default => {
                built_in = Policy::embedded();
                Some(built_in.as_ref())
            }
            Extends::Nothing => None,
        };
        extend(&self.root, &self.origin, base, self.version())
            .map_err(|error| error.into_error(&self.origin.name, &self.text))
    }

    /// Returns the hash of the text and its location.
    fn version(&self) -> Version {
        let content = format!("{}:{}{}", self.origin.in_root.len(), self.origin.in_root, self.text);
        Version::hash(content.as_bytes())
    }
}

/// Reads `extends`; other errors in the policy are reported later.
fn extends(root: &YamlNode) -> Result<Extends, PolicyError> {
    let YamlValue::Map(entries) = &root.value else { return Ok(Extends::Nothing) };
    match entries.iter().find(|(key, _)| key.name == "extends") {
        Some((_, node)) => node.one_of("`extends`", &EXTENDS),
        None => Ok(Extends::Nothing),
    }
}
