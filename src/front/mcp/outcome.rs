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
use crate::front::past;
use crate::front::tools::{self, AskedAll, Tool, ToolRequest};
use crate::gate::Watch;
use crate::request::{History, Revert};

/// The result of a call: a function that renders the answer, or a question for a person.
pub(super) struct ToolOutcome {
    pub(super) shape: ResponseOptions,
    pub(super) question: Option<Box<Confirmation>>,
    pub(super) told: ToolReply,
    /// Set when rendering is faster than starting another thread.
    pub(super) is_short: bool,
}

/// Maximum bytes of text that are rendered on the reactor.
const SHORT: usize = 32 << 10;

pub(super) type ToolReply = Box<dyn FnOnce(&ResponseOptions) -> Answer + Send>;

/// Parses the arguments of a call without blocking the reactor.
pub(super) async fn raised(tool: &'static Tool, arguments: JsonObject) -> Result<ToolRequest, Error> {
    let asked = if are_few(&arguments) {
        tokio::spawn(async move { (tool.ask)(arguments) })
    } else {
        spawn_blocking(move || (tool.ask)(arguments))
    };
    asked.await.unwrap_or_else(|trouble| Err(broken(&trouble)))
}

/// True if parsing the arguments is faster than starting another thread.
fn are_few(arguments: &JsonObject) -> bool {
    const SHORT: usize = 4096;
    let long = |value: &Value| match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 8,
        Value::String(text) => text.len(),
        Value::Array(_) | Value::Object(_) => SHORT,
    };
    arguments.values().map(long).sum::<usize>() < SHORT
}

pub(super) async fn carry(
    asked: ToolRequest,
    shape: ResponseOptions,
    desk: &CallContext,
    context: &Context,
) -> ToolOutcome {
    match asked {
        ToolRequest::Edit(asked) => edit(*asked, shape, desk, context).await,
        ToolRequest::Unwritten(unwritten) => {
            let shape = told_of(shape, unwritten.shape);
            let refusal = Error::new(Code::CodeBlockRequired, "there is no code_block");
            ToolOutcome {
                shape,
                question: None,
                told: Box::new(move |shape| answer::refusal(&refusal, shape)),
                is_short: false,
            }
        }
        ToolRequest::EditAll(all) => edit_all(*all, shape, desk, context).await,
        ToolRequest::Revert(revert) => turn(revert, shape, desk, context).await,
        ToolRequest::Look(look) => {
            let seen =
                watched(desk, context, |workspace, watch| async move { workspace.look(look, watch).await });
            let seen = seen.await.unwrap_or_else(|trouble| Err(broken(&trouble)));
            let seen = seen.map_err(|refusal| shape.voice.renamed(refusal));
            let is_short = seen.as_ref().is_ok_and(|seen| seen.size().is_some_and(|size| size < SHORT));
            ToolOutcome {
                shape,
                question: None,
                told: Box::new(move |shape| answer::look(&seen, shape)),
                is_short,
            }
        }
        ToolRequest::History(history) => {
            let (most, workspace) = (history.most, Arc::clone(&desk.workspace));
            // One more entry than is shown tells if there are more.
            let history = History { most: most + 1, ..history };
            let edits = tokio::spawn(async move { workspace.history(history).await });
            let edits = edits.await.unwrap_or_else(|trouble| Err(broken(&trouble)));
            let told = Box::new(move |shape: &ResponseOptions| answer::history(&edits, most, shape));
            ToolOutcome { shape, question: None, told, is_short: false }
        }
    }
}

/// Merges the options that a tool sets with those of the call.
fn told_of(shape: ResponseOptions, wanted: ResponseOptions) -> ResponseOptions {
    let ResponseOptions { forms, path, entity, offers, .. } = shape;
    ResponseOptions { forms, path, entity, offers, ..wanted }
}

async fn edit(
    asked: tools::EditCall,
    shape: ResponseOptions,
    desk: &CallContext,
    context: &Context,
) -> ToolOutcome {
    let tools::EditCall { request, shape: wanted } = asked;
    let shape = told_of(shape, wanted);
    let mut edited =
        write(desk, context, |workspace, watch| async move { workspace.edit(request, watch).await }).await;
    let question = question(&mut edited);
    let edited = edited.map_err(|refusal| shape.voice.renamed(refusal));
    let is_short = edited.as_ref().is_ok_and(|report| report.size() < SHORT);
    ToolOutcome { shape, question, told: Box::new(move |shape| answer::answer(&edited, shape)), is_short }
}

async fn edit_all(
    all: AskedAll,
    shape: ResponseOptions,
    desk: &CallContext,
    context: &Context,
) -> ToolOutcome {
    let AskedAll { requests, paths, shape: wanted } = all;
    let shape = ResponseOptions { forms: shape.forms, offers: shape.offers, ..wanted };
    let mut edited =
        write(desk, context, |workspace, watch| async move { workspace.edit_all(requests, watch).await })
            .await;
    let question = question(&mut edited);
    ToolOutcome {
        shape,
        question,
        told: Box::new(move |shape| answer::batch(&edited, &paths, shape)),
        is_short: false,
    }
}

/// Undoes or redoes an edit.
async fn turn(revert: Revert, shape: ResponseOptions, desk: &CallContext, context: &Context) -> ToolOutcome {
    let turned =
        write(
            desk,
            context,
            |workspace, watch| async move { Ok(past::revert(&workspace, revert, watch).await) },
        );
    match turned.await {
        Ok((mut reports, turned)) => {
            let question = question(&mut reports);
            let told = Box::new(move |shape: &ResponseOptions| answer::reverted(&reports, turned, shape));
            ToolOutcome { shape, question, told, is_short: false }
        }
        Err(refusal) => ToolOutcome {
            shape,
            question: None,
            told: Box::new(move |shape| answer::refusal(&refusal, shape)),
            is_short: false,
        },
    }
}

/// Returns the question for a person that the call needs first.
fn question<T>(done: &mut Result<T, Error>) -> Option<Box<Confirmation>> {
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
    let done = done.unwrap_or_else(|trouble| Err(broken(&trouble).disk_unknown()));
    desk.tally.edited(&done);
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
    let deed = tokio::spawn(deed(Arc::clone(&desk.workspace), desk.tally.timing(watch)));
    let (done, ()) = tokio::select! {
        both = async { tokio::join!(deed, progress.pass_on()) } => both,
        never = pass_to(ended, desk.stop.clone()) => match never {},
    };
    done
}

/// Time for a call to finish after the server is stopped; most edits are written within it.
pub(in crate::front) const GRACE: Duration = Duration::from_secs(2);

/// Cancels a call some time after the server is stopped.
async fn pass_to(call: CancellationToken, stop: CancellationToken) -> Infallible {
    stop.cancelled().await;
    tokio::time::sleep(GRACE).await;
    call.cancel();
    std::future::pending().await
}

fn broken(trouble: &JoinError) -> Error {
    Error::new(Code::Internal, format!("the call stopped half-way: {trouble}"))
}
