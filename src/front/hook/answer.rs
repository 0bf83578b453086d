//! The answers to events, in the format of each host.
//!
//! Invariant: an answer never allows what a person has not allowed, and a text in it has at most
//! [`MAX_TEXT`] bytes. Codex reads a rewrite only together with `allow`; its own approval comes afterwards.

use serde_json::{Map, Value, json};

use super::edit::{HostEdit, PatchForm};
use super::event::{Event, Moment};
use super::host::Host;

/// The most bytes of a text for the model.
pub const MAX_TEXT: usize = 4000;

/// What an event is answered with.
#[derive(Debug, Clone, PartialEq)]
pub enum Decision {
    /// Nothing is to be said.
    Pass,
    /// The edit is bad, and must not be made.
    Deny(String),
    /// The edit must not be made, whatever its text: a person forbids it.
    Forbid(String),
    /// The edit is to be made with other arguments.
    Rewrite {
        /// The arguments, complete.
        input: Value,
        /// What the model is told.
        context: String,
    },
    /// The model is told this.
    Note(String),
    /// The edit was made, and the model must act on it.
    Blame(String),
}

/// What the command prints, and its exit code.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reply {
    /// One line of JSON on standard output.
    pub output: Option<Value>,
    /// The text on standard error.
    pub error: Option<String>,
    /// The exit code.
    pub exit: u8,
}

impl Reply {
    /// A reply that lets the edit pass, with one line on standard error.
    pub fn passing(reason: &str) -> Reply {
        Reply { error: Some(one_line(reason)), ..Reply::default() }
    }

    fn json(output: Value) -> Reply {
        Reply { output: Some(output), ..Reply::default() }
    }

    fn error(text: String, exit: u8) -> Reply {
        Reply { error: Some(text), exit, ..Reply::default() }
    }
}

/// Whether a bad edit in Cline is cancelled, which ends the task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClineDenial {
    /// The model is told, and the edit is made.
    Warns,
    /// The call is cancelled.
    Cancels,
}

/// Renders the answer to an event.
pub fn render(event: &Event, decision: Decision, cline: ClineDenial) -> Reply {
    let decision = match decision {
        Decision::Pass => return Reply::default(),
        Decision::Forbid(text) if event.host == Host::Cline => Decision::Forbid(cut(text)),
        Decision::Deny(text) | Decision::Forbid(text) => Decision::Deny(cut(text)),
        Decision::Note(text) => Decision::Note(cut(text)),
        Decision::Blame(text) => Decision::Blame(cut(text)),
        Decision::Rewrite { input, context } => Decision::Rewrite { input, context: cut(context) },
    };
    match (event.host, event.moment) {
        (Host::ClaudeCode | Host::VsCode | Host::Codex, _) => Reply::json(claude(event, decision)),
        (Host::Gemini, _) => Reply::json(gemini(event, decision)),
        (Host::OpenCode, _) => Reply::json(opencode(decision)),
        (Host::Copilot, Moment::AfterFailure) => Reply::error(text_of(decision), 2),
        (Host::Copilot, _) => Reply::json(copilot(event, decision)),
        (Host::Cursor, _) => Reply::json(cursor(decision)),
        (Host::Windsurf, Moment::Before) => match decision {
            Decision::Deny(text) => Reply::error(text, 2),
            other => Reply::error(text_of(other), 0),
        },
        (Host::Windsurf, _) => Reply::error(text_of(decision), 0),
        (Host::Cline, _) => Reply::json(answer_cline(decision, cline)),
        (Host::Antigravity, Moment::Before) => match decision {
            Decision::Deny(text) => Reply::json(json!({"decision": "deny", "reason": text})),
            other => Reply::error(text_of(other), 0),
        },
        (Host::Antigravity, _) => Reply::error(text_of(decision), 0),
    }
}

fn text_of(decision: Decision) -> String {
    match decision {
        Decision::Pass => String::new(),
        Decision::Deny(text) | Decision::Forbid(text) | Decision::Note(text) | Decision::Blame(text) => text,
        Decision::Rewrite { context, .. } => context,
    }
}

/// The form of Claude Code. Codex also wants `allow` beside other arguments.
fn claude(event: &Event, decision: Decision) -> Value {
    let mut specific = Map::new();
    specific.insert("hookEventName".to_owned(), event.name.as_str().into());
    let mut put = |name: &str, value: Value| {
        specific.insert(name.to_owned(), value);
    };
    match decision {
        Decision::Deny(text) if event.moment == Moment::Before => {
            put("permissionDecision", "deny".into());
            put("permissionDecisionReason", text.into());
        }
        Decision::Rewrite { input, context } => {
            if event.host == Host::Codex {
                put("permissionDecision", "allow".into());
            }
            put("updatedInput", input);
            put("additionalContext", context.into());
        }
        Decision::Deny(text) | Decision::Blame(text) if event.moment == Moment::After => {
            return json!({"decision": "block", "reason": text});
        }
        Decision::Deny(text) | Decision::Forbid(text) | Decision::Blame(text) | Decision::Note(text) => {
            put("additionalContext", text.into());
        }
        Decision::Pass => {}
    }
    json!({ "hookSpecificOutput": specific })
}

fn gemini(event: &Event, decision: Decision) -> Value {
    match decision {
        Decision::Deny(text) if event.moment == Moment::Before => json!({"decision": "deny", "reason": text}),
        Decision::Rewrite { input, context } => json!({"hookSpecificOutput": {
            "hookEventName": event.name, "tool_input": input, "additionalContext": context,
        }}),
        other => json!({"hookSpecificOutput": {
            "hookEventName": event.name, "additionalContext": text_of(other),
        }}),
    }
}

/// The form that the plugin in `packaging/opencode` understands.
fn opencode(decision: Decision) -> Value {
    match decision {
        Decision::Deny(text) => json!({ "deny": text }),
        Decision::Rewrite { input, context } => json!({"args": input, "context": context}),
        other => json!({ "context": text_of(other) }),
    }
}

/// Copilot's own form, or that of Claude Code if the event has its name.
fn copilot(event: &Event, decision: Decision) -> Value {
    if event.name.starts_with(char::is_uppercase) {
        return claude(event, decision);
    }
    match decision {
        Decision::Deny(text) if event.moment == Moment::Before => {
            json!({"permissionDecision": "deny", "permissionDecisionReason": text})
        }
        Decision::Rewrite { input, context } => json!({"modifiedArgs": input, "additionalContext": context}),
        other => json!({ "additionalContext": text_of(other) }),
    }
}

fn cursor(decision: Decision) -> Value {
    match decision {
        Decision::Deny(text) => json!({"permission": "deny", "user_message": text, "agent_message": text}),
        Decision::Rewrite { input, context } => {
            json!({"updated_input": input, "additional_context": context})
        }
        other => json!({ "additional_context": text_of(other) }),
    }
}

fn answer_cline(decision: Decision, cline: ClineDenial) -> Value {
    match (decision, cline) {
        (Decision::Forbid(text), _) | (Decision::Deny(text), ClineDenial::Cancels) => {
            json!({"cancel": true, "errorMessage": text})
        }
        (Decision::Rewrite { input, context }, _) => {
            json!({"cancel": false, "overrideInput": input, "contextModification": context})
        }
        (other, _) => json!({"cancel": false, "contextModification": text_of(other)}),
    }
}

/// Returns the arguments of a call with another patch, in the form that they had.
pub fn with_patch(input: &Value, edit: &HostEdit, patch: &str) -> Option<Value> {
    let HostEdit::Patch { form, folder, .. } = edit else { return None };
    let field = |name: &str, text: String| {
        let mut fields = input.as_object()?.clone();
        fields.insert(name.to_owned(), text.into());
        Some(Value::Object(fields))
    };
    match form {
        PatchForm::Text => input.is_string().then(|| patch.into()),
        PatchForm::Field(name) => field(name, patch.to_owned()),
        PatchForm::Command => {
            // The patch must not end the heredoc.
            let end = "LOCKGATE_PATCH";
            let quoted = folder.as_ref().map(|folder| format!("cd '{folder}' && ")).unwrap_or_default();
            let is_plain =
                !patch.lines().any(|line| line == end) && !quoted.trim_matches('\'').contains('\n');
            is_plain.then(|| field("command", format!("{quoted}apply_patch <<'{end}'\n{patch}\n{end}\n")))?
        }
    }
}

/// Cuts a text to [`MAX_TEXT`] bytes, at the end of a line if there is one near.
pub fn cut(text: String) -> String {
    const MORE: &str = "\n… (cut)";
    if text.len() <= MAX_TEXT {
        return text;
    }
    let kept = text.get(..text.floor_char_boundary(MAX_TEXT - MORE.len())).unwrap_or_default();
    let kept = kept.rfind('\n').filter(|at| *at > MAX_TEXT / 2).and_then(|at| kept.get(..at)).unwrap_or(kept);
    format!("{kept}{MORE}")
}

fn one_line(text: &str) -> String {
    let line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(500).collect();
    format!("lockgate hook: {line}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_at_a_line() {
        assert_eq!(cut("short".into()), "short");
        let long = cut("é".repeat(5000));
        assert!(long.len() <= MAX_TEXT && long.ends_with("(cut)"), "{}", long.len());
        let lines = cut("0123456789\n".repeat(500));
        assert!(lines.len() <= MAX_TEXT && lines.contains("9\n… (cut)"));
    }

    #[test]
    fn a_reason_on_standard_error_is_one_line() {
        let reply = Reply::passing("a\nb\u{1b}[31m");
        assert_eq!(reply.error.as_deref(), Some("lockgate hook: a b [31m"));
        assert_eq!((reply.output, reply.exit), (None, 0));
    }
}
