//! Folders that are listed once for many paths.
//!
//! Invariant: a listing is shared only while the folder's identity, size and times stay the same, so it shows the folder as
//! it was at one time since the value was made.

use super::folder_names::SharedNames;
use crate::disk::fingerprint::FileFingerprint;
use crate::disk::folder::{Folder, Identity};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;

/// The folders that were listed for the paths that one call admits; for a call that writes nothing.
#[derive(Debug, Default)]
pub struct ListedFolders {
    folders: Mutex<HashMap<Identity, (FileFingerprint, Arc<SharedNames>)>>,
}

impl ListedFolders {
    /// Returns the names of a folder, which are read on first use. Those of a folder that changed, or that could not be
    /// listed, are read again.
    pub(super) fn names_of(&self, folder: &Folder, identity: Identity) -> Arc<SharedNames> {
        let Ok(stat) = rustix::fs::fstat(folder) else { return Arc::default() };
        let fingerprint = FileFingerprint::from_stat(&stat);
        let mut folders = self.folders.lock();
        let (known, names) = folders.entry(identity).or_insert_with(|| (fingerprint, Arc::default()));
        if *known != fingerprint || names.get().is_some_and(Result::is_err) {
            (*known, *names) = (fingerprint, Arc::default());
        }
        Arc::clone(names)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::folder::LISTINGS;
    use crate::files::Files;
    use lockgate_error::Code;
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::thread::sleep;
    use std::time::Duration;

    fn files(dir: &tempfile::TempDir, count: usize) -> Files {
        fs::create_dir_all(dir.path().join("deep/er")).unwrap();
        fs::create_dir_all(dir.path().join(".github/hooks")).unwrap();
        for folder in ["", "deep/", "deep/er/"] {
            for number in 0..count {
                fs::write(dir.path().join(format!("{folder}{number}.txt")), "").unwrap();
            }
        }
        Files::open(&[dir.path().to_owned()]).unwrap()
    }

    /// Returns the number of listings of folders.
    fn listings(admit: impl FnOnce()) -> usize {
        let before = LISTINGS.get();
        admit();
        LISTINGS.get() - before
    }

    #[test]
    fn each_folder_is_listed_once_for_all_files() {
        let dir = tempfile::tempdir().unwrap();
        let files = files(&dir, 40);
        let paths = |count| {
            let numbers = (0..count).flat_map(|number| ["", "deep/", "deep/er/"].map(|at| (at, number)));
            numbers.map(|(at, number)| format!("{at}{number}.txt"))
        };
        let together = |count| {
            let listed = ListedFolders::default();
            listings(|| {
                paths(count).for_each(|path| drop(files.admit_to_read_listed(&path, &listed).unwrap()))
            })
        };
        let alone =
            |count| listings(|| paths(count).for_each(|path| drop(files.admit_to_read(&path).unwrap())));
        // The root, its folder of hooks, and the two folders below it.
        assert_eq!([together(1), together(10), together(40)], [4; 3]);
        assert_eq!([alone(1), alone(40)], [9, 40 * 9], "the control");
    }

    #[test]
    fn links_to_files_are_found_for_every_file() {
        let dir = tempfile::tempdir().unwrap();
        let files = files(&dir, 9);
        let at = |path: &str| dir.path().join(path);
        symlink("deep/1.txt", at(".envrc")).unwrap();
        symlink("../../2.txt", at(".github/hooks/run")).unwrap();
        fs::write(at(".env"), "").unwrap();
        fs::hard_link(at(".env"), at("deep/second.txt")).unwrap();
        let listed = ListedFolders::default();
        let code = |path| files.admit_to_read_listed(path, &listed).map(drop).map_err(|error| error.code);
        let protected = Err(Code::Protected);
        assert_eq!([code("1.txt"), code("deep/2.txt"), code("deep/er/1.txt")], [Ok(()); 3]);
        assert_eq!(
            [code("deep/1.txt"), code("2.txt"), code("deep/second.txt"), code(".env")],
            [protected; 4]
        );
        // Only the listing is shared: a protected link leads to a new file in place of its target as well.
        fs::write(at("deep/new"), "").unwrap();
        fs::rename(at("deep/new"), at("deep/1.txt")).unwrap();
        assert_eq!(code("deep/1.txt"), protected);
        // A folder that changes is listed again.
        sleep(Duration::from_millis(50));
        symlink("3.txt", at("deep/.env")).unwrap();
        assert_eq!([code("deep/3.txt"), code("deep/4.txt")], [protected, Ok(())]);
        // So is another folder in its place.
        fs::rename(at("deep/er"), at("deep/was")).unwrap();
        fs::create_dir(at("deep/er")).unwrap();
        fs::write(at("deep/er/5.txt"), "").unwrap();
        symlink("5.txt", at("deep/er/.env")).unwrap();
        assert_eq!([code("deep/er/5.txt"), code("deep/was/5.txt")], [protected, Ok(())]);
    }
}
