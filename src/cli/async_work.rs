//! Runs the asynchronous work of a command.

use std::sync::Arc;

use tokio::runtime::{Builder, Runtime};
use tokio_util::sync::CancellationToken;

use super::spinner::with_spinner;
use super::{limits, signals};
use lockgate_checks::Watch;
use lockgate_edit::request::Author;
use lockgate_engine::Workspace;
use lockgate_error::{Code, Error};
use lockgate_mcp::answer::EditResult;
use lockgate_mcp::tools::ToolRequest;

/// Runs the work with an opened workspace; a signal cancels it.
///
/// Errors: those of opening and of the work.
pub(super) fn work<T, F: Future<Output = Result<T, Error>>>(
    opened: Result<Arc<Workspace>, Error>,
    work: impl FnOnce(Arc<Workspace>, Watch) -> F,
) -> Result<T, Error> {
    let workspace = opened?;
    let (runtime, stop) = runtime(Builder::new_current_thread(), 0)?;
    runtime.block_on(work(workspace, Watch::new(stop, None)))
}

/// Executes a request that may write, while a spinner shows the gates.
pub(super) fn write(opened: Result<Arc<Workspace>, Error>, request: ToolRequest) -> EditResult {
    let result = work(opened, |workspace, watch| async move {
        Ok(with_spinner(watch, async |watch| request.write(&workspace, watch).await).await)
    });
    result.unwrap_or_else(EditResult::rejected)
}

/// Number of blocking threads of a runtime: one for work, and one on which a text is parsed meanwhile.
const BLOCKING_THREADS: usize = 2;

/// Returns the number of worker threads of a multi-threaded runtime.
pub(super) fn workers() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Builds a runtime with `workers` worker threads, and the token that a signal cancels.
///
/// Errors: `IO_FAILED` when the process lacks descriptors or threads, and `INTERNAL`.
pub(super) fn runtime(mut builder: Builder, workers: usize) -> Result<(Runtime, CancellationToken), Error> {
    limits::check(workers + BLOCKING_THREADS)?;
    if workers > 0 {
        builder.worker_threads(workers);
    }
    let cannot = |error| Error::new(Code::Internal, format!("cannot start the runtime: {error}"));
    let runtime = builder.enable_all().build().map_err(cannot)?;
    let stop = {
        let _entered = runtime.enter();
        signals::stop_token()?
    };
    Ok((runtime, stop))
}

/// Returns the author of edits by this command.
pub(super) fn author(command: &str) -> Author {
    Author { tool: format!("lockgate {command}"), name: "command line".to_owned(), confirmation_id: None }
}
