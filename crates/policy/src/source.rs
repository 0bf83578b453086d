//! A policy file: its text, and the policy that it extends.

use std::sync::Arc;

use super::node::{PolicyError, YamlNode, YamlValue};
use super::origin::{Extends, PolicyOrigin};
use super::policy::{Policy, extend};
use super::yaml;
use lockgate_error::Error;
use lockgate_text::Version;

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
        let built_in = Policy::embedded();
        let base = match self.extends {
            Extends::Parent => Some(parent),
            Extends::Default => Some(&*built_in),
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

impl Policy {
    /// Parses a policy file at the top of a root without any other; messages use `name`.
    ///
    /// Errors: `POLICY_INVALID` with the position, an excerpt and the reason.
    pub fn parse(name: &str, text: &str) -> Result<Policy, Error> {
        PolicySource::read(PolicyOrigin::top(name), text)?.into_policy(&Policy::embedded())
    }
}

/// Reads `extends`; other errors in the policy are reported later.
fn extends(root: &YamlNode) -> Result<Extends, PolicyError> {
    let YamlValue::Map(entries) = &root.value else { return Ok(Extends::Nothing) };
    let node = entries.iter().find(|(key, _)| key.name == "extends").map(|(_, node)| node);
    let known = [("parent", Extends::Parent), ("default", Extends::Default)];
    node.map_or(Ok(Extends::Nothing), |node| node.one_of("`extends`", &known))
}
