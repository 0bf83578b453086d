//! Handles a server's notifications and requests.
//!
//! Invariant: every request of a server is answered, and none changes anything here.

use std::time::Instant;

use serde_json::{Value, json};

use super::state::{PublishedDiagnostics, ServerState};
use crate::finding::sanitize;
use crate::output::uri;
use lockgate_policy::{Columns, StatusPatterns};

/// The JSON-RPC error code of an unknown method.
const METHOD_NOT_FOUND: i64 = -32601;
/// The largest number of registrations that are kept.
const MAX_REGISTRATIONS: usize = 1000;
/// The largest number of settings that one request gets: each may be all settings of the server.
const MAX_SETTINGS: usize = 1000;

/// The client's side of the protocol for one server.
#[derive(Debug)]
pub(super) struct Capabilities {
    /// The settings that the server may request, by section.
    pub(super) settings: Value,
    /// Recognises the messages in which the server reports its state.
    pub(super) status: StatusPatterns,
}

impl Capabilities {
    /// Handles a message; `initialize` is the id of that request, which is answered first.
    ///
    /// Errors: why the server cannot be used, as the end of a sentence that begins with its name.
    pub(super) fn handle_message(
        &self,
        message: &Value,
        initialize: u64,
        state: &mut ServerState,
    ) -> Result<(), String> {
        let method = message.get("method").and_then(Value::as_str);
        let params = message.get("params").unwrap_or(&Value::Null);
        match (method, message.get("id")) {
            (Some(method), Some(id)) => {
                let (key, answer) = match self.handle_request(method, params, state) {
                    Some(result) => ("result", result),
                    None => ("error", json!({ "code": METHOD_NOT_FOUND, "message": "method not found" })),
                };
                state.send(&json!({ "jsonrpc": "2.0", "id": id, key: answer }));
            }
            (Some(method), None) => self.handle_notification(method, params, state),
            (None, Some(id)) if id.as_u64() == Some(initialize) => self.handle_initialize(message, state)?,
            (None, Some(id)) => {
                let answer = match message.get("error") {
                    Some(error) => Err(error.get("code").and_then(Value::as_i64).unwrap_or_default()),
                    None => Ok(message.get("result").cloned().unwrap_or_default()),
                };
                state.store_response(id.as_u64().unwrap_or_default(), answer);
            }
            (None, None) => return Err("wrote a message that is not JSON-RPC".to_owned()),
        }
        Ok(())
    }

    fn handle_initialize(&self, message: &Value, state: &mut ServerState) -> Result<(), String> {
        let Some(capabilities) = message.pointer("/result/capabilities") else {
            let why = message.pointer("/error/message").and_then(Value::as_str);
            return Err(format!("refused to start: {}", sanitize(why.unwrap_or("it gave no reason"))));
        };
        if capabilities.get("diagnosticProvider").is_some_and(|offer| !offer.is_null()) {
            state.diagnostics.pull_registrations.insert(String::new());
        }
        state.columns = match capabilities.get("positionEncoding").and_then(Value::as_str) {
            None | Some("utf-16") => Columns::Utf16,
            Some("utf-8") => Columns::Bytes,
            Some(other) => {
                return Err(format!("counts columns in {}, which was not offered", sanitize(other)));
            }
        };
        state.notify("initialized", &json!({}));
        state.notify("workspace/didChangeConfiguration", &json!({ "settings": self.settings }));
        state.initialized = true;
        state.ready |= self.status.ready.is_none();
        Ok(())
    }

    /// Answers a request; `None` for an unknown one.
    fn handle_request(&self, method: &str, params: &Value, state: &mut ServerState) -> Option<Value> {
        match method {
            "workspace/configuration" => {
                let items = params.get("items").and_then(Value::as_array).into_iter().flatten();
                Some(items.take(MAX_SETTINGS).map(|item| self.section(item)).collect())
            }
            "client/registerCapability" => {
                for (id, method) in registrations(params, "registrations") {
                    if method == "textDocument/diagnostic"
                        && state.diagnostics.pull_registrations.len() < MAX_REGISTRATIONS
                    {
                        state.diagnostics.pull_registrations.insert(id);
                    }
                }
                Some(Value::Null)
            }
            "client/unregisterCapability" => {
                // The protocol misspells the name of this key.
                for (id, _) in registrations(params, "unregisterations") {
                    state.diagnostics.pull_registrations.remove(&id);
                }
                Some(Value::Null)
            }
            "workspace/diagnostic/refresh" => {
                state.diagnostics.refreshes += 1;
                Some(Value::Null)
            }
            "workspace/applyEdit" => {
                Some(json!({ "applied": false, "failureReason": "edits are not supported" }))
            }
            "window/showDocument" => Some(json!({ "success": false })),
            "workspace/workspaceFolders"
            | "window/workDoneProgress/create"
            | "window/showMessageRequest"
            | "workspace/codeLens/refresh"
            | "workspace/inlayHint/refresh"
            | "workspace/inlineValue/refresh"
            | "workspace/foldingRange/refresh"
            | "workspace/semanticTokens/refresh" => Some(Value::Null),
            _ => None,
        }
    }

    /// The settings of an item of `workspace/configuration`; `null` if there are none.
    fn section(&self, item: &Value) -> Value {
        let section = item.get("section").and_then(Value::as_str).unwrap_or_default();
        let names = section.split('.').filter(|name| !name.is_empty());
        let found = names.into_iter().try_fold(&self.settings, |settings, name| settings.get(name));
        found.cloned().unwrap_or_default()
    }

    fn handle_notification(&self, method: &str, params: &Value, state: &mut ServerState) {
        let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
        match method {
            "textDocument/publishDiagnostics" => record_diagnostics(params, state),
            "$/progress" if params.pointer("/value/kind").and_then(Value::as_str) == Some("end") => {
                self.check_message(&text(params.pointer("/value/message")), state);
            }
            "window/showMessage" => {
                let message = text(params.get("message"));
                self.check_message(&message, state);
                state.last_message = Some(sanitize(&message));
            }
            "window/logMessage" => self.check_message(&text(params.get("message")), state),
            "experimental/serverStatus" if params.get("quiescent").and_then(Value::as_bool) == Some(true) => {
                self.check_message("quiescent", state);
            }
            _ => {}
        }
    }

    fn check_message(&self, message: &str, state: &mut ServerState) {
        state.ready |= self.status.ready.as_ref().is_some_and(|ready| ready.is_match(message));
        if self.status.failed.as_ref().is_some_and(|failed| failed.is_match(message)) {
            state.config_error = Some(sanitize(message));
        }
    }
}

fn record_diagnostics(params: &Value, state: &mut ServerState) {
    let path = params.get("uri").and_then(Value::as_str).and_then(uri::path);
    let Some(path) = path.filter(|path| state.diagnostics.open.contains(path)) else { return };
    // A value that is not a list does not mean that there are no diagnostics.
    let Some(items) = params.get("diagnostics").and_then(Value::as_array).cloned() else { return };
    let version = params.get("version").and_then(Value::as_i64);
    state.diagnostics.states_versions |= version.is_some();
    state.diagnostics.published.insert(path, PublishedDiagnostics { version, items, at: Instant::now() });
}

/// The name and method of each registration.
fn registrations(params: &Value, key: &str) -> Vec<(String, String)> {
    let all = params.get(key).and_then(Value::as_array).into_iter().flatten();
    let text = |item: &Value, name: &str| item.get(name).and_then(Value::as_str).map(str::to_owned);
    all.filter_map(|item| Some((text(item, "id")?, text(item, "method")?))).collect()
}
