//! Finds protected files under other names, by the identity of the file and its folders.
//!
//! A symlink `.git` makes its target the git folder; a hard link gives a secret any name. The search covers the marked
//! names and the symlinks with protected names in the folders above a file, and the symlinks in the marked folders there.
//! A link of a protected name in a folder that is not above its target is not found; the policy does not follow such a
//! link.
//!
//! Invariant: names are compared by device and inode; a search that could not be finished is an error.

use super::access::{GIT_FOLDER, MARKED_FOLDERS, MARKED_NAMES, RUNNABLE_FOLDERS, RUNNABLE_NAMES};
use super::file_location::join;
use super::folder_names::{FolderNames, NameLookup};
use super::root::Root;
use super::walk::{PathStep, WalkEnd};
use super::{access, spelling};
use crate::disk::folder::{Folder, Identity};
use crate::disk::names::{Coverage, VisitStep};
use crate::disk::{names, permit};
use crate::state;
use crate::system_error::failed;
use lockgate_error::Error;
use rustix::fs::{FileType, Stat};
use rustix::io::Errno;

/// The name of the rule that protects lockgate's own folders, for messages.
const OWN_FOLDERS: &str = "lockgate's own folders";

/// Fails for a path that a link of a protected name leads to, or a git folder under another name.
pub(crate) fn refuse_aliases(
    found: &WalkEnd,
    ancestors: &[(Identity, String)],
    path: &str,
) -> Result<(), Error> {
    let unread = |errno| failed("looking for links to it", path, errno);
    for step in &found.folders {
        let names = step.names().map_err(unread)?;
        if (names.may_have("HEAD") || names.may_have("commondir")) && is_git_folder(&step.folder) {
            return Err(access::protected(path, GIT_FOLDER));
        }
        let links =
            marked(&step.folder, names, MARKED_NAMES, MARKED_FOLDERS, access::rule_for).map_err(unread)?;
        for (target, link) in links {
            let ancestor = ancestors.iter().find(|(identity, _)| *identity == target);
            if let Some(rule) = ancestor.and_then(|(_, below)| access::rule_for(&join(&link, below))) {
                return Err(access::protected(path, rule));
            }
        }
    }
    Ok(())
}

/// Fails for a path that leads into one of lockgate's own folders, whether that exists or not.
pub(crate) fn refuse_own_folders(found: &WalkEnd, name: &str, path: &str) -> Result<(), Error> {
    let ancestors = ancestors(found, name, None);
    let leads_into = |(own, missing): (Identity, String)| {
        ancestors.iter().any(|(folder, below)| *folder == own && spelling::begins_with(below, &missing))
    };
    if state::own_locations().any(leads_into) { Err(access::protected(path, OWN_FOLDERS)) } else { Ok(()) }
}

/// Returns the rule by which a link of a runnable name, or one in a runnable folder, leads to the path.
///
/// Errors: the links could not be read.
pub(crate) fn runnable_alias(
    found: &WalkEnd,
    ancestors: &[(Identity, String)],
    path: &str,
) -> Result<Option<&'static str>, Error> {
    let unread = |errno| failed("looking for links to it", path, errno);
    for step in &found.folders {
        let names = step.names().map_err(unread)?;
        let links = marked(&step.folder, names, RUNNABLE_NAMES, RUNNABLE_FOLDERS, access::runnable_for);
        for (target, link) in links.map_err(unread)? {
            let ancestor = ancestors.iter().find(|(identity, _)| *identity == target);
            if let Some(rule) = ancestor.and_then(|(_, below)| access::runnable_for(&join(&link, below))) {
                return Ok(Some(rule));
            }
        }
    }
    Ok(None)
}

/// Returns the targets of the protected names of a folder, and of the symlinks in its marked folders, each with the path
/// that leads to it.
pub(crate) fn marks(folder: &Folder) -> rustix::io::Result<Vec<(Identity, String)>> {
    let names = FolderNames::read(folder, NameLookup::Unknown)?;
    marked(folder, &names, MARKED_NAMES, MARKED_FOLDERS, access::rule_for)
}

/// Returns the targets of these names of a folder, of its symlinks with a name that `rule_for` covers, and of the symlinks
/// in these of its folders, each with its path.
fn marked(
    folder: &Folder,
    listed: &FolderNames,
    names: &[&str],
    folders: &[&str],
    rule_for: fn(&str) -> Option<&'static str>,
) -> rustix::io::Result<Vec<(Identity, String)>> {
    let may_exist = |name: &&&str| listed.may_have(name);
    let mut linked = links_in_folders(folder, folders.iter().filter(may_exist))?;
    // Such as `.env.local`, `tls.key` or `app.code-workspace`.
    linked.extend(listed.links().filter(|name| rule_for(name).is_some()).map(str::to_owned));
    let names = names.iter().filter(may_exist).map(|name| (*name).to_owned()).chain(linked);
    Ok(names.filter_map(|name| Some((Identity::from_stat(&folder.stat_target(&name).ok()?), name))).collect())
}

/// True if a folder with an entry of this name can have [`marks`].
pub(crate) fn is_marked(name: &str) -> bool {
    !access::is_plain(name)
        && (access::rule_for(name).is_some()
            || MARKED_NAMES.iter().any(|path| path.split('/').next() == Some(name)))
}

/// The paths of all symlinks in these folders of a folder.
fn links_in_folders<'n>(
    folder: &Folder,
    folders: impl Iterator<Item = &'n &'n str>,
) -> rustix::io::Result<Vec<String>> {
    let mut links = Vec::new();
    for path in folders {
        let mut names = path.split('/');
        let opened = names.try_fold(None, |above: Option<Folder>, name| {
            above.as_ref().unwrap_or(folder).enter(name).map(Some)
        });
        let listed = opened.and_then(|inner| {
            inner.map_or(Ok(()), |inner| {
                inner.each(|_, kind, name| {
                    if matches!(kind, FileType::Symlink | FileType::Unknown) {
                        links.push(join(path, name));
                    }
                    Ok(())
                })
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

/// Fails for a file of which another name is protected, with its rule; also if too many entries would have to
/// be read to know.
pub(crate) fn refuse_protected_links(
    roots: &[Root],
    found: &WalkEnd,
    stat: &Stat,
    path: &str,
) -> Result<(), Error> {
    match NameSearch::of_names(roots, found, stat) {
        None | Some(NameSearch { rule: None, coverage: Coverage::All | Coverage::Blind, .. }) => Ok(()),
        Some(NameSearch { rule: Some(rule), .. }) => Err(access::protected(path, rule)),
        Some(NameSearch { rule: None, coverage: Coverage::TooLittle, .. }) => {
            Err(permit::hard_linked(path, permit::names_of(stat)))
        }
    }
}

/// The identity of every folder of the path, and of the file, each with the rest of the path.
pub(crate) fn ancestors(found: &WalkEnd, name: &str, file: Option<Identity>) -> Vec<(Identity, String)> {
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

/// Does the same as [`refuse_protected_links`] for a file that is to be written, and returns its names, which must all
/// be known. Fails if some names may lie in folders that cannot be read, because one of them may be protected. A name
/// outside of all roots is not considered.
pub(crate) fn refuse_hidden_links(
    roots: &[Root],
    found: &WalkEnd,
    stat: &Stat,
    path: &str,
) -> Result<OtherNames, Error> {
    match NameSearch::of_names(roots, found, stat) {
        None => Ok(OtherNames::default()),
        Some(NameSearch { rule: Some(rule), .. }) => Err(access::protected(path, rule)),
        Some(NameSearch { rule: None, coverage: Coverage::TooLittle, .. })
        | Some(NameSearch { rule: None, coverage: Coverage::Blind, names: 1.., .. }) => {
            Err(permit::hard_linked(path, permit::names_of(stat)))
        }
        Some(NameSearch {
            rule: None, coverage: Coverage::All | Coverage::Blind, known, runnable, ..
        }) => Ok(OtherNames { names: known, runnable }),
    }
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
        search.known = search.look(&top.folder);
        let other_roots = roots.iter().enumerate().filter(|(number, _)| *number != found.root);
        for (_, root) in other_roots {
            if search.is_over() {
                break;
            }
            match root.top() {
                Ok(top) => drop(search.look(&top)),
                Err(_) => search.coverage = Coverage::TooLittle,
            }
        }
        Some(search)
    }

    /// Walks a root until all names were found, a rule matched, or the limit was reached; returns the paths.
    fn look(&mut self, top: &Folder) -> Vec<String> {
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
