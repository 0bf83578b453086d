//! Renders the details of one gate.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::gate_list::{GateList, RootPolicy};
use super::install;
use super::list::{self, kind, language_names};
use crate::cli::paint::{DONE, LABEL, TITLE, WARNING, labelled, paint, visible_line};
use crate::cli::trust::render::{line, program_path, server_words, word, words};
use lockgate_policy::{
    CommandSpec, FixScope, Gate, Level, OutputForm, Profiles, Rule, ServerSpec, Unconfigured, languages,
};

/// Renders the details of a gate as text.
pub(super) fn text(gate_list: &GateList, gate: &Arc<Gate>) -> String {
    let title = format!("{} {}", paint(TITLE, visible_line(&gate.name)), visible_line(&gate.about));
    let mut text = format!("{}\n", title.trim_end());
    let mut say = |label: &str, value: String| text += &labelled(LABEL, label, visible_line(&value));
    say("languages", language_names(gate).join(", "));
    say("kind", format!("{}, {}", kind(gate), gate.role.name()));
    if let Some(command) = gate.command() {
        for (label, value) in command_parts(gate, command) {
            say(label, value);
        }
    }
    say("timeout", format_duration(gate.timeout));
    say("samples", gate.samples.len().to_string());
    if let Some(server) = gate.server() {
        text += &labelled(LABEL, "server", visible_line(&server_line(server)));
    }
    if gate.runs_program() {
        text += &canary(gate);
        text += &program(gate_list, gate);
    }
    for settings in gate_list.root_policy.iter().flat_map(|root_policy| settings(root_policy, gate)) {
        text += &labelled(LABEL, "policy", visible_line(&settings));
    }
    text
}

/// Renders the command line of a server and its fallback.
fn server_line(server: &ServerSpec) -> String {
    let words = server_words(server).join(" ");
    let instead = if server.fallback.is_some() { "else the command" } else { "no fallback command" };
    format!("{words}, if servers are enabled; {instead}")
}

fn canary(gate: &Gate) -> String {
    match gate.canary {
        Some(_) => labelled(DONE, "canary", "yes: a text that must not pass shows that it works"),
        None => labelled(WARNING, "canary", "none, so the gate is unproven"),
    }
}

/// Renders the path of the program and the paths that were tried.
fn program(gate_list: &GateList, gate: &Gate) -> String {
    let mut text = match gate_list.program(gate) {
        Some(program) => labelled(DONE, "program", program_path(program, "inside the repository")),
        None => labelled(WARNING, "program", "not on this machine"),
    };
    for tried in gate_list.skipped_paths(gate) {
        text += &labelled(LABEL, "tried", visible_line(tried));
    }
    let hints = install::hints(gate.install());
    if !hints.is_empty() {
        text += &labelled(LABEL, "install", visible_line(&hints.join(", or ")));
    }
    text
}

/// Returns the parts of a command, without empty ones.
fn command_parts(gate: &Arc<Gate>, command: &CommandSpec) -> Vec<(&'static str, String)> {
    let output = format!(
        "{}, from {}, columns in {}",
        form(command),
        command.output.from.name(),
        command.output.columns.name()
    );
    let mut parts = vec![
        ("runs", line(command, &placeholder_rule(gate))),
        ("input", command.input.name().to_owned()),
        ("output", output),
        ("scope", command.scope.name().to_owned()),
    ];
    let env = command.environment.variables.iter().map(|(name, value)| format!("{name}={}", word(value)));
    parts.extend(env.map(|setting| ("with", setting)));
    let unconfigured = match &command.unconfigured {
        Unconfigured::Skip => "; without any it does not run".to_owned(),
        Unconfigured::Words(words) if words.is_empty() => String::new(),
        Unconfigured::Words(words) => format!("; without any: {}", words.join(" ")),
    };
    let config = configuration(command).join(", ") + &unconfigured;
    let except = command.files.except.join(", ");
    let more = [("config", config), ("not for", except)];
    parts.extend(more.into_iter().filter(|(_, value)| !value.is_empty()));
    parts
}

/// Returns a rule that marks the position of the policy's extra arguments.
fn placeholder_rule(gate: &Arc<Gate>) -> Rule {
    Rule { args: vec!["{args}".to_owned()], ..Rule::plain(Arc::clone(gate)) }
}

fn configuration(command: &CommandSpec) -> Vec<String> {
    let named = command.config.iter().map(|file| match file.contains.as_str() {
        "" => file.name.clone(),
        holds => format!("{}#{holds}", file.name),
    });
    named.collect()
}

fn form(command: &CommandSpec) -> &'static str {
    match command.output.form {
        OutputForm::Json(_) => "json",
        OutputForm::Jsonl(_) => "jsonl",
        OutputForm::Sarif => "sarif",
        OutputForm::Rdjson => "rdjson",
        OutputForm::Regex { .. } => "regex",
        OutputForm::Exit(_) => "exit code",
        OutputForm::Formatted { .. } => "formatted text",
    }
}

/// Formats a duration as in a policy.
fn format_duration(time: Duration) -> String {
    match time.as_millis() {
        whole if whole % 1000 == 0 => format!("{}s", whole / 1000),
        other => format!("{other}ms"),
    }
}

/// Returns the policy's settings of the gate, one for each group of languages with equal settings.
fn settings(root_policy: &RootPolicy, gate: &Gate) -> Vec<String> {
    let of = |rules: Vec<&Rule>| rules.into_iter().find(|rule| rule.gate.name == gate.name).map(setting);
    let every = of(root_policy.policy.rules_for(None));
    let mut lines: Vec<String> = every.iter().map(|setting| format!("*: {setting}")).collect();
    for language in languages() {
        let own = of(root_policy.policy.rules_for(Some(language))).filter(|own| Some(own) != every.as_ref());
        lines.extend(own.map(|setting| format!("{}: {setting}", language.name)));
    }
    if lines.is_empty() {
        let by_path = root_policy.policy.commands().find(|rule| rule.gate.name == gate.name);
        lines.extend(by_path.map(|rule| format!("for some paths: {}", setting(rule))));
    }
    lines
}

/// Formats an entry as in a policy.
fn setting(rule: &Rule) -> String {
    let on = match rule.profiles {
        Profiles { edit: true, check: true } => None,
        Profiles { edit: true, check: false } => Some("on: [edit]".to_owned()),
        Profiles { edit: false, .. } => Some("on: [check]".to_owned()),
    };
    let level = match rule.level {
        Level::Block => format!("level: block, fail_on: {}", rule.fail_on.name()),
        Level::Warn => "level: warn".to_owned(),
    };
    let parts = [
        (!rule.enabled).then(|| "enabled: false".to_owned()),
        (rule.role != rule.gate.role).then(|| format!("role: {}", rule.role.name())),
        (rule.scope == FixScope::File).then(|| "scope: file".to_owned()),
        Some(level),
        on,
        (!rule.args.is_empty()).then(|| format!("args: [{}]", rule.args.join(", "))),
        (rule.timeout != rule.gate.timeout).then(|| format!("timeout: {}", format_duration(rule.timeout))),
        rule.required.then(|| "required: true".to_owned()),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// Renders the same content as JSON.
pub(super) fn json(gate_list: &GateList, gate: &Arc<Gate>) -> Value {
    let mut entry = list::entry(gate_list, gate);
    let settings = gate_list.root_policy.as_ref().map(|root_policy| settings(root_policy, gate));
    let common = json!({
        "timeout_ms": u64::try_from(gate.timeout.as_millis()).unwrap_or(u64::MAX),
        "samples": gate.samples.len(),
        "canary": gate.canary.is_some(),
        "policy": settings.unwrap_or_default(),
    });
    let command = gate.command().map(|command| command_json(gate, command)).unwrap_or_default();
    let server = gate.server().map(|server| ("server".to_owned(), server_words(server).into()));
    if let (Some(entry), Value::Object(common)) = (entry.as_object_mut(), common) {
        entry.extend(common.into_iter().chain(command).chain(server));
    }
    entry
}

fn command_json(gate: &Arc<Gate>, command: &CommandSpec) -> Map<String, Value> {
    let env = command.environment.variables.iter().map(|(name, value)| (name.clone(), word(value)));
    let parts: [(&str, Value); 11] = [
        ("command", words(command, &placeholder_rule(gate)).into()),
        ("bin", command.program.bin.iter().map(word).collect()),
        ("input", command.input.name().into()),
        ("output", form(command).into()),
        ("stream", command.output.from.name().into()),
        ("columns", command.output.columns.name().into()),
        ("scope", command.scope.name().into()),
        ("config", configuration(command).into()),
        ("env", env.collect()),
        ("install", command.program.install.clone().into()),
        ("install_hints", install::hints(&command.program.install).into()),
    ];
    parts.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}
