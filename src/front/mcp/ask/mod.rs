//! How somebody behind a client is asked about a call: a person before a write, or the client's model for code; in the form
//! that the client's protocol has.
//!
//! Until 2025-11-25 a server sends a request of its own and waits, but not for ever. From 2026-07-28 on it sends nothing
//! by itself: the call is answered with `InputRequiredResult`, and the client sends the call again with the answer and the
//! state that it was given, which is sealed: it holds for the very call that it was given for, once, and for a time.
//!
//! Invariant: an answer counts for the question that was asked, and for nothing else.

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

use super::call::CallContext;
use crate::error::{Code, Error};
use crate::gate::clean;
pub(super) use prompt::Prompt;
pub(super) use seal::{Asking, ModelCode, Seal};
use seal::{Lost, Topic};

/// What a client sent with a call that it was asked about.
#[derive(Debug, Default)]
pub(super) struct Returned {
    pub(super) responses: Option<InputResponses>,
    pub(super) state: Option<String>,
}

/// How somebody behind a client can be asked.
#[derive(Debug)]
pub(super) enum AskMethod {
    /// Not at all.
    None,
    /// By a request of the server's own.
    Request(Box<Peer<RoleServer>>),
    /// By an answer that asks for the call to be sent again.
    Again,
}

/// What came of asking.
pub(super) enum AskOutcome<T> {
    /// There is an answer.
    Answered(T),
    /// The call is answered with this, and comes again.
    Later(Box<InputRequiredResult>),
    /// There is none; why.
    No(Error),
}

/// What came back with a call.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Resumed {
    /// Nothing: it comes for the first time.
    Fresh,
    /// The code that the client's model wrote.
    Code(ModelCode),
    /// A person's agreement to the write of this name, and the code that is to be written.
    Agreed(String, Option<ModelCode>),
}

/// One call, about which its client may be asked.
pub(super) struct Inquiry {
    call: Asking,
    person: AskMethod,
    model: AskMethod,
    seal: Seal,
    /// How long the client's model may take.
    patience: Duration,
    cancelled: CancellationToken,
    stopped: CancellationToken,
}

impl AskMethod {
    /// How somebody can be asked by a client that offers it, or does not.
    fn from_context(context: &RequestContext<RoleServer>, offered: bool) -> AskMethod {
        match context.protocol_version() {
            _ if !offered => AskMethod::None,
            Some(version) if version >= ProtocolVersion::V_2026_07_28 => AskMethod::Again,
            Some(_) | None => AskMethod::Request(Box::new(context.peer.clone())),
        }
    }

    /// Whether it leads to anybody.
    const fn can_ask(&self) -> bool {
        match self {
            AskMethod::None => false,
            AskMethod::Request(_) | AskMethod::Again => true,
        }
    }
}

impl Inquiry {
    /// Takes a call as its client sent it.
    pub(super) fn new(
        tool: &str,
        arguments: &JsonObject,
        desk: &CallContext,
        context: &RequestContext<RoleServer>,
    ) -> Inquiry {
        let (person, model) = (elicitation::way(context), sampling::way(context));
        let sealed = matches!((&person, &model), (AskMethod::Again, _) | (_, AskMethod::Again));
        Inquiry {
            call: if sealed { Asking::new(tool, arguments) } else { Asking::default() },
            person,
            model,
            seal: desk.seal.clone(),
            patience: desk.manners.patience,
            cancelled: context.ct.clone(),
            stopped: desk.stop.clone(),
        }
    }

    /// Whether a person can be asked.
    pub(super) const fn reaches_a_person(&self) -> bool {
        self.person.can_ask()
    }

    /// What came back with the call; each state is taken once.
    ///
    /// Errors: `lost` for a state that is not of this call, or is too old; `NOT_CONFIRMED` where a person did not agree;
    /// `CODE_BLOCK_REQUIRED` where the model gave no code that can be used.
    pub(super) fn resume(&self, returned: &Returned, lost: Code) -> Result<Resumed, Error> {
        let Some(state) = &returned.state else { return Ok(Resumed::Fresh) };
        let again = |seen: &str| Error::new(lost, seen).hint("send the call again without `requestState`");
        let topic = self.seal.open(state, &self.call).map_err(|trouble| {
            again(match trouble {
                Lost::Strange => "the `requestState` was not given for this call",
                Lost::Old => "the answer came too late: the `requestState` does not hold any more",
            })
        })?;
        let spent = || match self.seal.spend(state) {
            true => Ok(()),
            false => Err(again("the question that this `requestState` belongs to was answered before")),
        };
        match topic {
            Topic::Write { about, written } => {
                let said = elicitation::said(returned)?;
                spent()?;
                elicitation::agreed(&said).map(|()| Resumed::Agreed(about, written))
            }
            Topic::Code { version, prose } => {
                let said = sampling::said(returned)?;
                spent()?;
                sampling::code(said, prose).map(|code| Resumed::Code(ModelCode { code, version }))
            }
        }
    }

    /// The answer that has the client ask, and send the call again.
    fn later(
        &self,
        name: &str,
        request: InputRequest,
        topic: &Topic,
        patience: Duration,
    ) -> Option<InputRequiredResult> {
        let state = self.seal.seal(topic, &self.call, patience)?;
        let requests: InputRequests = [(name.to_owned(), request)].into();
        Some(InputRequiredResult::new(Some(requests), Some(state)))
    }

    /// Sends the client a request, and gives its answer, or says in words why there is none.
    async fn put(
        &self,
        peer: &Peer<RoleServer>,
        request: ServerRequest,
        patience: Duration,
    ) -> Result<ClientResult, String> {
        let options = PeerRequestOptions::with_timeout(patience);
        let sent = peer.send_request_with_option(request, options).await.map_err(|trouble| told(&trouble))?;
        let id = sent.id.clone();
        tokio::select! {
            answer = sent.await_response() => answer.map_err(|trouble| told(&trouble)),
            why = self.ended() => {
                let cancelled = CancelledNotificationParam::new(Some(id), Some(why.to_owned()));
                // A client that is gone asks nobody any more.
                drop(peer.notify_cancelled(cancelled).await);
                Err(why.to_owned())
            }
        }
    }

    /// Waits until nobody wants the answer any more, and says why.
    async fn ended(&self) -> &'static str {
        tokio::select! {
            () = self.cancelled.cancelled() => "the call was cancelled",
            () = self.stopped.cancelled() => "the server was stopped",
        }
    }
}

/// Why a client gave no answer, in words; its own are not taken at their word.
fn told(trouble: &ServiceError) -> String {
    match trouble {
        ServiceError::Timeout { timeout } => format!("there was no answer within {} s", timeout.as_secs()),
        ServiceError::McpError(refusal) => format!("the client refused: {}", clean(&refusal.message)),
        other => format!("the client did not ask: {}", clean(&other.to_string())),
    }
}

#[cfg(test)]
mod tests;
