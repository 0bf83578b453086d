//! Rejects settings that this version does not support, so that nobody relies on them.
//!
//! Invariant: a parsed policy asks for nothing that lockgate does not enforce.

use super::node::{PolicyError, YamlNode, unknown};

/// Reads a word from a set that this version supports in part.
pub(super) fn choice<T: Copy>(
    node: &YamlNode,
    key: &str,
    supported: &[(&str, T)],
    later: &[&str],
) -> Result<T, PolicyError> {
    let word = node.text(&format!("`{key}`"))?;
    if let Some((_, value)) = supported.iter().find(|(name, _)| *name == word) {
        return Ok(*value);
    }
    let names: Vec<&str> = supported.iter().map(|(name, _)| *name).collect();
    if later.contains(&word) {
        return Err(node.fault(unsupported_value(&format!("{key}: {word}"), &names)));
    }
    let known: Vec<&str> = names.iter().chain(later).copied().collect();
    Err(node.fault(unknown(key, word, &known)))
}

fn unsupported_value(what: &str, supported: &[&str]) -> String {
    let supported: Vec<String> = supported.iter().map(|word| format!("`{word}`")).collect();
    format!("this version does not support `{what}`: use one of {}", supported.join(", "))
}
