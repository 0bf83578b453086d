//! Reads the files of a revision of the repository that a root lies in, without running git.
//!
//! A repository may be hostile: its configuration can make git start programs (`core.fsmonitor`, filters,
//! hooks) and include files from elsewhere. This module does neither. It reads commits, trees and blobs by
//! their hashes, and uses only the parts of the configuration that describe their storage.
//!
//! Invariant: no program is started, no file of the repository is written, and no object is read from a
//! folder outside of it.

mod alternates;
mod tree;

use std::path::{Path, PathBuf};

use gix::ObjectId;
use gix::objs::Kind;

use lockgate_error::{Code, Error};
use tree::{Trees, describe};

/// The start of a Git LFS pointer, which replaces a large file's text in the repository.
const POINTER: &[u8] = b"version https://git-lfs.github.com/spec/";

/// The default revision to compare with.
const HEAD: &str = "HEAD";

/// The field that names a revision.
const FIELD: &str = "--base";

/// The hint for a repository in a format that gix cannot read.
const UNSUPPORTED_HINT: &str = "only repositories with SHA-1 hashes and without reftables can be read; edits do not need \
     the repository, and a check of a copy without `.git` counts every finding";

/// The repository that a root lies in.
pub struct Repository {
    repo: gix::Repository,
    /// The folder of its work tree.
    top: PathBuf,
    /// The path from there to the root; empty if they are the same.
    prefix: String,
}

/// The files below a root at one revision.
pub struct Revision {
    repo: gix::Repository,
    trees: Trees,
    /// The revision as the caller named it.
    pub name: String,
    /// The hash of the commit or tree; absent if there is no commit yet.
    pub id: Option<String>,
}

/// The state of a file at a revision.
#[derive(Debug)]
pub enum FileAtRevision {
    /// A file with these bytes.
    Text(Vec<u8>),
    /// No file existed at the revision.
    Absent,
    /// The bytes are not available from the repository, with the reason.
    Elsewhere(&'static str),
}

impl Repository {
    /// Finds the repository that a root lies in, by its real path; `None` if there is none.
    ///
    /// Errors: `INVALID_INPUT` for one that cannot be read, or that uses objects from elsewhere.
    pub fn around(root: &Path) -> Result<Option<Repository>, Error> {
        let Some(top) = root.ancestors().find(|folder| is_repository(folder)) else { return Ok(None) };
        let options = gix::open::Options::isolated().bail_if_untrusted(false);
        let repo = gix::open_opts(top, options).map_err(|error| {
            let message = format!("the repository in {} cannot be read: {}", top.display(), describe(&error));
            let refused = Error::new(Code::InvalidInput, message).field("--root");
            if error.is_unsupported() { refused.hint(UNSUPPORTED_HINT) } else { refused }
        })?;
        alternates::refuse_outside(top, &repo.common_dir().join("objects"))?;
        let prefix = root.strip_prefix(top).unwrap_or(Path::new(""));
        let prefix = prefix.to_str().ok_or_else(|| {
            Error::new(Code::InvalidInput, format!("the path of {} is not UTF-8", root.display()))
        })?;
        Ok(Some(Repository { prefix: prefix.to_owned(), top: top.to_owned(), repo }))
    }

    /// The folder of the repository's work tree.
    pub fn top(&self) -> &Path {
        &self.top
    }

    /// The path from there to the root, with `/`; empty if they are the same.
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// Returns the files at a revision, by default HEAD; `a...b` means their merge base.
    ///
    /// Errors: `INVALID_INPUT` for a revision that does not exist, with a hint for a shallow clone.
    pub fn revision(self, name: Option<&str>) -> Result<Revision, Error> {
        if name.is_none() && self.repo.head().is_ok_and(|head| head.is_unborn()) {
            let trees = Trees::default();
            return Ok(Revision { repo: self.repo, trees, name: HEAD.to_owned(), id: None });
        }
        let name = name.unwrap_or(HEAD).to_owned();
        let id = match name.split_once("...") {
            Some((one, other)) => self.merge_base(&name, one, other)?,
            None => match self.repo.rev_parse_single(name.as_str()) {
                Ok(id) => id.detach(),
                Err(_) => return Err(self.refused(&name, &self.missing(&name))),
            },
        };
        let tree = self.repo.find_object(id).and_then(gix::Object::peel_to_tree);
        let tree = tree.map_err(|_| self.refused(&name, "it is neither a commit nor a folder"))?.id;
        let trees =
            Trees::read(&self.repo, tree, &self.prefix).map_err(|error| self.refused(&name, &error))?;
        Ok(Revision { trees, id: Some(id.to_string()), name, repo: self.repo })
    }

    /// The merge base of two revisions; an empty side means HEAD.
    fn merge_base(&self, name: &str, one: &str, other: &str) -> Result<ObjectId, Error> {
        let commit = |side: &str| {
            let side = if side.is_empty() { HEAD } else { side };
            let id = self.repo.rev_parse_single(side);
            let id = id.map_err(|_| self.refused(name, &self.missing(side)))?;
            let commit = id.object().and_then(gix::Object::peel_to_commit);
            commit
                .map(|commit| commit.id)
                .map_err(|_| self.refused(name, &format!("{side:?} is not a commit")))
        };
        let base = self.repo.merge_base(commit(one)?, commit(other)?);
        match base.map_err(|error| self.refused(name, &describe(&error)))? {
            Some(base) => Ok(base.detach()),
            None => Err(self.refused(name, "the two have no common commit")),
        }
    }

    /// Returns the reason why a revision is not found.
    fn missing(&self, name: &str) -> String {
        if name.contains("..") {
            return "it is a range, and only the merge base of two revisions (`a...b`) is one".to_owned();
        }
        let start = name.find(['~', '^', ':', '@']).unwrap_or(name.len());
        let (known, rest) = name.split_at(start);
        if !known.is_empty() && !rest.is_empty() && self.repo.rev_parse_single(known).is_ok() {
            return format!("{known:?} is known, and `{rest}` leads nowhere from there");
        }
        "no commit, branch or tag has this name".to_owned()
    }

    fn refused(&self, name: &str, reason: &str) -> Error {
        let error = Error::new(Code::InvalidInput, format!("there is no revision {name:?} here: {reason}"));
        let hint = if self.repo.is_shallow().unwrap_or(false) {
            "the clone is shallow, so its history is cut off: fetch more of it, with `fetch-depth: 2` for actions/checkout \
             (0 for all) or `git fetch --deepen=1`"
        } else {
            "name a commit, a branch, a tag, HEAD~1, or main... for the merge base with main"
        };
        error.field(FIELD).hint(hint)
    }
}

impl Revision {
    /// The paths of the files at the revision; can be shared between threads.
    pub fn names(&self) -> RevisionFiles<'_> {
        RevisionFiles { trees: &self.trees, hash: self.repo.object_hash() }
    }

    /// Iterates over the paths of the files below the root, relative to it, in order.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.trees.files.keys().map(String::as_str)
    }

    /// True if the revision has a submodule at a path, or at a folder above it.
    pub fn has_submodule(&self, path: &str) -> bool {
        let mut above = Path::new(path).ancestors().filter_map(Path::to_str);
        above.any(|folder| self.trees.submodules.contains(folder))
    }

    /// Returns the state of a file, with its bytes if there are at most `limit`.
    ///
    /// Errors: `IO_FAILED` if its bytes should be in the repository and are missing, or cannot be read.
    pub fn file_at(&self, path: &str, limit: u64) -> Result<FileAtRevision, Error> {
        let Some(id) = self.trees.files.get(path) else { return Ok(FileAtRevision::Absent) };
        let broken = |error: gix::Error| {
            let message = format!("the text of {path} at {} cannot be read: {}", self.name, describe(&error));
            Error::new(Code::IoFailed, message)
                .hint("fetch the missing objects of the repository, or clone it again")
        };
        if self.repo.find_header(*id).map_err(broken)?.size() > limit {
            return Ok(FileAtRevision::Elsewhere("too large before"));
        }
        let bytes = self.repo.find_blob(*id).map_err(broken)?.take_data();
        if bytes.starts_with(POINTER) {
            return Ok(FileAtRevision::Elsewhere("stored in Git LFS"));
        }
        Ok(FileAtRevision::Text(bytes))
    }
}

/// The paths of the files at a revision, without their texts.
#[derive(Clone, Copy)]
pub struct RevisionFiles<'r> {
    trees: &'r Trees,
    hash: gix::hash::Kind,
}

impl<'r> RevisionFiles<'r> {
    /// True if the revision has a file of that path.
    pub fn has(&self, path: &str) -> bool {
        self.trees.files.contains_key(path)
    }

    /// True if the file had exactly these bytes.
    pub fn is(&self, path: &str, bytes: &[u8]) -> bool {
        self.trees.files.get(path).is_some_and(|known| Some(*known) == self.name_of(bytes))
    }

    /// Returns the paths of the files that had exactly these bytes, in order; none for no bytes.
    pub fn paths_of(&self, bytes: &[u8]) -> Vec<&'r str> {
        let Some(name) = self.name_of(bytes).filter(|_| !bytes.is_empty()) else { return Vec::new() };
        let same = self.trees.files.iter().filter(|(_, known)| **known == name);
        same.map(|(path, _)| path.as_str()).collect()
    }

    fn name_of(&self, bytes: &[u8]) -> Option<ObjectId> {
        gix::objs::compute_hash(self.hash, Kind::Blob, bytes).ok()
    }
}

/// True if a folder has files of a repository in it, so that git would take it for one.
fn is_repository(folder: &Path) -> bool {
    let git = folder.join(".git");
    git.is_file() || git.join("HEAD").symlink_metadata().is_ok()
}
