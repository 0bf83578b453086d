//! Copies metadata from the old file to the new one: owner, group, ACL, extended attributes, mode.
//!
//! Invariant: all of it is copied, or publishing fails. Only an attribute that the old file does not have, or
//! that the file system does not support, may be missing.

use crate::disk::inode::CreatedFile;
use crate::disk::permit;
use crate::system_error::{conflict, failed};
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
#[derive(Debug)]
pub(super) struct CopiedMetadata {
    /// The permission bits, with set-user-ID, set-group-ID and sticky.
    mode: u32,
    owner: (u32, u32),
    names: usize,
    attributes: BTreeMap<CString, Vec<u8>>,
}

impl CopiedMetadata {
    /// Reads the metadata of a file.
    pub fn read(file: &OwnedFd, shown: &str) -> Result<CopiedMetadata, Error> {
        let stat = rustix::fs::fstat(file).map_err(|errno| failed("fstat", shown, errno))?;
        Ok(CopiedMetadata {
            mode: stat.st_mode & PERMISSIONS,
            owner: (stat.st_uid, stat.st_gid),
            names: permit::names_of(&stat),
            attributes: named_attributes(file, shown)?,
        })
    }

    /// Gives the metadata to a new file, as far as it was not created with it. The mode comes last, so that the file is
    /// never more accessible than it should be.
    pub fn copy_to(&self, new: &OwnedFd, created: &CreatedFile, shown: &str) -> Result<(), Error> {
        let (user, group) = created.owner;
        let owner = (self.owner.0 != user).then(|| Uid::from_raw(self.owner.0));
        let group = (self.owner.1 != group).then(|| Gid::from_raw(self.owner.1));
        if owner.is_some() || group.is_some() {
            rustix::fs::fchown(new, owner, group)
                .map_err(|errno| ownership_error((owner, group), shown, errno))?;
        }
        let has_changed = self.copy_attributes_to(new, shown)? || owner.is_some() || group.is_some();
        if !has_changed && created.mode == self.mode {
            return Ok(());
        }
        let mode = Mode::from_raw_mode(self.mode);
        rustix::fs::fchmod(new, mode).map_err(|errno| failed("fchmod", shown, errno))
    }

    /// Returns true if the new file had other attributes.
    fn copy_attributes_to(&self, new: &OwnedFd, shown: &str) -> Result<bool, Error> {
        let present = named_attributes(new, shown)?;
        for name in present.keys().filter(|name| !self.attributes.contains_key(*name)) {
            // A folder's default ACL gives new files attributes that the old file did not have.
            absent_is_fine(rustix::fs::fremovexattr(new, name.as_c_str()))
                .map_err(|errno| failed("fremovexattr", shown, errno))?;
        }
        for (name, value) in self.attributes.iter().filter(|(name, value)| present.get(*name) != Some(value))
        {
            rustix::fs::fsetxattr(new, name.as_c_str(), value, XattrFlags::empty())
                .map_err(|errno| failed("fsetxattr", shown, errno))?;
        }
        Ok(present != self.attributes)
    }

    /// Fails for the privileges of a program, which came after its path was admitted, and if the number of names is no
    /// longer the one that was read.
    pub fn check(&self, read_names: usize, shown: &str) -> Result<(), Error> {
        permit::refuse_privileges(self.mode, self.attributes.contains_key(permit::CAPABILITIES), shown)?;
        if self.names == read_names {
            Ok(())
        } else {
            Err(conflict(shown, "got or lost a name (hard link) since it was read"))
        }
    }

    /// True if a file with this stat still has this metadata, as far as the stat shows it.
    pub fn fits(&self, stat: &Stat) -> bool {
        let owner = (stat.st_uid, stat.st_gid);
        (self.mode, self.owner, self.names) == (stat.st_mode & PERMISSIONS, owner, permit::names_of(stat))
    }

    /// True if a file has exactly these extended attributes, which a stat does not show.
    pub fn has_attributes_of(&self, file: &OwnedFd) -> Io<bool> {
        Ok(self.attributes == attributes(file)?)
    }
}

/// The error for an owner or a group that the new file cannot get.
///
/// A process may give a file only a group of its own user, and only root may give it another owner.
fn ownership_error((owner, group): (Option<Uid>, Option<Gid>), shown: &str, errno: Errno) -> Error {
    let mut error = failed("fchown", shown, errno);
    if !matches!(errno, Errno::PERM | Errno::INVAL) {
        return error;
    }
    let owner = owner.map(|owner| format!("owner {}", owner.as_raw()));
    let group = group.map(|group| format!("group {}", group.as_raw()));
    let lost = owner.into_iter().chain(group).collect::<Vec<_>>().join(" and ");
    error.message =
        format!("{shown}: a new file cannot get the {lost} of the old one (fchown failed: {errno})");
    error.hint(format!(
        "a person makes the user of lockgate a member of the file's group, or gives {shown} another owner \
         or group with `chown` or `chgrp`"
    ))
}

fn named_attributes(file: &OwnedFd, shown: &str) -> Result<BTreeMap<CString, Vec<u8>>, Error> {
    attributes(file).map_err(|errno| failed("reading the extended attributes", shown, errno))
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

#[cfg(test)]
mod tests {
    use super::*;
    use lockgate_error::Code;

    #[test]
    fn a_group_that_cannot_be_kept_is_named_with_the_next_step() {
        let group = (None, Some(Gid::from_raw(1234)));
        let error = ownership_error(group, "a.txt", Errno::PERM);
        assert_eq!(error.code, Code::PermissionDenied);
        let what = "a.txt: a new file cannot get the group 1234 of the old one (fchown failed: ";
        assert!(error.message.starts_with(what), "{error:?}");
        assert!(error.hint.as_deref().is_some_and(|hint| hint.contains("`chgrp`")), "{error:?}");
        let both = (Some(Uid::from_raw(5)), Some(Gid::from_raw(1234)));
        assert!(
            ownership_error(both, "a.txt", Errno::PERM).message.contains("the owner 5 and group 1234 of")
        );
        // The control: another failure says nothing of the owner.
        assert_eq!(ownership_error(group, "a.txt", Errno::IO), failed("fchown", "a.txt", Errno::IO));
    }
}
