//! Admits a path before anything of the file is read.
//!
//! Invariant: a path is checked under its requested spelling and under the path that it resolves to; an
//! existing entry that is not a regular file is never admitted.

use super::access::AccessPurpose;
use super::alias::{LinkSearch, OtherNames};
use super::file_location::{FileLocation, join};
use super::listed_folders::ListedFolders;
use super::root::{Root, named};
use super::walk::{PathStep, WalkEnd};
use super::{access, alias, git_settings, spelling, walk};
use crate::disk::file_system::is_made_up;
use crate::disk::folder::{Folder, Identity, is_regular};
use crate::disk::permit::{self, RightsState};
use crate::system_error;
use lockgate_error::{Code, Error};
use lockgate_policy::Publishing;
use rustix::fs::{FileType, Stat};
use std::os::fd::OwnedFd;

/// Admits a path for writing or reading.
pub(crate) fn admit(roots: &[Root], path: &str, purpose: AccessPurpose) -> Result<FileLocation, Error> {
    admit_with_folder(roots, path, purpose).map(|(place, _)| place)
}

/// Does the same as [`admit`], and returns the deepest existing folder of the path with it.
pub(crate) fn admit_with_folder(
    roots: &[Root],
    path: &str,
    purpose: AccessPurpose,
) -> Result<(FileLocation, Folder), Error> {
    spelling::check(path)?;
    admit_below(roots, walk::choose(roots, path)?, path, purpose, None)
}

/// Admits a path for reading, and lists each of its folders once for all paths that are admitted with the same folders.
pub(crate) fn admit_listed(
    roots: &[Root],
    path: &str,
    listed: &ListedFolders,
) -> Result<FileLocation, Error> {
    spelling::check(path)?;
    let target = walk::choose(roots, path)?;
    admit_below(roots, target, path, AccessPurpose::Read, Some(listed)).map(|(place, _)| place)
}

/// Does the same as [`admit_with_folder`], but takes the path as one of this root, even if it also lies in a root below it.
pub(crate) fn admit_in_root(
    roots: &[Root],
    root: usize,
    path: &str,
    purpose: AccessPurpose,
) -> Result<(FileLocation, Folder), Error> {
    spelling::check(path)?;
    admit_below(roots, (root, walk::rest_in_root(roots, root, path)?), path, purpose, None)
}

fn admit_below(
    roots: &[Root],
    (root, rest): (usize, String),
    path: &str,
    purpose: AccessPurpose,
    listed: Option<&ListedFolders>,
) -> Result<(FileLocation, Folder), Error> {
    let normal = spelling::normal(&rest).unwrap_or_else(|| rest.clone());
    refuse_protected(&normal, path)?;
    let mut found = walk::walk(roots, root, &rest, path)?;
    if let Some(listed) = listed {
        found.folders.iter_mut().for_each(|step| step.share_names(listed));
    }
    let file = found.file.take();
    let name = match &file {
        Some((name, ..)) => Some(name.clone()),
        None => found.missing.pop(),
    };
    let name = name.ok_or_else(|| system_error::not_a_file(path, "a directory"))?;
    if path.ends_with('/') {
        return Err(closed(path, file.is_some()));
    }
    let real = real_path(&found, &name);
    refuse_protected(&real, path)?;
    let identity = file.as_ref().map(|(_, stat, _)| Identity::from_stat(stat));
    let links = LinkSearch::new(roots, &found, &name, identity, path);
    links.refuse_aliases()?;
    alias::refuse_own_folders(&found, &name, path)?;
    let mut other_names = OtherNames::default();
    match (purpose, &file) {
        (AccessPurpose::Write, Some((_, stat, fd))) => {
            other_names = vet_file(roots, &found, &name, (stat, fd), path)?;
        }
        (AccessPurpose::Write, None) => check_creatable(&found, path)?,
        (AccessPurpose::Read | AccessPurpose::Outside, Some((_, stat, fd))) => {
            check_readable(roots, &found, (stat, fd), path)?;
        }
        (AccessPurpose::Read | AccessPurpose::Outside, None) => {}
    }
    let (runnable, occasion) = match purpose {
        AccessPurpose::Write | AccessPurpose::Outside => {
            let runnable = runnable(&normal, &real, &other_names, &links)?;
            let runnable = runnable.or_else(|| git_settings::rule_for(roots, &found, &name, identity));
            (runnable, occasion(&normal, &real, &other_names))
        }
        AccessPurpose::Read => (None, None),
    };
    let admitted = file.filter(|_| purpose == AccessPurpose::Write);
    let admitted = admitted.map(|(_, stat, _)| RightsState::from_stat(&stat));
    let (place, folder) = place(roots, (root, &rest), found, name, path)?;
    Ok((FileLocation { names: other_names.names, runnable, occasion, admitted, ..place }, folder))
}

/// Returns the occasion, such as `in CI`, on which a file that is to be written runs, under any of its names.
fn occasion(normal: &str, real: &str, other_names: &OtherNames) -> Option<&'static str> {
    let names = [normal, real].into_iter().chain(other_names.names.iter().map(String::as_str));
    names.filter_map(access::occasion_for).next()
}

/// Returns the rule by which a file that is to be written starts a program: under the requested path, the resolved
/// path, a link of a runnable name, or a second hard link.
fn runnable(
    normal: &str,
    real: &str,
    other_names: &OtherNames,
    links: &LinkSearch<'_>,
) -> Result<Option<&'static str>, Error> {
    let by_path = access::runnable_for(normal).or_else(|| access::runnable_for(real));
    match by_path.or(other_names.runnable) {
        Some(rule) => Ok(Some(rule)),
        None => links.runnable(),
    }
}

/// Admits a path for a command that a person runs. Such a command may write protected files, and follows no
/// link.
pub(crate) fn admit_own(roots: &[Root], path: &str) -> Result<FileLocation, Error> {
    spelling::check(path)?;
    let (root, rest) = walk::choose(roots, path)?;
    let mut found = walk::walk(roots, root, &rest, path)?;
    if found.followed {
        return Err(system_error::not_a_file(path, "behind a symlink, which this command does not follow"));
    }
    let file = found.file.take();
    let name = match &file {
        Some((name, stat, fd)) => {
            refuse_special(stat, fd, path)?;
            let step = found.deepest_folder(path)?;
            permit::may_replace(&step.folder, name, (stat, fd), path)?;
            step.refuse_append_only(path)?;
            permit::write_method(permit::names_of(stat), Publishing::default(), path)?;
            name.clone()
        }
        None => {
            let name = found.missing.pop().ok_or_else(|| system_error::not_a_file(path, "a directory"))?;
            check_creatable(&found, path)?;
            name
        }
    };
    alias::refuse_own_folders(&found, &name, path)?;
    let (location, _) = place(roots, (root, &rest), found, name, path)?;
    if file.is_none() {
        location.check_new_name()?;
    }
    Ok(location)
}

/// Finds the folder that a path names, or that of the file that it names, without any right to its content:
/// the result has no file name, so nothing can be written there.
pub(crate) fn find_folder(roots: &[Root], path: &str) -> Result<FileLocation, Error> {
    spelling::check(path)?;
    let (root, rest) = walk::choose(roots, path)?;
    let found = walk::walk(roots, root, &rest, path)?;
    if !found.missing.is_empty() {
        return Err(Error::new(Code::FileNotFound, format!("{path} does not exist"))
            .naming_target(path)
            .field("path")
            .hint("name an existing file or folder"));
    }
    place(roots, (root, &rest), found, String::new(), path).map(|(location, _)| location)
}

pub(crate) fn refuse_protected(real: &str, path: &str) -> Result<(), Error> {
    access::rule_for(real).map_or(Ok(()), |rule| Err(access::protected(path, rule)))
}

/// The error for a path that ends in `/` like a directory's.
fn closed(path: &str, is_file: bool) -> Error {
    let description = if is_file { "names a file" } else { "names nothing that exists" };
    let error = Error::new(Code::NotAFile, format!("not a file: {path} ends in `/` but {description}"))
        .naming_target(path);
    error.field("path").hint("name the file without the `/` at its end")
}

/// Checks that a file may be replaced, and returns its other names.
fn vet_file(
    roots: &[Root],
    found: &WalkEnd,
    name: &str,
    (stat, fd): (&Stat, &OwnedFd),
    path: &str,
) -> Result<OtherNames, Error> {
    refuse_special_in(roots.get(found.root), stat, fd, path)?;
    let links = alias::refuse_protected_links(roots, found, stat, path, AccessPurpose::Write)?;
    let step = found.deepest_folder(path)?;
    permit::may_replace(&step.folder, name, (stat, fd), path)?;
    step.refuse_append_only(path)?;
    Ok(links)
}

/// Checks a file for reading: allowed under any of its names, unless another one is protected.
fn check_readable(
    roots: &[Root],
    found: &WalkEnd,
    (stat, fd): (&Stat, &OwnedFd),
    path: &str,
) -> Result<(), Error> {
    refuse_special_in(roots.get(found.root), stat, fd, path)?;
    alias::refuse_protected_links(roots, found, stat, path, AccessPurpose::Read).map(drop)
}

fn check_creatable(found: &WalkEnd, path: &str) -> Result<(), Error> {
    let step = found.deepest_folder(path)?;
    // A new folder can be made there, and has no such attribute.
    if found.missing.is_empty() {
        step.refuse_append_only(path)?;
    }
    permit::may_create(&step.folder, path)
}

/// Does the same as [`refuse_special`]; of a regular file in the root's own file system, the root knows that it is
/// stored.
pub(crate) fn refuse_special_in(
    root: Option<&Root>,
    stat: &Stat,
    fd: &OwnedFd,
    path: &str,
) -> Result<(), Error> {
    match root {
        Some(root) if is_regular(stat) && root.stores(Identity::from_stat(stat)) => Ok(()),
        Some(_) | None => refuse_special(stat, fd, path),
    }
}

/// Fails for everything but regular files on file systems that store them.
pub(crate) fn refuse_special(stat: &Stat, fd: &OwnedFd, path: &str) -> Result<(), Error> {
    let description = match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => {
            let made_up = is_made_up(fd).map_err(|errno| system_error::failed("fstatfs", path, errno))?;
            return if made_up {
                Err(system_error::not_a_file(path, "generated by the kernel"))
            } else {
                Ok(())
            };
        }
        FileType::Directory => "a directory",
        FileType::Symlink => "a symlink",
        FileType::Fifo => "a FIFO",
        FileType::Socket => "a socket",
        FileType::CharacterDevice | FileType::BlockDevice => "a device",
        FileType::Unknown => "of an unknown kind",
    };
    Err(system_error::not_a_file(path, description))
}

/// The resolved path, relative to its root.
pub(crate) fn real_path(found: &WalkEnd, name: &str) -> String {
    join(&join(&folder_path(found), &found.missing.join("/")), name)
}

fn folder_path(found: &WalkEnd) -> String {
    found.folders.iter().fold(String::new(), |path, step| join(&path, &step.name))
}

/// Returns the location of a name at the end of a walk, and the deepest existing folder.
fn place(
    roots: &[Root],
    (root, rest): (usize, &str),
    mut found: WalkEnd,
    name: String,
    path: &str,
) -> Result<(FileLocation, Folder), Error> {
    let outside = || system_error::outside(path);
    let in_root = real_path(&found, &name);
    // After a link the text of the path does not determine the folder: `link/..` is the parent of the link's
    // target.
    let plain = if found.followed { None } else { spelling::normal(rest) };
    let below = plain.unwrap_or_else(|| spelling::without_idle_dots(rest));
    let configs = found.folders.iter().map(PathStep::configs).collect();
    let folder = folder_path(&found);
    let last = found.folders.pop().ok_or_else(outside)?;
    let shown = named(roots, root, &below).ok_or_else(outside)?;
    let resolved = match found.followed {
        true => Some(named(roots, found.root, &in_root).ok_or_else(outside)?),
        false => None,
    };
    let location = FileLocation {
        root: found.root,
        folder,
        identity: last.identity,
        missing: found.missing,
        name,
        shown,
        resolved,
        in_root,
        admitted: None,
        names: Vec::new(),
        runnable: None,
        occasion: None,
        configs,
    };
    Ok((location, last.folder))
}
