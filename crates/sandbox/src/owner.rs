//! Locks private folders, and removes those of killed processes.
//!
//! A stage holds a lock on a file in its folder. The kernel releases the lock when the process ends, however
//! it ends, and programs that the process starts do not inherit it.
//!
//! Invariant: a folder is removed only if it has a private folder's name and the lock file, both belong to this
//! user and are private, the lock is free, and it is older than [`LEAST_AGE`].

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::thread::Builder;
use std::time::{Duration, SystemTime};

use super::removal::{remove_tree, restore_file, restore_folder};

/// The prefix of the names of private folders.
pub(super) const PREFIX: &str = "lockgate-";
/// The name of the lock file.
const LOCK: &str = ".lockgate-stage";
/// A younger folder may belong to a process that has not taken the lock yet.
const LEAST_AGE: Duration = Duration::from_secs(60);
/// The largest number of entries of the folder for temporary files that are inspected.
const MAX_ENTRIES: usize = 10_000;

/// Returns the folder in which private folders are made.
pub fn temporary_folder() -> PathBuf {
    std::env::temp_dir()
}

/// Marks a new private folder as belonging to this process for as long as the file is open.
pub(super) fn lock_folder(folder: &Path) -> io::Result<File> {
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(folder.join(LOCK))?;
    file.lock()?;
    Ok(file)
}

/// Removes the folders of killed processes from the folder for temporary files, once per process, in the
/// background.
pub(super) fn sweep_once() {
    static SWEPT: Once = Once::new();
    SWEPT.call_once(|| {
        // Without a thread they are removed at the next start.
        let _ = Builder::new()
            .name("lockgate-sweep".to_owned())
            .spawn(|| sweep(&temporary_folder(), SystemTime::now()));
    });
}

/// Removes the stale folders in a folder.
fn sweep(place: &Path, now: SystemTime) {
    let entries = fs::read_dir(place).into_iter().flatten().flatten().take(MAX_ENTRIES);
    for entry in entries.filter(|entry| is_private_name(&entry.file_name())) {
        let folder = entry.path();
        if let Some(_lock) = lock_stale(&folder, now) {
            let _ = remove_tree(&folder);
        }
    }
}

/// True for a name that [`tempfile`] makes of the prefix. A folder with another name is a user's own.
fn is_private_name(name: &OsStr) -> bool {
    let random = name.as_encoded_bytes().strip_prefix(PREFIX.as_bytes());
    random.is_some_and(|random| random.len() == 6 && random.iter().all(u8::is_ascii_alphanumeric))
}

/// Locks a private folder whose process has ended; `None` if it is in use or not stale.
fn lock_stale(folder: &Path, now: SystemTime) -> Option<File> {
    let user = rustix::process::geteuid().as_raw();
    let is_private = |found: &fs::Metadata| found.uid() == user && found.mode() & 0o077 == 0;
    let path = folder.join(LOCK);
    // Without isolation, the program of a gate may have taken the permissions away.
    if is_private(&fs::symlink_metadata(folder).ok()?) {
        restore_folder(folder).ok()?;
        restore_file(&path).ok()?;
    }
    let (outer, inner) = (fs::symlink_metadata(folder).ok()?, fs::symlink_metadata(&path).ok()?);
    if !(outer.is_dir() && inner.is_file() && is_private(&outer) && is_private(&inner)) {
        return None;
    }
    // A program can set a time of the future, but not that of the change of its metadata.
    let age = now.duration_since(inner.modified().ok()?).or_else(|_| now.duration_since(changed(&inner)));
    let age = age.ok()?;
    if age < LEAST_AGE {
        return None;
    }
    let lock = OpenOptions::new().write(true).open(&path).ok()?;
    lock.try_lock().is_ok().then_some(lock)
}

/// The time at which the metadata of a file changed last.
fn changed(found: &fs::Metadata) -> SystemTime {
    let seconds = Duration::from_secs(u64::try_from(found.ctime()).unwrap_or_default());
    SystemTime::UNIX_EPOCH + seconds
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;
    use crate::tests::unprivileged;

    /// A private folder with a lock file, as a killed process leaves it.
    fn left(place: &Path, name: &str) -> PathBuf {
        let folder = place.join(name);
        crate::private_folder::create_private(&folder.join("draft")).unwrap();
        drop(lock_folder(&folder).unwrap());
        fs::write(folder.join("draft/a.py"), "x").unwrap();
        folder
    }

    #[test]
    fn folders_of_killed_processes_are_removed_and_no_others() {
        let place = tempfile::tempdir().unwrap();
        let place = place.path();
        let later = SystemTime::now() + LEAST_AGE + LEAST_AGE;
        let stale = left(place, "lockgate-killed");
        fs::set_permissions(stale.join("draft"), fs::Permissions::from_mode(0o000)).unwrap();
        let closed = left(place, "lockgate-closed");
        let future = fs::File::options().write(true).open(closed.join(LOCK)).unwrap();
        future.set_modified(later + LEAST_AGE).unwrap();
        fs::set_permissions(closed.join(LOCK), fs::Permissions::from_mode(0o000)).unwrap();
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).unwrap();
        let locked = left(place, "lockgate-locked");
        let lock = File::open(locked.join(LOCK)).unwrap();
        lock.lock().unwrap();
        let notes = place.join("lockgate-notes1");
        crate::private_folder::create_private(&notes).unwrap();
        let own = left(place, "lockgate-own-notes");
        fs::set_permissions(&own, fs::Permissions::from_mode(0o500)).unwrap();
        let shared = left(place, "lockgate-shared");
        fs::set_permissions(&shared, fs::Permissions::from_mode(0o755)).unwrap();
        let other = left(place, "other");
        symlink(&other, place.join("lockgate-linked")).unwrap();
        sweep(place, SystemTime::now());
        assert!(stale.exists(), "it is too young");
        unprivileged(|| sweep(place, later));
        assert!(!stale.exists() && !closed.exists());
        assert_eq!(own.metadata().unwrap().mode() & 0o777, 0o500);
        for path in [&locked, &notes, &own, &shared, &other, &place.join("lockgate-linked")] {
            assert!(path.exists(), "{}", path.display());
        }
        drop(lock);
        sweep(place, later);
        assert!(!locked.exists(), "nobody holds it any more");
    }
}
