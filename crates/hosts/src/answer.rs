//! The answers to events, in the format of each host.
//!
//! Invariant: an answer never allows what a person has not allowed, and a text in it has at most
//! [`MAX_TEXT`] bytes. Codex reads a rewrite only together with `allow`; its own approval comes afterwards.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::edit::{HostEdit, PatchForm};
use super::event::{Event, Moment};
use super::host::Host;
use lockgate_policy::ClineAnswer;

/// The most bytes of a text for the model.
pub const MAX_TEXT: usize = 4000;

/// The answer to an event.
#[derive(Debug, Clone, PartialEq)]
pub enum HookDecision {
    /// The edit passes without a message.
    Pass,
    /// The edit is bad, and must not be made.
    Deny(String),
    /// The edit must not be made, whatever its text: a person forbids it.
    Forbid(String),
    /// The edit is to be made with other arguments.
    Rewrite {
        /// The complete arguments of the call.
        input: Value,
        /// The message for the model.
        context: String,
    },
    /// The edit passes, with a message for the model.
    Note(String),
    /// The edit was made, and the model must repair it as this message says.
    Blame(String),
}

/// The output and the exit code of the command.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct HookReply {
    /// One line of JSON on standard output.
    pub output: Option<Value>,
    /// The text on standard error.
    pub error: Option<String>,
    /// The exit code of the command.
    pub exit: u8,
}

impl HookReply {
    /// A reply that lets the edit pass, with one line on standard error.
    pub fn passing(reason: &str) -> HookReply {
        HookReply { error: Some(one_line(reason)), ..HookReply::default() }
    }

    fn json(output: Value) -> HookReply {
        HookReply { output: Some(output), ..HookReply::default() }
    }

    fn error(text: String, exit: u8) -> HookReply {
        HookReply { error: Some(text), exit, ..HookReply::default() }
    }
}

/// The answer of a guard.
#[derive(Debug, Clone, PartialEq)]
pub struct Guarded {
    /// The decision on the edit.
    pub decision: HookDecision,
    /// A line for standard error.
    pub problem: Option<String>,
    /// The treatment of a bad edit in Cline.
    pub cline: ClineAnswer,
}

/// Renders the answer of a guard, with its problem on standard error.
pub fn reply(event: &Event, guarded: Guarded) -> HookReply {
    let reply = render(event, guarded.decision, guarded.cline);
    let problem = guarded.problem.and_then(|problem| HookReply::passing(&problem).error);
    HookReply { error: reply.error.or(problem), ..reply }
}

/// Renders a decision in the format of the event's host.
fn render(event: &Event, decision: HookDecision, cline: ClineAnswer) -> HookReply {
    let decision = match decision {
        HookDecision::Pass => return HookReply::default(),
        HookDecision::Forbid(text) if event.host == Host::Cline => HookDecision::Forbid(cut(text)),
        HookDecision::Deny(text) | HookDecision::Forbid(text) => HookDecision::Deny(cut(text)),
        HookDecision::Note(text) => HookDecision::Note(cut(text)),
        HookDecision::Blame(text) => HookDecision::Blame(cut(text)),
        HookDecision::Rewrite { input, context } => HookDecision::Rewrite { input, context: cut(context) },
    };
    match (event.host, event.moment, decision) {
        (Host::ClaudeCode | Host::VsCode | Host::Codex, _, decision) => {
            HookReply::json(claude(event, decision))
        }
        (Host::Gemini, _, decision) => HookReply::json(gemini(event, decision)),
        (Host::OpenCode, _, decision) => HookReply::json(opencode(decision)),
        (Host::Copilot, Moment::AfterFailure, decision) => HookReply::error(text_of(decision), 2),
        (Host::Copilot, _, decision) => HookReply::json(copilot(event, decision)),
        (Host::Cursor, _, decision) => HookReply::json(cursor(decision)),
        (Host::Cline, _, decision) => HookReply::json(answer_cline(decision, cline)),
        (Host::Windsurf, Moment::Before, HookDecision::Deny(text)) => HookReply::error(text, 2),
        (Host::Antigravity, Moment::Before, HookDecision::Deny(text)) => {
            HookReply::json(json!({"decision": "deny", "reason": text}))
        }
        (Host::Windsurf | Host::Antigravity, _, decision) => HookReply::error(text_of(decision), 0),
    }
}

fn text_of(decision: HookDecision) -> String {
    match decision {
        HookDecision::Pass => String::new(),
        HookDecision::Deny(text)
        | HookDecision::Forbid(text)
        | HookDecision::Note(text)
        | HookDecision::Blame(text) => text,
        HookDecision::Rewrite { context, .. } => context,
    }
}

/// Renders the decision for Claude Code, VS Code and Codex. Codex also needs `allow` beside rewritten arguments.
fn claude(event: &Event, decision: HookDecision) -> Value {
    let name = &event.name;
    let specific = match decision {
        HookDecision::Deny(text) if event.moment == Moment::Before => {
            json!({"hookEventName": name, "permissionDecision": "deny", "permissionDecisionReason": text})
        }
        HookDecision::Rewrite { input, context } if event.host == Host::Codex => json!({
            "hookEventName": name, "permissionDecision": "allow", "updatedInput": input, "additionalContext": context,
        }),
        HookDecision::Rewrite { input, context } => {
            json!({"hookEventName": name, "updatedInput": input, "additionalContext": context})
        }
        HookDecision::Deny(text) | HookDecision::Blame(text) if event.moment == Moment::After => {
            return json!({"decision": "block", "reason": text});
        }
        HookDecision::Pass => json!({ "hookEventName": name }),
        other => json!({"hookEventName": name, "additionalContext": text_of(other)}),
    };
    json!({ "hookSpecificOutput": specific })
}

fn gemini(event: &Event, decision: HookDecision) -> Value {
    match decision {
        HookDecision::Deny(text) if event.moment == Moment::Before => {
            json!({"decision": "deny", "reason": text})
        }
        HookDecision::Rewrite { input, context } => json!({"hookSpecificOutput": {
            "hookEventName": event.name, "tool_input": input, "additionalContext": context,
        }}),
        other => json!({"hookSpecificOutput": {
            "hookEventName": event.name, "additionalContext": text_of(other),
        }}),
    }
}

/// The form that the plugin in `packaging/opencode` understands.
fn opencode(decision: HookDecision) -> Value {
    match decision {
        HookDecision::Deny(text) => json!({ "deny": text }),
        HookDecision::Rewrite { input, context } => json!({"args": input, "context": context}),
        other => json!({ "context": text_of(other) }),
    }
}

/// Copilot's own form, or that of Claude Code if the event has its name.
fn copilot(event: &Event, decision: HookDecision) -> Value {
    if event.name.starts_with(char::is_uppercase) {
        return claude(event, decision);
    }
    match decision {
        HookDecision::Deny(text) if event.moment == Moment::Before => {
            json!({"permissionDecision": "deny", "permissionDecisionReason": text})
        }
        HookDecision::Rewrite { input, context } => {
            json!({"modifiedArgs": input, "additionalContext": context})
        }
        other => json!({ "additionalContext": text_of(other) }),
    }
}

fn cursor(decision: HookDecision) -> Value {
    match decision {
        HookDecision::Deny(text) => {
            json!({"permission": "deny", "user_message": text, "agent_message": text})
        }
        HookDecision::Rewrite { input, context } => {
            json!({"updated_input": input, "additional_context": context})
        }
        other => json!({ "additional_context": text_of(other) }),
    }
}

fn answer_cline(decision: HookDecision, cline: ClineAnswer) -> Value {
    match (decision, cline) {
        (HookDecision::Forbid(text), _) | (HookDecision::Deny(text), ClineAnswer::Cancel) => {
            json!({"cancel": true, "errorMessage": text})
        }
        (HookDecision::Rewrite { input, context }, _) => {
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
        let reply = HookReply::passing("a\nb\u{1b}[31m");
        assert_eq!(reply.error.as_deref(), Some("lockgate hook: a b [31m"));
        assert_eq!((reply.output, reply.exit), (None, 0));
    }
}
