//! Finds uninstalled packages of npm and similar package managers.

use std::path::Path;

use serde_json::Value;

use super::draft_files::{DraftFiles, Uninstalled, join};
use crate::command::project::folders_above;

const MANIFEST: &str = "package.json";
/// The tables of a manifest that declare packages.
const TABLES: [&str; 4] = ["dependencies", "devDependencies", "optionalDependencies", "peerDependencies"];
/// The package managers, by the lock file of each.
const LOCKS: [(&str, Installer); 6] = [
    ("pnpm-lock.yaml", Installer::Other("pnpm install")),
    ("yarn.lock", Installer::Other("yarn install")),
    ("bun.lock", Installer::Other("bun install")),
    ("bun.lockb", Installer::Other("bun install")),
    ("package-lock.json", Installer::Npm("package-lock.json")),
    ("npm-shrinkwrap.json", Installer::Npm("npm-shrinkwrap.json")),
];
/// Files of a resolver without package folders.
const PLUG_AND_PLAY: [(&str, ()); 2] = [(".pnp.cjs", ()), (".pnp.js", ())];

#[derive(Debug, Clone, Copy)]
enum Installer {
    /// npm, with this lock file.
    Npm(&'static str),
    /// Another package manager, with its command.
    Other(&'static str),
}

/// Finds the uninstalled package of an import, from the manifests above the file.
pub(super) fn uninstalled(files: &DraftFiles<'_>, path: &str, import: &str) -> Option<Uninstalled> {
    let name = package(import)?;
    let types = format!("@types/{}", name.trim_start_matches('@').replace('/', "__"));
    [name, types].into_iter().find_map(|name| {
        let folder = folders_above(path).find(|folder| declares(files, folder, &name))?;
        if is_installed(files, path, &name) {
            return None;
        }
        let (home, install) = installer(files, folder, &name);
        Some(Uninstalled { package: name, manifest: join(folder, MANIFEST), install, folder: home })
    })
}

/// Returns the package of an import; `None` for a path, and for a module of the runtime.
fn package(import: &str) -> Option<String> {
    if import.starts_with(['.', '/', '#']) || import.contains([':', '\\']) {
        return None;
    }
    let parts = if import.starts_with('@') { 2 } else { 1 };
    let name: Vec<&str> = import.split('/').take(parts).collect();
    (name.len() == parts && name.iter().all(|part| !part.is_empty() && *part != "..")).then(|| name.join("/"))
}

fn declares(files: &DraftFiles<'_>, folder: &str, name: &str) -> bool {
    files.declared(&join(folder, MANIFEST), declared_in_json).iter().any(|declared| declared == name)
}

/// The packages that a `package.json` declares.
fn declared_in_json(text: &str) -> Vec<String> {
    let manifest = serde_json::from_str::<Value>(text).unwrap_or_default();
    let tables = TABLES.iter().filter_map(|table| manifest.get(table)?.as_object());
    tables.flat_map(|table| table.keys().cloned()).collect()
}

/// Returns true if the package's folder is in a folder that node searches, above the root as well.
fn is_installed(files: &DraftFiles<'_>, path: &str, name: &str) -> bool {
    let own = files.root.join(path);
    let has = |folder: &Path| folder.join("node_modules").join(name).exists();
    let plug_and_play = files.nearest(path, &PLUG_AND_PLAY).is_some();
    plug_and_play || own.ancestors().skip(1).any(has)
}

/// Returns the folder in which a manifest's packages are installed, and the command.
fn installer(files: &DraftFiles<'_>, folder: &str, name: &str) -> (String, String) {
    match files.nearest(folder, &LOCKS) {
        Some((home, Installer::Other(command))) => (home, command.to_owned()),
        Some((home, Installer::Npm(lock))) => {
            // If the lock file does not list the package yet, `npm ci` fails.
            let lock = files.lock_file(&join(&home, lock)).unwrap_or_default();
            let knows =
                lock.contains(&format!("\"node_modules/{name}\"")) || lock.contains(&format!("\"{name}\""));
            (home, if knows { "npm ci" } else { "npm install" }.to_owned())
        }
        None => (folder.to_owned(), "npm install".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_package_of_an_import_is_its_first_part() {
        for (import, name) in [
            ("left-pad", Some("left-pad")),
            ("react/jsx-runtime", Some("react")),
            ("@a/b/c", Some("@a/b")),
            ("@a", None),
            ("@a/", None),
            ("@a/..", None),
            ("", None),
            ("./left-pad", None),
            ("../x", None),
            ("/x", None),
            ("#x", None),
            ("node:fs", None),
        ] {
            assert_eq!(package(import).as_deref(), name, "{import}");
        }
    }
}
