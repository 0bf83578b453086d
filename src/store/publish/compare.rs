//! The last look before the rename: is the target still what the edit was built on.
//!
//! Invariant: the target's content itself is compared, not its times or size alone; and the name must still stand for the
//! very file that was read.

use crate::error::Error;
use crate::store::folder::{Folder, Identity};
use crate::store::permit;
use crate::store::place::Place;
use crate::store::snapshot::{self, Before};
use crate::store::trouble::{conflict, failed};
use rustix::fs::Stat;
use rustix::io::retry_on_intr;
use std::os::fd::OwnedFd;

const CHUNK: usize = 64 * 1024;

/// Refuses early, before anything is staged, when the file's rights were withdrawn since it was admitted.
pub(super) fn may_still_write(folder: &Folder, place: &Place, before: &Before<'_>) -> Result<(), Error> {
    let (_, stat) = still_there(folder, place, before)?;
    if permit::names_of(&stat) > 1 {
        return Err(permit::hard_linked(place.shown(), permit::names_of(&stat)));
    }
    permit::may_replace(folder, &place.name, &stat, place.shown())
}

/// Refuses when the target is no longer the file that was read, or no longer holds what was read.
pub(super) fn unchanged(folder: &Folder, place: &Place, before: &Before<'_>) -> Result<(), Error> {
    let (file, stat) = still_there(folder, place, before)?;
    let held = u64::try_from(stat.st_size).is_ok_and(|size| size == before.content.bytes.len() as u64);
    if held && holds(&file, before.content.bytes).map_err(|errno| failed("reading", place.shown(), errno))? {
        return Ok(());
    }
    let (was, is) = (before.content.bytes.len(), stat.st_size);
    Err(conflict(
        place.shown(),
        &format!("was changed by somebody else since it was read ({was} bytes then, {is} now)"),
    ))
}

fn still_there(folder: &Folder, place: &Place, before: &Before<'_>) -> Result<(OwnedFd, Stat), Error> {
    let Some((file, stat)) = snapshot::open(folder, &place.name, place.shown())? else {
        return Err(conflict(place.shown(), "was removed by somebody else since it was read"));
    };
    if Identity::of(&stat) != before.snapshot.identity {
        return Err(conflict(place.shown(), "was replaced by another file since it was read"));
    }
    Ok((file, stat))
}

/// Whether the file holds these bytes and no more.
fn holds(file: &OwnedFd, bytes: &[u8]) -> rustix::io::Result<bool> {
    let mut chunk = vec![0_u8; CHUNK];
    let mut rest = bytes;
    loop {
        let count = retry_on_intr(|| rustix::io::read(file, chunk.as_mut_slice()))?;
        if count == 0 {
            return Ok(rest.is_empty());
        }
        match (chunk.get(..count), rest.split_at_checked(count)) {
            (Some(read), Some((expected, after))) if read == expected => rest = after,
            _ => return Ok(false),
        }
    }
}
