//! The git folders of a repository, and the folders that git works in with them.

use std::fs;
use std::path::{Path, PathBuf};

use super::config;
use crate::paths::project::link_target;

/// The most git folders of one repository: worktrees and submodules.
const MAX_FOLDERS: usize = 256;
/// The depth to which the folder of submodules is searched; the name of a submodule may have slashes.
const MAX_DEPTH: usize = 6;

/// A git folder, with the folders that git works in with it.
pub(super) struct RepositoryFolders {
    /// The git folder of the worktree.
    git: PathBuf,
    /// The folder that worktrees share; the same, unless there are several.
    common: PathBuf,
    tops: Vec<PathBuf>,
}

impl RepositoryFolders {
    /// Returns the repository whose `.git` a folder has, with its worktrees and submodules; empty if it has none.
    pub(super) fn around(folder: &Path) -> Vec<RepositoryFolders> {
        let Some(git) = git_folder(folder) else { return Vec::new() };
        let main = RepositoryFolders::at(git, Some(folder));
        let modules = [main.common.join("modules"), main.git.join("modules")];
        let mut repositories = vec![main];
        for modules in modules {
            collect_modules(&modules, MAX_DEPTH, &mut repositories);
        }
        repositories
    }

    fn at(git: PathBuf, top: Option<&Path>) -> RepositoryFolders {
        let common = named_in(&git, "commondir", "").unwrap_or_else(|| git.clone());
        let mut tops: Vec<PathBuf> = top.map(Path::to_owned).into_iter().collect();
        for config in [common.join("config"), git.join("config.worktree")] {
            let config = config::read_cached(&config, None);
            let worktrees = config.iter().flat_map(|config| &config.worktrees);
            tops.extend(worktrees.filter_map(|path| config::expand(path, &git)));
        }
        for worktree in entries(&common.join("worktrees")) {
            // The file names the `.git` of the worktree.
            let named = named_in(&worktree, "gitdir", "");
            tops.extend(named.as_deref().and_then(Path::parent).map(Path::to_owned));
        }
        // The main worktree is beside the shared folder. Some hooks run in the git folder itself.
        tops.extend(common.parent().map(Path::to_owned));
        tops.extend([common.clone(), git.clone()]);
        let mut tops: Vec<PathBuf> = tops.iter().filter_map(|top| link_target(top)).collect();
        tops.sort_unstable();
        tops.dedup();
        RepositoryFolders { git, common, tops }
    }

    /// The folders that git works in.
    pub(super) fn tops(&self) -> impl Iterator<Item = &Path> {
        self.tops.iter().map(PathBuf::as_path)
    }

    /// The folder of the hooks, if no setting names another.
    pub(super) fn default_hooks(&self) -> PathBuf {
        self.common.join("hooks")
    }

    /// Its configuration files.
    pub(super) fn configs(&self) -> Vec<PathBuf> {
        let worktrees = entries(&self.common.join("worktrees"));
        let mut files: Vec<PathBuf> = worktrees.map(|folder| folder.join("config.worktree")).collect();
        files.extend([
            self.common.join("config"),
            self.common.join("config.worktree"),
            self.git.join("config"),
            self.git.join("config.worktree"),
        ]);
        files.dedup();
        files
    }
}

/// The git folder of a worktree: its `.git`, or the folder that this file names.
fn git_folder(folder: &Path) -> Option<PathBuf> {
    let git = folder.join(".git");
    let kind = fs::metadata(&git).ok()?;
    if kind.is_dir() { link_target(&git) } else { named_in(folder, ".git", "gitdir:") }
}

/// The path that a file of a folder holds after these words.
fn named_in(folder: &Path, name: &str, before: &str) -> Option<PathBuf> {
    let text = config::read(&folder.join(name))?;
    let text = String::from_utf8_lossy(&text);
    let path = text.strip_prefix(before)?.trim_matches([' ', '\n', '\r']);
    if path.is_empty() { None } else { link_target(&folder.join(path)) }
}

fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.take(MAX_FOLDERS).map(|entry| entry.path())
}

/// Adds the git folders of submodules.
fn collect_modules(folder: &Path, depth: usize, repositories: &mut Vec<RepositoryFolders>) {
    for path in entries(folder) {
        if repositories.len() >= MAX_FOLDERS || depth == 0 {
            return;
        }
        let is_folder = fs::symlink_metadata(&path).is_ok_and(|meta| meta.is_dir());
        if path.join("HEAD").symlink_metadata().is_ok() {
            let nested = path.join("modules");
            repositories.push(RepositoryFolders::at(path, None));
            collect_modules(&nested, depth - 1, repositories);
        } else if is_folder {
            collect_modules(&path, depth - 1, repositories);
        }
    }
}
