//! What each tool call of a server uses.

use std::sync::Arc;

use rmcp::service::{RequestContext, RoleServer};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::ask::Seal;
use super::metrics::CallMetrics;
use super::options::ServerOptions;
use crate::answer::{OfferedTools, ShownParts};
use lockgate_engine::Workspace;

pub(super) type Context = RequestContext<RoleServer>;

/// The state of a server that each call uses.
#[derive(Clone)]
pub(super) struct CallContext {
    /// The workspace with the files.
    pub(super) workspace: Arc<Workspace>,
    pub(super) options: ServerOptions,
    /// The tools that rejections may propose.
    pub(super) offered_tools: OfferedTools,
    /// The parts that the answers of this connection have shown.
    pub(super) shown_parts: ShownParts,
    /// Cancelled when the server stops.
    pub(super) stop: CancellationToken,
    /// Cancelled when the client can answer no more questions.
    pub(super) input_ended: CancellationToken,
    /// Seals the questions to the client.
    pub(super) seal: Seal,
    /// Name of an authenticated client for the journal, in addition to the client's own name.
    pub(super) caller: Option<Arc<str>>,
    /// Reports the calls to the metrics.
    pub(super) metrics: CallMetrics,
    /// Tracks the calls that are not yet answered.
    pub(super) open_calls: TaskTracker,
}
