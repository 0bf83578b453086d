//! What a command does with a workspace, from its roots to the end of the work.

use std::sync::Arc;

use super::roots::Roots;
use super::signals;
use crate::engine::{Promise, Workspace};
use crate::error::{Code, Error};
use crate::gate::Watch;
use crate::request::Author;

/// Opens the workspace and does the work, which a signal cancels.
///
/// Errors: those of opening and of the work.
pub(super) fn work<T, F: Future<Output = Result<T, Error>>>(
    roots: Roots,
    promise: Promise,
    work: impl FnOnce(Arc<Workspace>, Watch) -> F,
) -> Result<T, Error> {
    let workspace = roots.open(promise)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|trouble| Error::new(Code::Internal, format!("cannot start the runtime: {trouble}")))?;
    let stop = {
        let _entered = runtime.enter();
        signals::stop_asked()?
    };
    runtime.block_on(work(workspace, Watch::new(stop, None)))
}

/// Who asks for an edit by this command.
pub(super) fn author(command: &str) -> Author {
    Author { tool: format!("lockgate {command}"), name: "command line".to_owned() }
}
