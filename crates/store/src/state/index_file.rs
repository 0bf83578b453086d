//! The stored code index of a workspace, in the state folder. It saves the time of reading all files again.
//!
//! Invariant: what is read was written by this version of the program, for these roots, by the same user, and is whole.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{StateFolder, age, read_own, replace, stage};
use lockgate_text::Version;

/// The folder of the indexes, in the state folder.
const FOLDER: &str = "index";
/// The number of digits of a hash of the roots that name a file.
const DIGITS: usize = 32;
/// The maximum size of an index in bytes. A larger one is not stored.
const LARGEST: u64 = 256 << 20;
/// The time after which an index that was not written again is removed.
const MAX_AGE: Duration = Duration::from_secs(60 * 60 * 24 * 30);
/// The first bytes of an index.
const MAGIC: &[u8] = b"lockgate code index ";

/// The stored index of a workspace.
#[derive(Debug, Clone)]
pub struct IndexFile {
    state: StateFolder,
    name: String,
    /// The first bytes: the program, its version, and the roots.
    header: Vec<u8>,
}

impl IndexFile {
    /// The index of the workspace with these roots, written by programs with this label.
    pub fn new(state: &StateFolder, roots: &[PathBuf], label: &str) -> IndexFile {
        let mut paths = Vec::new();
        for root in roots {
            paths.extend_from_slice(root.as_os_str().as_bytes());
            paths.push(0);
        }
        let name = Version::hash(&paths).hex().chars().take(DIGITS).collect();
        let label = Version::hash(&[label.as_bytes(), &[0], &paths].concat());
        IndexFile { state: state.clone(), name, header: [MAGIC, label.bytes()].concat() }
    }

    /// Returns the stored bytes; `None` if there are none that can be used.
    pub fn read(&self) -> Option<Vec<u8>> {
        if !self.state.is_guarded(FOLDER).ok()? {
            return None;
        }
        let path = self.state.home.as_ref().ok()?.join(FOLDER).join(&self.name);
        let (bytes, _) = read_own(&path, LARGEST).ok()??;
        let body = bytes.strip_prefix(self.header.as_slice())?;
        let (digest, body) = body.split_at_checked(32)?;
        (Version::hash(body).bytes().as_slice() == digest).then(|| body.to_vec())
    }

    /// Stores bytes in place of the earlier ones, and removes the indexes of workspaces that were not used for 30 days.
    ///
    /// Errors: the reason why they cannot be stored. The earlier ones are then still there.
    pub fn write(&self, bytes: &[u8]) -> Result<(), String> {
        let size = bytes.len() as u64;
        if size > LARGEST / 2 {
            return Err(format!("an index of {size} bytes is too large"));
        }
        let folder = self.state.folder(FOLDER)?;
        remove_old(&folder, &self.name);
        let whole = [&self.header, Version::hash(bytes).bytes().as_slice(), bytes].concat();
        replace(&folder.join(&self.name), |staged| stage(staged, &whole))
            .map_err(|error| format!("{} cannot be written: {error}", folder.display()))
    }
}

/// Removes the old files of a folder, but not the one of this name.
fn remove_old(folder: &Path, own: &str) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten().filter(|entry| entry.file_name().to_str() != Some(own)) {
        let found = entry.metadata().ok();
        if found.and_then(|found| age(&found)).is_some_and(|age| age > MAX_AGE) {
            // Another process may have removed it.
            drop(std::fs::remove_file(entry.path()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::os::unix::fs::PermissionsExt;

    fn index_file(dir: &Path, root: &str, label: &str) -> IndexFile {
        let state = StateFolder::at(Ok(dir.join("state")), Ok(dir.join("cache")), &[]);
        IndexFile::new(&state, &[PathBuf::from(root)], label)
    }

    #[test]
    fn an_index_is_read_by_the_same_version_for_the_same_roots_alone() {
        let dir = tempfile::tempdir().unwrap();
        let own = index_file(dir.path(), "/a", "1");
        assert_eq!(own.read(), None);
        for bytes in [&b"one"[..], b"two"] {
            own.write(bytes).unwrap();
            assert_eq!(own.read().as_deref(), Some(bytes));
        }
        assert_eq!(index_file(dir.path(), "/b", "1").read(), None);
        assert_eq!(index_file(dir.path(), "/a", "2").read(), None);
        let names = std::fs::read_dir(dir.path().join("state/index")).unwrap().count();
        assert_eq!(names, 1, "no staged file is left");
    }

    #[test]
    fn a_broken_or_foreign_index_counts_as_none() {
        let dir = tempfile::tempdir().unwrap();
        let own = index_file(dir.path(), "/a", "1");
        own.write(b"some bytes of an index").unwrap();
        let path = dir.path().join("state/index").join(&own.name);
        let whole = std::fs::read(&path).unwrap();
        for at in 0..whole.len() {
            let mut broken = whole.clone();
            broken[at] ^= 1;
            std::fs::write(&path, &broken).unwrap();
            assert_eq!(own.read(), None, "byte {at}");
            std::fs::write(&path, &whole[..at]).unwrap();
            assert_eq!(own.read(), None, "{at} bytes");
        }
        std::fs::write(&path, &whole).unwrap();
        assert!(own.read().is_some(), "the control");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o622)).unwrap();
        assert_eq!(own.read(), None);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        std::fs::rename(&path, dir.path().join("elsewhere")).unwrap();
        std::os::unix::fs::symlink(dir.path().join("elsewhere"), &path).unwrap();
        assert_eq!(own.read(), None);
    }

    #[test]
    fn old_indexes_are_removed() {
        let dir = tempfile::tempdir().unwrap();
        let (old, new) = (index_file(dir.path(), "/old", "1"), index_file(dir.path(), "/new", "1"));
        old.write(b"x").unwrap();
        let path = dir.path().join("state/index").join(&old.name);
        let long_ago = std::time::SystemTime::now() - 2 * MAX_AGE;
        File::options().write(true).open(&path).unwrap().set_modified(long_ago).unwrap();
        new.write(b"y").unwrap();
        assert!(!path.exists());
        assert_eq!(new.read().as_deref(), Some(&b"y"[..]));
    }
}
