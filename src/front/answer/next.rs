//! The call that a rejection proposes, in a form that the caller can send.

use rmcp::model::JsonObject;
use serde_json::{Value, json};

use super::ResponseOptions;
use super::entity::EntityKeyParts;
use crate::error::NextCall;

/// The calls that a rejection may propose.
#[derive(Debug, Clone, Default)]
pub struct CallOffers {
    /// The current call, if it can be repeated with other texts.
    pub current_call: Option<ToolCall>,
    /// Name of the tool that reads lines, if it is offered.
    pub read_tool: Option<&'static str>,
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
    Sentence(String),
}

impl ProposedCall {
    /// Converts the next step of a rejection into a call of the offered tools.
    pub(super) fn from_next(next: &NextCall, options: &ResponseOptions) -> Option<ProposedCall> {
        let CallOffers { current_call: again, read_tool: reader } = &options.offers;
        match next {
            NextCall::Edit { search, replace } => again.as_ref().map(|ToolCall { tool, arguments }| {
                let mut arguments = arguments.clone();
                arguments.insert(options.profile.names.search.to_owned(), search.as_str().into());
                arguments.insert(options.profile.names.replace.to_owned(), replace.as_str().into());
                ProposedCall::Call(json!({ "tool": tool, "arguments": arguments }))
            }),
            NextCall::Read { start_line, end_line } => Some(match (reader, &options.path) {
                (Some(tool), Some(path)) => {
                    let mut arguments = JsonObject::new();
                    arguments.insert("path".to_owned(), path.as_str().into());
                    EntityKeyParts::new(options.entity.as_ref()).add_to(&mut arguments);
                    arguments.insert("start_line".to_owned(), (*start_line).into());
                    arguments.insert("end_line".to_owned(), (*end_line).into());
                    ProposedCall::Call(json!({ "tool": tool, "arguments": arguments }))
                }
                (_, _) => ProposedCall::Sentence(format!("read lines {start_line} to {end_line}")),
            }),
        }
    }
}
