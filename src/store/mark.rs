//! What the system says of a file without its content being read: whether it is still what it was.
//!
//! Invariant: two different contents of a file have different marks, unless it was written again so soon that the
//! system's clock had not moved; a mark that is not settled may stand for such a file.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::fs::{FileType, Stat};

use super::files::Files;
use super::folder::Identity;

/// Within this time, a file may be written twice at one moment of its file system's clock.
const TICK: Duration = Duration::from_secs(2);

/// What the system says of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    identity: Identity,
    size: u64,
    written: (i64, u64),
    changed: (i64, u64),
}

impl Mark {
    fn of(stat: &Stat) -> Option<Mark> {
        let is_file = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
        is_file.then(|| Mark {
            identity: Identity::of(stat),
            size: u64::try_from(stat.st_size).unwrap_or(u64::MAX),
            written: (stat.st_mtime, nanoseconds(stat.st_mtime_nsec)),
            changed: (stat.st_ctime, nanoseconds(stat.st_ctime_nsec)),
        })
    }

    /// Its length in bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Whether the file was last changed so long before this moment that any further change shows.
    pub fn is_settled(&self, at: SystemTime) -> bool {
        let changed = u64::try_from(self.changed.0).unwrap_or(0);
        let changed = UNIX_EPOCH + Duration::from_secs(changed) + Duration::from_nanos(self.changed.1);
        at.duration_since(changed).is_ok_and(|past| past > TICK)
    }
}

fn nanoseconds(told: impl TryInto<u64>) -> u64 {
    told.try_into().unwrap_or(0)
}

impl Files {
    /// The marks of files of a root, in their order; nothing for what is no regular file there.
    pub fn marks(&self, root: usize, paths: &[String]) -> Vec<Option<Mark>> {
        let Some(root) = self.roots.get(root) else { return vec![None; paths.len()] };
        let mut last: Option<(&str, _)> = None;
        let mut marks = Vec::with_capacity(paths.len());
        for path in paths {
            let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
            if last.as_ref().is_none_or(|(known, _)| *known != folder) {
                last = Some((folder, root.folder(folder).ok()));
            }
            let opened = last.as_ref().and_then(|(_, opened)| opened.as_ref());
            marks.push(opened.and_then(|opened| Mark::of(&opened.stat(name).ok()?)));
        }
        marks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_tells_one_content_from_another() {
        let root = tempfile::tempdir().unwrap();
        let files = Files::open(&[root.path().to_owned()]).unwrap();
        let paths = ["a", "b/c", "none", "link", "b"].map(str::to_owned);
        std::fs::create_dir(root.path().join("b")).unwrap();
        std::fs::write(root.path().join("a"), "1").unwrap();
        std::fs::write(root.path().join("b/c"), "1").unwrap();
        std::os::unix::fs::symlink("a", root.path().join("link")).unwrap();
        let before = files.marks(0, &paths);
        assert_eq!(before.iter().map(Option::is_some).collect::<Vec<_>>(), [true, true, false, false, false]);
        std::fs::write(root.path().join("a"), "22").unwrap();
        let after = files.marks(0, &paths);
        assert_ne!(before[0], after[0]);
        assert_eq!(before[1], after[1]);
        assert_eq!(after[0].unwrap().size(), 2);
        assert_eq!(files.marks(7, &paths), vec![None; 5]);
    }

    #[test]
    fn what_was_written_just_now_is_not_settled() {
        let root = tempfile::tempdir().unwrap();
        let files = Files::open(&[root.path().to_owned()]).unwrap();
        std::fs::write(root.path().join("a"), "1").unwrap();
        let mark = files.marks(0, &["a".to_owned()])[0].unwrap();
        let now = SystemTime::now();
        assert!(!mark.is_settled(now) && !mark.is_settled(UNIX_EPOCH));
        assert!(mark.is_settled(now + Duration::from_secs(3)));
    }
}
