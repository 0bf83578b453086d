//! Exports entities to a folder of files and imports them again, for people, other programs or another
//! database. A file's path is `TYPE/SCOPE/PATH`; `apps.tsv` lists the apps and their organisations.
//!
//! Neither the database nor an imported folder is trusted: a key may be `..`, and an entry of the
//! folder may be a symbolic link.
//!
//! Invariant: an export writes only new files, within a folder that it created or found empty. An
//! import never follows a symbolic link.

mod names;
mod read;
mod write;

pub use names::NamedKey;
pub use read::{ImportDir, ImportItem};
pub use write::ExportDir;

/// The list of apps: a line for each, with its id, a tab and its organisation.
const APPS: &str = "apps.tsv";
