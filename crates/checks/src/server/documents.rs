//! Tracks the documents open in a server, and their texts on disk.
//!
//! Invariant: versions only increase, across all documents. A text shown for a request is reverted by
//! [`Documents::revert`], which gives the server the text on disk.

use std::collections::HashMap;
use std::path::Path;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::json;

use super::state::ServerState;
use crate::regular;
use lockgate_text::{Buffer, Hints, Version};

/// The largest number of documents that stay open between requests.
const MAX_OPEN: usize = 16;
/// The largest file that is read, in bytes.
const MAX_READ: u64 = 16 << 20;

/// The documents that a server has open.
#[derive(Debug, Default)]
pub(super) struct Documents {
    open: HashMap<String, OpenDocument>,
    version: i64,
}

#[derive(Debug)]
struct OpenDocument {
    /// The hash of the text that the server has.
    text: Version,
    /// The protocol's version number of that text.
    version: i64,
}

impl Documents {
    /// Shows the server a text at an absolute path as a new version, and returns the version.
    pub(super) fn show(&mut self, state: &mut ServerState, path: &str, language: &str, text: &str) -> i64 {
        self.version += 1;
        let (uri, version) = (uri(path), self.version);
        if self.open.contains_key(path) {
            let document = json!({ "uri": uri, "version": version });
            let change = json!({ "textDocument": document, "contentChanges": [{ "text": text }] });
            state.notify("textDocument/didChange", &change);
        } else {
            let document = json!({ "uri": uri, "languageId": language, "version": version, "text": text });
            state.notify("textDocument/didOpen", &json!({ "textDocument": document }));
            state.diagnostics.open.insert(path.to_owned());
        }
        // Earlier diagnostics are about an older text.
        state.diagnostics.published.remove(path);
        self.open.insert(path.to_owned(), OpenDocument { text: Version::hash(text.as_bytes()), version });
        version
    }

    /// Shows the server the text on disk instead of a draft; if there is no file, the document is closed.
    pub(super) fn revert(&mut self, state: &mut ServerState, path: &str) {
        let Some(document) = self.open.get(path) else { return };
        match on_disk(Path::new(path)) {
            Some(text) if Version::hash(text.as_bytes()) == document.text => {}
            Some(text) => {
                self.show(state, path, "", &text);
            }
            None => self.close(state, path),
        }
    }

    /// Shows the server the current text on disk for all documents, and closes the least recently used ones
    /// if there are many.
    pub(super) fn sync_all(&mut self, state: &mut ServerState) {
        let mut all: Vec<(i64, String)> =
            self.open.iter().map(|(path, document)| (document.version, path.clone())).collect();
        all.sort_unstable();
        let many = all.len().saturating_sub(MAX_OPEN);
        for (at, (_, path)) in all.iter().enumerate() {
            if at < many {
                self.close(state, path);
            } else {
                self.revert(state, path);
            }
        }
    }

    fn close(&mut self, state: &mut ServerState, path: &str) {
        self.open.remove(path);
        state.diagnostics.open.remove(path);
        state.diagnostics.published.remove(path);
        state.notify("textDocument/didClose", &json!({ "textDocument": { "uri": uri(path) } }));
    }
}

/// The view of a file; `None` if it cannot be read as text.
fn on_disk(path: &Path) -> Option<String> {
    let bytes = regular::read(path, MAX_READ).ok()?;
    Buffer::read(bytes, Hints::default()).ok().map(|buffer| buffer.view().to_owned())
}

/// The URI of an absolute path (RFC 3986, 3.3). Only unreserved characters stay, as servers agree on those only.
pub(super) fn uri(path: &str) -> String {
    const ENCODED: &AsciiSet =
        &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');
    format!("file://{}", utf8_percent_encode(path, ENCODED))
}
