//! The state of a folder during a walk: its path, its identity, and the rules that apply in it.
//!
//! Invariant: a folder to which no path may be admitted gets no [`DirState`], and [`DirState::covers`] and
//! [`DirState::is_reached`] report the files that [`admit`](crate::paths::admit) would reject as a single
//! path.

use super::ignores::{Holds, Ignores};
use super::links::ProtectedLinks;
use crate::disk::folder::{Folder, Identity};
use crate::paths::file_location::{FileLocation, join};
use crate::paths::root::{Root, named};
use crate::paths::{access, alias};
use rustix::fs::Stat;
use rustix::io::Result;
use std::path::Path;
use std::sync::Arc;

/// A folder of a walk.
#[derive(Debug)]
pub(super) struct DirState {
    above: Option<Arc<DirState>>,
    /// The number of its root.
    pub(super) root: usize,
    /// Its path relative to the root, free of links; empty for the root itself.
    pub(super) path: String,
    pub(super) identity: Identity,
    /// The targets of the marked names in it.
    marks: Vec<(Identity, String)>,
    ignores: Option<Arc<Ignores>>,
    /// Set when no name in the path can be a part of a protected one.
    is_plain: bool,
    /// Set when this folder or one above has an `.editorconfig`.
    pub(super) has_editorconfig: bool,
}

/// The entries of a folder that affect the walk through it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Signs {
    pub(super) holds: Holds,
    /// Set for a name that protects its target.
    pub(super) marked: bool,
    /// Set for a name that every git folder has.
    pub(super) head: bool,
    pub(super) editorconfig: bool,
}

impl Signs {
    pub(super) fn note(&mut self, name: &str) {
        match name {
            super::ignores::NAME => self.holds.rules = true,
            ".editorconfig" => self.editorconfig = true,
            "HEAD" => self.head = true,
            ".git" => self.holds.repository = true,
            _ => {}
        }
        self.marked |= alias::is_marked(name);
    }

    /// The signs of a folder that was not listed: it may contain anything.
    pub(super) fn unseen(folder: &Folder) -> Signs {
        let holds = |name| folder.stat(name).is_ok();
        Signs {
            holds: Holds { rules: holds(super::ignores::NAME), repository: holds(".git") },
            marked: true,
            head: true,
            editorconfig: holds(".editorconfig"),
        }
    }
}

impl DirState {
    /// Creates the state of the folder of this path in a root; `None` if it is a git folder under another
    /// name.
    ///
    /// Errors: a marked entry in it could not be read.
    pub(super) fn enter(
        root: (usize, &Root),
        above: Option<Arc<DirState>>,
        path: String,
        (folder, identity): (&Folder, Identity),
        signs: Signs,
    ) -> Result<Option<DirState>> {
        if signs.head && alias::is_git_folder(folder) {
            return Ok(None);
        }
        let marks = if signs.marked { alias::marks(folder)? } else { Vec::new() };
        let (number, root) = root;
        let ignores = match &above {
            None => Ignores::above(root.real()),
            Some(above) => above.ignores.clone(),
        };
        let ignores = Ignores::read(ignores.as_ref(), &root.real().join(&path), folder, signs.holds);
        let name = path.rsplit('/').next().unwrap_or_default();
        let is_plain = above.as_ref().is_none_or(|above| above.is_plain && access::is_plain(name));
        let has_editorconfig =
            signs.editorconfig || above.as_ref().is_some_and(|above| above.has_editorconfig);
        Ok(Some(DirState { above, root: number, path, identity, marks, ignores, is_plain, has_editorconfig }))
    }

    /// The path of an entry, relative to the root.
    pub(super) fn join(&self, name: &str) -> String {
        join(&self.path, name)
    }

    /// True if a rule covers an entry by its path.
    pub(super) fn covers(&self, name: &str) -> bool {
        !(self.is_plain && access::is_plain(name)) && access::rule_for(&self.join(name)).is_some()
    }

    /// True if git ignores an entry; `path` is its absolute path.
    pub(super) fn is_ignored(&self, path: &Path, is_folder: bool) -> bool {
        self.ignores.as_ref().is_some_and(|ignores| ignores.is_ignored(path, is_folder))
    }

    /// True if ignore rules apply here.
    pub(super) fn has_ignores(&self) -> bool {
        self.ignores.is_some()
    }

    /// True if a file is protected by another path to it: a link with a marked name, or a second hard link.
    pub(super) fn is_reached(&self, name: &str, stat: &Stat, links: &ProtectedLinks, roots: &[Root]) -> bool {
        let identity = Identity::from_stat(stat);
        self.is_marked(name, identity) || (stat.st_nlink > 1 && links.protect(roots, identity))
    }

    /// True if a marked name in a folder above leads to the file, or to a folder in which it is protected.
    fn is_marked(&self, name: &str, file: Identity) -> bool {
        let is_covered = |link: &str, below: &str| access::rule_for(&join(link, below)).is_some();
        self.ancestors().filter(|above| !above.marks.is_empty()).any(|above| {
            above.marks.iter().any(|(target, link)| {
                let step = self.ancestors().take_while(|step| step.path.len() >= above.path.len());
                let mut folders = step.filter(|step| step.identity == *target);
                let below = |step: &DirState| {
                    let rest = self.path.get(step.path.len()..).unwrap_or_default();
                    join(rest.trim_start_matches('/'), name)
                };
                (*target == file && is_covered(link, ""))
                    || folders.any(|step| is_covered(link, &below(step)))
            })
        })
    }

    /// Iterates from this folder through those above it up to the root.
    fn ancestors(&self) -> impl Iterator<Item = &DirState> {
        std::iter::successors(Some(self), |state| state.above.as_deref())
    }

    /// The path of a file in this folder; `None` if the root's own path is not UTF-8.
    pub(super) fn place(&self, roots: &[Root], name: &str) -> Option<FileLocation> {
        let in_root = self.join(name);
        Some(FileLocation {
            root: self.root,
            folder: self.path.clone(),
            identity: self.identity,
            missing: Vec::new(),
            name: name.to_owned(),
            shown: named(roots, self.root, &in_root)?,
            resolved: None,
            admitted: None,
            in_root,
            names: Vec::new(),
            runnable: None,
            occasion: None,
            configs: Vec::new(),
        })
    }
}
