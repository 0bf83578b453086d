//! Finds protected files under other names, by the identity of the file and its folders.
//!
//! A symlink `.git` makes its target the git folder; a hard link gives a secret any name. The search covers the marked
//! names and the symlinks with protected names in the folders above a file, and the symlinks in the marked folders there.
//! A link of a protected name in a folder that is not above its target is not found; the policy does not follow such a
//! link.
//!
//! Invariant: names are compared by device and inode; a search that could not be finished is an error.

use super::access::{AccessPurpose, AccessRules, GIT_FOLDER, PROTECTED, RUNNABLE};
use super::file_location::join;
use super::folder_names::{FolderNames, NameLookup};
use super::project::link_target;
use super::root::Root;
use super::walk::{PathStep, WalkEnd};
use super::{access, spelling};
use crate::disk::folder::{Folder, Identity};
use crate::disk::names::{Coverage, VisitStep};
use crate::disk::{names, permit};
use crate::state;
use crate::system_error::failed;
use lockgate_error::Error;
use lockgate_text::fold;
use rustix::fs::{FileType, Stat};
use rustix::io::Errno;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// The name of the rule that protects lockgate's own folders, for messages.
const OWN_FOLDERS: &str = "lockgate's own folders";

/// A search for links to a path in the folders above it.
pub(crate) struct LinkSearch<'a> {
    folders: &'a [PathStep],
    ancestors: Vec<(Identity, String)>,
    dangling: Option<DanglingLinks>,
    /// The path as the caller named it.
    shown: &'a str,
}

impl<'a> LinkSearch<'a> {
    /// A search for links to the file of this name, which has this identity if it exists.
    pub(crate) fn new(
        roots: &[Root],
        found: &'a WalkEnd,
        name: &str,
        file: Option<Identity>,
        shown: &'a str,
    ) -> LinkSearch<'a> {
        LinkSearch {
            folders: &found.folders,
            ancestors: ancestors(found, name, file),
            dangling: DanglingLinks::to(roots, found, name),
            shown,
        }
    }

    /// Fails for a path that a link of a protected name leads to, or a git folder under another name.
    pub(crate) fn refuse_aliases(&self) -> Result<(), Error> {
        for (at, step) in self.folders.iter().enumerate() {
            let names = step.names().map_err(|errno| self.unread(errno))?;
            if (names.may_have("HEAD") || names.may_have("commondir")) && is_git_folder(&step.folder) {
                return Err(access::protected(self.shown, GIT_FOLDER));
            }
            let paths = names.protected(|names| marked_paths(&step.folder, names, &PROTECTED));
            let links = links_at(&step.folder, paths.map_err(|errno| self.unread(errno))?);
            if let Some(rule) = self.rule_of(links, at, &PROTECTED) {
                return Err(access::protected(self.shown, rule));
            }
        }
        Ok(())
    }

    /// Returns the rule by which a link of a runnable name, or one in a runnable folder, leads to the path.
    ///
    /// Errors: the links could not be read.
    pub(crate) fn runnable(&self) -> Result<Option<&'static str>, Error> {
        for (at, step) in self.folders.iter().enumerate() {
            let links = step.names().and_then(|names| marked(&step.folder, names, &RUNNABLE));
            let links = links.map_err(|errno| self.unread(errno))?;
            if let Some(rule) = self.rule_of(links, at, &RUNNABLE) {
                return Ok(Some(rule));
            }
        }
        Ok(None)
    }

    /// Returns the rule that covers the path by the name of one of these links in a folder, the one with that index.
    fn rule_of(&self, links: Vec<MarkedLink>, at: usize, rules: &AccessRules) -> Option<&'static str> {
        links.into_iter().find_map(|MarkedLink { target, path: link }| {
            let below = match target {
                Some(target) => self.ancestors.iter().find(|(identity, _)| *identity == target)?.1.clone(),
                None => self.dangling.as_ref()?.rest_after(at, &link)?,
            };
            rules.find(&join(&link, &below))
        })
    }

    fn unread(&self, errno: Errno) -> Error {
        failed("looking for links to it", self.shown, errno)
    }
}

/// A name that a rule covers, or a link in a folder of such a name.
struct MarkedLink {
    /// What the name leads to; `None` for a link whose target does not exist.
    target: Option<Identity>,
    /// The path that leads there.
    path: String,
}

/// The path of a new file, to be compared with the targets of dangling links: writing the file creates such a target.
struct DanglingLinks {
    /// The real path of each folder above the file, from the root down.
    folders: Vec<PathBuf>,
    /// The real path of the file, folded.
    file: String,
}

impl DanglingLinks {
    fn to(roots: &[Root], found: &WalkEnd, name: &str) -> Option<DanglingLinks> {
        let (folders, file) = found.real_paths(roots, name)?;
        Some(DanglingLinks { folders, file: fold(&file.to_string_lossy()) })
    }

    /// The rest of the file's path after the target of a link in the folder with that index.
    fn rest_after(&self, at: usize, link: &str) -> Option<String> {
        let target = link_target(&self.folders.get(at)?.join(link))?;
        let rest = self.file.strip_prefix(&fold(&target.to_string_lossy()))?;
        if rest.is_empty() { Some(String::new()) } else { rest.strip_prefix('/').map(str::to_owned) }
    }
}

/// Fails for a path that leads into one of lockgate's own folders, whether that exists or not.
pub(crate) fn refuse_own_folders(found: &WalkEnd, name: &str, path: &str) -> Result<(), Error> {
    let ancestors = ancestors(found, name, None);
    let leads_into = |(own, missing): (Identity, String)| {
        ancestors.iter().any(|(folder, below)| *folder == own && spelling::begins_with(below, &missing))
    };
    if state::own_locations().any(leads_into) { Err(access::protected(path, OWN_FOLDERS)) } else { Ok(()) }
}

/// Returns the targets of the protected names of a folder, and of the symlinks in its marked folders, each with the path
/// that leads to it.
pub(crate) fn marks(folder: &Folder) -> rustix::io::Result<Vec<(Identity, String)>> {
    let names = FolderNames::read(folder, NameLookup::Unknown)?;
    let links = marked(folder, &names, &PROTECTED)?;
    Ok(links.into_iter().filter_map(|link| Some((link.target?, link.path))).collect())
}

/// Returns the targets of the [`marked_paths`], each with its path.
fn marked(folder: &Folder, listed: &FolderNames, rules: &AccessRules) -> rustix::io::Result<Vec<MarkedLink>> {
    marked_paths(folder, listed, rules).map(|paths| links_at(folder, &paths))
}

/// Returns the paths of the names of these rules in a folder, of its symlinks with a name that a rule covers, and of the
/// symlinks in the folders of the rules.
fn marked_paths(
    folder: &Folder,
    listed: &FolderNames,
    rules: &AccessRules,
) -> rustix::io::Result<Vec<String>> {
    let may_exist = |name: &&&str| listed.may_have_looked_up(name);
    let mut linked = links_in_folders(folder, rules.folders.iter().filter(may_exist))?;
    // Such as `.env.local`, `tls.key` or `app.code-workspace`.
    linked.extend(listed.links().filter(|name| rules.find(name).is_some()).map(str::to_owned));
    // A link in place of a folder, such as `.github`, covers what is below it.
    let names = rules.names.iter().filter(may_exist).flat_map(|name| {
        let ends = name.match_indices('/').map(|(end, _)| end).chain([name.len()]);
        ends.filter_map(|end| name.get(..end).map(str::to_owned))
    });
    let names: BTreeSet<String> = names.chain(linked).collect();
    Ok(names.into_iter().collect())
}

/// Returns the current targets of these paths in a folder.
fn links_at(folder: &Folder, paths: &[String]) -> Vec<MarkedLink> {
    let links = paths.iter().filter_map(|path| match folder.stat_target(path) {
        Ok(stat) => Some(MarkedLink { target: Some(Identity::from_stat(&stat)), path: path.clone() }),
        Err(_) if is_link(folder, path) => Some(MarkedLink { target: None, path: path.clone() }),
        Err(_) => None,
    });
    links.collect()
}

/// True if a path in a folder is a link.
fn is_link(folder: &Folder, path: &str) -> bool {
    folder.stat(path).is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Symlink)
}

/// True if a folder with an entry of this name can have [`marks`].
pub(crate) fn is_marked(name: &str) -> bool {
    !access::is_plain(name)
        && (access::rule_for(name).is_some()
            || PROTECTED
                .names
                .iter()
                .any(|path| path.split('/').next().is_some_and(|first| fold(first) == fold(name))))
}

/// The paths of all symlinks in these folders of a folder.
fn links_in_folders<'n>(
    folder: &Folder,
    folders: impl Iterator<Item = &'n &'n str>,
) -> rustix::io::Result<Vec<String>> {
    let mut links = Vec::new();
    for path in folders {
        let listed = folder.descend(path).and_then(|inner| {
            inner.each(|_, kind, name| {
                if matches!(kind, FileType::Symlink | FileType::Unknown) {
                    links.push(join(path, name));
                }
                Ok(())
            })
        });
        match listed {
            // A marked name that is itself a link, or a file, is handled as such.
            Ok(()) | Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(links)
}

/// The identity of every folder of the path, and of the file, each with the rest of the path.
fn ancestors(found: &WalkEnd, name: &str, file: Option<Identity>) -> Vec<(Identity, String)> {
    let mut below = join(&found.missing.join("/"), name);
    let mut pairs = Vec::new();
    pairs.extend(file.map(|file| (file, String::new())));
    for PathStep { name, identity, .. } in found.folders.iter().rev() {
        pairs.push((*identity, below.clone()));
        below = join(name, &below);
    }
    pairs
}

/// Returns true if git takes a folder for a git folder, whatever its name.
///
/// Git requires `HEAD`, and searchable `objects` and `refs`, which may even be executable files; with a
/// `commondir`, the last two lie elsewhere. An invalid `HEAD` counts too, because the next write could change
/// it.
pub(crate) fn is_git_folder(folder: &Folder) -> bool {
    let holds = |name| folder.stat(name).is_ok();
    holds("HEAD") && (holds("commondir") || (holds("objects") && holds("refs")))
}

/// Returns the other names of a file. A name outside of all roots is not considered.
///
/// Fails if one of them is protected, with its rule, and if too many entries would have to be read to know. A write also
/// fails if some names may lie in folders that cannot be read, because one of them may be protected; so all are known.
pub(crate) fn refuse_protected_links(
    roots: &[Root],
    found: &WalkEnd,
    stat: &Stat,
    path: &str,
    purpose: AccessPurpose,
) -> Result<OtherNames, Error> {
    let Some(search) = NameSearch::of_names(roots, found, stat) else { return Ok(OtherNames::default()) };
    if let Some(rule) = search.rule {
        return Err(access::protected(path, rule));
    }
    let is_complete = match search.coverage {
        Coverage::All => true,
        Coverage::Blind => purpose != AccessPurpose::Write || search.names == 0,
        Coverage::TooLittle => false,
    };
    if !is_complete {
        return Err(permit::hard_linked(path, permit::names_of(stat)));
    }
    Ok(OtherNames { names: search.known, runnable: search.runnable })
}

/// The other names of a file.
#[derive(Debug, Default)]
pub(crate) struct OtherNames {
    /// All names of a hard-linked file in its root.
    pub names: Vec<String>,
    /// The rule by which a name in any root starts a program.
    pub runnable: Option<&'static str>,
}

/// A search for the names of one file in the roots; it ends when all are found, at a protected one, or at the limit.
struct NameSearch {
    wanted: Identity,
    names: usize,
    /// The paths found so far, relative to the root of the file.
    known: Vec<String>,
    rule: Option<&'static str>,
    /// The rule by which one of them starts a program.
    runnable: Option<&'static str>,
    coverage: Coverage,
}

impl NameSearch {
    /// Walks the root of a file, and then the others, for its names; `None` if the file has only one.
    fn of_names(roots: &[Root], found: &WalkEnd, stat: &Stat) -> Option<NameSearch> {
        let names = permit::names_of(stat);
        let identity = Identity::from_stat(stat);
        let mut search = NameSearch {
            wanted: identity,
            names,
            known: Vec::new(),
            rule: None,
            runnable: None,
            coverage: Coverage::All,
        };
        let top = found.folders.first().filter(|_| names > 1)?;
        search.known = search.walk_root(&top.folder);
        let mut walked: Vec<&Root> = roots.get(found.root).into_iter().collect();
        let mut other_roots: Vec<&Root> = roots.iter().collect();
        other_roots.sort_by_key(|root| root.real().components().count());
        for root in other_roots {
            // A name counts once, also if two roots have it.
            if walked.iter().any(|other| root.real().starts_with(other.real())) {
                continue;
            }
            if walked.iter().any(|inner| inner.real().starts_with(root.real())) {
                search.names = names;
            }
            if search.is_over() {
                break;
            }
            walked.push(root);
            match root.top() {
                Ok(top) => drop(search.walk_root(&top)),
                Err(_) => search.coverage = Coverage::TooLittle,
            }
        }
        Some(search)
    }

    /// Walks a root until all names were found, a rule matched, or the limit was reached; returns the paths.
    fn walk_root(&mut self, top: &Folder) -> Vec<String> {
        let mut known = Vec::new();
        let coverage = names::walk(top, (), |(), name| {
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
        self.coverage = self.coverage.max(coverage);
        known
    }

    fn is_over(&self) -> bool {
        self.coverage == Coverage::TooLittle || self.names == 0 || self.rule.is_some()
    }
}
