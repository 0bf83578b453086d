//! Removes a folder that a program could write to, whatever the program did to its permissions and however deep it is.
//!
//! Folders are moved up to the top before they are emptied, so at most three are open at a time.
//!
//! Invariant: no link is followed, and permissions of this user's folders only are changed: a folder is opened
//! without any right to its content (`O_PATH`), and its permissions are changed through that descriptor.

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{
    AtFlags, CWD, Dir, FileType, Mode, OFlags, RenameFlags, Stat, chmod, fstat, openat, renameat_with,
    unlinkat,
};
use rustix::io::Errno;

/// The permissions that the user needs to empty a folder.
const USABLE: u32 = 0o700;
/// The permissions that the user needs to lock a file.
const READABLE: u32 = 0o600;
/// The largest number of passes, in case that a program is still adding files.
const MAX_PASSES: usize = 64;
/// The largest number of names that are tried for a folder that is moved up.
const MAX_NAMES: u64 = 1 << 32;

/// Removes a folder with its content. Does nothing if it does not exist.
///
/// Errors: those of the system.
pub fn remove_tree(folder: &Path) -> io::Result<()> {
    let top = match usable_folder(CWD, folder) {
        Ok(top) => top,
        Err(Errno::NOENT) => return Ok(()),
        Err(errno) => return Err(errno.into()),
    };
    let mut next_name = 0;
    for _ in 0..MAX_PASSES {
        if empty(&top, &mut next_name)? {
            break;
        }
    }
    Ok(unlinkat(CWD, folder, AtFlags::REMOVEDIR)?)
}

/// Gives the user of this process back the permissions on a folder of theirs.
///
/// Errors: those of the system; `NotFound` for anything but a folder.
pub(super) fn restore_folder(path: &Path) -> io::Result<()> {
    restore(path, FileType::Directory, USABLE)
}

/// Does the same for a file.
pub(super) fn restore_file(path: &Path) -> io::Result<()> {
    restore(path, FileType::RegularFile, READABLE)
}

fn restore(path: &Path, kind: FileType, mode: u32) -> io::Result<()> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let handle = openat(CWD, path, flags, Mode::empty())?;
    let stat = fstat(&handle)?;
    if FileType::from_raw_mode(stat.st_mode) != kind {
        return Err(Errno::NOENT.into());
    }
    Ok(ensure_mode(&handle, &stat, mode)?)
}

/// Sets the permissions of an open file of this user that lacks one of them. The name of the descriptor leads to that very
/// file.
fn ensure_mode(handle: &OwnedFd, stat: &Stat, mode: u32) -> rustix::io::Result<()> {
    if stat.st_mode & mode == mode || stat.st_uid != rustix::process::geteuid().as_raw() {
        return Ok(());
    }
    chmod(format!("/proc/self/fd/{}", handle.as_raw_fd()), Mode::from_raw_mode(mode))
}

/// Opens a folder for reading, after it got the permissions for that.
fn usable_folder(parent: BorrowedFd<'_>, name: impl rustix::path::Arg) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let handle = openat(parent, name, flags, Mode::empty())?;
    ensure_mode(&handle, &fstat(&handle)?, USABLE)?;
    openat(&handle, ".", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
}

/// Removes the entries of the top. Folders in its folders become entries of the top. Returns true if nothing is left.
///
/// Errors: the first one, after all other entries were tried.
fn empty(top: &OwnedFd, next_name: &mut u64) -> rustix::io::Result<bool> {
    let mut pending = names(top)?;
    let (is_empty, mut result) = (pending.is_empty(), Ok(()));
    while let Some(name) = pending.pop() {
        result = result.and(remove_entry(top, &name, &mut pending, next_name));
    }
    result.map(|()| is_empty)
}

/// Removes an entry of the top; the folders in it become entries of the top, and are added to `pending`.
fn remove_entry(
    top: &OwnedFd,
    name: &CStr,
    pending: &mut Vec<CString>,
    next_name: &mut u64,
) -> rustix::io::Result<()> {
    if remove_file(top.as_fd(), name)? {
        return Ok(());
    }
    let folder = usable_folder(top.as_fd(), name)?;
    let mut result = Ok(());
    for inner in names(&folder)? {
        let removed = remove_file(folder.as_fd(), &inner).and_then(|is_removed| {
            if !is_removed {
                // A folder must be writable to be moved.
                drop(usable_folder(folder.as_fd(), inner.as_c_str())?);
                pending.push(move_up(&folder, &inner, top, next_name)?);
            }
            Ok(())
        });
        result = result.and(removed);
    }
    match unlinkat(top, name, AtFlags::REMOVEDIR) {
        // A program is still adding files: the next pass removes them.
        Ok(()) | Err(Errno::NOENT | Errno::NOTEMPTY) => result,
        Err(errno) => result.and(Err(errno)),
    }
}

/// Moves a folder to the top under a name that is free there.
fn move_up(folder: &OwnedFd, name: &CStr, top: &OwnedFd, next_name: &mut u64) -> rustix::io::Result<CString> {
    while *next_name < MAX_NAMES {
        *next_name += 1;
        let new = CString::new(format!("removed-{next_name}")).map_err(|_| Errno::INVAL)?;
        match renameat_with(folder, name, top, new.as_c_str(), RenameFlags::NOREPLACE) {
            Ok(()) => return Ok(new),
            Err(Errno::EXIST) => {}
            Err(errno) => return Err(errno),
        }
    }
    Err(Errno::EXIST)
}

/// Removes an entry that is no folder; returns false for a folder.
fn remove_file(folder: BorrowedFd<'_>, name: &CStr) -> rustix::io::Result<bool> {
    match unlinkat(folder, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => Ok(true),
        Err(Errno::ISDIR) => Ok(false),
        // The system may answer so for a folder as well.
        Err(errno @ (Errno::PERM | Errno::ACCESS)) => {
            let stat = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
            let is_folder = FileType::from_raw_mode(stat.st_mode) == FileType::Directory;
            if is_folder { Ok(false) } else { Err(errno) }
        }
        Err(errno) => Err(errno),
    }
}

fn names(folder: &OwnedFd) -> rustix::io::Result<Vec<CString>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(folder)? {
        let name = entry?.file_name().to_owned();
        if !matches!(name.to_bytes(), b"." | b"..") {
            names.push(name);
        }
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};

    use super::*;
    use crate::tests::unprivileged;

    fn set_mode(path: &Path, mode: u32) {
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn a_folder_without_permissions_is_removed_and_no_link_is_followed() {
        let dir = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("kept"), "x").unwrap();
        let folder = dir.path().join("removed");
        fs::create_dir_all(folder.join("a/b/c")).unwrap();
        fs::create_dir_all(folder.join("a/removed-1")).unwrap();
        fs::create_dir_all(folder.join("removed-1/x")).unwrap();
        for file in ["a/file", "a/b/c/file", "file"] {
            fs::write(folder.join(file), "x").unwrap();
            set_mode(&folder.join(file), 0o000);
        }
        symlink(outside.path(), folder.join("a/away")).unwrap();
        symlink("../a/b", folder.join("a/b/loop")).unwrap();
        set_mode(outside.path(), 0o500);
        for (path, mode) in
            [("a/b/c", 0o000), ("a/b", 0o300), ("a", 0o500), ("removed-1", 0o000), ("", 0o000)]
        {
            set_mode(&folder.join(path), mode);
        }
        let (plain, removed) = unprivileged(|| (fs::remove_dir_all(&folder), remove_tree(&folder)));
        assert_eq!(plain.unwrap_err().kind(), io::ErrorKind::PermissionDenied, "the control");
        removed.unwrap();
        assert!(folder.symlink_metadata().is_err());
        assert_eq!(outside.path().metadata().unwrap().mode() & 0o777, 0o500);
        assert!(outside.path().join("kept").exists());
        remove_tree(&folder).unwrap();
    }

    #[test]
    fn a_folder_of_any_depth_is_removed() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("removed");
        fs::create_dir(&folder).unwrap();
        let mut at = openat(CWD, &folder, OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty()).unwrap();
        for _ in 0..3000 {
            rustix::fs::mkdirat(&at, "deep", Mode::from_raw_mode(0o700)).unwrap();
            at = openat(&at, "deep", OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty()).unwrap();
        }
        rustix::fs::fchmod(&at, Mode::empty()).unwrap();
        unprivileged(|| remove_tree(&folder)).unwrap();
        assert!(!folder.exists());
    }

    #[test]
    fn a_link_in_place_of_the_folder_is_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("other")).unwrap();
        symlink("other", dir.path().join("link")).unwrap();
        assert!(remove_tree(&dir.path().join("link")).is_err());
        assert!(dir.path().join("other").exists());
    }
}
