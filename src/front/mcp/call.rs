//! Handles one tool call, from its arguments to its answer.
//!
//! Invariant: every call is answered. A rejection is an answer with `isError`, so that the model sees it. CPU-bound
//! work runs on blocking threads.

use std::sync::Arc;

use rmcp::model::{CallToolResponse, CallToolResult, ContentBlock, JsonObject, ProtocolVersion};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::Value;
use tokio::task::{JoinError, spawn_blocking};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::ask::{AskOutcome, Inquiry, ModelCode, Prompt, Resumed, Returned, Seal};
use super::metrics::CallMetrics;
use super::outcome::{ToolOutcome, carry, raised};
use super::server::Caller;
use super::{ServerOptions, Structured};
use crate::engine::Workspace;
use crate::error::{Code, Error};
use crate::front::answer::{self, Answer, Forms, Offers, ResponseOptions, ToolCall};
use crate::front::tools::{Tool, ToolRequest, Unwritten};
use crate::gate::clean;
use crate::request::{Author, Target};

/// Maximum characters of a client's name in the journal.
const LONGEST_NAME: usize = 80;

/// The state of a server that each call uses.
#[derive(Clone)]
pub(super) struct CallContext {
    /// The workspace with the files.
    pub(super) workspace: Arc<Workspace>,
    pub(super) manners: ServerOptions,
    /// Name of the tool that reads lines, if it is offered.
    pub(super) reader: Option<&'static str>,
    /// Cancelled when the server stops.
    pub(super) stop: CancellationToken,
    /// Seals the questions to the client.
    pub(super) seal: Seal,
    /// The client that makes the calls.
    pub(super) caller: Caller,
    /// Reports the calls to the metrics.
    pub(super) tally: CallMetrics,
    /// Tracks the calls that are not yet answered.
    pub(super) open: TaskTracker,
}

/// Maximum number of times that a person is asked about one call when the file keeps changing.
const ASKED: usize = 3;

pub(super) type Context = RequestContext<RoleServer>;

/// Handles one call and counts it.
pub(super) async fn call(
    tool: &'static Tool,
    mut desk: CallContext,
    arguments: JsonObject,
    returned: Returned,
    context: Context,
) -> CallToolResponse {
    let _open = desk.open.token();
    desk.tally.tool = tool.name;
    let tally = desk.tally.clone();
    let answer = carried_out(tool, desk, arguments, returned, context).await;
    tally.answered(&answer);
    answer
}

/// Handles one call. Asks the client's model for missing code, and a person before the write if the policy requires
/// it.
async fn carried_out(
    tool: &'static Tool,
    desk: CallContext,
    arguments: JsonObject,
    returned: Returned,
    context: Context,
) -> CallToolResponse {
    let forms = forms(desk.manners.structured, context.protocol_version());
    let path = arguments.get(tool.voice.names.path).and_then(Value::as_str).map(str::to_owned);
    let offers = Offers { again: again(tool, &arguments), reader: desk.reader };
    let shape = ResponseOptions { forms, path, voice: tool.voice, offers, ..ResponseOptions::default() };
    let inquiry = Inquiry::new(tool.name, &arguments, &desk, &context);
    let (asked, resumed) = match resumed(tool, arguments, &inquiry, &returned).await {
        Ok(both) => both,
        Err(refusal) => return refused(shape, refusal).await.into(),
    };
    let shape = ResponseOptions { entity: asked.target().and_then(Target::entity).cloned(), ..shape };
    let (agreed, written) = match resumed {
        Resumed::Fresh => (None, None),
        Resumed::Code(written) => (None, Some(written)),
        Resumed::Agreed(about, written) => (Some(about), written),
    };
    let author = Author { agreed, ..author(tool, &desk.caller, &context) };
    match settled(asked, written, &inquiry, &desk).await {
        AskOutcome::Answered((asked, written)) => {
            agreed_to(asked, written, author, &shape, &inquiry, &desk, &context).await
        }
        AskOutcome::Later(later) => (*later).into(),
        AskOutcome::No(refusal) => refused(shape, tool.voice.renamed(refusal)).await.into(),
    }
}

/// Parses the call and verifies the answers that came with it.
async fn resumed(
    tool: &'static Tool,
    arguments: JsonObject,
    inquiry: &Inquiry,
    returned: &Returned,
) -> Result<(ToolRequest, Resumed), Error> {
    let asked = raised(tool, arguments).await?;
    let lost =
        if matches!(asked, ToolRequest::Unwritten(_)) { Code::CodeBlockRequired } else { Code::NotConfirmed };
    Ok((asked, inquiry.resume(returned, lost)?))
}

/// Returns the request, with its code if that was missing.
async fn settled(
    asked: ToolRequest,
    written: Option<ModelCode>,
    inquiry: &Inquiry,
    desk: &CallContext,
) -> AskOutcome<(ToolRequest, Option<ModelCode>)> {
    let unwritten = match asked {
        ToolRequest::Unwritten(unwritten) => *unwritten,
        asked @ (ToolRequest::Edit(_)
        | ToolRequest::EditAll(_)
        | ToolRequest::Revert(_)
        | ToolRequest::Look(_)
        | ToolRequest::History(_)) => {
            return AskOutcome::Answered((asked, None));
        }
    };
    let written = match written {
        Some(written) => written,
        None => match write_code(&unwritten, inquiry, desk).await {
            AskOutcome::Answered(written) => written,
            AskOutcome::Later(later) => return AskOutcome::Later(later),
            AskOutcome::No(refusal) => return AskOutcome::No(refusal),
        },
    };
    let asked = unwritten.written(written.code.clone(), written.version.clone());
    AskOutcome::Answered((ToolRequest::Edit(Box::new(asked)), Some(written)))
}

/// Asks the client's model for code, if the edit is possible at all.
async fn write_code(unwritten: &Unwritten, inquiry: &Inquiry, desk: &CallContext) -> AskOutcome<ModelCode> {
    let prompt = match desk.workspace.ahead(unwritten.request.clone()).await {
        Ok(reading) => Prompt::new(&unwritten.instruction, &reading),
        Err(refusal) => Err(refusal),
    };
    match prompt {
        Ok(prompt) => inquiry.model(&prompt).await,
        Err(refusal) => AskOutcome::No(refusal),
    }
}

/// Executes the request, after a person's confirmation if the policy requires it.
async fn agreed_to(
    mut asked: ToolRequest,
    written: Option<ModelCode>,
    mut author: Author,
    shape: &ResponseOptions,
    inquiry: &Inquiry,
    desk: &CallContext,
    context: &Context,
) -> CallToolResponse {
    for _ in 0..ASKED {
        let again = inquiry.reaches_a_person().then(|| asked.clone());
        let ToolOutcome { shape: wanted, question, told, is_short } =
            carry(asked.by(&author), shape.clone(), desk, context).await;
        let Some(question) = question else { return render(wanted, told, is_short).await.into() };
        match (inquiry.person(&question, written.as_ref()).await, again) {
            (AskOutcome::Answered(()), Some(again)) => {
                author.agreed = Some(question.about);
                asked = again;
            }
            (AskOutcome::Later(later), _) => return (*later).into(),
            (AskOutcome::No(refusal), _) => return refused(wanted, refusal).await.into(),
            (AskOutcome::Answered(()), None) => break,
        }
    }
    let seen = format!("the {} changed each time that a person was asked", shape.noun());
    refused(shape.clone(), Error::new(Code::NotConfirmed, seen)).await.into()
}

async fn refused(shape: ResponseOptions, refusal: Error) -> CallToolResult {
    render(shape, move |shape| answer::refusal(&refusal, shape), false).await
}

/// Returns the author: the name of the token and the name that the client gives itself.
fn author(tool: &Tool, caller: &Caller, context: &Context) -> Author {
    let client = context.client_info();
    let name = client.map(|client| clean(&format!("{} {}", client.name, client.version)));
    let name: String = name.unwrap_or_default().chars().take(LONGEST_NAME).collect();
    let name = match &caller.name {
        Some(token) if name.is_empty() => token.to_string(),
        Some(token) => format!("{token} ({name})"),
        None => name,
    };
    Author { tool: tool.name.to_owned(), name, agreed: None }
}

/// Returns the call if it has a search text, which a rejection may correct.
fn again(tool: &'static Tool, arguments: &JsonObject) -> Option<ToolCall> {
    let searches = arguments.contains_key(tool.voice.names.search);
    searches.then(|| ToolCall { tool: tool.name, arguments: arguments.clone() })
}

/// Renders an answer; on a blocking thread, unless it is short.
async fn render(
    shape: ResponseOptions,
    told: impl FnOnce(&ResponseOptions) -> Answer + Send + 'static,
    is_short: bool,
) -> CallToolResult {
    let forms = shape.forms;
    let plain = ResponseOptions {
        path: shape.path.clone(),
        entity: shape.entity.clone(),
        ..ResponseOptions::default()
    };
    let rendered = if is_short {
        tokio::spawn(async move { told(&shape) }).await
    } else {
        spawn_blocking(move || told(&shape)).await
    };
    let Answer { success, json, text } = rendered.unwrap_or_else(|trouble| undescribed(&trouble, &plain));
    let content = vec![ContentBlock::text(text)];
    let mut result = if success { CallToolResult::success(content) } else { CallToolResult::error(content) };
    result.structured_content = match forms {
        Forms::Both | Forms::Json => Some(json),
        Forms::Text => None,
    };
    result
}

/// Returns the answer when rendering failed; a write stays on disk.
fn undescribed(trouble: &JoinError, shape: &ResponseOptions) -> Answer {
    let message = format!("the edit has ended, but its report could not be rendered: {trouble}");
    let error = Error::new(Code::Internal, message).disk_unknown();
    answer::refusal(&error, shape)
}

/// Returns the forms of answers for a client's protocol version.
fn forms(structured: Structured, version: Option<ProtocolVersion>) -> Forms {
    let knows = version.is_none_or(|version| version >= ProtocolVersion::V_2025_06_18);
    match structured {
        Structured::Auto if knows => Forms::Both,
        Structured::On => Forms::Both,
        Structured::Auto | Structured::Off => Forms::Text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_lost_report_does_not_claim_that_nothing_was_written() {
        let trouble = spawn_blocking(|| panic!("on purpose")).await.unwrap_err();
        let told = undescribed(
            &trouble,
            &ResponseOptions { path: Some("a.py".into()), ..ResponseOptions::default() },
        );
        assert!(!told.success);
        assert_eq!((&told.json["path"], &told.json["hint"]), (&"a.py".into(), &"read the file".into()));
        for text in [&told.text, told.json["message"].as_str().unwrap()] {
            assert!(
                text.starts_with("it is not known whether the file was written: the edit has ended"),
                "{text}"
            );
        }
        assert_eq!(told.json.get("written"), None, "{}", told.json);
    }
}
