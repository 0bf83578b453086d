//! Rejects repositories with a pipe or a device in them.
//!
//! gix opens the files of a repository by their names. It would wait for a writer of a pipe, and read a device without an
//! end.
//!
//! Invariant: every entry that gix may open is visited, through links as well. It opens files at the top of the git
//! folder, references with their logs, those of other worktrees, and objects, but no hook and no file that another tool
//! keeps there.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::{self, DirEntry};
use std::io::{ErrorKind, Result as Io};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use lockgate_error::{Code, Error};
use rustix::fs::{Access, AtFlags, CWD, accessat};

use crate::disk::folder::{Identity, open_regular};

/// The most entries of all folders.
const MAX_ENTRIES: usize = 4_000_000;

/// The device number of `/dev/null`: 1 and 3.
const NULL_DEVICE: u64 = 0x103;

/// The git folder of a worktree, and the one that it shares with other worktrees: the same, unless there are several.
pub(super) struct GitFolders {
    pub(super) own: PathBuf,
    pub(super) common: PathBuf,
}

impl GitFolders {
    /// Returns the folders of this `.git`, as gix finds them.
    pub(super) fn find(dot_git: &Path) -> GitFolders {
        let is_regular = |path: &Path| open_regular(path).is_some();
        let named = Some(dot_git).filter(|path| is_regular(path));
        let named = named.and_then(|path| gix::discover::path::from_gitdir_file(path).ok());
        let own = named.unwrap_or_else(|| dot_git.to_owned());
        let common = Some(own.join("commondir")).filter(|path| is_regular(path));
        let common = common.and_then(|path| gix::discover::path::from_plain_file(&path)?.ok());
        GitFolders { common: common.map_or_else(|| own.clone(), |common| own.join(common)), own }
    }
}

/// Fails if git's files in these folders, its references or objects have a pipe or a device among them. The index is left
/// out, which is checked before it is read.
///
/// Errors: `INVALID_INPUT` as well for more than four million entries, and for a folder that cannot be listed although
/// its files can be opened.
pub(super) fn refuse(
    top: &Path,
    git: &GitFolders,
    objects: impl IntoIterator<Item = PathBuf>,
) -> Result<(), Error> {
    let folders = [&git.own, &git.common];
    let named = |name: &'static str| folders.map(|folder| folder.join(name));
    let whole = ["refs", "logs", "worktrees"].into_iter().flat_map(named).chain(objects);
    let mut todo: Vec<(PathBuf, FolderScan)> = whole.map(|folder| (folder, FolderScan::All)).collect();
    todo.extend(folders.map(|folder| (folder.clone(), FolderScan::Files)));
    let (mut visited, mut count) = (HashSet::new(), 0);
    while let Some((folder, depth)) = todo.pop() {
        let unread = |error| refused(top, &folder, &format!("cannot be read: {error}"));
        let Some(identity) = existing(Identity::at(&folder)).map_err(unread)? else { continue };
        let is_closed = accessat(CWD, &folder, Access::EXEC_OK, AtFlags::empty()).is_err();
        if is_closed || !visited.insert(identity) {
            continue;
        }
        for entry in existing(fs::read_dir(&folder)).map_err(unread)?.into_iter().flatten() {
            count += 1;
            if count > MAX_ENTRIES {
                return Err(refused(top, &folder, &format!("has too many entries: more than {MAX_ENTRIES}")));
            }
            let entry = entry.map_err(unread)?;
            match (kind(&entry), depth) {
                (EntryType::Folder, FolderScan::All) => todo.push((entry.path(), FolderScan::All)),
                (EntryType::Special, FolderScan::Files) if is_index(&entry.file_name()) => {}
                (EntryType::Special, _) => {
                    let error = refused(top, &entry.path(), "is a pipe or a device");
                    return Err(error.hint("clone the repository again"));
                }
                (EntryType::Folder | EntryType::Other, _) => {}
            }
        }
    }
    Ok(())
}

/// The part of a folder that is visited.
#[derive(Clone, Copy)]
enum FolderScan {
    /// Its files, without the folders in it.
    Files,
    /// All that is in it.
    All,
}

/// The kind of an entry, or of what a link leads to.
enum EntryType {
    Folder,
    /// A pipe or a device, which can block a reader or has no end.
    Special,
    Other,
}

fn kind(entry: &DirEntry) -> EntryType {
    let Ok(listed) = entry.file_type() else { return EntryType::Other };
    if listed.is_dir() {
        return EntryType::Folder;
    }
    if listed.is_file() {
        return EntryType::Other;
    }
    // A link that leads nowhere cannot be opened.
    let Ok(file) = entry.path().metadata() else { return EntryType::Other };
    let found = file.file_type();
    if found.is_dir() {
        return EntryType::Folder;
    }
    // The null device has nothing to read.
    let is_null = found.is_char_device() && file.rdev() == NULL_DEVICE;
    let is_special = found.is_fifo() || found.is_char_device() || found.is_block_device();
    if is_special && !is_null { EntryType::Special } else { EntryType::Other }
}

/// True for the files of an index: a split one has most of its entries in another file.
pub(super) fn is_index(name: &OsStr) -> bool {
    name == "index" || name.as_bytes().starts_with(b"sharedindex.")
}

/// `None` for something that is not there, or is no folder.
fn existing<T>(result: Io<T>) -> Io<Option<T>> {
    match result {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        result => result.map(Some),
    }
}

fn refused(top: &Path, path: &Path, reason: &str) -> Error {
    let message = format!("the repository in {} cannot be read: {} {reason}", top.display(), path.display());
    Error::new(Code::InvalidInput, message).field("--root")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::Repository;
    use rustix::fs::{FileType, Mode, mknodat};
    use std::os::unix::fs::symlink;
    use std::sync::mpsc::channel;
    use std::time::Duration;

    /// Opens a repository with something else in the place of one of its files; returns the message if it is refused.
    fn opened(file: &str, replace: fn(&Path)) -> Result<(), String> {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().canonicalize().unwrap();
        for folder in ["objects/info", "objects/ab", "objects/pack", "refs/heads", "logs/refs/heads", "hooks"]
        {
            fs::create_dir_all(top.join(".git").join(folder)).unwrap();
        }
        fs::create_dir_all(top.join(".git/worktrees/w")).unwrap();
        fs::write(top.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        let file = top.join(".git").join(file);
        drop(fs::remove_file(&file));
        replace(&file);
        let (sender, receiver) = channel();
        // gix would not return.
        std::thread::spawn(move || {
            sender.send(Repository::around(&top).map(drop).map_err(|error| error.message))
        });
        receiver.recv_timeout(Duration::from_secs(60)).expect("the repository is read without waiting")
    }

    fn pipe(path: &Path) {
        mknodat(CWD, path, FileType::Fifo, Mode::RWXU, 0).unwrap();
    }

    #[test]
    fn a_pipe_in_the_place_of_a_file_is_not_opened() {
        for file in [
            "HEAD",
            "config",
            "commondir",
            "gitdir",
            "packed-refs",
            "shallow",
            "refs/heads/main",
            "objects/info/alternates",
            "objects/ab/0123456789012345678901234567890123456789",
            "objects/pack/multi-pack-index",
            "logs/HEAD",
            "logs/refs/heads/main",
            "worktrees/w/HEAD",
            "refs/heads/index",
        ] {
            let message = opened(file, pipe).unwrap_err();
            assert!(message.ends_with(&format!("{file} is a pipe or a device")), "{file}: {message}");
        }
        // The controls: no pipe, and those that are not opened, or not without a check.
        assert_eq!(opened("packed-refs", |_| {}), Ok(()));
        for file in ["sharedindex.0123", "hooks/pre-commit"] {
            assert_eq!(opened(file, pipe), Ok(()), "{file}");
        }
    }

    #[test]
    fn a_link_is_what_it_leads_to() {
        let zero = |path: &Path| symlink("/dev/zero", path).unwrap();
        assert!(opened("config", zero).unwrap_err().ends_with("config is a pipe or a device"));
        let folder = |path: &Path| {
            let target = path.with_file_name("linked");
            fs::create_dir(&target).unwrap();
            pipe(&target.join("main"));
            symlink(target, path).unwrap();
        };
        assert!(opened("refs/remotes", folder).unwrap_err().ends_with("main is a pipe or a device"));
        let around = |path: &Path| symlink("..", path).unwrap();
        assert_eq!(opened("refs/around", around), Ok(()));
        assert_eq!(opened("description", |path| symlink("/dev/null", path).unwrap()), Ok(()));
        assert_eq!(opened("description", |path| symlink("nowhere", path).unwrap()), Ok(()));
    }

    #[test]
    fn the_files_of_another_worktree_s_folder_are_checked() {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().canonicalize().unwrap();
        fs::create_dir_all(top.join("main/.git/worktrees/w")).unwrap();
        fs::create_dir(top.join("w")).unwrap();
        fs::write(top.join("w/.git"), "gitdir: ../main/.git/worktrees/w\n").unwrap();
        fs::write(top.join("main/.git/worktrees/w/commondir"), "../..\n").unwrap();
        let git = GitFolders::find(&top.join("w/.git"));
        assert_eq!(git.own.canonicalize().unwrap(), top.join("main/.git/worktrees/w"));
        assert_eq!(git.common.canonicalize().unwrap(), top.join("main/.git"));
        assert_eq!(refuse(&top, &git, []), Ok(()));
        pipe(&top.join("main/.git/packed-refs"));
        assert!(refuse(&top, &git, []).is_err());
    }

    /// gix removes `..` before it follows links, so that the folder is another one than the path leads to.
    #[test]
    fn a_git_folder_that_is_read_in_two_ways_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().canonicalize().unwrap();
        for folder in ["z/q", "z/y/m", "y/m"] {
            fs::create_dir_all(top.join(folder)).unwrap();
        }
        for folder in ["z/y/m", "y/m"] {
            for part in ["objects", "refs"] {
                fs::create_dir_all(top.join(folder).join(part)).unwrap();
            }
            fs::write(top.join(folder).join("HEAD"), "ref: refs/heads/main\n").unwrap();
        }
        symlink("z/q", top.join("link")).unwrap();
        let opened = |path: &str| {
            fs::write(top.join(".git"), format!("gitdir: {path}\n")).unwrap();
            Repository::around(&top).map(drop).map_err(|error| error.message)
        };
        assert_eq!(opened("y/m"), Ok(()));
        assert!(opened("link/../y/m").is_err_and(|message| message.contains("ambiguous")));
    }
}
