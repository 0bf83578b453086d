//! What a server offers where its command line does not say.

use super::node::{PolicyError, YamlNode};
use super::value_shape::Absent::Is;
use super::value_shape::ValueShape::{List, Words};
use super::value_shape::{Setting, tables};

/// Reads `server`: the toolsets that it names.
pub(super) fn toolsets(node: &YamlNode, what: &str) -> Result<Option<Vec<String>>, PolicyError> {
    node.settings(what, &[SERVER])?.optional("tools", toolset_names)
}

/// Reads the names of toolsets, at least one.
pub(super) fn toolset_names(node: &YamlNode, what: &str) -> Result<Vec<String>, PolicyError> {
    let pairs = TOOLSETS.map(|name| (name, name));
    let items = node.list(what)?;
    if items.is_empty() {
        return Err(node.fault(format!("{what} is empty: name a toolset, or leave it out for the default")));
    }
    items.iter().map(|item| item.one_of(what, &pairs).map(str::to_owned)).collect()
}

tables! {
    SERVER {
        "tools": List(&Words(&TOOLSETS), 1), Is("[edit, text, look]")
            => "the toolsets without `--tools`; only in the policy at the top of the first root";
    }
}
/// The toolsets that there are.
pub(super) const TOOLSETS: [&str; 9] =
    ["edit", "look", "text", "code", "ai", "content", "history", "legacy", "all"];
