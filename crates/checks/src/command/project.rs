//! Reads a run's settings from the project around a file: the working directory, whether a configuration
//! exists, and values stored in files.
//!
//! Invariant: only the folders from the file's own up to the root are inspected, and at most the first MiB of
//! a file is read.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::path::folder;
use crate::regular;
use lockgate_policy::{CommandSpec, Configuration, ProjectValue};
use lockgate_text::Version;

/// The largest part of a project file that is read, in bytes.
const MAX_READ: u64 = 1 << 20;
/// The length of a project's name, in characters.
const NAME_LENGTH: usize = 16;

/// The folders above a path, from its own up to the root, relative to the root.
pub(crate) fn folders_above(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(folder(path)), |above| (!above.is_empty()).then(|| folder(above)))
}

/// Returns the nearest folder above the file that has one of these files, relative to the root; the root if there is
/// none. If no file contains the text that it must, the nearest folder that has one by its name counts.
pub(crate) fn folder_of<'p>(root: &Path, path: &'p str, files: &[Configuration]) -> &'p str {
    nearest(path, files, |path, contains| {
        let place = root.join(path);
        match contains {
            "" => place.symlink_metadata().is_ok(),
            contains => read(&place).is_some_and(|text| text.contains(contains)),
        }
    })
}

/// Like [`folder_of`], with a function that says which paths exist and contain a text.
pub(super) fn nearest<'p>(
    path: &'p str,
    files: &[Configuration],
    known: impl Fn(&Path, &str) -> bool,
) -> &'p str {
    let counts =
        |folder: &&str| files.iter().any(|file| known(&Path::new(folder).join(&file.name), &file.contains));
    let has = |folder: &&str| files.iter().any(|file| known(&Path::new(folder).join(&file.name), ""));
    folders_above(path).find(counts).or_else(|| folders_above(path).find(has)).unwrap_or_default()
}

/// Returns a name for the project of a file. It is derived from the nearest folder above with a lock file of
/// the command's configuration, else from the working directory.
pub(super) fn name(root: &Path, path: &str, command: &CommandSpec) -> String {
    let is_lock = |file: &&Configuration| Path::new(&file.name).extension() == Some(OsStr::new("lock"));
    let locks: Vec<Configuration> = command.config.iter().filter(is_lock).cloned().collect();
    let has_lock = folders_above(path)
        .any(|folder| locks.iter().any(|lock| root.join(folder).join(&lock.name).is_file()));
    let folder = folder_of(root, path, if has_lock { &locks } else { &command.environment.cwd });
    Version::hash(folder.as_bytes()).hex().chars().take(NAME_LENGTH).collect()
}

/// Joins a relative folder to a root, without a trailing slash for the root itself.
pub(crate) fn join(root: &Path, folder: &str) -> PathBuf {
    if folder.is_empty() { root.to_owned() } else { root.join(folder) }
}

/// Returns true if one of these configuration files is in a folder above the file.
pub(super) fn is_configured(root: &Path, path: &str, config: &[Configuration]) -> bool {
    let counts = |folder: &str| {
        let folder = root.join(folder);
        config.iter().any(|file| {
            let place = folder.join(&file.name);
            if file.contains.is_empty() {
                place.metadata().is_ok()
            } else {
                read(&place).is_some_and(|text| text.contains(&file.contains))
            }
        })
    };
    folders_above(path).any(counts)
}

/// Returns a value from the nearest file above that has it.
///
/// A value that begins with `-` or `@` counts as missing: at the start of an argument it could be taken for
/// an option.
pub(super) fn value(root: &Path, path: &str, value: &ProjectValue) -> String {
    let places = folders_above(path)
        .flat_map(|folder| value.files.iter().map(move |name| root.join(folder).join(name)));
    let found = |place: PathBuf| {
        let text = read(&place)?;
        let found = value.pattern.captures(&text)?.get(1)?.as_str().to_owned();
        (!found.starts_with(['-', '@']) && !found.contains('\0')).then_some(found)
    };
    places.into_iter().find_map(found).unwrap_or_else(|| value.default.clone())
}

/// Returns the environment variables `PATH` and, for a Python environment, `VIRTUAL_ENV`.
pub(crate) fn search_env(search: &OsStr) -> Vec<(OsString, OsString)> {
    let home = python_environment(search).map(|home| (OsString::from("VIRTUAL_ENV"), home.into()));
    std::iter::once((OsString::from("PATH"), search.to_owned())).chain(home).collect()
}

/// Returns the Python environment whose programs come first in a search path.
fn python_environment(search: &OsStr) -> Option<PathBuf> {
    let first = std::env::split_paths(search).next()?;
    let home = first.parent()?;
    // https://docs.python.org/3/library/venv.html
    home.join("pyvenv.cfg").is_file().then(|| home.to_owned())
}

/// Returns the beginning of a file's text; `None` if it is not a regular file.
fn read(path: &Path) -> Option<String> {
    let bytes = regular::read(path, MAX_READ).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
