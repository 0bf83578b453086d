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
mod prompt;
mod sampling;
mod seal;

use std::time::Duration;

use rmcp::model::{
    CancelledNotificationParam, ClientResult, InputRequest, InputRequests, InputRequiredResult,
    InputResponses, JsonObject, ProtocolVersion, ServerRequest,
};
use rmcp::service::{Peer, PeerRequestOptions, RequestContext, RoleServer, ServiceError};
use tokio_util::sync::CancellationToken;

use super::call_context::CallContext;
use code::ContentKind;
use lockgate_checks::sanitize;
use lockgate_error::{Code, Error};
pub(super) use prompt::Prompt;
pub(super) use seal::{CallBinding, ModelCode, Seal};
use seal::{SealError, Topic};

/// The client's answers to earlier questions about a call.
#[derive(Debug, Default)]
pub(super) struct ReturnedInput {
    pub(super) responses: Option<InputResponses>,
    pub(super) state: Option<String>,
}

/// The method of asking through a client.
#[derive(Debug)]
pub(super) enum AskMethod {
    /// The client offers no method.
    None,
    /// A request of the server.
    Request(Box<Peer<RoleServer>>),
    /// An answer that asks the client to repeat the call.
    RepeatCall,
}

pub(super) enum AskOutcome<T> {
    Answered(T),
    /// The call is answered with this, and the client repeats it.
    InputRequired(Box<InputRequiredResult>),
    /// No answer; with the reason.
    Failed(Error),
}

/// The verified answer that came with a call.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum VerifiedInput {
    /// No answer: this is the first attempt.
    New,
    /// Code from the client's model.
    Code(ModelCode),
    /// A person's confirmation of the write with this name, and the code to write.
    Confirmed(String, Option<ModelCode>),
}

/// A call with the methods of asking about it.
pub(super) struct Inquiry {
    call: CallBinding,
    person: AskMethod,
    model: AskMethod,
    seal: Seal,
    /// Timeout of the client's model.
    model_timeout: Duration,
    cancelled: CancellationToken,
    stopped: CancellationToken,
}

impl AskMethod {
    /// Selects the method by protocol version, for a client that supports the question.
    fn from_context(context: &RequestContext<RoleServer>) -> AskMethod {
        match context.protocol_version() {
            Some(version) if version >= ProtocolVersion::V_2026_07_28 => AskMethod::RepeatCall,
            Some(_) | None => AskMethod::Request(Box::new(context.peer.clone())),
        }
    }

    /// True if a question can be asked.
    const fn can_ask(&self) -> bool {
        match self {
            AskMethod::None => false,
            AskMethod::Request(_) | AskMethod::RepeatCall => true,
        }
    }
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
        }
    }

    /// True if a person can be asked.
    pub(super) const fn reaches_a_person(&self) -> bool {
        self.person.can_ask()
    }

    /// Verifies the answer that came with the call; each state is accepted once.
    ///
    /// Errors: `lost` for a state of another call or an expired one; `NOT_CONFIRMED` when a person did not confirm;
    /// `CODE_BLOCK_REQUIRED` when the model gave no usable code.
    pub(super) fn resume(&self, returned: &ReturnedInput, lost: Code) -> Result<VerifiedInput, Error> {
        let Some(state) = &returned.state else { return Ok(VerifiedInput::New) };
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
                elicitation::check_accepted(&answer).map(|()| VerifiedInput::Confirmed(about, model_code))
            }
            Topic::Code { version, prose } => {
                let answer = sampling::answer(returned)?;
                check_unused()?;
                let kind = if prose { ContentKind::Prose } else { ContentKind::Code };
                sampling::extract_code(answer, kind)
                    .map(|code| VerifiedInput::Code(ModelCode { code, version }))
            }
        }
    }

    /// Returns the answer that asks the client for input and a repeated call.
    fn input_required(
        &self,
        name: &str,
        request: InputRequest,
        topic: &Topic,
        timeout: Duration,
    ) -> Option<InputRequiredResult> {
        let state = self.seal.seal(topic, &self.call, timeout)?;
        let requests: InputRequests = [(name.to_owned(), request)].into();
        Some(InputRequiredResult::new(Some(requests), Some(state)))
    }

    /// Sends a request to the client and returns its answer, or the reason why there is none.
    async fn send(
        &self,
        peer: &Peer<RoleServer>,
        request: ServerRequest,
        timeout: Duration,
    ) -> Result<ClientResult, String> {
        let options = PeerRequestOptions::with_timeout(timeout);
        let sent = peer.send_request_with_option(request, options).await.map_err(|error| describe(&error))?;
        let id = sent.id.clone();
        tokio::select! {
            answer = sent.await_response() => answer.map_err(|error| describe(&error)),
            why = self.wait_ended() => {
                let cancelled = CancelledNotificationParam::new(Some(id), Some(why.to_owned()));
                // A disconnected client needs no notification.
                drop(peer.notify_cancelled(cancelled).await);
                Err(why.to_owned())
            }
        }
    }

    /// Waits until the answer is no longer needed, and returns the reason.
    async fn wait_ended(&self) -> &'static str {
        tokio::select! {
            () = self.cancelled.cancelled() => "the call was cancelled",
            () = self.stopped.cancelled() => "the server was stopped",
        }
    }
}

/// Describes why a client gave no answer; the client's own message is sanitized.
fn describe(error: &ServiceError) -> String {
    match error {
        ServiceError::Timeout { timeout } => format!("there was no answer within {} s", timeout.as_secs()),
        ServiceError::McpError(rejection) => format!("the client refused: {}", sanitize(&rejection.message)),
        other => format!("the client did not ask: {}", sanitize(&other.to_string())),
    }
}

#[cfg(test)]
mod tests;
