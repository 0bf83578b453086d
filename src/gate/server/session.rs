//! One question to a server: what it finds in texts, each in the place of a file, beside the other drafts of a call.
//!
//! Invariant: what was shown for a question is taken back after it, however it ended; and a server that has not spoken of
//! the very text is never taken for one that finds nothing in it.

use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::documents::{Documents, uri};
use super::running::{Launch, RunningServer, WaitOutcome};
use super::state::{PublishedDiagnostics, ServerState};
use crate::gate::error::GateError;
use crate::gate::watch::{Halt, Limit};
use crate::policy::{Columns, Offer};
use crate::text::Version;

/// How long a server is waited for that does not say which version it speaks of, after it spoke.
const SETTLE: Duration = Duration::from_millis(250);
/// How often one question is asked again that the server wants to be asked again.
const MOST_AGAIN: usize = 3;
/// How often one is asked again that the server broke off.
const MOST_BROKEN_OFF: usize = 100;
/// The pause before that.
const PAUSE: Duration = Duration::from_millis(30);
/// How often in a row a server may give no answer in time before it is taken for one that hangs.
const MOST_LATE: usize = 2;

/// LSP 3.17, `ErrorCodes`: the request was cancelled, the content changed meanwhile, the server broke it off.
const BROKEN_OFF: [i64; 3] = [-32800, -32801, -32802];

/// A text at an absolute path.
#[derive(Debug, Clone, Copy)]
pub(super) struct DocumentText<'a> {
    pub(super) path: &'a str,
    /// The language as the server calls it.
    pub(super) language: &'a str,
    pub(super) view: &'a str,
}

/// What a server is asked.
#[derive(Debug)]
pub(super) struct DiagnosticsRequest<'a> {
    /// The texts that it is asked about.
    pub(super) texts: Vec<DocumentText<'a>>,
    /// The other drafts.
    pub(super) company: Vec<DocumentText<'a>>,
    /// The files of the project as they are now, by their absolute paths.
    pub(super) files: BTreeMap<String, Version>,
    /// Whether one of the drafts is of a file that is not on disk.
    pub(super) has_new: bool,
    /// How it says what it finds, where its definition says so.
    pub(super) offer: Option<Offer>,
}

/// A server that runs, and what it was told.
#[derive(Debug)]
pub(super) struct ServerSession {
    pub(super) link: RunningServer,
    documents: Documents,
    /// The files of the project as the server knows them.
    files: Option<BTreeMap<String, Version>>,
    /// How often in a row it gave no answer in time.
    late: usize,
}

impl ServerSession {
    /// Starts a server.
    pub(super) fn start(launch: Launch) -> Result<ServerSession, String> {
        let link = RunningServer::start(launch)?;
        Ok(ServerSession { link, documents: Documents::default(), files: None, late: 0 })
    }

    /// Whether it is taken for one that hangs.
    pub(super) fn hangs(&self) -> bool {
        self.late >= MOST_LATE
    }

    /// Gives its diagnostics of each text, and in what their columns are counted.
    pub(super) fn ask(
        &mut self,
        question: &DiagnosticsRequest<'_>,
        limit: Limit<'_>,
    ) -> Result<(Vec<Vec<Value>>, Columns), GateError> {
        let mut shown = ShownDocuments::begin(self);
        let said = shown.ask(question, limit);
        let session = &mut *shown.session;
        match &said {
            Err(GateError::Halted(Halt::TimedOut)) => session.late += 1,
            Ok(_) | Err(_) => session.late = 0,
        }
        said
    }

    /// Tells of the files that changed since the last question.
    fn catch_up(&mut self, files: &BTreeMap<String, Version>) {
        let mut changes = Vec::new();
        if let Some(known) = &self.files {
            for (path, stamp) in files {
                match known.get(path) {
                    None => changes.push((path, 1)),
                    Some(before) if before != stamp => changes.push((path, 2)),
                    Some(_) => {}
                }
            }
            changes.extend(known.keys().filter(|path| !files.contains_key(*path)).map(|path| (path, 3)));
        }
        let changes: Vec<Value> =
            changes.into_iter().map(|(path, kind)| json!({ "uri": uri(path), "type": kind })).collect();
        let documents = &mut self.documents;
        self.link.with(|state| {
            if !changes.is_empty() {
                state.notify("workspace/didChangeWatchedFiles", &json!({ "changes": changes }));
            }
            documents.settle(state);
        });
        self.files = Some(files.clone());
    }
}

/// A request for the diagnostics of a document, and how often the server had asked for a refresh when it was sent.
#[derive(Debug, Clone, Copy)]
struct Request {
    id: u64,
    refreshes: u64,
}

/// What is shown to a server while it is asked; dropping it takes that back.
struct ShownDocuments<'s> {
    session: &'s mut ServerSession,
    paths: Vec<String>,
}

impl<'s> ShownDocuments<'s> {
    fn begin(session: &'s mut ServerSession) -> ShownDocuments<'s> {
        session.link.with(|state| state.busy = true);
        ShownDocuments { session, paths: Vec::new() }
    }

    fn ask(
        &mut self,
        question: &DiagnosticsRequest<'_>,
        limit: Limit<'_>,
    ) -> Result<(Vec<Vec<Value>>, Columns), GateError> {
        let greeted = |state: &mut ServerState| {
            if state.greeted && state.ready { WaitOutcome::Done(state.columns) } else { WaitOutcome::Wait }
        };
        let columns = self.session.link.wait(limit, greeted)?;
        self.session.catch_up(&question.files);
        // The texts that are asked about come last: what is said of them is said beside all others.
        for text in &question.company {
            self.show(text);
        }
        if let Some((_, others)) = question.texts.split_last() {
            others.iter().for_each(|text| {
                self.show(text);
            });
        }
        // All over again: what it tells by itself of the first could be of a time when it had not heard of the last.
        let versions: Vec<i64> = question.texts.iter().rev().map(|text| self.show(text)).collect();
        let items = self.diagnosed(question, versions.into_iter().rev().collect(), limit)?;
        match self.session.link.with(|state| state.ill.clone()) {
            Some(why) => Err(GateError::Broken(format!("cannot read its configuration: {why}"))),
            None => Ok((items, columns)),
        }
    }

    fn show(&mut self, text: &DocumentText<'_>) -> i64 {
        self.paths.push(text.path.to_owned());
        let documents = &mut self.session.documents;
        self.session.link.with(|state| documents.show(state, text.path, text.language, text.view))
    }

    /// Waits for what it says of all texts. They are all shown by then, and a server that is asked is asked about all of
    /// them before any answer is awaited.
    fn diagnosed(
        &self,
        question: &DiagnosticsRequest<'_>,
        versions: Vec<i64>,
        limit: Limit<'_>,
    ) -> Result<Vec<Vec<Value>>, GateError> {
        let mut requests: HashMap<&str, Request> = HashMap::new();
        let mut diagnosed = |(text, version): (&DocumentText<'_>, i64)| {
            if let Some(items) = self.published(text.path, question.offer, version, limit)? {
                return Ok(items);
            }
            // All in one go, as soon as it is known that it is asked.
            if requests.is_empty() {
                requests = question.texts.iter().map(|text| (text.path, self.request(text.path))).collect();
            }
            let request = requests.remove(text.path).unwrap_or_else(|| self.request(text.path));
            self.pulled(text.path, request, limit)
        };
        let said = question.texts.iter().zip(versions).map(&mut diagnosed).collect();
        self.session.link.with(|state| requests.values().for_each(|request| state.cancel(request.id)));
        said
    }

    /// Waits for the diagnostics that the server publishes of a document; nothing where it is to be asked.
    fn published(
        &self,
        path: &str,
        offer: Option<Offer>,
        version: i64,
        limit: Limit<'_>,
    ) -> Result<Option<Vec<Value>>, GateError> {
        self.session.link.wait(limit, |state| match state.offers(offer) {
            Some(Offer::Pull) => WaitOutcome::Done(None),
            Some(Offer::Push | Offer::Versioned) | None => {
                let names_all = state.versions || offer == Some(Offer::Versioned);
                match state.published.get(path).map(|told| heard(told, version, names_all)) {
                    Some(WaitOutcome::Done(items)) => WaitOutcome::Done(Some(items)),
                    Some(WaitOutcome::Until(moment)) => WaitOutcome::Until(moment),
                    Some(WaitOutcome::Wait) | None => WaitOutcome::Wait,
                }
            }
        })
    }

    /// Asks for the diagnostics of a document.
    fn request(&self, path: &str) -> Request {
        let params = json!({ "textDocument": { "uri": uri(path) } });
        self.session.link.with(|state| Request {
            id: state.request("textDocument/diagnostic", &params),
            refreshes: state.refreshes,
        })
    }

    /// Waits for the answer to a request for the diagnostics of a document, and asks again where it must.
    fn pulled(&self, path: &str, request: Request, limit: Limit<'_>) -> Result<Vec<Value>, GateError> {
        let link = &self.session.link;
        let (mut again, mut broken_off) = (0, 0);
        let mut first = Some(request);
        loop {
            let Request { id, refreshes } = first.take().unwrap_or_else(|| self.request(path));
            let answer = link.wait(limit, |state| match state.answer(id) {
                Some(answer) => WaitOutcome::Done((answer, state.refreshes)),
                None => WaitOutcome::Wait,
            });
            let (answer, refreshed) = answer.inspect_err(|_| link.with(|state| state.cancel(id)))?;
            match answer {
                // Something that it rests on changed while it was made.
                Ok(_) if refreshed != refreshes && again < MOST_AGAIN => again += 1,
                Ok(report) => return items(&report),
                Err(code) if BROKEN_OFF.contains(&code) && broken_off < MOST_BROKEN_OFF => {
                    broken_off += 1;
                    let (until, mut waited) = (Instant::now() + PAUSE, false);
                    link.wait(limit, |_| {
                        waited = Instant::now() >= until;
                        if waited { WaitOutcome::Done(()) } else { WaitOutcome::Until(until) }
                    })?;
                }
                Err(code) => return Err(GateError::Broken(format!("answered with the error {code}"))),
            }
        }
    }
}

impl Drop for ShownDocuments<'_> {
    fn drop(&mut self) {
        let (documents, paths) = (&mut self.session.documents, std::mem::take(&mut self.paths));
        self.session.link.with(|state| {
            paths.iter().for_each(|path| documents.restore(state, path));
            (state.busy, state.used) = (false, Instant::now());
        });
    }
}

/// What diagnostics that a server told by itself say of a version; `names_all`, when it names the version otherwise.
fn heard(told: &PublishedDiagnostics, version: i64, names_all: bool) -> WaitOutcome<Vec<Value>> {
    match told.version {
        Some(of) if of == version => WaitOutcome::Done(told.items.clone()),
        // About an older text.
        Some(_) => WaitOutcome::Wait,
        None if names_all => WaitOutcome::Wait,
        None if told.at.elapsed() >= SETTLE => WaitOutcome::Done(told.items.clone()),
        None => WaitOutcome::Until(told.at + SETTLE),
    }
}

/// The diagnostics of a report that is whole.
fn items(report: &Value) -> Result<Vec<Value>, GateError> {
    let items = report.get("items").and_then(Value::as_array);
    match (report.get("kind").and_then(Value::as_str), items) {
        (Some("full"), Some(items)) => Ok(items.clone()),
        _ => Err(GateError::Broken("answered with no list of diagnostics".to_owned())),
    }
}
