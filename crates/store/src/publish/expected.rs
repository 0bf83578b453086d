//! The file and the content that are expected under a name.
//!
//! Invariant: the content itself is compared, not only its times or size, and the name must still lead to
//! this very file.

use super::guards::Guards;
use super::metadata::CopiedMetadata;
use crate::disk::bytes::has_bytes;
use crate::disk::folder::{Folder, Identity};
use crate::snapshot::ExpectedContent;
use crate::system_error::{conflict, failed};
use lockgate_error::Error;
use rustix::fs::Stat;
use rustix::io::{Errno, Result as Io};
use std::os::fd::OwnedFd;

/// An open file and its expected content.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ExpectedFile<'a> {
    pub(super) file: &'a OwnedFd,
    /// The identity of the file.
    pub(super) identity: Identity,
    /// The content that the file must still have.
    pub(super) bytes: &'a [u8],
    /// The metadata that was copied to its replacement, if there is one.
    pub(super) copied_metadata: Option<&'a CopiedMetadata>,
}

impl<'a> ExpectedFile<'a> {
    /// A file with this expected content.
    pub(crate) fn new(file: &'a OwnedFd, identity: Identity, bytes: &'a [u8]) -> ExpectedFile<'a> {
        ExpectedFile { file, identity, bytes, copied_metadata: None }
    }

    /// Fails if the name now leads to another file, or the file has other content.
    pub(super) fn check(
        &self,
        folder: &Folder,
        name: &str,
        shown: &str,
        guards: &Guards<'_>,
    ) -> Result<(), Error> {
        if !guards.compare {
            return Ok(());
        }
        let stat = stat(folder, name, shown)?;
        if Identity::from_stat(&stat) != self.identity {
            return Err(replaced(shown));
        }
        guards.step();
        if !self.holds().map_err(|errno| failed("reading", shown, errno))? {
            let size = rustix::fs::fstat(self.file).map(|stat| stat.st_size).unwrap_or_default();
            let message = format!(
                "was changed by another program since it was read ({} bytes then, {size} now)",
                self.bytes.len()
            );
            return Err(conflict(shown, &message));
        }
        let is_same = |metadata: &CopiedMetadata| {
            if metadata.fits(&stat) { metadata.has_attributes_of(self.file) } else { Ok(false) }
        };
        match self.copied_metadata.map(is_same) {
            None | Some(Ok(true)) => Ok(()),
            Some(Ok(false)) => {
                Err(conflict(shown, "changed its permissions or attributes since it was read"))
            }
            Some(Err(errno)) => Err(failed("reading the extended attributes", shown, errno)),
        }
    }

    /// True if the name leads to this file, and the metadata that was copied is still its own, as far as a stat shows it.
    pub(crate) fn is_named(&self, folder: &Folder, name: &str) -> bool {
        folder.stat(name).is_ok_and(|stat| {
            Identity::from_stat(&stat) == self.identity
                && self.copied_metadata.is_none_or(|metadata| metadata.fits(&stat))
        })
    }

    /// True if the file has exactly these bytes.
    pub(crate) fn holds(&self) -> Io<bool> {
        has_bytes(self.file, self.bytes)
    }
}

impl<'a> From<ExpectedContent<'a>> for ExpectedFile<'a> {
    fn from(before: ExpectedContent<'a>) -> ExpectedFile<'a> {
        ExpectedFile::new(&before.snapshot.file, before.snapshot.identity, before.content.bytes)
    }
}

/// Returns the metadata of the entry of this name, which existed when it was read.
pub(super) fn stat(folder: &Folder, name: &str, shown: &str) -> Result<Stat, Error> {
    folder.stat(name).map_err(|errno| match errno {
        Errno::NOENT => removed(shown),
        errno => failed("stat", shown, errno),
    })
}

/// The error for a file that another program removed.
pub(super) fn removed(shown: &str) -> Error {
    conflict(shown, "was removed by another program since it was read")
}

/// The error for a name that leads to another file.
pub(super) fn replaced(shown: &str) -> Error {
    conflict(shown, "was replaced by another file since it was read")
}
