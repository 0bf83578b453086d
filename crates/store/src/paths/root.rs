//! A root: the capability through which everything below it is reached.
//!
//! Invariant: the kernel (or cap-std's walk) decides, relative to the root's descriptor, if a path lies
//! inside; the text of a path only selects the root.

use super::file_location::FileLocation;
use super::folder_names::NameLookup;
use super::project::relative;
use crate::disk::file_system::{is_local, is_made_up};
use crate::disk::folder::{Folder, FolderState, Identity};
use crate::{state, system_error};
use cap_std::ambient_authority;
use cap_std::fs::Dir;
use lockgate_error::{Code, Error};
use rustix::io::Errno;
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};

/// One directory that may be edited, held open for as long as lockgate runs.
#[derive(Debug)]
pub(crate) struct Root {
    dir: Dir,
    identity: Identity,
    /// The way in which its file system looks up names.
    lookup: NameLookup,
    /// Set when its file system stores its files, and does not generate them.
    is_storage: bool,
    /// The absolute paths by which a caller may name it: as resolved by the system, as given without dots, as
    /// given.
    spellings: [PathBuf; 3],
    /// For the first root, the folder below it at which relative paths start; empty for the root itself.
    base: String,
}

impl Root {
    /// Opens a root; fails for `/` and the home directory, under any name.
    pub fn open(path: &Path) -> Result<Root, Error> {
        let shown = path.display().to_string();
        let refuse = |error: std::io::Error| system_error::failed_io("opening the root", &shown, &error);
        let dir = Dir::open_ambient_dir(path, ambient_authority())
            .map_err(|error| missing(&shown, &error).unwrap_or_else(|| refuse(error)))?;
        let identity = identity_of(&dir).map_err(|errno| system_error::failed("fstat", &shown, errno))?;
        refuse_wide(&shown, identity)?;
        let absolute = std::path::absolute(path).map_err(refuse)?;
        let real = std::fs::canonicalize(path).map_err(refuse)?;
        state::refuse_inside(&real)?;
        let spellings = [real, without_dots(&absolute), absolute];
        // The root stays open, so its device keeps its number and its file system.
        let lookup = if is_local(&dir) { NameLookup::Listed } else { NameLookup::Unknown };
        let is_storage = is_made_up(&dir).is_ok_and(|is_made_up| !is_made_up);
        Ok(Root { dir, identity, lookup, is_storage, spellings, base: String::new() })
    }

    /// The same root, for callers whose relative paths start at a folder below it.
    pub fn with_base(self, base: String) -> Root {
        Root { base, ..self }
    }

    /// The folder below it at which relative paths start; empty for the root itself.
    pub fn base(&self) -> &str {
        &self.base
    }

    /// Returns the rest of an absolute path after the longest name of this root that begins it, and the
    /// length of that name.
    pub fn rest_of(&self, path: &Path) -> Option<(usize, PathBuf)> {
        let rest = |name: &PathBuf| {
            path.strip_prefix(name).ok().map(|rest| (name.components().count(), rest.to_owned()))
        };
        self.spellings.iter().filter_map(rest).max_by_key(|(length, _)| *length)
    }

    /// Fails if the root's path now leads to another folder, or to none: then paths of callers do not lie in
    /// the open folder. The cost is one stat.
    ///
    /// Errors: `IO_FAILED`.
    pub fn check_in_place(&self) -> Result<(), Error> {
        self.state().map(drop)
    }

    /// Does the same, and returns the state of the folder.
    pub fn state(&self) -> Result<FolderState, Error> {
        let path = self.real();
        let reason = match FolderState::at(path) {
            Ok(state) if state.identity == self.identity => return Ok(state),
            Ok(_) => "is no longer the folder that lockgate opened".to_owned(),
            Err(Errno::NOENT) => "no longer exists".to_owned(),
            Err(errno) => format!("cannot be inspected: {}", std::io::Error::from(errno)),
        };
        let hint = "restore the folder, or restart lockgate so that it opens the current folder";
        Err(Error::new(Code::IoFailed, format!("the root {} {reason}", path.display())).hint(hint))
    }

    /// Opens the folder of the root itself.
    pub fn top(&self) -> std::io::Result<Folder> {
        self.folder("")
    }

    /// The way in which names are looked up in a folder below the root.
    pub fn name_lookup(&self, folder: Identity) -> NameLookup {
        // Another file system may be mounted there.
        if folder.device == self.identity.device { self.lookup } else { NameLookup::Unknown }
    }

    /// True if this root's file system stores its files, and a file of this identity is on it.
    pub fn stores(&self, file: Identity) -> bool {
        file.device == self.identity.device && self.is_storage
    }

    /// Opens a folder by its path in the root, in one call that cannot leave the root.
    pub fn folder(&self, path: &str) -> std::io::Result<Folder> {
        if let Ok(folder) = Folder::open_below(&self.dir, path) {
            return Ok(folder);
        }
        let path = if path.is_empty() { "." } else { path };
        let dir = self.dir.open_dir(path)?;
        Ok(Folder::new(OwnedFd::from(dir.into_std_file())))
    }

    /// The root's absolute path, links resolved, as it was when it was opened.
    pub fn real(&self) -> &Path {
        let [real, ..] = &self.spellings;
        real
    }

    /// The capability itself, for reading configuration files.
    pub fn dir(&self) -> &Dir {
        &self.dir
    }

    /// The identity of the root.
    pub fn identity(&self) -> Identity {
        self.identity
    }

    /// The absolute path of an entry below the root, by the first of the root's names that is UTF-8.
    fn absolute(&self, below: &str) -> Option<String> {
        self.spellings.iter().find_map(|name| name.join(below).into_os_string().into_string().ok())
    }
}

/// The displayed form of a path in the root of that index: relative to the base of the first root if it lies
/// in that, else absolute.
pub(crate) fn named(roots: &[Root], index: usize, below: &str) -> Option<String> {
    match (index, roots.get(index)) {
        (0, first) => Some(relative(first.map_or("", Root::base), below)),
        (_, other) => other?.absolute(below),
    }
}

/// Opens the folder of a path again, and checks that it is the admitted one.
pub(crate) fn folder_of(roots: &[Root], place: &FileLocation) -> Result<Folder, Error> {
    let root = roots.get(place.root).ok_or_else(|| system_error::outside(place.shown()))?;
    let folder = root.folder(&place.folder).map_err(|error| match Errno::from_io_error(&error) {
        Some(errno) if !system_error::is_escape(&error) => {
            system_error::folder_lost("opening the folder", place.shown(), errno)
        }
        // The folder had no link when it was admitted, so a link out of the root was added later.
        Some(_) | None => {
            system_error::conflict(place.shown(), "is now behind a symlink to a target outside the root")
        }
    })?;
    // The folder of the root itself was just opened through its descriptor.
    let identity = if place.folder.is_empty() { Ok(root.identity()) } else { folder.identity() };
    match identity {
        Ok(identity) if identity == place.identity => Ok(folder),
        Ok(_) => {
            Err(system_error::conflict(place.shown(), "is no longer in the folder in which it was found"))
        }
        Err(errno) => Err(system_error::failed("fstat", place.shown(), errno)),
    }
}

fn missing(shown: &str, error: &std::io::Error) -> Option<Error> {
    let description = match error.kind() {
        std::io::ErrorKind::NotFound => "does not exist",
        std::io::ErrorKind::NotADirectory => "is not a directory",
        _ => return None,
    };
    Some(
        Error::new(Code::InvalidInput, format!("the root {shown} {description}"))
            .field("roots")
            .hint("name an existing folder"),
    )
}

fn identity_of(dir: &Dir) -> rustix::io::Result<Identity> {
    rustix::fs::fstat(dir).map(|stat| Identity::from_stat(&stat))
}

fn refuse_wide(shown: &str, identity: Identity) -> Result<(), Error> {
    let wide =
        [(Some(PathBuf::from("/")), "the whole file system"), (std::env::home_dir(), "the home directory")];
    for (path, description) in wide {
        let dir = path.and_then(|path| Dir::open_ambient_dir(path, ambient_authority()).ok());
        if dir.and_then(|dir| identity_of(&dir).ok()) == Some(identity) {
            let error = Error::new(Code::InvalidInput, format!("the root {shown} is {description}"));
            return Err(error.field("roots").hint("name the folder of a project as the root"));
        }
    }
    Ok(())
}

/// Resolves `.` and `..` in a path by its text alone; `..` at the root of the file system stays there.
pub fn without_dots(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => plain.push(component),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_system_and_the_home_are_refused_under_any_name() {
        let home = std::env::home_dir().unwrap();
        let dir = tempfile::tempdir().unwrap();
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(&home, &link).unwrap();
        for path in ["/".into(), "/usr/..".into(), home, link] {
            let error = Root::open(&path).unwrap_err();
            assert_eq!((error.code, error.field.as_deref()), (Code::InvalidInput, Some("roots")), "{path:?}");
        }
        assert!(Root::open(dir.path()).is_ok());
    }

    #[test]
    fn a_root_that_was_moved_away_or_replaced_is_refused_until_it_is_back() {
        let dir = tempfile::tempdir().unwrap();
        let [path, aside] = ["p", "p.bak"].map(|name| dir.path().join(name));
        std::fs::create_dir(&path).unwrap();
        let root = Root::open(&path).unwrap();
        assert_eq!(root.check_in_place(), Ok(()));
        std::fs::rename(&path, &aside).unwrap();
        let error = root.check_in_place().unwrap_err();
        assert!(error.message.ends_with("no longer exists"), "{error}");
        std::fs::create_dir(&path).unwrap();
        std::fs::write(path.join("new"), "").unwrap();
        let second_error = root.check_in_place().unwrap_err();
        assert_eq!(second_error.code, Code::IoFailed);
        assert!(second_error.message.contains("is no longer the folder"), "{second_error}");
        // The control: what is held open is the folder that was moved away.
        assert!(root.top().unwrap().stat("new").is_err());
        std::fs::remove_dir_all(&path).unwrap();
        std::fs::rename(&aside, &path).unwrap();
        assert_eq!(root.check_in_place(), Ok(()));
    }

    #[test]
    fn a_root_that_is_no_directory_is_refused() {
        let file = tempfile::NamedTempFile::new().unwrap();
        for path in [file.path(), Path::new("/nowhere/at/all")] {
            assert_eq!(Root::open(path).unwrap_err().code, Code::InvalidInput, "{path:?}");
        }
    }
}
