//! The files beneath the roots: admitted, read, replaced, and asked about.
//!
//! Invariant: a path reaches the disk only as a [`FilePlace`], and a place only through the folder that it was admitted in; when
//! that folder is another one by now, the call refuses.

use super::admit::{self, AccessPurpose};
use super::file_place::FilePlace;
use super::fingerprint::FileFingerprint;
use super::git_layout::{self, PlannedFile};
use super::journal::{EditMeta, Journal};
use super::locks::Locks;
use super::policy_file::PolicyText;
use super::publish::{self, FileWrite, PublishedBatch};
use super::recover::{self, Half, Recovered};
use super::root::{self, Root};
use super::ruling::{self, PolicyFile};
use super::snapshot::{self, FileSnapshot};
use super::trouble;
use super::{editorconfig, policy_file};
use crate::error::{Code, Error};
use crate::policy::Publishing;
use crate::text::Hints;
use rustix::io::Errno;
use std::path::{Path, PathBuf};

/// All files that may be edited: one capability per root; none at all, where there is no root.
#[derive(Debug, Default)]
pub struct Files {
    pub(super) roots: Vec<Root>,
}

impl Files {
    /// Opens the roots; relative paths are looked up beneath the first. Refuses `/` and the home directory.
    pub fn open(roots: &[PathBuf]) -> Result<Files, Error> {
        if roots.is_empty() {
            return Err(Error::new(Code::InvalidInput, "no root was given").field("roots"));
        }
        let roots = roots.iter().map(|path| Root::open(path)).collect::<Result<_, _>>()?;
        Ok(Files { roots })
    }

    /// The same files, for callers whose relative paths are relative to a folder below the first root.
    pub fn with_base(mut self, base: &str) -> Files {
        if !self.roots.is_empty() {
            let first = self.roots.remove(0).with_base(base.to_owned());
            self.roots.insert(0, first);
        }
        self
    }

    /// The folder below the first root that relative paths are relative to; empty for the root itself.
    pub fn base(&self) -> &str {
        self.roots.first().map_or("", Root::base)
    }

    /// Whether there is no root at all.
    pub fn is_empty(&self) -> bool {
        self.roots.is_empty()
    }

    /// Admits a path whose file is to be written: everything that forbids that, and is known before reading, refuses here.
    pub fn admit(&self, path: &str) -> Result<FilePlace, Error> {
        admit::admit(&self.roots, path, AccessPurpose::Write)
    }

    /// Admits a path whose file is to be read, also where nobody may write it.
    pub fn admit_to_read(&self, path: &str) -> Result<FilePlace, Error> {
        admit::admit(&self.roots, path, AccessPurpose::Read)
    }

    /// Admits a path for a command that only a person runs: what protects it from agents does not count, and no link is
    /// followed.
    pub fn admit_own(&self, path: &str) -> Result<FilePlace, Error> {
        admit::admit_own(&self.roots, path)
    }

    /// Reads the file, at most `limit` bytes; `None` when there is no file yet.
    pub fn read(&self, place: &FilePlace, limit: u64) -> Result<Option<FileSnapshot>, Error> {
        let mut folder = root::folder_of(&self.roots, place)?;
        for name in &place.missing {
            folder = match folder.enter(name) {
                Ok(folder) => folder,
                Err(Errno::NOENT) => return Ok(None),
                Err(errno) => return Err(trouble::lost("opening the folder", place.shown(), errno)),
            };
        }
        snapshot::read(&folder, &place.name, place.shown(), limit)
    }

    /// What tells that a place's file is as it was; nothing where there is none that could be told of.
    pub fn facts(&self, place: &FilePlace) -> Option<FileFingerprint> {
        let folder = root::folder_of(&self.roots, place).ok().filter(|_| place.missing.is_empty())?;
        folder.stat(&place.name).ok().map(|stat| FileFingerprint::from_stat(&stat))
    }

    /// Refuses writes of one call after which a folder would be a git folder; gives the number of the write at fault.
    ///
    /// Publishing asks the same; this is for callers that want the answer before, or that write nothing.
    pub fn refuse_git_folders(&self, writes: &[PlannedFile<'_>]) -> Result<(), Box<(usize, Error)>> {
        git_layout::refuse(&self.roots, writes)
    }

    /// Publishes all writes of one edit, or none, and remembers it where a journal is given.
    ///
    /// Refuses with EDIT_CONFLICT when a file is no longer what was read.
    pub fn publish(
        &self,
        writes: &[FileWrite<'_>],
        how: Publishing,
        record: Option<(&Journal, &EditMeta)>,
    ) -> Result<PublishedBatch, Error> {
        publish::publish(&self.roots, writes, how, record)
    }

    /// Completes an edit that was left half done, or takes it back.
    pub(super) fn recover(&self, locks: &Locks, half: &Half<'_>) -> Recovered {
        recover::recover(&self.roots, locks, half)
    }

    /// Removes from a folder beneath the root of that number the staged copies that no edit in its journal names, where
    /// nothing is lost with them. Gives back what a person should know.
    pub(super) fn sweep(
        &self,
        locks: &Locks,
        root: usize,
        folder: &str,
        known: &recover::JournalNames<'_>,
    ) -> Vec<String> {
        recover::sweep(&self.roots, locks, root, folder, known)
    }

    /// Whether something stands at a path relative to the root that the place's file really lies in, as
    /// [`FilePlace::in_root`] is; never outside of that root.
    pub fn exists(&self, place: &FilePlace, path: &str) -> bool {
        self.root(place).is_ok_and(|root| root.dir().try_exists(path).unwrap_or(false))
    }

    /// The nearest policy file above the place.
    ///
    /// Errors: `POLICY_INVALID` for one that cannot be read.
    pub fn policy_text(&self, place: &FilePlace) -> Result<Option<PolicyText>, Error> {
        policy_file::nearest(&self.roots, place)
    }

    /// The next policy file above the folder that one rules; errors as [`Files::policy_text`] has them.
    pub fn policy_above(&self, below: &PolicyText) -> Result<Option<PolicyText>, Error> {
        policy_file::above(&self.roots, below)
    }

    /// The policy file at the top of the first root; errors as [`Files::policy_text`] has them.
    pub fn policy_at_top(&self) -> Result<Option<PolicyText>, Error> {
        policy_file::at_top(&self.roots)
    }

    /// The names of the policy files above the place, the nearest first, and when they were changed.
    pub fn policy_files(&self, place: &FilePlace) -> Result<Vec<PolicyFile>, Error> {
        self.root(place).map(|root| ruling::above(root, place))
    }

    /// Finds a folder that is there, or that of a file, as a place to look around from; nothing can be written there.
    pub fn stand(&self, path: &str) -> Result<FilePlace, Error> {
        admit::stand(&self.roots, path)
    }

    /// What the `.editorconfig` files above the place say of its encoding and line ends.
    pub fn hints(&self, place: &FilePlace) -> Hints {
        self.root(place).map(|root| editorconfig::hints(root, place)).unwrap_or_default()
    }

    /// The absolute paths of the roots, links resolved.
    pub fn root_paths(&self) -> Vec<PathBuf> {
        self.roots.iter().map(|root| root.real().to_owned()).collect()
    }

    /// The absolute path of the root that the place's file really lies in, links resolved.
    pub fn root_path(&self, place: &FilePlace) -> Result<&Path, Error> {
        self.root(place).map(Root::real)
    }

    fn root(&self, place: &FilePlace) -> Result<&Root, Error> {
        self.roots.get(place.root).ok_or_else(|| trouble::outside(place.shown()))
    }
}

#[cfg(test)]
impl Files {
    pub(super) fn roots(&self) -> &[Root] {
        &self.roots
    }
}
