//! Resolves the targets of a call: the document of each, and the policy for it.

use std::iter;
use std::sync::Arc;

use super::batch::{Batch, RestoredMetadata};
use super::services::Services;
use lockgate_edit::request;
use lockgate_error::{Code, Error};
use lockgate_policy::{Language, Policy, language_of};
use lockgate_store::{DefaultOwner, DocumentPath, EditId, Entry, FileChange, OpenFolder, RowLocation};
use lockgate_text::Buffer;

/// A resolved target, with its policy and its last entry.
pub(super) struct ResolvedTarget {
    pub(super) place: DocumentPath,
    pub(super) rules: Arc<Policy>,
    /// True if the policy lets the journal keep the texts of the target.
    pub(super) is_journaled: bool,
    /// The folder of a file, open from its admission until the file is read.
    pub(super) folder: Option<OpenFolder>,
    /// The last journal entry of the target; that of a file has only the change of its path.
    pub(super) last: Option<Entry>,
    /// The text at the time of the call, if it may have changed since.
    pub(super) initial_text: Option<Arc<Buffer>>,
    /// The metadata restored with the text.
    pub(super) restored: RestoredMetadata,
}

impl ResolvedTarget {
    /// Returns the language of a text: that of its entity type, or else by path and content.
    pub(super) fn language(&self, view: &str) -> Option<&'static Language> {
        let entity_type = self.place.entity().and_then(|entity| self.rules.entity_type(entity.kind.name()));
        let own = entity_type.and_then(|known| known.language);
        own.or_else(|| language_of(self.place.in_root(), view.lines().next()))
    }

    /// Returns the last change of the file in the journal, if there is one.
    pub(super) fn last_change(&self) -> Option<(&Entry, &FileChange)> {
        let entry = self.last.as_ref()?;
        Some((entry, self.change_in(entry)?))
    }

    /// Returns the change of the file in an entry, if the entry has one.
    pub(super) fn change_in<'a>(&self, entry: &'a Entry) -> Option<&'a FileChange> {
        let names = |changed: &&FileChange| {
            changed.entity.as_ref() == self.place.entity()
                && [Some(self.place.shown()), self.place.resolved()].contains(&Some(&changed.path))
        };
        entry.changes.iter().find(names)
    }
}

/// Resolves the targets of all requests; `initial_texts` are those at the time of the call, if it had to wait. `rows` are
/// those that an earlier attempt resolved: an entity stays the same row for the whole call.
///
/// Errors: those of admitting a path; `INVALID_INPUT` for a file that is named twice, and for a file at the
/// path of another's folder; `POLICY_INVALID`.
pub(super) fn resolve(
    services: &Services,
    batch: &Batch,
    initial_texts: &[Option<Arc<Buffer>>],
    rows: &[Option<RowLocation>],
) -> Result<Vec<ResolvedTarget>, Error> {
    let mut targets: Vec<ResolvedTarget> = Vec::with_capacity(batch.requests.len());
    for (at, request) in batch.requests.iter().enumerate() {
        let target = match rows.get(at).cloned().flatten() {
            Some(row) => with_rules(services, row.into()),
            None => resolve_target(services, &request.target, batch.default_owner(request), batch.root),
        };
        let target = target.map_err(|error| batch.with_edit_index(error, at))?;
        let key = target.place.key();
        for (first, other) in targets.iter().map(|other| other.place.key()).enumerate() {
            if other == key {
                return Err(duplicate_target(target.place.shown(), batch.entry(first), batch.entry(at)));
            }
            if other.holds(&key) || key.holds(&other) {
                return Err(nested_targets(batch.entry(first), batch.entry(at)));
            }
        }
        let restored = batch.restores.get(at).copied().unwrap_or_default();
        let initial_text = initial_texts.get(at).cloned().flatten();
        targets.push(ResolvedTarget { restored, initial_text, ..target });
    }
    Ok(targets)
}

/// Resolves a target to be read.
///
/// Errors: those of admitting it.
pub(super) fn resolve_for_read(
    services: &Services,
    target: &request::Target,
    default_owner: DefaultOwner,
) -> Result<DocumentPath, Error> {
    match target {
        request::Target::File(path) => services.store.files.admit_to_read(path).map(DocumentPath::File),
        request::Target::Entity(entity) => services.row(entity, default_owner).map(DocumentPath::Row),
    }
}

/// Returns a document, and after a file its locations in the other roots that contain it: the journal of each can have edits of
/// the file.
pub(super) fn in_all_roots(services: &Services, place: &DocumentPath) -> Vec<DocumentPath> {
    let others = place.file().map(|file| services.store.files.in_other_roots(file));
    let others = others.unwrap_or_default().into_iter().map(DocumentPath::File);
    iter::once(place.clone()).chain(others).collect()
}

/// Resolves a document that an edit changed, to be read: exactly that one, in the root whose journal has the edit.
///
/// Errors: those of admitting it.
pub(super) fn resolve_changed(
    services: &Services,
    id: EditId,
    changed: &FileChange,
) -> Result<DocumentPath, Error> {
    let target = changed.target();
    match services.store.journal.root_of(id).zip(target.file()) {
        Some((root, path)) => services.store.files.admit_to_read_in(root, path).map(DocumentPath::File),
        None => resolve_for_read(services, &target, DefaultOwner::Global),
    }
}

/// Resolves a target to be edited, with its policy; a file in the root with this number, if one is given, because roots may
/// lie in each other.
pub(super) fn resolve_target(
    services: &Services,
    target: &request::Target,
    default_owner: DefaultOwner,
    root: Option<usize>,
) -> Result<ResolvedTarget, Error> {
    let (place, folder) = match target {
        request::Target::File(path) => {
            let files = &services.store.files;
            let admitted =
                root.map_or_else(|| files.admit_open(path), |root| files.admit_open_in(root, path));
            let (file, folder) = admitted?;
            (DocumentPath::File(file), Some(folder))
        }
        request::Target::Entity(entity) => (services.row(entity, default_owner)?.into(), None),
    };
    Ok(ResolvedTarget { folder, ..with_rules(services, place)? })
}

fn with_rules(services: &Services, place: DocumentPath) -> Result<ResolvedTarget, Error> {
    let rules = services.rules_of(&place)?;
    let is_journaled = match &place {
        DocumentPath::File(_) => rules.journals(place.in_root()),
        DocumentPath::Row(_) => rules.journals_entity(place.in_root()),
    };
    let restored = RestoredMetadata::default();
    Ok(ResolvedTarget { place, rules, is_journaled, folder: None, last: None, initial_text: None, restored })
}

fn duplicate_target(path: &str, first: usize, at: usize) -> Error {
    let message = format!("{path} is the same file as in edits[{first}]");
    Error::new(Code::InvalidInput, message)
        .naming_target(path)
        .with_entry(at)
        .field("path")
        .hint("name the file in the same way in both")
}

fn nested_targets(first: usize, at: usize) -> Error {
    let message = format!(
        "edits[{first}] and edits[{at}] conflict: one needs a folder at a path where the other creates a file"
    );
    Error::new(Code::InvalidInput, message).with_entry(at).field("path").hint("correct one of the paths")
}
