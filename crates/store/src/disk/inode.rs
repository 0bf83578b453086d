//! The identity of a file under any name: the journal records it for a staged copy, so that recovery
//! recognises it.

use super::folder::Identity;
use rustix::fs::{AtFlags, Statx, StatxFlags};
use rustix::io::Result;
use std::os::fd::AsFd;

const PERMISSIONS: u32 = 0o7777;

/// An inode and its birth time: a number is reused for another file as soon as the file is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Inode {
    /// The inode number on the device.
    pub number: u64,
    /// Nanoseconds since 1970; absent if the file system does not record it.
    pub born: Option<i64>,
}

/// A file that was just created.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CreatedFile {
    pub identity: Identity,
    pub inode: Inode,
    /// The user and the group that own it.
    pub owner: (u32, u32),
    /// Its permission bits, with set-user-ID, set-group-ID and sticky.
    pub mode: u32,
}

impl CreatedFile {
    /// Reads the metadata of an open file, in one call if the kernel has it.
    pub fn read(file: impl AsFd) -> Result<CreatedFile> {
        let wanted = StatxFlags::BASIC_STATS | StatxFlags::BTIME;
        let found = rustix::fs::statx(&file, "", AtFlags::EMPTY_PATH, wanted).ok();
        let needed = (StatxFlags::INO | StatxFlags::UID | StatxFlags::GID | StatxFlags::MODE).bits();
        if let Some(found) = found.filter(|found| found.stx_mask & needed == needed) {
            return Ok(CreatedFile {
                identity: Identity::from_statx(&found),
                inode: Inode { number: found.stx_ino, born: birth_time(&found) },
                owner: (found.stx_uid, found.stx_gid),
                mode: u32::from(found.stx_mode) & PERMISSIONS,
            });
        }
        let stat = rustix::fs::fstat(&file)?;
        let (identity, owner) = (Identity::from_stat(&stat), (stat.st_uid, stat.st_gid));
        Ok(CreatedFile { identity, inode: Inode::read(file)?, owner, mode: stat.st_mode & PERMISSIONS })
    }
}

/// Returns the birth time in nanoseconds since 1970, if the file system records it.
fn birth_time(found: &Statx) -> Option<i64> {
    let is_known = found.stx_mask & StatxFlags::BTIME.bits() != 0;
    let time = found.stx_btime.tv_sec.checked_mul(1_000_000_000)?.checked_add(found.stx_btime.tv_nsec.into());
    time.filter(|_| is_known)
}

/// The files of one write, as the journal records them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Inodes {
    /// The staged copy; absent if the file is to be removed.
    pub copy: Option<Inode>,
    /// The inode number of the file before; absent if there was none.
    pub before: Option<u64>,
    /// Set when the file before may be overwritten in place.
    pub in_place: bool,
}

impl Inode {
    /// Reads the inode of an open file.
    pub fn read(file: impl AsFd) -> Result<Inode> {
        let wanted = StatxFlags::INO | StatxFlags::BTIME;
        let found = rustix::fs::statx(&file, "", AtFlags::EMPTY_PATH, wanted).ok();
        let found = found.filter(|found| found.stx_mask & StatxFlags::INO.bits() != 0);
        let number = match &found {
            Some(found) => found.stx_ino,
            None => rustix::fs::fstat(&file)?.st_ino,
        };
        Ok(Inode { number, born: found.as_ref().and_then(birth_time) })
    }

    /// True if both are the same file; an unknown birth time is ignored.
    pub fn is(self, other: Inode) -> bool {
        let is_other = matches!((self.born, other.born), (Some(one), Some(two)) if one != two);
        self.number == other.number && !is_other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_keeps_its_inode_under_another_name_and_another_file_has_another() {
        let dir = tempfile::tempdir().unwrap();
        let (first, second) = (dir.path().join("a"), dir.path().join("b"));
        let file = std::fs::File::create(&first).unwrap();
        let inode = Inode::read(&file).unwrap();
        std::fs::rename(&first, &second).unwrap();
        assert!(inode.is(Inode::read(std::fs::File::open(&second).unwrap()).unwrap()));
        let stat = rustix::fs::fstat(&file).unwrap();
        let created = CreatedFile::read(&file).unwrap();
        let (identity, mode) = (Identity::from_stat(&stat), stat.st_mode & PERMISSIONS);
        assert_eq!(created, CreatedFile { identity, inode, owner: (stat.st_uid, stat.st_gid), mode });
        assert!(!inode.is(Inode::read(std::fs::File::create(&first).unwrap()).unwrap()));
        let later_inode = Inode { born: inode.born.map(|birth_time| birth_time + 1), ..inode };
        assert_eq!(
            inode.is(later_inode),
            inode.born.is_none(),
            "the number alone does not count where the time is known"
        );
    }
}
