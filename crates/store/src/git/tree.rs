//! Lists the files of a tree by path.
//!
//! Invariant: at most the limit of entries is visited, whatever the trees contain.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::PathBuf;

use gix::ObjectId;
use gix::objs::tree::EntryKind;

/// The most entries of one revision: a few small trees that contain each other can stand for any number of
/// files.
const MAX_ENTRIES: usize = 4_000_000;

/// The files below a folder of one revision.
#[derive(Debug, Default)]
pub(super) struct Trees {
    /// The ids of the blobs, by path relative to the folder. Links, submodules and paths that are not UTF-8
    /// are left out.
    pub(super) files: BTreeMap<String, ObjectId>,
    /// The paths of the blobs that are not UTF-8, relative to the folder.
    pub(super) not_utf8: Vec<PathBuf>,
    /// The paths of the submodules, relative to the folder.
    pub(super) submodules: BTreeSet<String>,
}

impl Trees {
    /// Reads the tree below a folder.
    ///
    /// Errors: the reason why it cannot be read.
    pub(super) fn read(repo: &gix::Repository, top: ObjectId, folder: &str) -> Result<Trees, String> {
        let mut trees = Trees::default();
        let Some(root) = below(repo, top, folder)? else { return Ok(trees) };
        let (mut todo, mut count) = (vec![(Vec::new(), root)], 0_usize);
        while let Some((path, id)) = todo.pop() {
            let tree = repo.find_tree(id).map_err(|error| describe(&error))?;
            for entry in tree.iter() {
                let entry = entry.map_err(|error| describe(&error))?;
                count += 1;
                if count > MAX_ENTRIES {
                    return Err(format!("it has more than {MAX_ENTRIES} files and folders"));
                }
                let name: &[u8] = entry.filename();
                let inner = if path.is_empty() { name.to_vec() } else { [path.as_slice(), name].join(&b'/') };
                match (entry.kind(), std::str::from_utf8(&inner).ok()) {
                    (EntryKind::Tree, _) => todo.push((inner, entry.object_id())),
                    (EntryKind::Blob | EntryKind::BlobExecutable, Some(path)) => {
                        trees.files.insert(path.to_owned(), entry.object_id());
                    }
                    (EntryKind::Blob | EntryKind::BlobExecutable, None) => {
                        trees.not_utf8.push(OsString::from_vec(inner).into());
                    }
                    (EntryKind::Commit, Some(path)) => {
                        trees.submodules.insert(path.to_owned());
                    }
                    (EntryKind::Commit, None) | (EntryKind::Link, _) => {}
                }
            }
        }
        Ok(trees)
    }
}

/// The tree of a folder, if there was one.
fn below(repo: &gix::Repository, top: ObjectId, folder: &str) -> Result<Option<ObjectId>, String> {
    let mut tree = top;
    for name in folder.split('/').filter(|name| !name.is_empty()) {
        let object = repo.find_tree(tree).map_err(|error| describe(&error))?;
        match object.find_entry(name).filter(|entry| entry.kind() == EntryKind::Tree) {
            Some(entry) => tree = entry.object_id(),
            None => return Ok(None),
        }
    }
    Ok(Some(tree))
}

/// Formats an error with all of its causes on one line.
pub(super) fn describe(error: &gix::Error) -> String {
    let on_one_line = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut causes: Vec<String> = error.iter_errors().map(|cause| on_one_line(cause.to_string())).collect();
    causes.dedup();
    causes.join(": ")
}
