//! The events of hosts: one payload each, recognised by its keys and read leniently.
//!
//! Several hosts run the hooks of one configuration file, so the payload decides whose event it is.
//!
//! Invariant: of a payload only the tool, the edit, the session, the call and the folder are kept.

use std::path::PathBuf;

use serde_json::{Map, Value};

use super::edit::{HostEdit, QuotedReplacement, given, read_edit};
use super::host::Host;

/// An event of a host.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// The host that sent the event.
    pub host: Host,
    /// The moment of the event, relative to the call.
    pub moment: Moment,
    /// The name of the event, as the answer must repeat it.
    pub name: String,
    /// The session; empty if the host does not say it.
    pub session: String,
    /// The id of the call, the same before and after it, if the host gives one.
    pub call: Option<String>,
    /// What distinguishes this event from others of the session, if the host gives it.
    pub time: Option<String>,
    /// The folder of the session.
    pub folder: Option<PathBuf>,
    /// The tool calls; one, except in an event for a batch.
    pub calls: Vec<HostCall>,
    /// The reason why the first of a batch's other calls cannot be read, in one line.
    pub unread: Option<String>,
}

/// The moment of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// The event comes before the tool runs.
    Before,
    /// The event comes after the tool ran.
    After,
    /// After the tool failed, or after several calls, each of which may have failed.
    AfterFailure,
}

/// A call of a host's edit tool.
#[derive(Debug, Clone, PartialEq)]
pub struct HostCall {
    /// The name of the tool, in the host's spelling.
    pub tool: String,
    /// The arguments, as the host gave them.
    pub input: Value,
    /// The edit that the tool makes.
    pub edit: HostEdit,
    /// The error of the tool, if it failed.
    pub failure: Option<String>,
}

impl HostCall {
    /// Returns the arguments of the call with another quote, and with its lines where the call names lines; `None` if they
    /// have no single quote.
    pub(super) fn with_quote(&self, quote: &QuotedReplacement) -> Option<Map<String, Value>> {
        let HostEdit::Replace { fields: Some(fields), .. } = &self.edit else { return None };
        fields.with_quote(&self.input, quote)
    }
}

/// The content of a payload.
#[derive(Debug, Clone, PartialEq)]
pub enum Payload {
    /// An event with an edit.
    Event(Box<Event>),
    /// An event of a known host that is no edit.
    NoEdit(Host),
}

/// Reads a payload. `named` is the host that the command names, if any.
///
/// Errors: the reason why it, or its only call, cannot be read, in one line.
pub fn read(bytes: &[u8], named: Option<Host>) -> Result<Payload, String> {
    let value = parse(bytes)?;
    let Value::Object(payload) = &value else { return Err("the payload is not a JSON object".to_owned()) };
    let host = match named {
        Some(host) => host,
        None => recognise(payload).ok_or("the payload is of no host that is known")?,
    };
    let Some(envelope) = Envelope::read(host, payload) else { return Ok(Payload::NoEdit(host)) };
    let Envelope { moment, name, call, time, calls: raw_calls } = envelope;
    let (mut calls, mut unread) = (Vec::new(), None);
    for RawCall { tool, input, failure } in raw_calls {
        match read_edit(host, &tool, &input) {
            Ok(Some(edit)) => calls.push(HostCall { tool, input, edit, failure }),
            Ok(None) => {}
            // The other calls of a batch are read all the same.
            Err(reason) => unread = unread.or(Some(reason)),
        }
    }
    if calls.is_empty() {
        return unread.map_or(Ok(Payload::NoEdit(host)), Err);
    }
    let session = owned(payload, &SESSION);
    let first_root = || ROOTS.iter().find_map(|key| payload.get(*key)?.get(0)?.as_str());
    let folder = first_text(payload, &FOLDER).filter(|path| path.starts_with('/')).or_else(first_root);
    let folder = folder.map(PathBuf::from);
    Ok(Payload::Event(Box::new(Event { host, moment, name, session, call, time, folder, calls, unread })))
}

/// The most levels of arrays and objects that are read of a payload that is not strict JSON.
const MAX_DEPTH: usize = 100;

/// Parses JSON. Where the strict parser fails, some parts are read as [`repaired`] has them, because an edit in a payload
/// that is not read would pass.
fn parse(bytes: &[u8]) -> Result<Value, String> {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    serde_json::from_slice(bytes).or_else(|error| {
        serde_json::from_slice(&repaired(String::from_utf8_lossy(bytes).as_bytes()))
            .map_err(|_| format!("the payload is not JSON: {error}"))
    })
}

/// Returns a JSON text without what the strict parser rejects: control characters within strings are escaped, a
/// surrogate without its pair is U+FFFD, and a number out of range or a value below [`MAX_DEPTH`] levels is `null`.
fn repaired(mut bytes: &[u8]) -> Vec<u8> {
    let mut repaired = Vec::with_capacity(bytes.len() + bytes.len() / 16);
    let mut depth = 0_usize;
    while let Some(&first) = bytes.first() {
        let (token, rest) = bytes.split_at_checked(token_length(first, bytes)).unwrap_or_default();
        bytes = rest;
        let is_opening = matches!(first, b'[' | b'{');
        depth += usize::from(is_opening);
        match first {
            _ if is_opening && depth == MAX_DEPTH + 1 => repaired.extend_from_slice(b"null"),
            _ if depth > MAX_DEPTH => {}
            b'"' => push_string(&mut repaired, token),
            _ if is_out_of_range(token) => repaired.extend_from_slice(b"null"),
            _ => repaired.extend_from_slice(token),
        }
        depth = depth.saturating_sub(usize::from(matches!(first, b']' | b'}')));
    }
    repaired
}

/// Returns the length of the string or number at the start of a JSON text; 1 for anything else.
fn token_length(first: u8, text: &[u8]) -> usize {
    let in_number = |byte: &&u8| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
    match first {
        b'"' => {
            let mut is_escaped = false;
            let end = text.iter().skip(1).position(|&byte| {
                let is_end = byte == b'"' && !is_escaped;
                is_escaped = byte == b'\\' && !is_escaped;
                is_end
            });
            end.map_or(text.len(), |end| end + 2)
        }
        b'-' | b'0'..=b'9' => text.iter().take_while(in_number).count(),
        _ => 1,
    }
}

fn is_out_of_range(number: &[u8]) -> bool {
    let number = std::str::from_utf8(number).ok().and_then(|number| number.parse::<f64>().ok());
    number.is_some_and(f64::is_infinite)
}

/// Adds a string of a JSON text, with escapes for its control characters and U+FFFD for each surrogate without its pair,
/// as hosts write it to a file.
fn push_string(repaired: &mut Vec<u8>, mut text: &[u8]) {
    while let Some(&byte) = text.first() {
        let unit = code_unit(text);
        let length = match (unit, text.get(6..).and_then(code_unit)) {
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => 12,
            (Some(_), _) => 6,
            (None, _) if byte == b'\\' && text.get(1).is_some_and(|next| *next >= 0x20) => 2,
            (None, _) => 1,
        };
        let (part, rest) = text.split_at_checked(length).unwrap_or_default();
        match (unit, length) {
            (Some(0xD800..=0xDFFF), 6) => repaired.extend_from_slice(b"\\ufffd"),
            _ if byte < 0x20 => repaired.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
            _ => repaired.extend_from_slice(part),
        }
        text = rest;
    }
}

/// Returns the UTF-16 code unit of the escape at the start of a text, as in `\ud83d`.
fn code_unit(text: &[u8]) -> Option<u16> {
    let digits = text.strip_prefix(b"\\u")?.get(..4)?;
    u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

/// The events of Gemini CLI, whose names no other host has.
const GEMINI_EVENTS: [&str; 7] = [
    "BeforeTool",
    "AfterTool",
    "BeforeAgent",
    "AfterAgent",
    "BeforeModel",
    "AfterModel",
    "BeforeToolSelection",
];

/// Tells the host by the keys of its payload. The order matters, because some hosts use the keys of others as well.
fn recognise(payload: &Map<String, Value>) -> Option<Host> {
    let has = |key: &str| payload.contains_key(key);
    let event = text(payload, "hook_event_name");
    let has_copilot_input = || {
        payload.get("tool_input").is_some_and(|input| {
            let has = |key: &str| input.get(key).is_some();
            input.is_string() || (has("path") && (has("old_str") || has("file_text")))
        })
    };
    match event {
        _ if has("cursor_version") => Some(Host::Cursor),
        _ if has("agent_action_name") => Some(Host::Windsurf),
        _ if has("hookName") => Some(Host::Cline),
        _ if has("toolCall") => Some(Host::Antigravity),
        Some(event) if event.starts_with("tool.execute.") => Some(Host::OpenCode),
        _ if has("toolArgs") || has("toolName") || has_copilot_input() => Some(Host::Copilot),
        _ if has("turn_id") => Some(Host::Codex),
        Some(event) if GEMINI_EVENTS.contains(&event) => Some(Host::Gemini),
        _ if has("hookEventName") => Some(Host::VsCode),
        Some(_) => Some(Host::ClaudeCode),
        None => None,
    }
}

/// The parts of a payload around the edit.
struct Envelope {
    moment: Moment,
    name: String,
    call: Option<String>,
    time: Option<String>,
    calls: Vec<RawCall>,
}

/// The keys of the session's id, of its folder, and of the list of its roots, in the spellings of all hosts.
const SESSION: [&str; 7] =
    ["conversation_id", "session_id", "sessionId", "sessionID", "trajectory_id", "taskId", "conversationId"];
const FOLDER: [&str; 2] = ["directory", "cwd"];
const ROOTS: [&str; 3] = ["workspace_roots", "workspaceRoots", "workspacePaths"];

struct RawCall {
    tool: String,
    input: Value,
    failure: Option<String>,
}

impl Envelope {
    /// The envelope of a single call.
    fn new(moment: Moment, name: &str, call_id: Option<String>, call: RawCall) -> Envelope {
        Envelope { moment, name: name.to_owned(), call: call_id, time: None, calls: vec![call] }
    }

    /// Reads the envelope of a host; `None` for an event without a tool call.
    fn read(host: Host, payload: &Map<String, Value>) -> Option<Envelope> {
        match host {
            Host::ClaudeCode | Host::Codex | Host::Gemini | Host::VsCode => Envelope::common(payload),
            Host::Copilot => Envelope::common(payload).or_else(|| Envelope::copilot(payload)),
            Host::OpenCode => Envelope::opencode(payload),
            Host::Cursor => Envelope::cursor(payload),
            Host::Windsurf => Envelope::windsurf(payload),
            Host::Cline => Envelope::cline(payload),
            Host::Antigravity => Envelope::antigravity(payload),
        }
    }

    /// The form of Claude Code, which several hosts share.
    fn common(payload: &Map<String, Value>) -> Option<Envelope> {
        let name = first_text(payload, &["hook_event_name", "hookEventName"])?;
        let moment = match name {
            "PreToolUse" | "BeforeTool" => Moment::Before,
            "PostToolUse" | "AfterTool" => Moment::After,
            "PostToolBatch" | "PostToolUseFailure" => Moment::AfterFailure,
            _ => return None,
        };
        let calls = match payload.get("tool_calls").and_then(Value::as_array) {
            Some(calls) => calls.iter().filter_map(Value::as_object).filter_map(raw_call).collect(),
            None => vec![raw_call(payload)?],
        };
        Some(Envelope {
            moment,
            name: name.to_owned(),
            call: call_id(payload, &["tool_use_id"]),
            time: call_id(payload, &["timestamp"]),
            calls,
        })
    }

    /// Copilot's own form. It gives no event name; what happened after the call says which it is.
    fn copilot(payload: &Map<String, Value>) -> Option<Envelope> {
        let tool = text(payload, "toolName")?.to_owned();
        let args = payload.get("toolArgs").cloned().unwrap_or_default();
        // The arguments may be JSON text.
        let input = match &args {
            Value::String(inner) => {
                parse(inner.as_bytes()).ok().filter(Value::is_object).unwrap_or_else(|| args.clone())
            }
            _ => args,
        };
        let failure = error_text(payload.get("error"));
        let is_after = payload.contains_key("toolResult") || payload.contains_key("error");
        let (moment, name) = if failure.is_some() {
            (Moment::AfterFailure, "postToolUseFailure")
        } else if is_after {
            (Moment::After, "postToolUse")
        } else {
            (Moment::Before, "preToolUse")
        };
        let time = call_id(payload, &["timestamp"]);
        let id = call_id(payload, &["toolCallId"]);
        Some(Envelope { time, ..Envelope::new(moment, name, id, RawCall { tool, input, failure }) })
    }

    fn opencode(payload: &Map<String, Value>) -> Option<Envelope> {
        let name = text(payload, "hook_event_name")?;
        let moment = match name {
            "tool.execute.before" => Moment::Before,
            "tool.execute.after" => Moment::After,
            _ => return None,
        };
        let tool = text(payload, "tool")?.to_owned();
        let input = payload.get("args").cloned().unwrap_or_default();
        let id = call_id(payload, &["callID"]);
        Some(Envelope::new(moment, name, id, RawCall { tool, input, failure: None }))
    }

    fn cursor(payload: &Map<String, Value>) -> Option<Envelope> {
        let name = first_text(payload, &["hook_event_name", "hookEventName"]).unwrap_or("preToolUse");
        let moment = match name {
            "preToolUse" | "PreToolUse" => Moment::Before,
            "postToolUse" | "PostToolUse" | "afterFileEdit" => Moment::After,
            "postToolUseFailure" => Moment::AfterFailure,
            _ => return None,
        };
        let call = match (given(payload.get("tool_input")), given(payload.get("file_path"))) {
            (Some(input), _) => {
                let failure = error_text(payload.get("error_message"));
                RawCall { tool: owned(payload, &["tool_name"]), input: input.clone(), failure }
            }
            (None, Some(_)) => {
                RawCall { tool: name.to_owned(), input: Value::Object(payload.clone()), failure: None }
            }
            (None, None) => return None,
        };
        Some(Envelope::new(moment, name, call_id(payload, &["tool_use_id"]), call))
    }

    fn windsurf(payload: &Map<String, Value>) -> Option<Envelope> {
        let name = text(payload, "agent_action_name")?;
        let moment = match name {
            "pre_write_code" => Moment::Before,
            "post_write_code" => Moment::After,
            _ => return None,
        };
        let input = payload.get("tool_info")?.clone();
        // Without a time: an execution may have several calls, and a repeated one must be judged again.
        let call = RawCall { tool: "write_code".to_owned(), input, failure: None };
        Some(Envelope::new(moment, name, None, call))
    }

    fn cline(payload: &Map<String, Value>) -> Option<Envelope> {
        let name = text(payload, "hookName")?;
        let moment = match name {
            "tool_call" | "PreToolUse" => Moment::Before,
            "tool_result" | "PostToolUse" => Moment::After,
            _ => return None,
        };
        let object = |keys: [&str; 2]| keys.iter().find_map(|key| payload.get(*key)?.as_object());
        let call = object(["tool_call", "tool_result"]);
        let details = object(["preToolUse", "postToolUse"]);
        let tool = call
            .and_then(|call| text(call, "name"))
            .or_else(|| details.and_then(|details| first_text(details, &["toolName", "tool"])))?;
        let input = call.and_then(|call| given(call.get("input"))).or_else(|| details?.get("parameters"))?;
        let is_failure = details.and_then(|details| details.get("success")) == Some(&Value::Bool(false));
        let failure =
            is_failure.then(|| details.and_then(|it| it.get("result")).map(words).unwrap_or_default());
        let name = if moment == Moment::Before { "PreToolUse" } else { "PostToolUse" };
        let id = call.and_then(|call| call_id(call, &["id"]));
        Some(Envelope::new(
            moment,
            name,
            id,
            RawCall { tool: tool.to_owned(), input: input.clone(), failure },
        ))
    }

    fn antigravity(payload: &Map<String, Value>) -> Option<Envelope> {
        let call = payload.get("toolCall")?.as_object()?;
        let is_after = ["toolResult", "result", "error"].iter().any(|key| payload.contains_key(*key));
        let moment = if is_after { Moment::After } else { Moment::Before };
        let raw_call = RawCall {
            tool: text(call, "name")?.to_owned(),
            input: call.get("args").cloned().unwrap_or_default(),
            failure: error_text(payload.get("error")),
        };
        let time = call_id(payload, &["stepIdx", "stepId", "timestamp"]);
        Some(Envelope { time, ..Envelope::new(moment, "", call_id(call, &["id"]), raw_call) })
    }
}

/// Reads the call in the form of Claude Code.
fn raw_call(payload: &Map<String, Value>) -> Option<RawCall> {
    let tool = text(payload, "tool_name")?.to_owned();
    let input = payload.get("tool_input").cloned().unwrap_or_default();
    Some(RawCall { tool, input, failure: payload.get("tool_response").and_then(failure_of) })
}

/// Returns the error in a tool's response, in the forms of Claude Code and Gemini CLI.
fn failure_of(response: &Value) -> Option<String> {
    if let Some(text) = response.as_str() {
        return text.contains("<tool_use_error>").then(|| text.to_owned());
    }
    error_text(response.get("error"))
}

/// Returns an error as text; `None` if it is missing or empty, because some hosts send an empty one after a success.
fn error_text(error: Option<&Value>) -> Option<String> {
    let is_empty = match error? {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Bool(is_error) => !is_error,
        Value::Number(_) => false,
    };
    error.filter(|_| !is_empty).map(words)
}

/// Returns a value as text: a string as it is, everything else as JSON.
fn words(value: &Value) -> String {
    let message = value.get("message").and_then(Value::as_str).or_else(|| value.as_str());
    message.map_or_else(|| value.to_string(), str::to_owned)
}

fn text<'a>(payload: &'a Map<String, Value>, key: &str) -> Option<&'a str> {
    payload.get(key).and_then(Value::as_str)
}

fn first_text<'a>(payload: &'a Map<String, Value>, keys: &[&str]) -> Option<&'a str> {
    keys.iter().find_map(|key| text(payload, key))
}

fn owned(payload: &Map<String, Value>, keys: &[&str]) -> String {
    first_text(payload, keys).unwrap_or_default().to_owned()
}

/// Returns the first of these keys that has a text or a number, with its name.
fn call_id(payload: &Map<String, Value>, keys: &[&str]) -> Option<String> {
    keys.iter().find_map(|key| match payload.get(*key)? {
        Value::String(id) if !id.is_empty() => Some(format!("{key} {id}")),
        Value::Number(id) => Some(format!("{key} {id}")),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn event(payload: &Value) -> Event {
        match read(payload.to_string().as_bytes(), None).unwrap() {
            Payload::Event(event) => *event,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn raw_control_characters_are_read() {
        let raw = "{\"agent_action_name\":\"pre_write_code\",\"tool_info\":{\"file_path\":\"/a\",\"edits\":[{\"old_string\":\"a\tb\\\\\",\"new_string\":\"c\nd\"}]}}";
        let Payload::Event(event) = read(raw.as_bytes(), None).unwrap() else { panic!() };
        let HostEdit::Replace { quotes, .. } = &event.calls[0].edit else { panic!("{event:?}") };
        assert_eq!((quotes[0].old.as_str(), quotes[0].new.as_str()), ("a\tb\\", "c\nd"));
        assert!(read(&raw.as_bytes()[..40], None).unwrap_err().contains("not JSON"));
    }

    #[test]
    fn what_the_strict_parser_rejects_does_not_hide_an_edit() {
        let deep = format!("{}{{\"a\": \"]\"}}{}", "[".repeat(500), "]".repeat(500));
        let long = "9".repeat(400);
        for (content, extra, expected) in [
            (r"a\ud800", "1", "a\u{fffd}"),
            (r"\udc00\ud83d\ud83d\ude00\uD83D", "1", "\u{fffd}\u{fffd}\u{1f600}\u{fffd}"),
            (r#"\ud83d\n\\ud800\""#, "1", "\u{fffd}\n\\ud800\""),
            ("a", "[1e999, -1e999, 2]", "a"),
            ("a", long.as_str(), "a"),
            (r"[[1e999\ud800", deep.as_str(), "[[1e999\u{fffd}"),
        ] {
            let raw = format!(
                r#"{{"hook_event_name":"PreToolUse","extra":{extra},"tool_name":"Write","tool_input":{{"file_path":"/a","content":"{content}"}}}}"#
            );
            let Payload::Event(event) = read(raw.as_bytes(), None).unwrap() else { panic!("{raw}") };
            let edit = HostEdit::Write { path: "/a".to_owned(), content: expected.to_owned() };
            assert_eq!(event.calls[0].edit, edit, "{raw}");
        }
        let inner = r#"{"path":"/a","file_text":"\ud800"}"#;
        let call = event(&json!({"toolName": "create", "toolArgs": inner, "sessionId": "s"}));
        let edit = HostEdit::Write { path: "/a".to_owned(), content: "\u{fffd}".to_owned() };
        assert_eq!(call.calls[0].edit, edit);
    }

    #[test]
    fn the_event_after_a_call_is_told_by_what_it_has() {
        let call = json!({"toolName": "edit", "toolArgs": {"path": "/a", "old_str": "x", "new_str": "y"}, "sessionId": "s"});
        assert_eq!((event(&call).host, event(&call).moment), (Host::Copilot, Moment::Before));
        let mut after = call.clone();
        after["toolResult"] = json!({});
        assert_eq!(event(&after).moment, Moment::After);
        let mut failed = call;
        failed["error"] = json!({"message": "no match"});
        assert_eq!(event(&failed).moment, Moment::AfterFailure);
        assert_eq!(event(&failed).calls[0].failure.as_deref(), Some("no match"));
    }

    #[test]
    fn an_empty_error_is_no_failure() {
        let quote = json!({"file_path": "/a", "old_string": "x", "new_string": "y"});
        let antigravity = json!({"TargetFile": "/a", "TargetContent": "x", "ReplacementContent": "y"});
        let copilot = json!({"path": "/a", "old_str": "x", "new_str": "y"});
        let after = |error: Value| {
            [
                json!({"hook_event_name": "PostToolUse", "tool_name": "Edit", "tool_input": quote,
                       "tool_response": {"error": error}}),
                json!({"hook_event_name": "AfterTool", "tool_name": "replace", "tool_input": quote,
                       "tool_response": {"error": error}}),
                json!({"toolName": "edit", "toolArgs": copilot, "toolResult": {}, "error": error}),
                json!({"cursor_version": "1", "hook_event_name": "postToolUse", "tool_name": "StrReplace",
                       "tool_input": quote, "error_message": error}),
                json!({"toolCall": {"name": "replace_file_content", "args": antigravity}, "error": error}),
            ]
        };
        for empty in [json!(null), json!(""), json!({}), json!([]), json!(false)] {
            for payload in after(empty) {
                let event = event(&payload);
                assert_eq!((event.moment, &event.calls[0].failure), (Moment::After, &None), "{payload}");
            }
        }
        let without_result = json!({"toolName": "edit", "toolArgs": copilot, "error": ""});
        let event_without_result = event(&without_result);
        assert_eq!(
            (event_without_result.moment, &*event_without_result.name),
            (Moment::After, "postToolUse")
        );
        for error in [json!("no match"), json!({"message": "no match"})] {
            for payload in after(error) {
                assert_eq!(event(&payload).calls[0].failure.as_deref(), Some("no match"), "{payload}");
            }
        }
    }

    #[test]
    fn a_member_that_is_null_hides_no_other() {
        let input = json!({"path": "/a", "old_text": "x", "new_text": "y"});
        let call = json!({"id": "1", "name": "editor", "input": input});
        let details = json!({"toolName": "editor", "parameters": input, "success": true});
        let edits = json!([{"old_string": "x", "new_string": "y"}]);
        for payload in [
            json!({"hookName": "tool_result", "tool_call": null, "tool_result": call, "postToolUse": null}),
            json!({"hookName": "PostToolUse", "tool_call": null, "preToolUse": null, "postToolUse": details}),
            json!({"hookName": "PostToolUse", "tool_result": {"name": "editor", "input": null},
                   "preToolUse": null, "postToolUse": details}),
            json!({"cursor_version": "1", "hook_event_name": "afterFileEdit", "tool_input": null,
                   "file_path": "/a", "edits": edits}),
        ] {
            let event = event(&payload);
            let HostEdit::Replace { path, quotes, .. } = &event.calls[0].edit else { panic!("{payload}") };
            assert_eq!((event.moment, path.as_str(), quotes.len()), (Moment::After, "/a", 1), "{payload}");
        }
    }

    #[test]
    fn a_step_of_antigravity_distinguishes_its_events() {
        let args = json!({"TargetFile": "/a", "TargetContent": "x", "ReplacementContent": "y"});
        let before = json!({"toolCall": {"name": "replace_file_content", "args": args}, "stepIdx": 21});
        let mut after = before.clone();
        after["error"] = json!("");
        assert_eq!((event(&before).moment, event(&after).moment), (Moment::Before, Moment::After));
        assert_eq!(event(&before).time.as_deref(), Some("stepIdx 21"));
        assert_eq!(event(&after).time, event(&before).time);
        after["toolCall"] = Value::Null;
        let unnamed = read(after.to_string().as_bytes(), None);
        assert_eq!(unnamed, Ok(Payload::NoEdit(Host::Antigravity)));
    }

    #[test]
    fn a_call_that_cannot_be_read_hides_no_other_call_of_its_batch() {
        let call = |input: Value| json!({"tool_name": "Edit", "tool_use_id": "a", "tool_input": input, "tool_response": ""});
        let batch = |calls: &[Value]| json!({"hook_event_name": "PostToolBatch", "session_id": "s", "tool_calls": calls});
        let good = call(json!({"file_path": "/a", "old_string": "x", "new_string": "y"}));
        let bad = call(json!({"old_string": "x"}));
        let (mixed, only) =
            (event(&batch(&[bad.clone(), good.clone(), bad.clone()])), event(&batch(&[good])));
        assert_eq!((&mixed.calls, only.unread), (&only.calls, None));
        assert_eq!(mixed.unread, read(batch(&[bad]).to_string().as_bytes(), None).err());
        assert!(mixed.unread.is_some());
    }

    #[test]
    fn what_is_no_event_is_an_error_in_one_line() {
        for payload in [&b""[..], b"null", b"[]", b"{}", b"\xff", b"{\"a\":1}", b"{\"hook_event_name\":1}"] {
            let error = read(payload, None).unwrap_err();
            assert!(!error.contains('\n'), "{error}");
        }
        let other = read(br#"{"hook_event_name":"Stop","session_id":"s"}"#, None);
        assert_eq!(other, Ok(Payload::NoEdit(Host::ClaudeCode)));
    }
}
