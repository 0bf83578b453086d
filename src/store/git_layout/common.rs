//! Folders beneath the roots that a `commondir` names: git reads settings, hooks, objects and refs of a git folder there.
//!
//! The roots are searched for files of that name, but only when a write is about a folder with both `objects` and `refs` in it.
//! Folders named `.git` are left out: what lies in them is protected already. A `commondir` outside of all roots is not seen.
//!
//! Invariant: no symlink to a folder is followed, so the search ends.

use std::cell::OnceCell;
use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode, OFlags, openat};
use rustix::io::Errno;

use super::super::file_place::join;
use super::super::folder::Folder;
use super::super::root::{Root, without_dots};
use super::super::trouble;
use super::folded;

/// The most bytes that are read of a `commondir`: no path is longer (`PATH_MAX`).
const LONGEST: u64 = 4096;

/// As many symlinks as the kernel itself follows.
const MOST_LINKS: usize = 40;

/// The folders that the `commondir` files beneath some roots name; searched for at most once.
pub(super) struct CommonFolders<'a> {
    roots: &'a [Root],
    found: OnceCell<Vec<Common>>,
}

/// A folder that a `commondir` names.
struct Common {
    /// The path of the `commondir` beneath its root.
    by: String,
    /// The absolute path that it names.
    folder: PathBuf,
}

impl<'a> CommonFolders<'a> {
    pub(super) fn new(roots: &'a [Root]) -> CommonFolders<'a> {
        CommonFolders { roots, found: OnceCell::new() }
    }

    /// Gives the path of a `commondir` with a `HEAD` beside it that names this folder, which need not be there.
    pub(super) fn named_by(&self, folder: &Path) -> rustix::io::Result<Option<&str>> {
        let found = match self.found.get() {
            Some(found) => found,
            None => {
                let found = search(self.roots)?;
                self.found.get_or_init(|| found)
            }
        };
        let named = found.iter().find(|common| is_same(&common.folder, folder));
        Ok(named.map(|common| common.by.as_str()))
    }
}

fn search(roots: &[Root]) -> rustix::io::Result<Vec<Common>> {
    let (mut found, mut space) = (Vec::new(), Vec::new());
    for root in roots {
        let top = root.top().map_err(|error| trouble::errno_of(&error).unwrap_or(Errno::IO))?;
        let mut open = vec![String::new()];
        while let Some(path) = open.pop() {
            match look(&top, &path, &mut space) {
                Ok(seen) => {
                    open.extend(seen.folders.iter().map(|name| join(&path, name)));
                    let names = seen.commondirs.iter().filter(|_| seen.head);
                    found.extend(names.filter_map(|name| common(root, &path, name)));
                }
                // It is gone by now, or may not be listed.
                Err(
                    Errno::NOENT
                    | Errno::NOTDIR
                    | Errno::LOOP
                    | Errno::ACCESS
                    | Errno::PERM
                    | Errno::IO
                    | Errno::NAMETOOLONG,
                ) => {}
                Err(errno) => return Err(errno),
            }
        }
    }
    Ok(found)
}

/// What a folder holds, as far as it matters here.
#[derive(Default)]
struct Seen {
    folders: Vec<String>,
    commondirs: Vec<String>,
    head: bool,
}

fn look(top: &Folder, path: &str, space: &mut Vec<u8>) -> rustix::io::Result<Seen> {
    let folder = top.descend(path)?;
    let mut seen = Seen::default();
    folder.entries(space, |_, kind, name| {
        let Ok(name) = name.to_str() else { return Ok(()) };
        match folded(name).as_str() {
            "head" => seen.head = true,
            "commondir" => seen.commondirs.push(name.to_owned()),
            _ => {}
        }
        let kind = match kind {
            FileType::Unknown => {
                folder.stat(name).map_or(FileType::Unknown, |stat| FileType::from_raw_mode(stat.st_mode))
            }
            known => known,
        };
        if kind == FileType::Directory && name != ".git" {
            seen.folders.push(name.to_owned());
        }
        Ok(())
    })?;
    Ok(seen)
}

/// Reads a `commondir` as git does: a path, relative to the folder that it lies in, without the line ends behind it.
fn common(root: &Root, path: &str, name: &str) -> Option<Common> {
    let folder = root.real().join(path);
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = File::from(openat(CWD, folder.join(name), flags, Mode::empty()).ok()?);
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(LONGEST).read_to_end(&mut bytes).ok()?;
    let text = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
    let end = text.iter().rposition(|byte| !matches!(byte, b'\n' | b'\r')).map_or(0, |last| last + 1);
    let target = folder.join(OsStr::from_bytes(text.get(..end).unwrap_or_default()));
    Some(Common { by: join(path, name), folder: target })
}

/// Returns true if two paths lead to one folder, or would if it was made.
fn is_same(one: &Path, other: &Path) -> bool {
    match (one.metadata(), other.metadata()) {
        (Ok(one), Ok(other)) => (one.dev(), one.ino()) == (other.dev(), other.ino()),
        // A folder on the way that is not there may be made later.
        (Err(_), _) | (_, Err(_)) => resolved(one) == resolved(other),
    }
}

/// A path with its links followed, also those to what is not there yet.
fn resolved(path: &Path) -> PathBuf {
    let mut path = without_dots(path);
    for _ in 0..MOST_LINKS {
        let above: Vec<&Path> = path.ancestors().collect();
        let Some(link) = above.into_iter().rev().find(|above| above.is_symlink()) else { break };
        let (Ok(target), Ok(rest)) = (link.read_link(), path.strip_prefix(link)) else { break };
        path = without_dots(&link.parent().unwrap_or(link).join(target).join(rest));
    }
    path
}
