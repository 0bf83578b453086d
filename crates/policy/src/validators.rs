//! The commands with which a request may have its draft validated, each as a gate that must pass.

use std::sync::Arc;
use std::time::Duration;

use super::definition;
use super::node::{PolicyError, YamlNode};
use super::rule::{Baseline, Rule, arguments};
use lockgate_text::Version;

/// The time limit of such a command; `limits.total` can end it earlier.
const TIMEOUT: Duration = Duration::from_secs(3600);

/// A command that a request may name.
#[derive(Debug, Clone)]
pub struct Validator {
    /// The words of the command, as in the policy.
    pub words: Vec<String>,
    /// A rule whose gate must pass, even for findings that existed before.
    pub rule: Rule,
}

pub(super) fn validator(node: &YamlNode, _: &str) -> Result<Validator, PolicyError> {
    let words = arguments(node, "a command")?;
    let Some((program, rest)) = words.split_first().filter(|(program, _)| !program.is_empty()) else {
        return Err(node.fault("a command is empty: the first word must be the program"));
    };
    if program.contains('/') && (!program.starts_with('/') || program.split('/').any(|part| part == "..")) {
        return Err(node.fault("the program must be a plain name or an absolute path"));
    }
    let name = format!("validate_command: {}", words.join(" "));
    let version = Version::of_value(&words);
    let gate = Arc::new(definition::validator(name, program, rest, TIMEOUT, version));
    let rule = Rule { required: true, baseline: Some(Baseline::All), ..Rule::plain(gate) };
    Ok(Validator { words, rule })
}
