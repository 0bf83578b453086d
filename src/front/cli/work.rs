//! What a command does with a workspace, from its opening to the end of the work.

use std::sync::Arc;

use tokio::runtime::{Builder, Runtime};
use tokio_util::sync::CancellationToken;

use super::{limits, signals};
use crate::engine::Workspace;
use crate::error::{Code, Error};
use crate::gate::Watch;
use crate::request::Author;

/// Does the work with a workspace that could be opened; a signal cancels it.
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

/// Threads of a runtime for work that blocks: one that does it, and one on which a text is parsed meanwhile.
const BLOCKING_THREADS: usize = 2;

/// The number of threads on which a runtime of several threads has its tasks.
pub(super) fn workers() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// A runtime of that sort with so many worker threads of its own, and the token that a signal to stop cancels.
///
/// Errors: `IO_FAILED` where the process may not have the descriptors and threads for it, and `INTERNAL`.
pub(super) fn runtime(mut sort: Builder, workers: usize) -> Result<(Runtime, CancellationToken), Error> {
    limits::check(workers + BLOCKING_THREADS)?;
    if workers > 0 {
        sort.worker_threads(workers);
    }
    let cannot = |trouble| Error::new(Code::Internal, format!("cannot start the runtime: {trouble}"));
    let runtime = sort.enable_all().build().map_err(cannot)?;
    let stop = {
        let _entered = runtime.enter();
        signals::stop_asked()?
    };
    Ok((runtime, stop))
}

/// Who asks for an edit by this command.
pub(super) fn author(command: &str) -> Author {
    Author { tool: format!("lockgate {command}"), name: "command line".to_owned(), agreed: None }
}
