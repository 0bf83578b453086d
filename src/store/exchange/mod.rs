//! A folder in which entities lie as files, so that people, other programs and another database can have them:
//! `TYPE/SCOPE/PATH`, and which app is whose in `apps.tsv`.
//!
//! What stands in the database is not trusted, and neither is the folder that is read: a key may be named `..`, and a name
//! in the folder may be a link.
//!
//! Invariant: nothing is written but new files below the folder that was made or found empty; nothing is read through a
//! link.

mod names;
mod read;
mod write;

pub use names::NamedKey;
pub use read::{ImportDir, ImportItem};
pub use write::ExportDir;

/// The file that says which app is whose: a line for each, with its id, a tab and its organisation.
const APPS: &str = "apps.tsv";
