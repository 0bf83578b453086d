//! The requests of one call, and the target of each.

use std::sync::Arc;
use std::time::Duration;

use super::services::Services;
use crate::error::{Code, Error};
use crate::policy::{Language, Policy, language_of};
use crate::request::{self, Request};
use crate::store::{DocumentPath, EditMeta, Entry, EntryKind, FileChange, RetentionLimits};
use crate::text::{Buffer, Version};

/// The requests of one call, which are carried out together or not at all.
pub(super) struct Batch {
    pub(super) requests: Vec<Request>,
    /// The kind of journal entry that the call makes.
    pub(super) kind: EntryKind,
    /// The metadata that each request restores with its text; one per request, or empty.
    pub(super) restores: Vec<RestoredMetadata>,
    /// The texts at the time of the call, if it had to wait and its requests use line numbers.
    pub(super) initial_texts: Vec<Option<Arc<Buffer>>>,
    /// Set when the call has already recovered incomplete edits.
    pub(super) has_recovered: bool,
    /// Set when the call was restarted because another process changed the content first.
    pub(super) is_retry: bool,
    /// The longest wait for its locks.
    pub(super) wait: Duration,
    /// The size and age that the journal may reach.
    pub(super) retention: Option<RetentionLimits>,
    /// The hash of all requests, by which a retry is recognised.
    pub(super) digest: Version,
    /// Set when errors name the fields of each request with its index, as in `edits[2].search`.
    pub(super) is_batch: bool,
}

/// The metadata that an undo restores with a text.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct RestoredMetadata {
    /// The permission bits of a restored file.
    pub(super) mode: Option<u32>,
    /// The number of parent folders to remove with a file, if they are empty then.
    pub(super) folders: usize,
}

/// A resolved target, with its policy and its last entry.
pub(super) struct ResolvedTarget {
    pub(super) place: DocumentPath,
    pub(super) rules: Arc<Policy>,
    /// The last journal entry of the target.
    pub(super) last: Option<Entry>,
    /// The text at the time of the call, if it may have changed since.
    pub(super) initial_text: Option<Arc<Buffer>>,
    /// The metadata restored with the text.
    pub(super) restored: RestoredMetadata,
}

impl Batch {
    /// Creates the batch of a single request.
    pub(super) fn single(request: Request) -> Batch {
        Batch { is_batch: false, ..Batch::new(vec![request], EntryKind::Edit) }
    }

    /// Creates the batch of several requests.
    pub(super) fn new(requests: Vec<Request>, kind: EntryKind) -> Batch {
        let parts: Vec<_> = requests
            .iter()
            .map(|Request { target, edit, mode, expect, gate_options, author: _ }| {
                (target, edit, mode, expect, gate_options)
            })
            .collect();
        let digest = Version::of_value(&parts);
        let wait = Duration::ZERO;
        Batch {
            requests,
            kind,
            restores: Vec::new(),
            initial_texts: Vec::new(),
            has_recovered: false,
            is_retry: false,
            wait,
            retention: None,
            digest,
            is_batch: true,
        }
    }

    /// Adds the index of the request to the field of an error.
    pub(super) fn with_edit_index(&self, mut error: Error, at: usize) -> Error {
        if self.is_batch {
            let field = error.field.take();
            error.field =
                Some(field.map_or(format!("edits[{at}]"), |field| format!("edits[{at}].{field}")).into());
        }
        error
    }

    /// Returns the metadata of the call for the journal.
    pub(super) fn edit_meta(&self, gates: String) -> EditMeta {
        let request::Author { tool, name, confirmation_id: _ } =
            self.requests.first().map(|request| request.author.clone()).unwrap_or_default();
        EditMeta { tool, author: name, request: self.digest, kind: self.kind, gates }
    }
}

impl ResolvedTarget {
    /// Returns the language of a text: that of its entity type, or else by path and content.
    pub(super) fn language(&self, view: &str) -> Option<&'static Language> {
        let typed = match &self.place {
            DocumentPath::File(_) => None,
            DocumentPath::Row(row) => self.rules.entity_type(row.entity().kind.name()),
        };
        let own = typed.and_then(|known| known.language);
        own.or_else(|| language_of(self.place.in_root(), view.lines().next()))
    }

    /// Returns the last change of the file in the journal, if there is one.
    pub(super) fn last_change(&self) -> Option<(&Entry, &FileChange)> {
        let entry = self.last.as_ref()?;
        let names = |changed: &&FileChange| {
            changed.entity.as_ref() == self.place.entity()
                && [Some(self.place.shown()), self.place.resolved()].contains(&Some(&changed.path))
        };
        Some((entry, entry.changes.iter().find(names)?))
    }
}

impl Services {
    /// Admits the paths of a call and finds their policies; rejects a file that is named twice.
    pub(super) fn admit(&self, call: &mut Batch) -> Result<Vec<ResolvedTarget>, Error> {
        let mut targets: Vec<ResolvedTarget> = Vec::with_capacity(call.requests.len());
        call.wait = Duration::ZERO;
        for (at, request) in call.requests.iter().enumerate() {
            let found = self.check_early(request).and_then(|()| self.resolve_target(&request.target));
            let target = found.map_err(|error| call.with_edit_index(error, at))?;
            let key = target.place.key();
            for (first, other) in targets.iter().map(|other| other.place.key()).enumerate() {
                if other == key {
                    return Err(duplicate_target(target.place.shown(), first, at));
                }
                if other.holds(&key) || key.holds(&other) {
                    return Err(nested_targets(first, at));
                }
            }
            let limits = target.rules.limits;
            call.wait = call.wait.max(limits.lock_wait);
            call.retention = Some(RetentionLimits { size: limits.journal, age: limits.journal_age });
            let metadata = call.restores.get(at).copied().unwrap_or_default();
            let initial_text = call.initial_texts.get(at).cloned().flatten();
            targets.push(ResolvedTarget { restored: metadata, initial_text, ..target });
        }
        Ok(targets)
    }

    /// Resolves a target to be read.
    ///
    /// Errors: those of admitting it.
    pub(super) fn resolve_for_read(&self, target: &request::Target) -> Result<DocumentPath, Error> {
        match target {
            request::Target::File(path) => self.store.files.admit_to_read(path).map(DocumentPath::File),
            request::Target::Entity(entity) => self.row(entity).map(DocumentPath::Row),
        }
    }

    /// Resolves a target to be edited, with its policy.
    pub(super) fn resolve_target(&self, target: &request::Target) -> Result<ResolvedTarget, Error> {
        let place = match target {
            request::Target::File(path) => DocumentPath::File(self.store.files.admit(path)?),
            request::Target::Entity(entity) => self.row(entity)?.into(),
        };
        let rules = self.rules_of(&place)?;
        Ok(ResolvedTarget {
            place,
            rules,
            last: None,
            initial_text: None,
            restored: RestoredMetadata::default(),
        })
    }

    /// Records the current texts before a call waits, for those of its requests that use line numbers.
    pub(super) fn record_initial_texts(&self, call: &mut Batch, targets: &[ResolvedTarget]) {
        if !call.initial_texts.is_empty() {
            return;
        }
        let text = |(request, target): (&Request, &ResolvedTarget)| {
            let current =
                request.edit.counts_lines().then(|| self.read(&target.place, &target.rules).ok())??;
            current.snapshot.is_some().then(|| Arc::new(current.buffer))
        };
        call.initial_texts = call.requests.iter().zip(targets).map(text).collect();
    }

    /// True if a terminated process left one of the files half-written; call it while their locks are held.
    pub(super) fn is_incomplete(&self, targets: &[ResolvedTarget]) -> bool {
        targets.iter().any(|target| self.store.has_interrupted_edit(&target.place))
    }

    /// Completes or rolls back incomplete edits, and keeps the notes for the next report.
    pub(super) fn recover_edits(&self) {
        let notes = self.store.journal.recover(&self.store.files, &self.locks);
        notes.iter().for_each(|note| tracing::warn!("{note}"));
        if let Ok(mut pending) = self.pending_notes.lock() {
            pending.extend(notes);
        }
    }
}

fn duplicate_target(path: &str, first: usize, at: usize) -> Error {
    let message = format!("edits[{at}] edits {path}, and so does edits[{first}]");
    Error::new(Code::InvalidInput, message)
        .field(format!("edits[{at}].path"))
        .hint("put all edits of one file into one entry")
}

fn nested_targets(first: usize, at: usize) -> Error {
    let message = format!(
        "edits[{first}] and edits[{at}] conflict: one needs a folder at a path where the other creates a file"
    );
    Error::new(Code::InvalidInput, message)
        .field(format!("edits[{at}].path"))
        .hint("correct one of the paths")
}
