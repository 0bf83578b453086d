//! What a server offers where its command line does not say.

use super::keys;
use super::node::{PolicyError, YamlNode};

/// Reads `server`: the toolsets that it names.
pub(super) fn toolsets(node: &YamlNode, what: &str) -> Result<Option<Vec<String>>, PolicyError> {
    node.settings(what, &[keys::SERVER])?.optional("tools", toolset_names)
}

/// Reads the names of toolsets, at least one.
pub(super) fn toolset_names(node: &YamlNode, what: &str) -> Result<Vec<String>, PolicyError> {
    let pairs = keys::TOOLSETS.map(|name| (name, name));
    let items = node.list(what)?;
    if items.is_empty() {
        return Err(node.fault(format!("{what} is empty: name a toolset, or leave it out for the default")));
    }
    items.iter().map(|item| item.one_of(what, &pairs).map(str::to_owned)).collect()
}
