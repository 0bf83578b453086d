//! Reads the files of a revision of the repository that a root lies in, without running git.
//!
//! A repository may be hostile: its configuration can make git start programs (`core.fsmonitor`, filters,
//! hooks) and include files from elsewhere. This module does neither. It reads commits, trees and blobs by
//! their hashes, and uses only the parts of the configuration that describe their storage.
//!
//! Invariant: no program is started, no file of the repository is written, no object is read from a folder outside of
//! it, and no pipe or device in it is opened.

mod alternates;
mod special_files;
mod tree;

use std::collections::{BTreeSet, HashMap};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use gix::ObjectId;
use gix::index::entry::{Flags, Mode};
use gix::objs::Kind;

use crate::disk::folder::Identity;
use lockgate_error::{Code, Error};
use special_files::GitFolders;
use tree::{Trees, describe};

/// The start of a Git LFS pointer, which replaces a large file's text in the repository.
const POINTER: &[u8] = b"version https://git-lfs.github.com/spec/";

/// The largest index that is read, in bytes: that of some four million files.
const MAX_INDEX: u64 = 512 << 20;

/// The default revision to compare with.
const HEAD: &str = "HEAD";

/// The field that names a revision.
const FIELD: &str = "--base";

/// The start of the name of a remote's branch.
const REMOTE: &str = "origin/";

/// The hint for a revision that is not found.
const REVISION_HINT: &str = "name a commit, a branch or a tag; `git log --oneline --all` lists the commits";

/// The hint for a revision that is not found in a shallow clone.
const SHALLOW_HINT: &str = "the clone is shallow, so its history is cut off: fetch more of it, with `fetch-depth: 2` for \
     actions/checkout (0 for all) or `git fetch --deepen=1`";

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

/// The files of the index below a root, by their paths relative to the root.
#[derive(Debug, Default)]
pub struct IndexFiles {
    /// Those that are staged or committed.
    pub staged: BTreeSet<String>,
    /// Those of them whose paths are not UTF-8.
    pub not_utf8: Vec<PathBuf>,
    /// Those that a sparse checkout leaves out of the work tree, or the folders that contain them.
    left_out: BTreeSet<String>,
}

impl IndexFiles {
    /// True if a sparse checkout leaves this file out of the work tree. Its absence is no deletion.
    pub fn is_left_out(&self, path: &str) -> bool {
        let mut folders = Path::new(path).ancestors().filter_map(Path::to_str);
        !self.left_out.is_empty() && folders.any(|folder| self.left_out.contains(folder))
    }
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
    /// Errors: `INVALID_INPUT` for one that cannot be read, that uses objects from elsewhere, or that has a pipe or a device
    /// in it.
    pub fn around(root: &Path) -> Result<Option<Repository>, Error> {
        let Some(top) = root.ancestors().find(|folder| is_repository(folder)) else { return Ok(None) };
        let dot_git = top.join(".git");
        let git = GitFolders::find(&dot_git);
        let objects = alternates::object_folders(top, &git.common.join("objects"))?;
        special_files::refuse(top, &git, objects)?;
        let options = gix::open::Options::isolated().bail_if_untrusted(false);
        let repo = gix::open_opts(dot_git, options).map_err(|error| {
            let message = format!("the repository in {} cannot be read: {}", top.display(), describe(&error));
            let refused = Error::new(Code::InvalidInput, message).field("--root");
            if error.is_unsupported() { refused.hint(UNSUPPORTED_HINT) } else { refused }
        })?;
        let is_checked = |used: &Path, checked: &Path| Identity::at(used).ok() == Identity::at(checked).ok();
        if !is_checked(repo.git_dir(), &git.own) || !is_checked(repo.common_dir(), &git.common) {
            let message =
                format!("the repository in {} cannot be read: its git folder is ambiguous", top.display());
            return Err(Error::new(Code::InvalidInput, message).field("--root"));
        }
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

    /// Reads the index below the root. A missing index has no files, and neither has one that cannot be read or is larger
    /// than its limit.
    pub fn index_files(&self) -> IndexFiles {
        let index = self.repo.index_path();
        let shared =
            index.with_file_name("").read_dir().into_iter().flatten().flatten().map(|entry| entry.path());
        let is_shared = |path: &PathBuf| path.file_name().is_some_and(special_files::is_index);
        let is_readable = |path: &PathBuf| {
            path.symlink_metadata().is_ok_and(|file| file.is_file() && file.len() <= MAX_INDEX)
        };
        if !is_readable(&index) || !shared.filter(is_shared).all(|path| is_readable(&path)) {
            return IndexFiles::default();
        }
        let Ok(index) = self.repo.open_index() else { return IndexFiles::default() };
        let below = |path: &str| match self.prefix.as_str() {
            "" => Some(path.to_owned()),
            prefix => path.strip_prefix(prefix)?.strip_prefix('/').map(str::to_owned),
        };
        let mut files = IndexFiles::default();
        for entry in index.entries() {
            let is_file = entry.mode == Mode::FILE || entry.mode == Mode::FILE_EXECUTABLE;
            let path: &[u8] = entry.path(&index);
            let Ok(path) = std::str::from_utf8(path) else {
                let inside = Path::new(OsStr::from_bytes(path)).strip_prefix(&self.prefix).ok();
                files.not_utf8.extend(inside.filter(|_| is_file).map(Path::to_owned));
                continue;
            };
            let is_left_out = entry.flags.contains(Flags::SKIP_WORKTREE);
            // A folder that is left out as a whole can be one entry, which ends with `/`.
            if is_left_out && format!("{}/", self.prefix).starts_with(path) {
                files.left_out.insert(String::new());
            }
            let Some(path) = below(path) else { continue };
            if is_left_out {
                files.left_out.insert(path.trim_end_matches('/').to_owned());
            }
            if is_file {
                files.staged.insert(path);
            }
        }
        files
    }

    /// Returns the same repository for a root at its top.
    #[must_use]
    pub fn at_top(&self) -> Repository {
        Repository { repo: self.repo.clone(), top: self.top.clone(), prefix: String::new() }
    }

    /// Returns the files at a revision, by default HEAD; `a...b` means their merge base.
    ///
    /// Errors: `INVALID_INPUT` for a revision that does not exist, with a hint for a shallow clone.
    pub fn revision(&self, name: Option<&str>) -> Result<Revision, Error> {
        let repo = self.repo.clone();
        if name.is_none() && self.repo.head().is_ok_and(|head| head.is_unborn()) {
            let trees = Trees::default();
            return Ok(Revision { repo, trees, name: HEAD.to_owned(), id: None });
        }
        let name = name.unwrap_or(HEAD).to_owned();
        let id = match name.split_once("...") {
            Some((one, other)) => self.merge_base(&name, one, other)?,
            None => match self.repo.rev_parse_single(name.as_str()) {
                Ok(id) => id.detach(),
                Err(_) => return Err(self.not_found(&name, &name)),
            },
        };
        let tree = self.repo.find_object(id).and_then(gix::Object::peel_to_tree);
        let tree = tree.map_err(|_| self.refused(&name, "it is neither a commit nor a folder"))?.id;
        let trees =
            Trees::read(&self.repo, tree, &self.prefix).map_err(|error| self.refused(&name, &error))?;
        Ok(Revision { trees, id: Some(id.to_string()), name, repo })
    }

    /// The merge base of two revisions; an empty side means HEAD.
    fn merge_base(&self, name: &str, one: &str, other: &str) -> Result<ObjectId, Error> {
        let commit = |side: &str| {
            let side = if side.is_empty() { HEAD } else { side };
            let id = self.repo.rev_parse_single(side);
            let id = id.map_err(|_| self.not_found(name, side))?;
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

    /// Returns the error for a revision of which one side is not found.
    fn not_found(&self, name: &str, side: &str) -> Error {
        let error = self.refused(name, &self.missing(side));
        match self.branch_hint(name, side) {
            Some(hint) => error.hint(hint),
            None => error,
        }
    }

    /// Returns how a branch of the remote is named or fetched, for a side that can be one.
    fn branch_hint(&self, name: &str, side: &str) -> Option<String> {
        let branch = side.strip_prefix(REMOTE).unwrap_or(side);
        let is_name = |letter: char| letter.is_ascii_alphanumeric() || "-_./".contains(letter);
        let is_hash = branch.len() >= 7 && branch.chars().all(|digit| digit.is_ascii_hexdigit());
        let can_be_branch = branch.starts_with(|first: char| first.is_ascii_alphanumeric())
            && branch.chars().all(is_name)
            && !branch.contains("..")
            && !is_hash;
        if !can_be_branch || side == HEAD || !self.has_remote_branch() {
            return None;
        }
        let there = format!("{REMOTE}{branch}");
        let sides: Vec<&str> =
            name.split("...").map(|one| if one == side { there.as_str() } else { one }).collect();
        let revision = sides.join("...");
        if self.repo.rev_parse_single(there.as_str()).is_ok() {
            return Some(format!("the branch of the remote is `{there}` here: name `{revision}`"));
        }
        let fetch = format!("origin {branch}:refs/remotes/{there}");
        Some(match (self.is_shallow(), branch == side) {
            (false, _) => {
                format!(
                    "{REVISION_HINT}; `git fetch {fetch}` fetches a branch of the remote, for `{revision}`"
                )
            }
            (true, true) => {
                format!("{SHALLOW_HINT}; `git fetch --unshallow {fetch}` fetches a branch, for `{revision}`")
            }
            (true, false) => format!(
                "the clone is shallow and has only some branches: fetch this one with its history, with \
                 `git fetch --unshallow {fetch}`, or `fetch-depth: 0` for actions/checkout"
            ),
        })
    }

    /// True if the clone has a branch of a remote named origin.
    fn has_remote_branch(&self) -> bool {
        let Ok(references) = self.repo.references() else { return false };
        references.prefixed("refs/remotes/origin/").is_ok_and(|mut branches| branches.next().is_some())
    }

    fn is_shallow(&self) -> bool {
        self.repo.is_shallow().unwrap_or(false)
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
        error.field(FIELD).hint(if self.is_shallow() { SHALLOW_HINT } else { REVISION_HINT })
    }
}

impl Revision {
    /// The paths of the files at the revision; can be shared between threads.
    pub fn names(&self) -> RevisionFiles<'_> {
        RevisionFiles::new(&self.trees, self.repo.object_hash())
    }

    /// Returns the paths of the files at the revision that are not UTF-8, relative to the root.
    pub fn not_utf8(&self) -> &[PathBuf] {
        &self.trees.not_utf8
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
pub struct RevisionFiles<'r> {
    trees: &'r Trees,
    hash: gix::hash::Kind,
    /// The paths by the hash of the bytes, in order; collected on first use.
    by_hash: OnceLock<HashMap<ObjectId, Vec<&'r str>>>,
}

impl<'r> RevisionFiles<'r> {
    fn new(trees: &'r Trees, hash: gix::hash::Kind) -> RevisionFiles<'r> {
        RevisionFiles { trees, hash, by_hash: OnceLock::new() }
    }

    /// Iterates over the paths of the files at or below a path, relative to the root, in order; the empty path is the root.
    pub fn inside(&self, path: &str) -> impl Iterator<Item = &'r str> {
        let files = &self.trees.files;
        let folder = if path.is_empty() { String::new() } else { format!("{path}/") };
        let file = files.get_key_value(path).filter(|_| !path.is_empty());
        let from = folder.clone();
        let below = files.range(from..).take_while(move |(path, _)| path.starts_with(&folder));
        file.into_iter().chain(below).map(|(path, _)| path.as_str())
    }

    /// True if the revision has a file of that path.
    pub fn has(&self, path: &str) -> bool {
        self.trees.files.contains_key(path)
    }

    /// True if the file had exactly these bytes.
    pub fn is(&self, path: &str, bytes: &[u8]) -> bool {
        self.trees.files.get(path).is_some_and(|known| Some(*known) == self.name_of(bytes))
    }

    /// Returns the paths of the files that had exactly these bytes, in order; none for no bytes.
    pub fn paths_of(&self, bytes: &[u8]) -> &[&'r str] {
        let Some(name) = self.name_of(bytes).filter(|_| !bytes.is_empty()) else { return &[] };
        let by_hash = self.by_hash.get_or_init(|| {
            let mut by_hash: HashMap<ObjectId, Vec<&str>> = HashMap::with_capacity(self.trees.files.len());
            for (path, id) in &self.trees.files {
                by_hash.entry(*id).or_default().push(path);
            }
            by_hash
        });
        by_hash.get(&name).map_or(&[], Vec::as_slice)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn trees<'p>(files: impl IntoIterator<Item = (&'p str, &'p str)>) -> Trees {
        let id =
            |text: &str| gix::objs::compute_hash(gix::hash::Kind::Sha1, Kind::Blob, text.as_bytes()).unwrap();
        let files = files.into_iter().map(|(path, text)| (path.to_owned(), id(text))).collect();
        Trees { files, ..Trees::default() }
    }

    fn inside<'r>(trees: &'r Trees, path: &str) -> Vec<&'r str> {
        RevisionFiles::new(trees, gix::hash::Kind::Sha1).inside(path).collect()
    }

    #[test]
    fn the_files_inside_a_path_are_the_file_itself_and_those_below() {
        let trees =
            trees(["a-b/c", "a.b", "a/b", "a/b c", "a/c/d", "a0", "b", "\u{e9}/a"].map(|path| (path, "")));
        for (path, expected) in [
            ("a", &["a/b", "a/b c", "a/c/d"][..]),
            ("a/b", &["a/b"]),
            ("a/c", &["a/c/d"]),
            ("b", &["b"]),
            ("\u{e9}", &["\u{e9}/a"]),
            ("c", &[]),
            ("", &["a-b/c", "a.b", "a/b", "a/b c", "a/c/d", "a0", "b", "\u{e9}/a"]),
        ] {
            assert_eq!(inside(&trees, path), expected, "{path:?}");
        }
    }

    #[test]
    fn many_paths_and_many_texts_are_looked_up_without_reading_all_paths_for_each() {
        let names: Vec<String> = (0..100_000).map(|number| format!("f/{number:06}")).collect();
        let trees =
            trees(names.iter().map(|name| (name.as_str(), name.as_str())).chain([("copy", "f/000007")]));
        let files = RevisionFiles::new(&trees, gix::hash::Kind::Sha1);
        for name in &names {
            assert_eq!(files.inside(name).collect::<Vec<_>>(), [name.as_str()]);
            assert_eq!(files.paths_of(name.as_bytes()).last(), Some(&name.as_str()));
        }
        assert_eq!(files.paths_of(b"f/000007"), ["copy", "f/000007"]);
        assert_eq!(files.paths_of(b"other"), [""; 0]);
        assert_eq!(files.paths_of(b""), [""; 0], "no bytes say nothing");
    }
}
