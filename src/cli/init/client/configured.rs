//! Finds the hooks of lockgate in the configuration of each client.
//!
//! Invariant: only reads. A file that is missing, too large or malformed has no hooks.

use std::path::{Path, PathBuf};

use clap::ValueEnum as _;
use jsonc_parser::{CollectOptions, parse_to_ast};
use serde_json::Value;

use super::config_text;
use super::hooks::{self, Owner};
use super::kinds::{Client, FilePath, HookFormat};
use super::wanted::Content;
use super::{Addition, NAME, Scope};
use lockgate_checks::read_regular_file;
use lockgate_hosts::host::Host;

/// The largest configuration that is read, in bytes.
const MAX_CONFIGURATION: u64 = 4 << 20;
/// The timeout of a client that has no setting for it, in seconds.
const NO_TIMEOUT: u64 = 60;

/// The setting with which Claude Code starts no hooks.
const DISABLE_ALL_HOOKS: &str = "disableAllHooks";
/// The settings of Claude Code that one person has for a project.
const CLAUDE_LOCAL_SETTINGS: FilePath = FilePath::Project(&[".claude/settings.local.json"]);

/// A hook of lockgate before an edit, as a client would start it.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::cli) struct ConfiguredHook {
    /// The host whose events the hook gets.
    pub(in crate::cli) host: Host,
    /// Display name of the client.
    pub(in crate::cli) client: &'static str,
    /// The file that configures it.
    pub(in crate::cli) file: PathBuf,
    pub(in crate::cli) entry: HookEntry,
}

/// An entry of a configuration that starts the hook.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::cli) struct HookEntry {
    pub(in crate::cli) start: HookStart,
    /// The time in seconds after which the client ends the hook.
    pub(in crate::cli) timeout: u64,
    /// The tools for which the client starts the hook, as its configuration has them; `None` for all.
    pub(in crate::cli) matcher: Option<String>,
    /// The setting that switches the hook off.
    pub(in crate::cli) switched_off_by: Option<&'static str>,
    /// The file of that setting, if it is another one.
    pub(in crate::cli) switch_file: Option<PathBuf>,
    /// The key of the hook with which the client does not start it for every edit, or does not wait for it, and what
    /// that means.
    pub(in crate::cli) condition: Option<(&'static str, &'static str)>,
}

impl HookEntry {
    fn new(start: HookStart, timeout: u64) -> HookEntry {
        HookEntry { start, timeout, matcher: None, switched_off_by: None, switch_file: None, condition: None }
    }
}

/// How a client starts the hook.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::cli) enum HookStart {
    /// As `lockgate init` writes it: by the name of the program. The command may name the host.
    Known(Option<Host>),
    /// In another way; the text is the command, or the reason why it is not known.
    Other(String),
}

/// Returns the files, and the folders of files, in which clients find the user's own hooks or the switch for them.
pub(in crate::cli) fn user_hook_files() -> Vec<PathBuf> {
    let clients = Client::value_variants().iter();
    let files = clients.flat_map(|client| {
        // Codex reads in its configuration whether hooks run.
        let server = (*client == Client::Codex).then(|| client.file(Addition::Server, Scope::User));
        [client.file(Addition::Hooks, Scope::User)].into_iter().chain(server)
    });
    files.flat_map(|file| paths(Path::new(""), file)).collect()
}

/// Returns the files in which the client of a host looks for servers.
pub(in crate::cli) fn server_files(root: &Path, host: Host) -> Vec<PathBuf> {
    let clients = Client::value_variants().iter().filter(|client| client.kind().host == Some(host));
    let files = clients.flat_map(|client| {
        let written = [Scope::Project, Scope::User].map(|scope| client.file(Addition::Server, scope));
        written.into_iter().chain(client.other_server_file())
    });
    files.flat_map(|file| paths(root, file)).collect()
}

/// Returns the hooks before an edit for all clients, or for the given one.
pub(in crate::cli) fn configured_hooks(root: &Path, only: Option<Host>) -> Vec<ConfiguredHook> {
    let mut found = Vec::new();
    for client in Client::value_variants() {
        let Some(host) = client.kind().host.filter(|host| only.is_none_or(|only| only == *host)) else {
            continue;
        };
        for scope in [Scope::Project, Scope::User] {
            let Some(file) = file(root, client.file(Addition::Hooks, scope)) else { continue };
            let format = client.kind().hooks;
            let hook = |entry| {
                let (client, file) = (client.kind().name, file.clone());
                ConfiguredHook { host, client, file, entry }
            };
            found.extend(in_file(&file, format).into_iter().map(hook));
        }
    }
    if let Some((file, is_off)) = claude_switch(root) {
        let of_claude = found.iter_mut().filter(|hook| hook.host == Host::ClaudeCode);
        of_claude.for_each(|hook| hook.set_switch(&file, is_off));
    }
    found
}

impl ConfiguredHook {
    /// Applies the setting of Claude Code that counts for this hook, which may be in another file.
    fn set_switch(&mut self, file: &Path, is_off: bool) {
        let entry = &mut self.entry;
        if is_off {
            entry.switched_off_by = Some(DISABLE_ALL_HOOKS);
            entry.switch_file = Some(file.to_owned()).filter(|file| *file != self.file);
        } else {
            entry.switched_off_by = entry.switched_off_by.filter(|name| *name != DISABLE_ALL_HOOKS);
        }
    }
}

/// Returns whether Claude Code's hooks are switched off, and the file that says so. Claude Code merges its settings key by
/// key: those of a person for the project come first, then those of the project, then those of the user.
fn claude_switch(root: &Path) -> Option<(PathBuf, bool)> {
    let of_scope = |scope| Client::Claude.file(Addition::Hooks, scope);
    let files = [CLAUDE_LOCAL_SETTINGS, of_scope(Scope::Project), of_scope(Scope::User)];
    files.into_iter().filter_map(|path| file(root, path)).find_map(|file| {
        let is_off = parse(&read(&file)?)?.get(DISABLE_ALL_HOOKS)?.as_bool()?;
        Some((file, is_off))
    })
}

/// Returns the path of the file of hooks.
fn file(root: &Path, path: FilePath) -> Option<PathBuf> {
    let paths = paths(root, path);
    paths.iter().find(|path| path.symlink_metadata().is_ok()).or(paths.last()).cloned()
}

/// Returns the paths that a file may have.
fn paths(root: &Path, file: FilePath) -> Vec<PathBuf> {
    let (folder, names) = match file {
        FilePath::Project(names) => (Some(root.to_owned()), names),
        FilePath::User(file) => (file.folder().ok(), file.names),
        FilePath::None(_) => (None, &[][..]),
    };
    folder.into_iter().flat_map(|folder| names.iter().map(move |name| folder.join(name))).collect()
}

fn in_file(file: &Path, format: HookFormat) -> Vec<HookEntry> {
    match (format, hooks::contents(format).as_slice()) {
        (HookFormat::Plugin, [(_, Content::Own { text, .. })]) => {
            own_file(file, text, hooks::TIMEOUT.into()).into_iter().collect()
        }
        (HookFormat::Programs(_), [(name, Content::Own { text, .. }), ..]) => {
            own_file(&file.join(name), text, NO_TIMEOUT).into_iter().collect()
        }
        (format, _) => {
            let Some(event) = format.first_event() else { return Vec::new() };
            let Some(text) = read(file) else { return Vec::new() };
            match parse(&text) {
                Some(value) => in_json(&value, event),
                None if text.contains("lockgate") => {
                    let start = HookStart::Other("the file is not valid JSON".to_owned());
                    vec![HookEntry::new(start, NO_TIMEOUT)]
                }
                None => Vec::new(),
            }
        }
    }
}

/// Returns the hook that a file of lockgate's own starts; `None` if there is no such file.
fn own_file(file: &Path, expected: &str, timeout: u64) -> Option<HookEntry> {
    let other = || HookStart::Other("a file that `lockgate init` did not write".to_owned());
    let start = if read(file)? == expected { HookStart::Known(None) } else { other() };
    Some(HookEntry::new(start, timeout))
}

fn read(file: &Path) -> Option<String> {
    let bytes = read_regular_file(file, MAX_CONFIGURATION + 1).ok()?;
    String::from_utf8(bytes).ok().filter(|text| text.len() as u64 <= MAX_CONFIGURATION)
}

fn parse(text: &str) -> Option<Value> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let parsed = parse_to_ast(text, &CollectOptions::default(), &config_text::options()).ok()?;
    parsed.value.map(Value::from)
}

/// Returns the hooks of lockgate for an event: in a list of programs, or in groups of such lists.
fn in_json(value: &Value, event: &str) -> Vec<HookEntry> {
    let switched_off_by = switched_off_by(value);
    let lists = [hooks::LIST, NAME].map(|name| value.get(name).and_then(|hooks| hooks.get(event)));
    let groups = lists.into_iter().flatten().filter_map(Value::as_array).flatten();
    let programs = groups.flat_map(|group| {
        let list = group.get(hooks::LIST).and_then(Value::as_array);
        list.map_or(std::slice::from_ref(group), Vec::as_slice).iter().map(move |program| (group, program))
    });
    let own = programs.filter(|(_, program)| Owner::from_hook(program) == Owner::Own);
    let entry = |(group, program): (&Value, &Value)| HookEntry {
        start: start(program),
        timeout: timeout(program),
        matcher: group.get("matcher").and_then(Value::as_str).map(str::to_owned),
        switched_off_by: switched_off_by.or_else(|| disabled_by_name(value, program)),
        switch_file: None,
        condition: condition(program),
    };
    own.map(entry).collect()
}

/// Returns the setting of a configuration that switches all its hooks off.
fn switched_off_by(config: &Value) -> Option<&'static str> {
    let is_set = |place: &str, off: bool| config.pointer(place) == Some(&Value::Bool(off));
    let settings = [
        (DISABLE_ALL_HOOKS, "/disableAllHooks", true),
        ("hooksConfig.enabled", "/hooksConfig/enabled", false),
    ];
    settings.into_iter().find(|(_, place, off)| is_set(place, *off)).map(|(name, ..)| name)
}

/// Returns the list of a configuration that switches this hook off by its name or its command.
fn disabled_by_name(config: &Value, program: &Value) -> Option<&'static str> {
    let disabled = config.pointer("/hooksConfig/disabled")?.as_array()?;
    let is_named =
        ["name", "command"].iter().any(|key| program.get(*key).is_some_and(|it| disabled.contains(it)));
    is_named.then_some("hooksConfig.disabled")
}

/// Returns the key of a hook of Claude Code with which it does not guard every edit, and what that means.
fn condition(program: &Value) -> Option<(&'static str, &'static str)> {
    let runs_in_background = |key: &&str| program.get(*key) == Some(&Value::Bool(true));
    if let Some(key) = ["async", "asyncRewake"].into_iter().find(runs_in_background) {
        return Some((key, "the client does not wait for its answer"));
    }
    program.get("if").map(|_| ("if", "the client starts it for some edits only"))
}

fn start(program: &Value) -> HookStart {
    let command = ["command", "bash"].iter().find_map(|name| program.get(*name).and_then(Value::as_str));
    let command = command.unwrap_or_default();
    let arguments = program.get("args").and_then(Value::as_array).map(Vec::as_slice);
    let named = match (command, arguments) {
        (NAME, Some([hook])) if hook == "hook" => Some(None),
        (NAME, Some([hook, host])) if hook == "hook" => host.as_str().and_then(Host::from_name).map(Some),
        (hooks::COMMAND | hooks::COMMAND_IF_INSTALLED, None) => Some(None),
        (command, None) => {
            let host = command.strip_prefix(hooks::COMMAND).and_then(|rest| rest.strip_prefix(' '));
            host.and_then(Host::from_name).map(Some)
        }
        (_, Some(_)) => None,
    };
    named.map_or_else(|| HookStart::Other(command.to_owned()), HookStart::Known)
}

fn timeout(program: &Value) -> u64 {
    let seconds =
        ["timeout", "timeoutSec"].iter().find_map(|name| program.get(*name).and_then(Value::as_u64));
    // Gemini CLI counts in milliseconds; no person waits 1,000 s for a hook.
    seconds.map_or(NO_TIMEOUT, |number| if number >= 1000 { number / 1000 } else { number })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn hooks_are_found_in_every_form_that_init_writes() {
        for (value, event, expected) in [
            (
                json!({"hooks": {"E": [{"matcher": "x", "hooks": [{"command": "lockgate hook", "timeout": 30}]}]}}),
                "E",
                30,
            ),
            (json!({"hooks": {"E": [{"hooks": [{"command": "lockgate hook", "timeout": 30000}]}]}}), "E", 30),
            (json!({"lockgate": {"E": [{"hooks": [{"command": "lockgate hook"}]}]}}), "E", NO_TIMEOUT),
            (json!({"hooks": {"E": [{"bash": hooks::COMMAND_IF_INSTALLED, "timeoutSec": 9}]}}), "E", 9),
            (json!({"hooks": {"E": [{"command": "lockgate", "args": ["hook"]}]}}), "E", NO_TIMEOUT),
        ] {
            let matcher = value["hooks"]["E"][0]["matcher"].as_str().map(str::to_owned);
            let known = HookEntry { matcher, ..HookEntry::new(HookStart::Known(None), expected) };
            assert_eq!(in_json(&value, event), [known], "{value}");
        }
        for named in [
            json!({"hooks": {"E": [{"command": "lockgate hook gemini"}]}, "disableAllHooks": true}),
            json!({"hooks": {"E": [{"command": "lockgate", "args": ["hook", "gemini"]}]}, "disableAllHooks": true}),
        ] {
            let entry = HookEntry::new(HookStart::Known(Some(Host::Gemini)), NO_TIMEOUT);
            let off = HookEntry { switched_off_by: Some("disableAllHooks"), ..entry };
            assert_eq!(in_json(&named, "E"), [off], "{named}");
        }
        let other = json!({"hooks": {"E": [{"command": "./lockgate hook; evil"}, {"command": "check"}]}});
        assert_eq!(
            in_json(&other, "E"),
            [HookEntry::new(HookStart::Other("./lockgate hook; evil".to_owned()), NO_TIMEOUT)]
        );
        for none in [json!([]), json!({"hooks": {"F": [{"command": "lockgate hook"}]}}), json!({"hooks": 1})]
        {
            assert_eq!(in_json(&none, "E"), []);
        }
    }

    #[test]
    fn a_hook_that_does_not_guard_every_edit_is_marked() {
        let found = |more: Value, config: Value| {
            let mut hook = json!({"command": "lockgate hook"});
            hook.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            let mut value = json!({"hooks": {"E": [{"hooks": [hook]}]}});
            value.as_object_mut().unwrap().extend(config.as_object().unwrap().clone());
            let [entry] = <[HookEntry; 1]>::try_from(in_json(&value, "E")).unwrap();
            (entry.condition.map(|(key, _)| key), entry.switched_off_by)
        };
        for (hook, config, expected) in [
            (json!({}), json!({}), (None, None)),
            (json!({"async": true}), json!({}), (Some("async"), None)),
            (json!({"async": false}), json!({}), (None, None)),
            (json!({"if": "Edit(*.ts)"}), json!({}), (Some("if"), None)),
            (json!({}), json!({"hooksConfig": {"enabled": false}}), (None, Some("hooksConfig.enabled"))),
            (json!({}), json!({"hooksConfig": {"enabled": true}}), (None, None)),
            (json!({}), json!({"disableAllHooks": true}), (None, Some("disableAllHooks"))),
        ] {
            assert_eq!(found(hook.clone(), config.clone()), expected, "{hook} {config}");
        }
    }

    #[test]
    fn a_broken_file_that_names_lockgate_is_a_hook_that_may_not_run() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("hooks.json");
        let format = Client::Claude.kind().hooks;
        let found = |text: &str| {
            std::fs::write(&file, text).unwrap();
            in_file(&file, format).into_iter().map(|entry| entry.start).collect::<Vec<_>>()
        };
        let text = r#"{"hooks": {"PreToolUse": [{"hooks": [{"command": "lockgate hook"}]}]}}"#;
        assert_eq!(found(text), [HookStart::Known(None)], "the control");
        let broken = HookStart::Other("the file is not valid JSON".to_owned());
        assert_eq!(found(&text.replace("]}]}}", "]}")), [broken]);
        assert_eq!(found("{"), []);
    }
}
