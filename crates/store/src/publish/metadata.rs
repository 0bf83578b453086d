//! Copies metadata from the old file to the new one: owner, group, ACL, extended attributes, mode.
//!
//! Invariant: all of it is copied, or publishing fails, and capabilities are never copied. Only an attribute that the old file does not have, or
//! that the file system does not support, may be missing.

use crate::disk::permit;
use crate::system_error::failed;
use lockgate_error::Error;
use rustix::fs::{Gid, Mode, Stat, Uid, XattrFlags};
use rustix::io::{Errno, Result as Io};
use std::collections::BTreeMap;
use std::ffi::CString;
use std::os::fd::OwnedFd;

const PERMISSIONS: u32 = 0o7777;
/// The largest size in bytes that Linux allows for a list of attributes, or for a value.
const LARGEST: usize = 64 * 1024;

/// The metadata that was copied from a file, and the number of its hard links.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct CopiedMetadata {
    /// The permission bits, with set-user-ID, set-group-ID and sticky.
    mode: u32,
    owner: (u32, u32),
    names: usize,
    attributes: BTreeMap<CString, Vec<u8>>,
}

impl CopiedMetadata {
    fn new(stat: &Stat, attributes: BTreeMap<CString, Vec<u8>>) -> CopiedMetadata {
        let owner = (stat.st_uid, stat.st_gid);
        CopiedMetadata { mode: stat.st_mode & PERMISSIONS, owner, names: permit::names_of(stat), attributes }
    }

    /// True if the source file, with its present stat, still has exactly this metadata.
    pub fn is_still_of(&self, old: &OwnedFd, stat: &Stat) -> Io<bool> {
        Ok(*self == CopiedMetadata::new(stat, attributes(old)?))
    }
}

/// Copies the metadata of `old`, which has this stat, to `new`, which has this owner and group. The mode comes last, so that `new` is never more
/// accessible than it should be.
pub(super) fn copy(
    (old, old_stat): (&OwnedFd, &Stat),
    (new, (user, group)): (&OwnedFd, (u32, u32)),
    shown: &str,
) -> Result<CopiedMetadata, Error> {
    let owner = (old_stat.st_uid != user).then(|| Uid::from_raw(old_stat.st_uid));
    let group = (old_stat.st_gid != group).then(|| Gid::from_raw(old_stat.st_gid));
    if owner.is_some() || group.is_some() {
        rustix::fs::fchown(new, owner, group).map_err(|errno| failed("fchown", shown, errno))?;
    }
    let metadata = CopiedMetadata::new(old_stat, copy_attributes(old, new, shown)?);
    let mode = Mode::from_raw_mode(metadata.mode);
    rustix::fs::fchmod(new, mode).map_err(|errno| failed("fchmod", shown, errno))?;
    Ok(metadata)
}

fn copy_attributes(old: &OwnedFd, new: &OwnedFd, shown: &str) -> Result<BTreeMap<CString, Vec<u8>>, Error> {
    let old_attributes =
        attributes(old).map_err(|errno| failed("reading the extended attributes", shown, errno))?;
    if old_attributes.contains_key(permit::CAPABILITIES) {
        return Err(permit::carries_capabilities(shown));
    }
    let new_attributes =
        attributes(new).map_err(|errno| failed("reading the extended attributes", shown, errno))?;
    for name in new_attributes.keys().filter(|name| !old_attributes.contains_key(*name)) {
        // A folder's default ACL gives new files attributes that the old file did not have.
        absent_is_fine(rustix::fs::fremovexattr(new, name.as_c_str()))
            .map_err(|errno| failed("fremovexattr", shown, errno))?;
    }
    for (name, value) in
        old_attributes.iter().filter(|(name, value)| new_attributes.get(*name) != Some(value))
    {
        rustix::fs::fsetxattr(new, name.as_c_str(), value, XattrFlags::empty())
            .map_err(|errno| failed("fsetxattr", shown, errno))?;
    }
    Ok(old_attributes)
}

fn attributes(file: &OwnedFd) -> Io<BTreeMap<CString, Vec<u8>>> {
    let mut list = Vec::with_capacity(LARGEST);
    match rustix::fs::flistxattr(file, rustix::buffer::spare_capacity(&mut list)) {
        Ok(0) | Err(Errno::NOTSUP | Errno::NOSYS) => return Ok(BTreeMap::new()),
        Ok(_) => {}
        Err(errno) => return Err(errno),
    }
    let names = list.split(|byte| *byte == 0).filter(|name| !name.is_empty());
    let mut found = BTreeMap::new();
    for name in names.filter_map(|name| CString::new(name).ok()) {
        if let Some(value) = attribute(file, &name)? {
            found.insert(name, value);
        }
    }
    Ok(found)
}

fn attribute(file: &OwnedFd, name: &CString) -> Io<Option<Vec<u8>>> {
    let mut value = Vec::with_capacity(LARGEST);
    match rustix::fs::fgetxattr(file, name.as_c_str(), rustix::buffer::spare_capacity(&mut value)) {
        Ok(_) => Ok(Some(value)),
        Err(Errno::NODATA | Errno::NOTSUP) => Ok(None),
        Err(errno) => Err(errno),
    }
}

fn absent_is_fine(result: Io<()>) -> Io<()> {
    match result {
        Err(Errno::NODATA | Errno::NOTSUP) => Ok(()),
        result => result,
    }
}
