//! Handles one tool call, from its arguments to its answer.
//!
//! Invariant: every call is answered. A rejection is an answer with `isError`, so that the model sees it. CPU-bound
//! work runs on blocking threads.

use std::sync::Arc;

use rmcp::model::{CallToolResponse, CallToolResult, ContentBlock, JsonObject, ProtocolVersion};
use serde_json::Value;
use tokio::task::{JoinError, spawn_blocking};

use super::ask::{Inquiry, ModelCode, NoAnswer, Prompt, ReturnedInput, VerifiedInput};
use super::call_context::{CallContext, Context};
use super::executor::{Executor, ToolOutcome, parse_request};
use super::options::{Structured, TEXT_CLIENTS};
use crate::answer::{self, Answer, CallOffers, Forms, ResponseOptions, ToolCall};
use crate::schema;
use crate::tools::{CallReply, Tool, ToolRequest, UnwrittenEdit};
use lockgate_checks::sanitize;
use lockgate_edit::request::{Author, AuthorName, ClientName, Entity, EntityKind, Target};
use lockgate_error::{Code, Error};

/// Maximum characters of a client's name in the journal.
const MAX_NAME_CHARS: usize = 80;

/// Maximum bytes of text that are rendered on the reactor, which is faster than starting another thread.
const SHORT_TEXT_BYTES: usize = 32 << 10;

/// Maximum number of times that a person is asked about one call when the file keeps changing.
const MAX_CONFIRMATIONS: usize = 3;

/// Handles one call and counts it.
pub(super) async fn call(
    tool: &'static Tool,
    mut call_context: CallContext,
    arguments: JsonObject,
    returned: ReturnedInput,
    context: Context,
) -> CallToolResponse {
    let _open = call_context.open_calls.token();
    call_context.metrics.tool = tool.name;
    let metrics = call_context.metrics.clone();
    let answer = handle(tool, call_context, arguments, returned, context).await;
    metrics.answered(&answer);
    answer
}

/// Handles one call. Asks the client's model for missing code, and a person before the write if the policy requires
/// it.
async fn handle(
    tool: &'static Tool,
    call_context: CallContext,
    arguments: JsonObject,
    returned: ReturnedInput,
    context: Context,
) -> CallToolResponse {
    let options = response_options(tool, &arguments, &call_context, &context);
    let inquiry = Inquiry::new(tool.name, &arguments, &call_context, &context);
    let named = named_entity(tool, &arguments);
    let (request, resumed) = match parse_call(tool, arguments, &inquiry, &returned).await {
        Ok(both) => both,
        Err(error) => return render(ResponseOptions { entity: named, ..options }, error.into()).await.into(),
    };
    let options = ResponseOptions { entity: request.target().and_then(Target::entity).cloned(), ..options };
    let VerifiedInput { confirmation_id, model_code } = resumed;
    let author = Author { confirmation_id, ..author(tool, call_context.caller.as_deref(), &context) };
    match with_code(request, model_code, &inquiry, &call_context).await {
        Ok((request, model_code)) => {
            let executor = Executor { call_context: &call_context, context: &context };
            execute_confirmed(request, model_code, author, &options, &inquiry, &executor).await
        }
        Err(NoAnswer::InputRequired(later)) => (*later).into(),
        Err(NoAnswer::Failed(error)) => {
            render(options, tool.profile.rename_error_field(error).into()).await.into()
        }
    }
}

/// Returns the options of the answer that do not depend on the parsed request.
fn response_options(
    tool: &'static Tool,
    arguments: &JsonObject,
    call_context: &CallContext,
    context: &Context,
) -> ResponseOptions {
    let client = context.client_info().map(|client| client.name);
    let has_max_bytes = schema::field((tool.schema)(), "max_bytes").is_some();
    let limit = requested_limit(arguments).filter(|_| has_max_bytes);
    ResponseOptions {
        limit: limit.unwrap_or(ResponseOptions::default().limit),
        forms: forms(call_context.options.structured, context.protocol_version(), client.as_deref()),
        effect: tool.effect,
        path: arguments.get(tool.profile.names.path).and_then(Value::as_str).map(str::to_owned),
        profile: tool.profile,
        offers: CallOffers {
            current_call: repeatable_call(tool, arguments),
            tools: call_context.offered_tools,
            has_max_bytes,
        },
        shown_parts: call_context.shown_parts.clone(),
        ..ResponseOptions::default()
    }
}

/// Returns the valid `max_bytes` of the arguments, even if others of them are invalid.
fn requested_limit(arguments: &JsonObject) -> Option<usize> {
    let value = arguments.get("max_bytes")?;
    let number = value.as_u64().or_else(|| value.as_str()?.parse().ok())?;
    usize::try_from(number).ok().filter(|limit| ResponseOptions::LIMITS.contains(limit))
}

/// Returns the entity that the arguments name, even if others of them are invalid.
fn named_entity(tool: &Tool, arguments: &JsonObject) -> Option<Entity> {
    schema::field((tool.schema)(), "entity_type")?;
    let text = |name: &str| arguments.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    let id = |name: &str| text(name).map(str::to_owned);
    Some(Entity {
        kind: EntityKind::from_name(text("entity_type")?)?,
        path: id(tool.profile.names.path).unwrap_or_default(),
        app_id: id("app_id"),
        organization_id: id("organization_id"),
    })
}

/// Parses the call and verifies the answers that came with it.
async fn parse_call(
    tool: &'static Tool,
    arguments: JsonObject,
    inquiry: &Inquiry,
    returned: &ReturnedInput,
) -> Result<(ToolRequest, VerifiedInput), Error> {
    let request = parse_request(tool, arguments).await?;
    let lost = if matches!(request, ToolRequest::Unwritten(_)) {
        Code::CodeBlockRequired
    } else {
        Code::NotConfirmed
    };
    Ok((request, inquiry.resume(returned, lost)?))
}

/// Returns the request, with its code if that was missing.
async fn with_code(
    request: ToolRequest,
    model_code: Option<ModelCode>,
    inquiry: &Inquiry,
    call_context: &CallContext,
) -> Result<(ToolRequest, Option<ModelCode>), NoAnswer> {
    let ToolRequest::Unwritten(unwritten_edit) = request else { return Ok((request, None)) };
    let model_code = match model_code {
        Some(model_code) => model_code,
        None => write_code(&unwritten_edit, inquiry, call_context).await?,
    };
    let request = unwritten_edit.written(model_code.code.clone(), model_code.version.clone());
    Ok((ToolRequest::Edit(Box::new(request)), Some(model_code)))
}

/// Asks the client's model for code, if the edit is possible at all.
async fn write_code(
    unwritten_edit: &UnwrittenEdit,
    inquiry: &Inquiry,
    call_context: &CallContext,
) -> Result<ModelCode, NoAnswer> {
    let reading = call_context.workspace.read_before_edit(unwritten_edit.request.clone());
    let prompt = Prompt::new(&unwritten_edit.instruction, &reading.await?)?;
    inquiry.ask_model(&prompt).await
}

/// Executes the request, after a person's confirmation if the policy requires it.
async fn execute_confirmed(
    mut request: ToolRequest,
    model_code: Option<ModelCode>,
    mut author: Author,
    options: &ResponseOptions,
    inquiry: &Inquiry,
    executor: &Executor<'_>,
) -> CallToolResponse {
    for _ in 0..MAX_CONFIRMATIONS {
        let again = inquiry.reaches_a_person().then(|| request.clone());
        let ToolOutcome { options: wanted, question, reply } =
            executor.execute(request.with_author(&author), options.clone()).await;
        let Some(question) = question else { return render(wanted, reply).await.into() };
        match (inquiry.ask_person(&question, model_code.as_ref()).await, again) {
            (Ok(()), Some(again)) => {
                author.confirmation_id = Some(question.id);
                request = again;
            }
            (Err(NoAnswer::InputRequired(later)), _) => return (*later).into(),
            (Err(NoAnswer::Failed(error)), _) => return render(wanted, error.into()).await.into(),
            (Ok(()), None) => break,
        }
    }
    let message = format!("the {} changed each time that a person was asked", options.noun());
    render(options.clone(), Error::new(Code::NotConfirmed, message).into()).await.into()
}

/// Returns the author: the name of the token and the name that the client gives itself.
fn author(tool: &Tool, token: Option<&str>, context: &Context) -> Author {
    let client = context.client_info();
    let name = client.map(|client| sanitize(&format!("{} {}", client.name, client.version)));
    let name: String = name.unwrap_or_default().chars().take(MAX_NAME_CHARS).collect();
    let client = ClientName::parse(&name);
    let name = match token {
        Some(token) => {
            let client = Some(client).filter(|_| !name.is_empty());
            AuthorName::Token { token: token.to_owned(), client }
        }
        None => AuthorName::Client(client),
    };
    Author { tool: tool.name.to_owned(), name: name.to_string(), confirmation_id: None }
}

/// Returns the call if a rejection may correct it: it does not write a whole text, which need not be sent twice.
fn repeatable_call(tool: &'static Tool, arguments: &JsonObject) -> Option<Arc<ToolCall>> {
    let is_whole = arguments.contains_key("content");
    (!is_whole).then(|| Arc::new(tool.call(arguments.clone())))
}

/// Renders an answer.
async fn render(options: ResponseOptions, CallReply { size, render }: CallReply) -> CallToolResult {
    let (forms, shown_parts) = (options.forms, options.shown_parts.clone());
    let plain = ResponseOptions {
        path: options.path.clone(),
        entity: options.entity.clone(),
        ..ResponseOptions::default()
    };
    let rendered = if size.is_some_and(|size| size < SHORT_TEXT_BYTES) {
        tokio::spawn(async move { render(&options) }).await
    } else {
        spawn_blocking(move || render(&options)).await
    };
    let answer = rendered.unwrap_or_else(|error| render_failed(&error, &plain));
    let success = answer.is_success();
    let Answer { json, text, edit_response } = answer;
    if let Some(response) = &edit_response {
        shown_parts.add(response);
    }
    let content = forms.sent_text(&text).map(ContentBlock::text).into_iter().collect();
    let mut result = if success { CallToolResult::success(content) } else { CallToolResult::error(content) };
    result.structured_content = forms.has_json().then_some(json);
    result
}

/// Returns the answer when rendering failed; a write stays on disk.
fn render_failed(cause: &JoinError, options: &ResponseOptions) -> Answer {
    let message = format!("the edit has ended, but its report could not be rendered: {cause}");
    let error = Error::new(Code::Internal, message).with_unknown_disk();
    answer::render_error(&error, options)
}

/// Returns the forms of answers for a client with a name and a protocol version.
fn forms(structured: Structured, version: Option<ProtocolVersion>, client: Option<&str>) -> Forms {
    let knows = version.is_none_or(|version| version >= ProtocolVersion::V_2025_06_18);
    let reads_text = client.is_some_and(|name| TEXT_CLIENTS.contains(&name));
    match structured {
        Structured::Auto if knows && !reads_text => Forms::Both,
        Structured::On => Forms::Both,
        Structured::Compact => Forms::Compact,
        Structured::Auto | Structured::Off => Forms::Text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_lost_report_does_not_claim_that_nothing_was_written() {
        let error = spawn_blocking(|| panic!("on purpose")).await.unwrap_err();
        let answer = render_failed(
            &error,
            &ResponseOptions { path: Some("a.py".into()), ..ResponseOptions::default() },
        );
        assert!(!answer.is_success());
        assert_eq!((&answer.json["path"], &answer.json["hint"]), (&"a.py".into(), &"read the file".into()));
        for text in [&answer.text, answer.json["message"].as_str().unwrap()] {
            assert!(
                text.starts_with("it is not known whether the file was written: the edit has ended"),
                "{text}"
            );
        }
        assert_eq!(answer.json.get("written"), None, "{}", answer.json);
    }
}
