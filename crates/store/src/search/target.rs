//! The target of a search: a file, the files below a folder, or the files that match a glob.
//!
//! Invariant: a folder was vetted under its requested spelling and under the path that it resolves to.

use super::dir_state::{DirState, Signs};
use super::glob::{SearchGlob, nothing_at};
use crate::files::Files;
use crate::paths::alias::LinkSearch;
use crate::paths::file_location::{FileLocation, join, split};
use crate::paths::root::Root;
use crate::paths::walk::WalkEnd;
use crate::paths::{admit, alias, spelling, walk};
use crate::system_error;
use lockgate_error::Error;
use std::sync::Arc;

/// The target of a search.
#[derive(Debug)]
pub enum SearchTarget {
    /// One file, even if ignore rules would skip it.
    File(Box<FileLocation>),
    /// The files below some folders.
    Roots(SearchRoots),
}

/// Some folders, with a filter for the files below them.
#[derive(Debug)]
pub struct SearchRoots {
    starts: Vec<WalkFolder>,
    only: Only,
}

/// A folder to walk: the number of its root, its path, and the folder above.
#[derive(Debug, Clone)]
pub(super) struct WalkFolder {
    pub(super) root: usize,
    pub(super) path: String,
    pub(super) above: Option<Arc<DirState>>,
}

#[derive(Debug)]
enum Only {
    All,
    Glob(Box<SearchGlob>),
    /// The files whose path in the root begins with this.
    Prefix(String),
}

impl Files {
    /// Resolves the path of a search: a file, a folder, or, if no such entry exists, a glob relative to a
    /// root; without a path, every root.
    ///
    /// Errors: `FILE_NOT_FOUND`, `PROTECTED`, `NOT_A_FILE`, `BAD_PATTERN` for a glob, and errors of the path
    /// itself.
    pub fn search_target(&self, path: Option<&str>) -> Result<SearchTarget, Error> {
        let Some(path) = path.filter(|path| !path.is_empty()) else {
            return self.everywhere().map(SearchTarget::Roots);
        };
        let (root, rest) = self.split_root(path)?;
        match self.target_kind(root, &rest, path)? {
            TargetKind::File => self.admit_to_read(path).map(|place| SearchTarget::File(Box::new(place))),
            TargetKind::Folder(start) => Ok(SearchTarget::Roots(SearchRoots::all(vec![start]))),
            TargetKind::Nothing if SearchGlob::is_glob(path) => {
                self.globbed(root, &rest, path).map(SearchTarget::Roots)
            }
            TargetKind::Nothing => Err(nothing_at(path)),
        }
    }

    /// Resolves a folder, the beginning of paths, or, if no entry is called so, a glob; an empty path means
    /// every root.
    ///
    /// Errors: `PROTECTED`, `FILE_NOT_FOUND` and `BAD_PATTERN` for a glob, and errors of the path itself.
    pub fn with_prefix(&self, path: &str) -> Result<SearchRoots, Error> {
        if path.is_empty() {
            return self.everywhere();
        }
        let (root, rest) = self.split_root(path)?;
        match self.target_kind(root, &rest, path)? {
            TargetKind::Folder(start) => return Ok(SearchRoots::all(vec![start])),
            TargetKind::Nothing if SearchGlob::is_glob(path) => return self.globbed(root, &rest, path),
            TargetKind::File | TargetKind::Nothing => {}
        }
        let normal = spelling::normal(&rest).ok_or_else(|| system_error::outside(path))?;
        let (folder, name) = split(&normal);
        match self.target_kind(root, folder, path)? {
            TargetKind::Folder(start) => {
                // With a final `/` it can only begin the paths in a folder of that name.
                let end = if rest.ends_with('/') { "/" } else { "" };
                let only = Only::Prefix(join(&start.path, &format!("{name}{end}")));
                Ok(SearchRoots { starts: vec![start], only })
            }
            TargetKind::File | TargetKind::Nothing => Ok(SearchRoots::all(Vec::new())),
        }
    }

    /// The base of the first root, and all other roots.
    fn everywhere(&self) -> Result<SearchRoots, Error> {
        self.roots.iter().try_for_each(Root::check_in_place)?;
        let mut starts: Vec<WalkFolder> =
            (0..self.roots.len()).map(|root| WalkFolder { root, path: String::new(), above: None }).collect();
        if let (false, Some(first)) = (self.base().is_empty(), starts.first_mut())
            && let TargetKind::Folder(base) = self.target_kind(0, self.base(), ".")?
        {
            *first = base;
        }
        Ok(SearchRoots::all(starts))
    }

    /// The root that a path names, and the rest of it.
    fn split_root(&self, path: &str) -> Result<(usize, String), Error> {
        spelling::check(path)?;
        walk::choose(&self.roots, path)
    }

    /// The folder that a glob begins with, and the glob.
    fn globbed(&self, root: usize, rest: &str, path: &str) -> Result<SearchRoots, Error> {
        let names: Vec<&str> = spelling::names(rest).collect();
        let fixed = names.iter().take_while(|name| !SearchGlob::is_glob(name)).count();
        let (folder, open) = names.split_at_checked(fixed).unwrap_or_default();
        let TargetKind::Folder(start) = self.target_kind(root, &folder.join("/"), path)? else {
            return Err(nothing_at(path));
        };
        // As in a .gitignore, a glob without `/` matches in every folder, and one with `/` only at its place.
        let every_folder = if path.contains('/') { "" } else { "**/" };
        let text = format!("{}/{every_folder}{}", SearchGlob::escaped(&start.path), open.join("/"));
        let only = SearchGlob::parse(&text, path)?;
        Ok(SearchRoots { starts: vec![start], only: Only::Glob(Box::new(only)) })
    }

    /// Returns the kind of entry at a path in a root, once it is vetted; `path` is the argument as the caller
    /// gave it.
    fn target_kind(&self, root: usize, rest: &str, path: &str) -> Result<TargetKind, Error> {
        admit::refuse_protected(&spelling::normal(rest).unwrap_or_else(|| rest.to_owned()), path)?;
        let mut found = walk::walk(&self.roots, root, rest, path)?;
        if found.file.is_some() {
            return Ok(TargetKind::File);
        }
        if !found.missing.is_empty() {
            return Ok(TargetKind::Nothing);
        }
        let last = found.folders.pop().ok_or_else(|| system_error::outside(path))?;
        let in_root = admit::real_path(&found, &last.name);
        if !found.folders.is_empty() {
            admit::refuse_protected(&in_root, path)?;
            let file = Some(last.identity);
            LinkSearch::new(&self.roots, &found, &last.name, file, path).refuse_aliases()?;
            alias::refuse_own_folders(&found, &last.name, path)?;
        }
        let root = found.root;
        let above =
            above(&self.roots, found).map_err(|errno| system_error::failed("looking at it", path, errno))?;
        Ok(TargetKind::Folder(WalkFolder { root, path: in_root, above }))
    }
}

/// The kind of entry at a path.
enum TargetKind {
    File,
    Folder(WalkFolder),
    Nothing,
}

/// The states of the folders from the root down to the parent of the one that was found.
fn above(roots: &[Root], found: WalkEnd) -> rustix::io::Result<Option<Arc<DirState>>> {
    let mut above: Option<Arc<DirState>> = None;
    let mut path = String::new();
    for step in found.folders {
        let Some(root) = roots.get(found.root) else { return Ok(above) };
        path = join(&path, &step.name);
        let signs = Signs::unseen(&step.folder);
        let folder = (&step.folder, step.identity);
        above = DirState::enter((found.root, root), above, path.clone(), folder, signs)?.map(Arc::new);
    }
    Ok(above)
}

impl SearchRoots {
    /// All files below these folders.
    fn all(starts: Vec<WalkFolder>) -> SearchRoots {
        SearchRoots { starts, only: Only::All }
    }

    /// Iterates over the folders at which a walk starts: the number of the root, the path, and the folder
    /// above.
    pub(super) fn starts(&self) -> impl Iterator<Item = &WalkFolder> {
        self.starts.iter()
    }

    /// True if a walk starts at this folder.
    pub(super) fn is_start(&self, root: usize, path: &str) -> bool {
        self.starts.iter().any(|start| start.root == root && start.path == path)
    }

    /// True if the filter accepts a file.
    pub(super) fn finds(&self, dir_state: &DirState, name: &str) -> bool {
        match &self.only {
            Only::All => true,
            Only::Glob(glob) => glob.matches(&dir_state.join(name)),
            Only::Prefix(path) => dir_state.join(name).starts_with(path.as_str()),
        }
    }

    /// True if a filter excludes some files below the folders.
    pub fn is_narrowed(&self) -> bool {
        !matches!(self.only, Only::All)
    }
}
