//! The identity of a file under any name: the journal records it for a staged copy, so that recovery
//! recognises it.

use rustix::fs::{AtFlags, StatxFlags};
use rustix::io::Result;
use std::os::fd::AsFd;

/// An inode and its birth time: a number is reused for another file as soon as the file is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Inode {
    /// The inode number on the device.
    pub number: u64,
    /// Nanoseconds since 1970; absent if the file system does not record it.
    pub born: Option<i64>,
}

/// The files of one write, as the journal records them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Inodes {
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
        let found = found.filter(|found| found.stx_mask & StatxFlags::BTIME.bits() != 0);
        let birth_time = found.and_then(|found| {
            found.stx_btime.tv_sec.checked_mul(1_000_000_000)?.checked_add(found.stx_btime.tv_nsec.into())
        });
        Ok(Inode { number, born: birth_time })
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
        assert!(!inode.is(Inode::read(std::fs::File::create(&first).unwrap()).unwrap()));
        let later_inode = Inode { born: inode.born.map(|birth_time| birth_time + 1), ..inode };
        assert_eq!(
            inode.is(later_inode),
            inode.born.is_none(),
            "the number alone does not count where the time is known"
        );
    }
}
