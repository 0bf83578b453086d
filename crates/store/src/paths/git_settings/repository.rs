//! The git folders of a repository, its configurations, and the folders that git works in with them.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::config::{self, GitConfig};
use crate::paths::project::link_target;

/// The most git folders of one repository: worktrees and submodules.
const MAX_FOLDERS: usize = 256;
/// The depth to which the folder of submodules is searched; the name of a submodule may have slashes.
const MAX_DEPTH: usize = 6;

/// A git folder, with the folders that git works in with it. All paths are without links.
pub(super) struct RepositoryFolders {
    /// The git folder of the worktree.
    git: PathBuf,
    /// The folder that worktrees share; the same, unless there are several.
    common: PathBuf,
    /// Its configuration files.
    configs: Vec<(PathBuf, Arc<GitConfig>)>,
    tops: Vec<PathBuf>,
}

impl RepositoryFolders {
    /// Returns the repository whose `.git` a folder has, with its worktrees and submodules; empty if it has none. The
    /// folder's path is without links.
    pub(super) fn around(folder: &Path) -> Vec<RepositoryFolders> {
        let Some(git) = git_folder(folder) else { return Vec::new() };
        let main = RepositoryFolders::at(git, Some(folder));
        let mut modules = vec![main.common.join("modules"), main.git.join("modules")];
        modules.dedup();
        let mut repositories = vec![main];
        for modules in modules {
            collect_modules(&modules, MAX_DEPTH, &mut repositories);
        }
        repositories
    }

    fn at(git: PathBuf, top: Option<&Path>) -> RepositoryFolders {
        let common = named_in(&git, "commondir", "").unwrap_or_else(|| git.clone());
        let worktrees: Vec<PathBuf> = entries(&common.join("worktrees")).collect();
        let (config, own_config) = (common.join("config"), git.join("config.worktree"));
        let mut files: Vec<PathBuf> = worktrees.iter().map(|folder| folder.join("config.worktree")).collect();
        files.extend([config.clone(), common.join("config.worktree")]);
        if git != common {
            files.extend([git.join("config"), own_config.clone()]);
        }
        let configs =
            files.into_iter().filter_map(|file| Some((file.clone(), config::read_cached(&file, None)?)));
        let configs: Vec<(PathBuf, Arc<GitConfig>)> = configs.collect();
        let mut tops: Vec<PathBuf> = top.map(Path::to_owned).into_iter().collect();
        let named = configs.iter().filter(|(file, _)| [&config, &own_config].contains(&file));
        let named = named.flat_map(|(_, config)| &config.worktrees);
        tops.extend(named.filter_map(|path| link_target(&config::expand(path, &git)?)));
        for worktree in worktrees {
            // The file names the `.git` of the worktree.
            let named = named_in(&worktree, "gitdir", "");
            tops.extend(named.as_deref().and_then(Path::parent).map(Path::to_owned));
        }
        // The main worktree is beside the shared folder. Some hooks run in the git folder itself.
        tops.extend(common.parent().map(Path::to_owned));
        tops.extend([common.clone(), git.clone()]);
        tops.sort_unstable();
        tops.dedup();
        RepositoryFolders { git, common, configs, tops }
    }

    /// The folders that git works in.
    pub(super) fn tops(&self) -> impl Iterator<Item = &Path> {
        self.tops.iter().map(PathBuf::as_path)
    }

    /// The folder of the hooks, if no setting names another.
    pub(super) fn default_hooks(&self) -> PathBuf {
        let hooks = self.common.join("hooks");
        if hooks.is_symlink() { link_target(&hooks).unwrap_or(hooks) } else { hooks }
    }

    /// Its configuration files that exist and that git obeys.
    pub(super) fn configs(&self) -> impl Iterator<Item = (&Path, &Arc<GitConfig>)> {
        self.configs.iter().map(|(path, config)| (path.as_path(), config))
    }
}

/// The git folder of a worktree: its `.git`, or the folder that this file names.
fn git_folder(folder: &Path) -> Option<PathBuf> {
    let git = folder.join(".git");
    let kind = fs::symlink_metadata(&git).ok()?;
    match kind.is_dir() {
        true => Some(git),
        false if git.is_dir() => link_target(&git),
        false => named_in(folder, ".git", "gitdir:"),
    }
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
            // The path of a linked one counts beside that of its target.
            let top = path.parent().and_then(link_target);
            repositories.extend(link_target(&path).map(|git| RepositoryFolders::at(git, top.as_deref())));
            collect_modules(&nested, depth - 1, repositories);
        } else if is_folder {
            collect_modules(&path, depth - 1, repositories);
        }
    }
}
