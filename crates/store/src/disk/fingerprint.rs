//! A fingerprint that shows that a file is unchanged without reading it again.
//!
//! A write that changes neither size nor times is possible within one tick of the kernel's file clock. Git
//! calls such a file racy, and reads it again unless it is older than its record
//! (Documentation/technical/racy-git.txt). So a fingerprint is given only for a file that had not changed for
//! a while when its reading began. A later change has a time of its own, because the inode's change time is
//! set by the kernel and by no program.
//!
//! This requires that this machine's clock sets the times, with enough resolution: so neither on network file
//! systems nor on FAT. It does not detect a write through a memory mapping, whose time may come later than
//! the write (mmap(2), `MAP_SHARED`); neither does git. No decision depends on it: an edit compares the file
//! itself.
//!
//! Invariant: the same fingerprint means the same bytes, with the exceptions above.

use super::file_system::is_local;
use super::folder::Identity;
use rustix::fs::Stat;
use std::os::fd::AsFd;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The time without changes that is required. Ticks are 10 ms at most; ext4 with small inodes counts seconds.
const SETTLED: Duration = Duration::from_secs(2);

/// The identity, size and times of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FileFingerprint {
    identity: Identity,
    size: i64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl FileFingerprint {
    /// The fingerprint from a stat.
    pub(crate) fn from_stat(stat: &Stat) -> FileFingerprint {
        let nanoseconds = |part| i64::try_from(part).unwrap_or(i64::MAX);
        FileFingerprint {
            identity: Identity::from_stat(stat),
            size: stat.st_size,
            modified: (stat.st_mtime, nanoseconds(stat.st_mtime_nsec)),
            changed: (stat.st_ctime, nanoseconds(stat.st_ctime_nsec)),
        }
    }

    /// Returns the numbers of the fingerprint, from which [`FileFingerprint::from_numbers`] makes it again.
    pub fn numbers(&self) -> [u64; 7] {
        let FileFingerprint { identity, size, modified, changed } = self;
        let Identity { device, inode } = *identity;
        let signed = [*size, modified.0, modified.1, changed.0, changed.1].map(i64::cast_unsigned);
        let [size, modified, modified_part, changed, changed_part] = signed;
        [device, inode, size, modified, modified_part, changed, changed_part]
    }

    /// Returns the fingerprint with these numbers.
    pub fn from_numbers(numbers: [u64; 7]) -> FileFingerprint {
        let [device, inode, size, modified, modified_part, changed, changed_part] = numbers;
        FileFingerprint {
            identity: Identity { device, inode },
            size: size.cast_signed(),
            modified: (modified.cast_signed(), modified_part.cast_signed()),
            changed: (changed.cast_signed(), changed_part.cast_signed()),
        }
    }

    /// The size of the file in bytes.
    pub fn size(&self) -> u64 {
        u64::try_from(self.size).unwrap_or(0)
    }

    /// Returns the fingerprint if it proves that content read since `began` is current as long as it stays equal: the file
    /// is on a local file system, and its last change was long enough before `began`.
    pub(crate) fn settled(self, began: SystemTime, file: impl AsFd) -> Option<FileFingerprint> {
        let began = began.duration_since(UNIX_EPOCH).ok()?;
        let (seconds, nanoseconds) = self.changed;
        let changed = Duration::new(u64::try_from(seconds).ok()?, u32::try_from(nanoseconds).ok()?);
        let is_old = changed.checked_add(SETTLED)? <= began;
        (is_old && is_local(file)).then_some(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_was_just_changed_is_not_settled() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let fingerprint = FileFingerprint::from_stat(&rustix::fs::fstat(file.as_file()).unwrap());
        let now = SystemTime::now();
        let fingerprint_at = |began| fingerprint.settled(began, file.as_file());
        assert_eq!(fingerprint_at(now), None);
        assert_eq!(fingerprint_at(now - Duration::from_secs(3600)), None);
        assert_eq!(fingerprint_at(now + Duration::from_secs(3)).is_some(), is_local(file.as_file()));
        let made_up = std::fs::File::open("/proc/self/stat").unwrap();
        assert_eq!(fingerprint.settled(now + Duration::from_secs(3), &made_up), None);
    }
}
