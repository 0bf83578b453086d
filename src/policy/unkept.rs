//! What a policy may say, and this version does not keep: it is refused, so that nobody relies on it.
//!
//! Invariant: a policy that is read asks for nothing that it would not get.

use super::node::{PolicyError, YamlNode, unknown};

/// Reads a word of which this version keeps some.
pub(super) fn choice<T: Copy>(
    node: &YamlNode,
    key: &str,
    kept: &[(&str, T)],
    later: &[&str],
) -> Result<T, PolicyError> {
    let word = node.text(&format!("`{key}`"))?;
    if let Some((_, meant)) = kept.iter().find(|(name, _)| *name == word) {
        return Ok(*meant);
    }
    let names: Vec<&str> = kept.iter().map(|(name, _)| *name).collect();
    if later.contains(&word) {
        return Err(node.fault(not_kept(&format!("{key}: {word}"), &names)));
    }
    let known: Vec<&str> = names.iter().chain(later).copied().collect();
    Err(node.fault(unknown(key, word, &known)))
}

fn not_kept(what: &str, kept: &[&str]) -> String {
    let kept: Vec<String> = kept.iter().map(|word| format!("`{word}`")).collect();
    format!("this version does not keep `{what}`: what may stand here is {}", kept.join(", "))
}
