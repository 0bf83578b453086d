//! What stands where a half-done edit was at work, and what that says of it.
//!
//! Invariant: nothing is changed here.

use super::Left;
use crate::error::{Code, Error};
use crate::store::folder::{Folder, Identity};
use crate::store::inode::Inode;
use crate::store::place::Key;
use crate::store::root::Root;
use crate::store::snapshot::{self, FileSnapshot};
use crate::store::trouble;
use crate::text::Stamp;
use rustix::io::Errno;

/// A longer file is nobody's edit.
const LARGEST: u64 = 1 << 30;

/// Whether a write of the edit is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// It was made.
    There,
    /// It was not made, or not to its end.
    NotThere,
    /// What stands there does not say.
    Unclear,
}

/// Whose the file beside is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    /// It is the edit's staged copy, or a part of it.
    Copy,
    /// It is the file before, as it was.
    Before,
    /// It is somebody else's, or was written by somebody else.
    Other,
}

/// What has a name.
#[derive(Debug)]
pub(super) enum Text {
    /// Nothing.
    Absent,
    /// A file with a text.
    Held(Stamp, FileSnapshot),
    /// Something that no edit leaves.
    Other,
}

/// One file of the edit, and what was found.
pub(super) struct Scene<'a> {
    pub left: &'a Left<'a>,
    /// A text that the journal kept.
    pub text: &'a dyn Fn(Stamp) -> Option<Vec<u8>>,
    pub root: &'a Root,
    /// The file's folder; absent where it is not there.
    pub folder: Option<Folder>,
    pub name: &'a str,
    /// What has the file's name.
    pub now: Text,
    /// What has the staged name.
    pub beside: Text,
}

/// The folder and the name of a path beneath a root.
pub(super) fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

/// The keys under which whoever is at this write may hold its lock: which one depends on the folders that were there.
pub(super) fn keys(root: &Root, left: &Left<'_>) -> Vec<Key> {
    let ends = left.path.rmatch_indices('/').map(|(end, _)| end).chain([0]);
    let key = |end: usize| {
        let (folder, rest) = left.path.split_at_checked(end)?;
        let identity = root.folder(folder).ok()?.identity().ok()?;
        Some(Key::below(identity, rest.trim_start_matches('/')))
    };
    ends.take(left.folders.saturating_add(1)).filter_map(key).collect()
}

impl<'a> Scene<'a> {
    /// Looks at what is there.
    pub fn look(
        root: &'a Root,
        left: &'a Left<'a>,
        text: &'a dyn Fn(Stamp) -> Option<Vec<u8>>,
    ) -> Result<Scene<'a>, Error> {
        let (path, name) = split(left.path);
        let folder = match root.folder(path) {
            Ok(folder) => Some(folder),
            Err(error) => match trouble::errno_of(&error) {
                Some(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => None,
                _ => return Err(trouble::failed_io("opening the folder", left.path, &error)),
            },
        };
        let read =
            |name| folder.as_ref().map_or(Ok(Text::Absent), |folder| Text::read(folder, name, left.path));
        let (now, beside) = (read(name)?, read(left.staged)?);
        Ok(Scene { left, text, root, folder, name, now, beside })
    }

    /// What the texts say.
    pub fn side(&self) -> Side {
        let (now, beside) = (self.now.stamp(), self.beside.stamp());
        let is_free = matches!(self.beside, Text::Absent);
        match (self.left.before, self.left.after) {
            (Some(before), Some(after)) => match (now, beside) {
                (Some(now), _) if now == before => Side::NotThere,
                _ if self.is_published() && self.is_blank() => Side::There,
                (_, Some(beside)) if beside == before => Side::There,
                (Some(now), Some(beside)) if now == after && beside == after => Side::There,
                (Some(now), None) if now == after && is_free => Side::There,
                (_, None) if is_free => {
                    if self.torn().is_some() {
                        Side::NotThere
                    } else {
                        Side::Unclear
                    }
                }
                _ => Side::NotThere,
            },
            (None, _) if !is_free => {
                if self.is_one() || self.is_published() {
                    Side::There
                } else {
                    Side::NotThere
                }
            }
            (None, after) if now == after => Side::There,
            (None, _) => Side::Unclear,
            (Some(before), None) if matches!(self.now, Text::Absent) => {
                if is_free || beside == Some(before) {
                    Side::There
                } else {
                    Side::NotThere
                }
            }
            (Some(before), None) => match beside {
                Some(beside) if beside == before && !self.is_one() => Side::There,
                None if is_free && now != Some(before) => Side::Unclear,
                _ => Side::NotThere,
            },
        }
    }

    /// Whose what lies beside is; nobody's where there is nothing.
    ///
    /// The journal says which file the staged copy is. A journal of an earlier version does not: there, only a whole text says
    /// enough, as anybody may have made an empty file, or one that begins as the new text.
    pub fn owner(&self) -> Option<Owner> {
        let (stamp, beside) = match &self.beside {
            Text::Absent => return None,
            Text::Other => return Some(Owner::Other),
            Text::Held(stamp, beside) => (Some(*stamp), beside),
        };
        let (is_before, is_after) = (stamp == self.left.before, stamp == self.left.after);
        let Some(inodes) = self.left.inodes else {
            return Some(match (is_after, is_before) {
                (true, _) => Owner::Copy,
                (false, true) => Owner::Before,
                (false, false) => Owner::Other,
            });
        };
        let is_copy = |copy: Inode| Inode::read(&beside.file).is_ok_and(|inode| inode.is(copy));
        let is_copy = inodes.copy.is_some_and(is_copy);
        Some(if is_before && inodes.before == Some(beside.identity.inode) {
            Owner::Before
        } else if is_copy && (is_after || self.is_part(beside)) {
            Owner::Copy
        } else {
            Owner::Other
        })
    }

    /// Whether the file's name stands for the staged copy, whole.
    fn is_published(&self) -> bool {
        let copy = self.left.inodes.and_then(|inodes| inodes.copy);
        match (&self.now, copy) {
            (Text::Held(stamp, now), Some(copy)) => {
                Some(*stamp) == self.left.after && Inode::read(&now.file).is_ok_and(|inode| inode.is(copy))
            }
            (Text::Held(..) | Text::Absent | Text::Other, _) => false,
        }
    }

    /// Whether what lies beside is no text that somebody saved under the file's name: a file that never had it, without a
    /// byte that is not the edit's.
    pub fn is_blank(&self) -> bool {
        let Text::Held(_, beside) = &self.beside else { return false };
        let was_displaced = self.left.inodes.and_then(|inodes| inodes.before) == Some(beside.identity.inode);
        self.owner() == Some(Owner::Other) && !was_displaced && self.is_part(beside)
    }

    /// Whether a file holds the beginning of the new text.
    fn is_part(&self, file: &FileSnapshot) -> bool {
        let part = |whole: &[u8]| whole.starts_with(file.bytes());
        match (&self.now, self.left.after) {
            _ if file.bytes().is_empty() => true,
            (Text::Held(now, snapshot), Some(after)) if *now == after => part(snapshot.bytes()),
            (now, Some(after)) => match (self.text)(after) {
                Some(whole) => part(&whole),
                // The text was not to be remembered; where the one before stands, nothing was displaced.
                None => now.stamp() == self.left.before,
            },
            (_, None) => false,
        }
    }

    /// Whether both names stand for one file.
    pub fn is_one(&self) -> bool {
        matches!((self.now.identity(), self.beside.identity()), (Some(now), Some(beside)) if now == beside)
    }

    /// The text before, where the file holds what is left of writing the edit into it.
    ///
    /// A person who saves a part of the edit by hand makes the same text, so it is taken for that only where the file may have
    /// been written into.
    pub fn torn(&self) -> Option<Vec<u8>> {
        if self.left.inodes.is_some_and(|inodes| !inodes.in_place) {
            return None;
        }
        let Text::Held(_, now) = &self.now else { return None };
        let before = (self.text)(self.left.before?)?;
        let after = match &self.beside {
            Text::Held(stamp, beside) if Some(*stamp) == self.left.after => beside.bytes().to_vec(),
            _ => (self.text)(self.left.after?)?,
        };
        crate::store::publish::is_torn(now.bytes(), &before, &after).then_some(before)
    }
}

impl Text {
    pub fn read(folder: &Folder, name: &str, shown: &str) -> Result<Text, Error> {
        match snapshot::read(folder, name, shown, LARGEST) {
            Ok(None) => Ok(Text::Absent),
            Ok(Some(snapshot)) => Ok(Text::Held(Stamp::of(snapshot.bytes()), snapshot)),
            Err(error) if matches!(error.code, Code::NotAFile | Code::TooLarge) => Ok(Text::Other),
            // What became a symlink; or keeps changing, and then is somebody's who is at it.
            Err(error) if error.code == Code::EditConflict => Ok(Text::Other),
            Err(error) => Err(error),
        }
    }

    pub fn stamp(&self) -> Option<Stamp> {
        match self {
            Text::Held(stamp, _) => Some(*stamp),
            Text::Absent | Text::Other => None,
        }
    }

    fn identity(&self) -> Option<Identity> {
        match self {
            Text::Held(_, snapshot) => Some(snapshot.identity),
            Text::Absent | Text::Other => None,
        }
    }
}
