//! The requests of one call, as they were made.

use lockgate_edit::Edit;
use lockgate_edit::request::{self, Mode, Request};
use lockgate_error::Error;
use lockgate_store::{DefaultOwner, EditMeta, EntryKind};
use lockgate_text::Version;

/// The requests of one call, which are carried out together or not at all.
pub(super) struct Batch {
    pub(super) requests: Vec<Request>,
    /// The kind of journal entry that the call makes.
    pub(super) kind: EntryKind,
    /// The metadata that each request restores with its text; one per request, or empty.
    pub(super) restores: Vec<RestoredMetadata>,
    /// The number of the root that has all files, for an undo or redo; `None` if their paths tell.
    pub(super) root: Option<usize>,
    /// The hash of all requests, by which a repeated call is recognised.
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

impl Batch {
    /// Creates the batch of a single request.
    pub(super) fn single(request: Request) -> Batch {
        Batch { is_batch: false, ..Batch::new(vec![request], EntryKind::Edit) }
    }

    /// Creates the batch of several requests.
    pub(super) fn new(requests: Vec<Request>, kind: EntryKind) -> Batch {
        let parts: Vec<_> = requests
            .iter()
            .map(
                |Request {
                     target,
                     edit,
                     mode: _,
                     expect,
                     gate_options,
                     permissions,
                     author: _,
                     is_written_by_host: _,
                 }| {
                    // A call in another mode is the same edit. The journals of earlier versions have the hash with a mode.
                    (target, edit, Mode::default(), expect, gate_options, permissions)
                },
            )
            .collect();
        let digest = Version::of_value(&parts);
        Batch { requests, kind, restores: Vec::new(), root: None, digest, is_batch: true }
    }

    /// Does `work` on one item for each request, and adds the index of the request to the error of the first that fails.
    pub(super) fn try_each<I: IntoIterator, T>(
        &self,
        items: I,
        mut work: impl FnMut(I::Item) -> Result<T, Error>,
    ) -> Result<Vec<T>, Error> {
        let items = items.into_iter().enumerate();
        items.map(|(at, item)| work(item).map_err(|error| self.with_edit_index(error, at))).collect()
    }

    /// Adds the index of the request to an error that does not have one.
    pub(super) fn with_edit_index(&self, error: Error, at: usize) -> Error {
        if self.is_batch && error.entry.is_none() { error.with_entry(self.entry(at)) } else { error }
    }

    /// Returns the index, in the call's list, of the first edit of a request.
    pub(super) fn entry(&self, at: usize) -> usize {
        let request = self.requests.get(at);
        request.and_then(|request| entries(at, request).first().copied()).unwrap_or(at)
    }

    /// Returns the request that has this edit of the call's list.
    pub(super) fn request_with(&self, entry: usize) -> Option<&Request> {
        let mut requests = self.requests.iter().enumerate();
        requests.find(|(at, request)| entries(*at, request).contains(&entry)).map(|(_, request)| request)
    }

    /// Gives the request that has this edit of the call's list another path, and returns the indices of all edits of that
    /// request.
    pub(super) fn correct_path(&mut self, entry: usize, path: &str) -> Vec<usize> {
        for (at, request) in self.requests.iter_mut().enumerate() {
            let entries = entries(at, request);
            if entries.contains(&entry) {
                request.target = request::Target::File(path.to_owned());
                return entries;
            }
        }
        Vec::new()
    }

    /// Returns the owner of an entity that a request names without an organisation. The target of an undo comes from the
    /// journal, and is exactly the row that the edit changed. A deletion that is repeated must not remove the global entity
    /// behind the one that is already removed.
    pub(super) fn default_owner(&self, request: &Request) -> DefaultOwner {
        match (self.kind, &request.edit) {
            (EntryKind::Undo(_) | EntryKind::Redo(_), _) => DefaultOwner::Global,
            (EntryKind::Edit, Edit::Remove) => DefaultOwner::ClosestInHistory,
            (EntryKind::Edit, _) => DefaultOwner::Closest,
        }
    }

    /// Returns false if the call only shows what it would write.
    pub(super) fn may_write(&self) -> bool {
        self.requests.iter().any(|request| request.mode != Mode::VerifyOnly)
    }

    /// Returns true if the call has only one edit.
    pub(super) fn has_one_edit(&self) -> bool {
        match self.requests.as_slice() {
            [Request { edit: Edit::Several(parts), .. }] => parts.len() == 1,
            requests => requests.len() == 1,
        }
    }

    /// Returns the metadata of the call for the journal.
    pub(super) fn edit_meta(&self, gates: String) -> EditMeta {
        let request::Author { tool, name, confirmation_id: _ } =
            self.requests.first().map(|request| request.author.clone()).unwrap_or_default();
        EditMeta { tool, author: name, request: self.digest, kind: self.kind, gates }
    }
}

/// Returns the indices, in the call's list, of the edits of its request with this number. The edits of one file are one
/// request.
fn entries(at: usize, request: &Request) -> Vec<usize> {
    match &request.edit {
        Edit::Several(parts) => parts.iter().map(|part| part.entry).collect(),
        _ => vec![at],
    }
}
