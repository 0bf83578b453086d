//! The other files that a gate's answer may depend on: in the folder of the edited file, or below the root.
//!
//! Invariant: the walk is bounded, reads no file, and follows no link to a folder.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;

use super::key_hasher::KeyHasher;
use crate::path::{file_name, folder};
use lockgate_policy::{Gate, language_of};
use lockgate_text::Version;

/// The maximum number of files of the gate's languages.
const MAX_FILES: usize = 5000;
/// The same for a server that is notified which of them changed.
const MAX_SURVEYED: usize = 50_000;
/// The maximum number of folder entries that are walked, for each of those files.
const ENTRIES_PER_FILE: usize = 10;
/// Folders of generated and installed files, which are skipped, as are those whose names begin with a dot.
const PASSED_OVER: [&str; 4] = ["node_modules", "target", "venv", "__pycache__"];

/// The languages in which configurations are written.
const CONFIGURATION_LANGUAGES: [&str; 4] = ["json", "jsonc", "toml", "yaml"];
/// The name endings of configurations in no known language.
const CONFIGURATION_ENDINGS: [&str; 3] = [".ini", ".cfg", ".conf"];
/// The name endings of configurations whose names begin with a dot.
const CONFIGURATION_DOT_ENDINGS: [&str; 2] = ["rc", "ignore"];
/// The maximum size of a configuration, in bytes; a larger file is data.
const LARGEST_CONFIGURATION: u64 = 1 << 18;

/// Returns a version of the gate's files in the folders of these paths, without the paths themselves; `None`
/// if there are too many.
pub(super) fn package(gate: &Gate, root: &Path, paths: &[&str]) -> Option<Version> {
    let mut walk = ProjectWalk::new(gate, root, paths);
    let folders: BTreeSet<&str> = paths.iter().map(|path| folder(path)).collect();
    for folder in folders {
        walk.enter(folder)?;
    }
    Some(walk.version())
}

/// Returns a version of the gate's files below the root, without these paths; `None` if there are too many.
pub(super) fn project(gate: &Gate, root: &Path, paths: &[&str]) -> Option<Version> {
    ProjectWalk::new(gate, root, paths).enter_all().map(ProjectWalk::version)
}

/// The files below a root, except the edited ones.
#[derive(Debug)]
pub(super) struct Tree {
    /// The paths of the gate's files, sorted.
    pub(super) sources: Vec<String>,
    /// The small files that may be part of a configuration, each with its version.
    pub(super) configurations: BTreeMap<String, Version>,
}

/// Returns the files below the root, except these; `None` if there are too many.
pub(super) fn tree(gate: &Gate, root: &Path, edited: &[&str]) -> Option<Tree> {
    let walk = ProjectWalk { configurations: Some(BTreeMap::new()), ..ProjectWalk::new(gate, root, edited) };
    let walk = walk.enter_all()?;
    let mut sources: Vec<String> = walk.files.into_iter().map(|(path, _)| path).collect();
    sources.sort_unstable();
    Some(Tree { sources, configurations: walk.configurations.unwrap_or_default() })
}

/// True if the name of a file says that it may be part of a configuration, which others can extend or include
/// from anywhere. A file of the gate's own languages is a source.
pub(super) fn is_configuration(gate: &Gate, path: &str) -> bool {
    let name = file_name(path);
    match language_of(path, None) {
        language if gate.covers(language) => false,
        Some(language) => CONFIGURATION_LANGUAGES.contains(&language.name.as_str()),
        None => {
            let has = |endings: &[&str]| endings.iter().any(|ending| name.ends_with(ending));
            has(&CONFIGURATION_ENDINGS) || (name.starts_with('.') && has(&CONFIGURATION_DOT_ENDINGS))
        }
    }
}

/// Returns versions of the gate's files below a folder, and of those with one of these names, by absolute
/// path; `None` if there are too many, or a path is not UTF-8.
pub(crate) fn survey(gate: &Gate, folder: &Path, named: &[&str]) -> Option<BTreeMap<String, Version>> {
    let walk = ProjectWalk { named, most: MAX_SURVEYED, ..ProjectWalk::new(gate, folder, &[]) };
    let stamped = |(path, hasher): (String, KeyHasher)| {
        Some((folder.join(path).to_str()?.to_owned(), hasher.version()))
    };
    walk.enter_all()?.files.into_iter().map(stamped).collect()
}

struct ProjectWalk<'a> {
    gate: &'a Gate,
    root: &'a Path,
    /// The edited files, whose drafts count instead.
    edited: HashSet<&'a str>,
    /// The names of further files to include.
    named: &'a [&'a str],
    files: Vec<(String, KeyHasher)>,
    /// The files that may be part of a configuration; `None` if they are not requested.
    configurations: Option<BTreeMap<String, Version>>,
    entries: usize,
    most: usize,
}

impl<'a> ProjectWalk<'a> {
    fn new(gate: &'a Gate, root: &'a Path, edited: &[&'a str]) -> ProjectWalk<'a> {
        let edited = edited.iter().copied().collect();
        ProjectWalk {
            gate,
            root,
            edited,
            named: &[],
            files: Vec::new(),
            configurations: None,
            entries: 0,
            most: MAX_FILES,
        }
    }

    /// Records the files of the root and of all folders below it; `None` if there are too many.
    fn enter_all(mut self) -> Option<ProjectWalk<'a>> {
        let mut open = vec![String::new()];
        while let Some(folder) = open.pop() {
            open.extend(self.enter(&folder)?);
        }
        Some(self)
    }

    /// Records the files of a folder, and returns the folders in it; `None` if there are too many.
    fn enter(&mut self, folder: &str) -> Option<Vec<String>> {
        let mut folders = Vec::new();
        let Ok(entries) = std::fs::read_dir(self.root.join(folder)) else { return Some(folders) };
        for entry in entries.flatten() {
            self.entries += 1;
            let name = entry.file_name();
            let Some(name) = name.to_str() else { continue };
            let path = if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() {
                if !name.starts_with('.') && !PASSED_OVER.contains(&name) {
                    folders.push(path);
                }
            } else if self.edited.contains(path.as_str()) {
                // Its draft counts instead.
            } else if self.gate.covers(language_of(&path, None)) || self.named.contains(&name) {
                self.note(path);
            } else {
                self.note_configuration(path);
            }
            let files = self.files.len() + self.configurations.as_ref().map_or(0, BTreeMap::len);
            if self.entries > self.most * ENTRIES_PER_FILE || files > self.most {
                return None;
            }
        }
        Some(folders)
    }

    fn note(&mut self, path: String) {
        let mut hasher = KeyHasher::default();
        let _unreadable = hasher.file_at(&self.root.join(&path));
        self.files.push((path, hasher));
    }

    fn note_configuration(&mut self, path: String) {
        let Some(configurations) = &mut self.configurations else { return };
        if !is_configuration(self.gate, &path) {
            return;
        }
        let found = std::fs::metadata(self.root.join(&path));
        let found = found.ok().filter(|found| found.is_file() && found.len() <= LARGEST_CONFIGURATION);
        if let Some(found) = found {
            let mut hasher = KeyHasher::default();
            hasher.file(&found);
            configurations.insert(path, hasher.version());
        }
    }

    fn version(mut self) -> Version {
        self.files.sort_by(|(one, _), (other, _)| one.cmp(other));
        let mut all = KeyHasher::default();
        self.files.iter().for_each(|(_, hasher)| all.add_version(hasher.version()));
        all.version()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockgate_policy::Catalogue;

    #[test]
    fn too_many_files_are_not_read() {
        let root = tempfile::tempdir().unwrap();
        let gate = Catalogue::embedded().find("markdown-structure").unwrap();
        let write = |number: usize| std::fs::write(root.path().join(format!("{number}.md")), "").unwrap();
        (0..MAX_FILES).for_each(write);
        assert!(project(gate, root.path(), &["a.md"]).is_some());
        assert!(package(gate, root.path(), &["a.md"]).is_some());
        (MAX_FILES..MAX_FILES + 1).for_each(write);
        assert!(project(gate, root.path(), &["a.md"]).is_none());
        assert!(package(gate, root.path(), &["a.md"]).is_none());
        assert!(project(gate, root.path(), &["0.md"]).is_some(), "without itself they are not too many");
    }
}
