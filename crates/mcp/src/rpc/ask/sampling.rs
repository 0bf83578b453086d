//! Asks the client's model for code.
//!
//! Invariant: an answer is rejected unless it is certainly all of the code and only code.
#![expect(deprecated, reason = "sampling leaves the protocol one day, and is what clients have until then")]

use rmcp::model::{
    ClientResult, CreateMessageRequest, CreateMessageRequestParams, CreateMessageResult, InputRequest, Role,
    SamplingMessage, SamplingMessageContentBlock, ServerRequest,
};
use rmcp::service::{RequestContext, RoleServer};

use super::code::{ContentKind, code_in};
use super::inquiry::{AskMethod, Inquiry, NoAnswer, ReturnedInput};
use super::prompt::Prompt;
use super::seal::{ModelCode, Topic};
use lockgate_error::{Code, Error};

/// Maximum tokens of the model's answer.
const MAX_TOKENS: u32 = 16_384;
/// Key of the question in `inputResponses`.
const CODE_KEY: &str = "code";

/// Returns the method of asking the client's model.
pub(super) fn method(context: &RequestContext<RoleServer>) -> AskMethod {
    match context.client_capabilities().and_then(|capabilities| capabilities.sampling) {
        Some(_) => AskMethod::from_context(context),
        None => AskMethod::None,
    }
}

impl Inquiry {
    /// Asks the client's model for the code of an edit.
    pub(in crate::rpc) async fn ask_model(&self, prompt: &Prompt) -> Result<ModelCode, NoAnswer> {
        let request = CreateMessageRequest::new(params(prompt));
        match &self.model {
            AskMethod::None => Err(no_code("this client does not support sampling").into()),
            AskMethod::RepeatCall => {
                let prose = prompt.kind == ContentKind::Prose;
                let topic = Topic::Code { version: prompt.version.clone(), prose };
                let request = InputRequest::CreateMessage(request);
                Err(self.input_required(CODE_KEY, request, &topic, self.model_timeout, no_code))
            }
            AskMethod::Request(peer) => {
                let request = ServerRequest::CreateMessageRequest(request);
                let sent = self.send(peer, request, self.model_timeout).await;
                let code = match sent.map_err(|why| no_code(&why))? {
                    ClientResult::CreateMessageResult(result) => extract_code(*result, prompt.kind)?,
                    _ => return Err(no_code("the client's answer is no message").into()),
                };
                Ok(ModelCode { code, version: prompt.version.clone() })
            }
        }
    }
}

/// Returns the model's answer from the repeated call.
///
/// Errors: `CODE_BLOCK_REQUIRED` without an answer.
pub(super) fn answer(returned: &ReturnedInput) -> Result<CreateMessageResult, Error> {
    returned
        .answer(CODE_KEY)
        .ok_or_else(|| no_code(&format!("`inputResponses` has no message as the answer to `{CODE_KEY}`")))
}

/// Extracts the code of an answer.
///
/// Errors: `CODE_BLOCK_REQUIRED` unless the answer is certainly all of the code and only code.
pub(super) fn extract_code(result: CreateMessageResult, kind: ContentKind) -> Result<String, Error> {
    if result.stop_reason.as_deref().is_some_and(is_incomplete) {
        return Err(no_code("its answer was cut before it ended"));
    }
    if result.message.role != Role::Assistant {
        return Err(no_code("the message is not the model's"));
    }
    let mut text = String::new();
    for block in result.message.content.into_vec() {
        match block {
            SamplingMessageContentBlock::Text(piece) => text.push_str(&piece.text),
            _ => return Err(no_code("its answer has something that is not text")),
        }
    }
    code_in(&text, kind).map_err(|why| no_code(&why))
}

/// True if this stop reason means an incomplete answer; clients pass on their provider's terms.
fn is_incomplete(reason: &str) -> bool {
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
    CreateMessageRequestParams::new(vec![message], MAX_TOKENS).with_system_prompt(prompt.system)
}

/// Returns the error for missing code.
fn no_code(why: &str) -> Error {
    let message = format!("there is no code_block, and the client's model wrote none: {why}");
    Error::new(Code::CodeBlockRequired, message)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn extract(answer: &Value) -> Result<String, String> {
        let responses = [(CODE_KEY.to_owned(), answer.clone())].into();
        let returned = ReturnedInput { responses: Some(responses), state: None };
        super::answer(&returned).and_then(|result| extract_code(result, ContentKind::Code)).map_err(|error| {
            assert_eq!(error.code, Code::CodeBlockRequired);
            error.message
        })
    }

    fn message(content: &Value, stop: &str) -> Value {
        json!({"role": "assistant", "model": "m", "stopReason": stop, "content": content})
    }

    #[test]
    fn all_of_a_text_is_taken() {
        let one = json!({"type": "text", "text": "x = 1\n"});
        assert_eq!(extract(&message(&one, "endTurn")), Ok("x = 1\n".into()));
        assert_eq!(extract(&message(&json!([one, one]), "stopSequence")), Ok("x = 1\nx = 1\n".into()));
        let unsaid = json!({"role": "assistant", "model": "m", "content": one});
        assert_eq!(extract(&unsaid), Ok("x = 1\n".into()));
    }

    #[test]
    fn whatever_may_not_be_all_of_it_is_refused() {
        let text = json!({"type": "text", "text": "x = 1\n"});
        for stop in ["maxTokens", "max_tokens", "length", "MAX_OUTPUT_TOKENS", "toolUse", "content_filter"] {
            assert!(extract(&message(&text, stop)).unwrap_err().contains("was cut"), "{stop}");
        }
        let image = json!({"type": "image", "data": "aGk=", "mimeType": "image/png"});
        assert!(extract(&message(&json!([text, image]), "endTurn")).unwrap_err().contains("not text"));
        let user = json!({"role": "user", "model": "m", "content": text});
        assert!(extract(&user).unwrap_err().contains("not the model's"));
        for nothing in [json!(null), json!("x"), json!({"code": -1, "message": "rejected"}), json!([])] {
            assert!(extract(&nothing).unwrap_err().contains("no message"), "{nothing}");
        }
        assert!(extract(&message(&json!([]), "endTurn")).unwrap_err().contains("empty"));
    }
}
