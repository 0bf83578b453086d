//! A file's content as it was read, and the means to check that it is unchanged.
//!
//! Invariant: the content is one state of the file: all bytes were read between the same two detectable
//! changes; and it is never longer than the limit.

use super::content::Content;
use super::disk::bytes::has_bytes;
use super::disk::fingerprint::FileFingerprint;
use super::disk::folder::{Folder, Identity};
use super::disk::permit;
use super::paths::admit::refuse_special_in;
use super::paths::file_location::FileLocation;
use super::paths::root::Root;
use super::system_error::{self, conflict, failed};
use lockgate_error::{Code, Error};
use lockgate_policy::{HardLinks, Publishing};
use rustix::fs::Stat;
use rustix::io::{Errno, retry_on_intr};
use std::os::fd::OwnedFd;
use std::time::SystemTime;

const PERMISSIONS: u32 = 0o777;

/// The number of attempts to read a file that keeps changing.
const MAX_READINGS: usize = 3;

/// A file as it was read. Keeps its descriptor open, so that replacing the file need not wait until its
/// blocks are freed; drop it after the answer was given.
#[derive(Debug)]
pub struct FileSnapshot {
    bytes: Vec<u8>,
    is_known: bool,
    pub(super) file: OwnedFd,
    pub(super) identity: Identity,
    /// Its permission bits, without set-user-ID, set-group-ID and sticky.
    pub(super) mode: u32,
    /// The number of its hard links.
    pub(super) names: usize,
    fingerprint: Option<FileFingerprint>,
}

/// The content that is expected in the file before it is replaced.
#[derive(Debug, Clone, Copy)]
pub struct ExpectedContent<'a> {
    pub(super) snapshot: &'a FileSnapshot,
    pub(super) content: Content<'a>,
}

impl FileSnapshot {
    /// True if the content is the one that the reader knew; it was only compared, and there are no bytes.
    pub fn is_known(&self) -> bool {
        self.is_known
    }

    /// The content, unless it was taken or known.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// True if both are the same file, under one name or under several hard links.
    pub fn is_same_file(&self, other: &FileSnapshot) -> bool {
        self.names > 1 && self.identity == other.identity
    }

    /// Takes the content out, so that it need not be copied; give it back for publishing with
    /// [`FileSnapshot::expected`].
    #[must_use]
    pub fn take_bytes(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.bytes)
    }

    /// The fingerprint of the content that was read; `None` if the file had changed too recently.
    pub fn fingerprint(&self) -> Option<FileFingerprint> {
        self.fingerprint
    }

    /// Fails for a hard-linked file if the policy does not define its treatment; publishing would fail too.
    ///
    /// Errors: `PERMISSION_DENIED`, with a hint.
    pub fn check_names(&self, place: &FileLocation, publishing: Publishing) -> Result<(), Error> {
        permit::write_method(self.names, publishing, place.shown()).map(drop)
    }

    /// Fails for an append-only file, and for a mount point unless the policy allows writing into it. Publishing notices
    /// that when it exchanges the files.
    ///
    /// Errors: `PERMISSION_DENIED`, with a hint.
    pub fn check_replaceable(&self, place: &FileLocation, publishing: Publishing) -> Result<(), Error> {
        if publishing.hard_links != HardLinks::InPlace {
            permit::refuse_mounted(&self.file, place.shown())?;
        }
        permit::refuse_append_only(&self.file, place.shown())
    }

    /// Combines this snapshot with the content that was read, for comparison during publishing.
    pub fn expected<'a>(&'a self, content: Content<'a>) -> ExpectedContent<'a> {
        ExpectedContent { snapshot: self, content }
    }
}

/// Reads a file of at most `limit` bytes; `None` if there is none of that name. `root` is the root that it is
/// probably in. If the file has the `known` content, its bytes are compared, but not kept.
pub(super) fn read(
    root: Option<&Root>,
    folder: &Folder,
    name: &str,
    shown: &str,
    limit: u64,
    known: Option<&[u8]>,
) -> Result<Option<FileSnapshot>, Error> {
    for _ in 0..MAX_READINGS {
        let began = SystemTime::now();
        let Some((file, stat)) = open(root, folder, name, shown)? else { return Ok(None) };
        let has_known_size = |known: &&[u8]| u64::try_from(known.len()) == u64::try_from(stat.st_size);
        let known = known.filter(has_known_size).filter(|known| known.len() as u64 <= limit);
        // Should the comparison fail, the reading tells why.
        let is_known = known.is_some_and(|known| has_bytes(&file, known).unwrap_or(false));
        let bytes = if is_known { Vec::new() } else { content(&file, &stat, shown, limit)? };
        let length = known.filter(|_| is_known).map_or(bytes.len(), <[u8]>::len);
        let after = rustix::fs::fstat(&file).map_err(|errno| failed("fstat", shown, errno))?;
        if FileFingerprint::from_stat(&stat) == FileFingerprint::from_stat(&after)
            && u64::try_from(length) == u64::try_from(after.st_size)
        {
            let (identity, names) = (Identity::from_stat(&after), permit::names_of(&after));
            let fingerprint = FileFingerprint::from_stat(&after).settled(began, &file);
            let mode = after.st_mode & PERMISSIONS;
            return Ok(Some(FileSnapshot { bytes, is_known, file, identity, mode, names, fingerprint }));
        }
    }
    Err(conflict(shown, "kept changing while it was read"))
}

/// Opens a regular file for reading, without blocking and without following a symlink.
fn open(
    root: Option<&Root>,
    folder: &Folder,
    name: &str,
    shown: &str,
) -> Result<Option<(OwnedFd, Stat)>, Error> {
    let file = match folder.open_to_read(name) {
        Ok(file) => file,
        Err(Errno::NOENT) => return Ok(None),
        Err(Errno::LOOP) => return Err(conflict(shown, "became a symlink")),
        Err(Errno::NXIO) => return Err(system_error::not_a_file(shown, "a socket or a device")),
        Err(errno) => return Err(failed("opening", shown, errno)),
    };
    let stat = rustix::fs::fstat(&file).map_err(|errno| failed("fstat", shown, errno))?;
    refuse_special_in(root, &stat, &file, shown)?;
    Ok(Some((file, stat)))
}

/// Reads to the end, or up to one byte over the limit.
fn content(file: &OwnedFd, stat: &Stat, shown: &str, limit: u64) -> Result<Vec<u8>, Error> {
    let size = u64::try_from(stat.st_size).unwrap_or(0);
    if size > limit {
        return Err(too_large(shown, size, limit));
    }
    let capacity = usize::try_from(size).map_err(|_| too_large(shown, size, limit))?;
    let mut bytes = Vec::new();
    // One byte more than expected, so that the end is detected without growing.
    bytes
        .try_reserve_exact(capacity.saturating_add(1))
        .map_err(|_| failed("reading", shown, Errno::NOMEM))?;
    loop {
        let read = retry_on_intr(|| rustix::io::read(file, rustix::buffer::spare_capacity(&mut bytes)));
        let read = read.map_err(|errno| failed("reading", shown, errno))?;
        // A read that gives less than there is room for ended at the end of the file. The caller compares the length
        // with the size of the file after that.
        if read == 0 || bytes.len() == capacity {
            return Ok(bytes);
        }
        let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        if length > limit {
            return Err(too_large(shown, length, limit));
        }
        if bytes.len() == bytes.capacity() {
            bytes.try_reserve(64 * 1024).map_err(|_| failed("reading", shown, Errno::NOMEM))?;
        }
    }
}

fn too_large(shown: &str, size: u64, limit: u64) -> Error {
    Error::new(Code::TooLarge, format!("{shown} is too large: {size} bytes, limit {limit} bytes"))
        .naming_target(shown)
}
