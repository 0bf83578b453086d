//! Records of a host's tool calls between the event before and the event after each: bounded, and gone after an hour.
//!
//! Invariant: a record is whole or absent, and only one process gets it.

use std::fs::{DirEntry, File};
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::{StateFolder, create, read_own, replace, staged_name};
use lockgate_text::Version;

/// The folder of the records, in the state folder.
const CALLS: &str = "calls";
/// The time after which a record is removed.
const LIFETIME: Duration = Duration::from_secs(60 * 60);
/// The most records that stay.
const MAX_RECORDS: usize = 1000;
/// The most bytes of all records together.
const MAX_BYTES: u64 = 64 << 20;

/// The endings of the files in the folder; each call has at most one of each.
const CLAIM: &str = "claim";
const CONTENT: &str = "call";

/// The records of tool calls.
#[derive(Debug, Clone)]
pub struct ToolCallRecords {
    state: StateFolder,
}

impl ToolCallRecords {
    /// The records in a state folder, which is created with the first of them.
    pub fn new(state: &StateFolder) -> ToolCallRecords {
        ToolCallRecords { state: state.clone() }
    }

    /// True if no other process claimed this key within the last hour.
    ///
    /// Errors: the reason why nothing can be recorded.
    pub fn claim(&self, key: &str) -> Result<bool, String> {
        let folder = self.folder()?;
        let path = file(&folder, key, CLAIM);
        match create(&path) {
            Ok(_) => {
                prune(&folder);
                Ok(true)
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                renew_expired(&folder, &path).map_err(|error| format!("the claims cannot be locked: {error}"))
            }
            Err(error) => Err(format!("{} cannot be created: {error}", path.display())),
        }
    }

    /// Gives up the claim of a key, so that the next process can claim it.
    pub fn release(&self, key: &str) {
        let Ok(folder) = self.folder() else { return };
        // Otherwise the key stays claimed for an hour.
        if let Ok(_lock) = lock(&folder) {
            drop(std::fs::remove_file(file(&folder, key, CLAIM)));
        }
    }

    /// Keeps the content of a call; an earlier one of the same key is replaced.
    ///
    /// Errors: the reason why nothing can be recorded, such as more than 32 MiB.
    pub fn keep(&self, key: &str, content: &[u8]) -> Result<(), String> {
        if content.len() as u64 > MAX_BYTES / 2 {
            return Err(format!("{} bytes are too many to keep", content.len()));
        }
        let folder = self.folder()?;
        prune(&folder);
        let path = file(&folder, key, CONTENT);
        replace(&path, |staged| create(staged)?.write_all(content))
            .map_err(|error| format!("{} cannot be written: {error}", path.display()))
    }

    /// Takes the content of a call, which then is gone; `None` if there is none, or if another user can have written it.
    pub fn take(&self, key: &str) -> Option<Vec<u8>> {
        let folder = self.folder().ok()?;
        let (taken, path) = (folder.join(staged_name()), file(&folder, key, CONTENT));
        // Of two processes, one renames it.
        std::fs::rename(&path, &taken).ok()?;
        let read = read_own(&taken, MAX_BYTES);
        drop(std::fs::remove_file(&taken));
        read.ok()?.filter(|(_, found)| !is_expired(found.modified().ok())).map(|(content, _)| content)
    }

    fn folder(&self) -> Result<PathBuf, String> {
        self.state.folder(CALLS)
    }
}

/// Takes over the claim at this path if it has expired or was removed; returns true if it is taken.
///
/// Errors: the folder could not be locked.
fn renew_expired(folder: &Path, path: &Path) -> io::Result<bool> {
    // An old claim may be removed at any moment, and then is free as well.
    let is_free = match path.metadata() {
        Ok(found) => is_expired(found.modified().ok()),
        Err(error) => error.kind() == ErrorKind::NotFound,
    };
    if !is_free {
        return Ok(false);
    }
    // Another process may renew the claim at this moment, so only who holds the folder removes one.
    let _lock = lock(folder)?;
    match path.metadata() {
        Ok(found) if is_expired(found.modified().ok()) => {
            Ok(std::fs::remove_file(path).is_ok() && create(path).is_ok())
        }
        Ok(_) => Ok(false),
        Err(error) => Ok(error.kind() == ErrorKind::NotFound && create(path).is_ok()),
    }
}

/// Waits for the lock of the folder.
fn lock(folder: &Path) -> io::Result<File> {
    File::open(folder).and_then(|folder| folder.lock().map(|()| folder))
}

/// Returns the path of a record; a key may be any text.
fn file(folder: &Path, key: &str, ending: &str) -> PathBuf {
    folder.join(format!("{}.{ending}", Version::hash(key.as_bytes()).hex()))
}

fn is_expired(written: Option<SystemTime>) -> bool {
    written.is_none_or(|at| at.elapsed().is_ok_and(|age| age > LIFETIME))
}

/// Removes what is older than an hour, and the oldest of what is too much. A file that cannot be removed stays, and all of
/// them while another process removes some.
fn prune(folder: &Path) {
    let Ok(handle) = File::open(folder) else { return };
    if handle.try_lock().is_err() {
        return;
    }
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let file = |entry: DirEntry| {
        let found = entry.metadata().ok()?;
        Some((found.modified().ok()?, found.size(), entry.path()))
    };
    let mut files: Vec<(SystemTime, u64, PathBuf)> = entries.flatten().filter_map(file).collect();
    files.sort_by_key(|(written, ..)| std::cmp::Reverse(*written));
    let (mut count, mut bytes) = (0, 0);
    for (written, size, path) in files {
        (count, bytes) = (count + 1, bytes + size);
        if count > MAX_RECORDS || bytes > MAX_BYTES || is_expired(Some(written)) {
            drop(std::fs::remove_file(path));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::OpenOptions;

    fn records(dir: &Path) -> ToolCallRecords {
        let own = |name: &str| Ok(dir.join(name));
        ToolCallRecords::new(&StateFolder::at(own("state"), own("cache"), &[]))
    }

    fn age(dir: &Path, seconds: u64) {
        for entry in std::fs::read_dir(dir.join("state/calls")).unwrap() {
            let file = OpenOptions::new().write(true).open(entry.unwrap().path()).unwrap();
            file.set_modified(SystemTime::now() - Duration::from_secs(seconds)).unwrap();
        }
    }

    #[test]
    fn a_key_is_claimed_once_an_hour() {
        let dir = tempfile::tempdir().unwrap();
        let records = records(dir.path());
        let claims = ["a", "a", "../b", "a"].map(|key| records.claim(key).unwrap());
        assert_eq!(claims, [true, false, true, false]);
        age(dir.path(), 3_500);
        assert!(!records.claim("a").unwrap());
        age(dir.path(), 3_700);
        assert!(records.claim("a").unwrap());
        assert!(!records.claim("a").unwrap());
        records.release("a");
        records.release("a");
        assert_eq!([records.claim("a"), records.claim("a")], [Ok(true), Ok(false)]);
    }

    #[test]
    fn of_many_that_renew_a_claim_one_gets_it() {
        let dir = tempfile::tempdir().unwrap();
        let records = records(dir.path());
        records.claim("a").unwrap();
        for round in 0..500 {
            age(dir.path(), 3_700);
            let start = std::sync::Barrier::new(4);
            let claim = || {
                start.wait();
                usize::from(records.claim("a").unwrap())
            };
            let claimed: usize = std::thread::scope(|scope| {
                let threads: Vec<_> = (0..4).map(|_| scope.spawn(claim)).collect();
                threads.into_iter().map(|thread| thread.join().unwrap()).sum()
            });
            assert_eq!(claimed, 1, "round {round}");
        }
    }

    #[test]
    fn a_content_is_taken_once_and_expires() {
        let dir = tempfile::tempdir().unwrap();
        let records = records(dir.path());
        records.keep("a", b"one").unwrap();
        records.keep("a", b"two").unwrap();
        assert_eq!((records.take("a"), records.take("a")), (Some(b"two".to_vec()), None));
        records.keep("a", b"old").unwrap();
        age(dir.path(), 3_700);
        assert_eq!(records.take("a"), None);
        assert!(records.keep("a", &vec![0; 33 << 20]).unwrap_err().contains("too many"));
    }

    #[test]
    fn the_oldest_records_are_removed() {
        let dir = tempfile::tempdir().unwrap();
        let records = records(dir.path());
        for number in 0..4 {
            records.keep(&format!("{number}"), &vec![0; 20 << 20]).unwrap();
            let folder = dir.path().join("state/calls");
            let path = file(&folder, &format!("{number}"), CONTENT);
            let age = Duration::from_secs(100 - number * 10);
            OpenOptions::new().write(true).open(path).unwrap().set_modified(SystemTime::now() - age).unwrap();
        }
        records.claim("x").unwrap();
        let left = ["0", "1", "2", "3"].map(|key| records.take(key).is_some());
        assert_eq!(left, [false, true, true, true]);
    }

    #[test]
    fn a_record_that_others_could_have_written_counts_as_none() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().unwrap();
        let records = records(dir.path());
        let path = file(&dir.path().join("state/calls"), "a", CONTENT);
        records.keep("a", b"one").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o666)).unwrap();
        assert_eq!(records.take("a"), None);
        records.keep("a", b"one").unwrap();
        assert!(records.take("a").is_some(), "the control");
    }
}
