//! Finds plain files that a repository's own configuration makes git obey or run: files that `.git/config`
//! includes, and the hooks in its `core.hooksPath`.
//!
//! Not covered: the user's own configuration, a `.git` that is a file or a link, and paths that begin with
//! `~` or `%`.
//!
//! Invariant: a configuration that cannot be read or parsed makes nothing runnable, because git would not
//! obey it either.

use super::file_location::join;
use super::root::Root;
use super::spelling;
use super::walk::{PathStep, WalkEnd};
use crate::disk::folder::{Folder, Identity};
use lockgate_text::fold;
use rustix::fs::FileType;
use std::fs::File;
use std::io::Read;

/// The rules that errors and questions name.
const INCLUDED: &str = "include.path of .git/config";
const HOOKS: &str = "core.hooksPath of .git/config";

/// The largest configuration that is read, in bytes.
const LARGEST: u64 = 1 << 20;
/// The most configuration files that are read for one repository.
const MAX_FILES: usize = 32;

/// A path in the root that git's configuration names.
struct ConfiguredPath {
    path: String,
    rule: &'static str,
}

/// Returns the rule by which the configuration of a repository around a path makes git obey or run the file.
pub(crate) fn rule_for(roots: &[Root], found: &WalkEnd, name: &str) -> Option<&'static str> {
    let root = roots.get(found.root)?;
    let top = &found.folders.first()?.folder;
    let folders = found.folders.iter().fold(String::new(), |path, step| join(&path, &step.name));
    let target = join(&join(&folders, &found.missing.join("/")), name);
    let mut path = String::new();
    for step in &found.folders {
        let PathStep { name: folder, folder: at, .. } = step;
        path = join(&path, folder);
        if step.names().is_ok_and(|names| !names.may_have(".git")) {
            continue;
        }
        if !at.stat(".git").is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Directory) {
            continue;
        }
        let paths = configured_paths(root, top, &path);
        if let Some(path) = paths.iter().find(|path| path.leads_to(top, found, name, &target)) {
            return Some(path.rule);
        }
    }
    None
}

impl ConfiguredPath {
    /// Returns true if the file is the configured one, or lies in the configured folder.
    fn leads_to(&self, top: &Folder, found: &WalkEnd, name: &str, target: &str) -> bool {
        let (own, target) = (fold(&self.path), fold(target));
        let below = target.strip_prefix(&own).is_some_and(|rest| rest.starts_with('/') && self.rule == HOOKS);
        if own == target || below {
            return true;
        }
        let Ok(stat) = top.stat_target(&self.path) else { return false };
        let identity = Identity::from_stat(&stat);
        let file = found.folders.last().filter(|_| found.missing.is_empty());
        let is_file = file
            .and_then(|step| step.folder.stat(name).ok())
            .is_some_and(|stat| Identity::from_stat(&stat) == identity);
        is_file || (self.rule == HOOKS && found.folders.iter().any(|step| step.identity == identity))
    }
}

/// Returns the paths that the configuration of the repository in a folder names, with those of the files that it includes.
fn configured_paths(root: &Root, top: &Folder, folder: &str) -> Vec<ConfiguredPath> {
    let mut paths: Vec<ConfiguredPath> = Vec::new();
    let mut files = vec![join(folder, ".git/config"), join(folder, ".git/config.worktree")];
    let mut next = 0;
    while let Some(file) = files.get(next).filter(|_| next < MAX_FILES).cloned() {
        next += 1;
        let Some(config) = read(top, &file) else { continue };
        let parent = file.rsplit_once('/').map_or("", |(parent, _)| parent);
        for included in values(&config, &["include", "includeIf"], "path") {
            if let Some(path) = resolve(root, parent, &included) {
                if !files.contains(&path) {
                    files.push(path.clone());
                }
                paths.push(ConfiguredPath { path, rule: INCLUDED });
            }
        }
        let hooks = values(&config, &["core"], "hooksPath");
        let hooks = hooks.iter().filter_map(|hooks| resolve(root, folder, hooks));
        paths.extend(hooks.map(|path| ConfiguredPath { path, rule: HOOKS }));
    }
    paths
}

fn values(config: &gix_config::File, sections: &[&str], key: &str) -> Vec<String> {
    let sections = sections.iter().filter_map(|section| config.sections_by_name(section)).flatten();
    sections.flat_map(|section| section.values(key)).map(|value| value.to_string()).collect()
}

/// The path in the root that a value names, relative to a folder; `None` if it leads elsewhere.
fn resolve(root: &Root, folder: &str, value: &str) -> Option<String> {
    if value.is_empty() || value.starts_with(['~', '%']) {
        return None;
    }
    let path = match value.strip_prefix('/') {
        Some(_) => root.rest_of(value.as_ref())?.1.into_os_string().into_string().ok()?,
        None => join(folder, value),
    };
    spelling::normal(&path).filter(|path| !path.is_empty())
}

/// Reads a configuration, without following links.
fn read(top: &Folder, path: &str) -> Option<gix_config::File> {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let file = top.descend(folder).ok()?.open_to_read(name).ok()?;
    let mut text = Vec::new();
    File::from(file).take(LARGEST).read_to_end(&mut text).ok()?;
    gix_config::File::try_from(String::from_utf8_lossy(&text).as_ref()).ok()
}
