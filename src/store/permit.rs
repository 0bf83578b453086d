//! What we may replace: the rights that a rename alone would walk past.
//!
//! Invariant: a file that its own mode, owner, links or privileges guard is refused, although the folder's rights would let
//! us put another in its place.

use super::folder::Folder;
use super::trouble::failed;
use crate::error::{Code, Error};
use crate::policy::{HardLinks, Publishing};
use rustix::fs::{Access, Stat};
use rustix::io::Errno;

const ANY_WRITE: u32 = 0o222;
const SET_ID: u32 = 0o6000;

/// Refuses a file that the effective user may not write, or whose privileges a rewrite would carry over or drop.
pub(super) fn may_replace(folder: &Folder, name: &str, stat: &Stat, path: &str) -> Result<(), Error> {
    if let Some(fault) = fault_of(stat) {
        return Err(denied(path, fault));
    }
    folder
        .access(name, Access::WRITE_OK)
        .map_err(|errno| refused(path, errno, "may not be written by this user"))?;
    refuse_capabilities(folder, name, path)?;
    may_create(folder, path)
}

/// Refuses when the folder takes no new names from the effective user.
pub(super) fn may_create(folder: &Folder, path: &str) -> Result<(), Error> {
    let rights = Access::WRITE_OK | Access::EXEC_OK;
    folder
        .access(".", rights)
        .map_err(|errno| refused(path, errno, "lies in a folder that this user may not write"))
}

/// Why a file may not be replaced, by its metadata alone.
fn fault_of(stat: &Stat) -> Option<&'static str> {
    let user = rustix::process::geteuid();
    if stat.st_mode & ANY_WRITE == 0 {
        Some("is read-only: no write bit is set")
    } else if stat.st_mode & SET_ID != 0 {
        Some("runs with its owner's or group's rights (setuid, setgid)")
    } else if !user.is_root() && stat.st_uid != user.as_raw() {
        Some("belongs to another user")
    } else {
        None
    }
}

/// How many names the file has.
pub(super) fn names_of(stat: &Stat) -> usize {
    usize::try_from(stat.st_nlink).unwrap_or(usize::MAX)
}

/// How a file of so many names is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WriteMethod {
    /// Another file takes its name.
    Replace,
    /// The file itself is written.
    InPlace,
}

/// How a file of so many names is written; refused where the policy does not say what becomes of them.
pub(super) fn way(names: usize, how: Publishing, path: &str) -> Result<WriteMethod, Error> {
    match how.hard_links {
        _ if names <= 1 => Ok(WriteMethod::Replace),
        HardLinks::Split => Ok(WriteMethod::Replace),
        HardLinks::InPlace => Ok(WriteMethod::InPlace),
        HardLinks::Refuse => Err(hard_linked(path, names)),
    }
}

/// A file with more than one name.
pub(super) fn hard_linked(path: &str, names: usize) -> Error {
    denied(path, &format!("has {names} names (hard links), of which a write would change only this one")).hint(
        "have a person break the link (copy the file over itself), or say in the policy what becomes of such a file: \
         `hard_links: split` or `in_place`",
    )
}

/// A file whose name is a mount point, so that no other can take it.
pub(super) fn mounted(path: &str) -> Error {
    denied(path, "is a mount point: no other file can take its name").hint(
        "have a person say `hard_links: in_place` in the policy, which lets it be written into, or edit the file where it \
         really lies",
    )
}

fn refuse_capabilities(folder: &Folder, name: &str, path: &str) -> Result<(), Error> {
    let file = folder.open_to_read(name).map_err(|errno| failed("opening", path, errno))?;
    match rustix::fs::fgetxattr(&file, "security.capability", &mut [0_u8; 0][..]) {
        Ok(_) => Err(denied(path, "carries file capabilities")),
        Err(Errno::NODATA | Errno::NOTSUP | Errno::NOSYS) => Ok(()),
        Err(errno) => Err(failed("fgetxattr", path, errno)),
    }
}

fn refused(path: &str, errno: Errno, seen: &str) -> Error {
    match errno {
        Errno::ACCESS | Errno::PERM | Errno::ROFS => denied(path, seen),
        errno => failed("access", path, errno),
    }
}

fn denied(path: &str, seen: &str) -> Error {
    Error::new(Code::PermissionDenied, format!("{path} {seen}"))
}
