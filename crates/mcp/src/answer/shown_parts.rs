//! The parts of answers that a connection has shown: notes, gates and edits. A repeated one tells a model nothing new.
//!
//! Invariant: only the text is shortened, and only by what an earlier answer had word for word.

use parking_lot::Mutex;
use std::collections::HashSet;
use std::sync::Arc;

use super::forms::Forms;
use super::gates::unchecked_warning;
use super::text::passed_names;
use lockgate_checks::{GateRun, Outcome};
use lockgate_protocol::{BatchResponse, EditResponse, Response};

/// The maximum number of remembered texts of each kind.
const MOST: usize = 500;

/// The notes and warnings about gates, the lists of gates that passed, and the edits that the answers of a connection have
/// shown.
#[derive(Debug, Clone, Default)]
pub struct ShownParts(Arc<Mutex<ShownTexts>>);

#[derive(Debug, Default)]
struct ShownTexts {
    sentences: HashSet<String>,
    /// The names of the gates that passed, as one answer lists them.
    passed: HashSet<String>,
    edits: HashSet<String>,
}

impl ShownTexts {
    fn add_edit(&mut self, edit: &EditResponse) {
        let warnings = edit.validation_warnings.iter().map(|warning| &warning.text);
        edit.notes.iter().chain(warnings).for_each(|sentence| remember(&mut self.sentences, sentence));
        edit.edit_id.iter().for_each(|id| remember(&mut self.edits, id));
        if edit.is_success() {
            remember(&mut self.passed, &passed_names(edit));
        }
    }
}

fn remember(shown: &mut HashSet<String>, text: &str) {
    if shown.len() < MOST && !shown.contains(text) {
        shown.insert(text.to_owned());
    }
}

impl ShownParts {
    /// Remembers what an answer shows.
    pub fn add(&self, response: &Response) {
        let mut shown = self.0.lock();
        match response {
            Response::Edit(edit) => shown.add_edit(edit),
            Response::AiEdit(edit) => shown.add_edit(&edit.edit),
            Response::Batch(batch) => {
                let BatchResponse { notes, files, edit_id, .. } = &**batch;
                notes.iter().for_each(|note| remember(&mut shown.sentences, note));
                edit_id.iter().for_each(|id| remember(&mut shown.edits, id));
                files.iter().for_each(|file| shown.add_edit(file));
            }
        }
    }

    /// Returns the notes that a text still has to show; all of them where the JSON is sent as well.
    pub(super) fn unshown(&self, notes: Vec<String>, forms: Forms) -> Vec<String> {
        if !forms.are_for_models() {
            return notes;
        }
        let shown = self.0.lock();
        notes.into_iter().filter(|note| !shown.sentences.contains(note)).collect()
    }

    /// Returns the warning for a gate that ran without a result. If it was shown before, it is absent, or has no reason where
    /// nothing else names the gate.
    pub(super) fn warning(&self, run: &GateRun, forms: Forms) -> Option<String> {
        let whole = unchecked_warning(run)?;
        if !forms.are_for_models() || !self.0.lock().sentences.contains(&whole) {
            return Some(whole);
        }
        // The text lists a gate without a result in every answer, the compact JSON does not.
        if forms == Forms::Text || run.outcome == Outcome::Skipped {
            return None;
        }
        unchecked_warning(&GateRun { why: None, ..run.clone() }).or(Some(whole))
    }

    /// True if an earlier answer named these gates as those that passed.
    pub(super) fn has_passed(&self, names: &str) -> bool {
        self.0.lock().passed.contains(names)
    }

    /// True if an earlier answer had this edit.
    pub(super) fn has_edit(&self, id: &str) -> bool {
        self.0.lock().edits.contains(id)
    }
}
