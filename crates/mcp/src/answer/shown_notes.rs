//! The notes that a connection has shown: a repeated one tells a model nothing new.
//!
//! Invariant: only the text is shortened, and only by sentences that an earlier answer had word for word.

use parking_lot::Mutex;
use std::collections::HashSet;
use std::sync::Arc;

use super::forms::Forms;
use super::gates::unchecked_warning;
use lockgate_checks::GateRun;
use lockgate_protocol::{BatchResponse, EditResponse, Response};

/// The maximum number of remembered sentences.
const MOST: usize = 500;

/// The notes and warnings about gates that the answers of a connection have shown.
#[derive(Debug, Clone, Default)]
pub struct ShownNotes(Arc<Mutex<HashSet<String>>>);

impl ShownNotes {
    /// Remembers the notes and warnings of an answer.
    pub fn add(&self, response: &Response) {
        let mut shown = self.0.lock();
        let mut add = |sentences: Vec<&str>| {
            for sentence in sentences {
                if shown.len() < MOST && !shown.contains(sentence) {
                    shown.insert(sentence.to_owned());
                }
            }
        };
        match response {
            Response::Edit(edit) => add(sentences(edit)),
            Response::AiEdit(edit) => add(sentences(&edit.edit)),
            Response::Batch(batch) => {
                let BatchResponse { notes, files, .. } = &**batch;
                add(notes.iter().map(String::as_str).collect());
                files.iter().for_each(|file| add(sentences(file)));
            }
            Response::Lines(_)
            | Response::Text(_)
            | Response::Search(_)
            | Response::List(_)
            | Response::Context(_)
            | Response::History(_) => {}
        }
    }

    /// Returns the notes that a text still has to show; all of them where the JSON is sent as well.
    pub(super) fn unshown(&self, notes: Vec<String>, forms: Forms) -> Vec<String> {
        if !is_shortened(forms) {
            return notes;
        }
        let shown = self.0.lock();
        notes.into_iter().filter(|note| !shown.contains(note)).collect()
    }

    /// Returns the warning for a gate that ran without a result; without its reason if that was shown before.
    pub(super) fn warning(&self, run: &GateRun, forms: Forms) -> Option<String> {
        let whole = unchecked_warning(run)?;
        let shown = self.0.lock();
        if !is_shortened(forms) || !shown.contains(&whole) {
            return Some(whole);
        }
        unchecked_warning(&GateRun { why: None, ..run.clone() }).or(Some(whole))
    }
}

/// True for the forms that a model reads and no program does.
pub(super) const fn is_shortened(forms: Forms) -> bool {
    match forms {
        Forms::Text | Forms::Compact => true,
        Forms::Both | Forms::Json => false,
    }
}

fn sentences(response: &EditResponse) -> Vec<&str> {
    let warnings = response.validation_warnings.iter().map(|warning| warning.text.as_str());
    response.notes.iter().map(String::as_str).chain(warnings).collect()
}
