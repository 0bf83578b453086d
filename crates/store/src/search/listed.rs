//! Lists one folder.
//!
//! Invariant: no link is followed, and a file whose name is not UTF-8 is never returned.

use super::dir_state::Signs;
use crate::disk::folder::Folder;
use crate::staged_name;
use rustix::fs::FileType;

/// The treatment of hidden files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hidden {
    /// Hidden files are searched and listed.
    Included,
    /// Hidden files are left out.
    Excluded,
}

/// The entries of a folder that a walk needs.
#[derive(Default)]
pub(super) struct FolderListing {
    pub(super) folders: Vec<String>,
    pub(super) files: Vec<String>,
    pub(super) signs: Signs,
    pub(super) unnamed: usize,
}

impl FolderListing {
    /// Lists a folder; a name that is not UTF-8 is only counted.
    pub(super) fn read(
        folder: &Folder,
        space: &mut Vec<u8>,
        hidden: Hidden,
    ) -> rustix::io::Result<FolderListing> {
        let mut listed = FolderListing::default();
        folder.entries(space, |_, kind, name| {
            let Ok(name) = name.to_str() else {
                listed.unnamed += 1;
                return Ok(());
            };
            listed.signs.note(name);
            let is_hidden = name.starts_with('.');
            if is_hidden && (hidden == Hidden::Excluded || staged_name::target_of(name).is_some()) {
                return Ok(());
            }
            match folder.kind(kind, name) {
                FileType::Directory => listed.folders.push(name.to_owned()),
                FileType::RegularFile => listed.files.push(name.to_owned()),
                // Links are not followed, and other entries have no text.
                _ => {}
            }
            Ok(())
        })?;
        Ok(listed)
    }
}
