//! All names in a root, for questions that only all of them answer: which other names a file has, and which files have
//! a protected one.
//!
//! Invariant: a walk that did not see every name says so; names that are not UTF-8 are seen as well, and no folder stays
//! open while those below it are looked at.

use super::folder::{Folder, Identity};
use rustix::fs::FileType;
use rustix::io::Errno;
use std::ffi::CStr;

/// Entries that are looked at.
const MOST_ENTRIES: usize = 400_000;

/// A name in a folder.
pub(super) struct Name<'a> {
    /// The folder.
    pub folder: &'a Folder,
    /// What the folder is.
    pub identity: Identity,
    /// The path of the name beneath the root, with a mark for each byte that is no text.
    pub path: &'a str,
    /// Its last part, as it stands there.
    pub last: &'a CStr,
    /// What the entry says that it is.
    pub kind: FileType,
    /// Its inode.
    pub inode: u64,
}

/// Where a walk goes on.
pub(super) enum VisitStep<T> {
    /// With the next name.
    On,
    /// Into the folder of this name, too, with something to know there.
    Into(T),
    /// Nowhere.
    End,
}

/// How much was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Coverage {
    /// Every name, or all up to where the walk was ended.
    All,
    /// Every name but those in folders that may not be looked into.
    Blind,
    /// Not enough to tell: there are too many, they lie too deep, or the system had nothing left to look with.
    TooLittle,
}

/// A folder that is still to be looked at.
struct PendingFolder<T> {
    path: Vec<u8>,
    known: T,
}

/// Shows every name beneath a root's folder, each with what is known of its folder.
pub(super) fn walk<T>(
    top: &Folder,
    known: T,
    mut visit: impl FnMut(&T, &Name<'_>) -> VisitStep<T>,
) -> Coverage {
    let (mut left, mut space) = (vec![PendingFolder { path: Vec::new(), known }], Vec::new());
    let (mut entries, mut seen) = (0_usize, Coverage::All);
    while let Some(PendingFolder { path, known }) = left.pop() {
        let mut ended = false;
        let opened = top.descend(path.as_slice()).and_then(|folder| Ok((folder.identity()?, folder)));
        let listed = opened.and_then(|(identity, folder)| {
            folder.entries(&mut space, |inode, kind, last| {
                entries += 1;
                if entries >= MOST_ENTRIES {
                    return Err(Errno::OVERFLOW);
                }
                let full = below(&path, last);
                let shown = String::from_utf8_lossy(&full);
                let name = Name { folder: &folder, identity, path: &shown, last, kind, inode };
                match visit(&known, &name) {
                    VisitStep::On => Ok(()),
                    VisitStep::Into(known) => {
                        left.push(PendingFolder { path: full, known });
                        Ok(())
                    }
                    VisitStep::End => {
                        ended = true;
                        Err(Errno::CANCELED)
                    }
                }
            })
        });
        if ended {
            return seen;
        }
        seen = seen.max(listed.map_or_else(missed, |()| Coverage::All));
        if seen == Coverage::TooLittle {
            return seen;
        }
    }
    seen
}

/// What it means that a folder could not be looked at.
fn missed(errno: Errno) -> Coverage {
    match errno {
        // Gone by now, or of an unknown kind and no folder.
        Errno::NOENT | Errno::NOTDIR | Errno::LOOP => Coverage::All,
        Errno::ACCESS | Errno::PERM => Coverage::Blind,
        _ => Coverage::TooLittle,
    }
}

fn below(folder: &[u8], name: &CStr) -> Vec<u8> {
    let mut path = folder.to_vec();
    if !path.is_empty() {
        path.push(b'/');
    }
    path.extend_from_slice(name.to_bytes());
    path
}
