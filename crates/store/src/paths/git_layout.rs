//! Rejects writes of one call that would turn plain files into a git folder.
//!
//! Git takes a folder of any name for a git folder if it has the right names in it, and then obeys its
//! `config` and its hooks: `git status` in the folder, or below it, can run a command. So the check covers
//! the state after all writes of a call. A write is rejected that gives a folder the last of these names, and
//! so is a `config` with settings that run something if the folder has one of the names already.
//!
//! Git itself (`is_git_directory` in its setup.c) requires a valid `HEAD`, and searchable `objects` and
//! `refs`, in the folder or where its `commondir` points. Here the names are enough, in any case and
//! spelling: contents and rights can change later, and a file system may fold names.
//!
//! With a `commondir`, `objects`, `refs`, `config` and the hooks lie in the folder that it names. So a write
//! is rejected as well that adds the last part of such a folder, or its settings or hooks ([`common`]).
//!
//! Invariant: the same check runs before anything is staged and after everything is applied, so that of two
//! calls that each add a part at least one is rejected.

mod common;

use self::common::{CommonFolders, MAX_ENTRIES, SearchError};
use super::access;
use super::file_location::{FileLocation, join, split};
use super::root::Root;
use super::spelling::folded_name;
use crate::disk::folder::Folder;
use crate::system_error;
use lockgate_error::{Code, Error};
use lockgate_text::WordList;
use rustix::io::Errno;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// The rule that the errors name.
const RULE: &str = access::GIT_FOLDER;

/// Keys of git's configuration that run a command or choose a program, and have no other meaning; in lower
/// case.
static KEYS: WordList = WordList::new(
    "
    alternaterefscommand askpass difffilter fsmonitor gitproxy hookspath insteadof packobjectshook
    pushinsteadof recentobjectshook sshcommand templatedir textconv worktreeconfig
    ",
);

/// Sections of git's configuration that run a command or include another file, each with the keys that do so;
/// any key if none is listed. In lower case.
const SECTIONS: &[(&str, &[&str])] = &[
    ("alias", &[]),
    ("browser", &[]),
    ("core", &["editor", "pager"]),
    ("credential", &["helper"]),
    ("diff", &["command", "external"]),
    ("difftool", &[]),
    ("filter", &["clean", "process", "smudge"]),
    ("gpg", &["program", "defaultkeycommand"]),
    ("guitool", &[]),
    ("hook", &["command"]),
    ("imap", &["tunnel"]),
    ("include", &["path"]),
    ("includeif", &["path"]),
    ("instaweb", &["httpd"]),
    ("lfs", &["path"]),
    ("man", &[]),
    ("merge", &["driver"]),
    ("mergetool", &[]),
    ("pager", &[]),
    ("protocol", &["allow"]),
    ("remote", &["vcs", "uploadpack", "receivepack"]),
    ("sendemail", &[]),
    ("sequence", &["editor"]),
    ("submodule", &["update"]),
    ("tar", &["command"]),
    ("trailer", &["cmd", "command"]),
];

/// A file that a call is about to write.
#[derive(Debug, Clone, Copy)]
pub struct PlannedFile<'a> {
    /// The admitted path of the file.
    pub place: &'a FileLocation,
    /// The text to be written; absent if the file is to be removed.
    pub after: Option<&'a [u8]>,
}

/// The names of a folder by which git recognises a git folder.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct LayoutNames {
    head: bool,
    objects: bool,
    refs: bool,
    commondir: bool,
}

impl LayoutNames {
    /// Records a name, in any spelling.
    fn note(&mut self, name: &str) {
        match folded_name(name).as_str() {
            "head" => self.head = true,
            "objects" => self.objects = true,
            "refs" => self.refs = true,
            "commondir" => self.commondir = true,
            _ => {}
        }
    }

    fn is_empty(self) -> bool {
        self == LayoutNames::default()
    }

    /// Returns true if git could take a folder with these names for a git folder.
    fn make_git_folder(self) -> bool {
        self.head && (self.commondir || (self.objects && self.refs))
    }

    /// Returns true if the folder has the names that git needs in the target of a `commondir`.
    fn make_common_folder(self) -> bool {
        self.objects && self.refs
    }
}

/// Fails for writes that would turn a folder into a git folder; returns the index of the write at fault.
///
/// Folders are read only if a path has one of the names in it. Removals are ignored: a file that the same
/// call removes counts as present.
pub(crate) fn refuse(roots: &[Root], writes: &[PlannedFile<'_>]) -> Result<(), Box<(usize, Error)>> {
    let common = CommonFolders::new(roots);
    for (at, PlannedFile { place, after }) in writes.iter().enumerate() {
        let Some(after) = after else { continue };
        for (parent, name) in parents(&place.in_root) {
            let is_last = join(parent, name) == place.in_root;
            let is_config = is_last && matches!(folded_name(name).as_str(), "config" | "config.worktree");
            let is_hook = !is_last && folded_name(name) == "hooks";
            let mut own = LayoutNames::default();
            own.note(name);
            if own.is_empty() && !is_config && !is_hook {
                continue;
            }
            let failed = |error| Box::new((at, error));
            let shown = if parent.is_empty() { "the root" } else { parent };
            let names = names_after(roots, writes, place, parent).map_err(failed)?;
            if names.make_git_folder() || (is_config && !names.is_empty() && runs(after)) {
                return Err(failed(layout_error(place, shown)));
            }
            if names.make_common_folder()
                && let Some(root) = roots.get(place.root)
                && let Some(by) = common
                    .named_by(&root.real().join(parent))
                    .map_err(|error| failed(unfinished(place, shown, error)))?
            {
                return Err(failed(git_folder_error(place, shown, by)));
            }
        }
    }
    Ok(())
}

/// Returns true if a file of this path in a root would give a folder the last of the names that git looks
/// for.
///
/// Errors: `OVERFLOW` if the roots have too many entries to know.
pub(crate) fn completes(root: &Root, path: &str) -> rustix::io::Result<bool> {
    let top = root.top().map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
    let common = CommonFolders::new(std::slice::from_ref(root));
    for (parent, name) in parents(path) {
        let mut names = LayoutNames::default();
        names.note(name);
        if names.is_empty() {
            continue;
        }
        list(&top, parent, &mut names)?;
        let folder = root.real().join(parent);
        let is_named = || match common.named_by(&folder) {
            Ok(by) => Ok(by.is_some()),
            Err(SearchError::TooManyEntries) => Err(Errno::OVERFLOW),
            Err(SearchError::System(errno)) => Err(errno),
        };
        if names.make_git_folder() || (names.make_common_folder() && is_named()?) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns true if git takes a folder for a git folder, by its names alone.
pub(crate) fn is_git_folder(folder: &Folder) -> rustix::io::Result<bool> {
    let mut names = LayoutNames::default();
    list(folder, "", &mut names)?;
    Ok(names.make_git_folder())
}

/// Returns true for the names without which no folder is a git folder: one of them is always required.
pub(crate) fn is_entry_point(name: &str) -> bool {
    matches!(folded_name(name).as_str(), "head" | "commondir")
}

/// Returns true for the names that git looks for next to a `HEAD`.
pub(crate) fn is_part(name: &str) -> bool {
    matches!(folded_name(name).as_str(), "objects" | "refs")
}

/// Iterates over the folders above a path, each with the next name of the path.
fn parents(path: &str) -> impl Iterator<Item = (&str, &str)> {
    let name_ends = path.match_indices('/').map(|(end, _)| end).chain([path.len()]);
    name_ends.filter_map(|end| path.get(..end).map(split))
}

/// The names that a folder has after the writes.
fn names_after(
    roots: &[Root],
    writes: &[PlannedFile<'_>],
    place: &FileLocation,
    parent: &str,
) -> Result<LayoutNames, Error> {
    let Some(root) = roots.get(place.root) else { return Err(system_error::outside(place.shown())) };
    let mut names = LayoutNames::default();
    let listed = match root.top() {
        Ok(top) => list(&top, parent, &mut names),
        Err(error) => return Err(system_error::failed_io("opening the root", place.shown(), &error)),
    };
    listed.map_err(|errno| system_error::failed("looking for a git folder", place.shown(), errno))?;
    // Roots may be nested, so one folder can have several paths.
    let folder = root.real().join(parent);
    for write in writes.iter().filter(|write| write.after.is_some()) {
        let Some(root) = roots.get(write.place.root) else { continue };
        let path: PathBuf = root.real().join(&write.place.in_root);
        let below = path.strip_prefix(&folder).ok().and_then(|below| below.components().next());
        if let Some(name) = below.and_then(|name| name.as_os_str().to_str()) {
            names.note(name);
        }
    }
    Ok(names)
}

/// Records the names in a folder, as far as it exists.
fn list(top: &Folder, path: &str, names: &mut LayoutNames) -> rustix::io::Result<()> {
    let listed = top.descend(path).and_then(|folder| {
        folder.entries(&mut Vec::new(), |_, _, name| {
            if let Ok(name) = name.to_str() {
                names.note(name);
            }
            Ok(())
        })
    });
    match listed {
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(()),
        // The folder may be searchable but not listable.
        Err(Errno::ACCESS | Errno::PERM) => {
            for name in ["HEAD", "objects", "refs", "commondir"] {
                match top.stat(join(path, name)) {
                    Ok(_) => names.note(name),
                    Err(Errno::NOENT | Errno::NOTDIR) => {}
                    Err(errno) => return Err(errno),
                }
            }
            Ok(())
        }
        listed => listed,
    }
}

/// Returns true for a setting that runs a command or chooses a program, by the names of its section and key in lower case.
pub(super) fn runs_command(section: &str, key: &str) -> bool {
    KEYS.has(key)
        || matches!((section, key), ("interactive", "difffilter") | ("gpg", _) | ("web", "browser"))
        || SECTIONS.iter().any(|(name, keys)| *name == section && (keys.is_empty() || keys.contains(&key)))
}

/// Returns true for a text that may be a git configuration which runs something.
///
/// The check looks for the words of sections and keys, not for settings: git spells both in plain letters, so
/// that neither quoting nor a continued line can hide one.
fn runs(text: &[u8]) -> bool {
    let text = text.to_ascii_lowercase();
    let words: BTreeSet<&[u8]> = text.split(|byte| !byte.is_ascii_alphanumeric()).collect();
    let has = |word: &&str| words.contains(word.as_bytes());
    let opens = |section: &str| {
        text.split(|byte| *byte == b'[').skip(1).any(|rest| {
            let after = rest.strip_prefix(section.as_bytes());
            after.is_some_and(|after| after.first().is_none_or(|byte| !byte.is_ascii_alphanumeric()))
        })
    };
    KEYS.iter().any(|key| has(&key))
        || SECTIONS.iter().any(|(section, keys)| opens(section) && (keys.is_empty() || keys.iter().any(has)))
}

fn layout_error(place: &FileLocation, folder: &str) -> Error {
    let reason = format!(
        "with it git could take {folder} for a git folder, whose settings and hooks run commands; the built-in rule {RULE} \
         protects it"
    );
    let hint = "use other names than HEAD, objects, refs, commondir and config side by side; a person can make a git folder with \
                `git init`";
    protected_error(place, &reason, hint)
}

/// The error for a search for `commondir` files that could not be finished.
fn unfinished(place: &FileLocation, folder: &str, error: SearchError) -> Error {
    match error {
        SearchError::System(errno) => system_error::failed("looking for a git folder", place.shown(), errno),
        SearchError::TooManyEntries => {
            let reason = format!(
                "{folder} has both objects and refs, and could be a part of a git folder; the roots have more than \
                 {MAX_ENTRIES} entries, too many to search them for a commondir file that names it"
            );
            let hint = "use other names than objects and refs side by side, or make lockgate's root a smaller folder";
            protected_error(place, &reason, hint)
        }
    }
}

fn git_folder_error(place: &FileLocation, folder: &str, by: &str) -> Error {
    let reason = format!(
        "{by} makes {folder} a part of a git folder, whose settings and hooks run commands; the built-in rule {RULE} protects it"
    );
    let hint = format!(
        "remove {by} if it is not needed, or use other names than objects, refs, hooks and config side by side"
    );
    protected_error(place, &reason, &hint)
}

fn protected_error(place: &FileLocation, reason: &str, hint: &str) -> Error {
    let path = place.shown();
    let message = format!("{path} may not be written: {reason}");
    Error::new(Code::Protected, message).naming_target(path).field("path").hint(hint)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Files;

    #[test]
    fn a_search_that_was_not_finished_is_refused_with_its_limit() {
        let dir = tempfile::tempdir().unwrap();
        let place = Files::open(&[dir.path().to_owned()]).unwrap().admit("v/refs/x").unwrap();
        let error = unfinished(&place, "v", SearchError::TooManyEntries);
        assert_eq!(error.code, Code::Protected);
        assert!(
            error.message.starts_with("v/refs/x may not be written: v has both objects and refs"),
            "{error}"
        );
        assert!(error.message.contains("more than 1000000 entries"), "{error}");
        assert_eq!(unfinished(&place, "v", SearchError::System(Errno::IO)).code, Code::IoFailed);
    }
}
