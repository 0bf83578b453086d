//! The hooks of each client: what their configuration says, and the files that are lockgate's own.
//!
//! A hook starts `lockgate hook`, which tells the client from its event. Its timeout is longer than lockgate's own
//! deadline, because a client lets an edit pass, or blocks it, when a hook is too slow.

use serde_json::{Map, Value, json};

use super::addition::NAME;
use super::kinds::{FlatField, HookEvent, HookFormat};
use super::layout::TextLayout;
use super::wanted::{Content, Contents, Wanted, WantedValue};

/// The command of a hook.
pub(super) const COMMAND: &str = "lockgate hook";
/// The same where a client blocks every edit if the program is not installed.
pub(super) const COMMAND_IF_INSTALLED: &str =
    "if command -v lockgate >/dev/null 2>&1; then lockgate hook; fi";
/// The timeout of a hook, in seconds.
pub(super) const TIMEOUT: u32 = 30;
/// The name of the lists of hooks.
pub(super) const LIST: &str = "hooks";
/// The text that a client shows while the hook runs.
const STATUS: &str = "lockgate judges the edit";
/// The plugin of opencode, which starts `lockgate hook`.
const PLUGIN: &str = include_str!("../../../../packaging/opencode/lockgate.js");
/// The program of an event of Cline; without lockgate it lets the edit pass.
const PROGRAM: &str = "#!/bin/sh
# Judges the edits of Cline with lockgate. `lockgate init --client cline --hooks --uninstall` removes it.
command -v lockgate >/dev/null 2>&1 || { echo '{\"cancel\": false}'; exit 0; }
exec lockgate hook
";
/// The permission bits of a program.
const PROGRAM_MODE: u32 = 0o755;

/// Returns the hooks of a client, as parts of a configuration or as files.
pub(super) fn contents(format: HookFormat) -> Contents {
    let program = |command: &str| json!({ "type": "command", "command": command, "timeout": TIMEOUT, "statusMessage": STATUS });
    match format {
        HookFormat::Groups(events) => groups(events, &program(COMMAND)),
        // Copilot reads the file as well, and blocks every edit where the program is not installed.
        HookFormat::SharedGroups(events) => groups(events, &program(COMMAND_IF_INSTALLED)),
        // Gemini CLI shows the name, and counts in milliseconds.
        HookFormat::NamedGroups(events) => groups(
            events,
            &json!({ "type": "command", "command": COMMAND, "timeout": TIMEOUT * 1000, "name": NAME }),
        ),
        HookFormat::Tagged(events) => {
            let group = |(event, matcher): &HookEvent| {
                let program = json!({ "type": "command", "command": COMMAND, "timeout": TIMEOUT });
                ((*event).to_owned(), json!([{ "matcher": matcher.unwrap_or("*"), "hooks": [program] }]))
            };
            let fields = events.iter().map(group).collect();
            parts(vec![Wanted { path: vec![NAME], value: WantedValue::Object(fields) }])
        }
        HookFormat::Flat { events, field } => flat(events, field),
        HookFormat::OwnFile(events) => own_file(events),
        HookFormat::Plugin => file(PLUGIN.to_owned()),
        HookFormat::Programs(events) => {
            let program = || Content::Own { text: PROGRAM.to_owned(), mode: Some(PROGRAM_MODE) };
            events.iter().map(|event| (*event, program())).collect()
        }
        HookFormat::None(_) => Vec::new(),
    }
}

fn parts(wanted: Vec<Wanted>) -> Contents {
    vec![("", Content::Json(wanted))]
}

/// Returns a group with this program for each event.
fn groups(events: &[HookEvent], program: &Value) -> Contents {
    let group = |(event, matcher): &HookEvent| {
        let group = match matcher {
            Some(matcher) => json!({ "matcher": matcher, "hooks": [program] }),
            None => json!({ "hooks": [program] }),
        };
        Wanted { path: vec![LIST, event], value: WantedValue::Element(group) }
    };
    parts(events.iter().map(group).collect())
}

fn flat(events: &[HookEvent], field: FlatField) -> Contents {
    let hook = |(event, matcher): &HookEvent| {
        let value = match (field, matcher) {
            (FlatField::Timeout, Some(matcher)) => {
                json!({ "command": COMMAND, "matcher": matcher, "timeout": TIMEOUT })
            }
            (FlatField::Timeout, None) => json!({ "command": COMMAND, "timeout": TIMEOUT }),
            (FlatField::ShowOutput, _) => json!({ "command": COMMAND, "show_output": true }),
        };
        Wanted { path: vec![LIST, event], value: WantedValue::Element(value) }
    };
    let version = Wanted { path: vec!["version"], value: WantedValue::Default(json!(1)) };
    let version = Some(version).filter(|_| field == FlatField::Timeout);
    parts(version.into_iter().chain(events.iter().map(hook)).collect())
}

fn own_file(events: &[HookEvent]) -> Contents {
    let hook = |(event, _): &HookEvent| {
        let program = json!({ "type": "command", "bash": COMMAND_IF_INSTALLED, "timeoutSec": TIMEOUT });
        ((*event).to_owned(), json!([program]))
    };
    let hooks: Value = Value::Object(events.iter().map(hook).collect());
    file(TextLayout::detect("").multi_line(&json!({ "version": 1, "hooks": hooks }), "") + "\n")
}

fn file(text: String) -> Contents {
    vec![("", Content::Own { text, mode: None })]
}

/// True if a client starts the hooks of a group for all tools of another group. A matcher that is a pattern covers only the
/// same one, and that of all tools.
pub(super) fn covers(group: &Value, wanted: &Value) -> bool {
    let matcher = |group: &Value| group.get("matcher").and_then(Value::as_str).unwrap_or_default().to_owned();
    let (group, wanted) = (matcher(group), matcher(wanted));
    let names: Vec<&str> = group.split(['|', ',', ' ']).collect();
    // A person's own group may leave out the tools that do not edit the text of a file, and an old one.
    let is_needed = |name: &&str| !["MultiEdit", "NotebookEdit", "Bash"].contains(name);
    ["", "*", ".*", wanted.as_str()].contains(&group.as_str())
        || (!wanted.is_empty() && wanted.split('|').filter(is_needed).all(|name| names.contains(&name)))
}

/// The owner of a hook, or of a group of hooks.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// All its programs are lockgate.
    Own,
    /// It starts lockgate and other programs.
    Mixed,
    Other,
}

impl Owner {
    pub(super) fn from_hook(hook: &Value) -> Owner {
        if let Some(hooks) = hook.get(LIST).and_then(Value::as_array) {
            return Owner::from_all(hooks.iter()).unwrap_or(Owner::Other);
        }
        let word = |name: &str| hook.get(name).and_then(Value::as_str).unwrap_or_default();
        let starts_hook = ["command", "bash"].map(word).into_iter().any(|command| {
            let words: Vec<&str> = command.split([' ', ';']).collect();
            words.windows(2).any(|pair| matches!(pair, [program, "hook"] if is_lockgate(program)))
        });
        let has_argument =
            hook.get("args").and_then(|args| args.get(0)).and_then(Value::as_str) == Some("hook");
        if starts_hook || (has_argument && is_lockgate(word("command"))) { Owner::Own } else { Owner::Other }
    }

    /// Returns the owner of an object with a list of groups for each event.
    pub(super) fn from_events(events: &Map<String, Value>) -> Owner {
        Owner::from_all(events.values().filter_map(Value::as_array).flatten()).unwrap_or(Owner::Own)
    }

    /// Returns the owner of all hooks or groups; `None` if there are none.
    fn from_all<'v>(hooks: impl Iterator<Item = &'v Value>) -> Option<Owner> {
        hooks.map(Owner::from_hook).reduce(|one, other| if one == other { one } else { Owner::Mixed })
    }
}

fn is_lockgate(program: &str) -> bool {
    program.trim_matches(['"', '\'']).rsplit('/').next() == Some("lockgate")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_covers_another_if_it_is_for_all_its_tools() {
        let group = |matcher: Option<&str>| match matcher {
            Some(matcher) => json!({ "matcher": matcher, "hooks": [] }),
            None => json!({ "hooks": [] }),
        };
        for (existing, wanted, expected) in [
            (None, Some("Edit|Write"), true),
            (Some(""), Some("Edit|Write"), true),
            (Some("*"), Some("Edit|Write"), true),
            (Some("Edit|Write"), Some("Edit|Write"), true),
            (Some("Bash, Write,Edit"), Some("Edit|Write"), true),
            (Some("Edit|Write"), Some("Edit|Write|MultiEdit|NotebookEdit"), true),
            (Some("Bash"), Some("Edit|Write"), false),
            (Some("Edit"), Some("Edit|Write"), false),
            (Some("Edit"), None, false),
            (Some("*"), None, true),
        ] {
            assert_eq!(covers(&group(existing), &group(wanted)), expected, "{existing:?} {wanted:?}");
        }
    }
}
