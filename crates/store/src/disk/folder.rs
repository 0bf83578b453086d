//! An open directory and the operations on single names in it.
//!
//! Invariant: a name is one component, never `.` or `..`, and a final symlink is never followed. So a call
//! reaches an entry of this very directory or fails, even if another program replaces entries meanwhile.

use rustix::fs::{
    AtFlags, FileType, Mode, OFlags, RawDir, RenameFlags, ResolveFlags, SeekFrom, Stat, Statx,
    StatxAttributes, StatxFlags,
};
use rustix::io::{Errno, Result, retry_on_intr};
use rustix::path::Arg;
use std::ffi::CStr;
use std::fs::{File, Metadata};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// Device and inode: the identity of a file or folder under any name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Identity {
    /// The number of the device.
    pub device: u64,
    /// The number of the inode on the device.
    pub inode: u64,
}

impl Identity {
    /// The identity from a stat.
    pub fn from_stat(stat: &Stat) -> Identity {
        Identity { device: stat.st_dev, inode: stat.st_ino }
    }

    /// The identity from an extended stat that has the inode.
    pub fn from_statx(found: &Statx) -> Identity {
        let device = rustix::fs::makedev(found.stx_dev_major, found.stx_dev_minor);
        Identity { device, inode: found.stx_ino }
    }

    /// The identity from the metadata of the standard library.
    pub fn from_metadata(found: &Metadata) -> Identity {
        Identity { device: found.dev(), inode: found.ino() }
    }

    /// The identity of what a path leads to, through links.
    pub fn at(path: &Path) -> std::io::Result<Identity> {
        path.metadata().map(|found| Identity::from_metadata(&found))
    }
}

/// The state of a folder that decides if names in it can be exchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FolderState {
    pub identity: Identity,
    /// Set when names can be added, but not changed or removed (`chattr +a`).
    pub is_append_only: bool,
}

impl FolderState {
    /// The state of what a path leads to, through links.
    pub fn at(path: &Path) -> Result<FolderState> {
        FolderState::read(rustix::fs::CWD, path, AtFlags::empty())
    }

    /// Makes one call, if the kernel has it.
    fn read(from: impl AsFd, path: impl Arg + Copy, flags: AtFlags) -> Result<FolderState> {
        let found = rustix::fs::statx(&from, path, flags, StatxFlags::INO).ok();
        match found.filter(|found| found.stx_mask & StatxFlags::INO.bits() != 0) {
            Some(found) => {
                let is_append_only = found.stx_attributes.contains(StatxAttributes::APPEND);
                Ok(FolderState { identity: Identity::from_statx(&found), is_append_only })
            }
            None => {
                let identity = Identity::from_stat(&rustix::fs::statat(from, path, flags)?);
                Ok(FolderState { identity, is_append_only: false })
            }
        }
    }
}

/// The result of a rename to a new name; in either case the new name exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Renamed {
    /// The old name is gone.
    Whole,
    /// The old name could not be removed and leads to the same file.
    OldNameLeft(Errno),
}

/// Opens an open file once more, for reading; fails without `/proc`.
pub(crate) fn open_again_to_read(file: &OwnedFd) -> Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    retry_on_intr(|| rustix::fs::open(shown_path(file), flags, Mode::empty()))
}

/// The path under which the kernel shows an open file.
pub(crate) fn shown_path(file: &impl AsRawFd) -> String {
    format!("/proc/self/fd/{}", file.as_raw_fd())
}

/// An open directory. It remains usable if the directory is renamed.
#[derive(Debug)]
pub(crate) struct Folder {
    fd: OwnedFd,
    /// Set if the directory was opened for its entries, and not only for its names.
    is_readable: bool,
    /// Set once this descriptor was listed, because the next listing would begin where that one ended.
    was_listed: AtomicBool,
}

#[cfg(test)]
thread_local! {
    /// The number of listings of folders that this thread has made.
    pub(crate) static LISTINGS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

const TO_READ: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

impl AsFd for Folder {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl Folder {
    /// Wraps a directory that was opened in a root.
    pub fn new(fd: OwnedFd) -> Folder {
        Folder { fd, is_readable: false, was_listed: AtomicBool::new(false) }
    }

    /// Wraps a directory that was opened in a root for reading.
    pub fn readable(fd: OwnedFd) -> Folder {
        Folder { fd, is_readable: true, was_listed: AtomicBool::new(false) }
    }

    /// Opens a directory by its path, for reading.
    pub fn open_at(path: &Path) -> Result<Folder> {
        rustix::fs::open(path, TO_READ, Mode::empty()).map(Folder::readable)
    }

    /// Opens a directory by its path below another one, for reading and in one call that cannot leave that one.
    ///
    /// Errors: EXDEV for a path that leads out of it, ACCESS for a directory that may not be read, NOSYS if the
    /// kernel lacks the call.
    pub fn open_below(above: impl AsFd, path: &str) -> Result<Folder> {
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
        let path = if path.is_empty() { "." } else { path };
        let fd = retry_on_intr(|| rustix::fs::openat2(&above, path, TO_READ, Mode::empty(), resolve))?;
        Ok(Folder::readable(fd))
    }

    /// The identity of the directory.
    pub fn identity(&self) -> Result<Identity> {
        rustix::fs::fstat(&self.fd).map(|stat| Identity::from_stat(&stat))
    }

    /// The identity of the directory, and if it is append-only.
    pub fn state(&self) -> Result<FolderState> {
        FolderState::read(&self.fd, "", AtFlags::EMPTY_PATH)
    }

    /// Opens an entry, never through a symlink and never blocking on a device.
    pub fn open(&self, name: &str, flags: OFlags, mode: Mode) -> Result<OwnedFd> {
        open_name(&self.fd, name, flags | OFlags::NOFOLLOW | OFlags::CLOEXEC, mode)
    }

    /// Creates a file without a name; fails if the file system does not support that, or cannot name the file
    /// later.
    pub fn make_unnamed(&self, mode: Mode) -> Result<OwnedFd> {
        static CAN_BE_NAMED: OnceLock<bool> = OnceLock::new();
        if !CAN_BE_NAMED.get_or_init(|| Path::new("/proc/self/fd").is_dir()) {
            return Err(Errno::NOTSUP);
        }
        let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
        retry_on_intr(|| rustix::fs::openat(&self.fd, ".", flags, mode))
    }

    /// Gives an unnamed file a name that must be free; EEXIST if it is not.
    pub fn give_name(&self, file: &OwnedFd, name: &str) -> Result<()> {
        rustix::fs::linkat(rustix::fs::CWD, shown_path(file), &self.fd, name, AtFlags::SYMLINK_FOLLOW)
    }

    /// Opens an entry without any right to its content, to examine it.
    pub fn touch(&self, name: &str) -> Result<OwnedFd> {
        self.open(name, OFlags::PATH, Mode::empty())
    }

    /// Opens an entry for reading; a FIFO or device does not block.
    pub fn open_to_read(&self, name: &str) -> Result<OwnedFd> {
        self.open(name, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY, Mode::empty())
    }

    /// Opens the folder of that name, also for listing and syncing it.
    ///
    /// Errors: ACCESS for a folder that may not be read; others for an entry that is not a folder.
    pub fn enter_to_read(&self, name: &str) -> Result<Folder> {
        self.open(name, TO_READ | OFlags::NONBLOCK, Mode::empty()).map(Folder::readable)
    }

    /// Opens the folder of that name.
    pub fn enter(&self, name: &str) -> Result<Folder> {
        self.open(name, OFlags::PATH | OFlags::DIRECTORY, Mode::empty()).map(Folder::new)
    }

    /// Opens a folder below this one for [`Folder::entries`], by a path without symlinks.
    pub fn descend(&self, path: impl AsRef<[u8]>) -> Result<Folder> {
        let flags = TO_READ | OFlags::NOFOLLOW;
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS | ResolveFlags::NO_SYMLINKS;
        let path = if path.as_ref().is_empty() { b"." } else { path.as_ref() };
        match retry_on_intr(|| rustix::fs::openat2(&self.fd, path, flags, Mode::empty(), resolve)) {
            // If the call is not available, the names are opened one by one.
            Err(Errno::NOSYS | Errno::PERM | Errno::AGAIN) => {}
            result => return result.map(Folder::readable),
        }
        let mut folder = rustix::fs::openat(&self.fd, ".", flags, Mode::empty()).map(Folder::readable)?;
        for name in path.split(|byte| *byte == b'/').filter(|name| *name != b".") {
            folder = open_name(&folder.fd, name, flags, Mode::empty()).map(Folder::readable)?;
        }
        Ok(folder)
    }

    /// The metadata of the entry, without following a symlink.
    pub fn stat(&self, name: impl Arg) -> Result<Stat> {
        rustix::fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW)
    }

    /// The metadata of the entry's target, for comparison only; the target is never opened.
    pub fn stat_target(&self, name: &str) -> Result<Stat> {
        rustix::fs::statat(&self.fd, name, AtFlags::empty())
    }

    /// Fails if the effective user does not have this right to the entry; `.` means the folder itself.
    pub fn access(&self, name: &str, access: rustix::fs::Access) -> Result<()> {
        rustix::fs::accessat(&self.fd, name, access, AtFlags::EACCESS)
    }

    /// Creates a folder in this one, with mode 0777 minus the umask.
    pub fn make(&self, name: &str) -> Result<()> {
        rustix::fs::mkdirat(&self.fd, name, Mode::from_raw_mode(0o777))
    }

    pub fn unlink(&self, name: &str) -> Result<()> {
        rustix::fs::unlinkat(&self.fd, name, AtFlags::empty())
    }

    /// Removes an empty folder; ENOTEMPTY if it has entries.
    pub fn remove(&self, name: &str) -> Result<()> {
        rustix::fs::unlinkat(&self.fd, name, AtFlags::REMOVEDIR)
    }

    /// Renames one entry over another.
    pub fn rename(&self, from: &str, to: &str) -> Result<()> {
        rustix::fs::renameat(&self.fd, from, &self.fd, to)
    }

    /// Exchanges two existing entries in one atomic step.
    pub fn exchange(&self, one: &str, other: &str) -> Result<()> {
        rustix::fs::renameat_with(&self.fd, one, &self.fd, other, RenameFlags::EXCHANGE)
    }

    /// Renames an entry to a name that must be free; EEXIST if it is not.
    pub fn rename_new(&self, from: &str, to: &str) -> Result<Renamed> {
        match rustix::fs::renameat_with(&self.fd, from, &self.fd, to, RenameFlags::NOREPLACE) {
            // The file system lacks this flag: a link also fails for an existing name.
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
                self.link_new(from, to, |from| self.unlink(from))
            }
            result => result.map(|()| Renamed::Whole),
        }
    }

    /// Does the same by a link and the removal of the old name.
    fn link_new(&self, from: &str, to: &str, unlink: impl FnOnce(&str) -> Result<()>) -> Result<Renamed> {
        rustix::fs::linkat(&self.fd, from, &self.fd, to, AtFlags::empty())?;
        Ok(unlink(from).map_or_else(Renamed::OldNameLeft, |()| Renamed::Whole))
    }

    /// Returns the type of an entry that a listing named with this type: some file systems tell none.
    pub fn kind(&self, listed: FileType, name: impl Arg) -> FileType {
        match listed {
            FileType::Unknown => self.stat(name).map_or(listed, |stat| FileType::from_raw_mode(stat.st_mode)),
            known => known,
        }
    }

    /// Makes the names in this folder survive a power cut.
    pub fn sync(&self) -> Result<()> {
        if !self.is_readable {
            return self.reopened()?.sync();
        }
        retry_on_intr(|| rustix::fs::fsync(&self.fd))
    }

    /// Calls `visit` with the inode and name of every entry until it fails.
    pub fn each(&self, mut visit: impl FnMut(u64, rustix::fs::FileType, &str) -> Result<()>) -> Result<()> {
        if !self.is_readable {
            return self.reopened()?.each(visit);
        }
        self.entries(&mut Vec::new(), |inode, kind, name| match name.to_str() {
            Ok(name) => visit(inode, kind, name),
            Err(_) => Ok(()),
        })
    }

    /// Opens the directory itself once more, for reading.
    fn reopened(&self) -> Result<Folder> {
        rustix::fs::openat(&self.fd, ".", TO_READ, Mode::empty()).map(Folder::readable)
    }

    /// Does the same for a folder from [`Folder::descend`], including names that are not UTF-8; `space` is
    /// the read buffer.
    pub fn entries(
        &self,
        space: &mut Vec<u8>,
        mut visit: impl FnMut(u64, rustix::fs::FileType, &CStr) -> Result<()>,
    ) -> Result<()> {
        #[cfg(test)]
        LISTINGS.set(LISTINGS.get() + 1);
        // Every listing of a descriptor continues where the last one ended.
        if self.was_listed.swap(true, Ordering::Relaxed) {
            rustix::fs::seek(&self.fd, SeekFrom::Start(0))?;
        }
        space.clear();
        space.reserve(32 * 1024);
        let mut entries = RawDir::new(&self.fd, space.spare_capacity_mut());
        while let Some(entry) = entries.next() {
            let entry = entry?;
            let name = entry.file_name();
            if name != c"." && name != c".." {
                visit(entry.ino(), entry.file_type(), name)?;
            }
        }
        Ok(())
    }
}

/// Opens a regular file, through links; never blocks on a device.
pub(crate) fn open_regular(path: &Path) -> Option<(File, Stat)> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty()).ok()?);
    let stat = rustix::fs::fstat(&file).ok()?;
    is_regular(&stat).then_some((file, stat))
}

/// True for the metadata of a regular file.
pub(crate) fn is_regular(stat: &Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile
}

/// Opens one component in a directory, with openat2 if the kernel has it.
fn open_name(folder: impl AsFd, name: impl AsRef<[u8]>, flags: OFlags, mode: Mode) -> Result<OwnedFd> {
    static MISSING: AtomicBool = AtomicBool::new(false);
    let name = name.as_ref();
    if name.contains(&b'/') || matches!(name, b"" | b"." | b"..") {
        return Err(Errno::INVAL);
    }
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    if !MISSING.load(Ordering::Relaxed) {
        match retry_on_intr(|| rustix::fs::openat2(&folder, name, flags, mode, resolve)) {
            Err(Errno::NOSYS) => MISSING.store(true, Ordering::Relaxed),
            // A sandbox may return this for an unknown call; for one component O_NOFOLLOW is enough.
            Err(Errno::PERM | Errno::AGAIN) => {}
            result => return result,
        }
    }
    retry_on_intr(|| rustix::fs::openat(&folder, name, flags, mode))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_listing_is_complete() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("a"), "").unwrap();
        let fd = || OwnedFd::from(std::fs::File::open(dir.path()).unwrap());
        for folder in [Folder::new(fd()), Folder::readable(fd())] {
            for _ in 0..2 {
                let mut count = 0;
                folder
                    .each(|_, _, _| {
                        count += 1;
                        Ok(())
                    })
                    .unwrap();
                folder
                    .entries(&mut Vec::new(), |_, _, _| {
                        count += 1;
                        Ok(())
                    })
                    .unwrap();
                assert_eq!(count, 2);
            }
        }
    }

    #[test]
    fn a_new_name_that_was_given_is_given_although_the_old_one_stays() {
        let dir = tempfile::tempdir().unwrap();
        let folder = Folder::new(std::fs::File::open(dir.path()).unwrap().into());
        std::fs::write(dir.path().join("old"), "x").unwrap();
        assert_eq!(
            folder.link_new("old", "first", |_| Err(Errno::PERM)),
            Ok(Renamed::OldNameLeft(Errno::PERM))
        );
        assert_eq!(folder.link_new("old", "second", |old| folder.unlink(old)), Ok(Renamed::Whole));
        let exists = |name| dir.path().join(name).exists();
        assert!(exists("first") && exists("second") && !exists("old"));
        std::fs::write(dir.path().join("old"), "y").unwrap();
        assert_eq!(folder.link_new("old", "first", |_| Ok(())), Err(Errno::EXIST));
    }
}
