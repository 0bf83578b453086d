//! The call that a refusal proposes, as the caller can make it.

use rmcp::model::JsonObject;
use serde_json::{Value, json};

use super::ResponseOptions;
use super::entity::EntityKeyParts;
use crate::error::NextCall;

/// What a refusal may propose to call.
#[derive(Debug, Clone, Default)]
pub struct Offers {
    /// The call that is answered, where it can be made again with other texts.
    pub again: Option<ToolCall>,
    /// The tool that reads lines, where it is offered.
    pub reader: Option<&'static str>,
}

/// A call of a tool.
#[derive(Debug, Clone)]
pub struct ToolCall {
    /// The tool.
    pub tool: &'static str,
    /// Its arguments, as they came.
    pub arguments: JsonObject,
}

/// A proposal.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ProposedCall {
    /// A call, with its tool and arguments.
    Call(Value),
    /// What to do, where no tool for it is known.
    Words(String),
}

impl ProposedCall {
    /// What a refusal proposes, to a caller who has these tools.
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
