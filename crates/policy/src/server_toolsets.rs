//! What a server offers where its command line does not say.

use super::node::{MapFields, PolicyError, YamlNode};
use super::value_shape::tables;

/// Reads `server`: the toolsets that it names.
pub(super) fn toolsets(policy: &MapFields<'_>) -> Result<Option<Vec<String>>, PolicyError> {
    policy.map("server")?.optional("tools", toolset_names)
}

/// Reads the names of toolsets, at least one.
pub(super) fn toolset_names(node: &YamlNode, what: &str) -> Result<Vec<String>, PolicyError> {
    let items = node.list(what)?;
    if items.is_empty() {
        return Err(node.fault(format!("{what} is empty: name a toolset, or leave it out for the default")));
    }
    let named = |word: &str| TOOLSETS.contains(&word).then(|| word.to_owned());
    items.iter().map(|item| item.word(what, &TOOLSETS, named)).collect()
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
