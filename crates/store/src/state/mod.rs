//! lockgate's own folders: the records of trust decisions, and the caches that tools keep between runs.
//!
//! A record is believed only if no other user can have written it.
//!
//! Invariant: a record is whole, old or new. A doubtful record counts as none, and the reason is reported.
//! Neither folder is used if it lies inside a root.

mod caches;
mod calls;
mod index_file;
mod own;
mod secret;
mod sockets;

use super::staged_name::random_number;
use super::system_error;
use lockgate_error::{Code, Error};
use lockgate_text::Version;
use rustix::fs::OFlags;
use std::fs::{DirBuilder, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

pub use caches::{Cache, CacheLimits, Cached};
pub use calls::ToolCallRecords;
pub use index_file::IndexFile;
pub use own::{is_own_path, outside};
pub(super) use own::{own_folders, own_locations, refuse_inside};
pub use sockets::{StateSocket, is_equal_peer};

/// The folder of the records about trust, in the state folder.
const TRUST: &str = "trust";
/// The folder of the records about written configurations, in the state folder.
const SETUP: &str = "setup";
/// The folder of the locks, in the state folder.
const LOCKS: &str = "locks";
/// The folder of stored content, in the state folder.
const CONTENT: &str = "content";
/// The folder of facts about programs, in the cache folder.
const PROOFS: &str = "proofs";
/// The number of digits of a root's hash that name its journal's folder.
const ROOT_DIGITS: usize = 32;
const LARGEST_RECORD: u64 = 1024 * 1024;
/// The permission bits that let other users write.
const OTHERS_WRITE: u32 = 0o022;
/// The flags with which no link is followed, and no pipe or device blocks.
const NO_FOLLOW: OFlags = OFlags::NOFOLLOW.union(OFlags::NONBLOCK).union(OFlags::NOCTTY);

/// lockgate's state and cache folders, or the reasons why they cannot be used.
#[derive(Debug, Clone)]
pub struct StateFolder {
    home: Result<PathBuf, String>,
    caches: Result<PathBuf, String>,
}

/// The subject of a record: the policy file of a root, or what `lockgate init` added to a configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RecordSubject {
    folder: &'static str,
    root: Version,
    name: Version,
}

impl RecordSubject {
    /// The policy file of that name, relative to the root of that real path.
    pub fn new(root: &Path, policy: &str) -> RecordSubject {
        RecordSubject { folder: TRUST, root: path_hash(root), name: Version::hash(policy.as_bytes()) }
    }

    /// The addition of that name, made below the root of that real path.
    pub fn of_setup(root: &Path, addition: &str) -> RecordSubject {
        RecordSubject { folder: SETUP, root: path_hash(root), name: Version::hash(addition.as_bytes()) }
    }

    fn file_name(&self) -> String {
        format!("{}.{}.json", self.root.hex(), self.name.hex())
    }
}

impl StateFolder {
    /// Finds the folders of the current user; `roots` are absolute.
    pub fn for_user(roots: &[PathBuf]) -> StateFolder {
        StateFolder::at(own::state_home(), own::cache_home(), roots)
    }

    /// Uses a folder that the caller names; `roots` are absolute.
    pub fn in_folder(folder: &Path, roots: &[PathBuf]) -> StateFolder {
        StateFolder::at(Ok(folder.join("state")), Ok(folder.join("cache")), roots)
    }

    pub(super) fn at(
        state: Result<PathBuf, String>,
        cache: Result<PathBuf, String>,
        roots: &[PathBuf],
    ) -> StateFolder {
        let outside = |folder: PathBuf| own::outside(&folder, roots);
        StateFolder { home: state.and_then(outside), caches: cache.and_then(outside) }
    }

    /// Returns the record about a subject; `None` if there is none.
    ///
    /// Errors: the reason why the record counts as none, as the end of a sentence that begins with the
    /// record.
    pub fn read(&self, subject: RecordSubject) -> Result<Option<Vec<u8>>, String> {
        let home = self.home.as_ref().map_err(|reason| format!("has no place: {reason}"))?;
        let records = home.join(subject.folder);
        if !self.is_guarded(subject.folder)? {
            return Ok(None);
        }
        let read = read_own(&records.join(subject.file_name()), LARGEST_RECORD)?;
        Ok(read.map(|(bytes, _)| bytes))
    }

    /// Writes or replaces a record, readable by the user alone.
    ///
    /// Errors: `PERMISSION_DENIED` if lockgate has no usable state folder, and errors of the system.
    pub fn write(&self, subject: RecordSubject, record: &[u8]) -> Result<(), Error> {
        let records = self.records(subject.folder)?;
        make(&records).map_err(|error| failed("making the folder", &records, &error))?;
        self.is_guarded(subject.folder).map_err(|reason| write_error(&records, &reason))?;
        replace(&records.join(subject.file_name()), |staged| stage(staged, record))
            .and_then(|()| File::open(&records)?.sync_all())
            .map_err(|error| failed("writing a record", &records, &error))
    }

    /// Removes the record about a subject, and returns the number of removed records.
    pub fn remove(&self, subject: RecordSubject) -> Result<usize, Error> {
        self.remove_all(subject.folder, |name| name == subject.file_name())
    }

    /// Removes the records about every policy file of a root, and returns their number.
    pub fn remove_root(&self, root: &Path) -> Result<usize, Error> {
        let start = format!("{}.", path_hash(root).hex());
        self.remove_all(TRUST, |name| name.starts_with(&start))
    }

    /// The folder for records of working programs; it need not exist.
    pub fn proofs(&self) -> Option<PathBuf> {
        Some(self.caches.as_ref().ok()?.join(PROOFS))
    }

    /// The folder of a root's journal, created if necessary.
    ///
    /// Errors: the reason why there is none.
    pub fn journal(&self, root: &Path) -> Result<PathBuf, String> {
        self.folder(&root_name(root))
    }

    /// The folder of the locks between processes, created if necessary.
    ///
    /// Errors: the reason why there is none.
    pub fn locks(&self) -> Result<PathBuf, String> {
        self.folder(LOCKS)
    }

    /// The folder of the user's stored content, created if necessary.
    ///
    /// Errors: the reason why there is none.
    pub fn content(&self) -> Result<PathBuf, String> {
        self.folder(CONTENT)
    }

    /// A folder of that name in the state folder, created if necessary.
    ///
    /// Errors: the reason why there is none.
    fn folder(&self, name: &str) -> Result<PathBuf, String> {
        let home = self.home.clone()?;
        let folder = home.join(name);
        make_named(&folder)?;
        check_guarded(&home).and_then(|()| check_guarded(&folder)).map(|()| folder)
    }

    fn records(&self, folder: &str) -> Result<PathBuf, Error> {
        let no_home = |reason: &String| {
            Error::new(Code::PermissionDenied, format!("no record can be written: {reason}"))
                .hint("set XDG_STATE_HOME to a folder outside every root")
        };
        self.home.as_ref().map(|home| home.join(folder)).map_err(no_home)
    }

    /// True if the folders of the records exist; doubtful ones are an error.
    fn is_guarded(&self, folder: &str) -> Result<bool, String> {
        let home = self.home.clone()?;
        let in_folder = |reason| format!("is in a folder that {reason}");
        Ok(guarded(&home).map_err(in_folder)? && guarded(&home.join(folder)).map_err(in_folder)?)
    }

    fn remove_all(&self, folder: &str, is_selected: impl Fn(&str) -> bool) -> Result<usize, Error> {
        let records = self.records(folder)?;
        let fails = |error: &io::Error| failed("removing a record", &records, error);
        let entries = match std::fs::read_dir(&records) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(0),
            Err(error) => return Err(fails(&error)),
        };
        let mut removed = 0;
        for entry in entries {
            let entry = entry.map_err(|error| fails(&error))?;
            if entry.file_name().to_str().is_some_and(&is_selected) {
                std::fs::remove_file(entry.path()).map_err(|error| fails(&error))?;
                removed += 1;
            }
        }
        File::open(&records).and_then(|folder| folder.sync_all()).map_err(|error| fails(&error))?;
        Ok(removed)
    }
}

fn path_hash(path: &Path) -> Version {
    Version::hash(path.as_os_str().as_bytes())
}

/// The name of a root in the names of its files and folders.
fn root_name(root: &Path) -> String {
    path_hash(root).hex().chars().take(ROOT_DIGITS).collect()
}

/// Does the same as [`make`]; the error names the folder.
fn make_named(folder: &Path) -> Result<(), String> {
    make(folder).map_err(|error| format!("{} cannot be created: {error}", folder.display()))
}

/// Fails for a folder that is gone, or that is not the user's alone.
fn check_guarded(folder: &Path) -> Result<(), String> {
    let shown = folder.display();
    match guarded(folder) {
        Ok(true) => Ok(()),
        Ok(false) => Err(format!("{shown} is gone")),
        Err(reason) => Err(format!("{shown} {reason}")),
    }
}

/// Creates a folder, and those above it, for the user alone.
pub(super) fn make(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// True if a folder exists and is the user's alone; a doubtful one is an error.
fn guarded(folder: &Path) -> Result<bool, String> {
    match folder.symlink_metadata() {
        Ok(found) if !found.is_dir() => Err("is not a folder".to_owned()),
        Ok(found) => doubt(&found).map_or(Ok(true), Err),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(format!("cannot be inspected: {error}")),
    }
}

/// The reason why another user may have written this, if there is one.
pub(super) fn doubt(found: &Metadata) -> Option<String> {
    if found.uid() != rustix::process::geteuid().as_raw() {
        Some(format!("belongs to another user (uid {})", found.uid()))
    } else if found.mode() & OTHERS_WRITE != 0 {
        Some(format!("may be written by others (mode {:04o})", found.mode() & 0o7777))
    } else {
        None
    }
}

/// The time since the last change of a file; `None` if that is in the future, or not known.
pub(super) fn age(found: &Metadata) -> Option<Duration> {
    found.modified().ok()?.elapsed().ok()
}

/// A name that no other staged file has.
fn staged_name() -> String {
    format!(".{:016x}.new", random_number())
}

/// Opens a file for reading and writing, or creates it for the user alone.
pub(super) fn open_or_create(path: &Path, flags: OFlags) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(0o600);
    options.custom_flags(flags.bits().cast_signed()).open(path)
}

/// Creates a file for the user alone; it must not exist yet.
fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

/// Writes a new file for the user alone, and syncs it.
fn stage(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = create(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// Replaces a file, or creates it: `write` writes the new one under another name. After an error the earlier one is
/// still there.
fn replace(path: &Path, write: impl FnOnce(&Path) -> io::Result<()>) -> io::Result<()> {
    let staged = path.with_file_name(staged_name());
    let replaced = write(&staged).and_then(|()| std::fs::rename(&staged, path));
    if replaced.is_err() {
        // The name is unique.
        drop(std::fs::remove_file(&staged));
    }
    replaced
}

/// Opens a file for reading; `None` if there is none. A link is not followed, and a pipe does not block.
fn open_own(path: &Path) -> io::Result<Option<File>> {
    match OpenOptions::new().read(true).custom_flags(NO_FOLLOW.bits().cast_signed()).open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        opened => opened.map(Some),
    }
}

/// Reads at most `most` bytes of a file that no other user can have written; `None` if there is none.
///
/// Errors: the reason why the file counts as none, as the end of a sentence that begins with the file.
fn read_own(path: &Path, most: u64) -> Result<Option<(Vec<u8>, Metadata)>, String> {
    let opened = open_own(path).map_err(|error| format!("cannot be opened: {error}"))?;
    let Some(file) = opened else { return Ok(None) };
    let found = file.metadata().map_err(|error| format!("cannot be inspected: {error}"))?;
    if !found.is_file() {
        return Err("is not a file".to_owned());
    }
    doubt(&found).map_or(Ok(()), Err)?;
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes).map_err(|error| format!("cannot be read: {error}"))?;
    Ok(Some((bytes, found)))
}

fn failed(call: &str, folder: &Path, error: &io::Error) -> Error {
    system_error::failed_io(call, &folder.display().to_string(), error)
}

fn write_error(folder: &Path, reason: &str) -> Error {
    let message = format!("no record can be written: {} {reason}", folder.display());
    Error::new(Code::PermissionDenied, message).hint("ask its owner to restrict it to you: chmod 700")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;
    use tempfile::TempDir;

    struct Fixture {
        dir: TempDir,
        state: StateFolder,
    }

    impl Fixture {
        fn new() -> Fixture {
            let dir = tempfile::tempdir().unwrap();
            std::fs::create_dir(dir.path().join("root")).unwrap();
            let own = |name: &str| Ok(dir.path().join("home").join(name));
            let state = StateFolder::at(own("state"), own("cache"), &[dir.path().join("root")]);
            Fixture { dir, state }
        }

        fn at(&self, path: &str) -> PathBuf {
            self.dir.path().join(path)
        }

        fn record(&self) -> PathBuf {
            self.at("home/state/trust").join(subject().file_name())
        }
    }

    fn subject() -> RecordSubject {
        RecordSubject::new(Path::new("/p"), "quality.yaml")
    }

    fn mode(path: &Path) -> u32 {
        path.metadata().unwrap().mode() & 0o7777
    }

    fn set_mode(path: &Path, mode: u32) {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn a_record_is_there_until_it_is_removed_and_is_the_user_s_alone() {
        let fixture = Fixture::new();
        assert_eq!(fixture.state.read(subject()), Ok(None));
        assert_eq!(fixture.state.remove(subject()).unwrap(), 0);
        for text in [&b"one"[..], b"two"] {
            fixture.state.write(subject(), text).unwrap();
            assert_eq!(fixture.state.read(subject()), Ok(Some(text.to_vec())));
        }
        let folders = ["home", "home/state", "home/state/trust"].map(|folder| mode(&fixture.at(folder)));
        assert_eq!((folders, mode(&fixture.record())), ([0o700; 3], 0o600));
        assert_eq!(
            std::fs::read_dir(fixture.at("home/state/trust")).unwrap().count(),
            1,
            "no staged file is left"
        );
        assert_eq!(fixture.state.remove(subject()).unwrap(), 1);
        assert_eq!(fixture.state.read(subject()), Ok(None));
    }

    #[test]
    fn roots_and_policies_have_records_of_their_own() {
        let fixture = Fixture::new();
        let about = |root: &str, policy| RecordSubject::new(Path::new(root), policy);
        let setup = RecordSubject::of_setup(Path::new("/p"), "a");
        let subjects = [about("/p", "a"), about("/p", "b"), about("/q", "a"), about("/p/a", ""), setup];
        for (number, subject) in subjects.iter().enumerate() {
            fixture.state.write(*subject, &[number as u8]).unwrap();
        }
        for (number, subject) in subjects.iter().enumerate() {
            assert_eq!(fixture.state.read(*subject), Ok(Some(vec![number as u8])));
        }
        assert_eq!(fixture.state.remove_root(Path::new("/p")).unwrap(), 2);
        let remaining = subjects.map(|subject| fixture.state.read(subject).unwrap().is_some());
        assert_eq!(remaining, [false, false, true, true, true]);
    }

    #[test]
    fn a_doubtful_record_counts_as_none_and_the_reason_is_reported() {
        type Spoil = fn(&Fixture);
        let cases: [(&str, Spoil); 6] = [
            ("may be written by others (mode 0620)", |fixture| set_mode(&fixture.record(), 0o620)),
            ("may be written by others (mode 0602)", |fixture| set_mode(&fixture.record(), 0o602)),
            ("is in a folder that may be written by others", |fixture| {
                set_mode(&fixture.at("home/state/trust"), 0o770);
            }),
            ("is in a folder that may be written by others", |fixture| {
                set_mode(&fixture.at("home/state"), 0o777);
            }),
            ("cannot be opened", |fixture| {
                std::fs::rename(fixture.record(), fixture.at("elsewhere")).unwrap();
                std::os::unix::fs::symlink(fixture.at("elsewhere"), fixture.record()).unwrap();
            }),
            ("is not a file", |fixture| {
                std::fs::remove_file(fixture.record()).unwrap();
                std::fs::create_dir(fixture.record()).unwrap();
            }),
        ];
        for (expected, spoil) in cases {
            let fixture = Fixture::new();
            fixture.state.write(subject(), b"x").unwrap();
            assert!(fixture.state.read(subject()).is_ok(), "the control");
            spoil(&fixture);
            let message = fixture.state.read(subject()).unwrap_err();
            assert!(message.contains(expected), "{expected}: {message}");
        }
    }

    #[test]
    fn a_record_of_another_user_counts_as_none() {
        if !rustix::process::geteuid().is_root() {
            return;
        }
        for path in ["home/state", "home/state/trust", "record"] {
            let fixture = Fixture::new();
            fixture.state.write(subject(), b"x").unwrap();
            let path = if path == "record" { fixture.record() } else { fixture.at(path) };
            std::os::unix::fs::chown(&path, Some(12_345), None).unwrap();
            assert!(
                fixture.state.read(subject()).unwrap_err().contains("belongs to another user (uid 12345)")
            );
            if path != fixture.record() {
                assert_eq!(fixture.state.write(subject(), b"y").unwrap_err().code, Code::PermissionDenied);
            }
        }
    }

    #[test]
    fn nothing_is_kept_inside_a_root() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("root");
        std::fs::create_dir_all(root.join("deep")).unwrap();
        std::os::unix::fs::symlink(&root, dir.path().join("link")).unwrap();
        std::os::unix::fs::symlink(root.join("deep"), dir.path().join("deeper")).unwrap();
        let roots = [root.clone()];
        for inside in ["root", "root/deep/new", "link/new", "deeper", "deeper/new/newer", "root/deep/../new"]
        {
            let own = || Ok(dir.path().join(inside));
            let state = StateFolder::at(own(), own(), &roots);
            assert!(state.read(subject()).unwrap_err().contains("inside the root"), "{inside}");
            assert!(state.cache(&root).unwrap_err().contains("inside the root"), "{inside}");
            let error = state.write(subject(), b"x").unwrap_err();
            assert_eq!(error.code, Code::PermissionDenied, "{inside}");
        }
        std::os::unix::fs::symlink(root.join("later"), dir.path().join("nowhere")).unwrap();
        let own = || Ok(dir.path().join("nowhere/lockgate"));
        assert!(
            StateFolder::at(own(), own(), &roots).cache(&root).unwrap_err().contains("cannot be inspected")
        );
        for outside in ["beside", "rooted", "root/../new"] {
            let own = || Ok(dir.path().join(outside));
            assert!(StateFolder::at(own(), own(), &roots).write(subject(), b"x").is_ok(), "{outside}");
        }
        assert_eq!(std::fs::read_dir(&root).unwrap().count(), 1, "nothing was made in the root");
    }

    #[test]
    fn each_root_has_a_cache_of_its_own() {
        let fixture = Fixture::new();
        let caches =
            ["/p", "/q", "/p"].map(|root| fixture.state.cache(Path::new(root)).unwrap().folder().to_owned());
        assert!(caches[0] != caches[1] && caches[0] == caches[2]);
        assert_eq!(mode(&caches[0]), 0o700);
        set_mode(&caches[0], 0o722);
        assert!(fixture.state.cache(Path::new("/p")).unwrap_err().contains("may be written by others"));
    }
}
