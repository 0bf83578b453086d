//! Finds names in every folder from a root down to a given one: policy files, and `.editorconfig`.
//!
//! A lookup by path would make the system resolve that path for each folder and name. So the folders are
//! entered one from the other, and only existing candidates are looked up by path.
//!
//! Invariant: a name is left out only if it does not exist in its folder; in doubt it is included.

use crate::disk::folder::Folder;
use crate::paths::file_location::FileLocation;
use crate::paths::folder_names::FolderConfigs;
use crate::paths::root::Root;
use rustix::fs::FileType;
use rustix::io::Errno;
use std::path::Path;

/// Does the same as [`candidates`] for the folders of an admitted path, by the names that were listed when it was
/// admitted, if they were.
pub(crate) fn candidates_above<'p>(
    root: &Root,
    place: &'p FileLocation,
    names: &'static [&'static str],
) -> Vec<(&'p str, Vec<&'static str>)> {
    if place.configs.is_empty() {
        return candidates(root, &place.folder, names);
    }
    let existing =
        |configs: &FolderConfigs| names.iter().copied().filter(|name| configs.may_have(name)).collect();
    upwards(&place.folder).zip(place.configs.iter().rev().map(existing)).collect()
}

/// Returns the folders from the one at `path` up to the root, the nearest first, each by its path in the root
/// and with the names that may exist in it.
///
/// Uses one descriptor at a time, and some system calls for each folder.
pub(crate) fn candidates<'p>(
    root: &Root,
    path: &'p str,
    names: &'static [&'static str],
) -> Vec<(&'p str, Vec<&'static str>)> {
    let mut folder = root.top().ok();
    let mut found = vec![existing(folder.as_ref(), names)];
    for name in path.split('/').filter(|name| !name.is_empty()) {
        folder = folder.and_then(|above| above.enter(name).ok());
        found.push(existing(folder.as_ref(), names));
    }
    upwards(path).zip(found.into_iter().rev()).collect()
}

/// Iterates over a folder's path, that of its parent, and so on to the root's, which is empty.
pub(crate) fn upwards(folder: &str) -> impl Iterator<Item = &str> {
    Path::new(folder).ancestors().filter_map(Path::to_str)
}

/// The names that may exist in a folder: all, if it could not be entered.
fn existing(folder: Option<&Folder>, names: &[&'static str]) -> Vec<&'static str> {
    let may_exist = |name: &&str| folder.is_none_or(|folder| !is_absent(folder, name));
    names.iter().copied().filter(may_exist).collect()
}

/// True if a folder has no entry of this name; of a name with two parts, the first must be a folder.
fn is_absent(folder: &Folder, name: &str) -> bool {
    let has_no_entry = |name: &str| folder.stat(name).is_err_and(|errno| errno == Errno::NOENT);
    match name.split_once('/') {
        None => has_no_entry(name),
        Some((first, _)) => match folder.stat(first) {
            Ok(stat) => FileType::from_raw_mode(stat.st_mode) == FileType::Directory && has_no_entry(name),
            Err(errno) => errno == Errno::NOENT,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    const NAMES: &[&str] = &["one", "in/two"];

    #[test]
    fn what_may_be_there_is_given_for_each_folder_the_nearest_first() {
        let dir = tempfile::tempdir().unwrap();
        let at = |path: &str| dir.path().join(path);
        fs::create_dir_all(at("a/b/c/d/e/f/in")).unwrap();
        fs::write(at("one"), "").unwrap();
        fs::create_dir(at("a/in")).unwrap();
        fs::write(at("a/in/two"), "").unwrap();
        symlink("nowhere", at("a/b/one")).unwrap();
        symlink("../in", at("a/b/in")).unwrap();
        fs::write(at("a/b/c/in"), "").unwrap();
        fs::create_dir(at("a/b/c/d/in")).unwrap();
        symlink("nowhere", at("a/b/c/d/in/two")).unwrap();
        let root = Root::open(dir.path()).unwrap();
        let found = candidates(&root, "a/b/c/d/e/f", NAMES);
        let expected: [(&str, &[&str]); 7] = [
            ("a/b/c/d/e/f", &[]),
            ("a/b/c/d/e", &[]),
            ("a/b/c/d", &["in/two"]),
            ("a/b/c", &["in/two"]),
            ("a/b", &["one", "in/two"]),
            ("a", &["in/two"]),
            ("", &["one"]),
        ];
        assert_eq!(found, expected.map(|(path, names)| (path, names.to_vec())));
        assert_eq!(candidates(&root, "", NAMES), [("", vec!["one"])]);
    }

    #[test]
    fn nothing_is_left_out_below_a_folder_that_cannot_be_entered() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("a/b")).unwrap();
        symlink("a", dir.path().join("link")).unwrap();
        let root = Root::open(dir.path()).unwrap();
        for path in ["link/b", "none/b"] {
            let all: Vec<usize> =
                candidates(&root, path, NAMES).iter().map(|(_, names)| names.len()).collect();
            assert_eq!(all, [2, 2, 0], "{path}");
        }
    }
}
