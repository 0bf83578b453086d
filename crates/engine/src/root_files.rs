//! Reads and writes the files of a project that only a person edits: its policy, and the configuration of
//! clients.
//!
//! Invariant: no agent tool reaches this module; such a file is written atomically, inside the root, and
//! through no link.

use std::path::PathBuf;

use super::services::Services;
use super::workspace::Workspace;
use lockgate_error::{Code, Error};
use lockgate_policy::Publishing;
use lockgate_store::{Content, FileLocation, FileSnapshot, FileWrite, RecordSubject};

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

/// A change of a file that only a person edits.
#[derive(Debug)]
pub struct OwnWrite<'a> {
    /// The file as it was read.
    pub file: &'a OwnFile,
    /// The new content; `None` removes the file.
    pub text: Option<&'a [u8]>,
    /// The permission bits of a new file, if they differ from the default.
    pub mode: Option<u32>,
    /// The number of folders above a removed file that are removed too, if they are empty then.
    pub folders: usize,
}

impl<'a> OwnWrite<'a> {
    /// Replaces the content, or creates the file with its folders.
    pub fn new(file: &'a OwnFile, text: &'a [u8]) -> OwnWrite<'a> {
        OwnWrite { file, text: Some(text), mode: None, folders: 0 }
    }

    fn file_write(&self) -> FileWrite<'_> {
        let file = self.file;
        let before = file.snapshot.as_ref().map(|snapshot| snapshot.expected(Content::new(&file.bytes)));
        let new = FileWrite::new(&file.place, before, self.text.map(Content::new));
        FileWrite { mode: self.mode, folders: self.folders, ..new }
    }
}

impl Workspace {
    /// Reads a file of the first root that only a person edits.
    ///
    /// Errors: `NOT_A_FILE` for anything but a regular file, and for a path through a link; `TOO_LARGE` above
    /// 4 MiB; the errors of admitting a path, except `PROTECTED`.
    pub fn own_file(&self, path: &str) -> Result<OwnFile, Error> {
        let files = &self.services.store.files;
        let place = files.admit_own(path)?;
        let mut snapshot = files.read(&place, MAX_SIZE)?;
        let bytes = snapshot.as_mut().map(FileSnapshot::take_bytes).unwrap_or_default();
        Ok(OwnFile { place, snapshot, bytes })
    }

    /// Replaces, creates or removes files that only a person edits: all of them, or none.
    ///
    /// Errors: `EDIT_CONFLICT` if a file changed meanwhile, `LOCK_TIMEOUT` while lockgate itself edits one of
    /// them, and errors of the operating system.
    pub fn write_own(&self, writes: &[OwnWrite<'_>]) -> Result<(), Error> {
        let Services { store, locks, .. } = &*self.services;
        let keys: Vec<_> = writes.iter().map(|write| write.file.place.key()).collect();
        let names = || writes.iter().map(|write| write.file.place.shown()).collect::<Vec<_>>().join(", ");
        let busy = || Error::new(Code::LockTimeout, format!("another edit of {} is in progress", names()));
        let _guard = locks.try_hold(&keys).ok_or_else(busy)?;
        for write in writes {
            let is_interrupted = store.journal.has_interrupted_edit(&write.file.place)?;
            if is_interrupted && !self.services.recover_edits(&keys).awaited.is_empty() {
                return Err(busy());
            }
        }
        let writes: Vec<FileWrite<'_>> = writes.iter().map(OwnWrite::file_write).collect();
        store.files.publish(&writes, Publishing::default(), None).map(drop)
    }

    /// Returns the record of an addition to a configuration, by its name; `None` if there is none that counts.
    pub fn setup_record(&self, addition: &str) -> Option<Vec<u8>> {
        self.services.state.read(RecordSubject::of_setup(&self.top(), addition)).ok()?
    }

    /// Sets the record of an addition to a configuration, or removes it.
    ///
    /// Errors: `PERMISSION_DENIED` if lockgate has no usable state folder, and errors of the operating system.
    pub fn set_setup_record(&self, addition: &str, record: Option<&[u8]>) -> Result<(), Error> {
        let (state, subject) = (&self.services.state, RecordSubject::of_setup(&self.top(), addition));
        match record {
            Some(record) => state.write(subject, record),
            None => state.remove(subject).map(drop),
        }
    }

    /// Returns the path of the first root, with links resolved.
    pub fn top(&self) -> PathBuf {
        self.services.store.files.root_paths().into_iter().next().unwrap_or_default()
    }

    /// True if anything exists at a path of the first root, even a dangling link.
    pub fn exists(&self, path: &str) -> bool {
        !self.services.store.files.has_nothing(0, path)
    }

    /// Returns the paths of the files in the first root that git would not ignore, sorted.
    ///
    /// Errors: `PATH_OUTSIDE_ROOT` for a missing root.
    pub fn project_files(&self) -> Result<Vec<String>, Error> {
        self.services.store.files.list(0, "").map(|listing| listing.files)
    }

    /// Returns the text of a file of the first root that any tool may read, if it has at most `most` bytes.
    pub fn read_prefix(&self, path: &str, most: u64) -> Option<String> {
        let files = &self.services.store.files;
        let mut snapshot = files.read(&files.admit_to_read(path).ok()?, most).ok()??;
        String::from_utf8(snapshot.take_bytes()).ok()
    }
}
