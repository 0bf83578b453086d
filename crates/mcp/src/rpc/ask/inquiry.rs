//! A question about a call, and the methods of asking it.

use std::time::Duration;

use rmcp::model::{
    CancelledNotificationParam, ClientResult, InputRequest, InputRequests, InputRequiredResult,
    InputResponses, ProtocolVersion, ServerRequest,
};
use rmcp::service::{Peer, PeerRequestOptions, RequestContext, RoleServer, ServiceError};
use serde::de::DeserializeOwned;
use tokio_util::sync::CancellationToken;

use super::seal::{CallBinding, Seal, Topic};
use lockgate_checks::sanitize;
use lockgate_error::Error;

/// The client's answers to earlier questions about a call.
#[derive(Debug, Default)]
pub(in crate::rpc) struct ReturnedInput {
    pub(in crate::rpc) responses: Option<InputResponses>,
    pub(in crate::rpc) state: Option<String>,
}

impl ReturnedInput {
    /// Returns the answer to a question, if there is one of its kind.
    pub(super) fn answer<T: DeserializeOwned>(&self, key: &str) -> Option<T> {
        let response = self.responses.as_ref()?.get(key)?;
        serde_json::from_value(response.clone()).ok()
    }
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

/// The reason why there is no answer.
pub(in crate::rpc) enum NoAnswer {
    /// The call is answered with this, and the client repeats it.
    InputRequired(Box<InputRequiredResult>),
    /// The call fails.
    Failed(Error),
}

impl From<Error> for NoAnswer {
    fn from(error: Error) -> NoAnswer {
        NoAnswer::Failed(error)
    }
}

/// A call with the methods of asking about it.
pub(in crate::rpc) struct Inquiry {
    pub(super) call: CallBinding,
    pub(super) person: AskMethod,
    pub(super) model: AskMethod,
    pub(super) seal: Seal,
    /// Timeout of the client's model.
    pub(super) model_timeout: Duration,
    pub(super) cancelled: CancellationToken,
    pub(super) stopped: CancellationToken,
    pub(super) input_ended: CancellationToken,
}

impl AskMethod {
    /// Selects the method by protocol version, for a client that supports the question.
    pub(super) fn from_context(context: &RequestContext<RoleServer>) -> AskMethod {
        match context.protocol_version() {
            Some(version) if version >= ProtocolVersion::V_2026_07_28 => AskMethod::RepeatCall,
            Some(_) | None => AskMethod::Request(Box::new(context.peer.clone())),
        }
    }
}

impl Inquiry {
    /// Asks the client for input and a repeated call; `fail` makes the error from a reason why that is not possible.
    pub(super) fn input_required(
        &self,
        key: &str,
        request: InputRequest,
        topic: &Topic,
        timeout: Duration,
        fail: impl FnOnce(&str) -> Error,
    ) -> NoAnswer {
        let Some(state) = self.seal.seal(topic, &self.call, timeout) else {
            return NoAnswer::Failed(fail("the server cannot seal the request state"));
        };
        let requests: InputRequests = [(key.to_owned(), request)].into();
        NoAnswer::InputRequired(Box::new(InputRequiredResult::new(Some(requests), Some(state))))
    }

    /// Sends a request to the client and returns its answer, or the reason why there is none.
    pub(super) async fn send(
        &self,
        peer: &Peer<RoleServer>,
        request: ServerRequest,
        timeout: Duration,
    ) -> Result<ClientResult, String> {
        let options = PeerRequestOptions::with_timeout(timeout);
        let sent = peer.send_request_with_option(request, options).await.map_err(|error| describe(&error))?;
        let id = sent.id.clone();
        tokio::select! {
            // An answer that came before the end counts.
            biased;
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
            // A server that stops reads no more, so the input ends as well.
            biased;
            () = self.cancelled.cancelled() => "the call was cancelled",
            () = self.stopped.cancelled() => "the server was stopped",
            () = self.input_ended.cancelled() => "the client has disconnected",
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
