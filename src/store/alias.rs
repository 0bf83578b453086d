//! Protected things under other names: what a path's text cannot tell, found by what the file and its folders are.
//!
//! A symlink `.git` makes the folder that it leads to the git folder; a hard link makes any name the name of a secret.
//!
//! Invariant: names are compared by device and inode; a search that could not be finished ends in a refusal.

use super::access::{self, GIT_FOLDER, Intent, MARKED_NAMES};
use super::folder::{Folder, Identity};
use super::permit;
use super::place::join;
use super::trouble::failed;
use super::walk::{Found, Step};
use crate::error::{Code, Error};
use rustix::fs::{FileType, Stat};
use rustix::io::Errno;

/// Entries that the search for the other names of a file looks at.
const MOST_ENTRIES: usize = 400_000;

/// Refuses a path that a symlink of a protected name, in a folder above it, leads to.
pub(super) fn refuse_aliases(found: &Found, name: &str, path: &str, intent: Intent) -> Result<(), Error> {
    let way = way(found, name);
    for step in &found.folders {
        if intent == Intent::Write && is_git_folder(&step.folder) {
            return Err(access::protected(path, GIT_FOLDER, intent));
        }
        for marked in MARKED_NAMES {
            let Some(target) = target_of(&step.folder, marked) else { continue };
            let Some((_, below)) = way.iter().find(|(identity, _)| *identity == target) else { continue };
            if let Some(rule) = access::rule_for(&join(marked, below), intent) {
                return Err(access::protected(path, rule, intent));
            }
        }
    }
    Ok(())
}

/// Refuses to write a file that has more than one name, and to read one that is a secret's under another name.
pub(super) fn refuse_links(found: &Found, stat: &Stat, path: &str, intent: Intent) -> Result<(), Error> {
    let names = permit::names_of(stat);
    if names < 2 {
        return Ok(());
    }
    let mut search = Search { wanted: Identity::of(stat), intent, left: MOST_ENTRIES, names, rule: None };
    let Some(top) = found.folders.first() else { return Ok(()) };
    match search.look(&top.folder, "", top.identity.device) {
        Ok(()) | Err(Errno::CANCELED) => {}
        Err(errno) => return Err(failed("looking for its other names", path, errno)),
    }
    match (search.rule, intent) {
        (Some(rule), _) => Err(access::protected(path, rule, intent)),
        (None, Intent::Write) => Err(permit::hard_linked(path, names)),
        (None, Intent::Read) if search.left == 0 => Err(unfinished(path, names)),
        (None, Intent::Read) => Ok(()),
    }
}

fn unfinished(path: &str, names: usize) -> Error {
    let seen = format!("{path} has {names} names (hard links), not all of which could be looked at");
    Error::new(Code::PermissionDenied, seen)
}

/// What every folder on the way, and the file, is; with the path from there to the file.
fn way(found: &Found, name: &str) -> Vec<(Identity, String)> {
    let mut below = join(&found.missing.join("/"), name);
    let mut way = Vec::new();
    if let (Some(step), []) = (found.folders.last(), found.missing.as_slice())
        && let Ok(stat) = step.folder.stat(name)
    {
        way.push((Identity::of(&stat), String::new()));
    }
    for Step { name, identity, .. } in found.folders.iter().rev() {
        way.push((*identity, below.clone()));
        below = join(name, &below);
    }
    way
}

fn target_of(folder: &Folder, name: &str) -> Option<Identity> {
    let link =
        folder.stat(name).ok().filter(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Symlink);
    link.and_then(|_| folder.stat_behind(name).ok()).map(|stat| Identity::of(&stat))
}

/// What git itself takes for a git folder, whatever its name.
fn is_git_folder(folder: &Folder) -> bool {
    let holds =
        |name, kind| folder.stat(name).is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == kind);
    folder.stat("HEAD").is_ok() && holds("objects", FileType::Directory) && holds("refs", FileType::Directory)
}

/// A walk over a root for the names of one file.
struct Search {
    wanted: Identity,
    intent: Intent,
    left: usize,
    names: usize,
    rule: Option<&'static str>,
}

impl Search {
    /// Ends early, with CANCELED, when all names were seen, a rule was found, or enough was looked at.
    fn look(&mut self, folder: &Folder, path: &str, device: u64) -> rustix::io::Result<()> {
        if device != self.wanted.device {
            return Ok(());
        }
        let mut below = Vec::new();
        folder.each(|inode, kind, name| {
            self.left = self.left.saturating_sub(1);
            if inode == self.wanted.inode {
                self.names = self.names.saturating_sub(1);
                self.rule = access::rule_for(&join(path, name), self.intent);
            }
            if kind == FileType::Directory || kind == FileType::Unknown {
                below.push(name.to_owned());
            }
            if self.left == 0 || self.names == 0 || self.rule.is_some() {
                Err(Errno::CANCELED)
            } else {
                Ok(())
            }
        })?;
        for name in below {
            match folder.enter(&name).and_then(|folder| Ok((folder.identity()?.device, folder))) {
                Ok((device, folder)) => self.look(&folder, &join(path, &name), device)?,
                Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::ACCESS) => {}
                Err(errno) => return Err(errno),
            }
        }
        Ok(())
    }
}
