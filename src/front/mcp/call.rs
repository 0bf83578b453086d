//! One call of a tool, from its arguments to its answer.
//!
//! Invariant: whatever happens, the client is answered; a refusal is an answer with `isError`, so that the model sees
//! it. What computes runs off the reactor.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{CallToolResult, ContentBlock, JsonObject, ProtocolVersion};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::Value;
use tokio::task::{JoinError, spawn_blocking};
use tokio_util::sync::CancellationToken;

use super::Structured;
use super::progress::watch;
use crate::engine::{Report, Workspace};
use crate::error::{Code, Error};
use crate::front::answer::{self, Answer, Forms, Shape};
use crate::front::tools::{Ask, Tool};

/// Carries out one call.
pub(super) async fn call(
    tool: &'static Tool,
    workspace: Arc<Workspace>,
    structured: Structured,
    arguments: JsonObject,
    context: RequestContext<RoleServer>,
    stop: CancellationToken,
) -> CallToolResult {
    let forms = forms(structured, context.protocol_version());
    let path = arguments.get("path").and_then(Value::as_str).map(str::to_owned);
    let mut shape = Shape { forms, path: path.clone(), ..Shape::default() };
    let asked =
        spawn_blocking(move || (tool.ask)(arguments)).await.unwrap_or_else(|trouble| Err(broken(&trouble)));
    let result = match asked {
        Err(refusal) => Err(refusal),
        Ok(Ask { request, shape: wanted }) => {
            shape = Shape { forms, path, ..wanted };
            let ended = context.ct.child_token();
            let (watch, progress) = watch(&context, ended.clone());
            // A task of its own: should it fail, this one still answers.
            let edit = tokio::spawn(async move { workspace.edit(request, watch).await });
            let (edited, ()) = tokio::select! {
                both = async { tokio::join!(edit, progress.pass_on()) } => both,
                never = pass_to(ended, stop) => match never {},
            };
            edited.unwrap_or_else(|trouble| Err(broken(&trouble).disk_unknown()))
        }
    };
    render(result, shape).await
}

/// How long a call may go on once the server is asked to stop: most edits are written by then.
const GRACE: Duration = Duration::from_secs(2);

/// Ends a call some time after the server is asked to stop.
async fn pass_to(call: CancellationToken, stop: CancellationToken) -> Infallible {
    stop.cancelled().await;
    tokio::time::sleep(GRACE).await;
    call.cancel();
    std::future::pending().await
}

async fn render(result: Result<Report, Error>, shape: Shape) -> CallToolResult {
    let forms = shape.forms;
    let path = shape.path.clone();
    let rendered = spawn_blocking(move || answer::answer(&result, &shape)).await;
    let Answer { success, json, text } = rendered.unwrap_or_else(|trouble| undescribed(&trouble, path));
    let content = vec![ContentBlock::text(text)];
    let mut result = if success { CallToolResult::success(content) } else { CallToolResult::error(content) };
    result.structured_content = match forms {
        Forms::Both | Forms::Json => Some(json),
        Forms::Text => None,
    };
    result
}

/// The answer where the report is lost: what was written stays written.
fn undescribed(trouble: &JoinError, path: Option<String>) -> Answer {
    let message = format!("the edit has ended, but its report could not be put into words: {trouble}");
    let error = Error::new(Code::Internal, message).disk_unknown();
    answer::refusal(&error, &Shape { path, ..Shape::default() })
}

/// The forms in which a client of this protocol version is answered.
fn forms(structured: Structured, version: Option<ProtocolVersion>) -> Forms {
    let knows = version.is_none_or(|version| version >= ProtocolVersion::V_2025_06_18);
    match structured {
        Structured::Auto if knows => Forms::Both,
        Structured::On => Forms::Both,
        Structured::Auto | Structured::Off => Forms::Text,
    }
}

fn broken(trouble: &JoinError) -> Error {
    Error::new(Code::Internal, format!("the call stopped half-way: {trouble}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_lost_report_does_not_claim_that_nothing_was_written() {
        let trouble = spawn_blocking(|| panic!("on purpose")).await.unwrap_err();
        let told = undescribed(&trouble, Some("a.py".into()));
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
