//! The caches that gates' tools keep between runs: one folder for each root, which can be listed, cleared and
//! limited in size.
//!
//! Next to each folder lies a file with the path of its root. A process that runs gates on the folder holds a
//! shared lock on that file; a process that removes part of the folder holds an exclusive one. The file's
//! modification time is the time of the last use.
//!
//! Invariant: nothing is removed that a gate uses, nor anything outside of the cache folder, and no link is
//! followed.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::{self, DirEntry, File, Metadata, OpenOptions, Permissions, TryLockError};
use std::io::{self, Read};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use rustix::fs::OFlags;

use super::{
    NO_FOLLOW, PROOFS, StateFolder, age, check_guarded, make_named, open_or_create, open_own, path_hash,
};
use crate::disk::folder::{Identity, shown_path};
use crate::staged_name::random_number;
use crate::system_error;
use lockgate_error::{Code, Error};

/// The extension of the file next to a cache folder.
const ROOT_FILE: &str = "root";
/// The name prefix of folders that are being removed.
const REMOVED: &str = ".removed-";
/// The file whose modification time is the start of the last pass over the limits.
const LAST_PASS: &str = ".looked";
/// The time between two passes over the limits.
const PASS_INTERVAL: Duration = Duration::from_secs(60 * 60);
/// The same after a pass that failed to meet the limits, because the excess is in use or the system reported
/// an error.
const RETRY_INTERVAL: Duration = Duration::from_secs(60);
/// The time that a call waits for a cache that is being pruned; after that its tools run without a cache.
const LONGEST_WAIT: Duration = Duration::from_secs(1);
/// The pause between two attempts to take that lock.
const TURN: Duration = Duration::from_millis(10);
/// The lifetime of an unfinished file of a process that was killed.
const UNFINISHED: Duration = Duration::from_secs(60 * 60);
/// The lifetime of a file with facts about programs; longer than the facts are valid.
const PROOFS_LIFE: Duration = Duration::from_secs(2 * 24 * 60 * 60);
/// The number of digits in a cache folder's name.
const DIGITS: usize = 64;
/// The longest path of a root that is read, in bytes.
const LONGEST_PATH: u64 = 16 * 1024;
/// The greatest depth to which a folder is walked.
const DEEPEST: usize = 128;

/// The size limits of the tools' caches, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CacheLimits {
    /// The limit for one root.
    pub workspace: u64,
    /// The limit for all roots together.
    pub all: u64,
}

impl Default for CacheLimits {
    /// 10 GiB for a root, and 30 GiB for all.
    fn default() -> CacheLimits {
        CacheLimits { workspace: 10 << 30, all: 30 << 30 }
    }
}

/// The cache of a root, locked against removal while gates may use it.
#[derive(Debug)]
pub struct Cache {
    folder: PathBuf,
    _lock: File,
}

impl Cache {
    /// The path of the cache folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

/// The cache of one root, as listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cached {
    /// The root; absent if it is no longer known.
    pub root: Option<PathBuf>,
    /// The path of the cache folder.
    pub folder: PathBuf,
    /// The bytes that it takes on disk.
    pub size: u64,
    /// The time of the last use by a gate.
    pub used: SystemTime,
    /// True while a gate uses it.
    pub in_use: bool,
    /// The parts of the gates, by name.
    pub parts: Vec<Part>,
}

/// The part of a root's cache that belongs to one gate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// The name of its folder, usually that of the gate.
    pub name: String,
    /// The bytes that it takes on disk.
    pub size: u64,
    /// The time of the last change in it.
    pub used: SystemTime,
}

impl StateFolder {
    /// Returns the cache folder for the tools of a root, and creates it if necessary. It is not removed
    /// before the result is dropped.
    ///
    /// Errors: the reason why there is none.
    pub fn cache(&self, root: &Path) -> Result<Cache, String> {
        let caches = self.caches.clone()?;
        let folder = caches.join(path_hash(root).hex());
        make_named(&caches)?;
        let lock = lock_for_use(&folder, root)
            .map_err(|error| format!("{} cannot be locked: {error}", root_file(&folder).display()))?;
        make_named(&folder)?;
        check_guarded(&folder).map(|()| Cache { folder, _lock: lock })
    }

    /// The folder of all caches.
    ///
    /// Errors: `PERMISSION_DENIED` if lockgate has no usable cache folder.
    pub fn caches(&self) -> Result<&Path, Error> {
        let no_cache = |reason: &String| {
            Error::new(Code::PermissionDenied, format!("gates have no cache: {reason}"))
                .hint("set XDG_CACHE_HOME to a folder outside every root")
        };
        self.caches.as_deref().map_err(no_cache)
    }

    /// Lists the caches, the largest first.
    ///
    /// Errors: `PERMISSION_DENIED` if lockgate has no usable cache folder, and errors of the system.
    pub fn cached(&self) -> Result<Vec<Cached>, Error> {
        let caches = self.caches()?;
        let mut all: Vec<Cached> = cache_folders(caches)
            .map_err(|error| {
                system_error::failed_io("listing the folder", &caches.display().to_string(), &error)
            })?
            .iter()
            .map(|folder| inspect(folder))
            .collect();
        all.sort_by(|one, other| other.size.cmp(&one.size).then_with(|| one.folder.cmp(&other.folder)));
        Ok(all)
    }

    /// Removes a cache that [`StateFolder::cached`] listed.
    ///
    /// Errors: `WouldBlock` if a gate uses it, and others of the system.
    pub fn clear(&self, cached: &Cached) -> io::Result<()> {
        let caches = self.caches().map_err(|error| io::Error::other(error.message))?;
        if cached.folder.parent() != Some(caches) || !is_cache(&cached.folder) {
            return Err(io::Error::other("it is not a cache of lockgate"));
        }
        remove(&cached.folder)
    }

    /// Removes leftovers of killed processes, and prunes the caches to their limits: for one root the parts
    /// that its gates used least recently, for all roots the roots that were used least recently.
    ///
    /// Does nothing if a pass was started within the last hour.
    pub fn bound_caches(&self, limits: CacheLimits) -> io::Result<()> {
        self.pass_if_due(|caches| bound(caches, limits))
    }

    /// Does the same, whenever the last pass was.
    pub fn bound_caches_now(&self, limits: CacheLimits) -> io::Result<()> {
        self.pass(|caches| bound(caches, limits))
    }

    /// Does the same as [`StateFolder::pass`], unless a pass was started within the last hour.
    fn pass_if_due(&self, pass: impl FnOnce(&Path) -> io::Result<bool>) -> io::Result<()> {
        let Ok(caches) = self.caches() else { return Ok(()) };
        let last_pass = fs::symlink_metadata(caches.join(LAST_PASS)).ok().and_then(|found| age(&found));
        if last_pass.is_some_and(|age| age < PASS_INTERVAL) { Ok(()) } else { self.pass(pass) }
    }

    /// Runs `pass`, which returns true if all limits are met.
    fn pass(&self, pass: impl FnOnce(&Path) -> io::Result<bool>) -> io::Result<()> {
        let Ok(caches) = self.caches() else { return Ok(()) };
        if caches.symlink_metadata().is_err() {
            return Ok(());
        }
        let file = open_or_create(&caches.join(LAST_PASS), NO_FOLLOW)?;
        // Marks the start, so that a process that ends early does not make every later process repeat the
        // pass and wait for it.
        file.set_modified(SystemTime::now())?;
        let result = pass(caches);
        if !matches!(result, Ok(true)) {
            file.set_modified(SystemTime::now() - (PASS_INTERVAL - RETRY_INTERVAL))?;
        }
        result.map(drop)
    }
}

/// Prunes unused caches to the limits; returns true if the limits are met.
fn bound(caches: &Path, limits: CacheLimits) -> io::Result<bool> {
    remove_leftovers(caches, delete)?;
    let mut all: Vec<Cached> = cache_folders(caches)?.iter().map(|folder| inspect(folder)).collect();
    for cached in all.iter_mut().filter(|cached| cached.size > limits.workspace) {
        shrink(cached, limits.workspace);
    }
    let each = all.iter().all(|cached| cached.size <= limits.workspace);
    all.sort_by_key(|cached| cached.used);
    let mut size: u64 = all.iter().map(|cached| cached.size).sum();
    for cached in &all {
        if size <= limits.all {
            break;
        }
        if remove(&cached.folder).is_ok() {
            size = size.saturating_sub(cached.size);
        }
    }
    Ok(each && size <= limits.all)
}

/// Removes the parts that a root's gates used least recently, until it is small enough.
fn shrink(cached: &mut Cached, most: u64) {
    let Ok(lock) = lock_for_removal(&cached.folder) else { return };
    // An empty file was created just now by this pass, so its time is not that of a use.
    if lock.metadata().is_ok_and(|found| found.len() == 0) {
        let _ = lock.set_modified(cached.used);
    }
    cached.parts.sort_by_key(|part| part.used);
    let mut removed = Vec::new();
    for part in &cached.parts {
        if cached.size <= most {
            break;
        }
        if let Ok(aside) = set_aside(&cached.folder.join(&part.name)) {
            cached.size = cached.size.saturating_sub(part.size);
            removed.push(aside);
        }
    }
    // Gates need not wait for the rest.
    drop(lock);
    for folder in removed {
        // Anything that remains is a leftover for the next pass.
        let _ = delete(&folder);
    }
}

/// Removes folders whose removal was begun, by `delete`, unfinished files, and expired facts about programs.
/// Errors are logged.
fn remove_leftovers(caches: &Path, delete: impl Fn(&Path) -> io::Result<()>) -> io::Result<()> {
    let mut leftovers = removed_folders(caches);
    for folder in cache_folders(caches)? {
        let Ok(_lock) = lock_existing(&folder) else { continue };
        leftovers.extend(removed_folders(&folder));
        remove_unfinished_files(&folder);
    }
    // No lock is held while large folders are removed.
    leftovers.iter().for_each(|folder| log_failure(folder, delete(folder)));
    for note in entries(&caches.join(PROOFS)).filter(|note| !is_folder(note)) {
        remove_older(&note, if begins_with(&note, ".tmp") { UNFINISHED } else { PROOFS_LIFE });
    }
    Ok(())
}

/// Returns the folders in this one whose removal was begun.
fn removed_folders(folder: &Path) -> Vec<PathBuf> {
    let removed = entries(folder).filter(|entry| begins_with(entry, REMOVED) && is_folder(entry));
    removed.map(|entry| entry.path()).collect()
}

/// Removes the temporary files of a cache to which records of target folders are first written.
fn remove_unfinished_files(folder: &Path) {
    let gates = entries(folder).filter(is_folder);
    let targets = gates.flat_map(|gate| entries(&gate.path())).filter(is_folder);
    for file in targets.flat_map(|target| entries(&target.path())) {
        if begins_with(&file, ".tmp") && !is_folder(&file) {
            remove_older(&file, UNFINISHED);
        }
    }
}

/// Removes a file whose last change was longer ago than this.
fn remove_older(entry: &DirEntry, max_age: Duration) {
    let found = fs::symlink_metadata(entry.path()).ok();
    if found.and_then(|found| age(&found)).is_some_and(|age| age > max_age) {
        log_failure(&entry.path(), fs::remove_file(entry.path()));
    }
}

fn log_failure(path: &Path, result: io::Result<()>) {
    if let Err(error) = result {
        tracing::debug!(path = %path.display(), %error, "a leftover cannot be removed");
    }
}

/// The entries of a folder, as far as they can be read.
fn entries(folder: &Path) -> impl Iterator<Item = DirEntry> + use<> {
    fs::read_dir(folder).into_iter().flatten().flatten()
}

fn begins_with(entry: &DirEntry, prefix: &str) -> bool {
    entry.file_name().as_bytes().starts_with(prefix.as_bytes())
}

fn is_folder(entry: &DirEntry) -> bool {
    entry.file_type().is_ok_and(|kind| kind.is_dir())
}

/// The cache folders of all roots.
fn cache_folders(caches: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(caches) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut folders = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if is_cache(&path) {
            folders.push(path);
        }
    }
    folders.sort_unstable();
    Ok(folders)
}

/// True if this is a folder of this user's with the name of a cache, and not a link.
fn is_cache(path: &Path) -> bool {
    let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
    let is_named = name.len() == DIGITS && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    let user = rustix::process::geteuid().as_raw();
    is_named && fs::symlink_metadata(path).is_ok_and(|found| found.is_dir() && found.uid() == user)
}

/// Returns the cache of a root, with its present size and use.
fn inspect(folder: &Path) -> Cached {
    let mut linked = HashSet::new();
    let mut parts = Vec::new();
    let mut size = 0;
    for entry in entries(folder) {
        let Ok(found) = fs::symlink_metadata(entry.path()) else { continue };
        if !found.is_dir() {
            size += bytes(&found, &mut linked);
            continue;
        }
        let mut part = Part {
            name: entry.file_name().to_string_lossy().into_owned(),
            size: bytes(&found, &mut linked),
            used: found.modified().unwrap_or(SystemTime::UNIX_EPOCH),
        };
        measure(&entry.path(), DEEPEST, &mut part, &mut linked);
        size += part.size;
        parts.push(part);
    }
    parts.sort_unstable_by(|one, other| one.name.cmp(&other.name));
    let newest = parts.iter().map(|part| part.used).max();
    let modified = |path: &Path| fs::symlink_metadata(path).and_then(|found| found.modified()).ok();
    let used = modified(&root_file(folder)).or(newest).or_else(|| modified(folder));
    let in_use = lock_existing(folder).is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock);
    let used = used.unwrap_or(SystemTime::UNIX_EPOCH);
    Cached { root: root(folder), folder: folder.to_owned(), size, used, in_use, parts }
}

/// Adds up the files below a folder.
fn measure(folder: &Path, deep: usize, part: &mut Part, linked: &mut HashSet<Identity>) {
    for entry in entries(folder) {
        let Ok(found) = fs::symlink_metadata(entry.path()) else { continue };
        part.size += bytes(&found, linked);
        if let Ok(modified) = found.modified() {
            part.used = part.used.max(modified);
        }
        if found.is_dir() && deep > 0 {
            measure(&entry.path(), deep - 1, part, linked);
        }
    }
}

/// The bytes of a file on disk; a hard-linked file counts once.
fn bytes(found: &Metadata, linked: &mut HashSet<Identity>) -> u64 {
    let is_counted = found.nlink() > 1 && !found.is_dir() && !linked.insert(Identity::from_metadata(found));
    if is_counted { 0 } else { found.blocks() * 512 }
}

/// The root to which a cache folder belongs.
fn root(folder: &Path) -> Option<PathBuf> {
    let file = open_own(&root_file(folder)).ok()??;
    let mut path = Vec::new();
    file.take(LONGEST_PATH).read_to_end(&mut path).ok()?;
    let path = PathBuf::from(std::ffi::OsString::from_vec(path));
    // A wrong path is possible only if another program wrote it there.
    (folder.file_name() == Some(OsStr::new(&path_hash(&path).hex()))).then_some(path)
}

fn root_file(folder: &Path) -> PathBuf {
    folder.with_extension(ROOT_FILE)
}

/// Takes the shared lock that prevents the removal of a folder, and records the use.
///
/// Errors: `TimedOut` if the folder is being pruned for too long, and errors of the system.
fn lock_for_use(folder: &Path, root: &Path) -> io::Result<File> {
    let until = Instant::now() + LONGEST_WAIT;
    let file = open_and_lock(folder, |file| {
        loop {
            match file.try_lock_shared() {
                Ok(()) => return Ok(()),
                Err(TryLockError::WouldBlock) if Instant::now() < until => std::thread::sleep(TURN),
                Err(TryLockError::WouldBlock) => return Err(io::ErrorKind::TimedOut.into()),
                Err(TryLockError::Error(error)) => return Err(error),
            }
        }
    })?;
    // Two processes that come first at once write the same.
    if file.metadata()?.len() == 0 {
        file.write_all_at(root.as_os_str().as_bytes(), 0)?;
    }
    file.set_modified(SystemTime::now())?;
    Ok(file)
}

/// Takes the exclusive lock that prevents the use of a folder.
///
/// Errors: `WouldBlock` at once if it is in use, and others of the system.
fn lock_for_removal(folder: &Path) -> io::Result<File> {
    open_and_lock(folder, |file| Ok(file.try_lock()?))
}

/// Does the same, without creating the file for a folder that has none.
fn lock_existing(folder: &Path) -> io::Result<Option<File>> {
    if root_file(folder).symlink_metadata().is_ok() { lock_for_removal(folder).map(Some) } else { Ok(None) }
}

/// Opens and locks the file next to a folder; if the file was replaced meanwhile, locks the new one instead.
fn open_and_lock(folder: &Path, lock: impl Fn(&File) -> io::Result<()>) -> io::Result<File> {
    let path = root_file(folder);
    loop {
        let file = open_or_create(&path, NO_FOLLOW)?;
        lock(&file)?;
        let (own, current) = (Identity::from_metadata(&file.metadata()?), fs::symlink_metadata(&path));
        if current.is_ok_and(|current| Identity::from_metadata(&current) == own) {
            return Ok(file);
        }
    }
}

/// Removes the cache of a root and the file next to it.
fn remove(folder: &Path) -> io::Result<()> {
    let lock = lock_for_removal(folder)?;
    let removed = set_aside(folder)?;
    fs::remove_file(root_file(folder))?;
    // A process that comes now creates a new one.
    drop(lock);
    delete(&removed)
}

/// Renames a folder, in the same parent, to a name that no reader uses.
fn set_aside(folder: &Path) -> io::Result<PathBuf> {
    let name = format!("{REMOVED}{:016x}", random_number());
    let removed = folder.with_file_name(name);
    fs::rename(folder, &removed)?;
    Ok(removed)
}

/// Removes a folder and its content, without following links.
fn delete(folder: &Path) -> io::Result<()> {
    let removed = match fs::remove_dir_all(folder) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            // Some tools remove the write permission from the folders of their caches.
            make_writable(folder, DEEPEST);
            fs::remove_dir_all(folder)
        }
        result => result,
    };
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        result => result,
    }
}

/// Makes a folder and those below it writable for the user, as far as the system allows it; follows no link.
fn make_writable(folder: &Path, deep: usize) {
    let flags = (OFlags::PATH | OFlags::NOFOLLOW | OFlags::DIRECTORY).bits().cast_signed();
    let Ok(handle) = OpenOptions::new().read(true).custom_flags(flags).open(folder) else { return };
    let is_private = handle.metadata().is_ok_and(|found| found.mode() & 0o700 == 0o700);
    if !is_private {
        // The handle's own name leads to that very folder, even if its path was replaced.
        let _ = fs::set_permissions(shown_path(&handle), Permissions::from_mode(0o700));
    }
    for entry in entries(folder) {
        if deep > 0 && is_folder(&entry) {
            make_writable(&entry.path(), deep - 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::super::make;
    use super::*;

    const KIB: u64 = 1024;

    struct Caches {
        dir: tempfile::TempDir,
        state: StateFolder,
    }

    impl Caches {
        fn new() -> Caches {
            let dir = tempfile::tempdir().unwrap();
            let state = StateFolder::in_folder(dir.path(), &[]);
            Caches { dir, state }
        }

        /// A cache with so many KiB for each gate, used so many hours ago.
        fn fill(&self, root: &str, gates: &[(&str, u64, u64)]) -> PathBuf {
            let cache = self.state.cache(Path::new(root)).unwrap();
            let folder = cache.folder().to_owned();
            let hours = |hours: u64| SystemTime::now() - Duration::from_secs(hours * 3600);
            for (gate, size, ago) in gates {
                let deep = folder.join(gate).join("project");
                make(&deep).unwrap();
                let file = deep.join("data");
                fs::write(&file, vec![1_u8; (size * KIB) as usize]).unwrap();
                for path in [file, deep, folder.join(gate)] {
                    File::open(path).unwrap().set_modified(hours(*ago)).unwrap();
                }
            }
            drop(cache);
            let oldest = gates.iter().map(|(.., ago)| *ago).min().unwrap_or_default();
            File::open(root_file(&folder)).unwrap().set_modified(hours(oldest)).unwrap();
            folder
        }

        fn bound(&self, limits: CacheLimits) {
            let _within = bound(self.state.caches().unwrap(), limits).unwrap();
        }

        fn roots(&self) -> Vec<String> {
            let mut roots: Vec<String> = self
                .state
                .cached()
                .unwrap()
                .iter()
                .map(|cached| cached.root.as_ref().unwrap().display().to_string())
                .collect();
            roots.sort_unstable();
            roots
        }
    }

    fn kib(workspace: u64, all: u64) -> CacheLimits {
        CacheLimits { workspace: workspace * KIB, all: all * KIB }
    }

    #[test]
    fn each_cache_is_listed_with_its_root_its_size_and_its_gates() {
        let caches = Caches::new();
        caches.fill("/p", &[("cargo-check", 100, 2), ("mypy", 10, 5)]);
        caches.fill("/q", &[("mypy", 20, 1)]);
        let cached = caches.state.cached().unwrap();
        assert_eq!(
            cached.iter().map(|it| it.root.as_deref()).collect::<Vec<_>>(),
            [Some(Path::new("/p")), Some(Path::new("/q"))]
        );
        let parts: Vec<_> =
            cached[0].parts.iter().map(|part| (part.name.as_str(), part.size / KIB >= 10)).collect();
        assert_eq!(parts, [("cargo-check", true), ("mypy", true)]);
        assert!((110 * KIB..200 * KIB).contains(&cached[0].size), "{}", cached[0].size);
        let ago = SystemTime::now().duration_since(cached[0].used).unwrap().as_secs();
        assert!((7100..7300).contains(&ago) && !cached[0].in_use, "{ago}");
    }

    #[test]
    fn a_cache_in_use_stays_and_one_that_is_not_goes() {
        let caches = Caches::new();
        let folder = caches.fill("/p", &[("mypy", 10, 1)]);
        let cache = caches.state.cache(Path::new("/p")).unwrap();
        let cached = caches.state.cached().unwrap().remove(0);
        assert!(cached.in_use);
        let in_use = caches.state.clear(&cached).unwrap_err();
        assert_eq!(in_use.kind(), io::ErrorKind::WouldBlock);
        caches.bound(kib(0, 0));
        assert!(folder.join("mypy/project/data").exists());
        drop(cache);
        // The control: nobody uses it.
        caches.state.clear(&cached).unwrap();
        assert!(!folder.exists() && !root_file(&folder).exists());
        assert_eq!(fs::read_dir(caches.state.caches().unwrap()).unwrap().count(), 0);
        drop(caches.state.cache(Path::new("/p")).unwrap());
        assert!(folder.exists(), "it is made anew");
    }

    #[test]
    fn no_link_is_followed_and_nothing_outside_is_removed() {
        let caches = Caches::new();
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("kept"), "kept").unwrap();
        let folder = caches.fill("/p", &[("mypy", 1, 1)]);
        symlink(outside.path(), folder.join("mypy/away")).unwrap();
        let linked = caches.state.caches().unwrap().join("f".repeat(DIGITS));
        symlink(outside.path(), &linked).unwrap();
        let cached = caches.state.cached().unwrap();
        assert_eq!(cached.len(), 1, "a link is no cache");
        let made_up = |folder: &Path| Cached { folder: folder.to_owned(), ..cached[0].clone() };
        for folder in [outside.path(), &linked, &caches.dir.path().join("state")] {
            let error = caches.state.clear(&made_up(folder)).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::Other, "{}", folder.display());
        }
        caches.state.clear(&cached[0]).unwrap();
        assert_eq!(fs::read(outside.path().join("kept")).unwrap(), b"kept");
        assert!(linked.symlink_metadata().is_ok());
    }

    #[test]
    fn a_root_is_kept_within_its_bound_by_what_was_used_least_recently() {
        let caches = Caches::new();
        let folder = caches.fill("/p", &[("clippy", 40, 9), ("cargo-check", 40, 1), ("mypy", 40, 5)]);
        // The control: within the bound all stays.
        caches.bound(kib(1000, 1000));
        let gates = || ["clippy", "mypy", "cargo-check"].map(|gate| folder.join(gate).exists());
        assert_eq!(gates(), [true; 3]);
        caches.bound(kib(115, 1000));
        assert_eq!(gates(), [false, true, true]);
        caches.bound(kib(70, 1000));
        assert_eq!(gates(), [false, false, true]);
    }

    #[test]
    fn all_roots_are_kept_within_their_bound_by_the_last_use() {
        let caches = Caches::new();
        for (root, ago) in [("/a", 3), ("/b", 9), ("/c", 1), ("/d", 6)] {
            caches.fill(root, &[("mypy", 40, ago)]);
        }
        caches.bound(kib(1000, 1000));
        assert_eq!(caches.roots(), ["/a", "/b", "/c", "/d"], "the control");
        let cache = caches.state.cache(Path::new("/d")).unwrap();
        caches.bound(kib(1000, 150));
        assert_eq!(caches.roots(), ["/a", "/c", "/d"], "the oldest goes");
        let time = SystemTime::now() - Duration::from_secs(6 * 3600);
        File::open(root_file(cache.folder())).unwrap().set_modified(time).unwrap();
        caches.bound(kib(1000, 110));
        assert_eq!(caches.roots(), ["/c", "/d"], "the oldest that nobody uses");
    }

    #[test]
    fn leftovers_of_killed_processes_are_removed() {
        let caches = Caches::new();
        let folder = caches.fill("/p", &[("cargo-check", 1, 1)]);
        let home = caches.state.caches().unwrap().to_owned();
        let proofs = home.join(PROOFS);
        make(&proofs).unwrap();
        let old = SystemTime::now() - UNFINISHED - UNFINISHED;
        let target = folder.join("cargo-check/project");
        for (place, aged) in
            [(&proofs, ".tmpold"), (&proofs, ".tmpnew"), (&target, ".tmpold"), (&target, ".tmpnew")]
                .map(|(folder, name)| (folder.join(name), name.ends_with("old")))
        {
            let file = File::create(&place).unwrap();
            if aged {
                file.set_modified(old).unwrap();
            }
        }
        for place in [home.join(".removed-1"), folder.join(".removed-2")] {
            make(&place.join("deep")).unwrap();
        }
        let cache = caches.state.cache(Path::new("/p")).unwrap();
        caches.bound(kib(1000, 1000));
        assert!(folder.join(".removed-2").exists(), "somebody may be about to remove it");
        drop(cache);
        caches.bound(kib(1000, 1000));
        let paths = [
            home.join(".removed-1"),
            folder.join(".removed-2"),
            proofs.join(".tmpold"),
            target.join(".tmpold"),
            proofs.join(".tmpnew"),
            target.join(".tmpnew"),
            target.join("data"),
        ];
        assert_eq!(paths.map(|path| path.exists()), [false, false, false, false, true, true, true]);
    }

    #[test]
    fn the_bounds_are_looked_at_once_an_hour() {
        let caches = Caches::new();
        caches.fill("/p", &[("mypy", 40, 1)]);
        caches.state.bound_caches(kib(1000, 1000)).unwrap();
        caches.state.bound_caches(kib(1000, 0)).unwrap();
        assert_eq!(caches.roots(), ["/p"]);
        let last_pass = File::open(caches.state.caches().unwrap().join(LAST_PASS)).unwrap();
        last_pass.set_modified(SystemTime::now() - PASS_INTERVAL).unwrap();
        let cache = caches.state.cache(Path::new("/p")).unwrap();
        caches.state.bound_caches(kib(1000, 0)).unwrap();
        assert_eq!(caches.roots(), ["/p"], "it is in use");
        drop(cache);
        caches.state.bound_caches(kib(1000, 0)).unwrap();
        assert_eq!(caches.roots(), ["/p"], "not at once");
        let age = last_pass.metadata().unwrap().modified().unwrap().elapsed().unwrap();
        assert!(
            (PASS_INTERVAL - RETRY_INTERVAL..PASS_INTERVAL).contains(&age),
            "but within a minute: {age:?}"
        );
        last_pass.set_modified(SystemTime::now() - PASS_INTERVAL).unwrap();
        caches.state.bound_caches(kib(1000, 0)).unwrap();
        assert!(caches.roots().is_empty());
    }

    #[test]
    fn a_pass_that_never_ends_is_not_begun_again_by_each_process() {
        let caches = Caches::new();
        caches.fill("/p", &[("mypy", 40, 1)]);
        let last_pass = caches.state.caches().unwrap().join(LAST_PASS);
        let passes = std::cell::Cell::new(0);
        let pass = |_: &Path| {
            passes.set(passes.get() + 1);
            // Another process comes while this one is running, or after it was killed.
            caches.state.pass_if_due(|_| panic!("it was claimed")).map(|()| true)
        };
        caches.state.pass_if_due(pass).unwrap();
        assert_eq!(passes.get(), 1);
        // The control: without the claim the other process starts as well; and an explicit call always runs.
        fs::remove_file(&last_pass).unwrap();
        caches.state.pass_if_due(|_| Ok(passes.replace(2) == 1)).unwrap();
        caches.state.pass(|_| Ok(passes.replace(3) == 2)).unwrap();
        assert_eq!(passes.get(), 3);
        caches.state.bound_caches(kib(1000, 0)).unwrap();
        assert_eq!(caches.roots(), ["/p"], "within the hour");
        caches.state.bound_caches_now(kib(1000, 0)).unwrap();
        assert!(caches.roots().is_empty());
    }

    #[test]
    fn a_leftover_that_cannot_be_removed_keeps_nothing_else_from_its_bounds() {
        let caches = Caches::new();
        caches.fill("/p", &[("mypy", 1, 1)]);
        let home = caches.state.caches().unwrap().to_owned();
        let names = [".removed-1", ".removed-2", ".removed-3"];
        names.iter().for_each(|name| make(&home.join(name)).unwrap());
        let attempts = std::cell::RefCell::new(Vec::new());
        let remove_last = |folder: &Path| {
            if folder.ends_with(".removed-3") {
                return delete(folder);
            }
            attempts.borrow_mut().push(folder.to_owned());
            Err(io::ErrorKind::PermissionDenied.into())
        };
        remove_leftovers(&home, remove_last).unwrap();
        assert_eq!(
            (attempts.borrow().len(), names.map(|name| home.join(name).exists())),
            (2, [true, true, false])
        );
    }

    #[test]
    fn folders_that_a_tool_made_read_only_are_removed() {
        let dir = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        let folder = dir.path().join("removed");
        make(&folder.join("deep/deeper")).unwrap();
        fs::write(folder.join("deep/deeper/file"), "x").unwrap();
        symlink(outside.path(), folder.join("deep/away")).unwrap();
        let mode = |path: &Path, mode: u32| fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
        mode(outside.path(), 0o500);
        mode(&folder.join("deep/deeper"), 0o000);
        mode(&folder.join("deep"), 0o500);
        // Root may write everywhere, by capabilities that each thread can give away.
        let place = folder.clone();
        let unprivileged = move || {
            rustix::thread::set_capabilities(
                None,
                rustix::thread::CapabilitySets {
                    effective: rustix::thread::CapabilitySet::empty(),
                    permitted: rustix::thread::CapabilitySet::empty(),
                    inheritable: rustix::thread::CapabilitySet::empty(),
                },
            )
            .unwrap();
            (fs::remove_dir_all(&place).map_err(|error| error.kind()), delete(&place))
        };
        let (plain, deleted) = std::thread::spawn(unprivileged).join().unwrap();
        assert_eq!(plain, Err(io::ErrorKind::PermissionDenied), "the control");
        deleted.unwrap();
        assert!(!folder.exists());
        assert_eq!(outside.path().metadata().unwrap().mode() & 0o777, 0o500);
    }

    #[test]
    fn nobody_waits_while_leftovers_are_removed() {
        let caches = Caches::new();
        let folder = caches.fill("/p", &[("cargo-check", 1, 1)]);
        make(&folder.join(".removed-1")).unwrap();
        let is_free = std::cell::Cell::new(None);
        let check_lock = |_: &Path| {
            is_free.set(Some(lock_existing(&folder).is_ok()));
            Ok(())
        };
        remove_leftovers(caches.state.caches().unwrap(), check_lock).unwrap();
        assert_eq!(is_free.get(), Some(true));
        // The control: a lock that is held is seen.
        let _lock = lock_for_removal(&folder).unwrap();
        assert_eq!(lock_existing(&folder).unwrap_err().kind(), io::ErrorKind::WouldBlock);
    }

    #[test]
    fn a_call_goes_without_a_cache_of_which_something_is_removed_for_too_long() {
        let caches = Caches::new();
        let folder = caches.fill("/p", &[("mypy", 1, 1)]);
        let lock = lock_for_removal(&folder).unwrap();
        let (lock_sender, lock_receiver) = std::sync::mpsc::channel();
        let plain = folder.clone();
        std::thread::spawn(move || {
            lock_sender.send(open_and_lock(&plain, |file| file.lock_shared()).is_ok())
        });
        let (cache_sender, cache_receiver) = std::sync::mpsc::channel();
        let state = caches.state.clone();
        std::thread::spawn(move || cache_sender.send(state.cache(Path::new("/p")).map(drop)));
        let reason =
            cache_receiver.recv_timeout(Duration::from_secs(30)).expect("it still waits").unwrap_err();
        assert!(reason.contains("cannot be locked: timed out"), "{reason}");
        assert!(lock_receiver.try_recv().is_err(), "the control: who waits without a limit waits still");
        drop(lock);
        assert!(lock_receiver.recv_timeout(Duration::from_secs(30)).unwrap());
        assert!(caches.state.cache(Path::new("/p")).is_ok());
    }

    #[test]
    fn a_cache_without_the_file_of_its_root_does_not_look_used_after_a_pass() {
        let caches = Caches::new();
        let folder = caches.fill("/p", &[("clippy", 40, 9), ("mypy", 40, 5)]);
        fs::remove_file(root_file(&folder)).unwrap();
        let age = || {
            let used = inspect(&folder).used;
            used.elapsed().unwrap().as_secs() / 3600
        };
        make(&folder.join(".removed-1")).unwrap();
        caches.bound(kib(1000, 1000));
        assert_eq!(
            (folder.join(".removed-1").exists(), age(), root_file(&folder).exists()),
            (false, 5, false)
        );
        caches.bound(kib(70, 1000));
        assert_eq!((folder.join("clippy").exists(), age()), (false, 5));
        // The control: a use shows.
        drop(caches.state.cache(Path::new("/p")).unwrap());
        assert_eq!(age(), 0);
    }
}
