//! The ignore rules of `.gitignore` files and of `.git/info/exclude`, folder by folder.
//!
//! They apply with or without a repository, so that a copy of a project is searched like the project. Rules
//! above a root apply if the root lies in a repository that begins there. The user's global ignore file does
//! not apply, so that an answer is the same for all users.
//!
//! Invariant: the rules of a folder do not apply in another repository within it.

use crate::disk::folder::{self, Folder};
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use rustix::fs::OFlags;
use std::fs::{File, OpenOptions};
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Arc;

/// The most bytes that are read of a file with rules.
const LARGEST: u64 = 1 << 20;
/// The most rules that apply in a folder. A rule with several stars takes up to 14 KiB of memory.
const MAX_RULES: usize = 5_000;
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
    /// The number of rules of this folder and of those above it.
    count: usize,
}

/// The entries of a folder that affect its ignore rules.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Holds {
    /// Set if the folder has a `.gitignore`.
    pub(super) rules: bool,
    /// Set for a `.git`: a repository begins here.
    pub(super) repository: bool,
}

/// The open files with the rules of a folder.
struct RuleFiles {
    rules: Option<File>,
    excluded: Option<File>,
    is_repository: bool,
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
        let rules = rules.then(open_rules).flatten().map(File::from);
        let excluded = repository.then(open_excluded).flatten().map(File::from);
        // The rules of an outer repository do not apply here.
        let above = above.filter(|_| !repository).cloned();
        let files = RuleFiles { rules, excluded, is_repository: repository };
        Some(Arc::new(Ignores::new(above, path, files)))
    }

    /// Reads the rules of a folder from its files.
    fn new(above: Option<Arc<Ignores>>, path: &Path, files: RuleFiles) -> Ignores {
        let RuleFiles { rules, excluded, is_repository } = files;
        let mut count = above.as_ref().map_or(0, |above| above.count);
        let rules = read(path, rules, &mut count);
        let excluded = read(path, excluded, &mut count);
        Ignores { above, rules, excluded, is_repository, count }
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
            let excluded = is_repository.then(open_excluded).flatten();
            let files = RuleFiles { rules: open(&folder.join(NAME)), excluded, is_repository };
            Some(Arc::new(Ignores::new(above, folder, files)))
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

/// Reads the rules of a file for a folder, as long as `count` is below [`MAX_RULES`]; unreadable files and invalid lines
/// give none.
fn read(folder: &Path, file: Option<File>, count: &mut usize) -> Gitignore {
    let is_regular = |file: &File| rustix::fs::fstat(file).is_ok_and(|stat| folder::is_regular(&stat));
    let Some(file) = file.filter(is_regular) else { return Gitignore::empty() };
    let mut bytes = Vec::new();
    if file.take(LARGEST).read_to_end(&mut bytes).is_err() {
        return Gitignore::empty();
    }
    let mut builder = GitignoreBuilder::new(folder);
    let text = String::from_utf8_lossy(&bytes);
    let lines = text.trim_start_matches('\u{feff}').lines();
    let rules = lines.filter(|line| !line.trim().is_empty() && !line.starts_with('#'));
    for rule in rules.take(MAX_RULES.saturating_sub(*count)) {
        // Git ignores an invalid line as well.
        let _unless_broken = builder.add_line(None, rule);
        *count += 1;
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_than_so_many_rules_apply_in_a_folder() {
        let folder = tempfile::tempdir().unwrap();
        let rules = |from: usize, to: usize| (from..to).map(|at| format!("f{at}\n")).collect::<String>();
        let files = |text: &str| {
            let path = folder.path().join("rules");
            std::fs::write(&path, text).unwrap();
            RuleFiles { rules: open(&path), excluded: None, is_repository: false }
        };
        let is_ignored = |level: &Ignores, name: &str| level.is_ignored(&folder.path().join(name), false);
        let commented = format!("# a comment\n\n{}", rules(0, MAX_RULES - 1));
        let outer = Arc::new(Ignores::new(None, folder.path(), files(&commented)));
        assert!(is_ignored(&outer, &format!("f{}", MAX_RULES - 2)), "comments are no rules");
        let inner = Ignores::new(Some(outer), folder.path(), files(&rules(MAX_RULES, MAX_RULES + 2)));
        assert!(is_ignored(&inner, &format!("f{MAX_RULES}")));
        assert!(!is_ignored(&inner, &format!("f{}", MAX_RULES + 1)), "the rules above count as well");
    }
}
