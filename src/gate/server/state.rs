//! What is known of a server while it runs, shared by the thread that keeps it and those that ask.
//!
//! Invariant: it is bounded whatever the server writes: only answers that somebody awaits and diagnostics of open
//! documents are kept.

use std::collections::{HashMap, HashSet};
use std::time::Instant;

use serde_json::{Value, json};

use super::frame::framed;
use crate::policy::{Columns, Offer};

/// Why a server is no more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ServerExit {
    /// Nobody asked it for long, or nobody will.
    Stopped,
    /// It failed; how, as the end of a sentence that begins with its name.
    Died(String),
    /// The same before it answered `initialize`: the program has no language server, or cannot start it.
    Unstarted(String),
}

/// Diagnostics that a server told by itself.
#[derive(Debug, Clone)]
pub(super) struct PublishedDiagnostics {
    /// The version of the document that they are about, where it says so.
    pub(super) version: Option<i64>,
    pub(super) items: Vec<Value>,
    pub(super) at: Instant,
}

/// What is known of a server.
#[derive(Debug)]
pub(super) struct ServerState {
    /// What it is still to be told.
    pub(super) outbox: Vec<u8>,
    /// Whether it is to be ended.
    pub(super) stop: bool,
    pub(super) ended: Option<ServerExit>,
    /// Whether it has answered the greeting.
    pub(super) greeted: bool,
    /// Whether it has said that it loaded the project, where it says so.
    pub(super) ready: bool,
    /// In what it counts columns.
    pub(super) columns: Columns,
    /// The registrations by which it can be asked for diagnostics; that of the greeting has no name.
    pub(super) pulls: HashSet<String>,
    /// How often it said that its diagnostics are to be asked for again.
    pub(super) refreshes: u64,
    /// The documents whose diagnostics are kept, by their paths.
    pub(super) open: HashSet<String>,
    pub(super) published: HashMap<String, PublishedDiagnostics>,
    /// Whether it has named the version of a text that it spoke of.
    pub(super) versions: bool,
    awaited: HashMap<u64, Option<Result<Value, i64>>>,
    last: u64,
    /// Whether somebody asks it now, and when somebody did last.
    pub(super) busy: bool,
    pub(super) used: Instant,
    /// What it last told people.
    pub(super) told: Option<String>,
    /// What it said of a configuration that it cannot read; another one has a server of its own.
    pub(super) ill: Option<String>,
}

impl ServerState {
    pub(super) fn new() -> ServerState {
        ServerState {
            outbox: Vec::new(),
            stop: false,
            ended: None,
            greeted: false,
            ready: false,
            columns: Columns::Utf16,
            pulls: HashSet::new(),
            refreshes: 0,
            open: HashSet::new(),
            published: HashMap::new(),
            versions: false,
            awaited: HashMap::new(),
            last: 0,
            busy: false,
            used: Instant::now(),
            told: None,
            ill: None,
        }
    }

    /// Tells the server something.
    pub(super) fn notify(&mut self, method: &str, params: &Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Asks it something; gives the number under which its answer will be.
    pub(super) fn request(&mut self, method: &str, params: &Value) -> u64 {
        self.last += 1;
        self.awaited.insert(self.last, None);
        self.send(&json!({ "jsonrpc": "2.0", "id": self.last, "method": method, "params": params }));
        self.last
    }

    pub(super) fn send(&mut self, message: &Value) {
        self.outbox.extend(framed(message));
    }

    /// Gives the answer to a request, once it is there.
    pub(super) fn answer(&mut self, id: u64) -> Option<Result<Value, i64>> {
        if self.awaited.get(&id)?.is_some() { self.awaited.remove(&id).flatten() } else { None }
    }

    /// Takes an answer in, if it is awaited.
    pub(super) fn answered(&mut self, id: u64, answer: Result<Value, i64>) {
        if let Some(awaited) = self.awaited.get_mut(&id) {
            *awaited = Some(answer);
        }
    }

    /// Takes back a request that nobody waits for any more.
    pub(super) fn cancel(&mut self, id: u64) {
        if self.awaited.remove(&id).is_some() {
            self.notify("$/cancelRequest", &json!({ "id": id }));
        }
    }

    /// How it says what it finds, as far as it has said; nothing while it may still offer to be asked.
    pub(super) fn offers(&self, told: Option<Offer>) -> Option<Offer> {
        told.or((!self.pulls.is_empty()).then_some(Offer::Pull))
    }
}
