//! The state of a running server, shared by its own thread and the callers.
//!
//! Invariant: its size is bounded whatever the server writes: only awaited responses and diagnostics of open
//! documents are kept.

use std::collections::{HashMap, HashSet};
use std::time::Instant;

use serde_json::{Value, json};

use super::frame::encode;
use lockgate_policy::{Columns, Offer};

/// The reason why a server has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ServerExit {
    /// It was idle for too long, or is no longer needed.
    Stopped,
    /// It failed. The reason is the end of a sentence that begins with its name.
    Died(String),
    /// It failed before it answered `initialize`: the program has no language server, or cannot start it.
    FailedToStart(String),
}

/// Diagnostics that a server published without a request.
#[derive(Debug, Clone)]
pub(super) struct PublishedDiagnostics {
    /// The version of the document, if the server states it.
    pub(super) version: Option<i64>,
    pub(super) items: Vec<Value>,
    pub(super) at: Instant,
}

/// The diagnostics of a server, and the ways in which it reports them.
#[derive(Debug, Default)]
pub(super) struct DiagnosticsState {
    /// The registrations for pull diagnostics; the one from `initialize` has an empty name.
    pub(super) pull_registrations: HashSet<String>,
    /// The number of requests of the server to refresh them.
    pub(super) refreshes: u64,
    /// The paths of the documents whose diagnostics are kept.
    pub(super) open: HashSet<String>,
    pub(super) published: HashMap<String, PublishedDiagnostics>,
    /// Set when it has published diagnostics with a version.
    pub(super) states_versions: bool,
}

/// The requests to a server whose responses are awaited.
#[derive(Debug, Default)]
struct SentRequests {
    /// The response of each, or the code of its error, once it has arrived.
    responses: HashMap<u64, Option<Result<Value, i64>>>,
    last_id: u64,
}

/// The state of a running server.
#[derive(Debug)]
pub(super) struct ServerState {
    /// Bytes that are still to be sent to the server.
    pub(super) outgoing: Vec<u8>,
    /// Set when the server is to be ended.
    pub(super) stop: bool,
    pub(super) exit: Option<ServerExit>,
    /// Set when it has answered `initialize`.
    pub(super) initialized: bool,
    /// Set when it has loaded the project, or does not report that.
    pub(super) ready: bool,
    /// The unit in which it counts columns.
    pub(super) columns: Columns,
    pub(super) diagnostics: DiagnosticsState,
    requests: SentRequests,
    /// Set while a caller uses it.
    pub(super) busy: bool,
    /// The end of the last use.
    pub(super) last_used: Instant,
    /// The last message that it showed to the user.
    pub(super) last_message: Option<String>,
    /// Its message about an unreadable configuration. A changed configuration gets another server.
    pub(super) config_error: Option<String>,
}

impl ServerState {
    pub(super) fn new() -> ServerState {
        ServerState {
            outgoing: Vec::new(),
            stop: false,
            exit: None,
            initialized: false,
            ready: false,
            columns: Columns::Utf16,
            diagnostics: DiagnosticsState::default(),
            requests: SentRequests::default(),
            busy: false,
            last_used: Instant::now(),
            last_message: None,
            config_error: None,
        }
    }

    /// Queues a notification for the server.
    pub(super) fn notify(&mut self, method: &str, params: &Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Queues a request, and returns its id.
    pub(super) fn request(&mut self, method: &str, params: &Value) -> u64 {
        self.requests.last_id += 1;
        let id = self.requests.last_id;
        self.requests.responses.insert(id, None);
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    pub(super) fn send(&mut self, message: &Value) {
        self.outgoing.extend(encode(message));
    }

    /// Takes the response to a request, if it has arrived.
    pub(super) fn take_response(&mut self, id: u64) -> Option<Result<Value, i64>> {
        let responses = &mut self.requests.responses;
        if responses.get(&id)?.is_some() { responses.remove(&id).flatten() } else { None }
    }

    /// Stores a response, if it is awaited.
    pub(super) fn store_response(&mut self, id: u64, answer: Result<Value, i64>) {
        if let Some(awaited) = self.requests.responses.get_mut(&id) {
            *awaited = Some(answer);
        }
    }

    /// Cancels a request whose response is no longer needed.
    pub(super) fn cancel(&mut self, id: u64) {
        if self.requests.responses.remove(&id).is_some() {
            self.notify("$/cancelRequest", &json!({ "id": id }));
        }
    }

    /// Returns how the server reports diagnostics, as far as it is known; `None` while it may still register
    /// for pull diagnostics.
    pub(super) fn offer(&self, stated: Option<Offer>) -> Option<Offer> {
        stated.or((!self.diagnostics.pull_registrations.is_empty()).then_some(Offer::Pull))
    }
}
