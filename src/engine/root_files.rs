//! Reads and writes the files of a project that only a person edits: its policy, and the configuration of
//! clients.
//!
//! Invariant: no agent tool reaches this module; such a file is written atomically, inside the root, and
//! through no link.

use std::path::PathBuf;

use super::services::Services;
use crate::error::{Code, Error};
use crate::policy::Publishing;
use crate::store::{Content, FileLocation, FileSnapshot, FileWrite};

/// The largest file that is read here, in bytes.
const MAX_SIZE: u64 = 4 << 20;

/// A file that only a person edits, as it was read.
#[derive(Debug)]
pub struct OwnFile {
    place: FileLocation,
    snapshot: Option<FileSnapshot>,
    bytes: Vec<u8>,
}

impl OwnFile {
    /// Returns the content; `None` if there is no such file.
    pub fn bytes(&self) -> Option<&[u8]> {
        self.snapshot.as_ref().map(|_| self.bytes.as_slice())
    }
}

impl Services {
    /// Reads a file of the first root that only a person edits.
    pub(super) fn own_file(&self, path: &str) -> Result<OwnFile, Error> {
        let place = self.store.files.admit_own(path)?;
        let mut snapshot = self.store.files.read(&place, MAX_SIZE)?;
        let bytes = snapshot.as_mut().map(FileSnapshot::take_bytes).unwrap_or_default();
        Ok(OwnFile { place, snapshot, bytes })
    }

    /// Replaces the content that was read, or creates the file with its folders.
    pub(super) fn write_own(&self, file: &OwnFile, text: &[u8]) -> Result<(), Error> {
        let lock = self.locks.try_hold(&[file.place.key()]);
        let _guard = lock.ok_or_else(|| {
            Error::new(Code::LockTimeout, format!("another edit of {} is in progress", file.place.shown()))
        })?;
        let write = FileWrite::new(
            &file.place,
            file.snapshot.as_ref().map(|snapshot| snapshot.expected(Content::new(&file.bytes))),
            Some(Content::new(text)),
        );
        self.store.files.publish(&[write], Publishing::default(), None).map(drop)
    }

    /// Returns the path of the first root, with links resolved.
    pub(super) fn top(&self) -> PathBuf {
        self.store.files.root_paths().into_iter().next().unwrap_or_default()
    }

    /// True if anything exists at a path of the first root, even a dangling link.
    pub(super) fn exists(&self, path: &str) -> bool {
        !self.store.files.has_nothing(0, path)
    }

    /// Returns the paths of the files in the first root that git would not ignore, sorted.
    pub(super) fn project_files(&self) -> Result<Vec<String>, Error> {
        self.store.files.list(0, "").map(|listing| listing.files)
    }

    /// Returns the text of a file of the first root that any tool may read, if it has at most `most` bytes.
    pub(super) fn read_prefix(&self, path: &str, most: u64) -> Option<String> {
        let place = self.store.files.admit_to_read(path).ok()?;
        let mut snapshot = self.store.files.read(&place, most).ok()??;
        String::from_utf8(snapshot.take_bytes()).ok()
    }
}
