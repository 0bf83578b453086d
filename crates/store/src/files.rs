//! Admits, reads and queries the files below the roots.
//!
//! Invariant: a path reaches the disk only as a [`FileLocation`], and that only through the folder in which it
//! was admitted; if that folder was replaced, the call fails.

use super::config::policy_file::{KnownPolicies, PolicyText};
use super::config::policy_listing::PolicyFile;
use super::config::{editorconfig, policy_file, policy_listing};
use super::disk::fingerprint::FileFingerprint;
use super::disk::folder::Folder;
use super::disk::permit;
use super::paths::access::AccessPurpose;
use super::paths::file_location::FileLocation;
use super::paths::git_layout::PlannedFile;
use super::paths::listed_folders::ListedFolders;
use super::paths::root::Root;
use super::paths::{admit, git_layout, root};
use super::snapshot::{self, FileSnapshot};
use super::system_error;
use lockgate_error::{Code, Error};
use lockgate_text::Hints;
use rustix::io::Errno;
use std::path::{Path, PathBuf};

/// All files that may be edited: one capability per root; empty if there is no root.
#[derive(Debug, Default)]
pub struct Files {
    pub(super) roots: Vec<Root>,
    known_policies: KnownPolicies,
}

/// The deepest existing folder of an admitted path, as it was found then. Publishing looks for the folder again.
#[derive(Debug)]
pub struct OpenFolder(Folder);

impl Files {
    /// Opens the roots; relative paths start at the first one. Fails for `/` and the home directory.
    pub fn open(roots: &[PathBuf]) -> Result<Files, Error> {
        if roots.is_empty() {
            return Err(Error::new(Code::InvalidInput, "no root was given").field("roots"));
        }
        let roots = roots.iter().map(|path| Root::open(path)).collect::<Result<_, _>>()?;
        Ok(Files { roots, known_policies: KnownPolicies::default() })
    }

    /// The same files, for callers whose relative paths start at a folder below the first root.
    pub fn with_base(mut self, base: &str) -> Files {
        if !self.roots.is_empty() {
            let first = self.roots.remove(0).with_base(base.to_owned());
            self.roots.insert(0, first);
        }
        self
    }

    /// The folder below the first root at which relative paths start; empty for the root itself.
    pub fn base(&self) -> &str {
        self.roots.first().map_or("", Root::base)
    }

    /// True if there is no root.
    pub fn is_empty(&self) -> bool {
        self.roots.is_empty()
    }

    /// Admits a path for writing. Everything that forbids the write, and is known before reading, is an error
    /// here.
    pub fn admit(&self, path: &str) -> Result<FileLocation, Error> {
        admit::admit(&self.roots, path, AccessPurpose::Write)
    }

    /// Does the same as [`Files::admit`], and keeps the folder of the path open for the next read.
    pub fn admit_open(&self, path: &str) -> Result<(FileLocation, OpenFolder), Error> {
        admit::admit_with_folder(&self.roots, path, AccessPurpose::Write)
            .map(|(place, folder)| (place, OpenFolder(folder)))
    }

    /// Does the same as [`Files::admit_open`], but takes the path as one of the root with this number, even if it also lies
    /// in a root below it.
    pub fn admit_open_in(&self, root: usize, path: &str) -> Result<(FileLocation, OpenFolder), Error> {
        admit::admit_in_root(&self.roots, root, path, AccessPurpose::Write)
            .map(|(place, folder)| (place, OpenFolder(folder)))
    }

    /// Does the same as [`Files::admit_to_read`], in the root with this number.
    pub fn admit_to_read_in(&self, root: usize, path: &str) -> Result<FileLocation, Error> {
        admit::admit_in_root(&self.roots, root, path, AccessPurpose::Read).map(|(place, _)| place)
    }

    /// Admits a path for reading, even if it may not be written.
    pub fn admit_to_read(&self, path: &str) -> Result<FileLocation, Error> {
        admit::admit(&self.roots, path, AccessPurpose::Read)
    }

    /// Does the same as [`Files::admit_to_read`], and lists each folder once for all paths with the same `listed`: for a
    /// call that reads many files and writes nothing.
    pub fn admit_to_read_listed(&self, path: &str, listed: &ListedFolders) -> Result<FileLocation, Error> {
        admit::admit_listed(&self.roots, path, listed)
    }

    /// Returns the locations, for reading, that a file has in the other roots. Roots may lie in each other, and the journal of
    /// each can have edits of the file.
    pub fn in_other_roots(&self, place: &FileLocation) -> Vec<FileLocation> {
        let path = self.root(place).map(|root| root.real().join(place.in_root()));
        let Some(path) = path.as_ref().ok().and_then(|path| path.to_str()) else { return Vec::new() };
        let others = (0..self.roots.len()).filter(|root| *root != place.root);
        others.filter_map(|root| self.admit_to_read_in(root, path).ok()).collect()
    }

    /// Admits a path that another program writes: the rules for writing apply, but not the rights that lockgate would need.
    pub fn admit_outside(&self, path: &str) -> Result<FileLocation, Error> {
        admit::admit(&self.roots, path, AccessPurpose::Outside)
    }

    /// Admits a path for a command that only a person runs: protection from agents does not apply, and no
    /// link is followed.
    pub fn admit_own(&self, path: &str) -> Result<FileLocation, Error> {
        admit::admit_own(&self.roots, path)
    }

    /// Reads the file, at most `limit` bytes; `None` if there is no file yet.
    pub fn read(&self, place: &FileLocation, limit: u64) -> Result<Option<FileSnapshot>, Error> {
        self.read_unless_known(place, limit, None)
    }

    /// Reads a file as [`Files::read`] does, but without its bytes if these are the `known` ones; see
    /// [`FileSnapshot::is_known`].
    ///
    /// Errors: those of [`Files::read`].
    pub fn read_unless_known(
        &self,
        place: &FileLocation,
        limit: u64,
        known: Option<&[u8]>,
    ) -> Result<Option<FileSnapshot>, Error> {
        self.read_in(OpenFolder(root::folder_of(&self.roots, place)?), place, limit, known)
    }

    /// Does the same in the folder that was opened when the path was admitted.
    ///
    /// Errors: those of [`Files::read`].
    pub fn read_in(
        &self,
        OpenFolder(mut folder): OpenFolder,
        place: &FileLocation,
        limit: u64,
        known: Option<&[u8]>,
    ) -> Result<Option<FileSnapshot>, Error> {
        for name in &place.missing {
            folder = match folder.enter(name) {
                Ok(folder) => folder,
                Err(Errno::NOENT) => return Ok(None),
                Err(errno) => {
                    return Err(system_error::folder_lost("opening the folder", place.shown(), errno));
                }
            };
        }
        snapshot::read(self.roots.get(place.root), &folder, &place.name, place.shown(), limit, known)
    }

    /// Returns the file's fingerprint; `None` if it is not reliable.
    pub fn fingerprint(&self, place: &FileLocation) -> Option<FileFingerprint> {
        let folder = root::folder_of(&self.roots, place).ok().filter(|_| place.missing.is_empty())?;
        folder.stat(&place.name).ok().map(|stat| FileFingerprint::from_stat(&stat))
    }

    /// Fails for writes of one call that would turn a folder into a git folder; returns the index of the
    /// write at fault.
    ///
    /// Publishing does the same check; this is for callers that check earlier, or that write nothing.
    pub fn refuse_git_folders(&self, writes: &[PlannedFile<'_>]) -> Result<(), Box<(usize, Error)>> {
        git_layout::refuse(&self.roots, writes)
    }

    /// True if an entry exists at a path relative to the root that contains the file, as in
    /// [`FileLocation::in_root`]; never outside of that root.
    pub fn exists(&self, place: &FileLocation, path: &str) -> bool {
        self.root(place).is_ok_and(|root| root.dir().try_exists(path).unwrap_or(false))
    }

    /// Returns the nearest policy file above the path.
    ///
    /// Errors: `POLICY_INVALID` for one that cannot be read.
    pub fn policy_text(&self, place: &FileLocation) -> Result<Option<PolicyText>, Error> {
        policy_file::nearest(&self.roots, &self.known_policies, place, |_| true)
    }

    /// Returns the policy file at the top of the path's root; errors as in [`Files::policy_text`].
    pub fn policy_of_root(&self, place: &FileLocation) -> Result<Option<PolicyText>, Error> {
        policy_file::nearest(&self.roots, &self.known_policies, place, str::is_empty)
    }

    /// Returns the next policy file above the folder of this one; errors as in [`Files::policy_text`].
    pub fn policy_above(&self, below: &PolicyText) -> Result<Option<PolicyText>, Error> {
        policy_file::above(&self.roots, below)
    }

    /// Returns the policy file at the top of the first root; errors as in [`Files::policy_text`].
    pub fn policy_at_top(&self) -> Result<Option<PolicyText>, Error> {
        policy_file::at_top(&self.roots)
    }

    /// Returns the names of the policy files above the path, the nearest first, with their change times.
    pub fn policy_files(&self, place: &FileLocation) -> Result<Vec<PolicyFile>, Error> {
        self.root(place).map(|root| policy_listing::above(root, place))
    }

    /// Finds an existing folder, or that of a file, as a starting point for queries; nothing can be written
    /// there.
    pub fn find_folder(&self, path: &str) -> Result<FileLocation, Error> {
        admit::find_folder(&self.roots, path)
    }

    /// The encoding and line ends from the `.editorconfig` files above the path.
    pub fn hints(&self, place: &FileLocation) -> Hints {
        self.root(place).map(|root| editorconfig::hints(root, place)).unwrap_or_default()
    }

    /// Fails for a file whose group or attributes a new file cannot get from this user. Publishing notices that when it
    /// makes the staged copy.
    ///
    /// Errors: `PERMISSION_DENIED`, with a hint.
    pub fn check_metadata(&self, place: &FileLocation, snapshot: &FileSnapshot) -> Result<(), Error> {
        permit::refuse_uncopyable_metadata(
            &root::folder_of(&self.roots, place)?,
            &snapshot.file,
            place.shown(),
        )
    }

    /// The absolute paths of the roots, links resolved.
    pub fn root_paths(&self) -> Vec<PathBuf> {
        self.roots.iter().map(|root| root.real().to_owned()).collect()
    }

    /// The absolute path of the root that contains the file, links resolved.
    pub fn root_path(&self, place: &FileLocation) -> Result<&Path, Error> {
        self.root(place).map(Root::real)
    }

    fn root(&self, place: &FileLocation) -> Result<&Root, Error> {
        self.roots.get(place.root).ok_or_else(|| system_error::outside(place.shown()))
    }
}
