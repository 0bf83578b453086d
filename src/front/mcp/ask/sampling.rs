//! Asks the client's model for code.
//!
//! Invariant: an answer is rejected unless it is certainly all of the code and only code.
#![expect(deprecated, reason = "sampling leaves the protocol one day, and is what clients have until then")]

use rmcp::model::{
    ClientResult, CreateMessageRequest, CreateMessageRequestParams, CreateMessageResult, InputRequest, Role,
    SamplingMessage, SamplingMessageContentBlock, ServerRequest,
};
use rmcp::service::{RequestContext, RoleServer};

use super::code::code_in;
use super::{AskMethod, AskOutcome, Inquiry, ModelCode, Prompt, Returned, Topic};
use crate::error::{Code, Error};

/// Maximum tokens of the model's answer.
const TOKENS: u32 = 16_384;
/// Key of the question in `inputResponses`.
const CODE: &str = "code";

/// Returns the method of asking the client's model.
pub(super) fn way(context: &RequestContext<RoleServer>) -> AskMethod {
    let samples = context.client_capabilities().and_then(|capabilities| capabilities.sampling);
    AskMethod::from_context(context, samples.is_some())
}

impl Inquiry {
    /// Asks the client's model for the code of an edit.
    pub(in crate::front::mcp) async fn model(&self, prompt: &Prompt) -> AskOutcome<ModelCode> {
        let request = CreateMessageRequest::new(params(prompt));
        match &self.model {
            AskMethod::None => AskOutcome::No(unwritten("this client does not support sampling")),
            AskMethod::Again => {
                let topic = Topic::Code { version: prompt.version.clone(), prose: prompt.prose };
                match self.later(CODE, InputRequest::CreateMessage(request), &topic, self.patience) {
                    Some(later) => AskOutcome::Later(Box::new(later)),
                    None => AskOutcome::No(unwritten("the server cannot seal the request state")),
                }
            }
            AskMethod::Request(peer) => {
                let request = ServerRequest::CreateMessageRequest(request);
                let said = match self.put(peer, request, self.patience).await {
                    Ok(ClientResult::CreateMessageResult(said)) => code(*said, prompt.prose),
                    Ok(_) => Err(unwritten("the client's answer is no message")),
                    Err(why) => Err(unwritten(&why)),
                };
                let written =
                    |code| AskOutcome::Answered(ModelCode { code, version: prompt.version.clone() });
                said.map_or_else(AskOutcome::No, written)
            }
        }
    }
}

/// Returns the model's answer from the repeated call.
///
/// Errors: `CODE_BLOCK_REQUIRED` without an answer.
pub(super) fn said(returned: &Returned) -> Result<CreateMessageResult, Error> {
    let response = returned.responses.as_ref().and_then(|responses| responses.get(CODE)).cloned();
    response
        .and_then(|response| serde_json::from_value(response).ok())
        .ok_or_else(|| unwritten(&format!("`inputResponses` has no message as the answer to `{CODE}`")))
}

/// Extracts the code of an answer.
///
/// Errors: `CODE_BLOCK_REQUIRED` unless the answer is certainly all of the code and only code.
pub(super) fn code(said: CreateMessageResult, prose: bool) -> Result<String, Error> {
    if said.stop_reason.as_deref().is_some_and(cuts) {
        return Err(unwritten("its answer was cut before it ended"));
    }
    if said.message.role != Role::Assistant {
        return Err(unwritten("the message is not the model's"));
    }
    let mut text = String::new();
    for block in said.message.content.into_vec() {
        match block {
            SamplingMessageContentBlock::Text(piece) => text.push_str(&piece.text),
            _ => return Err(unwritten("its answer has something that is not text")),
        }
    }
    code_in(&text, prose).map_err(|why| unwritten(&why))
}

/// True if this stop reason means an incomplete answer; clients pass on their provider's terms.
fn cuts(reason: &str) -> bool {
    let plain: String = reason.chars().filter(char::is_ascii_alphanumeric).collect();
    [
        "maxtokens",
        "length",
        "maxoutputtokens",
        "tooluse",
        "toolcalls",
        "contentfilter",
        "refusal",
        "pauseturn",
    ]
    .contains(&plain.to_ascii_lowercase().as_str())
}

fn params(prompt: &Prompt) -> CreateMessageRequestParams {
    let message = SamplingMessage::user_text(&prompt.text);
    CreateMessageRequestParams::new(vec![message], TOKENS).with_system_prompt(prompt.system)
}

/// Returns the error for missing code.
fn unwritten(why: &str) -> Error {
    let seen = format!("there is no code_block, and the client's model wrote none: {why}");
    Error::new(Code::CodeBlockRequired, seen)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn taken(answer: &Value) -> Result<String, String> {
        let responses = [(CODE.to_owned(), answer.clone())].into();
        let returned = Returned { responses: Some(responses), state: None };
        said(&returned).and_then(|said| code(said, false)).map_err(|refusal| {
            assert_eq!(refusal.code, Code::CodeBlockRequired);
            refusal.message
        })
    }

    fn message(content: &Value, stop: &str) -> Value {
        json!({"role": "assistant", "model": "m", "stopReason": stop, "content": content})
    }

    #[test]
    fn all_of_a_text_is_taken() {
        let one = json!({"type": "text", "text": "x = 1\n"});
        assert_eq!(taken(&message(&one, "endTurn")), Ok("x = 1\n".into()));
        assert_eq!(taken(&message(&json!([one, one]), "stopSequence")), Ok("x = 1\nx = 1\n".into()));
        let unsaid = json!({"role": "assistant", "model": "m", "content": one});
        assert_eq!(taken(&unsaid), Ok("x = 1\n".into()));
    }

    #[test]
    fn whatever_may_not_be_all_of_it_is_refused() {
        let text = json!({"type": "text", "text": "x = 1\n"});
        for stop in ["maxTokens", "max_tokens", "length", "MAX_OUTPUT_TOKENS", "toolUse", "content_filter"] {
            assert!(taken(&message(&text, stop)).unwrap_err().contains("was cut"), "{stop}");
        }
        let image = json!({"type": "image", "data": "aGk=", "mimeType": "image/png"});
        assert!(taken(&message(&json!([text, image]), "endTurn")).unwrap_err().contains("not text"));
        let user = json!({"role": "user", "model": "m", "content": text});
        assert!(taken(&user).unwrap_err().contains("not the model's"));
        for nothing in [json!(null), json!("x"), json!({"code": -1, "message": "rejected"}), json!([])] {
            assert!(taken(&nothing).unwrap_err().contains("no message"), "{nothing}");
        }
        assert!(taken(&message(&json!([]), "endTurn")).unwrap_err().contains("empty"));
    }
}
