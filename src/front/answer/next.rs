//! The call that a rejection proposes, in a form that the caller can send.

use rmcp::model::JsonObject;
use serde_json::Value;

use super::ResponseOptions;
use super::entity::key;
use crate::error::NextCall;
use crate::protocol::{EntityKey, ProposedCall};

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

/// The next step of a rejection.
pub(super) enum NextStep {
    /// A call of an offered tool.
    Call(ProposedCall),
    /// A sentence, if no tool for the step is offered.
    Sentence(String),
}

impl NextStep {
    /// Converts the next step of a rejection into a call of the offered tools.
    pub(super) fn new(next: &NextCall, options: &ResponseOptions) -> Option<NextStep> {
        let call =
            |tool: &'static str, arguments| NextStep::Call(ProposedCall { tool: tool.into(), arguments });
        match next {
            NextCall::Edit { search, replace } => options.offers.current_call.as_ref().map(|current| {
                let mut arguments = current.arguments.clone();
                arguments.insert(options.profile.names.search.to_owned(), search.as_str().into());
                arguments.insert(options.profile.names.replace.to_owned(), replace.as_str().into());
                call(current.tool, arguments)
            }),
            NextCall::Read { start_line, end_line } => {
                let (Some(tool), Some(path)) = (options.offers.read_tool, &options.path) else {
                    return Some(NextStep::Sentence(format!("read lines {start_line} to {end_line}")));
                };
                let EntityKey { entity_type, app_id, organization_id } = key(options.entity.as_ref());
                let given = [
                    ("path", Some(path.as_str().into())),
                    ("entity_type", entity_type.map(Value::from)),
                    ("app_id", app_id.map(Value::from)),
                    ("organization_id", organization_id.map(Value::from)),
                    ("start_line", Some((*start_line).into())),
                    ("end_line", Some((*end_line).into())),
                ];
                let given = given.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
                Some(call(tool, given.collect()))
            }
        }
    }
}
