//! What git passes over: the rules of `.gitignore` files and of `.git/info/exclude`, folder by folder.
//!
//! They count whether there is a repository or not, so that a copy of a project is searched as the project is. Above a root
//! they count where a repository begins above it. What a person has set for all projects does not count, so that an answer
//! is the same for all who ask.
//!
//! Invariant: the rules of a folder do not reach into another repository within it.

use crate::store::folder::Folder;
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use rustix::fs::{FileType, OFlags};
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Arc;

/// Bytes of a file with rules that are read.
const LARGEST: u64 = 1 << 20;
/// The name of such a file.
pub(super) const NAME: &str = ".gitignore";

/// The rules of a folder, and of those above it.
#[derive(Debug)]
pub(super) struct Ignores {
    above: Option<Arc<Ignores>>,
    rules: Gitignore,
    /// Those of `.git/info/exclude`, which count where no other rule speaks.
    excluded: Gitignore,
    is_repository: bool,
}

/// What a folder holds that says what is passed over.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Holds {
    /// A `.gitignore`.
    pub(super) rules: bool,
    /// A `.git`: a repository begins here.
    pub(super) repository: bool,
}

impl Ignores {
    /// The rules of a folder of this absolute path.
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
        let rules =
            if rules { read(path, folder.open_to_read(NAME).map(std::fs::File::from).ok()) } else { none() };
        let exclude = || {
            let info = folder.enter(".git")?.enter("info")?;
            info.open_to_read("exclude").map(std::fs::File::from)
        };
        let excluded = if repository { read(path, exclude().ok()) } else { none() };
        // What a repository above says does not count here.
        let above = above.filter(|_| !repository).cloned();
        Some(Arc::new(Ignores { above, rules, excluded, is_repository: repository }))
    }

    /// The rules that come from above a root, where it lies in a repository that begins there.
    pub(super) fn above(root: &Path) -> Option<Arc<Ignores>> {
        if has_git(root) {
            return None;
        }
        let mut folders: Vec<&Path> = root.ancestors().skip(1).collect();
        let top = folders.iter().position(|folder| has_git(folder))?;
        folders.truncate(top + 1);
        folders.iter().rev().fold(None, |above, folder| {
            let is_repository = has_git(folder);
            let (rules, excluded) = (folder.join(NAME), folder.join(".git/info/exclude"));
            let rules = read(folder, open(&rules));
            let excluded = if is_repository { read(folder, open(&excluded)) } else { none() };
            Some(Arc::new(Ignores { above, rules, excluded, is_repository }))
        })
    }

    /// Whether an entry of the folder is passed over; its path is absolute.
    pub(super) fn pass_over(&self, path: &Path, is_folder: bool) -> bool {
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

fn none() -> Gitignore {
    Gitignore::empty()
}

fn has_git(folder: &Path) -> bool {
    folder.join(".git").symlink_metadata().is_ok()
}

/// Opens a file beside the roots, without waiting for what is no file.
fn open(path: &Path) -> Option<std::fs::File> {
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::NOFOLLOW;
    std::fs::OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path).ok()
}

/// The rules that a file has for a folder; none where it cannot be read, and none of a line that is no rule.
fn read(folder: &Path, file: Option<std::fs::File>) -> Gitignore {
    let Some(file) = file.filter(is_regular) else { return none() };
    let mut bytes = Vec::new();
    if file.take(LARGEST).read_to_end(&mut bytes).is_err() {
        return none();
    }
    let mut builder = GitignoreBuilder::new(folder);
    for line in String::from_utf8_lossy(&bytes).trim_start_matches('\u{feff}').lines() {
        // A line that is no rule is none to git either.
        let _unless_broken = builder.add_line(None, line);
    }
    builder.build().unwrap_or_else(|_| none())
}

fn is_regular(file: &std::fs::File) -> bool {
    rustix::fs::fstat(file).is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile)
}
