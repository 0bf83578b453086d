//! Protected things under other names: what a path's text cannot tell, found by what the file and its folders are.
//!
//! A symlink `.git` makes the folder that it leads to the git folder; a hard link makes any name the name of a secret.
//! Looked at are the marked names and the links of covered names in the folders above a file, and the links in the marked
//! folders there. A link of a protected name in a folder that is not above its target is not looked for; the policy does
//! not obey such a one.
//!
//! Invariant: names are compared by device and inode; a search that could not be finished ends in a refusal.

use super::access::{self, GIT_FOLDER, MARKED_FOLDERS, MARKED_NAMES, RUNNABLE_FOLDERS, RUNNABLE_NAMES};
use super::file_place::join;
use super::folder::{Folder, Identity};
use super::names::{self, Coverage, VisitStep};
use super::permit;
use super::root::Root;
use super::trouble::failed;
use super::walk::{PathStep, WalkEnd};
use crate::error::Error;
use rustix::fs::{FileType, Stat};
use rustix::io::Errno;

/// Refuses a path that a link of a protected name leads to, or a git folder under another name.
pub(super) fn refuse_aliases(found: &WalkEnd, name: &str, path: &str) -> Result<(), Error> {
    let way = way(found, name);
    for PathStep { folder, .. } in &found.folders {
        if is_git_folder(folder) {
            return Err(access::protected(path, GIT_FOLDER));
        }
        let marks = marks(folder).map_err(|errno| failed("looking for links to it", path, errno))?;
        for (target, marked) in marks {
            let reached = way.iter().find(|(identity, _)| *identity == target);
            if let Some(rule) = reached.and_then(|(_, below)| access::rule_for(&join(&marked, below))) {
                return Err(access::protected(path, rule));
            }
        }
    }
    Ok(())
}

/// The rule by which a link of a runnable name, or one in a runnable folder, leads to the path.
///
/// Errors: what keeps the links from being looked at.
pub(super) fn runnable_alias(found: &WalkEnd, name: &str, path: &str) -> Result<Option<&'static str>, Error> {
    let way = way(found, name);
    for PathStep { folder, .. } in &found.folders {
        let marks = marked(folder, RUNNABLE_NAMES, RUNNABLE_FOLDERS, access::runnable_for);
        for (target, marked) in marks.map_err(|errno| failed("looking for links to it", path, errno))? {
            let reached = way.iter().find(|(identity, _)| *identity == target);
            if let Some(rule) = reached.and_then(|(_, below)| access::runnable_for(&join(&marked, below))) {
                return Ok(Some(rule));
            }
        }
    }
    Ok(None)
}

/// Returns what the protected names of a folder lead to, and the symlinks in its marked folders, each with the path that
/// reaches it.
pub(super) fn marks(folder: &Folder) -> rustix::io::Result<Vec<(Identity, String)>> {
    marked(folder, MARKED_NAMES, MARKED_FOLDERS, access::rule_for)
}

/// Returns what these names of a folder and its symlinks with a name that a rule covers lead to, and the symlinks in these
/// of its folders, each with its path.
fn marked(
    folder: &Folder,
    names: &[&str],
    folders: &[&str],
    rule_for: fn(&str) -> Option<&'static str>,
) -> rustix::io::Result<Vec<(Identity, String)>> {
    let mut linked = links_in_folders(folder, folders)?;
    linked.extend(covered_links(folder, rule_for)?);
    let names = names.iter().map(|name| (*name).to_owned()).chain(linked);
    Ok(names.filter_map(|name| Some((Identity::from_stat(&folder.stat_behind(&name).ok()?), name))).collect())
}

/// Returns true if a folder with an entry of this name can have [`marks`].
pub(super) fn is_marked(name: &str) -> bool {
    !access::is_plain(name)
        && (access::rule_for(name).is_some()
            || MARKED_NAMES.iter().any(|marked| marked.split('/').next() == Some(name)))
}

/// Returns the symlinks in a folder whose names a rule covers, such as `.env.local` or `tls.key`. A folder that may be
/// passed but not listed has none that can be found.
fn covered_links(
    folder: &Folder,
    rule_for: fn(&str) -> Option<&'static str>,
) -> rustix::io::Result<Vec<String>> {
    let mut links = Vec::new();
    let listed = folder.each(|_, kind, name| {
        if matches!(kind, FileType::Symlink | FileType::Unknown) && rule_for(name).is_some() {
            links.push(name.to_owned());
        }
        Ok(())
    });
    match listed {
        Ok(()) | Err(Errno::ACCESS) => Ok(links),
        Err(errno) => Err(errno),
    }
}

/// The paths of all symlinks that lie in these folders of a folder.
fn links_in_folders(folder: &Folder, folders: &[&str]) -> rustix::io::Result<Vec<String>> {
    let mut links = Vec::new();
    for marked in folders {
        let mut names = marked.split('/');
        let entered = names.try_fold(None, |above: Option<Folder>, name| {
            above.as_ref().unwrap_or(folder).enter(name).map(Some)
        });
        let listed = entered.and_then(|inner| {
            inner.map_or(Ok(()), |inner| {
                inner.each(|_, kind, name| {
                    if matches!(kind, FileType::Symlink | FileType::Unknown) {
                        links.push(join(marked, name));
                    }
                    Ok(())
                })
            })
        });
        match listed {
            // A marked name that is itself a link, or a file, is looked at as such.
            Ok(()) | Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(links)
}

/// Refuses a file of which another name is protected, with its rule; or may be, where too much would have to be looked
/// at to know.
pub(super) fn refuse_protected_links(
    roots: &[Root],
    found: &WalkEnd,
    stat: &Stat,
    path: &str,
) -> Result<(), Error> {
    match NameSearch::of_names(roots, found, stat) {
        None | Some(NameSearch { rule: None, seen: Coverage::All | Coverage::Blind, .. }) => Ok(()),
        Some(NameSearch { rule: Some(rule), .. }) => Err(access::protected(path, rule)),
        Some(NameSearch { rule: None, seen: Coverage::TooLittle, .. }) => {
            Err(permit::hard_linked(path, permit::names_of(stat)))
        }
    }
}

/// What every folder on the way, and the file, is; with the path from there to the file.
fn way(found: &WalkEnd, name: &str) -> Vec<(Identity, String)> {
    let mut below = join(&found.missing.join("/"), name);
    let mut way = Vec::new();
    if let (Some(step), []) = (found.folders.last(), found.missing.as_slice())
        && let Ok(stat) = step.folder.stat(name)
    {
        way.push((Identity::from_stat(&stat), String::new()));
    }
    for PathStep { name, identity, .. } in found.folders.iter().rev() {
        way.push((*identity, below.clone()));
        below = join(name, &below);
    }
    way
}

/// Returns true if git takes a folder for a git folder, whatever its name.
///
/// Git wants `HEAD`, and `objects` and `refs` that may be entered, which a program file may be as well; where `commondir`
/// stands, the last two lie elsewhere. A `HEAD` that says nothing counts too, as the next write could change it.
pub(super) fn is_git_folder(folder: &Folder) -> bool {
    let holds = |name| folder.stat(name).is_ok();
    holds("HEAD") && (holds("commondir") || (holds("objects") && holds("refs")))
}

/// The same for a file that is to be written, of which all names in the root are given: one of which some names may lie in folders that cannot be looked into is
/// refused, as one of them may be protected. A name outside of all roots is nobody's secret here.
pub(super) fn refuse_hidden_links(
    roots: &[Root],
    found: &WalkEnd,
    stat: &Stat,
    path: &str,
) -> Result<OtherNames, Error> {
    match NameSearch::of_names(roots, found, stat) {
        None => Ok(OtherNames::default()),
        Some(NameSearch { rule: Some(rule), .. }) => Err(access::protected(path, rule)),
        Some(NameSearch { rule: None, seen: Coverage::TooLittle, .. })
        | Some(NameSearch { rule: None, seen: Coverage::Blind, names: 1.., .. }) => {
            Err(permit::hard_linked(path, permit::names_of(stat)))
        }
        Some(NameSearch { rule: None, seen: Coverage::All | Coverage::Blind, known, runnable, .. }) => {
            Ok(OtherNames { names: known, runnable })
        }
    }
}

/// The other names of a file.
#[derive(Debug, Default)]
pub(super) struct OtherNames {
    /// All names of it in its root, where it has several.
    pub names: Vec<String>,
    /// The rule by which a name in any root makes a program start.
    pub runnable: Option<&'static str>,
}

/// The names of one file beneath the roots, as far as they are looked for: until a protected one is found.
struct NameSearch {
    wanted: Identity,
    names: usize,
    /// The paths of those that were seen, relative to the root of the file.
    known: Vec<String>,
    rule: Option<&'static str>,
    /// The rule by which one of them makes a program start.
    runnable: Option<&'static str>,
    seen: Coverage,
}

impl NameSearch {
    /// What walks over the root of a file, and then over the others, find of its names; nothing to look for where it
    /// has but one.
    fn of_names(roots: &[Root], found: &WalkEnd, stat: &Stat) -> Option<NameSearch> {
        let names = permit::names_of(stat);
        let wanted = Identity::from_stat(stat);
        let mut search =
            NameSearch { wanted, names, known: Vec::new(), rule: None, runnable: None, seen: Coverage::All };
        let top = found.folders.first().filter(|_| names > 1)?;
        search.known = search.look(&top.folder);
        let others = roots.iter().enumerate().filter(|(number, _)| *number != found.root);
        for (_, root) in others {
            if search.is_over() {
                break;
            }
            match root.top() {
                Ok(top) => drop(search.look(&top)),
                Err(_) => search.seen = Coverage::TooLittle,
            }
        }
        Some(search)
    }

    /// Looks beneath a root until all names were seen, a rule was found, or enough was looked at; gives the paths.
    fn look(&mut self, top: &Folder) -> Vec<String> {
        let mut known = Vec::new();
        let seen = names::walk(top, (), |(), name| {
            if name.inode == self.wanted.inode && name.identity.device == self.wanted.device {
                self.names = self.names.saturating_sub(1);
                self.rule = access::rule_for(name.path);
                self.runnable = self.runnable.or_else(|| access::runnable_for(name.path));
                known.push(name.path.to_owned());
            }
            match name.kind {
                _ if self.is_over() => VisitStep::End,
                FileType::Directory | FileType::Unknown => VisitStep::Into(()),
                _ => VisitStep::On,
            }
        });
        self.seen = self.seen.max(seen);
        known
    }

    fn is_over(&self) -> bool {
        self.seen == Coverage::TooLittle || self.names == 0 || self.rule.is_some()
    }
}
