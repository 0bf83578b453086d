//! The ignore rules of `.gitignore` files and of `.git/info/exclude`, folder by folder.
//!
//! They apply with or without a repository, so that a copy of a project is searched like the project. Rules
//! above a root apply if the root lies in a repository that begins there. The user's global ignore file does
//! not apply, so that an answer is the same for all users.
//!
//! Invariant: the rules of a folder do not apply in another repository within it.

use crate::disk::folder::Folder;
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use rustix::fs::{FileType, OFlags};
use std::fs::{File, OpenOptions};
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Arc;

/// The most bytes that are read of a file with rules.
const LARGEST: u64 = 1 << 20;
/// The name of a file with rules.
pub(super) const NAME: &str = ".gitignore";

/// The rules of a folder, and of those above it.
#[derive(Debug)]
pub(super) struct Ignores {
    above: Option<Arc<Ignores>>,
    rules: Gitignore,
    /// The rules of `.git/info/exclude`, which apply if no other rule does.
    excluded: Gitignore,
    is_repository: bool,
}

/// The entries of a folder that affect its ignore rules.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Holds {
    /// Set if the folder has a `.gitignore`.
    pub(super) rules: bool,
    /// Set for a `.git`: a repository begins here.
    pub(super) repository: bool,
}

impl Ignores {
    /// Reads the rules of the folder with this absolute path.
    pub(super) fn read(
        above: Option<&Arc<Ignores>>,
        path: &Path,
        folder: &Folder,
        holds: Holds,
    ) -> Option<Arc<Ignores>> {
        let Holds { rules, repository } = holds;
        if !rules && !repository {
            return above.cloned();
        }
        let open_rules = || folder.open_to_read(NAME).ok();
        let open_excluded = || folder.enter(".git").ok()?.enter("info").ok()?.open_to_read("exclude").ok();
        let rules = read(path, rules.then(open_rules).flatten().map(File::from));
        let excluded = read(path, repository.then(open_excluded).flatten().map(File::from));
        // The rules of an outer repository do not apply here.
        let above = above.filter(|_| !repository).cloned();
        Some(Arc::new(Ignores { above, rules, excluded, is_repository: repository }))
    }

    /// The rules from above a root, if it lies in a repository that begins there.
    pub(super) fn above(root: &Path) -> Option<Arc<Ignores>> {
        if has_git(root) {
            return None;
        }
        let mut folders: Vec<&Path> = root.ancestors().skip(1).collect();
        let top = folders.iter().position(|folder| has_git(folder))?;
        folders.truncate(top + 1);
        folders.iter().rev().fold(None, |above, folder| {
            let is_repository = has_git(folder);
            let open_excluded = || open(&folder.join(".git/info/exclude"));
            let rules = read(folder, open(&folder.join(NAME)));
            let excluded = read(folder, is_repository.then(open_excluded).flatten());
            Some(Arc::new(Ignores { above, rules, excluded, is_repository }))
        })
    }

    /// True if an entry of the folder is ignored; its path is absolute.
    pub(super) fn is_ignored(&self, path: &Path, is_folder: bool) -> bool {
        let mut excluded = Match::None;
        for level in std::iter::successors(Some(self), |level| level.above.as_deref()) {
            match level.rules.matched(path, is_folder) {
                Match::Ignore(_) => return true,
                Match::Whitelist(_) => return false,
                Match::None => {}
            }
            if level.is_repository {
                excluded = level.excluded.matched(path, is_folder);
            }
        }
        excluded.is_ignore()
    }
}

fn has_git(folder: &Path) -> bool {
    folder.join(".git").symlink_metadata().is_ok()
}

/// Opens a file outside of the roots, without blocking on a FIFO or device.
fn open(path: &Path) -> Option<File> {
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::NOFOLLOW;
    OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path).ok()
}

/// Reads the rules of a file for a folder; unreadable files and invalid lines give none.
fn read(folder: &Path, file: Option<File>) -> Gitignore {
    let Some(file) = file.filter(is_regular) else { return Gitignore::empty() };
    let mut bytes = Vec::new();
    if file.take(LARGEST).read_to_end(&mut bytes).is_err() {
        return Gitignore::empty();
    }
    let mut builder = GitignoreBuilder::new(folder);
    for line in String::from_utf8_lossy(&bytes).trim_start_matches('\u{feff}').lines() {
        // Git ignores an invalid line as well.
        let _unless_broken = builder.add_line(None, line);
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}

fn is_regular(file: &File) -> bool {
    rustix::fs::fstat(file).is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile)
}
