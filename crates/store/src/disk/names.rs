//! Walks all names in a root, to find the other names of a file, and the files that have a protected one.
//!
//! Invariant: an incomplete walk reports that it is incomplete; names that are not UTF-8 are included, and no
//! folder stays open while those below it are read.

use super::folder::{Folder, Identity};
use rustix::fs::FileType;
use rustix::io::Errno;
use std::ffi::CStr;

/// The most entries that are visited.
const MAX_ENTRIES: usize = 400_000;

/// A name in a folder.
pub(crate) struct Name<'a> {
    pub folder: &'a Folder,
    /// The identity of the folder.
    pub identity: Identity,
    /// The path of the name in the root, with a mark for each byte that is not UTF-8.
    pub path: &'a str,
    /// The last part of the path, as raw bytes.
    pub last: &'a CStr,
    /// The kind of file, from the directory entry.
    pub kind: FileType,
    /// The inode number of the entry.
    pub inode: u64,
}

/// The next step of a walk.
pub(crate) enum VisitStep<T> {
    /// Continue with the next name.
    On,
    /// Continue, and also enter the folder of this name, with a context for its entries.
    Into(T),
    /// End the walk; no further name is visited.
    End,
}

/// The completeness of a walk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Coverage {
    /// Every name was visited, or all up to the end of the walk.
    All,
    /// Every name was visited but those in folders that may not be read.
    Blind,
    /// Incomplete: there are too many entries, they lie too deep, or the system lacks resources.
    TooLittle,
}

/// A folder that is still to be read.
struct PendingFolder<T> {
    path: Vec<u8>,
    context: T,
}

/// Visits every name below a root's folder, each with the context of its folder.
pub(crate) fn walk<T>(
    top: &Folder,
    context: T,
    mut visit: impl FnMut(&T, &Name<'_>) -> VisitStep<T>,
) -> Coverage {
    let mut pending = vec![PendingFolder { path: Vec::new(), context }];
    let mut space = Vec::new();
    let mut entries = 0_usize;
    let mut coverage = Coverage::All;
    while let Some(PendingFolder { path, context }) = pending.pop() {
        let mut ended = false;
        let listed = top.descend(path.as_slice()).and_then(|folder| {
            let identity = folder.identity()?;
            folder.entries(&mut space, |inode, kind, last| {
                entries += 1;
                if entries >= MAX_ENTRIES {
                    return Err(Errno::OVERFLOW);
                }
                let full = below(&path, last);
                let shown = String::from_utf8_lossy(&full);
                let name = Name { folder: &folder, identity, path: &shown, last, kind, inode };
                match visit(&context, &name) {
                    VisitStep::On => {}
                    VisitStep::Into(context) => pending.push(PendingFolder { path: full, context }),
                    VisitStep::End => {
                        ended = true;
                        return Err(Errno::CANCELED);
                    }
                }
                Ok(())
            })
        });
        if ended {
            return coverage;
        }
        coverage = coverage.max(listed.map_or_else(missed, |()| Coverage::All));
        if coverage == Coverage::TooLittle {
            return coverage;
        }
    }
    coverage
}

/// The completeness after a folder could not be read.
fn missed(errno: Errno) -> Coverage {
    match errno {
        // It was removed, or it is of an unknown kind and no folder.
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
