//! Executes the request of a call and watches it until it is done.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use rmcp::model::JsonObject;
use serde_json::Value;
use tokio::task::{JoinError, spawn_blocking};
use tokio_util::sync::CancellationToken;

use super::call_context::{CallContext, Context};
use super::progress::watch;
use crate::answer::{EditResult, ResponseOptions};
use crate::tools::{CallReply, ReadCall, Tool, ToolRequest};
use lockgate_checks::Watch;
use lockgate_engine::Workspace;
use lockgate_error::{Code, Confirmation, Error};

/// The result of a call: the reply, or a question for a person.
pub(super) struct ToolOutcome {
    pub(super) options: ResponseOptions,
    pub(super) question: Option<Box<Confirmation>>,
    pub(super) reply: CallReply,
}

/// Parses the arguments of a call without blocking the reactor.
pub(super) async fn parse_request(tool: &'static Tool, arguments: JsonObject) -> Result<ToolRequest, Error> {
    let request = if is_short(&arguments) {
        tokio::spawn(async move { (tool.parse)(arguments) })
    } else {
        spawn_blocking(move || (tool.parse)(arguments))
    };
    request.await.unwrap_or_else(|error| Err(call_failed(&error)))
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

/// Executes the requests of one call.
pub(super) struct Executor<'a> {
    pub(super) call_context: &'a CallContext,
    pub(super) context: &'a Context,
}

impl Executor<'_> {
    pub(super) async fn execute(&self, request: ToolRequest, options: ResponseOptions) -> ToolOutcome {
        match request {
            ToolRequest::Read(call) => self.read(call, options).await,
            request @ (ToolRequest::Edit(_)
            | ToolRequest::Unwritten(_)
            | ToolRequest::Batch(_)
            | ToolRequest::Revert(_)) => self.write(request, options).await,
        }
    }

    async fn read(&self, call: Arc<dyn ReadCall>, options: ResponseOptions) -> ToolOutcome {
        let reply = self.watched(call_failed, |workspace, watch| call.run(workspace, watch)).await;
        let reply = reply.unwrap_or_else(|error| options.profile.rename_error_field(error).into());
        ToolOutcome { options, question: None, reply }
    }

    /// Executes a request that may write.
    async fn write(&self, request: ToolRequest, options: ResponseOptions) -> ToolOutcome {
        let options = request.with_options(options);
        let written = self.watched(
            |error| call_failed(error).with_unknown_disk(),
            |workspace, watch| async move { Ok(request.write(&workspace, watch).await) },
        );
        let mut result = written.await.unwrap_or_else(EditResult::rejected);
        self.call_context.metrics.edited(result.reports.as_deref());
        let question = result.take_question();
        let result = result.map_error(|error| options.profile.rename_error_field(error));
        let reply =
            CallReply { size: result.size(), render: Box::new(move |options| result.render(options)) };
        ToolOutcome { options, question, reply }
    }

    /// Runs an operation with a watch until it is done; `stopped` makes the error if it stops before it has a result.
    async fn watched<T, F>(
        &self,
        stopped: impl FnOnce(&JoinError) -> Error,
        operation: impl FnOnce(Arc<Workspace>, Watch) -> F,
    ) -> Result<T, Error>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, Error>> + Send + 'static,
    {
        let Executor { call_context, context } = self;
        let ended = context.ct.child_token();
        let (watch, progress) = watch(context, ended.clone());
        let watch = watch.with_stop(call_context.stop.clone());
        // A separate task: this one answers even if it panics.
        let operation =
            tokio::spawn(operation(Arc::clone(&call_context.workspace), call_context.metrics.timing(watch)));
        let (result, ()) = tokio::select! {
            both = async { tokio::join!(operation, progress.send_all()) } => both,
            never = cancel_after_stop(ended, call_context.stop.clone()) => match never {},
        };
        result.unwrap_or_else(|error| Err(stopped(&error)))
    }
}

/// Time for a call to finish after the server is stopped; most edits are written within it.
pub(crate) const GRACE: Duration = Duration::from_secs(2);
/// Time for a server to end after it is stopped: the running calls, then the clients that read their answers.
pub(crate) const STOP_TIMEOUT: Duration = GRACE.saturating_add(Duration::from_secs(5));

/// Cancels a call some time after the server is stopped.
async fn cancel_after_stop(call: CancellationToken, stop: CancellationToken) -> Infallible {
    stop.cancelled().await;
    tokio::time::sleep(GRACE).await;
    call.cancel();
    std::future::pending().await
}

fn call_failed(error: &JoinError) -> Error {
    Error::new(Code::Internal, format!("the call stopped early: {error}"))
}
