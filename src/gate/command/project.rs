//! What a run takes from the project around the file: where its program runs, whether that has a configuration, and
//! values that stand in files.
//!
//! Invariant: nothing is looked at but the folders from the file's own up to the root, and of a file at most its first
//! MiB is read.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::gate::regular;
use crate::policy::{CommandSpec, Configuration, ProjectValue};
use crate::text::Version;

/// The bytes that are read of a file of the project.
const MOST_READ: u64 = 1 << 20;
/// The characters of a project's name.
const NAME: usize = 16;

/// The folders above a path, relative to the root, from its own up to the root.
pub(in crate::gate) fn above(path: &str) -> impl Iterator<Item = &str> {
    let parent = |path: &str| path.rsplit_once('/').map_or("", |(folder, _)| folder).len();
    let first = path.get(..parent(path));
    std::iter::successors(
        first,
        move |folder| {
            if folder.is_empty() { None } else { folder.get(..parent(folder)) }
        },
    )
}

/// Gives the nearest folder above the file, relative to the root, that has something by one of these names; the root
/// where none has.
pub(in crate::gate) fn folder_of<'p>(root: &Path, path: &'p str, names: &[String]) -> &'p str {
    nearest(path, names, |path| root.join(path).symlink_metadata().is_ok())
}

/// The same for whatever tells which paths there are.
pub(super) fn nearest<'p>(path: &'p str, names: &[String], known: impl Fn(&Path) -> bool) -> &'p str {
    let has = |folder: &&str| names.iter().any(|name| known(&Path::new(folder).join(name)));
    above(path).find(has).unwrap_or_default()
}

/// A name for the project that a file belongs to: of the nearest folder above that has a lock file of the command's
/// configuration, else of the one that it runs in.
pub(super) fn name(root: &Path, path: &str, command: &CommandSpec) -> String {
    let is_lock = |name: &&String| Path::new(name).extension() == Some(OsStr::new("lock"));
    let names = command.config.iter().map(|file| &file.name);
    let locks: Vec<String> = names.filter(is_lock).cloned().collect();
    let has_lock = above(path).any(|folder| locks.iter().any(|lock| root.join(folder).join(lock).is_file()));
    let folder = folder_of(root, path, if has_lock { &locks } else { &command.cwd });
    Version::hash(folder.as_bytes()).hex().chars().take(NAME).collect()
}

/// A folder by its path relative to a root; the root itself has no slash at its end.
pub(in crate::gate) fn below(root: &Path, folder: &str) -> PathBuf {
    if folder.is_empty() { root.to_owned() } else { root.join(folder) }
}

/// Tells whether one of these files is above the file.
pub(super) fn is_configured(root: &Path, path: &str, config: &[Configuration]) -> bool {
    let counts = |folder: &str| {
        let folder = root.join(folder);
        config.iter().any(|file| {
            let place = folder.join(&file.name);
            if file.holds.is_empty() {
                place.metadata().is_ok()
            } else {
                read(&place).is_some_and(|text| text.contains(&file.holds))
            }
        })
    };
    above(path).any(counts)
}

/// Gives a value from the nearest file above that has it.
///
/// What begins with `-` or `@` could be taken for an option where a word begins with it, and counts as not found.
pub(super) fn value(root: &Path, path: &str, value: &ProjectValue) -> String {
    let places =
        above(path).flat_map(|folder| value.within.iter().map(move |name| root.join(folder).join(name)));
    let found = |place: PathBuf| {
        let text = read(&place)?;
        let found = value.pattern.captures(&text)?.get(1)?.as_str().to_owned();
        (!found.starts_with(['-', '@']) && !found.contains('\0')).then_some(found)
    };
    places.into_iter().find_map(found).unwrap_or_else(|| value.default.clone())
}

/// Gives the environment of Python whose programs come first in a search path.
pub(in crate::gate) fn python(search: &OsStr) -> Option<PathBuf> {
    let first = std::env::split_paths(search).next()?;
    let home = first.parent()?;
    // https://docs.python.org/3/library/venv.html
    home.join("pyvenv.cfg").is_file().then(|| home.to_owned())
}

/// The beginning of a file's text; nothing for what is no regular file.
fn read(path: &Path) -> Option<String> {
    let bytes = regular::read(path, MOST_READ).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
