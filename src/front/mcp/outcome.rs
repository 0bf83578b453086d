//! Executes the request of a call and watches it until it is done.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use rmcp::model::JsonObject;
use serde_json::Value;
use tokio::task::{JoinError, spawn_blocking};
use tokio_util::sync::CancellationToken;

use super::call::{CallContext, Context};
use super::metrics::Edited;
use super::progress::watch;
use crate::engine::Workspace;
use crate::error::{Code, Confirmation, Error};
use crate::front::answer::{self, Answer, ResponseOptions};
use crate::front::revert;
use crate::front::tools::{self, BatchCall, Tool, ToolRequest};
use crate::gate::Watch;
use crate::request::{HistoryRequest, UndoRequest};

/// The result of a call: a function that renders the answer, or a question for a person.
pub(super) struct ToolOutcome {
    pub(super) options: ResponseOptions,
    pub(super) question: Option<Box<Confirmation>>,
    pub(super) reply: ToolReply,
    /// Set when rendering is faster than starting another thread.
    pub(super) is_short: bool,
}

/// Maximum bytes of text that are rendered on the reactor.
const SHORT_TEXT_BYTES: usize = 32 << 10;

pub(super) type ToolReply = Box<dyn FnOnce(&ResponseOptions) -> Answer + Send>;

/// Parses the arguments of a call without blocking the reactor.
pub(super) async fn parse_request(tool: &'static Tool, arguments: JsonObject) -> Result<ToolRequest, Error> {
    let asked = if is_short(&arguments) {
        tokio::spawn(async move { (tool.parse)(arguments) })
    } else {
        spawn_blocking(move || (tool.parse)(arguments))
    };
    asked.await.unwrap_or_else(|trouble| Err(call_failed(&trouble)))
}

/// True if parsing the arguments is faster than starting another thread.
fn is_short(arguments: &JsonObject) -> bool {
    const SHORT: usize = 4096;
    let long = |value: &Value| match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 8,
        Value::String(text) => text.len(),
        Value::Array(_) | Value::Object(_) => SHORT,
    };
    arguments.values().map(long).sum::<usize>() < SHORT
}

pub(super) async fn execute(
    asked: ToolRequest,
    shape: ResponseOptions,
    desk: &CallContext,
    context: &Context,
) -> ToolOutcome {
    match asked {
        ToolRequest::Edit(asked) => edit(*asked, shape, desk, context).await,
        ToolRequest::Unwritten(unwritten) => {
            let shape = merge_options(shape, unwritten.options);
            let refusal = Error::new(Code::CodeBlockRequired, "there is no code_block");
            ToolOutcome {
                options: shape,
                question: None,
                reply: Box::new(move |shape| answer::render_error(&refusal, shape)),
                is_short: false,
            }
        }
        ToolRequest::Batch(all) => edit_all(*all, shape, desk, context).await,
        ToolRequest::Revert(request) => revert(request, shape, desk, context).await,
        ToolRequest::Read(look) => {
            let seen =
                watched(
                    desk,
                    context,
                    |workspace, watch| async move { workspace.run_read(look, watch).await },
                );
            let seen = seen.await.unwrap_or_else(|trouble| Err(call_failed(&trouble)));
            let seen = seen.map_err(|refusal| shape.profile.rename_error_fields(refusal));
            let is_short =
                seen.as_ref().is_ok_and(|seen| seen.size().is_some_and(|size| size < SHORT_TEXT_BYTES));
            ToolOutcome {
                options: shape,
                question: None,
                reply: Box::new(move |shape| answer::read(&seen, shape)),
                is_short,
            }
        }
        ToolRequest::History(history) => {
            let (most, workspace) = (history.max_entries, Arc::clone(&desk.workspace));
            // One more entry than is shown tells if there are more.
            let history = HistoryRequest { max_entries: most + 1, ..history };
            let edits = tokio::spawn(async move { workspace.history(history).await });
            let edits = edits.await.unwrap_or_else(|trouble| Err(call_failed(&trouble)));
            let told = Box::new(move |shape: &ResponseOptions| answer::history(&edits, most, shape));
            ToolOutcome { options: shape, question: None, reply: told, is_short: false }
        }
    }
}

/// Merges the options that a tool sets with those of the call.
fn merge_options(shape: ResponseOptions, wanted: ResponseOptions) -> ResponseOptions {
    let ResponseOptions { forms, path, entity, offers, .. } = shape;
    ResponseOptions { forms, path, entity, offers, ..wanted }
}

async fn edit(
    asked: tools::EditCall,
    shape: ResponseOptions,
    desk: &CallContext,
    context: &Context,
) -> ToolOutcome {
    let tools::EditCall { request, options: wanted } = asked;
    let shape = merge_options(shape, wanted);
    let mut edited =
        write(desk, context, |workspace, watch| async move { workspace.edit(request, watch).await }).await;
    let question = take_confirmation(&mut edited);
    let edited = edited.map_err(|refusal| shape.profile.rename_error_fields(refusal));
    let is_short = edited.as_ref().is_ok_and(|report| report.size() < SHORT_TEXT_BYTES);
    ToolOutcome {
        options: shape,
        question,
        reply: Box::new(move |shape| answer::render(&edited, shape)),
        is_short,
    }
}

async fn edit_all(
    all: BatchCall,
    shape: ResponseOptions,
    desk: &CallContext,
    context: &Context,
) -> ToolOutcome {
    let BatchCall { requests, paths, options: wanted } = all;
    let shape = ResponseOptions { forms: shape.forms, offers: shape.offers, ..wanted };
    let mut edited =
        write(desk, context, |workspace, watch| async move { workspace.edit_all(requests, watch).await })
            .await;
    let question = take_confirmation(&mut edited);
    ToolOutcome {
        options: shape,
        question,
        reply: Box::new(move |shape| answer::batch(&edited, &paths, shape)),
        is_short: false,
    }
}

/// Undoes or redoes an edit.
async fn revert(
    revert: UndoRequest,
    shape: ResponseOptions,
    desk: &CallContext,
    context: &Context,
) -> ToolOutcome {
    let turned = write(desk, context, |workspace, watch| async move {
        Ok(revert::revert(&workspace, revert, watch).await)
    });
    match turned.await {
        Ok((mut reports, turned)) => {
            let question = take_confirmation(&mut reports);
            let told =
                Box::new(move |shape: &ResponseOptions| answer::render_revert(&reports, turned, shape));
            ToolOutcome { options: shape, question, reply: told, is_short: false }
        }
        Err(refusal) => ToolOutcome {
            options: shape,
            question: None,
            reply: Box::new(move |shape| answer::render_error(&refusal, shape)),
            is_short: false,
        },
    }
}

/// Returns the question for a person that the call needs first.
fn take_confirmation<T>(done: &mut Result<T, Error>) -> Option<Box<Confirmation>> {
    done.as_mut().err()?.question.take()
}

/// Runs an operation that may write.
async fn write<T, F>(
    desk: &CallContext,
    context: &Context,
    deed: impl FnOnce(Arc<Workspace>, Watch) -> F,
) -> Result<T, Error>
where
    T: Edited + Send + 'static,
    F: Future<Output = Result<T, Error>> + Send + 'static,
{
    let done = watched(desk, context, deed).await;
    let done = done.unwrap_or_else(|trouble| Err(call_failed(&trouble).with_unknown_disk()));
    desk.metrics.edited(&done);
    done
}

/// Runs an operation with a watch until it is done.
async fn watched<T, F>(
    desk: &CallContext,
    context: &Context,
    deed: impl FnOnce(Arc<Workspace>, Watch) -> F,
) -> Result<Result<T, Error>, JoinError>
where
    T: Send + 'static,
    F: Future<Output = Result<T, Error>> + Send + 'static,
{
    let ended = context.ct.child_token();
    let (watch, progress) = watch(context, ended.clone());
    // A separate task: this one answers even if it panics.
    let deed = tokio::spawn(deed(Arc::clone(&desk.workspace), desk.metrics.timing(watch)));
    let (done, ()) = tokio::select! {
        both = async { tokio::join!(deed, progress.send_all()) } => both,
        never = cancel_after_stop(ended, desk.stop.clone()) => match never {},
    };
    done
}

/// Time for a call to finish after the server is stopped; most edits are written within it.
pub(in crate::front) const GRACE: Duration = Duration::from_secs(2);

/// Cancels a call some time after the server is stopped.
async fn cancel_after_stop(call: CancellationToken, stop: CancellationToken) -> Infallible {
    stop.cancelled().await;
    tokio::time::sleep(GRACE).await;
    call.cancel();
    std::future::pending().await
}

fn call_failed(trouble: &JoinError) -> Error {
    Error::new(Code::Internal, format!("the call stopped early: {trouble}"))
}
