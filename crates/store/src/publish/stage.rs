//! The staged copy: a complete file in the target's folder, under a temporary name. If the file system
//! supports unnamed files, it gets that name only once it is complete and the journal knows its inode.
//!
//! Invariant: dropping it removes the file; only publishing, which consumes it, keeps the file under the
//! target's name.

use super::expected::ExpectedFile;
use super::lease::Lease;
use super::metadata::CopiedMetadata;
use super::swap::SwapNames;
use crate::disk::bytes::write_all;
use crate::disk::folder::{Folder, Identity, open_again_to_read};
use crate::disk::inode::{CreatedFile, Inode};
use crate::disk::permit;
use crate::file_write::FileWrite;
use crate::system_error::failed;
use lockgate_error::Error;
use rustix::fs::{Mode, OFlags};
use rustix::io::{Errno, retry_on_intr};
use std::os::fd::OwnedFd;
use std::sync::Arc;

const PERMISSIONS: u32 = 0o777;

/// A staged file that is not yet published.
#[derive(Debug)]
#[must_use = "dropping a staged file removes it; publish it"]
pub(super) struct StagedFile<'a> {
    folder: &'a Folder,
    shown: &'a str,
    name: &'a str,
    file: Arc<OwnedFd>,
    created: CreatedFile,
    bytes: &'a [u8],
    metadata: Option<CopiedMetadata>,
    removal: Removal,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Removal {
    /// The file has no name yet.
    Unnamed,
    OnDrop,
    Done,
}

impl<'a> StagedFile<'a> {
    /// Creates the file with these bytes in the target's folder, under the staged name, with the copied
    /// metadata.
    pub fn make(
        names: &SwapNames<'a>,
        write: &FileWrite<'a>,
        bytes: &'a [u8],
    ) -> Result<StagedFile<'a>, Error> {
        let mut staged = StagedFile::open(names, write, bytes)?;
        staged.write(write, |_, _, _| Ok(()))?;
        staged.name()?;
        Ok(staged)
    }

    /// Creates the empty file, without a name if the file system supports that: then a process that ends
    /// early leaves nothing behind.
    pub fn open(
        names: &SwapNames<'a>,
        write: &FileWrite<'a>,
        bytes: &'a [u8],
    ) -> Result<StagedFile<'a>, Error> {
        if let Some(staged) = StagedFile::open_unnamed(names, write, bytes)? {
            return Ok(staged);
        }
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL;
        let file = names.folder.open(names.staged, flags, first_mode(write));
        let file = file.map_err(|errno| not_created(names, errno))?;
        StagedFile::new(names, bytes, file, Removal::OnDrop)
    }

    /// Does the same without a name; `None` if the file system does not support that.
    pub fn open_unnamed(
        names: &SwapNames<'a>,
        write: &FileWrite<'a>,
        bytes: &'a [u8],
    ) -> Result<Option<StagedFile<'a>>, Error> {
        if !names.guards.unnamed {
            return Ok(None);
        }
        // No other user can open a file without a name, so it is created with the mode of the file before.
        let mode = write
            .before
            .map_or_else(|| first_mode(write), |before| Mode::from_raw_mode(before.snapshot.mode));
        match names.folder.make_unnamed(mode) {
            Ok(file) => StagedFile::new(names, bytes, file, Removal::Unnamed).map(Some),
            Err(Errno::NOTSUP | Errno::NOSYS | Errno::ISDIR | Errno::INVAL | Errno::NOENT) => Ok(None),
            Err(errno) => Err(not_created(names, errno)),
        }
    }

    fn new(
        names: &SwapNames<'a>,
        bytes: &'a [u8],
        file: OwnedFd,
        removal: Removal,
    ) -> Result<StagedFile<'a>, Error> {
        let (folder, name, shown) = (names.folder, names.staged, names.shown);
        let created = CreatedFile::read(&file).map_err(|errno| {
            if removal == Removal::OnDrop {
                // If this fails, the journal knows the name.
                let _ = folder.unlink(name);
            }
            failed("fstat", shown, errno)
        })?;
        let file = Arc::new(file);
        Ok(StagedFile { folder, shown, name, file, created, bytes, metadata: None, removal })
    }

    /// The inode of the file.
    pub fn inode(&self) -> Inode {
        self.created.inode
    }

    /// Writes the bytes and copies the metadata; does not sync.
    ///
    /// Errors: `PERMISSION_DENIED` for the file of a program with privileges; `EDIT_CONFLICT` if the number of the file's
    /// names has changed since it was read.
    pub fn fill(&mut self, write: &FileWrite<'a>) -> Result<(), Error> {
        self.write(write, CopiedMetadata::check)
    }

    fn write(
        &mut self,
        write: &FileWrite<'a>,
        check: fn(&CopiedMetadata, usize, &str) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let shown = self.shown;
        write_all(&self.file, self.bytes).map_err(|errno| failed("write", shown, errno))?;
        match (&write.before, write.mode) {
            (Some(before), _) => {
                let metadata = CopiedMetadata::read(&before.snapshot.file, shown)?;
                check(&metadata, before.snapshot.names, shown)?;
                metadata.copy_to(&self.file, &self.created, shown)?;
                self.metadata = Some(metadata);
            }
            (None, Some(mode)) => rustix::fs::fchmod(&self.file, Mode::from_raw_mode(mode & PERMISSIONS))
                .map_err(|errno| failed("fchmod", shown, errno))?,
            (None, None) => {}
        }
        Ok(())
    }

    /// Gives the file the staged name, if it has none yet.
    pub fn name(&mut self) -> Result<(), Error> {
        if self.removal == Removal::Unnamed {
            let result = self.folder.give_name(&self.file, self.name);
            result.map_err(|errno| failed("naming the staged copy", self.shown, errno))?;
            self.removal = Removal::OnDrop;
        }
        Ok(())
    }

    /// Makes content and metadata survive a power cut.
    pub fn sync(&self) -> Result<(), Error> {
        retry_on_intr(|| rustix::fs::fsync(&self.file)).map_err(|errno| failed("fsync", self.shown, errno))
    }

    /// The descriptor, for a sync on another thread. It must be closed before [`StagedFile::lease`].
    pub fn shared_file(&self) -> Arc<OwnedFd> {
        Arc::clone(&self.file)
    }

    /// The target's path as the caller named it.
    pub fn shown(&self) -> &'a str {
        self.shown
    }

    /// The file and the content that should be found under the target's name later.
    pub fn expected(&self) -> ExpectedFile<'_> {
        ExpectedFile {
            file: &self.file,
            identity: self.created.identity,
            bytes: self.bytes,
            copied_metadata: None,
        }
    }

    /// The metadata that was copied from the file before.
    pub fn metadata(&self) -> Option<&CopiedMetadata> {
        self.metadata.as_ref()
    }

    /// A lease on the file, if the system supports it; requires `seal` first.
    pub fn lease(&self) -> Option<Lease<'static>> {
        Lease::take_shared(&self.file).ok()
    }

    /// Closes the writable descriptor, because a lease needs a file that no process has open for writing.
    pub fn seal(&mut self) {
        let is_same = |file: &OwnedFd| {
            rustix::fs::fstat(file).is_ok_and(|stat| Identity::from_stat(&stat) == self.created.identity)
        };
        let by_name = |_| self.folder.open_to_read(self.name).ok().filter(is_same);
        // If the mode forbids reading, the existing descriptor is used.
        if let Some(file) = open_again_to_read(&self.file).map_or_else(by_name, Some) {
            self.file = Arc::new(file);
        }
    }

    /// Declares that no file of ours has the staged name any more.
    pub fn published(mut self) -> StagedFile<'a> {
        self.removal = Removal::Done;
        self
    }
}

impl Drop for StagedFile<'_> {
    fn drop(&mut self) {
        if self.removal == Removal::OnDrop {
            // There is no caller to report to; if this fails, the journal knows the name.
            let _ = self.folder.unlink(self.name);
        }
    }
}

/// The error for a staged copy that could not be created.
fn not_created(names: &SwapNames<'_>, errno: Errno) -> Error {
    permit::refused(("creating the staged copy", errno), names.shown, permit::CLOSED_FOLDER)
}

/// The mode of an empty staged copy. No other user may read it before its final rights are set; a new file gets what
/// the umask and the folder's ACL allow.
fn first_mode(write: &FileWrite<'_>) -> Mode {
    Mode::from_raw_mode(if write.before.is_some() || write.mode.is_some() { 0o600 } else { 0o666 })
}
