//! Examines the files of a half-done edit and derives its state.
//!
//! Invariant: nothing is changed here.

use crate::disk::folder::{Folder, Identity};
use crate::disk::inode::Inode;
use crate::lock_key::LockKey;
use crate::paths::file_location::split;
use crate::paths::root::Root;
use crate::snapshot::{self, FileSnapshot};
use crate::sql::UnsettledFile;
use crate::system_error;
use lockgate_error::{Code, Error};
use lockgate_text::Version;
use rustix::io::Errno;

/// The largest file that an edit can have produced, in bytes.
const LARGEST: u64 = 1 << 30;

/// The state of one write of the edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WriteState {
    /// The write was made completely.
    There,
    /// The write was not made, or not completed.
    NotThere,
    /// The content does not tell.
    Unclear,
}

/// The content found under a name.
#[derive(Debug)]
pub(super) enum PathContent {
    /// No file has this name.
    Absent,
    /// A file with a text.
    Text(Version, FileSnapshot),
    /// Something that no edit leaves behind.
    Other,
}

/// One file of the edit, and the content found under its two names.
pub(super) struct RecoveredFile<'a> {
    pub file: &'a UnsettledFile,
    /// Returns a text that the journal stores.
    pub text: &'a dyn Fn(Version) -> Option<Vec<u8>>,
    pub root: &'a Root,
    /// The file's folder; absent if it does not exist.
    pub folder: Option<Folder>,
    pub name: &'a str,
    /// The content under the file's name.
    pub now: PathContent,
    /// The content under the staged name.
    pub staged: PathContent,
}

/// Returns the keys that a process may lock for this write; the key depends on the folders that existed then, and on those
/// that exist now.
pub(super) fn keys(root: &Root, file: &UnsettledFile) -> Vec<LockKey> {
    let folder_ends = file.path.rmatch_indices('/').map(|(end, _)| end).chain([0]);
    let key = |end: usize| {
        let (folder, rest) = file.path.split_at_checked(end)?;
        let identity = root.folder(folder).ok()?.identity().ok()?;
        Some(LockKey::below(identity, rest.trim_start_matches('/')))
    };
    let mut keys = Vec::new();
    for (level, end) in folder_ends.enumerate() {
        if level > file.folders && !keys.is_empty() {
            break;
        }
        keys.extend(key(end));
    }
    keys
}

impl<'a> RecoveredFile<'a> {
    /// Reads the content under both names.
    pub fn examine(
        root: &'a Root,
        file: &'a UnsettledFile,
        text: &'a dyn Fn(Version) -> Option<Vec<u8>>,
    ) -> Result<RecoveredFile<'a>, Error> {
        let (path, name) = split(&file.path);
        let folder = match root.folder(path) {
            Ok(folder) => Some(folder),
            Err(error) => match Errno::from_io_error(&error) {
                Some(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => None,
                _ => return Err(system_error::failed_io("opening the folder", &file.path, &error)),
            },
        };
        let read = |name| {
            folder
                .as_ref()
                .map_or(Ok(PathContent::Absent), |folder| PathContent::read(folder, name, &file.path))
        };
        let (now, staged) = (read(name)?, read(&file.staged)?);
        Ok(RecoveredFile { file, text, root, folder, name, now, staged })
    }

    /// The state of the write, derived from the texts.
    pub fn state(&self) -> WriteState {
        let (now, staged) = (self.now.version(), self.staged.version());
        let is_free = matches!(self.staged, PathContent::Absent);
        match (self.file.before, self.file.after) {
            (Some(before), Some(after)) => match (now, staged) {
                (Some(now), _) if now == before => WriteState::NotThere,
                _ if self.is_published() && self.is_blank() => WriteState::There,
                (_, Some(staged)) if staged == before => WriteState::There,
                (Some(now), Some(staged)) if now == after && staged == after => WriteState::There,
                (Some(now), None) if now == after && is_free => WriteState::There,
                (_, None) if is_free => {
                    if self.torn_original().is_some() {
                        WriteState::NotThere
                    } else {
                        WriteState::Unclear
                    }
                }
                _ => WriteState::NotThere,
            },
            (None, _) if !is_free => {
                if self.is_same_file() || self.is_published() {
                    WriteState::There
                } else {
                    WriteState::NotThere
                }
            }
            (None, after) if now == after => WriteState::There,
            (None, _) => WriteState::Unclear,
            (Some(before), None) if matches!(self.now, PathContent::Absent) => {
                if is_free || staged == Some(before) { WriteState::There } else { WriteState::NotThere }
            }
            (Some(before), None) => match staged {
                Some(staged) if staged == before && !self.is_same_file() => WriteState::There,
                None if is_free && now != Some(before) => WriteState::Unclear,
                _ => WriteState::NotThere,
            },
        }
    }

    /// True if the file under the staged name is the edit's staged copy or a part of it, or the file before the edit,
    /// unchanged; false if another program made or wrote it, and if there is no file.
    ///
    /// The journal records the inode of the staged copy. A journal of an earlier version does not: then only
    /// a whole text is proof, because anybody may have made an empty file, or one that begins with the new
    /// text.
    pub fn is_ours(&self) -> bool {
        let PathContent::Text(version, staged) = &self.staged else { return false };
        let is_before = Some(*version) == self.file.before;
        let is_after = Some(*version) == self.file.after;
        let Some(inodes) = self.file.inodes else { return is_before || is_after };
        let is_copy = |copy: Inode| Inode::read(&staged.file).is_ok_and(|inode| inode.is(copy));
        (is_before && inodes.before == Some(staged.identity.inode))
            || (inodes.copy.is_some_and(is_copy) && (is_after || self.is_part(staged)))
    }

    /// True if the file's name leads to the complete staged copy.
    fn is_published(&self) -> bool {
        let copy = self.file.inodes.and_then(|inodes| inodes.copy);
        match (&self.now, copy) {
            (PathContent::Text(version, now), Some(copy)) => {
                Some(*version) == self.file.after && Inode::read(&now.file).is_ok_and(|inode| inode.is(copy))
            }
            (PathContent::Text(..) | PathContent::Absent | PathContent::Other, _) => false,
        }
    }

    /// True if the file under the staged name is not a text that was saved under the file's name: it never
    /// had that name, and all its bytes are the edit's.
    pub fn is_blank(&self) -> bool {
        let PathContent::Text(_, staged) = &self.staged else { return false };
        let was_displaced = self.file.inodes.and_then(|inodes| inodes.before) == Some(staged.identity.inode);
        !self.is_ours() && !was_displaced && self.is_part(staged)
    }

    /// True if a file holds the beginning of the new text.
    fn is_part(&self, file: &FileSnapshot) -> bool {
        let is_beginning = |whole: &[u8]| whole.starts_with(file.bytes());
        match (&self.now, self.file.after) {
            _ if file.bytes().is_empty() => true,
            (PathContent::Text(now, snapshot), Some(after)) if *now == after => {
                is_beginning(snapshot.bytes())
            }
            (now, Some(after)) => match (self.text)(after) {
                Some(whole) => is_beginning(&whole),
                // The new text was not recorded. If the old one is in place, nothing was displaced.
                None => now.version() == self.file.before,
            },
            (_, None) => false,
        }
    }

    /// True if both names lead to the same file.
    pub fn is_same_file(&self) -> bool {
        matches!((self.now.identity(), self.staged.identity()), (Some(now), Some(staged)) if now == staged)
    }

    /// The old text, if the file is the torn result of an interrupted overwrite.
    ///
    /// A person who saves a part of the edit by hand produces the same text, so a file counts as torn only if
    /// it may have been overwritten in place.
    pub fn torn_original(&self) -> Option<Vec<u8>> {
        if self.file.inodes.is_some_and(|inodes| !inodes.in_place) {
            return None;
        }
        let PathContent::Text(_, now) = &self.now else { return None };
        let before = (self.text)(self.file.before?)?;
        let after = match &self.staged {
            PathContent::Text(version, staged) if Some(*version) == self.file.after => {
                staged.bytes().to_vec()
            }
            _ => (self.text)(self.file.after?)?,
        };
        crate::publish::is_torn(now.bytes(), &before, &after).then_some(before)
    }
}

impl PathContent {
    pub fn read(folder: &Folder, name: &str, shown: &str) -> Result<PathContent, Error> {
        match snapshot::read(None, folder, name, shown, LARGEST, None) {
            Ok(None) => Ok(PathContent::Absent),
            Ok(Some(snapshot)) => Ok(PathContent::Text(Version::hash(snapshot.bytes()), snapshot)),
            Err(error) if matches!(error.code, Code::NotAFile | Code::TooLarge) => Ok(PathContent::Other),
            // It became a symlink, or it keeps changing because another program is writing it.
            Err(error) if error.code == Code::EditConflict => Ok(PathContent::Other),
            Err(error) => Err(error),
        }
    }

    pub fn version(&self) -> Option<Version> {
        match self {
            PathContent::Text(version, _) => Some(*version),
            PathContent::Absent | PathContent::Other => None,
        }
    }

    fn identity(&self) -> Option<Identity> {
        match self {
            PathContent::Text(_, snapshot) => Some(snapshot.identity),
            PathContent::Absent | PathContent::Other => None,
        }
    }
}
