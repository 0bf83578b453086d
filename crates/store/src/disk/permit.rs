//! Checks the rights that a rename alone would bypass.
//!
//! Invariant: a file that its own mode, owner, links or privileges guard is rejected, although the folder's
//! rights would allow its replacement.

use super::fingerprint::FileFingerprint;
use super::folder::{Folder, shown_path};
use crate::system_error::failed;
use lockgate_error::{Code, Error};
use lockgate_policy::{HardLinks, Publishing};
use rustix::fs::{Access, AtFlags, Gid, Stat, StatxAttributes, StatxFlags, Uid};
use rustix::io::Errno;
use std::ffi::CStr;
use std::os::fd::OwnedFd;
use std::sync::OnceLock;

const ANY_WRITE: u32 = 0o222;
const SET_ID: u32 = 0o6000;
const SET_GID: u32 = 0o2000;
/// The extended attribute with the capabilities of a program.
pub(crate) const CAPABILITIES: &CStr = c"security.capability";

/// The attributes of the kernel's security modules, which may give a new file its own.
const SET_BY_KERNEL: &[&str] = &[
    "security.SMACK64",
    "security.apparmor",
    "security.capability",
    "security.evm",
    "security.ima",
    "security.selinux",
];
/// The largest size in bytes that Linux allows for a list of attributes.
const LONGEST_LIST: usize = 64 * 1024;

/// The reasons why a path may not be written, as they follow it in an error.
const HAS_SET_ID: &str = "runs with the rights of its owner or group (setuid, setgid)";
const HAS_CAPABILITIES: &str = "carries file capabilities";
pub(crate) const CLOSED_FOLDER: &str = "is in a folder that this user may not write to";

/// The state of a file on which the right of its owner to write it depends. Of any other user, an ACL decides too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RightsState {
    state: FileFingerprint,
    mode: u32,
    owner: (u32, u32),
}

impl RightsState {
    /// The state from a stat.
    pub fn from_stat(stat: &Stat) -> RightsState {
        let owner = (stat.st_uid, stat.st_gid);
        RightsState { state: FileFingerprint::from_stat(stat), mode: stat.st_mode, owner }
    }
}

/// Fails for a file that the effective user may not write, or whose privileges a rewrite would copy or drop. Also fails
/// if the user may not create names in the folder. `file` gives no access to its content.
pub(crate) fn may_replace(
    folder: &Folder,
    name: &str,
    (stat, file): (&Stat, &OwnedFd),
    path: &str,
) -> Result<(), Error> {
    refuse_guarded(stat, path)?;
    refuse_unwritable(folder, name, path)?;
    // The attributes of such a descriptor can be read only by its name.
    match rustix::fs::getxattr(shown_path(file), CAPABILITIES, &mut [0_u8; 0][..]) {
        Err(Errno::NOENT | Errno::NOTDIR | Errno::ACCESS | Errno::PERM) => {
            let file = folder.open_to_read(name).map_err(|errno| failed("opening", path, errno))?;
            refuse_capabilities(&file, path)?;
        }
        found => refuse_found(found, path)?,
    }
    may_create(folder, path)
}

/// Fails for a file whose mode or owner forbids that it is replaced.
pub(crate) fn refuse_guarded(stat: &Stat, path: &str) -> Result<(), Error> {
    let problem = if stat.st_mode & ANY_WRITE == 0 {
        "is read-only: no write bit is set"
    } else if stat.st_mode & SET_ID != 0 {
        HAS_SET_ID
    } else if !user().is_root() && !is_owner(stat) {
        return Err(denied(path, "belongs to another user").hint(
            "a person gives the file to the user of lockgate with `chown`, or edits it without lockgate: a new file would \
             not keep its owner",
        ));
    } else {
        return Ok(());
    };
    Err(denied(path, problem))
}

/// Fails for the file of a program that runs with more rights than those of its user, by its mode or by capabilities.
pub(crate) fn refuse_privileges(mode: u32, has_capabilities: bool, path: &str) -> Result<(), Error> {
    match (mode & SET_ID != 0, has_capabilities) {
        (true, _) => Err(denied(path, HAS_SET_ID)),
        (false, true) => Err(denied(path, HAS_CAPABILITIES)),
        (false, false) => Ok(()),
    }
}

/// Fails for a file that the effective user may not write.
pub(crate) fn refuse_unwritable(folder: &Folder, name: &str, path: &str) -> Result<(), Error> {
    folder
        .access(name, Access::WRITE_OK)
        .map_err(|errno| refused(("access", errno), path, "is not writable by this user"))
}

/// Fails if the effective user may not create names in the folder.
pub(crate) fn may_create(folder: &Folder, path: &str) -> Result<(), Error> {
    let rights = Access::WRITE_OK | Access::EXEC_OK;
    folder.access(".", rights).map_err(|errno| refused(("access", errno), path, CLOSED_FOLDER))
}

/// True if the file belongs to the effective user.
pub(crate) fn is_owner(stat: &Stat) -> bool {
    stat.st_uid == user().as_raw()
}

/// The effective user, which no part of lockgate changes.
fn user() -> Uid {
    static USER: OnceLock<Uid> = OnceLock::new();
    *USER.get_or_init(rustix::process::geteuid)
}

/// The number of hard links of the file.
pub(crate) fn names_of(stat: &Stat) -> usize {
    usize::try_from(stat.st_nlink).unwrap_or(usize::MAX)
}

/// The method for writing a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WriteMethod {
    /// Replace the file under its name.
    Replace,
    /// Overwrite the file itself, which keeps all its hard links.
    InPlace,
}

/// Returns the method for a file with this many names; fails if the policy does not define it.
pub(crate) fn write_method(names: usize, publishing: Publishing, path: &str) -> Result<WriteMethod, Error> {
    match publishing.hard_links {
        _ if names <= 1 => Ok(WriteMethod::Replace),
        HardLinks::Split => Ok(WriteMethod::Replace),
        HardLinks::InPlace => Ok(WriteMethod::InPlace),
        HardLinks::Refuse => Err(hard_linked(path, names)),
    }
}

/// The error for a file with more than one name.
pub(crate) fn hard_linked(path: &str, names: usize) -> Error {
    denied(path, &format!("has {names} names (hard links), and a write would change only this one")).hint(
        "ask a person to give the name a file of its own (copy the file, and move the copy over the name), or to set in \
         the policy how to treat such files: `hard_links: split` or `in_place`",
    )
}

/// Fails if the name under which the file was opened is a mount point. Kernels before Linux 5.8 do not tell.
pub(crate) fn refuse_mounted(file: &OwnedFd, path: &str) -> Result<(), Error> {
    if has_attribute(file, StatxAttributes::MOUNT_ROOT) { Err(mounted(path)) } else { Ok(()) }
}

/// Fails for an append-only file.
pub(crate) fn refuse_append_only(file: &OwnedFd, path: &str) -> Result<(), Error> {
    if has_attribute(file, StatxAttributes::APPEND) { Err(append_only(path, "is")) } else { Ok(()) }
}

fn has_attribute(file: &OwnedFd, attribute: StatxAttributes) -> bool {
    rustix::fs::statx(file, "", AtFlags::EMPTY_PATH, StatxFlags::empty())
        .is_ok_and(|found| found.stx_attributes.contains(attribute))
}

/// The error for a path that `is` append-only, or is in such a folder.
pub(crate) fn append_only(path: &str, is: &str) -> Error {
    denied(path, &format!("{is} append-only (`chattr +a`)")).hint(
        "ask a person to remove the attribute with `chattr -a`: lockgate replaces a file with a new one",
    )
}

/// Fails for a file whose group or attributes only root can give to a new file in the folder.
pub(crate) fn refuse_uncopyable_metadata(folder: &Folder, file: &OwnedFd, path: &str) -> Result<(), Error> {
    if user().is_root() {
        return Ok(());
    }
    let stat = rustix::fs::fstat(file).map_err(|errno| failed("fstat", path, errno))?;
    // A folder with setgid gives new files its group.
    let has_group =
        || folder.stat(".").is_ok_and(|folder| folder.st_gid == stat.st_gid && folder.st_mode & SET_GID != 0);
    if !is_own_group(stat.st_gid) && !has_group() {
        let group = stat.st_gid;
        let problem = format!("belongs to the group {group}, which this user cannot give to a new file");
        return Err(denied(path, &problem).hint(format!(
            "a person makes the user of lockgate a member of the file's group, or gives {path} another group with `chgrp`"
        )));
    }
    let mut names = Vec::with_capacity(LONGEST_LIST);
    if rustix::fs::flistxattr(file, rustix::buffer::spare_capacity(&mut names)).is_err() {
        return Ok(());
    }
    let mut names = names.split(|byte| *byte == 0).map(String::from_utf8_lossy);
    let is_root_only = |name: &str| name.starts_with("security.") && !SET_BY_KERNEL.contains(&name);
    names.find(|name| is_root_only(name)).map_or(Ok(()), |name| {
        let problem = format!("has the attribute `{name}`, which this user cannot give to a new file");
        Err(denied(path, &problem).hint(format!(
            "ask a person to remove the attribute (`setfattr -x {name}`), or to edit the file"
        )))
    })
}

/// True if the process has the group.
fn is_own_group(group: u32) -> bool {
    static GROUPS: OnceLock<Vec<u32>> = OnceLock::new();
    let groups = GROUPS.get_or_init(|| {
        let others = rustix::process::getgroups().unwrap_or_default();
        others.into_iter().chain([rustix::process::getegid()]).map(Gid::as_raw).collect()
    });
    groups.contains(&group)
}

/// The error for a file whose name is a mount point, so that it cannot be replaced.
pub(crate) fn mounted(path: &str) -> Error {
    denied(path, "is a mount point: no other file can take its name").hint(
        "ask a person to set `hard_links: in_place` in the policy, which allows writing into it, or edit the file at \
         its real path",
    )
}

/// Fails for a program with capabilities of its own, which is open for reading.
pub(crate) fn refuse_capabilities(file: &OwnedFd, path: &str) -> Result<(), Error> {
    refuse_found(rustix::fs::fgetxattr(file, CAPABILITIES, &mut [0_u8; 0][..]), path)
}

fn refuse_found(found: rustix::io::Result<usize>, path: &str) -> Result<(), Error> {
    match found {
        Ok(_) => Err(denied(path, HAS_CAPABILITIES)),
        Err(Errno::NODATA | Errno::NOTSUP | Errno::NOSYS) => Ok(()),
        Err(errno) => Err(failed("reading the extended attributes", path, errno)),
    }
}

/// The error of a call that failed, with the problem if missing rights are the reason.
pub(crate) fn refused((call, errno): (&str, Errno), path: &str, problem: &str) -> Error {
    match errno {
        Errno::ACCESS | Errno::PERM => denied(path, problem),
        Errno::ROFS => denied(path, "is on a read-only file system"),
        errno => failed(call, path, errno),
    }
}

fn denied(path: &str, problem: &str) -> Error {
    Error::new(Code::PermissionDenied, format!("{path} {problem}")).naming_target(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_call_is_told_from_a_failed_one() {
        for (errno, problem) in [
            (Errno::ACCESS, "is not writable"),
            (Errno::PERM, "is not writable"),
            (Errno::ROFS, "is on a read-only file system"),
        ] {
            let error = refused(("access", errno), "a", "is not writable");
            assert_eq!((error.code, error.message), (Code::PermissionDenied, format!("a {problem}")));
        }
        assert_eq!(refused(("access", Errno::IO), "a", "is not writable").code, Code::IoFailed);
    }

    #[test]
    fn rights_depend_on_mode_owner_and_change_time() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let stat = rustix::fs::fstat(file.as_file()).unwrap();
        let changes: [fn(&mut Stat); 5] = [
            |stat| stat.st_mode ^= 0o200,
            |stat| stat.st_uid += 1,
            |stat| stat.st_gid += 1,
            |stat| stat.st_ctime += 1,
            |stat| stat.st_ino += 1,
        ];
        for (number, change) in changes.into_iter().enumerate() {
            let mut other = stat;
            assert_eq!(RightsState::from_stat(&other), RightsState::from_stat(&stat));
            change(&mut other);
            assert_ne!(RightsState::from_stat(&other), RightsState::from_stat(&stat), "{number}");
        }
    }
}
