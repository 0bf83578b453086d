//! Walks from the roots, or from a folder in one of them, to the files that may be read.
//!
//! Folders are listed and files opened through descriptors; no link is followed. Protected files are left
//! out, and so are ignored and, by default, hidden ones. A nested repository is walked like any folder.
//!
//! Invariant: each file passed to a [`Visitor`] was vetted like an admitted path; files and folders that
//! could not be read are counted.

use super::clock::Clock;
use super::dir_state::DirState;
use super::links::ProtectedLinks;
use super::listed::{FolderListing, Hidden};
use super::queue;
use super::target::{SearchRoots, WalkFolder};
use crate::disk::file_system;
use crate::disk::folder::{Folder, Identity, is_regular};
use crate::paths::admit;
use crate::paths::file_location::FileLocation;
use crate::paths::root::Root;
use crate::state;
use rustix::fs::Stat;
use rustix::io::Errno;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;

/// The number of files of one folder that a thread takes at a time.
const PORTION: usize = 64;
/// The number of files between two checks of the clock.
const OFTEN: usize = 8;
/// The most threads; more of them would wait for the same disk and memory.
const MAX_THREADS: usize = 12;

/// The files and folders that could not be read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Skipped {
    /// The number of files that are larger than the limit.
    pub large: usize,
    /// The number of files and folders that the system did not let be read.
    pub unreadable: usize,
    /// The number of entries whose names are not UTF-8.
    pub unnamed: usize,
    /// The number of files for which there was not enough time.
    pub slow: usize,
}

impl Skipped {
    /// True if anything was skipped.
    pub fn any(&self) -> bool {
        *self != Skipped::default()
    }

    /// Adds the counts of another thread.
    pub(super) fn add(&mut self, other: Skipped) {
        self.large += other.large;
        self.unreadable += other.unreadable;
        self.unnamed += other.unnamed;
        self.slow += other.slow;
    }
}

/// The work of a thread on its files.
pub(super) trait Visitor: Send {
    /// Processes a file; counts it in `skipped` if it cannot be used.
    fn take(&mut self, file: &File<'_>, skipped: &mut Skipped);
}

/// A walk over the files below some folders.
pub(super) struct FileWalk<'a> {
    roots: &'a [Root],
    below: &'a SearchRoots,
    hidden: Hidden,
    clock: &'a Clock<'a>,
    tops: Vec<Folder>,
    links: ProtectedLinks,
    /// The identities of lockgate's own folders.
    own: Vec<Identity>,
}

/// A file of the walk; opening it checks that it may be read.
pub(super) struct File<'a> {
    walk: &'a FileWalk<'a>,
    pub(super) dir_state: &'a DirState,
    folder: &'a Folder,
    pub(super) name: &'a str,
}

enum WalkJob {
    Folder(WalkFolder),
    Files { dir_state: Arc<DirState>, folder: Arc<Folder>, names: Vec<String> },
}

/// The state of one thread of a walk.
struct WalkPart<H> {
    visitor: H,
    skipped: Skipped,
    space: Vec<u8>,
}

impl<'a> FileWalk<'a> {
    /// A walk over the files below some folders.
    pub(super) fn new(
        roots: &'a [Root],
        below: &'a SearchRoots,
        hidden: Hidden,
        clock: &'a Clock<'a>,
    ) -> FileWalk<'a> {
        let tops = roots.iter().filter_map(|root| root.top().ok()).collect();
        FileWalk {
            roots,
            below,
            hidden,
            clock,
            tops,
            links: ProtectedLinks::default(),
            own: state::own_folders(),
        }
    }

    /// Walks, and returns the visitor of each thread and the counts of what was skipped.
    pub(super) fn run<H: Visitor>(&self, new_visitor: impl Fn() -> H + Sync) -> (Vec<H>, Skipped) {
        if self.tops.len() < self.roots.len() {
            let skipped = Skipped { unreadable: self.roots.len(), ..Skipped::default() };
            return (Vec::new(), skipped);
        }
        let jobs = self.below.starts().cloned().map(WalkJob::Folder).collect();
        let threads = std::thread::available_parallelism().map_or(2, usize::from).min(MAX_THREADS);
        let part = || WalkPart { visitor: new_visitor(), skipped: Skipped::default(), space: Vec::new() };
        let parts = queue::share(jobs, threads, part, |part, job| self.work(part, job));
        let mut skipped = Skipped::default();
        parts.iter().for_each(|part| skipped.add(part.skipped));
        (parts.into_iter().map(|part| part.visitor).collect(), skipped)
    }

    fn work<H: Visitor>(&self, part: &mut WalkPart<H>, job: WalkJob) -> Vec<WalkJob> {
        if !self.clock.may_continue() {
            return Vec::new();
        }
        match job {
            WalkJob::Folder(folder) => match self.folder(part, folder) {
                Ok(jobs) => jobs,
                // The folder was removed or replaced.
                Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Vec::new(),
                Err(_) => {
                    part.skipped.unreadable += 1;
                    Vec::new()
                }
            },
            WalkJob::Files { dir_state, folder, names } => {
                self.files(part, &dir_state, &folder, &names);
                Vec::new()
            }
        }
    }

    fn folder<H>(
        &self,
        part: &mut WalkPart<H>,
        WalkFolder { root, path, above }: WalkFolder,
    ) -> rustix::io::Result<Vec<WalkJob>> {
        let (Some(top), Some(at)) = (self.tops.get(root), self.roots.get(root)) else {
            return Ok(Vec::new());
        };
        let folder = top.descend(&path)?;
        let identity = folder.identity()?;
        if self.is_elsewhere(identity, root, &path) || is_made_up(&folder, identity, above.as_deref())? {
            return Ok(Vec::new());
        }
        let mut listed = FolderListing::read(&folder, &mut part.space, self.hidden)?;
        part.skipped.unnamed += listed.unnamed;
        let state = DirState::enter((root, at), above, path, (&folder, identity), listed.signs)?;
        let Some(dir_state) = state.map(Arc::new) else { return Ok(Vec::new()) };
        self.sift(&mut listed, &dir_state, at);
        self.clock.add_found(listed.files.len());
        let below = |name: String| {
            let above = Some(Arc::clone(&dir_state));
            WalkJob::Folder(WalkFolder { root, path: dir_state.join(&name), above })
        };
        let mut jobs: Vec<WalkJob> = listed.folders.into_iter().map(below).collect();
        let (mut names, folder) = (listed.files, Arc::new(folder));
        // The files come last in the job list, so that they are taken first, and the folder is closed soon.
        while !names.is_empty() {
            let names = names.split_off(names.len().saturating_sub(PORTION));
            jobs.push(WalkJob::Files {
                dir_state: Arc::clone(&dir_state),
                folder: Arc::clone(&folder),
                names,
            });
        }
        Ok(jobs)
    }

    /// Removes entries that a rule covers, that git ignores, or that the filter excludes.
    fn sift(&self, listed: &mut FolderListing, dir_state: &DirState, root: &Root) {
        let mut path: PathBuf = root.real().join(&dir_state.path);
        let has_ignores = dir_state.has_ignores();
        let mut stays = |name: &String, is_folder: bool| {
            if dir_state.covers(name) {
                return false;
            }
            if !has_ignores {
                return true;
            }
            path.push(name);
            let is_ignored = dir_state.is_ignored(&path, is_folder);
            path.pop();
            !is_ignored
        };
        listed.folders.retain(|name| stays(name, true));
        listed.files.retain(|name| self.below.finds(dir_state, name) && stays(name, false));
    }

    /// True if a folder is another root, which is walked separately, or one of lockgate's own.
    fn is_elsewhere(&self, folder: Identity, root: usize, path: &str) -> bool {
        let is_root = self.roots.iter().any(|root| root.identity() == folder);
        (is_root && !self.below.is_start(root, path)) || self.own.contains(&folder)
    }

    fn files<H: Visitor>(
        &self,
        part: &mut WalkPart<H>,
        dir_state: &DirState,
        folder: &Folder,
        names: &[String],
    ) {
        for (at, name) in names.iter().enumerate() {
            if self.clock.is_stopped() || (at % OFTEN == 0 && !self.clock.may_continue()) {
                return;
            }
            part.visitor.take(&File { walk: self, dir_state, folder, name }, &mut part.skipped);
        }
        self.clock.add_done(names.len());
    }
}

/// True if the kernel generates the content of a folder, as in /proc; a folder on its parent's device is like
/// its parent.
fn is_made_up(folder: &Folder, identity: Identity, above: Option<&DirState>) -> rustix::io::Result<bool> {
    let is_new = above.is_none_or(|above| above.identity.device != identity.device);
    Ok(is_new && file_system::is_made_up(folder)?)
}

impl File<'_> {
    /// Opens the file for reading, after checking that it may be read.
    ///
    /// Errors: errors of the system. Returns `None` if it may not be read, or is no longer a regular file.
    pub(super) fn open(&self) -> rustix::io::Result<Option<(OwnedFd, Stat)>> {
        let file = match self.folder.open_to_read(self.name) {
            Ok(file) => file,
            Err(Errno::NOENT | Errno::LOOP | Errno::NXIO | Errno::NOTDIR) => return Ok(None),
            Err(errno) => return Err(errno),
        };
        let stat = rustix::fs::fstat(&file)?;
        Ok(self.may_be_seen(&stat, &file).then_some((file, stat)))
    }

    /// Returns the file's metadata, after checking that it may be read.
    ///
    /// Errors: those of [`File::open`].
    pub(super) fn stat(&self) -> rustix::io::Result<Option<Stat>> {
        let file = match self.folder.touch(self.name) {
            Ok(file) => file,
            Err(Errno::NOENT) => return Ok(None),
            Err(errno) => return Err(errno),
        };
        let stat = rustix::fs::fstat(&file)?;
        Ok(self.may_be_seen(&stat, &file).then_some(stat))
    }

    fn may_be_seen(&self, stat: &Stat, file: &OwnedFd) -> bool {
        if !is_regular(stat) {
            return false;
        }
        // The folder is on a file system that stores files; another one may be mounted over a single file.
        let same = stat.st_dev == self.dir_state.identity.device;
        let stored = same || admit::refuse_special(stat, file, self.name).is_ok();
        stored && !self.dir_state.is_reached(self.name, stat, &self.walk.links, self.walk.roots)
    }

    /// The file's path; `None` if its root's own path is not UTF-8.
    pub(super) fn place(&self) -> Option<FileLocation> {
        self.dir_state.place(self.walk.roots, self.name)
    }
}
