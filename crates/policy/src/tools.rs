//! The gates that a policy can name: those of the catalogue, and those that it defines itself.
//!
//! Invariant: a name means one gate; a policy cannot give another meaning to a name of the catalogue.

use std::sync::Arc;

use super::catalogue::Catalogue;
use super::definition::{Gate, gate};
use super::node::{MapKey, PolicyError, YamlNode, YamlValue, clipped, unknown};
use lockgate_text::{Version, nearest};

/// The longest name of a gate, in characters.
const MAX_NAME: usize = 64;

/// Returns the gate that a node names; `own` are the gates that the policy itself defines.
pub(super) fn find_gate(tool: &YamlNode, what: &str, own: &[Arc<Gate>]) -> Result<Arc<Gate>, PolicyError> {
    let name = tool.text(what)?;
    let defined = own.iter().find(|gate| gate.name == name);
    defined
        .or_else(|| Catalogue::embedded().find(name))
        .cloned()
        .ok_or_else(|| tool.fault(unknown("tool", name, &known_names(own))))
}

/// Returns the name of the gate that a text means, for a message; that of a common gate if there is no similar one.
pub(super) fn meant_gate<'a>(text: &'a str, own: &'a [Arc<Gate>]) -> &'a str {
    let known = known_names(own);
    if known.contains(&text) { text } else { nearest(text, known).unwrap_or("ruff") }
}

fn known_names(own: &[Arc<Gate>]) -> Vec<&str> {
    let mut known: Vec<&str> = own.iter().map(|gate| gate.name.as_str()).collect();
    Catalogue::names().for_each(|name| known.push(name));
    known
}

/// Reads an entry of `define`: the gate, and the key that names it.
pub(super) fn defined<'a>(key: &'a MapKey, node: &YamlNode) -> Result<(&'a MapKey, Arc<Gate>), PolicyError> {
    check_name(key)?;
    Ok((key, Arc::new(gate(&key.name, node, version(node))?)))
}

fn check_name(key: &MapKey) -> Result<(), PolicyError> {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let fits = key.name.starts_with(plain) && key.name.len() <= MAX_NAME;
    if !fits || !key.name.chars().all(|c| plain(c) || c == '-' || c == '_') {
        let name = clipped(&key.name, MAX_NAME);
        return Err(key.fault(format!(
            "`{name}` is not a gate name: at most {MAX_NAME} lower-case letters, digits, `-` and `_`, starting with a letter or digit"
        )));
    }
    if Catalogue::names().any(|name| name == key.name) {
        return Err(key.fault(format!("`{}` is a gate of the catalogue: choose another name", key.name)));
    }
    Ok(())
}

/// Hashes the content of a definition, independent of its position and layout.
fn version(definition: &YamlNode) -> Version {
    let mut content = String::new();
    write(definition, &mut content);
    Version::hash(content.as_bytes())
}

fn write(node: &YamlNode, out: &mut String) {
    match &node.value {
        YamlValue::Nothing => out.push('~'),
        YamlValue::Flag(flag) => out.push_str(&format!("?{flag}")),
        YamlValue::Whole(number) => out.push_str(&format!("#{number}")),
        YamlValue::Number(number) => out.push_str(&format!("#{number}")),
        YamlValue::Text(text) => out.push_str(&format!("{}:{text}", text.len())),
        YamlValue::List(items) => {
            out.push('[');
            items.iter().for_each(|item| write(item, out));
            out.push(']');
        }
        YamlValue::Map(entries) => {
            out.push('{');
            for (key, value) in entries {
                out.push_str(&format!("{}:{}", key.name.len(), key.name));
                write(value, out);
            }
            out.push('}');
        }
    }
    out.push(';');
}
