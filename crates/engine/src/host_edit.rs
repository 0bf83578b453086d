//! Edits that the tools of an agent's host write: the file before, and the journal entry after.
//!
//! lockgate does not write these edits, so nothing here holds a lock or changes a file.
//!
//! Invariant: an entry is recorded only for bytes that are on disk now, and its text before is what the caller read.

use super::difference::{line_counts, line_map};
use super::guards;
use super::services::Services;
use super::workspace::Workspace;
use lockgate_edit::request::Author;
use lockgate_error::{Code, Error};
use lockgate_policy::{HookSettings, Policy, Runnable};
use lockgate_store::{DocumentPath, EditFilter, EditId, EditMeta, EntryKind, OutsideChange, Snapshot};
use lockgate_text::{Buffer, Version};

/// A file that the tool of a host is about to edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostFile {
    /// The path as lockgate names it: relative to the first root if it lies below it, with `/`.
    pub path: String,
    /// The bytes of the file; `None` if it does not exist.
    pub bytes: Option<Vec<u8>>,
    /// The permission bits of the file.
    pub mode: Option<u32>,
    /// Set when the journal may keep the texts of this file.
    pub journaled: bool,
    /// The reason why a person must confirm a write, if the policy asks for that.
    pub confirmation: Option<String>,
    /// The settings of the policy for edits of hosts.
    pub settings: HookSettings,
    /// The reason why lockgate itself would not write the file, such as its hard links. The tool of a host may write it.
    pub refusal: Option<Error>,
}

/// A change that the tool of a host wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostChange {
    /// The path of the file.
    pub path: String,
    /// The bytes of the file before, as far as they are known.
    pub before: BytesBefore,
    /// The permission bits of the file before.
    pub mode: Option<u32>,
}

/// What is known of the text before a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BytesBefore {
    /// The bytes of the file.
    Bytes(Vec<u8>),
    /// There was no file before the change.
    Absent,
    /// The file was not read before; the change cannot be undone.
    Unknown,
}

impl Workspace {
    /// Reads a file that the tool of an agent's host is about to edit, with the policy's settings for that.
    ///
    /// Errors: those of admitting a path to be written, `PROTECTED` for a path that the policy protects,
    /// `POLICY_INVALID`, `TOO_LARGE`.
    pub async fn host_file(&self, path: String) -> Result<HostFile, Error> {
        self.services.off_reactor(move |services| services.host_file(&path)).await
    }

    /// Records the changes of files that the tool of an agent's host wrote, as one edit. Returns its id; `None`
    /// if no file differs from its text before, or if edits are not recorded here.
    ///
    /// Errors: `INVALID_INPUT` for files of several roots, `STORE_UNAVAILABLE`, `NO_SPACE`, and the errors of
    /// reading the files.
    pub async fn record_host_edit(
        &self,
        changes: Vec<HostChange>,
        author: Author,
        gates: String,
    ) -> Result<Option<EditId>, Error> {
        self.services.off_reactor(move |services| services.record_host_edit(&changes, author, gates)).await
    }
}

impl Services {
    /// Reads a file that the tool of a host is about to edit, after the checks of access. The rights of the file
    /// are not checked, because lockgate does not write it.
    fn host_file(&self, path: &str) -> Result<HostFile, Error> {
        let (location, refusal) = match self.store.files.admit(path) {
            Err(error) if error.code == Code::PermissionDenied => {
                (self.store.files.admit_outside(path)?, Some(error))
            }
            admitted => (admitted?, None),
        };
        let place = DocumentPath::File(location.clone());
        let rules = self.rules_of(&place)?;
        guards::check_access(&place, &rules)?;
        guards::check_runnable(&place, &rules)?;
        let mut snapshot = place.read(&self.store, rules.limits.file, None)?;
        if snapshot.is_none() {
            place.check_new_name()?;
        }
        let linked = snapshot.as_ref().map_or(Ok(()), |file| file.check_names(&place, rules.publishing));
        Ok(HostFile {
            path: place.shown().to_owned(),
            mode: snapshot.as_ref().and_then(Snapshot::mode),
            bytes: snapshot.as_mut().map(Snapshot::take_bytes),
            journaled: rules.journals(place.in_root()),
            confirmation: confirmation(&place, &rules),
            settings: self.hook_settings(&location, &rules),
            refusal: refusal.or(linked.err()),
        })
    }

    /// Records the edit of a host; `None` if nothing changed, or if the journal does not record the files.
    pub(super) fn record_host_edit(
        &self,
        changes: &[HostChange],
        author: Author,
        gates: String,
    ) -> Result<Option<EditId>, Error> {
        let mut edited = Vec::new();
        for change in changes {
            let file = self.store.files.admit_to_read(&change.path)?;
            let place = DocumentPath::File(file.clone());
            let rules = self.rules_of(&place)?;
            let after = place.read(&self.store, rules.limits.file, None)?;
            let after = after.map(|mut snapshot| snapshot.take_bytes());
            let is_unchanged = match &change.before {
                BytesBefore::Bytes(before) => after.as_ref() == Some(before),
                BytesBefore::Absent => after.is_none(),
                BytesBefore::Unknown => self.is_recorded(&place, after.as_deref()),
            };
            if !is_unchanged {
                edited.push((file, rules, after, change));
            }
        }
        let Some((first, ..)) = edited.first() else { return Ok(None) };
        if self.store.journal.disabled_reason(first).is_some() {
            return Ok(None);
        }
        let rows = edited.iter().map(|(file, rules, after, change)| {
            let before = match &change.before {
                BytesBefore::Bytes(before) => Some(before.as_slice()),
                BytesBefore::Absent | BytesBefore::Unknown => None,
            };
            let is_known = change.before != BytesBefore::Unknown;
            // The whole text may be old, so no line counts as added.
            let (added, removed) = if is_known { counts(before, after.as_deref()) } else { (0, 0) };
            OutsideChange {
                place: file,
                before,
                is_known,
                after: after.as_deref(),
                mode: change.mode,
                added,
                removed,
                keep: is_known && rules.journals(file.in_root()),
            }
        });
        let rows: Vec<_> = rows.collect();
        let digest = Version::of_value(
            &rows.iter().map(|row| (row.place.in_root(), row.before, row.after)).collect::<Vec<_>>(),
        );
        let Author { tool, name, confirmation_id: _ } = author;
        let meta = EditMeta { tool, author: name, request: digest, kind: EntryKind::Edit, gates };
        self.store.journal.record_outside(&meta, &rows).map(Some)
    }

    /// True if the last entry of a file left it as it is now.
    fn is_recorded(&self, place: &DocumentPath, now: Option<&[u8]>) -> bool {
        let last = place.newest(&self.store, EditFilter::Settled).ok().flatten();
        let change =
            last.and_then(|last| last.changes.into_iter().find(|change| change.path == place.shown()));
        change.is_some_and(|change| change.after == now.map(Version::hash))
    }
}

/// Returns the reason why the policy wants a person to confirm this write.
fn confirmation(place: &DocumentPath, rules: &Policy) -> Option<String> {
    let rule = place.runnable().filter(|_| rules.demands.runnable == Runnable::Ask)?;
    Some(format!(
        "{} can start a program when a person opens or uses the folder ({rule}), and `runnable: ask` of the policy {} \
         wants a person to confirm that",
        place.shown(),
        rules.origin.name
    ))
}

/// Counts the added and removed lines; 0 for bytes that are not text.
fn counts(before: Option<&[u8]>, after: Option<&[u8]>) -> (usize, usize) {
    let read = |bytes: Option<&[u8]>| Buffer::read(bytes.unwrap_or_default().to_vec(), Default::default());
    match (read(before), read(after)) {
        (Ok(before), Ok(after)) => {
            line_map(&before, &after).map_or((0, 0), |map| line_counts(Some(&before), &after, &map))
        }
        _ => (0, 0),
    }
}
