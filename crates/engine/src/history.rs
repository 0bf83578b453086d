//! Reads the edit history from the journal.

use std::cmp::Reverse;
use std::sync::Arc;

use super::difference::{difference, removal};
use super::read::ReadRequest;
use super::resolve::{in_all_roots, resolve_changed, resolve_for_read};
use super::services::Services;
use super::workspace::Workspace;
use lockgate_checks::Watch;
use lockgate_edit::request::{HistoryRequest, Target};
use lockgate_error::{Code, Error};
use lockgate_store::{DefaultOwner, DocumentPath, EditId, Entry, FileChange};
use lockgate_text::{Buffer, Hints, Version};

/// A journal entry with the diffs of its changes.
#[derive(Debug)]
pub struct EntryDiffs {
    /// The edit's id, time, metadata and changed files.
    pub entry: Entry,
    /// The unified diff of each change; `None` if a text was never stored or is no longer.
    pub diffs: Vec<Option<String>>,
}

impl ReadRequest for HistoryRequest {
    type Output = Vec<Entry>;

    fn target(&self) -> Option<&Target> {
        self.target.as_ref()
    }

    /// None: an error names the nearest path in its hint alone.
    fn path(&self) -> Option<&str> {
        None
    }

    fn read(&self, services: &Arc<Services>, _watch: &Watch) -> Result<Vec<Entry>, Error> {
        let resolve = |target| services.resolve_for_history(target);
        let place = self.target.as_ref().map(resolve);
        let most = self.max_entries.min(HistoryRequest::MAX_ENTRIES);
        // Without an edit that cannot be recorded, the list still has the others; the note of the recovery is kept.
        services.recover_for_history();
        let entries = match place {
            Some(place) => services.entries_of_path(place, self.target.as_ref(), most)?,
            None => services.store.entries(most)?,
        };
        services.check_history()?;
        Ok(entries)
    }
}

impl Workspace {
    /// Returns an edit with the diff of each file.
    ///
    /// Errors: `INVALID_INPUT` if there is no such edit, and `STORE_UNAVAILABLE`.
    pub async fn entry_diffs(&self, edit_id: String) -> Result<EntryDiffs, Error> {
        let show = move |services: &Services| {
            let found = services.entry(edit_id.parse()?);
            services.check_history()?;
            let entry = found?;
            let paths = services.store.journal.recorded_paths(entry.id).unwrap_or_default();
            let mut paths = paths.into_iter();
            let change = |changed: &FileChange| services.change(entry.id, changed, paths.next());
            let diffs = entry.changes.iter().map(change).collect();
            Ok(EntryDiffs { entry, diffs })
        };
        self.services.off_reactor(show).await
    }
}

impl Services {
    /// Resolves a target whose edits are sought.
    ///
    /// Errors: those of admitting it, with the path that was probably meant.
    pub(super) fn resolve_for_history(&self, target: &Target) -> Result<DocumentPath, Error> {
        resolve_for_read(self, target, DefaultOwner::LastChanged)
            .map_err(|error| self.with_nearest_path_in_hint(target, error))
    }

    /// Fails once after a journal was set aside: the edits in it are missing in the history.
    ///
    /// Errors: `STORE_UNAVAILABLE`.
    pub(super) fn check_history(&self) -> Result<(), Error> {
        let notes = self.store.journal.take_notes();
        if notes.is_empty() {
            return Ok(());
        }
        Err(Error::new(Code::StoreUnavailable, notes.join("; "))
            .hint("send the request again for later edits"))
    }

    /// Returns the last entries of a document, the newest first: those of a file from the journals of all roots that contain it.
    pub(super) fn entries_of(&self, place: &DocumentPath, most: usize) -> Result<Vec<Entry>, Error> {
        let places = in_all_roots(self, place);
        let lists = places.iter().map(|place| place.entries(&self.store, most));
        let mut entries = lists.collect::<Result<Vec<_>, _>>()?.concat();
        // The order within a journal stays, even where its times run backwards.
        if places.len() > 1 {
            entries.sort_by_key(|entry| Reverse(entry.at));
            entries.truncate(most);
        }
        Ok(entries)
    }

    /// Returns the last entries of a document. If a path does not lead to its file any more, as behind a newer link or where a
    /// folder has its place, the entries are those of its text.
    ///
    /// Errors: that of resolving the path, if no entry has it.
    fn entries_of_path(
        &self,
        place: Result<DocumentPath, Error>,
        target: Option<&Target>,
        most: usize,
    ) -> Result<Vec<Entry>, Error> {
        let found = match &place {
            Ok(place) => self.entries_of(place, most)?,
            Err(_) => Vec::new(),
        };
        let is_elsewhere = match &place {
            Ok(place) => found.is_empty() && place.resolved().is_some(),
            Err(error) => error.code != Code::Protected,
        };
        let path = target.and_then(Target::file).filter(|_| is_elsewhere);
        let by_text = path.and_then(|path| self.store.journal.entries_by_text(path, most).ok());
        match (place, by_text.filter(|entries| !entries.is_empty())) {
            (_, Some(by_text)) => Ok(by_text),
            (Ok(_), None) => Ok(found),
            (Err(error), None) => Err(error),
        }
    }

    /// Returns the diff of a change, if both texts are still stored. `path` is that of a file as the journal has it: another
    /// program may have put something else in its place.
    pub(super) fn change(&self, id: EditId, changed: &FileChange, path: Option<String>) -> Option<String> {
        let place = resolve_changed(self, id, changed);
        if place.as_ref().is_err_and(|error| error.code == Code::Protected) {
            return None;
        }
        let stored = |version: &str| match (&path, &place) {
            (Some(_), _) => self.store.journal.text_of(id, version).ok()?,
            (None, Ok(place)) => place.text(&self.store, version).ok()?,
            (None, Err(_)) => None,
        };
        let text = |version: Version| Buffer::read(stored(&version.hex())?, Hints::default()).ok();
        let before = match changed.before {
            Some(before) => Some(text(before)?),
            None => None,
        };
        let path = path.as_deref().unwrap_or(&changed.path);
        match (before, changed.after) {
            (before, Some(after)) => Some(difference(path, before.as_ref(), &text(after)?)),
            (Some(before), None) => Some(removal(path, &before)),
            (None, None) => None,
        }
    }
}
