//! Renders the commands of a policy as text for a person's decision and as JSON.
//!
//! Invariant: content of the policy and the disk is escaped, and every command that would run is listed.

use serde_json::{Value, json};

use crate::cli::paint::{LABEL, TITLE, WARNING, labelled, paint, visible_line};
use lockgate_checks::{ResolvedProgram, ResolvedPrograms};
use lockgate_engine::Commands;
use lockgate_policy::{
    CommandSpec, CommandWord, Hole, HookSettings, Policy, Rule, ServerSpec, Unconfigured, WordPart,
};

/// The warning that applies to every command.
const RISK: &str = "These programs run with your rights whenever an agent edits a file that the policy covers. They also run \
    what they load: plugins, and configuration that is code. Where this machine supports it, lockgate runs them in a \
    sandbox, which docs/security.md describes; `lockgate gates doctor` shows which one.";

/// Renders the files of the policy and each command with its program and its risk.
pub(super) fn commands(policy: &Policy, commands: &Commands) -> String {
    let root = commands.root.display().to_string();
    let mut text = labelled(LABEL, "root", visible_line(&root));
    for (at, file) in commands.files.iter().enumerate() {
        let label = if at == 0 { "policy" } else { "above it" };
        text += &labelled(LABEL, label, visible_line(&file.name));
    }
    if commands.files.is_empty() {
        text += &labelled(LABEL, "policy", commands.describe());
    }
    for rule in policy.invocations() {
        text +=
            &rule.gate.command().map(|command| self::command(rule, command, commands)).unwrap_or_default();
        text += &rule.gate.server().map(|server| self::server(rule, server, commands)).unwrap_or_default();
    }
    if policy.hooks.need_trust() {
        text += &format!("\n{}\n", paint(TITLE, "hooks"));
        text += &labelled(WARNING, "loosens", loosened(policy.hooks));
    }
    if commands.programs.iter().next().is_some() {
        text += &format!("\n{RISK}\n");
    }
    text
}

/// Describes the settings of hooks that count only with trust.
fn loosened(settings: HookSettings) -> String {
    let strict = settings.without_trust();
    let bytes = (settings.bytes != strict.bytes).then(|| "`bytes: report`".to_owned());
    let deadline =
        (settings.deadline != strict.deadline).then(|| format!("`deadline: {:?}`", settings.deadline));
    let all: Vec<String> = bytes.into_iter().chain(deadline).collect();
    format!("the guard of your agent's edit tools: {}", all.join(", "))
}

fn command(rule: &Rule, command: &CommandSpec, commands: &Commands) -> String {
    let env = command.environment.variables.iter().map(|(name, value)| format!("{name}={}", word(value)));
    let with = env.chain(extras(command)).collect();
    run(&rule.gate.name, &rule.gate.about, &line(command, rule), with, commands)
}

/// Renders the language server, which has its own program.
fn server(rule: &Rule, server: &ServerSpec, commands: &Commands) -> String {
    let env = server.env.iter().map(|(name, value)| format!("{name}={}", word(value)));
    let with = env.chain(server_settings(server)).collect();
    let name = ResolvedPrograms::server_name(&rule.gate.name);
    let about = "The same check by a persistent language server.";
    run(&name, about, &quoted(&server_words(server)), with, commands)
}

/// Returns the words of a server's command line.
pub(in crate::cli) fn server_words(server: &ServerSpec) -> Vec<String> {
    [&server.program.name].into_iter().chain(&server.words).cloned().collect()
}

/// Returns the options and settings that a server receives.
fn server_settings(server: &ServerSpec) -> Vec<String> {
    let values = [("options", &server.options), ("settings", &server.settings)].into_iter();
    let values = values.filter(|(_, value)| value.as_object().is_none_or(|map| !map.is_empty()));
    values.map(|(name, value)| format!("{name} {value}")).collect()
}

/// Renders a program with its arguments and further inputs.
fn run(name: &str, about: &str, words: &str, with: Vec<String>, commands: &Commands) -> String {
    let mut text = format!("\n{} {}\n", paint(TITLE, visible_line(name)), visible_line(about));
    text += &labelled(LABEL, "runs", visible_line(words));
    for with in with {
        text += &labelled(LABEL, "with", visible_line(&with));
    }
    text += &match commands.programs.resolved(name) {
        Some(resolved) => program(resolved),
        None => labelled(WARNING, "program", "not found, so it cannot run"),
    };
    for why in commands.programs.rejected(name) {
        text += &labelled(LABEL, "seen", visible_line(why));
    }
    text + &labelled(LABEL, "may", risk(commands.programs.resolved(name)))
}

/// Returns the further inputs of a command.
fn extras(command: &CommandSpec) -> Vec<String> {
    let folders =
        command.environment.path.iter().map(|folder| format!("{} before its search path", word(folder)));
    let mut extras: Vec<String> = folders.collect();
    extras.extend(command.values.iter().map(|value| {
        format!("{{{}}} from {}, else `{}`", value.name, value.files.join(" or "), value.default)
    }));
    match &command.unconfigured {
        Unconfigured::Words(words) if !words.is_empty() => {
            extras.push(format!("{} where the project has no configuration of it", quoted(words)));
        }
        Unconfigured::Words(_) | Unconfigured::Skip => {}
    }
    extras
}

fn program(resolved: &ResolvedProgram) -> String {
    let style = if resolved.inside { WARNING } else { LABEL };
    labelled(style, "program", program_path(resolved, "INSIDE THE REPOSITORY"))
}

/// Renders the path of a program, with a remark on one that is inside the repository.
pub(in crate::cli) fn program_path(resolved: &ResolvedProgram, inside: &str) -> String {
    let (program, real) = (resolved.program.display().to_string(), resolved.real.display().to_string());
    let real = if program == real { String::new() } else { format!(", which is {real}") };
    let inside = if resolved.inside { format!(", {inside}") } else { String::new() };
    visible_line(&format!("{program}{real}{inside}"))
}

/// Describes the risk of a command.
fn risk(program: Option<&ResolvedProgram>) -> &'static str {
    match program {
        None => "do nothing until a program is found, which then needs trust again",
        Some(ResolvedProgram { inside: true, .. }) => {
            "do all that you can do; anyone who can change the repository decides what"
        }
        Some(ResolvedProgram { inside: false, .. }) => {
            "do all that you can do, within what the program is made for"
        }
    }
}

/// Returns the command line, quoted for a shell.
pub(in crate::cli) fn line(command: &CommandSpec, rule: &Rule) -> String {
    quoted(&words(command, rule))
}

/// Joins words, quoted for a shell.
pub(in crate::cli) fn quoted(words: &[String]) -> String {
    let quoted = words.iter().map(|word| {
        let plain = |c: char| c.is_alphanumeric() || "-_./={}:,+%@".contains(c);
        if !word.is_empty() && word.chars().all(plain) {
            word.clone()
        } else {
            format!("'{}'", word.replace('\'', "'\\''"))
        }
    });
    quoted.collect::<Vec<_>>().join(" ")
}

/// Returns the words of the command line.
pub(in crate::cli) fn words(command: &CommandSpec, rule: &Rule) -> Vec<String> {
    let mut words = vec![command.program.name.clone()];
    for template in &command.words {
        if template.has(Hole::Args) {
            words.extend(rule.args.iter().cloned());
        } else {
            words.push(word(template));
        }
    }
    if !command.words.iter().any(|word| word.has(Hole::Args)) {
        words.extend(rule.args.iter().cloned());
    }
    words
}

/// Returns a word with its placeholders in braces.
pub(in crate::cli) fn word(template: &CommandWord) -> String {
    let part = |part: &WordPart| match part {
        WordPart::Text(text) => text.clone(),
        WordPart::Value(name) => format!("{{{name}}}"),
        WordPart::Hole(hole) => format!("{{{}}}", hole.name()),
    };
    template.parts.iter().map(part).collect()
}

/// Renders the same content as JSON, with the trust state.
pub(super) fn json(policy: &Policy, commands: &Commands, why: Option<&str>) -> Value {
    let entry = |name: &str, words: Vec<String>, env: &[(String, CommandWord)], with: Vec<String>| {
        let program = commands.programs.resolved(name);
        let env = env.iter().map(|(name, value)| (name.clone(), Value::from(word(value))));
        json!({
            "gate": name,
            "words": words,
            "env": Value::Object(env.collect()),
            "with": with,
            "program": program.map(|program| program.program.display().to_string()),
            "real_path": program.map(|program| program.real.display().to_string()),
            "inside_repository": program.is_some_and(|program| program.inside),
            "passed_over": commands.programs.rejected(name),
        })
    };
    let both = |rule: &Rule| {
        let name = &rule.gate.name;
        let command = rule.gate.command();
        let command = command.map(|it| entry(name, words(it, rule), &it.environment.variables, extras(it)));
        let server = rule.gate.server();
        let server = server.map(|it| {
            entry(&ResolvedPrograms::server_name(name), server_words(it), &it.env, server_settings(it))
        });
        command.into_iter().chain(server).collect::<Vec<_>>()
    };
    json!({
        "trusted": why.is_none(),
        "why": why,
        "root": commands.root.display().to_string(),
        "policies": commands.files.iter().map(|file| file.name.as_str()).collect::<Vec<_>>(),
        "commands": policy.invocations().flat_map(both).collect::<Vec<_>>(),
    })
}
