//! Where content lives: the files beneath the roots, who may touch them, and how a change becomes theirs.
//!
//! Everything that reads or replaces a user's file goes through this room. It knows nothing of edits, gates or answers: it is
//! given a path and bytes, and it keeps the promise that a file is always whole, that nobody's work is lost unseen, and that
//! nothing outside the roots is touched.
//!
//! Invariant: no file is reached but through a root's descriptor; containment is decided beneath it and never by comparing
//! the text of paths.

mod access;
mod admit;
mod alias;
mod ancestors;
mod dispatch;
mod editorconfig;
mod exchange;
mod facts;
mod file_place;
mod files;
mod folder;
#[cfg(feature = "check")]
mod git;
mod git_layout;
mod git_settings;
mod inode;
mod journal;
mod listing;
mod locks;
mod names;
mod permit;
mod place;
mod policy_file;
mod project;
mod publish;
mod recover;
mod root;
mod rows;
mod ruling;
mod search;
mod snapshot;
mod spelling;
mod sql;
mod state;
mod trouble;
mod walk;

pub use dispatch::{Store, Write, Written};
pub use exchange::{Inbox, Letter, Named, Outbox};
pub use facts::Facts;
pub use file_place::FilePlace;
pub use files::Files;
#[cfg(feature = "check")]
pub use git::{Names, Repository, Revision, Was};
pub use git_layout::Planned;
pub use journal::{Bounds, Changed, Deed, EditId, Entry, Journal, Kind};
pub use listing::{Listing, Scope, Stands};
pub use locks::{Held, Locks};
pub use place::{Key, Place};
pub use policy_file::PolicyText;
pub use project::{ProjectRoot, relative};
pub use publish::{Content, Done, FileWrite, Level, Published, Told};
pub use rows::{Among, Meant, RowListed, RowPlace, RowSnapshot, RowText, RowWrite, Rows, Tenant};
pub use ruling::PolicyFile;
pub use search::{
    Below, Bounds as SearchBounds, Clock, End, Finder, Found, Hidden, Hits, PassedOver, Pattern, Reach,
    Surveyed, Waits, Within,
};
pub use snapshot::{Before, FileSnapshot, Snapshot};
pub use sql::rows::{Added, Depot, Migrated, StoreTold};
pub use state::{Cache, CacheLimits, Cached, Kept, State, Subject, outside};
