//! Stores content: the files below the roots, access to them, and the publishing of changes.
//!
//! All code that reads or replaces a user's file goes through this crate. It knows nothing of edits, gates
//! or answers: it gets a path and bytes. It guarantees that a file is always whole, that no other program's
//! work is lost silently, and that nothing outside the roots is touched.
//!
//! Invariant: a file is reached only through a root's descriptor; containment is decided relative to it and
//! never by comparing the text of paths.
//!
//! ```
//! let root = tempfile::tempdir().unwrap();
//! std::fs::write(root.path().join("a.txt"), "text").unwrap();
//! let files = lockgate_store::Files::open(&[root.path().to_owned()])?;
//! let place = files.admit("a.txt")?;
//! assert!(files.read(&place, 1 << 20)?.is_some());
//! assert_eq!(files.admit("../a.txt").unwrap_err().code.name(), "PATH_OUTSIDE_ROOT");
//! # Ok::<(), lockgate_error::Error>(())
//! ```

mod config;
mod content;
mod disk;
mod document;
mod file_write;
mod files;
mod git;
mod history;
mod journal;
mod listing;
mod lock_key;
mod locks;
mod outcome;
mod paths;
mod publish;
mod recover;
mod row_location;
mod rows;
mod search;
mod snapshot;
mod sql;
mod staged_name;
mod state;
mod store;
mod system_error;
mod tenant;
mod transfer;

pub use config::policy_file::PolicyText;
pub use config::policy_listing::PolicyFile;
pub use content::Content;
pub use disk::fingerprint::FileFingerprint;
pub use document::{DocumentPath, Snapshot, Write};
pub use file_write::FileWrite;
pub use files::{Files, OpenFolder};
pub use git::{FileAtRevision, IndexFiles, Repository, Revision, RevisionFiles};
pub use history::{
    EditFilter, EditId, EditMeta, Entry, EntryKind, FileChange, JournalRecord, RetentionLimits,
};
pub use journal::{Journal, OutsideChange};
pub use listing::{ListedPath, Listing, NOT_UTF8, OTHER_REPOSITORY, PathKind};
pub use lock_key::LockKey;
pub use locks::{LockGuard, LockWaits, Locks};
pub use outcome::{GuardLevel, PublishedBatch, PublishedFile, WriteOutcome};
pub use paths::file_location::FileLocation;
pub use paths::folder_names::POLICY_NAMES;
pub use paths::git_layout::PlannedFile;
pub use paths::listed_folders::ListedFolders;
pub use paths::project::{ProjectRoot, link_target, relative};
pub use paths::root::without_dots;
pub use paths::spelling::path_of_url;
pub use recover::{Recovery, UnrecordedEdit};
pub use row_location::{RowLocation, RowSnapshot, RowWrite};
pub use rows::{DefaultOwner, EntityFilter, EntitySelector, EntityStore, RowListed, RowText};
pub use search::{
    Clock, Finder, FoundFiles, Hidden, Hits, MAX_COUNTED_FILES, MatchReach, SearchClock, SearchEnd,
    SearchLimits, SearchPattern, SearchRoots, SearchTarget, Skipped,
};
pub use snapshot::{ExpectedContent, FileSnapshot};
pub use sql::rows::{Added, EntityDatabase, Migrated, StoreListener};
pub use state::{
    Cache, CacheLimits, Cached, IndexFile, RecordSubject, StateFolder, StateSocket, ToolCallRecords,
    is_equal_peer, is_own_path, outside,
};
pub use store::Store;
pub use tenant::Tenant;
pub use transfer::{ExportDir, ImportDir, ImportItem, NamedKey};
