//! The files of a project that only a person writes: its policy, and how clients find lockgate.
//!
//! Invariant: no tool of an agent leads here; such a file is written whole or not at all, beneath the root, and through
//! no link.

use std::path::PathBuf;

use super::Workspace;
use crate::error::{Code, Error};
use crate::policy::Publishing;
use crate::store::{Content, FilePlace, FileSnapshot, FileWrite, JournalRecord};

/// The largest file that is looked at here, in bytes.
const LARGEST: u64 = 4 << 20;

/// A file that only a person writes, as it was read.
#[derive(Debug)]
pub struct OwnFile {
    place: FilePlace,
    snapshot: Option<FileSnapshot>,
    bytes: Vec<u8>,
}

impl OwnFile {
    /// What stands in it; nothing where there is no such file.
    pub fn bytes(&self) -> Option<&[u8]> {
        self.snapshot.as_ref().map(|_| self.bytes.as_slice())
    }
}

impl Workspace {
    /// Reads a file of the first root that only a person writes.
    ///
    /// Errors: `NOT_A_FILE` for what is no regular file or stands behind a link, `TOO_LARGE` past 4 MiB, and what admitting
    /// a path gives, but for what is protected from agents.
    pub fn own_file(&self, path: &str) -> Result<OwnFile, Error> {
        let place = self.store.files.admit_own(path)?;
        let mut snapshot = self.store.files.read(&place, LARGEST)?;
        let bytes = snapshot.as_mut().map(FileSnapshot::take_bytes).unwrap_or_default();
        Ok(OwnFile { place, snapshot, bytes })
    }

    /// Puts this text in the place of what was read, or makes the file with its folders.
    ///
    /// Errors: `EDIT_CONFLICT` where something else stands there by now, `LOCK_TIMEOUT` while lockgate itself edits the
    /// file, and what the system refuses.
    pub fn write_own(&self, file: &OwnFile, text: &[u8]) -> Result<(), Error> {
        let held = self.locks.try_hold(&[file.place.key()]);
        let _held = held.ok_or_else(|| {
            Error::new(Code::LockTimeout, format!("{} is being edited just now", file.place.shown()))
        })?;
        let write = FileWrite {
            place: &file.place,
            before: file.snapshot.as_ref().map(|snapshot| snapshot.held(Content::new(&file.bytes))),
            after: Some(Content::new(text)),
            mode: None,
            folders: 0,
            told: JournalRecord::default(),
        };
        self.store.files.publish(&[write], Publishing::default(), None).map(drop)
    }

    /// The path of the first root, links resolved.
    pub fn top(&self) -> PathBuf {
        self.store.files.root_paths().into_iter().next().unwrap_or_default()
    }

    /// Whether anything stands at a path of the first root, be it a link that leads nowhere.
    pub fn stands(&self, path: &str) -> bool {
        !self.store.files.has_nothing(0, path)
    }

    /// The files of the first root that git would not pass over, by their paths, in order.
    ///
    /// Errors: `PATH_OUTSIDE_ROOT` for a root that is not there.
    pub fn project_files(&self) -> Result<Vec<String>, Error> {
        self.store.files.list(0, "").map(|listing| listing.files)
    }

    /// The text of a file of the first root that any tool may read, where it has at most this many bytes.
    pub fn glance(&self, path: &str, most: u64) -> Option<String> {
        let place = self.store.files.admit_to_read(path).ok()?;
        let mut snapshot = self.store.files.read(&place, most).ok()??;
        String::from_utf8(snapshot.take_bytes()).ok()
    }
}
