//! The edit pipeline, from the request to the report, and the read operations.
//!
//! Invariant: nothing under a target's path changes before the decision to write, and a target's lock is held
//! from before it is read until after it is published.
//!
//! ```
//! use lockgate_checks::Watch;
//! use lockgate_edit::request::{Author, Expect, Mode, Request, Target};
//! use lockgate_edit::Edit;
//! use lockgate_engine::{Status, Workspace};
//!
//! let folder = tempfile::tempdir().unwrap();
//! let (root, state) = (folder.path().join("root"), folder.path().join("state"));
//! std::fs::create_dir(&root).unwrap();
//! let workspace = Workspace::at(&[root.clone()]).with_state_dir(&state).open()?;
//! let request = Request {
//!     mode: Mode::Strict,
//!     expect: Expect::Absent,
//!     author: Author { tool: "example".to_owned(), name: "me".to_owned(), confirmation_id: None },
//!     ..Request::new(Target::File("a.json".to_owned()), Edit::Content("{}\n".to_owned()))
//! };
//! let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
//! let report = runtime.block_on(workspace.edit(request, Watch::idle()))?;
//! assert_eq!(report.status, Status::Written);
//! assert_eq!(std::fs::read_to_string(root.join("a.json")).unwrap(), "{}\n");
//! # Ok::<(), lockgate_error::Error>(())
//! ```

mod audit;
mod batch;
mod caches;
mod commit;
mod confirm;
mod corrections;
mod decide;
mod difference;
mod entity;
mod gate_cwd;
mod guards;
mod history;
mod hook_state;
mod host_edit;
mod journal_limits;
mod judge;
mod link_target;
mod links;
mod load;
mod lock;
mod mismatch;
mod nearest_path;
mod opening;
mod pipeline;
mod plan;
mod policy_cache;
mod prewarm;
mod read;
mod rebase;
mod recent_edits;
mod repeated;
mod report;
mod resolve;
mod retry;
mod root_files;
mod rules;
mod services;
#[cfg(test)]
mod tests;
mod text_cache;
mod transfer;
mod trust;
mod undo;
mod workspace;

pub use audit::{
    Audit, AuditRoot, AuditTarget, ChangeKind, CheckBase, CheckedFile, ProjectTrial, SkippedFile,
};
pub use caches::Caches;
pub use commit::gate_summary;
pub use decide::{Decision, decide};
pub use history::EntryDiffs;
pub use hook_state::HookState;
pub use host_edit::{BytesBefore, HostChange, HostFile};
pub use lockgate_store::{
    Added, Cache, Cached, EditId, EditMeta, EntityDatabase, Entry, EntryKind, FileChange, GuardLevel,
    Migrated, POLICY_NAMES, ProjectRoot, StateSocket, Tenant, ToolCallRecords, is_equal_peer, is_own_path,
    link_target, relative, without_dots,
};
pub use opening::Opening;
// All of it, so that a new request is a matter of that module alone.
pub use read::*;
pub use report::{Report, Status, TargetNames, TextChange};
pub use root_files::{OwnFile, OwnWrite};
pub use transfer::{Exported, Import, ImportStatus, Imported, OnConflict, export, import_apps};
pub use trust::{Commands, TrustOverride};
pub use workspace::Workspace;
