//! Asks a person for confirmation before a write, or the client's model for code, in the form of the client's
//! protocol version.
//!
//! Up to 2025-11-25, the server sends a request and waits with a timeout. From 2026-07-28 on, it sends no requests:
//! the call is answered with `InputRequiredResult`, and the client repeats the call with the answer and a sealed
//! state. The state is valid for the same call, once, and for a limited time.
//!
//! Invariant: an answer is valid only for the question that was asked.

mod code;
mod elicitation;
mod inquiry;
mod prompt;
mod sampling;
mod seal;

use rmcp::model::JsonObject;
use rmcp::service::{RequestContext, RoleServer};

use super::call_context::CallContext;
use code::ContentKind;
use inquiry::AskMethod;
pub(super) use inquiry::{Inquiry, NoAnswer, ReturnedInput};
use lockgate_error::{Code, Error};
pub(super) use prompt::Prompt;
pub(super) use seal::{CallBinding, ModelCode, Seal};
use seal::{SealError, Topic};

/// The verified answer that came with a call; empty for the first attempt.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct VerifiedInput {
    /// The write that a person confirmed.
    pub(super) confirmation_id: Option<String>,
    /// Code from the client's model.
    pub(super) model_code: Option<ModelCode>,
}

impl Inquiry {
    /// Creates the inquiry for a call.
    pub(super) fn new(
        tool: &str,
        arguments: &JsonObject,
        call_context: &CallContext,
        context: &RequestContext<RoleServer>,
    ) -> Inquiry {
        let (person, model) = (elicitation::method(context), sampling::method(context));
        let sealed = matches!((&person, &model), (AskMethod::RepeatCall, _) | (_, AskMethod::RepeatCall));
        Inquiry {
            call: if sealed { CallBinding::new(tool, arguments) } else { CallBinding::default() },
            person,
            model,
            seal: call_context.seal.clone(),
            model_timeout: call_context.options.model_timeout,
            cancelled: context.ct.clone(),
            stopped: call_context.stop.clone(),
            input_ended: call_context.input_ended.clone(),
        }
    }

    /// True if a person can be asked.
    pub(super) const fn reaches_a_person(&self) -> bool {
        !matches!(self.person, AskMethod::None)
    }

    /// Verifies the answer that came with the call; each state is accepted once.
    ///
    /// Errors: `lost` for a state of another call or an expired one; `NOT_CONFIRMED` when a person did not confirm;
    /// `CODE_BLOCK_REQUIRED` when the model gave no usable code.
    pub(super) fn resume(&self, returned: &ReturnedInput, lost: Code) -> Result<VerifiedInput, Error> {
        let Some(state) = &returned.state else { return Ok(VerifiedInput::default()) };
        let again =
            |message: &str| Error::new(lost, message).hint("send the call again without `requestState`");
        let topic = self.seal.open(state, &self.call).map_err(|error| {
            again(match error {
                SealError::Invalid => "the `requestState` was not given for this call",
                SealError::Expired => "the answer came too late: the `requestState` does not hold any more",
            })
        })?;
        let check_unused = || match self.seal.mark_answered(state) {
            true => Ok(()),
            false => Err(again("the question that this `requestState` belongs to was answered before")),
        };
        match topic {
            Topic::Write { about, written: model_code } => {
                let answer = elicitation::answer(returned)?;
                check_unused()?;
                elicitation::check_accepted(&answer)?;
                Ok(VerifiedInput { confirmation_id: Some(about), model_code })
            }
            Topic::Code { version, prose } => {
                let answer = sampling::answer(returned)?;
                check_unused()?;
                let kind = if prose { ContentKind::Prose } else { ContentKind::Code };
                let code = sampling::extract_code(answer, kind)?;
                Ok(VerifiedInput { confirmation_id: None, model_code: Some(ModelCode { code, version }) })
            }
        }
    }
}

#[cfg(test)]
mod tests;
