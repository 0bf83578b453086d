//! Requests diagnostics of texts from a server, each in place of a file, together with the other drafts of a
//! call.
//!
//! Invariant: texts shown for a request are reverted after it, however it ends. A server that has not
//! reported on exactly this text is never taken for one without findings.

use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::documents::{Documents, uri};
use super::running::{Launch, RunningServer, WaitOutcome};
use super::state::PublishedDiagnostics;
use crate::error::GateError;
use lockgate_policy::{Columns, Offer};
use lockgate_sandbox::{Halt, Limit};
use lockgate_text::Version;

/// The time to wait after diagnostics without a version, in case newer ones follow.
const SETTLE: Duration = Duration::from_millis(250);
/// The largest number of repeats when the server asks for a refresh.
const MAX_REFRESHES: usize = 3;
/// The largest number of repeats when the server cancels a request.
const MAX_CANCELLED: usize = 100;
/// The pause before such a repeat.
const RETRY_PAUSE: Duration = Duration::from_millis(30);
/// The number of timeouts in a row after which a server counts as hanging.
const MAX_TIMEOUTS: usize = 2;

/// LSP 3.17, `ErrorCodes`: the request was cancelled, the content was modified, the server cancelled it.
const CANCELLED_CODES: [i64; 3] = [-32800, -32801, -32802];

/// A text at an absolute path.
#[derive(Debug)]
pub(super) struct DocumentText<'a> {
    pub(super) path: String,
    /// The language id of the document.
    pub(super) language: String,
    pub(super) view: &'a str,
}

/// A request for the diagnostics of some texts.
#[derive(Debug)]
pub(super) struct DiagnosticsRequest<'a> {
    /// The texts whose diagnostics are requested.
    pub(super) texts: Vec<DocumentText<'a>>,
    /// The other drafts of the call.
    pub(super) overlays: Vec<DocumentText<'a>>,
    /// The current files of the project, by absolute path.
    pub(super) files: BTreeMap<String, Version>,
    /// Set when one of the drafts is of a file that is not on disk.
    pub(super) has_new_files: bool,
    /// The way the server reports diagnostics, if its definition states it.
    pub(super) offer: Option<Offer>,
}

/// A running server, and the documents that it has.
#[derive(Debug)]
pub(super) struct ServerSession {
    pub(super) server: RunningServer,
    documents: Documents,
    /// The files of the project as the server knows them.
    known_files: Option<BTreeMap<String, Version>>,
    /// The number of timeouts in a row.
    timeouts: usize,
}

impl ServerSession {
    /// Starts a server for one program and project folder. The error is the end of a sentence that begins
    /// with its name.
    pub(super) fn start(launch: Launch) -> Result<ServerSession, String> {
        let server = RunningServer::start(launch)?;
        Ok(ServerSession { server, documents: Documents::default(), known_files: None, timeouts: 0 })
    }

    /// Returns true if the server counts as hanging.
    pub(super) fn is_hanging(&self) -> bool {
        self.timeouts >= MAX_TIMEOUTS
    }

    /// Returns its diagnostics of each text, and the unit of their columns.
    pub(super) fn diagnostics(
        &mut self,
        request: &DiagnosticsRequest<'_>,
        limit: Limit<'_>,
    ) -> Result<(Vec<Vec<Value>>, Columns), GateError> {
        let result = OpenDocuments::begin(self).request_diagnostics(request, limit);
        match &result {
            Err(GateError::Halted(Halt::TimedOut)) => self.timeouts += 1,
            Ok(_) | Err(_) => self.timeouts = 0,
        }
        result
    }

    /// Notifies the server of files that changed since the last request.
    fn sync_files(&mut self, files: &BTreeMap<String, Version>) {
        let mut changes = Vec::new();
        if let Some(known) = &self.known_files {
            for (path, version) in files {
                match known.get(path) {
                    None => changes.push((path, 1)),
                    Some(before) if before != version => changes.push((path, 2)),
                    Some(_) => {}
                }
            }
            changes.extend(known.keys().filter(|path| !files.contains_key(*path)).map(|path| (path, 3)));
        }
        let changes: Vec<Value> =
            changes.into_iter().map(|(path, kind)| json!({ "uri": uri(path), "type": kind })).collect();
        let documents = &mut self.documents;
        self.server.with_state(|state| {
            if !changes.is_empty() {
                state.notify("workspace/didChangeWatchedFiles", &json!({ "changes": changes }));
            }
            documents.sync_all(state);
        });
        self.known_files = Some(files.clone());
    }
}

/// A pull request for the diagnostics of a document, and the number of refreshes requested before it was
/// sent.
#[derive(Debug, Clone, Copy)]
struct PullRequest {
    id: u64,
    refreshes: u64,
}

/// The texts shown to a server during a request; dropping it reverts them.
struct OpenDocuments<'s> {
    session: &'s mut ServerSession,
    paths: Vec<String>,
}

impl<'s> OpenDocuments<'s> {
    fn begin(session: &'s mut ServerSession) -> OpenDocuments<'s> {
        session.server.with_state(|state| state.busy = true);
        OpenDocuments { session, paths: Vec::new() }
    }

    fn request_diagnostics(
        &mut self,
        request: &DiagnosticsRequest<'_>,
        limit: Limit<'_>,
    ) -> Result<(Vec<Vec<Value>>, Columns), GateError> {
        let columns = self.session.server.wait(limit, |state| match state.initialized && state.ready {
            true => WaitOutcome::Done(state.columns),
            false => WaitOutcome::Wait,
        })?;
        self.session.sync_files(&request.files);
        // The texts to check are shown last, so that their diagnostics consider all other drafts.
        let all_but_last = request.texts.split_last().map_or(&[][..], |(_, others)| others);
        for text in request.overlays.iter().chain(all_but_last) {
            self.show(text);
        }
        // Show them all again: diagnostics published for the first could predate the last.
        let versions: Vec<i64> = request.texts.iter().rev().map(|text| self.show(text)).collect();
        let items = self.wait_for_all(request, versions.into_iter().rev().collect(), limit)?;
        match self.session.server.with_state(|state| state.config_error.clone()) {
            Some(why) => Err(GateError::Broken(format!("cannot read its configuration: {why}"))),
            None => Ok((items, columns)),
        }
    }

    fn show(&mut self, text: &DocumentText<'_>) -> i64 {
        self.paths.push(text.path.clone());
        let documents = &mut self.session.documents;
        self.session.server.with_state(|state| documents.show(state, &text.path, &text.language, text.view))
    }

    /// Waits for the diagnostics of all texts. All are shown before, and pull requests for all are sent
    /// before the first response is awaited.
    fn wait_for_all(
        &self,
        request: &DiagnosticsRequest<'_>,
        versions: Vec<i64>,
        limit: Limit<'_>,
    ) -> Result<Vec<Vec<Value>>, GateError> {
        let mut pulls: HashMap<&str, PullRequest> = HashMap::new();
        let mut diagnosed = |(text, version): (&DocumentText<'_>, i64)| {
            if let Some(items) = self.wait_for_published(&text.path, request.offer, version, limit)? {
                return Ok(items);
            }
            // All pull requests are sent at once, as soon as it is known that the server uses them.
            if pulls.is_empty() {
                let pull = |text: &'_ DocumentText<'_>| self.pull(&text.path);
                pulls = request.texts.iter().map(|text| (text.path.as_str(), pull(text))).collect();
            }
            let pull = pulls.remove(text.path.as_str()).unwrap_or_else(|| self.pull(&text.path));
            self.wait_for_pulled(&text.path, pull, limit)
        };
        let items = request.texts.iter().zip(versions).map(&mut diagnosed).collect();
        self.session.server.with_state(|state| pulls.values().for_each(|pull| state.cancel(pull.id)));
        items
    }

    /// Waits for the diagnostics that the server publishes of a document; `None` if it uses pull diagnostics.
    fn wait_for_published(
        &self,
        path: &str,
        offer: Option<Offer>,
        version: i64,
        limit: Limit<'_>,
    ) -> Result<Option<Vec<Value>>, GateError> {
        self.session.server.wait(limit, |state| match state.offer(offer) {
            Some(Offer::Pull) => WaitOutcome::Done(None),
            Some(Offer::Push | Offer::Versioned) | None => {
                let names_all = state.diagnostics.states_versions || offer == Some(Offer::Versioned);
                let published = state.diagnostics.published.get(path);
                let published = published.filter(|published| published.version.is_some() || !names_all);
                published.map_or(WaitOutcome::Wait, |published| check_published(published, version))
            }
        })
    }

    /// Sends a pull request for the diagnostics of a document.
    fn pull(&self, path: &str) -> PullRequest {
        let params = json!({ "textDocument": { "uri": uri(path) } });
        self.session.server.with_state(|state| PullRequest {
            id: state.request("textDocument/diagnostic", &params),
            refreshes: state.diagnostics.refreshes,
        })
    }

    /// Waits for the response to a pull request, and repeats it if necessary.
    fn wait_for_pulled(
        &self,
        path: &str,
        pull: PullRequest,
        limit: Limit<'_>,
    ) -> Result<Vec<Value>, GateError> {
        let server = &self.session.server;
        let (mut refreshed_times, mut cancelled_times) = (0, 0);
        let mut first = Some(pull);
        loop {
            let PullRequest { id, refreshes } = first.take().unwrap_or_else(|| self.pull(path));
            let answer = server.wait(limit, |state| match state.take_response(id) {
                Some(answer) => WaitOutcome::Done((answer, state.diagnostics.refreshes)),
                None => WaitOutcome::Wait,
            });
            let (answer, refreshed) = answer.inspect_err(|_| server.with_state(|state| state.cancel(id)))?;
            match answer {
                // Something that it depends on changed meanwhile.
                Ok(_) if refreshed != refreshes && refreshed_times < MAX_REFRESHES => refreshed_times += 1,
                Ok(report) => return items(&report),
                Err(code) if CANCELLED_CODES.contains(&code) && cancelled_times < MAX_CANCELLED => {
                    cancelled_times += 1;
                    let until = Instant::now() + RETRY_PAUSE;
                    server.wait(limit, |_| match Instant::now() >= until {
                        true => WaitOutcome::Done(()),
                        false => WaitOutcome::Until(until),
                    })?;
                }
                Err(code) => return Err(GateError::Broken(format!("returned the error {code}"))),
            }
        }
    }
}

impl Drop for OpenDocuments<'_> {
    fn drop(&mut self) {
        let (documents, paths) = (&mut self.session.documents, std::mem::take(&mut self.paths));
        self.session.server.with_state(|state| {
            paths.iter().for_each(|path| documents.revert(state, path));
            (state.busy, state.last_used) = (false, Instant::now());
        });
    }
}

/// Checks published diagnostics against a version. Without a version, they count once no others follow for a while.
fn check_published(published: &PublishedDiagnostics, version: i64) -> WaitOutcome<Option<Vec<Value>>> {
    match published.version {
        Some(of) if of == version => WaitOutcome::Done(Some(published.items.clone())),
        // They are about an older text.
        Some(_) => WaitOutcome::Wait,
        None if published.at.elapsed() >= SETTLE => WaitOutcome::Done(Some(published.items.clone())),
        None => WaitOutcome::Until(published.at + SETTLE),
    }
}

/// The diagnostics of a full report.
fn items(report: &Value) -> Result<Vec<Value>, GateError> {
    let items = report.get("items").and_then(Value::as_array);
    match (report.get("kind").and_then(Value::as_str), items) {
        (Some("full"), Some(items)) => Ok(items.clone()),
        _ => Err(GateError::Broken("returned no list of diagnostics".to_owned())),
    }
}
