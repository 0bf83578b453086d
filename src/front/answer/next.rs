//! The call that a rejection proposes, in a form that the caller can send.

use rmcp::model::JsonObject;
use serde_json::{Value, json};

use super::ResponseOptions;
use super::entity::EntityKeyParts;
use crate::error::NextCall;

/// The calls that a rejection may propose.
#[derive(Debug, Clone, Default)]
pub struct Offers {
    /// The current call, if it can be repeated with other texts.
    pub again: Option<ToolCall>,
    /// Name of the tool that reads lines, if it is offered.
    pub reader: Option<&'static str>,
}

/// A tool name with its arguments.
#[derive(Debug, Clone)]
pub struct ToolCall {
    /// Name of the tool on the wire.
    pub tool: &'static str,
    /// The arguments as the client sent them.
    pub arguments: JsonObject,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum ProposedCall {
    /// A tool call as JSON, with its tool and arguments.
    Call(Value),
    /// A sentence, if no tool for the step is offered.
    Words(String),
}

impl ProposedCall {
    /// Converts the next step of a rejection into a call of the offered tools.
    pub(super) fn from_next(next: &NextCall, shape: &ResponseOptions) -> Option<ProposedCall> {
        let Offers { again, reader } = &shape.offers;
        match next {
            NextCall::Edit { search, replace } => again.as_ref().map(|ToolCall { tool, arguments }| {
                let mut arguments = arguments.clone();
                arguments.insert(shape.voice.names.search.to_owned(), search.as_str().into());
                arguments.insert(shape.voice.names.replace.to_owned(), replace.as_str().into());
                ProposedCall::Call(json!({ "tool": tool, "arguments": arguments }))
            }),
            NextCall::Read { start_line, end_line } => Some(match (reader, &shape.path) {
                (Some(tool), Some(path)) => {
                    let mut arguments = JsonObject::new();
                    arguments.insert("path".to_owned(), path.as_str().into());
                    EntityKeyParts::new(shape.entity.as_ref()).put(&mut arguments);
                    arguments.insert("start_line".to_owned(), (*start_line).into());
                    arguments.insert("end_line".to_owned(), (*end_line).into());
                    ProposedCall::Call(json!({ "tool": tool, "arguments": arguments }))
                }
                (_, _) => ProposedCall::Words(format!("read lines {start_line} to {end_line}")),
            }),
        }
    }
}
