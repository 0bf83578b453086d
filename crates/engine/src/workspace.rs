//! The operations of lockgate on a set of roots: the public interface of the engine.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use super::difference::difference;
use super::read::ReadRequest;
use super::report::Report;
use super::services::Services;
use super::trust::{Commands, ShownCommands};
use lockgate_checks::Watch;
use lockgate_edit::request::{Request, UndoRequest};
use lockgate_error::Error;
use lockgate_policy::Policy;
use lockgate_store::{Cache, EditId, Entry, StoreListener, ToolCallRecords, outside};
use lockgate_text::{Buffer, Hints};

/// The roots that may be edited, with their locks, policies and caches.
pub struct Workspace {
    pub(super) services: Arc<Services>,
}

impl Workspace {
    /// Keeps language servers running from now on, for a long-lived process. The first answer of a server
    /// takes longer than its gate's command, and each further one a fraction of that.
    pub fn keep_servers(&self) {
        self.services.gate_runtime.keep_servers();
    }

    /// Sets the observer of database operations and their results. Workspaces that share a database share the
    /// first observer.
    pub fn set_store_observer(&self, listener: StoreListener) {
        self.services.store.rows.set_listener(listener);
    }

    /// True if a database of entities, or an organisation, is configured.
    pub fn has_configured_entities(&self) -> bool {
        self.services.store.rows.is_configured()
    }

    /// Makes one edit and returns its report.
    ///
    /// The findings of gates are part of the report. After an `Error`, nothing was
    /// written, unless its `disk` is unknown.
    pub async fn edit(&self, request: Request, watch: Watch) -> Result<Report, Error> {
        self.services.edit(request, watch).await
    }

    /// Makes several edits of different files and returns their reports, in the order of the requests.
    ///
    /// If a gate rejects one of them, none is written, and the others are reported as verified.
    ///
    /// Errors: an error in one edit fails the call, with the path of its field, as in `edits[2].search`;
    /// `INVALID_INPUT` for an empty list, two edits of one file, and files of several roots.
    pub async fn edit_all(&self, requests: Vec<Request>, watch: Watch) -> Result<Vec<Report>, Error> {
        self.services.edit_all(requests, watch).await
    }

    /// Undoes or redoes an edit in all files that it changed or in none; returns one report per file.
    ///
    /// The findings of gates are reported but never block, and no gate fixes the text. An edit that already
    /// is in the requested state is reported as already applied.
    ///
    /// Errors: `INVALID_INPUT` if there is no such edit or its texts are no longer stored, `EDIT_CONFLICT` if
    /// the file has changed at the same place, and those of an edit.
    pub async fn undo_or_redo(&self, revert: UndoRequest, watch: Watch) -> Result<Vec<Report>, Error> {
        self.services.undo_or_redo(revert, watch).await
    }

    /// Returns one edit.
    ///
    /// Errors: `INVALID_INPUT` if there is no such edit, and `STORE_UNAVAILABLE`.
    pub async fn entry(&self, edit_id: EditId) -> Result<Entry, Error> {
        self.services.off_reactor(move |services| services.entry(edit_id)).await
    }

    /// Answers a request to read files, entities or the history, of which it returns the newest edits first.
    ///
    /// Errors: `FILE_NOT_FOUND`, `NOT_TEXT`, `TOO_LARGE`, `PROTECTED`, `RANGE_OUT_OF_BOUNDS` for a start past
    /// the last line, `BAD_PATTERN`, `STORE_UNAVAILABLE` for an entity and the history, and the errors of admitting a path.
    pub async fn read<R: ReadRequest>(&self, request: R, watch: Watch) -> Result<R::Output, Error> {
        self.services.read(request, watch).await
    }

    /// Returns the records of tool calls of hosts that are not finished.
    pub fn tool_calls(&self) -> &ToolCallRecords {
        &self.services.tool_calls
    }

    /// Returns the policy of a folder, or of a file's folder, and its commands.
    ///
    /// Errors: `FILE_NOT_FOUND`, `PATH_OUTSIDE_ROOT`, `POLICY_INVALID`.
    pub fn commands(&self, path: &str) -> Result<(Arc<Policy>, Commands), Error> {
        let Services { store, policies, trust, .. } = &*self.services;
        let place = store.files.find_folder(path)?;
        let policy = policies.policy(&store.files, &place)?;
        let commands = trust.commands(&store.files, &place, &policy)?;
        Ok((policy, commands))
    }

    /// Returns the reason why these commands may not run now; `None` if they may.
    pub fn missing_trust(&self, commands: &Commands) -> Option<String> {
        self.services.trust.missing_trust(commands)
    }

    /// Returns how `shown` differs from what the person was shown who trusted the commands of this policy before, as a
    /// unified diff with the moment of that trust. `None` if they were never trusted, or if that text was not kept.
    pub fn trust_changes(&self, commands: &Commands, shown: &str) -> Option<(String, SystemTime)> {
        let ShownCommands { text, at } = self.services.trust.shown(commands)?;
        let read = |text: &str| Buffer::read(text.as_bytes().to_vec(), Hints::default()).ok();
        Some((difference(commands.describe(), Some(&read(&text)?), &read(shown)?), at))
    }

    /// Records that a person trusts these commands; `shown` is the text in which they were displayed.
    ///
    /// Errors: `PERMISSION_DENIED` if lockgate may not write its state, and errors of the operating system.
    pub fn trust(&self, commands: &Commands, shown: &str) -> Result<(), Error> {
        self.services.trust.record(commands, shown)
    }

    /// Deletes the records of the policy of a folder, or of all policies of the roots, and returns the number
    /// of records.
    ///
    /// Errors: those of [`Workspace::commands`], but the policy need not be valid; errors of the operating
    /// system.
    pub fn revoke(&self, path: Option<&str>) -> Result<usize, Error> {
        self.services.trust.revoke(&self.services.store.files, path)
    }

    /// Returns a secret of the user and its file; creates it with `fresh` if there is none.
    ///
    /// Errors: `PERMISSION_DENIED` if lockgate may not write its state, or if others could have read the
    /// file.
    pub fn stored_secret(
        &self,
        name: &str,
        fresh: impl FnOnce() -> Result<String, Error>,
    ) -> Result<(PathBuf, String), Error> {
        self.services.state.secret(name, fresh)
    }

    /// Returns the reason why a file must not configure the server: it lies where an edit could change it. `None` if the
    /// file may be used.
    pub fn editable_reason(&self, file: &Path) -> Option<String> {
        outside(file, &self.services.store.files.root_paths()).err()
    }

    /// Returns the cache folder for the samples of gates, which belong to no root.
    pub fn sample_cache(&self) -> Option<Cache> {
        self.services.state.cache(Path::new("samples")).ok()
    }

    /// Returns the policy at the top of the first root.
    ///
    /// Errors: `POLICY_INVALID`.
    pub fn policy_at_top(&self) -> Result<Arc<Policy>, Error> {
        self.services.policy_at_top()
    }
}
