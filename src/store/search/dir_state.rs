//! What is known of a folder on the way to the files in it: where it lies, what it is, and which rules reach into it.
//!
//! Invariant: a folder that no path may be admitted to becomes no station, and a file that none may be admitted to is told
//! by [`Station::rule`], as [`admit`](crate::store::admit) tells it of a single path.

use super::ignores::{Holds, Ignores};
use super::links::ProtectedLinks;
use crate::store::access;
use crate::store::alias;
use crate::store::file_place::{FilePlace, join};
use crate::store::folder::{Folder, Identity};
use crate::store::root::{Root, named};
use rustix::fs::Stat;
use rustix::io::Result;
use std::path::Path;
use std::sync::Arc;

/// A folder on the way.
#[derive(Debug)]
pub(super) struct DirState {
    above: Option<Arc<DirState>>,
    /// The number of its root.
    pub(super) root: usize,
    /// Its path beneath the root, free of links; empty for the root itself.
    pub(super) path: String,
    pub(super) identity: Identity,
    /// What stands behind the marked names in it.
    marks: Vec<(Identity, String)>,
    ignores: Option<Arc<Ignores>>,
    /// Whether no name on the path can be a part of a protected one.
    is_plain: bool,
    /// Whether an `.editorconfig` stands here or above.
    pub(super) has_editorconfig: bool,
}

/// What is seen in a folder that says how it is to be walked.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Signs {
    pub(super) holds: Holds,
    /// A name that protects what it leads to.
    pub(super) marked: bool,
    /// A name that a git folder has.
    pub(super) head: bool,
    /// An `.editorconfig`.
    pub(super) editorconfig: bool,
}

impl Signs {
    /// Takes note of an entry's name.
    pub(super) fn note(&mut self, name: &str) {
        match name {
            super::ignores::NAME => self.holds.rules = true,
            ".editorconfig" => self.editorconfig = true,
            "HEAD" => self.head = true,
            _ => {}
        }
        self.holds.repository |= name == ".git";
        self.marked |= alias::is_marked(name);
    }

    /// What a folder that is not listed may hold: anything.
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
    /// The folder of this path beneath a root; nothing where it is a git folder under another name.
    ///
    /// Errors: what is marked in it could not be looked at.
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

    /// The path of an entry beneath the root.
    pub(super) fn join(&self, name: &str) -> String {
        join(&self.path, name)
    }

    /// Whether a rule covers an entry by its path.
    pub(super) fn covers(&self, name: &str) -> bool {
        !(self.is_plain && access::is_plain(name)) && access::rule_for(&self.join(name)).is_some()
    }

    /// Whether git passes over an entry; `path` is its absolute one.
    pub(super) fn passes_over(&self, path: &Path, is_folder: bool) -> bool {
        self.ignores.as_ref().is_some_and(|ignores| ignores.pass_over(path, is_folder))
    }

    /// Whether rules of git reach here.
    pub(super) fn has_ignores(&self) -> bool {
        self.ignores.is_some()
    }

    /// Whether a file is protected by what leads to it: a link of a marked name, or a second name of its own.
    pub(super) fn is_reached(&self, name: &str, stat: &Stat, links: &ProtectedLinks, roots: &[Root]) -> bool {
        let identity = Identity::from_stat(stat);
        self.is_marked(name, identity) || (stat.st_nlink > 1 && links.protect(roots, identity))
    }

    /// Whether a marked name in a folder above leads to the file, or to a folder in which it is protected.
    fn is_marked(&self, name: &str, file: Identity) -> bool {
        let covered = |marked: &str, below: &str| access::rule_for(&join(marked, below)).is_some();
        self.way().filter(|above| !above.marks.is_empty()).any(|above| {
            above.marks.iter().any(|(target, marked)| {
                let step = self.way().take_while(|step| step.path.len() >= above.path.len());
                let mut folders = step.filter(|step| step.identity == *target);
                let below = |step: &DirState| {
                    let rest = self.path.get(step.path.len()..).unwrap_or_default();
                    join(rest.trim_start_matches('/'), name)
                };
                (*target == file && covered(marked, "")) || folders.any(|step| covered(marked, &below(step)))
            })
        })
    }

    /// This folder, the one above it, and so on to the root.
    fn way(&self) -> impl Iterator<Item = &DirState> {
        std::iter::successors(Some(self), |station| station.above.as_deref())
    }

    /// The place of a file in this folder; nothing where the root's own path is no text.
    pub(super) fn place(&self, roots: &[Root], name: &str) -> Option<FilePlace> {
        let in_root = self.join(name);
        Some(FilePlace {
            root: self.root,
            folder: self.path.clone(),
            identity: self.identity,
            missing: Vec::new(),
            name: name.to_owned(),
            shown: named(roots, self.root, &in_root)?,
            resolved: None,
            in_root,
            names: Vec::new(),
            runnable: None,
            occasion: None,
        })
    }
}
