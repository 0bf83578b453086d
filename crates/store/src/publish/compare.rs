//! Checks before staging that the target may still be written.
//!
//! Invariant: rights to a file that were withdrawn since its path was admitted are detected here, not after the first
//! step. Those to its folder, and privileges that the file got, are detected before the staged copy has a name.

use super::expected;
use crate::disk::folder::{Folder, Identity};
use crate::disk::permit::{self, RightsState, WriteMethod};
use crate::file_write::FileWrite;
use crate::paths::file_location::FileLocation;
use crate::snapshot::ExpectedContent;
use crate::system_error::{conflict, failed};
use lockgate_error::Error;
use lockgate_policy::Publishing;
use rustix::fs::{FileType, Stat};

/// Returns the method for writing the target. Fails if its rights or its hard links forbid the write. `top`
/// is the existing folder of the path.
pub(super) fn check_target(
    top: &Folder,
    write: &FileWrite<'_>,
    publishing: Publishing,
) -> Result<WriteMethod, Error> {
    let Some(before) = write.before else { return Ok(WriteMethod::Replace) };
    let (place, shown) = (write.place, write.place.shown());
    let mut last: Option<Folder> = None;
    for name in &place.missing {
        // The folders were created after the path was admitted.
        let above = last.as_ref().unwrap_or(top);
        last = Some(above.enter(name).map_err(|errno| failed("opening the folder", shown, errno))?);
    }
    let folder = last.as_ref().unwrap_or(top);
    let stat = still_there(folder, place, &before)?;
    permit::refuse_guarded(&stat, shown)?;
    if place.admitted != Some(RightsState::from_stat(&stat)) || !permit::is_owner(&stat) {
        permit::refuse_unwritable(folder, &place.name, shown)?;
    }
    // For a file that stays, the staged copy is refused for the same reasons.
    if write.after.is_none() {
        permit::refuse_capabilities(&before.snapshot.file, shown)?;
        permit::may_create(folder, shown)?;
    }
    permit::write_method(permit::names_of(&stat), publishing, shown)
}

fn still_there(folder: &Folder, place: &FileLocation, before: &ExpectedContent<'_>) -> Result<Stat, Error> {
    let stat = expected::stat(folder, &place.name, place.shown())?;
    if FileType::from_raw_mode(stat.st_mode) == FileType::Symlink {
        return Err(conflict(place.shown(), "became a symlink"));
    }
    // The snapshot holds the file open, so no other file can have its inode.
    if Identity::from_stat(&stat) != before.snapshot.identity {
        return Err(expected::replaced(place.shown()));
    }
    Ok(stat)
}
