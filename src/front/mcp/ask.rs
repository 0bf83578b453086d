//! How a person behind a client is asked before a write, in the form that the client's protocol has.
//!
//! Until 2025-11-25 a server sends `elicitation/create` and waits. From 2026-07-28 on it sends nothing by itself: the
//! call is answered with `InputRequiredResult`, and the client sends the call again with the person's answer and the
//! state that it was given, which is sealed: it holds for the very call that it was given for, and ten minutes.
//!
//! Invariant: only `accept` is an agreement, and it is one to the write that the question named.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use lru::LruCache;
use rmcp::model::{
    ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema, InputRequest,
    InputRequests, InputRequiredResult, InputResponses, JsonObject, ProtocolVersion, RequestStateCodec,
    SealOptions,
};
use rmcp::service::{Peer, RequestContext, RoleServer};
use rustix::rand::{GetRandomFlags, getrandom};

use crate::error::{Code, Error, Question};
use crate::text::Stamp;

/// How long a person may think about it.
const PATIENCE: Duration = Duration::from_secs(600);
/// The name of the question among those of one answer.
const WRITE: &str = "write";

/// What a server keeps to know its own questions again.
#[derive(Clone)]
pub(super) struct Seal {
    codec: Option<Arc<RequestStateCodec>>,
    /// The states that were answered: each holds for one answer.
    answered: Arc<Mutex<LruCache<Stamp, ()>>>,
}

/// The most answered states that are remembered; each is worth nothing after ten minutes.
const MOST_ANSWERED: NonZeroUsize = NonZeroUsize::MIN.saturating_add(4095);

/// What a client sent with a call that it was asked about.
#[derive(Debug, Default)]
pub(super) struct Returned {
    pub(super) responses: Option<InputResponses>,
    pub(super) state: Option<String>,
}

/// How the person behind a client can be asked.
pub(super) enum Way {
    /// Not at all.
    None,
    /// By a request of the server's own.
    Request(Box<Peer<RoleServer>>),
    /// By an answer that asks for the call to be sent again.
    Again,
}

/// What came of asking.
pub(super) enum Asked {
    /// The person agreed.
    Agreed,
    /// The call is answered with this, and comes again.
    Later(Box<InputRequiredResult>),
    /// Nobody agreed; why.
    No(Error),
}

impl Asked {
    /// Nobody agreed, because of what happened meanwhile.
    pub(super) fn unanswered(why: &str) -> Asked {
        Asked::No(unasked(why))
    }
}

impl Seal {
    /// A seal that nobody else has; without one, where the system gives no randomness, nobody can be asked that way.
    pub(super) fn new() -> Seal {
        let mut key = [0_u8; RequestStateCodec::MIN_KEY_LENGTH];
        let filled = getrandom(&mut key, GetRandomFlags::empty()).is_ok_and(|filled| filled == key.len());
        let codec = if filled { RequestStateCodec::try_new(key).ok() } else { None };
        Seal { codec: codec.map(Arc::new), answered: Arc::new(Mutex::new(LruCache::new(MOST_ANSWERED))) }
    }

    /// The write that a person agreed to, by what came back with the call; nothing where nothing did.
    ///
    /// Errors: `NOT_CONFIRMED` where the person did not agree, or what came back belongs to another call.
    pub(super) fn agreed(&self, returned: &Returned, call: &Asking) -> Result<Option<String>, Error> {
        let Some(state) = &returned.state else { return Ok(None) };
        let opened = self.codec.as_ref().and_then(|codec| codec.open_with(state, &call.0).ok());
        let Some(about) = opened.and_then(|about| String::from_utf8(about).ok()) else {
            let seen = "the `requestState` was not given for this call, or more than ten minutes ago";
            return Err(
                Error::new(Code::NotConfirmed, seen).hint("send the call again without `requestState`")
            );
        };
        let response = returned.responses.as_ref().and_then(|responses| responses.get(WRITE)).cloned();
        let said = response.and_then(|response| serde_json::from_value::<ElicitResult>(response).ok());
        if said.is_some() && self.was_answered(state) {
            let seen = "the question that this `requestState` belongs to was answered before";
            return Err(
                Error::new(Code::NotConfirmed, seen).hint("send the call again without `requestState`")
            );
        }
        match said.map(|said| said.action) {
            Some(ElicitationAction::Accept) => Ok(Some(about)),
            Some(action) => Err(refused(&action)),
            None => {
                let seen = format!("`inputResponses` has no answer to `{WRITE}`");
                Err(Error::new(Code::NotConfirmed, seen).hint("put the question to the person again"))
            }
        }
    }

    /// Whether a state was answered before; it is from here on.
    fn was_answered(&self, state: &str) -> bool {
        let mut answered = self.answered.lock().unwrap_or_else(PoisonError::into_inner);
        answered.put(Stamp::of(state.as_bytes()), ()).is_some()
    }

    fn later(&self, question: &Question, call: &Asking) -> Option<InputRequiredResult> {
        let options = SealOptions::new().associated_data(&call.0).ttl(PATIENCE);
        let state = self.codec.as_ref()?.seal_with(question.about.as_bytes(), &options);
        let request = InputRequest::Elicitation(ElicitRequest::new(params(question)));
        let requests: InputRequests = [(WRITE.to_owned(), request)].into();
        Some(InputRequiredResult::new(Some(requests), Some(state)))
    }
}

/// The call that a question is about: what a seal is bound to.
#[derive(Debug, Default)]
pub(super) struct Asking(Vec<u8>);

impl Asking {
    /// Takes the tool and all its arguments, where that matters to the client.
    pub(super) fn of(tool: &str, arguments: &JsonObject, way: &Way) -> Asking {
        match way {
            Way::None | Way::Request(_) => Asking::default(),
            Way::Again => {
                let arguments = serde_json::to_vec(arguments).unwrap_or_default();
                Asking([tool.as_bytes(), b"\0", Stamp::of(&arguments).hex().as_bytes()].concat())
            }
        }
    }
}

impl Way {
    /// How the person behind the client of a call can be asked.
    pub(super) fn of(context: &RequestContext<RoleServer>) -> Way {
        let elicits = context.client_capabilities().and_then(|capabilities| capabilities.elicitation);
        // A client that names no form of it has the first one: https://modelcontextprotocol.io/specification
        if !elicits.is_some_and(|elicits| elicits.form.is_some() || elicits.url.is_none()) {
            return Way::None;
        }
        match context.protocol_version() {
            Some(version) if version >= ProtocolVersion::V_2026_07_28 => Way::Again,
            Some(_) | None => Way::Request(Box::new(context.peer.clone())),
        }
    }

    /// Whether it leads to anybody.
    pub(super) const fn can_ask(&self) -> bool {
        match self {
            Way::None => false,
            Way::Request(_) | Way::Again => true,
        }
    }

    /// Puts a question to the person.
    pub(super) async fn ask(&self, question: &Question, seal: &Seal, call: &Asking) -> Asked {
        match self {
            Way::None => Asked::No(unasked("this client cannot ask a person")),
            Way::Again => match seal.later(question, call) {
                Some(later) => Asked::Later(Box::new(later)),
                None => Asked::No(unasked("nothing can be sealed here")),
            },
            Way::Request(peer) => {
                match peer.create_elicitation_with_timeout(params(question), Some(PATIENCE)).await {
                    Ok(ElicitResult { action: ElicitationAction::Accept, .. }) => Asked::Agreed,
                    Ok(said) => Asked::No(refused(&said.action)),
                    Err(trouble) => Asked::No(unasked(&format!("the client did not ask: {trouble}"))),
                }
            }
        }
    }
}

fn params(question: &Question) -> ElicitRequestParams {
    ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: question.text.clone(),
        // To agree is all that is asked for.
        requested_schema: ElicitationSchema::new(std::collections::BTreeMap::new()),
    }
}

fn refused(action: &ElicitationAction) -> Error {
    let seen = match action {
        ElicitationAction::Decline => "a person was asked before this write, and declined it",
        ElicitationAction::Cancel => "a person was asked before this write, and did not answer",
        _ => "a person was asked before this write, and did not agree",
    };
    Error::new(Code::NotConfirmed, seen).hint("leave it, unless the person asks for another edit")
}

fn unasked(why: &str) -> Error {
    Error::new(Code::NotConfirmed, format!("the policy has a person asked before this write, and {why}"))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn asking(tool: &str, arguments: &Value) -> Asking {
        Asking::of(tool, arguments.as_object().unwrap(), &Way::Again)
    }

    fn question() -> Question {
        Question { text: "may I?".to_owned(), about: "a1b2".to_owned() }
    }

    fn returned(state: &str, response: &Value) -> Returned {
        let responses = [(WRITE.to_owned(), response.clone())].into();
        Returned { responses: Some(responses), state: Some(state.to_owned()) }
    }

    fn code<T>(done: Result<T, Error>) -> Option<Code> {
        done.err().map(|refusal| refusal.code)
    }

    #[test]
    fn an_answer_counts_for_the_call_that_was_asked_about_alone() {
        let (seal, call) = (Seal::new(), asking("safe_edit_file", &json!({ "path": "a", "content": "x" })));
        let state = seal.later(&question(), &call).unwrap().request_state.unwrap();
        let yes = json!({ "action": "accept", "content": {} });
        assert_eq!(seal.agreed(&Returned::default(), &call), Ok(None));
        assert_eq!(seal.agreed(&returned(&state, &yes), &call), Ok(Some("a1b2".to_owned())));
        assert_eq!(code(seal.agreed(&returned(&state, &yes), &call)), Some(Code::NotConfirmed), "once");
        let others = [
            asking("safe_edit_file", &json!({ "path": "b", "content": "x" })),
            asking("create_file", &json!({ "path": "a", "content": "x" })),
            Asking::default(),
        ];
        for other in others {
            assert_eq!(code(seal.agreed(&returned(&state, &yes), &other)), Some(Code::NotConfirmed));
        }
        assert_eq!(code(Seal::new().agreed(&returned(&state, &yes), &call)), Some(Code::NotConfirmed));
        for forged in ["", "x", "a1b2", &state.replacen('.', "", 1), &format!("{state}A")] {
            let told = seal.agreed(&returned(forged, &yes), &call);
            assert_eq!(code(told), Some(Code::NotConfirmed), "{forged}");
        }
    }

    #[test]
    fn nothing_but_accept_is_an_agreement() {
        let (seal, call) = (Seal::new(), asking("safe_edit_file", &json!({ "path": "a" })));
        let state = seal.later(&question(), &call).unwrap().request_state.unwrap();
        let others = [
            json!({ "action": "decline" }),
            json!({ "action": "cancel" }),
            json!({ "action": "ACCEPT" }),
            json!({ "content": {} }),
            json!("accept"),
            json!(null),
        ];
        for other in others {
            assert_eq!(
                code(seal.agreed(&returned(&state, &other), &call)),
                Some(Code::NotConfirmed),
                "{other}"
            );
        }
        let nothing = Returned { responses: None, state: Some(state) };
        assert_eq!(code(seal.agreed(&nothing, &call)), Some(Code::NotConfirmed));
    }
}
