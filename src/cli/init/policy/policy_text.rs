//! Formats the new policy, with a comment for each choice.
//!
//! Invariant: content from the project appears only in comments, each on one line.

use super::choice::{Choices, EVERY, ToolChoice, ToolState, Trial};
use super::known_tools::{SLOW, ToolPurpose};
use super::project::ProjectFiles;
use crate::cli::gates::install;
use crate::cli::gates::trial::TrialError;
use lockgate_checks::sanitize;
use lockgate_policy::{Policy, language_named};

/// Path of the policy schema, as recommended in docs/policy.md.
const SCHEMA: &str = ".lockgate/policy.schema.json";

const HEAD: &str = "\
# The gates that judge every edit, as proposed by `lockgate init`; change them as you like.
# `lockgate gates show NAME` describes a gate. Only new findings block an edit, not those that were there before.

# Where this file sets nothing, the built-in policy applies: accidents of agents, and the syntax of every file.
# A list below replaces the built-in list of its language.
extends: default
";

/// The comment in a policy whose tools were not tried.
const UNTRIED: &str = "\n# These tools were found, but not tried: `lockgate gates doctor` tests them.\n";

pub(super) fn text(
    project: &ProjectFiles<'_>,
    choices: &Choices,
    toolsets: Option<&str>,
    trial: Trial,
) -> String {
    let mut text = String::new();
    if project.exists(SCHEMA) {
        text += &format!("# yaml-language-server: $schema={SCHEMA}\n");
    }
    text += HEAD;
    if trial == Trial::Skip {
        text += UNTRIED;
    }
    if let Some(toolsets) = toolsets {
        text += "\n# The toolsets that `lockgate serve` offers by default.\n";
        text += &format!("server: {{ tools: [{}] }}\n", toolsets.replace(',', ", "));
    }
    let counts: Vec<(&str, Option<usize>)> =
        project.languages().map(|(name, count)| (name, Some(count))).chain([(EVERY, None)]).collect();
    let listed = |(name, _): &&(&str, _)| choices.for_language(name, ToolState::Proposed).next().is_some();
    if counts.iter().any(|count| listed(&count)) {
        text += "\nquality_gates:\n";
        counts.iter().filter(listed).for_each(|(name, count)| text += &language(name, *count, choices));
    }
    let rest: String = counts
        .iter()
        .filter(|count| !listed(count))
        .map(|(name, _)| not_proposed(name, "", choices))
        .collect();
    if rest.is_empty() { text } else { format!("{text}\n{rest}") }
}

/// Formats the list of a language.
fn language(name: &str, count: Option<usize>, choices: &Choices) -> String {
    let key = if name == EVERY { "\"*\"" } else { name };
    let files = match count {
        Some(1) => "  # 1 file".to_owned(),
        Some(count) => format!("  # {count} files"),
        None => "  # every language; files in a language with its own list are checked by both".to_owned(),
    };
    let mut text = format!("  {key}:{files}\n");
    for gate in built_in(name) {
        text += &format!("    # from the built-in policy\n    - tool: {gate}\n");
    }
    choices.for_language(name, ToolState::Proposed).for_each(|choice| text += &entry(choice));
    text + &not_proposed(name, "    ", choices)
}

/// Returns the gates of the built-in policy for a language, which a new list would replace.
fn built_in(name: &str) -> Vec<String> {
    let policy = Policy::embedded();
    let all = |language| -> Vec<String> {
        policy.rules_for(language).into_iter().map(|rule| rule.gate.name.clone()).collect()
    };
    let every = all(None);
    match language_named(name) {
        None => every,
        Some(language) => all(Some(language)).into_iter().filter(|gate| !every.contains(gate)).collect(),
    }
}

fn entry(choice: &ToolChoice) -> String {
    let name = &choice.gate.name;
    let mut text = format!("    # {}\n    - tool: {name}\n", comment(&choice.why));
    let mut say = |line: &str| text += &format!("      {line}\n");
    match choice.purpose {
        ToolPurpose::Format => say("role: fix        # the formatter changes the draft before it is written"),
        ToolPurpose::Types => {
            say("level: warn      # a change in several edits passes through invalid states")
        }
        ToolPurpose::Imports | ToolPurpose::Lint | ToolPurpose::Security | ToolPurpose::Spelling => {}
    }
    if SLOW.contains(&name.as_str()) {
        say("on: [check]      # takes too long for each edit; `lockgate check` runs it");
    }
    text
}

/// Formats comments on tools that are missing although the project names them, and on tools that failed their trial.
fn not_proposed(name: &str, indent: &str, choices: &Choices) -> String {
    let about = if indent.is_empty() { format!("{name}: ") } else { String::new() };
    let mut text = String::new();
    for choice in choices.all().filter(|choice| choice.language == name) {
        let reason = match (choice.state, &choice.failure) {
            (ToolState::Proposed | ToolState::Idle, _) => continue,
            (ToolState::Missing, _) => {
                let hints = install::hints(choice.gate.install());
                let install = hints.first().map(|hint| format!("; next: {hint}")).unwrap_or_default();
                format!("not on this machine, though {}{install}", choice.why)
            }
            (ToolState::Failed, None) => format!("it failed, though {}", choice.why),
            (ToolState::Failed, Some(TrialError { why, next_step: next })) => format!("{why}; next: {next}"),
        };
        text += &format!("{indent}# {about}not proposed: {}: {}\n", choice.gate.name, comment(&reason));
    }
    text
}

/// Cleans content from the project: one line, without the two characters that are invalid in YAML.
fn comment(text: &str) -> String {
    sanitize(text).replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}")
}
