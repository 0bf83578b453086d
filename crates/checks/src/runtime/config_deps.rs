//! Dependencies of a configuration that no gate definition names: the files beside it, which it may extend,
//! and the installed packages.
//!
//! Invariant: the search is bounded, and reads no file.

use std::collections::HashSet;
use std::fs::{self, DirEntry};
use std::path::{Path, PathBuf};

use super::key_hasher::KeyHasher;
use super::program_kind::ProgramKind;
use lockgate_policy::{Gate, language_of};

/// The maximum number of entries of a folder that are checked.
const MAX_ENTRIES: usize = 2000;
/// The maximum size of a configuration, in bytes; a larger file is data.
const LARGEST: u64 = 1 << 18;
/// The languages of configurations; files in the gate's own languages are its sources.
const WRITTEN_IN: [&str; 6] = ["json", "jsonc", "toml", "yaml", "javascript", "typescript"];
/// Paths that change when a package is installed, besides the folder of a Python environment.
const PACKAGES: [&str; 3] =
    ["node_modules", "node_modules/.package-lock.json", "node_modules/.yarn-integrity"];
/// The library folders of a project's Python environment.
const ENVIRONMENTS: [&str; 2] = [".venv/lib", "venv/lib"];

/// Adds the files beside the configuration in each folder above the file, except the edited ones, and the
/// packages of the project.
pub(super) fn add(
    tool: &mut KeyHasher,
    gate: &Gate,
    kind: ProgramKind<'_>,
    file: &Path,
    edited: &HashSet<PathBuf>,
) {
    let names = kind.names();
    for folder in file.ancestors().skip(1) {
        if names.iter().any(|name| folder.join(name).is_file()) {
            add_directory(tool, gate, kind, folder, edited);
        }
        packages(tool, folder);
    }
}

fn add_directory(
    tool: &mut KeyHasher,
    gate: &Gate,
    kind: ProgramKind<'_>,
    folder: &Path,
    edited: &HashSet<PathBuf>,
) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let counts = |entry: &DirEntry| !edited.contains(&entry.path()) && is_config_dep(gate, kind, entry);
    let mut config_files: Vec<DirEntry> = entries.flatten().take(MAX_ENTRIES).filter(counts).collect();
    config_files.sort_by_key(DirEntry::file_name);
    for entry in config_files {
        add_file(tool, &entry.path());
    }
}

fn is_config_dep(gate: &Gate, kind: ProgramKind<'_>, entry: &DirEntry) -> bool {
    let small = entry.metadata().is_ok_and(|found| found.is_file() && found.len() <= LARGEST);
    let name = entry.file_name();
    let Some(name) = name.to_str().filter(|_| small) else { return false };
    match language_of(name, None) {
        language if gate.covers(language) => false,
        Some(language) => WRITTEN_IN.contains(&language.name.as_str()),
        // Any small file may be configuration of a command. A server restarts for each change, so it has fewer.
        None => matches!(kind, ProgramKind::Command(_)),
    }
}

/// Adds the folders of packages, which change when a package is added or removed.
fn packages(tool: &mut KeyHasher, folder: &Path) {
    PACKAGES.iter().for_each(|name| add_file(tool, &folder.join(name)));
    for environment in ENVIRONMENTS {
        let Ok(versions) = fs::read_dir(folder.join(environment)) else { continue };
        let mut places: Vec<_> = versions.flatten().take(16).map(|version| version.path()).collect();
        places.sort();
        places.iter().for_each(|place| add_file(tool, &place.join("site-packages")));
    }
}

fn add_file(tool: &mut KeyHasher, path: &Path) {
    use std::os::unix::ffi::OsStrExt;
    if let Ok(found) = fs::metadata(path) {
        tool.add(path.as_os_str().as_bytes());
        tool.file(&found);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockgate_policy::Catalogue;
    use lockgate_text::Version;

    fn version_of(kind: ProgramKind<'_>, folder: &Path) -> Version {
        let mut hasher = KeyHasher::default();
        let file = folder.join("sub/a.py");
        let edited = HashSet::from([file.clone()]);
        add(&mut hasher, pyright(), kind, &file, &edited);
        hasher.version()
    }

    fn pyright() -> &'static Gate {
        Catalogue::embedded().find("pyright").unwrap()
    }

    fn server() -> ProgramKind<'static> {
        ProgramKind::Server(pyright().server().unwrap())
    }

    #[test]
    fn what_a_configuration_may_extend_counts_and_sources_do_not() {
        let project = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = project.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let command = ProgramKind::Command(pyright().command().unwrap());
        let both = || [server(), command].map(|kind| version_of(kind, project.path()));
        write("base.json", "{}");
        let alone = both();
        write("base.json", "{ }");
        assert_eq!(both(), alone, "there is no configuration that could extend it");
        write("pyrightconfig.json", "{}");
        let before = both();
        write("b.py", "x = 1");
        write("README.md", "# x");
        assert_eq!(both(), before, "sources and prose");
        write("base.json", "{  }");
        let after = both();
        assert!(after[0] != before[0] && after[1] != before[1]);
        write("base.own", "x");
        assert_eq!(both()[0], after[0], "no server starts anew for what may be anything");
        assert_ne!(both()[1], after[1]);
    }

    #[test]
    fn a_package_that_is_installed_counts() {
        let project = tempfile::tempdir().unwrap();
        fs::create_dir_all(project.path().join(".venv/lib/python3.11/site-packages")).unwrap();
        fs::create_dir_all(project.path().join("node_modules")).unwrap();
        let before = version_of(server(), project.path());
        fs::write(project.path().join(".venv/lib/python3.11/site-packages/new.py"), "").unwrap();
        let after = version_of(server(), project.path());
        assert_ne!(after, before);
        fs::create_dir(project.path().join("node_modules/new")).unwrap();
        assert_ne!(version_of(server(), project.path()), after);
    }
}
