//! The staged copy: a complete file beside the target, under a name of its own.
//!
//! Invariant: dropping it removes it; only publishing, which consumes it, leaves it, under the target's name.

use crate::error::Error;
use crate::store::folder::Folder;
use crate::store::trouble::failed;
use rustix::fs::{Mode, OFlags};
use rustix::io::{Errno, retry_on_intr};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::os::fd::OwnedFd;

const LONGEST_NAME: usize = 255;
const MOST_TRIES: usize = 16;

/// Whose metadata the staged file will have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Freshness {
    /// That of the file it replaces: nobody else may read it until it has been given.
    Copy,
    /// That of any new file: what the umask and the folder's default ACL leave.
    New,
}

/// A file that is complete but not yet published.
#[derive(Debug)]
#[must_use = "dropping a staged file removes it; publish it by replace or create"]
pub(super) struct Staged<'a> {
    folder: &'a Folder,
    shown: &'a str,
    name: String,
    file: OwnedFd,
    removal: Removal,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Removal {
    OnDrop,
    Done,
}

impl<'a> Staged<'a> {
    /// Makes an empty staged file for a target of that name.
    pub fn begin(
        folder: &'a Folder,
        target: &str,
        shown: &'a str,
        freshness: Freshness,
    ) -> Result<Staged<'a>, Error> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
        let mode = match freshness {
            Freshness::Copy => Mode::from_raw_mode(0o600),
            Freshness::New => Mode::from_raw_mode(0o666),
        };
        for _ in 0..MOST_TRIES {
            let name = staged_name(target, RandomState::new().build_hasher().finish());
            match folder.open(&name, flags, mode) {
                Ok(file) => return Ok(Staged { folder, shown, name, file, removal: Removal::OnDrop }),
                Err(Errno::EXIST) => {}
                Err(errno) => return Err(failed("creating the staged copy", shown, errno)),
            }
        }
        Err(failed("creating the staged copy", shown, Errno::EXIST))
    }

    /// The staged file itself.
    pub fn file(&self) -> &OwnedFd {
        &self.file
    }

    /// The target's path as the caller named it.
    pub fn shown(&self) -> &'a str {
        self.shown
    }

    /// The folder that the target lies in.
    pub fn folder(&self) -> &'a Folder {
        self.folder
    }

    /// The name that the file has until it is published.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Writes all bytes.
    pub fn write(&self, bytes: &[u8]) -> Result<(), Error> {
        let mut rest = bytes;
        while !rest.is_empty() {
            let written = retry_on_intr(|| rustix::io::write(&self.file, rest));
            let written = written.map_err(|errno| failed("write", self.shown, errno))?;
            rest = match rest.get(written..) {
                Some(rest) if written > 0 => rest,
                _ => return Err(failed("write", self.shown, Errno::IO)),
            };
        }
        Ok(())
    }

    /// Makes content and metadata survive a power cut.
    pub fn sync(&self) -> Result<(), Error> {
        retry_on_intr(|| rustix::fs::fsync(&self.file)).map_err(|errno| failed("fsync", self.shown, errno))
    }

    /// Declares that nothing stands under the staged name any more.
    pub fn published(mut self) {
        self.removal = Removal::Done;
    }
}

impl Drop for Staged<'_> {
    fn drop(&mut self) {
        if self.removal == Removal::OnDrop {
            // Nobody is left to tell: where this fails, the staged file stays under its own name.
            let _ = self.folder.unlink(&self.name);
        }
    }
}

/// `.<name>.<random>.lockgate`, with as much of the name as 255 bytes leave room for.
fn staged_name(target: &str, random: u64) -> String {
    let ending = format!(".{random:016x}.lockgate");
    let room = LONGEST_NAME.saturating_sub(ending.len() + 1);
    format!(".{}{ending}", target.get(..target.floor_char_boundary(room)).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_any_length_fit() {
        for target in ["a.txt".to_owned(), "x".repeat(255), "é".repeat(127), "日".repeat(85)] {
            let name = staged_name(&target, u64::MAX);
            assert!(name.len() <= LONGEST_NAME, "{}", name.len());
            assert!(name.starts_with('.') && name.ends_with(".ffffffffffffffff.lockgate"), "{name}");
        }
        assert_eq!(staged_name("a.txt", 1), ".a.txt.0000000000000001.lockgate");
    }
}
