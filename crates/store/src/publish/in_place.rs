//! Overwrites a file in place: the only method for a file that keeps all of its hard links, or whose name is
//! a mount point.
//!
//! A crash in the middle leaves a torn file; recovery recognises it by the texts that it consists of.
//!
//! Invariant: the content is compared first, space for the new text is reserved before the first byte is
//! written, and the old text is written back if writing fails.

use super::expected::{ExpectedFile, replaced};
use super::swap::SwapNames;
use crate::disk::folder::Identity;
use lockgate_error::Error;
use lockgate_text::common_prefix;
use rustix::fs::{FallocateFlags, Mode, OFlags};
use rustix::io::{Errno, Result as Io, retry_on_intr};
use std::os::fd::OwnedFd;

/// Writes these bytes into the expected file under the target's name.
pub(super) fn write(names: &SwapNames<'_>, expected: &ExpectedFile<'_>, bytes: &[u8]) -> Result<(), Error> {
    let fails = |errno| names.failed("writing into the file", errno);
    let file =
        names.folder.open(names.target, OFlags::RDWR | OFlags::NONBLOCK | OFlags::NOCTTY, Mode::empty());
    let file = file.map_err(fails)?;
    let stat = rustix::fs::fstat(&file).map_err(fails)?;
    if Identity::from_stat(&stat) != expected.identity {
        return Err(replaced(names.shown));
    }
    reserve(&file, bytes.len()).map_err(fails)?;
    expected.check(names.folder, names.target, names.shown, &names.guards)?;
    overwrite(&file, bytes).map_err(|errno| match overwrite(&file, expected.bytes) {
        Ok(()) => fails(errno),
        Err(_) => fails(errno).with_unknown_disk(),
    })
}

/// Overwrites the content of a file with these bytes and syncs it.
pub(crate) fn overwrite(file: &OwnedFd, bytes: &[u8]) -> Io<()> {
    let mut written = 0;
    while let Some(rest) = bytes.get(written..).filter(|rest| !rest.is_empty()) {
        match retry_on_intr(|| rustix::io::pwrite(file, rest, written as u64))? {
            0 => return Err(Errno::IO),
            count => written += count,
        }
    }
    rustix::fs::ftruncate(file, bytes.len() as u64)?;
    retry_on_intr(|| rustix::fs::fsync(file))
}

fn reserve(file: &OwnedFd, size: usize) -> Io<()> {
    if size == 0 {
        return Ok(());
    }
    match rustix::fs::fallocate(file, FallocateFlags::KEEP_SIZE, 0, size as u64) {
        Err(Errno::NOTSUP | Errno::NOSYS | Errno::INVAL) => Ok(()),
        result => result,
    }
}

/// True if `now` is the state of an interrupted overwrite of `before` by `after`.
pub(crate) fn is_torn(now: &[u8], before: &[u8], after: &[u8]) -> bool {
    /// The number of bytes that a disk writes at once.
    const SECTOR: usize = 512;
    // Only the last step truncates the file.
    if now == before || now == after || !(before.len()..=before.len().max(after.len())).contains(&now.len()) {
        return false;
    }
    now.chunks(SECTOR).enumerate().all(|(index, block)| {
        let start = index * SECTOR;
        let is_new = after.get(start..).is_some_and(|rest| rest.starts_with(block));
        let is_blank = start >= before.len() && block.iter().all(|byte| *byte == 0);
        is_new || is_blank || mixes(start, block, before, after)
    })
}

/// True if a block begins with the new text, possibly empty, and continues with the old one.
fn mixes(start: usize, block: &[u8], before: &[u8], after: &[u8]) -> bool {
    let old = before.get(start..).unwrap_or_default();
    let new = after.get(start..).unwrap_or_default();
    let new_length = common_prefix(block, new);
    let is_old_from = |from: usize| match (block.get(from..), old.get(from..)) {
        (Some(rest), Some(old)) => old.starts_with(rest),
        _ => false,
    };
    (0..=new_length).any(is_old_from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_torn_text_is_told_from_another() {
        let (before, after) = (b"0123456789".repeat(200), b"abcdefghij".repeat(150));
        let cut = |at: usize| [&after[..at], &before[at..]].concat();
        for at in [1, 511, 512, 700, 1499] {
            assert!(is_torn(&cut(at), &before, &after), "{at}");
        }
        assert!(is_torn(&cut(1500), &before, &after), "all but cut to its length");
        let (short, long) = (&before[..600], [&before[..600], &after[..900]].concat());
        assert!(is_torn(&long[..1000], short, &long), "not all was written at its end");
        assert!(is_torn(&[short, &[0; 424][..]].concat(), short, &long) || short.len() % 512 != 0);
        let foreign = [&after[..700], b"x", &before[701..]].concat();
        for other in [&before[..], &after[..], b"something else", &foreign, &before[..1024], b""] {
            assert!(!is_torn(other, &before, &after));
        }
    }
}
