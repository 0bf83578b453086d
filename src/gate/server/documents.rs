//! The texts that a server was told of, and what stands on disk in their places.
//!
//! Invariant: versions only rise, whatever document they are of; and a text that was shown for a question is taken back by
//! [`Documents::restore`], which gives the server what is on disk.

use std::collections::HashMap;
use std::path::Path;

use serde_json::json;

use super::state::ServerState;
use crate::gate::{percent, regular};
use crate::text::{Buffer, Hints, Version};

/// The most documents that stay open between questions.
const MOST_OPEN: usize = 16;
/// The bytes that are read of a file.
const MOST_READ: u64 = 16 << 20;

/// The documents that a server has open.
#[derive(Debug, Default)]
pub(super) struct Documents {
    open: HashMap<String, Document>,
    version: i64,
}

#[derive(Debug)]
struct Document {
    /// What the server was told last.
    text: Version,
    /// The version of that.
    version: i64,
}

impl Documents {
    /// Has the server see a text at an absolute path, as a new version; gives that.
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
            state.open.insert(path.to_owned());
        }
        // What was told before is about an older text.
        state.published.remove(path);
        self.open.insert(path.to_owned(), Document { text: Version::hash(text.as_bytes()), version });
        version
    }

    /// Gives the server what is on disk in the place of a text that was shown; without a file, the document is closed.
    pub(super) fn restore(&mut self, state: &mut ServerState, path: &str) {
        let Some(document) = self.open.get(path) else { return };
        match on_disk(Path::new(path)) {
            Some(text) if Version::hash(text.as_bytes()) == document.text => {}
            Some(text) => {
                self.show(state, path, "", &text);
            }
            None => self.close(state, path),
        }
    }

    /// Gives the server what is on disk now in the place of all documents, and closes those that were not used for
    /// longest where they are many.
    pub(super) fn settle(&mut self, state: &mut ServerState) {
        let mut all: Vec<(i64, String)> =
            self.open.iter().map(|(path, document)| (document.version, path.clone())).collect();
        all.sort_unstable();
        let many = all.len().saturating_sub(MOST_OPEN);
        for (at, (_, path)) in all.iter().enumerate() {
            if at < many {
                self.close(state, path);
            } else {
                self.restore(state, path);
            }
        }
    }

    fn close(&mut self, state: &mut ServerState, path: &str) {
        self.open.remove(path);
        state.open.remove(path);
        state.published.remove(path);
        state.notify("textDocument/didClose", &json!({ "textDocument": { "uri": uri(path) } }));
    }
}

/// The view of a file; nothing where there is none that can be read as text.
fn on_disk(path: &Path) -> Option<String> {
    let bytes = regular::read(path, MOST_READ).ok()?;
    Buffer::read(bytes, Hints::default()).ok().map(|buffer| buffer.view().to_owned())
}

/// The URI of an absolute path.
pub(super) fn uri(path: &str) -> String {
    format!("file://{}", percent::encoded(path))
}
