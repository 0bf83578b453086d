//! `lockgate hook --doctor`: feeds recorded events through the configured hooks, and says what each host would do.
//!
//! Invariant: of a configuration nothing is run but `lockgate hook` by its name, in a temporary project. A hook that
//! starts in another way is reported, not run.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use regex::Regex;
use serde_json::Value;
use tempfile::TempDir;

use super::super::init::{ConfiguredHook, HookStart, configured_hooks};
use super::super::paint::{self, DONE, LABEL, REJECTED, labelled, visible};
use lockgate_error::{Code, Error};
use lockgate_hosts::host::Host;

/// The exit code if a hook does not work, or if there is none.
const NOT_GUARDED: u8 = 1;
/// The time between two looks at a running hook.
const POLL: Duration = Duration::from_millis(5);

/// Declares the recorded events of a host: a broken edit, and a good one.
macro_rules! events {
    ($name:literal) => {
        [
            include_str!(concat!("../../../tests/hooks/", $name, ".bad.json")),
            include_str!(concat!("../../../tests/hooks/", $name, ".good.json")),
        ]
    };
}

/// Returns the recorded events: a broken edit, and a good one.
fn events(host: Host) -> [&'static str; 2] {
    match host {
        Host::ClaudeCode => events!("claude-code-2.1.330"),
        Host::Codex => events!("codex-0.169.0"),
        Host::Gemini => events!("gemini-cli-0.61.0"),
        Host::OpenCode => events!("opencode-1.18.33"),
        Host::Copilot => events!("copilot-cli-1.0.102"),
        Host::VsCode => events!("vscode-2026.10"),
        Host::Cursor => events!("cursor-2026.09.26"),
        Host::Windsurf => events!("windsurf-docs"),
        Host::Cline => events!("cline-cli-3.0.65"),
        Host::Antigravity => events!("antigravity-docs"),
    }
}

/// What a host does with an edit after its hook ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HostAction {
    Denies,
    /// The edit is made, and the model is told what is wrong.
    Warns,
    Passes,
}

/// The result of one recorded event.
struct Trial {
    action: HostAction,
    /// The reason why the hook gave no answer.
    problem: Option<String>,
    duration: Duration,
}

/// Tries the configured hooks, and prints what each host would do.
pub(super) fn run(root: &Path, only: Option<Host>) -> Result<ExitCode, Error> {
    let hooks = configured_hooks(root, only);
    let mut text = String::new();
    if hooks.is_empty() {
        let who = only.map_or("no client is".to_owned(), |host| format!("{} is not", host.name()));
        text +=
            &labelled(REJECTED, "none", format!("{who} configured to run `lockgate hook` before an edit"));
        text += &labelled(LABEL, "next", "`lockgate init --client NAME --hooks` adds the hooks of a client");
    }
    let mut all_work = !hooks.is_empty();
    for hook in &hooks {
        let of_file = hooks.iter().filter(|other| other.file == hook.file);
        let check = examine(hook, of_file)?;
        all_work &= matches!(check, HookCheck::Works(_));
        let (style, label, found) = match check {
            HookCheck::Works(found) => (DONE, "works", found),
            HookCheck::Fails(problem) => (REJECTED, "fails", problem),
            HookCheck::Untried(reason) => (REJECTED, "untried", reason),
        };
        let line = format!("{} ({})\n{found}", hook.client, hook.file.display());
        text += &labelled(style, label, visible(&line));
    }
    paint::print(&text)?;
    Ok(if all_work { ExitCode::SUCCESS } else { ExitCode::from(NOT_GUARDED) })
}

/// The result of trying a hook.
enum HookCheck {
    /// It guards; what its host would do.
    Works(String),
    /// It does not guard; the reason.
    Fails(String),
    /// Whether it guards is not known; the reason.
    Untried(String),
}

/// Tries one hook; `of_file` are all of its file, of which another one may be for the tool.
fn examine<'a>(
    hook: &ConfiguredHook,
    mut of_file: impl Iterator<Item = &'a ConfiguredHook>,
) -> Result<HookCheck, Error> {
    let named = match &hook.entry.start {
        HookStart::Known(named) => *named,
        HookStart::Other(command) => {
            let reason = format!("not tried, because it is not as `lockgate init` writes it: {command}");
            return Ok(HookCheck::Untried(reason));
        }
    };
    if let Some(setting) = hook.entry.switched_off_by {
        let file = hook.entry.switch_file.as_ref();
        let file = file.map_or_else(|| "this file".to_owned(), |file| file.display().to_string());
        return Ok(HookCheck::Fails(format!("`{setting}` in {file} switches its hooks off")));
    }
    if let Some((key, meaning)) = hook.entry.condition {
        return Ok(HookCheck::Untried(format!("not tried, because it has `{key}`: {meaning}")));
    }
    let [bad, good] = events(hook.host);
    let check = |hook: &ConfiguredHook| check_matcher(hook.host, hook.entry.matcher.as_deref(), bad);
    match check(hook) {
        MatcherCheck::Unknown(matcher) => {
            let reason = format!("not tried, because its matcher `{matcher}` is of another kind");
            return Ok(HookCheck::Untried(reason));
        }
        MatcherCheck::LeavesOut { matcher, tool }
            if !of_file.any(|other| check(other) == MatcherCheck::Fits) =>
        {
            let problem = format!(
                "its matcher `{matcher}` does not match the tool `{tool}`; it would let every such edit pass"
            );
            return Ok(HookCheck::Fails(problem));
        }
        MatcherCheck::Fits | MatcherCheck::LeavesOut { .. } => {}
    }
    let (bad, good) = (try_event(hook, named, bad)?, try_event(hook, named, good)?);
    let slowest = bad.duration.max(good.duration).as_millis();
    if let Some(problem) = bad.problem.or(good.problem) {
        let action = match bad.action {
            HostAction::Denies => "it would deny every edit",
            HostAction::Warns | HostAction::Passes => "it would let every edit pass",
        };
        return Ok(HookCheck::Fails(format!("{problem}; {action}")));
    }
    let note = match hook.host {
        Host::Codex => "; Codex skips it until a person trusts it with `/hooks`, which does not show here",
        _ => "",
    };
    let works = |action: &str| {
        HookCheck::Works(format!("{action} a broken edit, passes a good one ({slowest} ms){note}"))
    };
    Ok(match (bad.action, good.action) {
        (_, HostAction::Denies | HostAction::Warns) => {
            HookCheck::Fails("it would stop a good edit".to_owned())
        }
        (HostAction::Passes, HostAction::Passes) => {
            HookCheck::Fails("it would let a broken edit pass".to_owned())
        }
        (HostAction::Denies, HostAction::Passes) => works("denies"),
        (HostAction::Warns, HostAction::Passes) => works("warns of"),
    })
}

/// Whether a host starts a hook for the tool of a recorded event.
#[derive(Debug, PartialEq, Eq)]
enum MatcherCheck {
    Fits,
    /// The hook is for other tools.
    LeavesOut {
        matcher: String,
        tool: String,
    },
    /// The matcher is a pattern of another language than Rust's.
    Unknown(String),
}

/// Compares the matcher of a hook with the tool of a recorded event. Claude Code takes names with `|`, `,` or blanks between
/// them as they are, and other matchers for regular expressions, as Codex, Gemini CLI and Cursor do.
fn check_matcher(host: Host, matcher: Option<&str>, recording: &str) -> MatcherCheck {
    let takes_matchers = matches!(host, Host::ClaudeCode | Host::Codex | Host::Gemini | Host::Cursor);
    let matcher = matcher.filter(|matcher| !["", "*"].contains(matcher));
    let recording: Value = serde_json::from_str(recording).unwrap_or_default();
    let tool = recording.pointer("/payload/tool_name").and_then(Value::as_str);
    let (Some(matcher), Some(tool)) = (matcher.filter(|_| takes_matchers), tool) else {
        return MatcherCheck::Fits;
    };
    // The host matches an edit by these names, too.
    let others: &[&str] = match host {
        Host::Codex => &["Write", "Edit"],
        Host::Cursor => &["Write"],
        _ => &[],
    };
    let mut names = matcher.split(['|', ',', ' ']);
    let is_plain =
        |name: &str| name.chars().all(|letter| letter.is_ascii_alphanumeric() || "_-".contains(letter));
    let fits = if host == Host::ClaudeCode && names.clone().all(is_plain) {
        names.any(|name| name == tool)
    } else {
        match Regex::new(matcher) {
            Ok(pattern) => others.iter().chain([&tool]).any(|name| pattern.is_match(name)),
            Err(_) => return MatcherCheck::Unknown(matcher.to_owned()),
        }
    };
    if fits {
        MatcherCheck::Fits
    } else {
        MatcherCheck::LeavesOut { matcher: matcher.to_owned(), tool: tool.to_owned() }
    }
}

/// Runs the hook for a recorded event in a temporary project.
fn try_event(hook: &ConfiguredHook, named: Option<Host>, recording: &str) -> Result<Trial, Error> {
    let broken =
        |reason: &str| Error::new(Code::Internal, format!("a recorded event is malformed: {reason}"));
    let recording: Value = serde_json::from_str(recording).map_err(|error| broken(&error.to_string()))?;
    let folder = TempDir::new().map_err(|error| failed("a temporary project cannot be created", &error))?;
    let io = |error| failed("a temporary project cannot be written", &error);
    let root = folder.path().join("project");
    fs::create_dir(&root).map_err(io)?;
    for (path, text) in recording.get("files").and_then(Value::as_object).ok_or_else(|| broken("files"))? {
        fs::write(root.join(path), text.as_str().unwrap_or_default()).map_err(io)?;
    }
    let quoted = Value::from(root.display().to_string()).to_string();
    let payload = recording.get("payload").unwrap_or(&Value::Null).to_string();
    let [input, output, errors] = ["event", "output", "errors"].map(|name| folder.path().join(name));
    fs::write(&input, payload.replace("{root}", quoted.trim_matches('"'))).map_err(io)?;
    let started = Instant::now();
    let trial = |exit: Option<i32>, output: Option<&Value>, problem: Option<String>| {
        Ok(Trial { action: action(hook.host, exit, output), problem, duration: started.elapsed() })
    };
    let child = Command::new("lockgate")
        .arg("hook")
        .args(named.map(Host::name))
        .current_dir(&root)
        .stdin(File::open(&input).map_err(io)?)
        .stdout(File::create(&output).map_err(io)?)
        .stderr(File::create(&errors).map_err(io)?)
        .spawn();
    let mut child = match child {
        Ok(child) => child,
        Err(error) => return trial(None, None, Some(format!("`lockgate` does not start: {error}"))),
    };
    let limit = Duration::from_secs(hook.entry.timeout);
    let status = loop {
        match child.try_wait().map_err(io)? {
            Some(status) => break Some(status),
            None if started.elapsed() >= limit => break None,
            None => std::thread::sleep(POLL),
        }
    };
    let Some(status) = status else {
        child.kill().and_then(|()| child.wait()).map_err(io)?;
        let problem = format!("it takes longer than its timeout of {} s", hook.entry.timeout);
        return trial(None, None, Some(problem));
    };
    let output = serde_json::from_slice(&fs::read(&output).map_err(io)?).ok();
    let errors = String::from_utf8_lossy(&fs::read(&errors).map_err(io)?).trim().to_owned();
    // A text on standard error is an answer for some hosts, together with exit code 2.
    let problem = (output.is_none() && !errors.is_empty() && status.code() != Some(2)).then_some(errors);
    trial(status.code(), output.as_ref(), problem)
}

/// Returns what a host does after a hook with this exit code and output; a hook that did not end has no exit code.
fn action(host: Host, exit: Option<i32>, output: Option<&Value>) -> HostAction {
    match (host, exit) {
        // opencode reads only the answer, through its plugin; Cline reads it whatever the exit code.
        (Host::OpenCode | Host::Cline, _) | (_, Some(0)) => {}
        (_, Some(2)) => return HostAction::Denies,
        // It blocks an edit if its hook fails.
        (Host::Copilot, Some(_)) => return HostAction::Denies,
        (_, _) => return HostAction::Passes,
    }
    let value = |place: &str| output.and_then(|output| output.pointer(place));
    let says_deny = |place: &str| value(place).is_some_and(|value| value == "deny");
    let has = |place: &str| value(place).is_some_and(|value| !value.is_null() && value != false);
    let is_denied = match host {
        Host::ClaudeCode | Host::Codex | Host::VsCode => says_deny("/hookSpecificOutput/permissionDecision"),
        Host::Copilot => {
            says_deny("/permissionDecision") || says_deny("/hookSpecificOutput/permissionDecision")
        }
        Host::Gemini | Host::Antigravity => says_deny("/decision"),
        Host::Cursor => says_deny("/permission"),
        Host::OpenCode => has("/deny"),
        Host::Cline => has("/cancel"),
        Host::Windsurf => false,
    };
    match host {
        _ if is_denied => HostAction::Denies,
        Host::Cline if has("/contextModification") => HostAction::Warns,
        _ => HostAction::Passes,
    }
}

fn failed(what: &str, error: &std::io::Error) -> Error {
    Error::new(Code::IoFailed, format!("{what}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockgate_hosts::answer::HookReply;
    use serde_json::json;

    #[test]
    fn a_matcher_is_compared_with_the_edit_tool_as_the_host_does_it() {
        let check = |host, matcher| check_matcher(host, Some(matcher), events(host)[0]);
        for matcher in ["", "*", "Edit", "Write|Edit", "Write,Edit", "Write, Edit", "^(Edit|Write)$", ".*"] {
            assert_eq!(check(Host::ClaudeCode, matcher), MatcherCheck::Fits, "{matcher}");
        }
        for matcher in ["Read", "Edi", "Write|MultiEdit", "Write, MultiEdit", "^Write"] {
            let check = check(Host::ClaudeCode, matcher);
            assert!(matches!(check, MatcherCheck::LeavesOut { .. }), "{matcher}");
        }
        assert_eq!(check(Host::Gemini, "repl"), MatcherCheck::Fits, "anywhere in the name");
        let of_javascript = "^(?!Read).*";
        assert_eq!(check(Host::ClaudeCode, of_javascript), MatcherCheck::Unknown(of_javascript.to_owned()));
        assert_eq!(check(Host::Cursor, "Write|StrReplace"), MatcherCheck::Fits);
        assert_eq!(check(Host::Cursor, "Write"), MatcherCheck::Fits);
        assert_eq!(check(Host::Codex, "Edit|Write"), MatcherCheck::Fits);
        assert!(matches!(check(Host::Cursor, "Shell"), MatcherCheck::LeavesOut { .. }));
        assert_eq!(check(Host::Windsurf, "Read"), MatcherCheck::Fits, "a host whose matchers are not known");
    }

    #[test]
    fn a_hook_that_is_off_or_has_a_condition_does_not_work() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(".claude/settings.json");
        fs::create_dir(file.parent().unwrap()).unwrap();
        let examined = |hook: Value, more: (&str, Value)| {
            let mut config = json!({"hooks": {"PreToolUse": [{"matcher": "Edit", "hooks": [hook]}]}});
            config[more.0] = more.1;
            fs::write(&file, config.to_string()).unwrap();
            let hooks = configured_hooks(folder.path(), Some(Host::ClaudeCode));
            let hook = hooks.iter().find(|hook| hook.file == file).unwrap();
            match examine(hook, [].iter()).unwrap() {
                HookCheck::Works(found) => panic!("it works: {found}"),
                HookCheck::Fails(reason) | HookCheck::Untried(reason) => reason,
            }
        };
        let hook = |key: &str, value: Value| json!({"command": "lockgate hook", key: value});
        let none = || ("model", json!("x"));
        for (reason, expected) in [
            (examined(hook("async", json!(true)), none()), "`async`: the client does not wait"),
            (examined(hook("if", json!("Edit(*.ts)")), none()), "`if`: the client starts it for some edits"),
            (
                examined(hook("timeout", json!(9)), ("hooksConfig", json!({"enabled": false}))),
                "`hooksConfig.enabled` in this file",
            ),
            (
                examined(hook("timeout", json!(9)), ("disableAllHooks", json!(true))),
                "`disableAllHooks` in this file",
            ),
        ] {
            assert!(reason.contains(expected), "{reason}");
        }
    }

    #[test]
    fn of_several_files_of_claude_code_the_first_says_whether_its_hooks_run() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join(".claude")).unwrap();
        let [local, project] =
            ["settings.local.json", "settings.json"].map(|name| folder.path().join(".claude").join(name));
        let switch = |local_switch: Value, project_switch: Value| {
            let config = json!({
                "hooks": {"PreToolUse": [{"matcher": "Edit", "hooks": [{"command": "lockgate hook"}]}]},
                "disableAllHooks": project_switch,
            });
            fs::write(&local, json!({ "disableAllHooks": local_switch }).to_string()).unwrap();
            fs::write(&project, config.to_string()).unwrap();
            let hooks = configured_hooks(folder.path(), Some(Host::ClaudeCode));
            let hook = hooks.into_iter().find(|hook| hook.file == project).unwrap();
            hook.entry.switched_off_by.is_some().then(|| match examine(&hook, [].iter()).unwrap() {
                HookCheck::Fails(reason) => reason,
                HookCheck::Works(reason) | HookCheck::Untried(reason) => panic!("{reason}"),
            })
        };
        let off = |file: &str| Some(format!("`disableAllHooks` in {file} switches its hooks off"));
        let in_local = off(&local.display().to_string());
        assert_eq!(switch(json!(true), Value::Null), in_local);
        assert_eq!(switch(json!(true), json!(false)), in_local);
        assert_eq!(switch(Value::Null, json!(true)), off("this file"));
        assert_eq!(switch(json!(false), json!(true)), None);
        assert_eq!(switch(Value::Null, json!(false)), None);
    }

    /// What a host does with the recorded answers, and with other ends of a hook.
    #[test]
    fn a_host_reads_its_own_answers() {
        for host in Host::ALL {
            let [bad, good] = events(host).map(|text| {
                let recording: Value = serde_json::from_str(text).unwrap();
                let exit = recording["exit"].as_i64().and_then(|exit| i32::try_from(exit).ok());
                action(host, exit, Some(&recording["answer"]).filter(|answer| !answer.is_null()))
            });
            let expected = if host == Host::Cline { HostAction::Warns } else { HostAction::Denies };
            assert_eq!((bad, good), (expected, HostAction::Passes), "{host:?}");
            let silent = HookReply::default();
            assert_eq!(action(host, Some(silent.exit.into()), None), HostAction::Passes, "{host:?}");
            let crashed = if host == Host::Copilot { HostAction::Denies } else { HostAction::Passes };
            assert_eq!(action(host, Some(101), None), crashed, "{host:?}");
            assert_eq!(action(host, None, None), HostAction::Passes, "{host:?}");
            // The answer of another host denies nothing.
            assert_eq!(action(host, Some(0), Some(&json!({"verdict": "deny"}))), HostAction::Passes);
        }
    }
}
