//! Finds plain files that an existing configuration makes git obey or run: files that it includes, the hooks in
//! `core.hooksPath`, and the programs that its commands name.
//!
//! The configurations are those of the repositories in the folders above the file, of their worktrees and submodules,
//! and of the user and the system. A `.git` may be a folder, a file that names one, or a link. All paths are followed
//! through links to the place that they lead to, whether that exists or not.
//!
//! Not covered: repositories beside the file that include it, a program that a command finds by the search path or
//! through a variable of its own, and paths that begin with `~user` or `%`.
//!
//! Invariant: a configuration that cannot be read or parsed makes nothing runnable, because git would not
//! obey it either.

mod config;
mod repository;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use self::config::GitConfig;
use self::repository::RepositoryFolders;
use super::project::link_target;
use super::root::Root;
use super::walk::{PathStep, WalkEnd};
use crate::disk::folder::Identity;
use lockgate_text::{WordList, fold};

/// The most configuration files that are read for one file, and the most files of which each includes the next: git
/// reads no more, either (`MAX_INCLUDE_DEPTH` in its config.c).
const MAX_FILES: usize = 1024;
const MAX_DEPTH: usize = 10;
/// The most entries of a folder of hooks that are followed.
const MAX_HOOKS: usize = 1024;

/// The names of the hooks that git runs: githooks(5).
static HOOK_NAMES: WordList = WordList::new(
    "
    applypatch-msg commit-msg fsmonitor-watchman p4-changelist p4-post-changelist p4-pre-submit
    p4-prepare-changelist post-applypatch post-checkout post-commit post-index-change post-merge
    post-receive post-rewrite post-update pre-applypatch pre-auto-gc pre-commit pre-merge-commit
    pre-push pre-rebase pre-receive prepare-commit-msg proc-receive push-to-checkout query-watchman
    reference-transaction sendemail-validate update
    ",
);

/// The use of a path that a configuration names; its name is the rule in errors and questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PathUse {
    Included,
    /// A folder of hooks, each of which may be a link.
    Hooks,
    /// A word of a command: a program, or a folder with one.
    Command,
}

impl PathUse {
    fn rule(self) -> &'static str {
        match self {
            PathUse::Included => "include.path of .git/config",
            PathUse::Hooks => "core.hooksPath of .git/config",
            PathUse::Command => "a command of .git/config",
        }
    }
}

/// Returns the rule by which a configuration of git makes git obey or run the file.
///
/// `file` is the identity of the file, if it exists.
pub(crate) fn rule_for(
    roots: &[Root],
    found: &WalkEnd,
    name: &str,
    file: Option<Identity>,
) -> Option<&'static str> {
    let above = roots.get(found.root)?.real().ancestors().skip(1).map(Path::to_owned);
    let (folders, target) = found.real_paths(roots, name)?;
    let target = WrittenFile::new(target, file, found);
    let may_have_git = |step: &PathStep| step.names().map_or(true, |names| names.may_have(".git"));
    let folders = folders.into_iter().zip(&found.folders).filter(|(_, step)| may_have_git(step));
    let folders: Vec<PathBuf> = folders.map(|(folder, _)| folder).chain(above).collect();
    let repositories: Vec<RepositoryFolders> =
        folders.iter().flat_map(|folder| RepositoryFolders::around(folder)).collect();
    let mut search = ConfigSearch { target: &target, files: Vec::new(), left: MAX_FILES };
    // What the user's own configuration names counts in every repository.
    let tops: Vec<&Path> = repositories.iter().flat_map(RepositoryFolders::tops).collect();
    for file in config::of_user() {
        let stat = rustix::fs::stat(&file).ok();
        if target.is_at_file(&file, || stat.as_ref().map(Identity::from_stat)) {
            return Some(PathUse::Included.rule());
        }
        if let Some(config) = stat.and_then(|stat| config::read_cached(&file, Some(stat))) {
            search.add(file, &config, &tops, 0);
        }
    }
    for repository in &repositories {
        let hooks = repository.default_hooks();
        if target.is_in(&hooks) || target.is_linked_in(&hooks) {
            return Some(PathUse::Hooks.rule());
        }
        let tops: Vec<&Path> = repository.tops().collect();
        for (file, config) in repository.configs() {
            search.add(file.to_owned(), config, &tops, 0);
        }
    }
    search.run()
}

/// The file that is to be written.
struct WrittenFile {
    /// Its absolute path, without links.
    path: PathBuf,
    /// The same, folded.
    folded: String,
    /// The identity of the file, if it exists.
    file: Option<Identity>,
    /// The identities of the folders above it.
    folders: Vec<Identity>,
}

impl WrittenFile {
    fn new(path: PathBuf, file: Option<Identity>, found: &WalkEnd) -> WrittenFile {
        WrittenFile {
            folded: fold(&path.to_string_lossy()),
            path,
            file,
            folders: found.folders.iter().map(|step| step.identity).collect(),
        }
    }

    /// True if a path leads to the file. The identity decides if the file exists: then no path that leads nowhere or to
    /// another file leads to it.
    fn is_at(&self, path: &Path) -> bool {
        self.is_at_file(path, || Identity::at(path).ok())
    }

    /// Like [`WrittenFile::is_at`], with what exists at the path.
    fn is_at_file(&self, path: &Path, existing: impl FnOnce() -> Option<Identity>) -> bool {
        let leads_here = |path: &Path| fold(&path.to_string_lossy()) == self.folded;
        leads_here(path)
            || match self.file {
                Some(file) => existing() == Some(file),
                None => link_target(path).is_some_and(|path| leads_here(&path)),
            }
    }

    /// True if a path leads to a folder above the file.
    fn is_below(&self, folder: &Path) -> bool {
        self.is_in(folder) || link_target(folder).is_some_and(|folder| self.is_in(&folder))
    }

    /// The same for the path of a folder without links.
    fn is_in(&self, folder: &Path) -> bool {
        let rest = self.folded.strip_prefix(&fold(&folder.to_string_lossy()));
        rest.is_some_and(|rest| rest.starts_with('/'))
            || Identity::at(folder).is_ok_and(|folder| self.folders.contains(&folder))
    }

    /// True if a hook in a folder leads to the file. Git's samples are no hooks.
    fn is_linked_in(&self, folder: &Path) -> bool {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten().take(MAX_HOOKS);
        let is_sample = |hook: &PathBuf| hook.extension().is_some_and(|extension| extension == "sample");
        entries.map(|entry| entry.path()).filter(|hook| !is_sample(hook)).any(|hook| self.is_at(&hook))
    }

    /// True if a hook in a folder that also holds the project leads to the file: only what has the name of a hook runs.
    fn is_named_hook_in(&self, folder: &Path) -> bool {
        HOOK_NAMES.iter().any(|name| self.is_at(&folder.join(name)))
    }

    /// True if a word of a command that runs in a folder names the file, or a folder above it below `top`.
    fn is_named_by(&self, word: &str, top: &Path) -> bool {
        // The value of a variable or of a substitution is not known, so any folder may take its place.
        if let Some((_, rest)) = word.rsplit_once(['$', '`', ')', '}']) {
            let rest = rest.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
            let rest = rest.rsplit_once("../").map_or(rest, |(_, rest)| rest).trim_start_matches('/');
            return !rest.is_empty() && self.path.ends_with(rest);
        }
        let Some(path) = config::expand(word, top) else { return false };
        self.is_at(&path)
            || (!top.starts_with(link_target(&path).unwrap_or(path.clone())) && self.is_below(&path))
    }
}

/// A search through configuration files, and those that they include.
struct ConfigSearch<'a> {
    target: &'a WrittenFile,
    files: Vec<ConfigFile>,
    /// How many more included files are read.
    left: usize,
}

/// A configuration file that names others.
#[derive(Clone)]
struct ConfigFile {
    path: PathBuf,
    config: Arc<GitConfig>,
    /// The folders in which git runs with it.
    tops: Vec<PathBuf>,
    /// The number of files that include one another up to this one.
    depth: usize,
}

impl ConfigSearch<'_> {
    fn add(&mut self, path: PathBuf, config: &Arc<GitConfig>, tops: &[&Path], depth: usize) {
        let is_known = self.files.iter().any(|known| known.path == path && known.tops == tops);
        if self.files.len() < MAX_FILES && !is_known && !config.names_nothing() {
            let tops = tops.iter().map(|top| (*top).to_owned()).collect();
            self.files.push(ConfigFile { path, config: config.clone(), tops, depth });
        }
    }

    /// Reads a file that another one includes.
    fn include(&mut self, path: PathBuf, tops: &[&Path], depth: usize) {
        if depth > MAX_DEPTH || self.left == 0 {
            return;
        }
        self.left -= 1;
        if let Some(config) = config::read_cached(&path, None) {
            self.add(path, &config, tops, depth);
        }
    }

    fn run(&mut self) -> Option<&'static str> {
        let mut next = 0;
        while let Some(file) = self.files.get(next).cloned() {
            next += 1;
            if let Some(path_use) = self.check(&file) {
                return Some(path_use.rule());
            }
        }
        None
    }

    fn check(&mut self, ConfigFile { path: file, config, tops, depth }: &ConfigFile) -> Option<PathUse> {
        let real = link_target(file);
        // A relative path starts at the file, by its own name or by that of its target.
        let folders: Vec<&Path> =
            [Some(file.as_path()), real.as_deref()].into_iter().flatten().filter_map(Path::parent).collect();
        let tops: Vec<&Path> = tops.iter().map(PathBuf::as_path).collect();
        for included in &config.includes {
            for path in folders.iter().filter_map(|folder| config::expand(included, folder)) {
                if self.target.is_at(&path) {
                    return Some(PathUse::Included);
                }
                self.include(path, &tops, depth + 1);
            }
        }
        let is_named = |values: &[String], names: &dyn Fn(&str, &Path) -> bool| {
            values.iter().any(|value| tops.iter().any(|top| names(value, top)))
        };
        let is_hook = |value: &str, top: &Path| {
            let Some(folder) = config::expand(value, top) else { return false };
            let holds_project = top.starts_with(link_target(&folder).unwrap_or_else(|| folder.clone()));
            if holds_project {
                self.target.is_named_hook_in(&folder)
            } else {
                self.target.is_below(&folder) || self.target.is_linked_in(&folder)
            }
        };
        if is_named(&config.hook_folders, &is_hook) {
            return Some(PathUse::Hooks);
        }
        let is_program = |word: &str, top: &Path| self.target.is_named_by(word, top);
        is_named(&config.command_words, &is_program).then_some(PathUse::Command)
    }
}
