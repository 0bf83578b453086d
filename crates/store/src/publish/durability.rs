//! Makes new names survive a power cut by syncing each changed folder once.
//!
//! Invariant: a failure here is a note, never an error, because the edit is already applied.

use super::folders::Chains;
use crate::disk::folder::{Folder, Identity};
use crate::file_write::FileWrite;
use crate::outcome::PublishedFile;

/// Syncs the folders of all writes; a failure becomes a note on the file.
pub(super) fn sync(chains: &Chains<'_>, writes: &[FileWrite<'_>], files: &mut [PublishedFile]) {
    let mut synced: Vec<Identity> = Vec::new();
    let several = chains.each().flat_map(|chain| chain.changed()).nth(1).is_some();
    for ((chain, write), file) in chains.each().zip(writes).zip(files) {
        for folder in chain.changed() {
            match several.then(|| folder.identity()) {
                Some(Ok(identity)) if synced.contains(&identity) => continue,
                Some(Ok(identity)) => synced.push(identity),
                Some(Err(_)) | None => {}
            }
            file.notes.extend(one(folder, write.place.shown()));
        }
    }
}

fn one(folder: &Folder, shown: &str) -> Option<String> {
    let errno = folder.sync().err()?;
    Some(format!(
        "{shown} was written, but it may not survive a power cut: syncing its folder failed: {}",
        std::io::Error::from(errno)
    ))
}
