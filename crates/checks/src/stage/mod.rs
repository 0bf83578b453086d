//! Stages drafts for programs that read files, in a private folder outside of the project.
//!
//! A program that accepts a draft file gets the path of one. For any other program the project is copied by
//! links. The folders on the way to the file are made, the last one contains the draft, and all their other
//! entries are symbolic links into the project. So the file has its siblings, its configuration and its
//! package. Files that a program writes next to the draft go away with the copy. A write into a linked folder
//! reaches the project, unless a sandbox prevents it. With bubblewrap no copy is needed: the draft is mounted
//! over the real file ([`mounts`]).
//!
//! Invariant: nothing outside of the private folder is made or changed. Only the user can enter it. It is
//! removed with its contents when the [`Stage`] is dropped or, if the process was killed, when a later one
//! starts a program.

mod cargo_record;
mod mounts;
mod notes;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, DirEntry, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{OpenOptionsExt, symlink};
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::Serialize;
use tempfile::NamedTempFile;

use lockgate_sandbox::{PrivateFolder, create_private};
use lockgate_text::Version;

pub(super) use self::cargo_record::{CargoRecord, CargoRecordError, TARGET};
pub(super) use self::mounts::FileTime;
pub(super) use self::notes::{Note, Notes};

/// The largest number of entries of a folder on the way to the file.
const MAX_ENTRIES: usize = 20_000;

/// The folder with the draft, below it at its path in the project.
const DRAFT: &str = "draft";
/// The folder with the other drafts of the call, each at its path in the project.
const OVERLAYS: &str = "overlays";
/// The folder with the copy of the project.
const COPY: &str = "project";

/// A text to show at a path of the project.
#[derive(Debug, Clone, Copy)]
pub(super) struct StagedPath<'a> {
    /// The path, relative to the root.
    pub(super) path: &'a str,
    /// The text; `None` if no file may be there.
    pub(super) text: Option<&'a [u8]>,
}

/// A private folder for one run of a program.
#[derive(Debug)]
pub(super) struct Stage {
    folder: PrivateFolder,
}

impl Stage {
    pub(super) fn new() -> io::Result<Stage> {
        Ok(Stage { folder: PrivateFolder::new()? })
    }

    /// The folders of a stage that stand for this absolute root, relative to the private folder: below them, each
    /// staged text has its path below the root.
    pub(super) fn root_folders(root: &Path) -> [PathBuf; 3] {
        [PathBuf::from(DRAFT), PathBuf::from(OVERLAYS), Path::new(COPY).join(copy_name(root))]
    }

    /// Writes the draft to a file of its own, and returns its absolute path.
    pub(super) fn draft(&self, path: &str, text: &[u8]) -> io::Result<PathBuf> {
        self.write_below(DRAFT, path, text)
    }

    /// Writes a text to its path below a folder of the private one.
    fn write_below(&self, folder: &str, path: &str, text: &[u8]) -> io::Result<PathBuf> {
        components(path)?;
        let place = self.folder(folder)?.join(path);
        place.parent().map_or(Ok(()), create_private)?;
        write(&place, text)?;
        Ok(place)
    }

    /// Writes the JSON for go's `-overlay`: each file is replaced by its draft, or removed.
    pub(super) fn overlay(&self, files: &[(PathBuf, Option<PathBuf>)]) -> io::Result<PathBuf> {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let replaced: BTreeMap<String, String> = files
            .iter()
            .map(|(file, draft)| (text(file), draft.as_deref().map(text).unwrap_or_default()))
            .collect();
        let overlay = self.folder("overlay")?.join("overlay.json");
        write(&overlay, serde_json::json!({ "Replace": replaced }).to_string().as_bytes())?;
        Ok(overlay)
    }

    /// Writes the other drafts of a call to files of their own, and returns their absolute paths.
    pub(super) fn overlay_files(&self, overlays: &[StagedPath<'_>]) -> io::Result<Vec<Option<PathBuf>>> {
        let write = |other: &StagedPath<'_>| {
            components(other.path)?;
            other.text.map(|text| self.write_below(OVERLAYS, other.path, text)).transpose()
        };
        overlays.iter().map(write).collect()
    }

    /// The absolute path of the private folder.
    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Makes a folder in the private one.
    pub(super) fn folder(&self, name: &str) -> io::Result<PathBuf> {
        self.folder.folder(name)
    }

    /// Copies the project at this absolute root by links, with these texts at their paths. Returns the
    /// absolute path of the copy's root, which has the same name.
    pub(super) fn copy(
        &self,
        root: &Path,
        staged: &[StagedPath<'_>],
        file_time: FileTime<'_>,
    ) -> io::Result<PathBuf> {
        let top = self.folder(COPY)?.join(copy_name(root));
        let ways = staged.iter().map(|staged| Ok((components(staged.path)?, *staged)));
        let ways = ways.collect::<io::Result<Vec<_>>>()?;
        let ways: Vec<PathToText<'_>> =
            ways.iter().map(|(parts, staged)| (parts.as_slice(), *staged)).collect();
        self.copy_folder(root, &top, &ways, file_time)?;
        Ok(top)
    }

    fn copy_folder(
        &self,
        real: &Path,
        copy: &Path,
        ways: &[PathToText<'_>],
        file_time: FileTime<'_>,
    ) -> io::Result<()> {
        let mut below: BTreeMap<&OsStr, Vec<PathToText<'_>>> = BTreeMap::new();
        for (parts, staged) in ways {
            if let Some((first, rest)) = parts.split_first() {
                below.entry(first).or_default().push((rest, *staged));
            }
        }
        create_private(copy)?;
        self.link_all_but(&below, real, copy)?;
        for (name, ways) in below {
            let place = copy.join(name);
            match ways.as_slice() {
                [([], StagedPath { path, text: Some(text) })] => file_time.write(&place, path, text)?,
                [([], StagedPath { path: _, text: None })] => {}
                ways => self.copy_folder(&real.join(name), &place, ways, file_time)?,
            }
        }
        Ok(())
    }

    /// Links to all entries of a project folder except these names; to none if the folder does not exist yet.
    fn link_all_but<T>(&self, names: &BTreeMap<&OsStr, T>, real: &Path, copy: &Path) -> io::Result<()> {
        for entry in entries(real, MAX_ENTRIES)? {
            // A link to the folder that contains the copy would be a cycle.
            let is_named = names.contains_key(entry.file_name().as_os_str());
            if !is_named && !self.path().starts_with(entry.path()) {
                symlink(entry.path(), copy.join(entry.file_name()))?;
            }
        }
        Ok(())
    }
}

/// The name of the copy of this root.
fn copy_name(root: &Path) -> &OsStr {
    root.file_name().unwrap_or(OsStr::new("root"))
}

/// The remaining path components of a text, and the text.
type PathToText<'a> = (&'a [&'a OsStr], StagedPath<'a>);

/// Returns a folder's entries, none if it does not exist.
///
/// Errors: if there are more than `most`.
fn entries(folder: &Path, most: usize) -> io::Result<Vec<DirEntry>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?.take(most + 1).collect::<io::Result<Vec<_>>>()?,
    };
    if entries.len() > most {
        return Err(io::Error::other(format!("{} has over {most} entries", folder.display())));
    }
    Ok(entries)
}

/// Replaces a file at once by this value as JSON.
fn replace_with_json(path: &Path, value: &impl Serialize) -> io::Result<()> {
    let mut whole = NamedTempFile::new_in(path.parent().unwrap_or(path))?;
    // The serializer writes each sign by itself.
    whole.write_all(&serde_json::to_vec(value).map_err(io::Error::from)?)?;
    whole.persist(path).map(drop).map_err(|error| error.error)
}

/// Splits a path into components, and rejects those that do not lead down.
fn components(path: &str) -> io::Result<Vec<&OsStr>> {
    let part = |component| match component {
        Component::Normal(name) => Ok(name),
        Component::Prefix(_) | Component::RootDir | Component::CurDir | Component::ParentDir => {
            Err(io::Error::other(format!("{path} is not a path below a root")))
        }
    };
    let parts: Vec<_> = Path::new(path).components().map(part).collect::<io::Result<_>>()?;
    if parts.is_empty() { Err(io::Error::other("the file has no name")) } else { Ok(parts) }
}

/// Writes a file with the current time.
///
/// A build tool takes a file for unchanged if it is older than the last build from it.
fn write_new(path: &Path, text: &[u8]) -> io::Result<File> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(text)?;
    Ok(file)
}

/// Writes a file whose modification time is derived from its text.
///
/// mypy takes a module for unchanged if its size and time in whole seconds are equal. Of two drafts written
/// within one second it would otherwise see only the first.
pub(super) fn write(path: &Path, text: &[u8]) -> io::Result<()> {
    let file = write_new(path, text)?;
    let hex = Version::hash(text).hex();
    let seconds = hex.get(..8).and_then(|digits| u64::from_str_radix(digits, 16).ok()).unwrap_or_default();
    file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds % (1 << 30)))
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    /// The files get the time at which they are written.
    const NOW: FileTime<'static> = FileTime::Given(&BTreeMap::new());

    fn new<'a>(path: &'a str, text: &'a [u8]) -> StagedPath<'a> {
        StagedPath { path, text: Some(text) }
    }

    #[test]
    fn several_files_of_a_project_are_there_and_others_gone() {
        let root = tempfile::tempdir().unwrap();
        let text = |path: &str| {
            fs::create_dir_all(root.path().join(path).parent().unwrap()).map(|()| path.to_owned())
        };
        for path in ["a/b/old.py", "a/b/kept.py", "a/gone.py", "c/kept.py"] {
            fs::write(root.path().join(text(path).unwrap()), "old").unwrap();
        }
        let staged =
            [new("a/b/old.py", b"1"), new("a/new/x.py", b"2"), StagedPath { path: "a/gone.py", text: None }];
        let stage = Stage::new().unwrap();
        let copy = stage.copy(root.path(), &staged, NOW).unwrap();
        let read = |path: &str| fs::read_to_string(copy.join(path)).ok();
        assert_eq!(
            ["a/b/old.py", "a/new/x.py", "a/gone.py", "a/b/kept.py", "c/kept.py"].map(read),
            [Some("1"), Some("2"), None, Some("old"), Some("old")].map(|text| text.map(str::to_owned))
        );
        assert!(fs::read_link(copy.join("c")).is_ok() && fs::read_link(copy.join("a")).is_err());
        assert_eq!(fs::read_to_string(root.path().join("a/gone.py")).unwrap(), "old");
    }

    #[test]
    fn the_folder_is_private_and_goes_with_the_stage() {
        let stage = Stage::new().unwrap();
        let home = stage.path().to_owned();
        assert_eq!(home.metadata().unwrap().permissions().mode() & 0o777, 0o700);
        assert!(!home.file_name().unwrap().to_str().unwrap().starts_with('.'));
        assert_ne!(home, Stage::new().unwrap().path());
        let draft = stage.draft("a/b.py", b"x").unwrap();
        assert!(draft.starts_with(&home) && draft.file_name() == Some(OsStr::new("b.py")));
        drop(stage);
        assert!(!home.exists());
    }

    #[test]
    fn names_that_are_no_text_are_linked_too() {
        let root = tempfile::tempdir().unwrap();
        let strange = OsString::from_vec(b"caf\xe9".to_vec());
        fs::write(root.path().join(&strange), "x").unwrap();
        fs::write(root.path().join(".hidden"), "y").unwrap();
        symlink("nowhere", root.path().join("dangling")).unwrap();
        let stage = Stage::new().unwrap();
        let copy = stage.copy(root.path(), &[new("new.py", b"new")], NOW).unwrap();
        assert_eq!(copy.file_name(), root.path().file_name());
        assert_eq!(fs::read_link(copy.join(&strange)).unwrap(), root.path().join(&strange));
        assert_eq!(fs::read(copy.join(".hidden")).unwrap(), b"y");
        assert_eq!(fs::read_link(copy.join("dangling")).unwrap(), root.path().join("dangling"));
        assert_eq!(fs::read(copy.join("new.py")).unwrap(), b"new");
        assert!(!root.path().join("new.py").exists());
    }

    #[test]
    fn a_folder_may_have_so_many_entries() {
        let root = tempfile::tempdir().unwrap();
        ["a", "b", "c"].iter().for_each(|name| fs::write(root.path().join(name), "").unwrap());
        assert_eq!(entries(root.path(), 3).unwrap().len(), 3);
        let error = entries(root.path(), 2).unwrap_err();
        assert!(error.to_string().ends_with("has over 2 entries"), "{error}");
        assert!(entries(&root.path().join("none"), 2).unwrap().is_empty());
    }

    #[test]
    fn a_project_that_holds_the_copy_is_not_linked_into_itself() {
        let root = tempfile::tempdir().unwrap();
        let around = root.path().canonicalize().unwrap();
        ["tmp", "src"].iter().for_each(|name| fs::create_dir(around.join(name)).unwrap());
        let stage = Stage {
            folder: PrivateFolder::holding(tempfile::tempdir_in(around.join("tmp")).unwrap()).unwrap(),
        };
        let copy = stage.copy(&around, &[new("new.py", b"")], NOW).unwrap();
        assert!(copy.join("src").exists() && !copy.join("tmp").exists());
    }

    #[test]
    fn a_file_where_a_folder_is_due_is_no_way() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("a"), "").unwrap();
        assert!(Stage::new().unwrap().copy(root.path(), &[new("a/b/c.py", b"")], NOW).is_err());
        for path in ["", "..", "a/../b", "/a", "."] {
            assert!(Stage::new().unwrap().copy(root.path(), &[new(path, b"")], NOW).is_err(), "{path}");
            assert!(Stage::new().unwrap().draft(path, b"").is_err(), "{path}");
        }
    }
}
