use std::time::Duration;

use rmcp::model::InputRequest;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::*;
use lockgate_error::Confirmation;

fn inquiry(arguments: &Value, seal: &Seal) -> Inquiry {
    Inquiry {
        call: CallBinding::new("ai_edit_code", arguments.as_object().unwrap()),
        person: AskMethod::RepeatCall,
        model: AskMethod::RepeatCall,
        seal: seal.clone(),
        model_timeout: Duration::from_secs(600),
        cancelled: CancellationToken::new(),
        stopped: CancellationToken::new(),
        input_ended: CancellationToken::new(),
    }
}

fn question() -> Confirmation {
    let reason = "the policy asks a person before this write".to_owned();
    Confirmation { reason, text: "may I?".to_owned(), id: "a1b2".to_owned() }
}

fn prompt() -> Prompt {
    let instruction = lockgate_edit::request::Instruction {
        text: "say hello".into(),
        insert_point: lockgate_edit::request::InsertPoint::End,
    };
    let text = lockgate_text::Buffer::read(b"x\n".to_vec(), lockgate_text::Hints::default()).unwrap();
    let reading = lockgate_engine::ReadLines {
        path: "a.py".into(),
        entity: None,
        resolved_path: None,
        start_line: 1,
        end_line: 1,
        text: text.into(),
    };
    Prompt::new(&instruction, &reading).unwrap()
}

fn returned(state: &str, name: &str, response: &Value) -> ReturnedInput {
    let responses = [(name.to_owned(), response.clone())].into();
    ReturnedInput { responses: Some(responses), state: Some(state.to_owned()) }
}

async fn person_request_state(inquiry: &Inquiry, code: Option<&ModelCode>) -> String {
    match inquiry.ask_person(&question(), code).await {
        Err(NoAnswer::InputRequired(later)) => later.request_state.unwrap(),
        Ok(()) | Err(NoAnswer::Failed(_)) => panic!(),
    }
}

async fn model_request_state(inquiry: &Inquiry) -> String {
    match inquiry.ask_model(&prompt()).await {
        Err(NoAnswer::InputRequired(later)) => {
            let requests = later.input_requests.unwrap();
            assert!(matches!(requests.get("code"), Some(InputRequest::CreateMessage(_))));
            later.request_state.unwrap()
        }
        Ok(_) | Err(NoAnswer::Failed(_)) => panic!(),
    }
}

fn code<T>(result: Result<T, Error>) -> Option<Code> {
    result.err().map(|error| error.code)
}

#[tokio::test]
async fn a_confirmation_is_valid_once_and_only_for_its_call() {
    let seal = Seal::new();
    let call = inquiry(&json!({ "target_file": "a" }), &seal);
    let state = person_request_state(&call, None).await;
    let yes = returned(&state, "write", &json!({ "action": "accept", "content": {} }));
    assert_eq!(call.resume(&ReturnedInput::default(), Code::NotConfirmed), Ok(VerifiedInput::default()));
    let other = inquiry(&json!({ "target_file": "b" }), &seal);
    assert_eq!(code(other.resume(&yes, Code::NotConfirmed)), Some(Code::NotConfirmed));
    let agreed = VerifiedInput { confirmation_id: Some("a1b2".to_owned()), model_code: None };
    assert_eq!(call.resume(&yes, Code::NotConfirmed), Ok(agreed));
    assert_eq!(code(call.resume(&yes, Code::NotConfirmed)), Some(Code::NotConfirmed), "once");
}

#[tokio::test]
async fn nothing_but_accept_is_an_agreement() {
    let call = inquiry(&json!({ "target_file": "a" }), &Seal::new());
    for other in [
        json!({ "action": "decline" }),
        json!({ "action": "cancel" }),
        json!({ "action": "ACCEPT" }),
        json!({ "content": {} }),
        json!("accept"),
        json!(null),
    ] {
        let state = person_request_state(&call, None).await;
        let outcome = call.resume(&returned(&state, "write", &other), Code::CodeBlockRequired);
        assert_eq!(code(outcome), Some(Code::NotConfirmed), "{other}");
    }
    let nothing = ReturnedInput { responses: None, state: Some(person_request_state(&call, None).await) };
    assert_eq!(code(call.resume(&nothing, Code::NotConfirmed)), Some(Code::NotConfirmed));
}

#[tokio::test]
async fn code_counts_for_the_call_and_the_version_that_it_was_written_for() {
    let seal = Seal::new();
    let call = inquiry(&json!({ "target_file": "a" }), &seal);
    let state = model_request_state(&call).await;
    let message =
        json!({"role": "assistant", "model": "m", "content": {"type": "text", "text": "```\ny\n```"}});
    let answer = returned(&state, "code", &message);
    let other = inquiry(&json!({ "target_file": "b" }), &seal);
    let lost = Code::CodeBlockRequired;
    assert_eq!(code(other.resume(&answer, lost)), Some(lost));
    assert_eq!(code(call.resume(&returned(&state, "write", &message), lost)), Some(lost));
    let model_code = ModelCode { code: "y\n".into(), version: prompt().version };
    assert_eq!(
        call.resume(&answer, lost),
        Ok(VerifiedInput { confirmation_id: None, model_code: Some(model_code.clone()) })
    );
    assert_eq!(code(call.resume(&answer, lost)), Some(lost), "once");
    // The person's confirmation then applies to that code.
    let state = person_request_state(&call, Some(&model_code)).await;
    let yes = returned(&state, "write", &json!({ "action": "accept" }));
    assert_eq!(
        call.resume(&yes, lost),
        Ok(VerifiedInput { confirmation_id: Some("a1b2".into()), model_code: Some(model_code) })
    );
}

#[tokio::test]
async fn the_answer_of_one_question_is_none_of_another() {
    let call = inquiry(&json!({ "target_file": "a" }), &Seal::new());
    let state = model_request_state(&call).await;
    let yes = json!({ "action": "accept", "content": {} });
    for name in ["write", "code"] {
        let outcome = call.resume(&returned(&state, name, &yes), Code::CodeBlockRequired);
        assert_eq!(code(outcome), Some(Code::CodeBlockRequired), "{name}");
    }
}

#[tokio::test]
async fn an_answer_that_comes_too_late_is_none() {
    let call =
        Inquiry { model_timeout: Duration::ZERO, ..inquiry(&json!({ "target_file": "a" }), &Seal::new()) };
    let state = model_request_state(&call).await;
    tokio::time::sleep(Duration::from_millis(2)).await;
    let message = json!({"role": "assistant", "model": "m", "content": {"type": "text", "text": "y"}});
    let outcome = call.resume(&returned(&state, "code", &message), Code::CodeBlockRequired).unwrap_err();
    assert!(outcome.code == Code::CodeBlockRequired && outcome.message.contains("too late"), "{outcome}");
}

#[tokio::test]
async fn without_a_client_to_ask_the_call_fails() {
    let unsupported =
        Inquiry { person: AskMethod::None, model: AskMethod::None, ..inquiry(&json!({}), &Seal::new()) };
    assert!(!unsupported.reaches_a_person());
    let Err(NoAnswer::Failed(error)) = unsupported.ask_model(&prompt()).await else { panic!() };
    assert_eq!(error.code, Code::CodeBlockRequired);
    let Err(NoAnswer::Failed(error)) = unsupported.ask_person(&question(), None).await else { panic!() };
    assert_eq!(error.code, Code::NotConfirmed);
}
