//! Repairs the files of a half-done edit: displaced files are removed or put back.
//!
//! Invariant: a file is removed only if it is known to be the edit's own or the one that it replaced, by the
//! inode in the journal, or by its whole text if the journal has no inode. Any other file is put back, or
//! kept and reported.

use super::inspect::{PathContent, RecoveredFile, WriteState};
use crate::paths::file_location::split;
use crate::paths::git_layout;
use crate::publish::{ExpectedFile, Guards, SwapError, SwapNames, overwrite};
use crate::snapshot::FileSnapshot;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use std::io::ErrorKind;

impl RecoveredFile<'_> {
    /// Removes the file under the staged name of a write that was applied; returns a note if it was kept.
    pub fn clear(&self) -> Option<String> {
        let folder = self.folder.as_ref()?;
        match &self.staged {
            PathContent::Absent => None,
            _ if self.is_ours() => {
                // If this fails, a later recovery finds the file again.
                let _ = folder.unlink(&self.file.staged);
                None
            }
            _ => self.keep(),
        }
    }

    /// Reverts a write as far as it was made; returns a note if something could not be put back.
    pub fn revert(&self) -> Option<String> {
        let note = match (self.state(), self.file.before, self.file.after) {
            (WriteState::There, Some(before), Some(_)) if self.staged.version() == Some(before) => {
                self.exchange()
            }
            (WriteState::There, Some(_), Some(_)) => self.restore(),
            (WriteState::There, None, _) => self.take(),
            (WriteState::There, Some(_), None) => self.put(),
            (WriteState::NotThere | WriteState::Unclear, Some(before), after) => {
                if let Some(text) = self.torn_original() {
                    self.restore_torn(&text)
                } else if self.now.version() == after
                    && self.now.version() != Some(before)
                    && !self.is_ours()
                    && !self.is_blank()
                {
                    // Another program's text that was displaced in the last moment.
                    if after.is_some() { self.exchange() } else { self.put() }
                } else {
                    self.clear()
                }
            }
            (WriteState::NotThere | WriteState::Unclear, None, _) => self.clear(),
        };
        self.remove_folders();
        note
    }

    fn exchange(&self) -> Option<String> {
        let (Some(names), PathContent::Text(_, now), PathContent::Text(_, staged)) =
            (self.names(), &self.now, &self.staged)
        else {
            return self.keep();
        };
        if self.now.version() != self.file.after {
            return self.keep();
        }
        match names.exchange(&known(now), &known(staged)) {
            Ok(_) => {
                let _ = names.folder.unlink(names.staged);
                None
            }
            Err(SwapError::NotUndone(error)) => Some(error.message),
            Err(SwapError::Unchanged(_) | SwapError::Mounted) => self.keep(),
        }
    }

    fn take(&self) -> Option<String> {
        let (Some(names), PathContent::Text(version, now)) = (self.names(), &self.now) else { return None };
        let note = if self.is_same_file() {
            let _ = names.folder.unlink(names.staged);
            None
        } else {
            self.clear()
        };
        if Some(*version) != self.file.after {
            let path = &self.file.path;
            let message =
                format!("{path} was created by an edit that was not completed, and has changed since");
            return Some(note.map_or(message.clone(), |note| format!("{message}; {note}")));
        }
        match names.take(&known(now)) {
            Ok(_) => {
                let _ = names.folder.unlink(names.staged);
                note
            }
            Err(SwapError::Unchanged(error) | SwapError::NotUndone(error)) => Some(error.message),
            Err(SwapError::Mounted) => note,
        }
    }

    fn put(&self) -> Option<String> {
        match (self.names(), &self.staged) {
            // Another edit may have created the other parts of a git folder since the file was removed.
            (Some(_), PathContent::Text(..))
                if git_layout::completes(self.root, &self.file.path).unwrap_or(true) =>
            {
                let note = self.keep()?;
                Some(format!("{note}: under its own name git could take its folder for a git folder"))
            }
            (Some(names), PathContent::Text(..)) => names.put().unwrap_or_else(|_| self.keep()),
            _ => self.restore(),
        }
    }

    /// Writes the old text over the edit's where no displaced file is left to put back.
    fn restore(&self) -> Option<String> {
        let (Some(names), PathContent::Text(version, now)) = (self.names(), &self.now) else {
            return self.unrestored();
        };
        let text = self.file.before.and_then(|before| (self.text)(before));
        let (Some(text), true) = (text, Some(*version) == self.file.after) else { return self.unrestored() };
        // In place, so that the file keeps its rights.
        self.overwrite(&names, now, &text)
    }

    /// Writes the old text into a torn file.
    fn restore_torn(&self, text: &[u8]) -> Option<String> {
        let (Some(names), PathContent::Text(_, now)) = (self.names(), &self.now) else {
            return self.unrestored();
        };
        let note = self.overwrite(&names, now, text);
        if note.is_none() { self.clear() } else { note }
    }

    fn overwrite(&self, names: &SwapNames<'_>, now: &FileSnapshot, text: &[u8]) -> Option<String> {
        let file =
            names.folder.open(names.target, OFlags::RDWR | OFlags::NONBLOCK | OFlags::NOCTTY, Mode::empty());
        let is_there = known(now).is_named(names.folder, names.target) && known(now).holds().unwrap_or(false);
        match file {
            Ok(file) if is_there && overwrite(&file, text).is_ok() => None,
            Ok(_) | Err(_) => self.unrestored(),
        }
    }

    fn unrestored(&self) -> Option<String> {
        Some(format!(
            "{} was changed by an edit that was not completed, and could not be restored",
            self.file.path
        ))
    }

    fn keep(&self) -> Option<String> {
        if matches!(self.staged, PathContent::Absent) {
            return None;
        }
        let name = self.names()?.set_aside();
        Some(format!(
            "a text that was found next to {} after an edit that was not completed is in {name}",
            self.file.path
        ))
    }

    fn names(&self) -> Option<SwapNames<'_>> {
        let (target, staged, shown) = (self.name, &self.file.staged, &self.file.path);
        Some(SwapNames { folder: self.folder.as_ref()?, target, staged, shown, guards: Guards::ALL })
    }

    /// Removes the folders that were created for the file, if they are empty.
    fn remove_folders(&self) {
        let mut path = split(&self.file.path).0;
        for _ in 0..self.file.folders {
            let (above, name) = split(path);
            // If inner folders are missing, outer ones may exist: they are created from the outermost on.
            match self.root.folder(above).map(|above| above.remove(name)) {
                Ok(Ok(()) | Err(Errno::NOENT)) => {}
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Ok(Err(_)) | Err(_) => return,
            }
            path = above;
        }
    }
}

fn known(snapshot: &FileSnapshot) -> ExpectedFile<'_> {
    ExpectedFile::new(&snapshot.file, snapshot.identity, snapshot.bytes())
}
