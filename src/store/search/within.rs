//! Where a search looks: a file, what is below a folder, or the files that a glob finds.
//!
//! Invariant: a folder was vetted under its requested spelling and under the path that it resolves to.

use super::glob::{Glob, nothing_at};
use super::station::{Signs, Station};
use crate::error::Error;
use crate::store::file_place::{FilePlace, join};
use crate::store::files::Files;
use crate::store::root::Root;
use crate::store::walk::{self, Found};
use crate::store::{admit, alias, spelling, state, trouble};
use std::sync::Arc;

/// Where a search looks.
#[derive(Debug)]
pub enum Within {
    /// In one file, whatever passes it over.
    File(FilePlace),
    /// In the files below some folders.
    Below(Below),
}

/// Some folders, and which of the files below them are meant.
#[derive(Debug)]
pub struct Below {
    starts: Vec<Start>,
    only: Only,
}

/// A folder that a walk starts at: the number of its root, its path beneath it, and the folder above.
#[derive(Debug)]
struct Start {
    root: usize,
    path: String,
    above: Option<Arc<Station>>,
}

/// Which files are meant.
#[derive(Debug)]
enum Only {
    All,
    Glob(Box<Glob>),
    /// Those whose path in the root begins so.
    Beginning(String),
}

impl Files {
    /// Where a search looks that names this path: a file, a folder, or a glob relative to a root where nothing stands
    /// under that name; below every root without one.
    ///
    /// Errors: `FILE_NOT_FOUND`, `PROTECTED`, `NOT_A_FILE`, `BAD_PATTERN` for a glob, and what a path gives.
    pub fn within(&self, path: Option<&str>) -> Result<Within, Error> {
        let Some(path) = path.filter(|path| !path.is_empty()) else {
            return self.everywhere().map(Within::Below);
        };
        let (root, rest) = self.asked(path)?;
        match self.standing(root, &rest, path)? {
            Standing::File => self.admit_to_read(path).map(Within::File),
            Standing::Folder(start) => Ok(Within::Below(Below { starts: vec![start], only: Only::All })),
            Standing::Nothing if Glob::is_meant_by(path) => {
                self.globbed(root, &rest, path).map(Within::Below)
            }
            Standing::Nothing => Err(nothing_at(path)),
        }
    }

    /// The files in a folder, or those whose paths begin like this; all of every root where nothing is given.
    ///
    /// Errors: `PROTECTED`, and what a path gives.
    pub fn beginning(&self, path: &str) -> Result<Below, Error> {
        if path.is_empty() {
            return self.everywhere();
        }
        let (root, rest) = self.asked(path)?;
        if let Standing::Folder(start) = self.standing(root, &rest, path)? {
            return Ok(Below { starts: vec![start], only: Only::All });
        }
        let normal = spelling::normal(&rest).ok_or_else(|| trouble::outside(path))?;
        let (folder, name) = normal.rsplit_once('/').unwrap_or(("", &normal));
        match self.standing(root, folder, path)? {
            Standing::Folder(start) => {
                let only = Only::Beginning(join(&start.path, name));
                Ok(Below { starts: vec![start], only })
            }
            Standing::File | Standing::Nothing => Ok(Below { starts: Vec::new(), only: Only::All }),
        }
    }

    /// Below the base of the first root, and below all others.
    fn everywhere(&self) -> Result<Below, Error> {
        self.roots.iter().try_for_each(Root::check_in_place)?;
        let mut starts: Vec<Start> =
            (0..self.roots.len()).map(|root| Start { root, path: String::new(), above: None }).collect();
        if let (false, Some(first)) = (self.base().is_empty(), starts.first_mut())
            && let Standing::Folder(base) = self.standing(0, self.base(), ".")?
        {
            *first = base;
        }
        Ok(Below { starts, only: Only::All })
    }

    /// The root that a path names, and the rest of it.
    fn asked(&self, path: &str) -> Result<(usize, String), Error> {
        spelling::check(path)?;
        walk::choose(&self.roots, path)
    }

    /// The folder that a glob begins with, and the glob.
    fn globbed(&self, root: usize, rest: &str, path: &str) -> Result<Below, Error> {
        let names: Vec<&str> = rest.split('/').filter(|name| !matches!(*name, "" | ".")).collect();
        let fixed = names.iter().take_while(|name| !Glob::is_meant_by(name)).count();
        let (folder, open) = names.split_at_checked(fixed).unwrap_or_default();
        let Standing::Folder(start) = self.standing(root, &folder.join("/"), path)? else {
            return Err(nothing_at(path));
        };
        // A glob of one name finds it in every folder, as in a .gitignore.
        let only = Glob::read(&join(&Glob::escaped(&start.path), &open.join("/")), path)?;
        Ok(Below { starts: vec![start], only: Only::Glob(Box::new(only)) })
    }

    /// What stands at a path beneath a root, once it is known that it may be looked at; `path` is how it was named.
    fn standing(&self, root: usize, rest: &str, path: &str) -> Result<Standing, Error> {
        admit::refuse_protected(&spelling::normal(rest).unwrap_or_else(|| rest.to_owned()), path)?;
        let mut found = walk::walk(&self.roots, root, rest, path)?;
        if found.file.is_some() {
            return Ok(Standing::File);
        }
        if !found.missing.is_empty() {
            return Ok(Standing::Nothing);
        }
        let last = found.folders.pop().ok_or_else(|| trouble::outside(path))?;
        let in_root = admit::real_path(&found, &last.name);
        if !found.folders.is_empty() {
            admit::refuse_protected(&in_root, path)?;
            alias::refuse_aliases(&found, &last.name, path)?;
            state::refuse_reached(&found, &last.name, path)?;
        }
        let root = found.root;
        let above =
            above(&self.roots, found).map_err(|errno| trouble::failed("looking at it", path, errno))?;
        Ok(Standing::Folder(Start { root, path: in_root, above }))
    }
}

/// What stands at a path.
enum Standing {
    File,
    Folder(Start),
    Nothing,
}

/// The stations from the root down to the folder above the one that was found.
fn above(roots: &[Root], found: Found) -> rustix::io::Result<Option<Arc<Station>>> {
    let mut above: Option<Arc<Station>> = None;
    let mut path = String::new();
    for step in found.folders {
        let Some(root) = roots.get(found.root) else { return Ok(above) };
        path = join(&path, &step.name);
        let signs = Signs::unseen(&step.folder);
        let folder = (&step.folder, step.identity);
        above = Station::enter((found.root, root), above, path.clone(), folder, signs)?.map(Arc::new);
    }
    Ok(above)
}

impl Below {
    /// The folders that a walk starts at: the number of the root, the path, and the folder above.
    pub(super) fn starts(&self) -> impl Iterator<Item = (usize, String, Option<Arc<Station>>)> {
        self.starts.iter().map(|start| (start.root, start.path.clone(), start.above.clone()))
    }

    /// Whether a walk starts at this folder.
    pub(super) fn is_start(&self, root: usize, path: &str) -> bool {
        self.starts.iter().any(|start| start.root == root && start.path == path)
    }

    /// Whether a file is meant.
    pub(super) fn finds(&self, station: &Station, name: &str) -> bool {
        match &self.only {
            Only::All => true,
            Only::Glob(glob) => glob.finds(&station.join(name)),
            Only::Beginning(path) => station.join(name).starts_with(path.as_str()),
        }
    }

    /// Whether not every file below the folders is meant.
    pub fn is_narrowed(&self) -> bool {
        match self.only {
            Only::All => false,
            Only::Glob(_) | Only::Beginning(_) => true,
        }
    }
}
