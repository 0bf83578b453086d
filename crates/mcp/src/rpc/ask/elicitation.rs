//! Asks a person for confirmation before a write.
//!
//! Invariant: only `accept` confirms, and only the write that the question named.

use std::collections::BTreeMap;
use std::time::Duration;

use rmcp::model::{
    ClientResult, ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema,
    InputRequest, ServerRequest,
};
use rmcp::service::{RequestContext, RoleServer};

use super::inquiry::{AskMethod, Inquiry, NoAnswer, ReturnedInput};
use super::seal::{ModelCode, Topic};
use lockgate_error::{Code, Confirmation, Error};

/// Time for a person to answer.
const TIMEOUT: Duration = Duration::from_secs(600);
/// Key of the question in `inputResponses`.
const WRITE_KEY: &str = "write";

/// Returns the method of asking the person at the client.
pub(super) fn method(context: &RequestContext<RoleServer>) -> AskMethod {
    let elicits = context.client_capabilities().and_then(|capabilities| capabilities.elicitation);
    // A client that names no form supports the first one: https://modelcontextprotocol.io/specification
    match elicits {
        Some(elicits) if elicits.form.is_some() || elicits.url.is_none() => AskMethod::from_context(context),
        Some(_) | None => AskMethod::None,
    }
}

impl Inquiry {
    /// Asks the person about a write; `code` is the code if the client's model wrote it.
    pub(in crate::rpc) async fn ask_person(
        &self,
        question: &Confirmation,
        code: Option<&ModelCode>,
    ) -> Result<(), NoAnswer> {
        let request = ElicitRequest::new(params(question));
        let not_asked = |why: &str| not_confirmed(question, why);
        match &self.person {
            AskMethod::None => Err(not_asked("this client cannot ask a person").into()),
            AskMethod::RepeatCall => {
                let topic = Topic::Write { about: question.id.clone(), written: code.cloned() };
                let request = InputRequest::Elicitation(request);
                Err(self.input_required(WRITE_KEY, request, &topic, TIMEOUT, not_asked))
            }
            AskMethod::Request(peer) => {
                let request = ServerRequest::ElicitRequest(request);
                match self.send(peer, request, TIMEOUT).await.map_err(|why| not_asked(&why))? {
                    ClientResult::ElicitResult(response) => Ok(check_accepted(&response)?),
                    _ => Err(not_asked("the client's answer is of another kind").into()),
                }
            }
        }
    }
}

/// Returns the person's answer from the repeated call.
///
/// Errors: `NOT_CONFIRMED` without an answer.
pub(super) fn answer(returned: &ReturnedInput) -> Result<ElicitResult, Error> {
    returned.answer(WRITE_KEY).ok_or_else(|| {
        let message = format!("`inputResponses` has no answer to `{WRITE_KEY}`");
        Error::new(Code::NotConfirmed, message).hint("ask the person again")
    })
}

/// Rejects every answer other than `accept`.
pub(super) fn check_accepted(result: &ElicitResult) -> Result<(), Error> {
    let message = match result.action {
        ElicitationAction::Accept => return Ok(()),
        ElicitationAction::Decline => "a person was asked before this write, and declined it",
        ElicitationAction::Cancel => "a person was asked before this write, and did not answer",
        _ => "a person was asked before this write, and did not agree",
    };
    Err(Error::new(Code::NotConfirmed, message).hint("leave it, unless the person asks for another edit"))
}

fn params(question: &Confirmation) -> ElicitRequestParams {
    ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: question.text.clone(),
        // The form has no fields; accepting it is the confirmation.
        requested_schema: ElicitationSchema::new(BTreeMap::new()),
    }
}

fn not_confirmed(question: &Confirmation, why: &str) -> Error {
    Error::new(Code::NotConfirmed, format!("{}, and {why}", question.reason))
}
