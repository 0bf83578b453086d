//! The edit pipeline, from the request to the report, and the read operations.
//!
//! Invariant: nothing under a target's path changes before the decision to write, and a target's lock is held
//! from before it is read until after it is published.

mod audit;
mod batch;
mod caches;
mod commit;
mod confirm;
mod decide;
mod difference;
mod edit;
mod entity;
mod gate_cwd;
mod guards;
mod history;
mod hook_state;
mod host_edit;
mod judge;
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
mod repeated;
mod report;
mod resolve;
mod retry;
mod root_files;
mod rules;
mod services;
mod transfer;
mod trust;
mod undo;
mod workspace;

pub use audit::{
    Audit, AuditRoot, AuditTarget, ChangeKind, CheckBase, CheckedFile, ProjectTrial, SkippedFile,
};
pub use caches::Caches;
pub use decide::{Decision, decide};
pub use history::EntryDiffs;
pub use hook_state::HookState;
pub use host_edit::{BytesBefore, HostChange, HostFile};
pub use lockgate_store::{
    Added, Cache, Cached, EditId, EditMeta, EntityDatabase, Entry, EntryKind, FileChange, GuardLevel,
    Migrated, ProjectRoot, StateSocket, Tenant, ToolCallRecords, is_equal_peer,
};
pub use opening::Opening;
pub use read::{
    CodeContext, CodeSymbol, Entries, LineMatch, ListedText, MatchCount, Matches, NumberedLine,
    ProjectSummary, ReadLines, ReadResponse, Reference,
};
pub use report::{Report, Status};
pub use root_files::{OwnFile, OwnWrite};
pub use transfer::{Exported, Import, ImportStatus, Imported, OnConflict, export, import_apps};
pub use trust::{Commands, TrustOverride};
pub use workspace::Workspace;
