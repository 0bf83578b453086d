//! Resolves a path to a folder and a name, one component at a time.
//!
//! Symlinks are followed by this code, so that one with an absolute target inside a root works as well, and
//! so that missing folders are distinguished from dangling links.
//!
//! Invariant: every step opens one component in a folder that was reached the same way from a root; a walk
//! that leaves the roots is an error.

use super::file_location::join;
use super::folder_names::{FolderConfigs, FolderNames, NameLookup, SharedNames};
use super::listed_folders::ListedFolders;
use super::project::MAX_LINKS;
use super::root::Root;
use super::spelling;
use crate::disk::folder::{Folder, FolderState, Identity};
use crate::disk::permit;
use crate::system_error::{self, failed};
use lockgate_error::{Code, Error};
use rustix::fs::{FileType, Stat};
use rustix::io::Errno;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The result of resolving a path.
pub(crate) struct WalkEnd {
    pub root: usize,
    /// The folders from the root down, each with its name and identity.
    pub folders: Vec<PathStep>,
    /// The names after the last existing folder; the last of them is the file's, unless `file` is set.
    pub missing: Vec<String>,
    /// The existing file, with a descriptor that gives no access to its content.
    pub file: Option<(String, Stat, OwnedFd)>,
    /// Set when a symlink was followed.
    pub followed: bool,
}

impl WalkEnd {
    /// The deepest existing folder of the path.
    pub fn deepest_folder(&self, shown: &str) -> Result<&PathStep, Error> {
        self.folders.last().ok_or_else(|| system_error::outside(shown))
    }

    /// Returns the real path of each folder, from the root down, and that of a file of this name in the last one; `None`
    /// without the root.
    pub fn real_paths(&self, roots: &[Root], name: &str) -> Option<(Vec<PathBuf>, PathBuf)> {
        let mut folder = roots.get(self.root)?.real().to_owned();
        let mut folders = Vec::new();
        for step in &self.folders {
            folder.push(&step.name);
            folders.push(folder.clone());
        }
        Some((folders, self.missing.iter().fold(folder, |path, missing| path.join(missing)).join(name)))
    }
}

/// A folder of the path.
pub(crate) struct PathStep {
    pub name: String,
    pub folder: Folder,
    pub identity: Identity,
    is_append_only: bool,
    lookup: NameLookup,
    names: Arc<SharedNames>,
}

impl PathStep {
    fn new(name: String, folder: Folder, state: FolderState, root: &Root) -> PathStep {
        let FolderState { identity, is_append_only } = state;
        let lookup = root.name_lookup(identity);
        PathStep { name, folder, identity, is_append_only, lookup, names: Arc::default() }
    }

    /// Takes the names from a listing for other paths of the same call, or gives them its own.
    pub fn share_names(&mut self, listed: &ListedFolders) {
        self.names = listed.names_of(&self.folder, self.identity);
    }

    /// Fails if no name in the folder can be changed: then a staged copy could not even be removed.
    pub fn refuse_append_only(&self, path: &str) -> Result<(), Error> {
        if self.is_append_only { Err(permit::append_only(path, "is in a folder that is")) } else { Ok(()) }
    }

    /// The names in the folder that rules and settings concern; it is listed once.
    pub fn names(&self) -> Result<&FolderNames, Errno> {
        let names = self.names.get_or_init(|| FolderNames::read(&self.folder, self.lookup));
        names.as_ref().map_err(|errno| *errno)
    }

    /// The configuration files that the folder may have.
    pub fn configs(&self) -> FolderConfigs {
        self.names().map_or(FolderConfigs::UNKNOWN, FolderConfigs::listed)
    }
}

/// Returns the root that a path names, and the rest of the path; a relative path starts at the base of the
/// first root.
pub(crate) fn choose(roots: &[Root], path: &str) -> Result<(usize, String), Error> {
    if !path.starts_with('/') {
        let base = roots.first().map_or("", Root::base);
        return Ok((0, join(base, path)));
    }
    let candidates = roots.iter().enumerate().rev().filter_map(|(index, root)| {
        root.rest_of(Path::new(path)).map(|(length, rest)| (length, index, rest))
    });
    let (_, index, rest) = candidates
        .max_by_key(|(length, _, _)| *length)
        .ok_or_else(|| system_error::begins_with_no_root(path))?;
    let rest = rest.into_os_string().into_string().map_err(|_| system_error::outside(path))?;
    Ok((index, rest))
}

/// Returns the rest of a path below this root, even if the path also lies in a root below it.
pub(crate) fn rest_in_root(roots: &[Root], root: usize, path: &str) -> Result<String, Error> {
    let chosen = choose(roots, path)?;
    if chosen.0 == root {
        return Ok(chosen.1);
    }
    let rest = roots.get(root).and_then(|root| root.rest_of(Path::new(path)));
    let (_, rest) = rest.ok_or_else(|| system_error::outside(path))?;
    rest.into_os_string().into_string().map_err(|_| system_error::outside(path))
}

/// Follows `path`, relative to the root of that index.
pub(crate) fn walk(roots: &[Root], root: usize, path: &str, shown: &str) -> Result<WalkEnd, Error> {
    let mut walk = PathWalk {
        roots,
        shown,
        todo: Vec::new(),
        links: Vec::new(),
        followed: Vec::new(),
        found: start(roots, root, shown)?,
    };
    walk.push(path);
    while let Some(name) = walk.todo.pop() {
        walk.step(name)?;
    }
    let mut found = walk.found;
    found.followed = !walk.followed.is_empty();
    Ok(found)
}

fn start(roots: &[Root], root: usize, shown: &str) -> Result<WalkEnd, Error> {
    let start_root = roots.get(root).ok_or_else(|| system_error::outside(shown))?;
    let state = start_root.state()?;
    let folder =
        start_root.top().map_err(|error| system_error::failed_io("opening the root", shown, &error))?;
    let top = PathStep::new(String::new(), folder, state, start_root);
    Ok(WalkEnd { root, folders: vec![top], missing: Vec::new(), file: None, followed: false })
}

struct PathWalk<'a> {
    roots: &'a [Root],
    shown: &'a str,
    /// The remaining names, the next one last.
    todo: Vec<String>,
    /// For each link that is being followed: the number of names that remained at the link, and its name.
    links: Vec<(usize, String)>,
    /// The symlinks that were followed.
    followed: Vec<Identity>,
    found: WalkEnd,
}

impl PathWalk<'_> {
    fn push(&mut self, path: &str) {
        self.todo.extend(spelling::names(path).rev().map(str::to_owned));
    }

    fn step(&mut self, name: String) -> Result<(), Error> {
        let remaining = self.todo.len();
        self.links.retain(|(before, _)| remaining >= *before);
        if self.found.file.is_some() {
            return Err(system_error::not_a_file(self.shown, "below something that is not a folder"));
        }
        if name == ".." {
            return self.climb();
        }
        if !self.found.missing.is_empty() {
            self.found.missing.push(name);
            return Ok(());
        }
        self.enter(name)
    }

    fn climb(&mut self) -> Result<(), Error> {
        if self.found.missing.pop().is_none() {
            self.found.folders.pop();
        }
        if self.found.folders.is_empty() { Err(system_error::outside(self.shown)) } else { Ok(()) }
    }

    fn enter(&mut self, name: String) -> Result<(), Error> {
        let folder = &self.found.deepest_folder(self.shown)?.folder;
        // A name with others after it is nearly always a folder, which is then listed through the same descriptor.
        if !self.todo.is_empty()
            && let Ok(folder) = folder.enter_to_read(&name)
        {
            return self.push_folder(name, folder);
        }
        let fd = match folder.touch(&name) {
            Ok(fd) => fd,
            Err(Errno::NOENT) => return self.not_there(name),
            Err(errno) => return Err(failed("opening", self.shown, errno)),
        };
        let stat = rustix::fs::fstat(&fd).map_err(|errno| failed("fstat", self.shown, errno))?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Symlink => self.follow(name, &fd, Identity::from_stat(&stat)),
            FileType::Directory => self.push_folder(name, Folder::new(fd)),
            // Of rustix's file types these two alone have entries or a target.
            _ => {
                self.found.file = Some((name, stat, fd));
                Ok(())
            }
        }
    }

    fn push_folder(&mut self, name: String, folder: Folder) -> Result<(), Error> {
        let root = self.roots.get(self.found.root).ok_or_else(|| system_error::outside(self.shown))?;
        let state = folder.state().map_err(|errno| failed("fstat", self.shown, errno))?;
        self.found.folders.push(PathStep::new(name, folder, state, root));
        Ok(())
    }

    fn not_there(&mut self, name: String) -> Result<(), Error> {
        if let Some((_, link)) = self.links.last() {
            let message =
                format!("{} leads through the symlink {link}, whose target does not exist", self.shown);
            let hint = "name the file itself, or ask a person to fix the link";
            return Err(Error::new(Code::FileNotFound, message).naming_target(self.shown).hint(hint));
        }
        self.found.missing.push(name);
        Ok(())
    }

    fn follow(&mut self, name: String, link: &OwnedFd, identity: Identity) -> Result<(), Error> {
        if self.followed.len() == MAX_LINKS {
            let is_loop = self.followed.contains(&identity);
            let many = format!("behind more than {MAX_LINKS} symlinks");
            return Err(system_error::not_a_file(
                self.shown,
                if is_loop { "a loop of symlinks" } else { &many },
            ));
        }
        self.followed.push(identity);
        let target = rustix::fs::readlinkat(link, "", Vec::new())
            .map_err(|errno| failed("readlink", self.shown, errno))?;
        let target = target
            .into_string()
            .map_err(|_| system_error::not_a_file(self.shown, "a symlink to a name that is not UTF-8"))?;
        self.links.push((self.todo.len(), name));
        if !target.starts_with('/') {
            self.push(&target);
            return Ok(());
        }
        let (root, rest) = choose(self.roots, &target).map_err(|_| system_error::outside(self.shown))?;
        self.found = start(self.roots, root, self.shown)?;
        self.push(&rest);
        Ok(())
    }
}
