//! Finds folders below the roots that a `commondir` file names: git reads settings, hooks, objects and refs
//! of a git folder there.
//!
//! The roots are searched for files of that name, but only when a write concerns a folder with both `objects`
//! and `refs` in it. The search includes folders named `.git`, where a `commondir` may name a folder outside
//! of it. A `commondir` outside of all roots is not found.
//!
//! Invariant: no symlink to a folder is followed, and a search of more than [`MAX_ENTRIES`] is an error and
//! never an incomplete result.

use std::cell::OnceCell;
use std::ffi::OsStr;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::io::Errno;

use crate::disk::folder::{Identity, open_regular};
use crate::paths::project::link_target;
use crate::paths::root::Root;
use crate::paths::spelling::folded_name;

/// The most entries of folders that a search visits, in all roots together.
pub(super) const MAX_ENTRIES: usize = 1_000_000;

/// The most bytes that are read of a `commondir`: no path is longer (`PATH_MAX`).
const LONGEST: u64 = 4096;

/// The folders that `commondir` files below some roots name; searched for at most once.
pub(super) struct CommonFolders<'a> {
    roots: &'a [Root],
    found: OnceCell<Vec<Common>>,
}

/// The reason why the search could not be finished.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SearchError {
    /// The roots have more than [`MAX_ENTRIES`].
    TooManyEntries,
    System(Errno),
}

/// A folder that a `commondir` names.
#[derive(Debug)]
struct Common {
    /// The path of the `commondir`, relative to its root.
    by: String,
    /// The absolute path that it names.
    folder: PathBuf,
}

impl<'a> CommonFolders<'a> {
    pub(super) fn new(roots: &'a [Root]) -> CommonFolders<'a> {
        CommonFolders { roots, found: OnceCell::new() }
    }

    /// Returns the path of a `commondir` with a `HEAD` in the same folder that names this folder, which need
    /// not exist.
    pub(super) fn named_by(&self, folder: &Path) -> Result<Option<&str>, SearchError> {
        let found = match self.found.get() {
            Some(found) => found,
            None => {
                let found = search(self.roots, MAX_ENTRIES)?;
                self.found.get_or_init(|| found)
            }
        };
        let common_folder = found.iter().find(|common| is_same(&common.folder, folder));
        Ok(common_folder.map(|common| common.by.as_str()))
    }
}

/// Searches all folders of the roots; `most` limits the number of their entries.
fn search(roots: &[Root], most: usize) -> Result<Vec<Common>, SearchError> {
    let (mut found, mut remaining) = (Vec::new(), most);
    for root in roots {
        let mut open = vec![root.real().to_owned()];
        while let Some(path) = open.pop() {
            match read_folder(&path, &mut remaining) {
                Ok(None) => return Err(SearchError::TooManyEntries),
                Ok(Some(contents)) => {
                    open.extend(contents.folders.into_iter().filter(|folder| !is_of_git(folder)));
                    let files = contents.commondirs.iter().filter(|_| contents.head);
                    found.extend(files.filter_map(|file| common(root, &path, file)));
                }
                // It was removed, may not be listed, or lies too deep for any path.
                Err(error) => match Errno::from_io_error(&error).unwrap_or(Errno::IO) {
                    Errno::NOENT
                    | Errno::NOTDIR
                    | Errno::LOOP
                    | Errno::ACCESS
                    | Errno::PERM
                    | Errno::IO
                    | Errno::NAMETOOLONG => {}
                    errno => return Err(SearchError::System(errno)),
                },
            }
        }
    }
    Ok(found)
}

/// Returns true for a folder in which git itself keeps objects, names and logs: there are many, and none has
/// a `commondir`.
fn is_of_git(folder: &Path) -> bool {
    let is_own = |name: &OsStr| ["objects", "refs", "logs"].iter().any(|own| name == *own);
    let mut names = folder.components().rev().map(|name| name.as_os_str());
    names.next().is_some_and(is_own) && names.any(|name| name == ".git")
}

/// The relevant entries of a folder.
#[derive(Default)]
struct FolderContents {
    folders: Vec<PathBuf>,
    commondirs: Vec<PathBuf>,
    head: bool,
}

/// Reads a folder; `None` if it has more entries than remain, which are counted down.
fn read_folder(folder: &Path, remaining: &mut usize) -> std::io::Result<Option<FolderContents>> {
    let mut contents = FolderContents::default();
    for entry in folder.read_dir()? {
        let entry = entry?;
        let Some(fewer) = remaining.checked_sub(1) else { return Ok(None) };
        *remaining = fewer;
        match entry.file_name().to_str().map(folded_name).as_deref() {
            Some("head") => contents.head = true,
            Some("commondir") => contents.commondirs.push(entry.path()),
            _ => {}
        }
        if entry.file_type()?.is_dir() {
            contents.folders.push(entry.path());
        }
    }
    Ok(Some(contents))
}

/// Reads a `commondir` as git does: a path, relative to the file's folder, without trailing line ends.
fn common(root: &Root, folder: &Path, path: &Path) -> Option<Common> {
    let (file, _) = open_regular(path)?;
    let mut bytes = Vec::new();
    file.take(LONGEST).read_to_end(&mut bytes).ok()?;
    let text = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
    let end = text.iter().rposition(|byte| !matches!(byte, b'\n' | b'\r')).map_or(0, |last| last + 1);
    let target = folder.join(OsStr::from_bytes(text.get(..end).unwrap_or_default()));
    let by = path.strip_prefix(root.real()).unwrap_or(path).display().to_string();
    Some(Common { by, folder: target })
}

/// Returns true if two paths lead to one folder, or would if it was created.
fn is_same(one: &Path, other: &Path) -> bool {
    match (Identity::at(one), Identity::at(other)) {
        (Ok(one), Ok(other)) => one == other,
        // A missing folder in the path may be created later.
        (Err(_), _) | (_, Err(_)) => link_target(one).is_some_and(|one| Some(one) == link_target(other)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_path_that_leads_through_a_link_is_followed_as_git_follows_it() {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().canonicalize().unwrap();
        fs::create_dir_all(top.join("deep/inner")).unwrap();
        symlink("deep/inner", top.join("link")).unwrap();
        let through = top.join("link/../v");
        assert!(is_same(&through, &top.join("deep/v")) && !is_same(&through, &top.join("v")));
        fs::create_dir(top.join("deep/v")).unwrap();
        assert!(is_same(&through, &top.join("deep/v")), "the control: the system follows it in the same way");
    }

    #[test]
    fn a_search_visits_no_more_than_the_limit_in_all_roots_together() {
        let dir = tempfile::tempdir().unwrap();
        for (path, text) in
            [("one/w/HEAD", "x\n"), ("one/w/commondir", "../v\n"), ("two/a", ""), ("two/sub/b", "")]
        {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let roots = ["one", "two"].map(|name| Root::open(&dir.path().join(name)).unwrap());
        // The first root has `w` with two files in it, the second `a`, and `sub` with one file in it.
        let named = |most: usize| search(&roots, most).map(|found| found.len());
        for most in 0..6 {
            assert_eq!(named(most), Err(SearchError::TooManyEntries), "{most}");
        }
        assert_eq!(named(6), Ok(1));
        assert_eq!(named(MAX_ENTRIES), Ok(1));
        let found = search(&roots, 6).unwrap();
        assert_eq!(
            (found[0].by.as_str(), is_same(&found[0].folder, &roots[0].real().join("v"))),
            ("w/commondir", true)
        );
    }
}
