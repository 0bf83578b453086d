//! What a command does with a workspace, from its opening to the end of the work.

use std::sync::Arc;

use tokio::runtime::{Builder, Runtime};
use tokio_util::sync::CancellationToken;

use super::signals;
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
    let (runtime, stop) = runtime(Builder::new_current_thread())?;
    runtime.block_on(work(workspace, Watch::new(stop, None)))
}

/// A runtime of that sort, and the token that a signal to stop cancels.
///
/// Errors: `INTERNAL`.
pub(super) fn runtime(mut sort: Builder) -> Result<(Runtime, CancellationToken), Error> {
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
