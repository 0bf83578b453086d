//! Lists the policy files above a path, with the time of their last change; they are read elsewhere.
//!
//! Invariant: no file is skipped because its metadata could not be read.

use super::ancestors::candidates;
use super::file::{is_absent, links};
use crate::paths::file_location::{FileLocation, join};
use crate::paths::folder_names::POLICY_NAMES;
use crate::paths::root::Root;
use cap_std::fs::{Dir, MetadataExt};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The name and change time of a policy file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyFile {
    /// Its path relative to its root.
    pub name: String,
    /// The folder to which it applies, relative to that root; empty for the root itself.
    pub folder: String,
    /// The time of the last change of it, or of the link in its place; absent if unknown.
    ///
    /// This is the time of the inode, which no program can set.
    pub changed: Option<SystemTime>,
}

/// Returns the policy files above a path, the nearest first: for each folder the one that applies.
pub(crate) fn above(root: &Root, place: &FileLocation) -> Vec<PolicyFile> {
    let dir = root.dir();
    let in_folder = |(folder, names): (&str, Vec<&str>)| {
        let mut names = names.into_iter().map(|name| join(folder, name));
        let name = names.find(|name| !dir.symlink_metadata(name).is_err_and(|error| is_absent(&error)))?;
        Some(PolicyFile { changed: changed(dir, &name), folder: folder.to_owned(), name })
    };
    candidates(root, &place.folder, POLICY_NAMES).into_iter().filter_map(in_folder).collect()
}

/// The time of the last change of a file, or of a link in its path.
fn changed(dir: &Dir, name: &str) -> Option<SystemTime> {
    let links = links(dir, name).filter_map(|part| dir.symlink_metadata(part).ok());
    let metadata = [dir.symlink_metadata(name).ok()?, dir.metadata(name).ok()?];
    links
        .chain(metadata)
        .map(|found| time(&found))
        .try_fold(UNIX_EPOCH, |latest, time| Some(latest.max(time?)))
}

/// The time of the inode's last change.
fn time(found: &cap_std::fs::Metadata) -> Option<SystemTime> {
    let seconds = u64::try_from(found.ctime()).ok()?;
    let nanoseconds = u32::try_from(found.ctime_nsec()).ok()?;
    UNIX_EPOCH.checked_add(Duration::new(seconds, nanoseconds))
}
