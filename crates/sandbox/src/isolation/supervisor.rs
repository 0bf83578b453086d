//! The supervisor of calls that change the mode and the times of files. It makes such changes itself for
//! files in a program's own folders, and refuses all others.
//!
//! Landlock lets a program change the mode of any file of the user. Refusing the calls entirely would break
//! tools: linkers make their output executable, and builds copy files with their modes. So the seccomp filter
//! hands these calls to this process, which opens the file in the caller's place, checks its path, and
//! changes exactly the file that it opened. A caller that changes a path or its memory meanwhile cannot
//! redirect the change.
//!
//! Invariant: no file outside of the folders is changed, no file of another user, and no file becomes
//! set-user-ID or set-group-ID.

use std::ffi::{CStr, CString};
use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::thread::Builder;

use rustix::fs::{
    AtFlags, CWD, FileType, Mode, OFlags, ResolveFlags, Timespec, Timestamps, fstat, open, openat, openat2,
    readlink, utimensat,
};
use rustix::io::Errno;
use rustix::process::geteuid;

use super::listener::{Listener, PendingCall};
use super::seccomp::SYS_FCHMODAT2;

/// The longest path, including its terminating zero (`PATH_MAX`).
const LONGEST_PATH: usize = 4096;
/// The unit in which memory is read, so that no read crosses into an unmapped page.
const PAGE: u64 = 4096;
/// The bits of a mode, and those that make a program run as another user or group.
const MODE: u32 = 0o7777;
const SET_ID: u32 = 0o6000;

/// Supervises the calls of a listener on a thread of its own, until the last process that can make them has
/// ended.
pub(super) fn supervise(listener: Listener, folders: Vec<PathBuf>) -> io::Result<()> {
    let folders: Vec<PathBuf> = folders.iter().filter_map(|folder| folder.canonicalize().ok()).collect();
    let work = move || {
        while let Some(call) = listener.next() {
            let answer = answer(&listener, &call, &folders);
            listener.answer(&call, answer);
        }
    };
    Builder::new().name("lockgate-supervisor".to_owned()).spawn(work).map(|_| ())
}

/// A change to a file's mode or times.
#[derive(Debug)]
enum MetadataChange {
    Mode(u32),
    Times(Timestamps),
}

impl MetadataChange {
    /// Returns the change to the mode in a register.
    fn mode(register: u64) -> MetadataChange {
        MetadataChange::Mode(low(register).cast_unsigned() & MODE)
    }
}

/// The file that a call refers to.
#[derive(Debug)]
enum CallTarget {
    Descriptor(i32),
    Path { directory: i32, path: CString, follow: bool },
}

fn answer(listener: &Listener, call: &PendingCall, folders: &[PathBuf]) -> Result<(), Errno> {
    let caller = CallerThread::open(call.thread)?;
    // This proves that the opened /proc folder is the caller's, even if it ends later.
    if !listener.is_pending(call) {
        return Err(Errno::SRCH);
    }
    let (target, change) = parse(call, &caller)?;
    let file = caller.file(target)?;
    if !is_in_own_folder(&file, folders)? {
        return Err(Errno::PERM);
    }
    apply(&file, &change)
}

/// Parses the arguments of a call.
fn parse(call: &PendingCall, caller: &CallerThread) -> Result<(CallTarget, MetadataChange), Errno> {
    let [a, b, c, d, ..] = call.arguments;
    match call.number {
        libc::SYS_fchmod => Ok((CallTarget::Descriptor(low(a)), MetadataChange::mode(b))),
        libc::SYS_fchmodat => Ok((caller.target(low(a), b, 0)?, MetadataChange::mode(c))),
        SYS_FCHMODAT2 => Ok((caller.target(low(a), b, d)?, MetadataChange::mode(c))),
        libc::SYS_utimensat => {
            let target = if b == 0 { CallTarget::Descriptor(low(a)) } else { caller.target(low(a), b, d)? };
            Ok((target, MetadataChange::Times(caller.times(c, TimeUnit::Nanoseconds)?)))
        }
        _ => parse_older(call, caller),
    }
}

/// Parses the calls that only x86-64 has.
#[cfg(target_arch = "x86_64")]
fn parse_older(call: &PendingCall, caller: &CallerThread) -> Result<(CallTarget, MetadataChange), Errno> {
    let [a, b, c, ..] = call.arguments;
    let times = |at: u64, unit: TimeUnit| Ok(MetadataChange::Times(caller.times(at, unit)?));
    match call.number {
        libc::SYS_chmod => Ok((caller.target(libc::AT_FDCWD, a, 0)?, MetadataChange::mode(b))),
        libc::SYS_utime => Ok((caller.target(libc::AT_FDCWD, a, 0)?, times(b, TimeUnit::Seconds)?)),
        libc::SYS_utimes => Ok((caller.target(libc::AT_FDCWD, a, 0)?, times(b, TimeUnit::Microseconds)?)),
        libc::SYS_futimesat if b == 0 => {
            Ok((CallTarget::Descriptor(low(a)), times(c, TimeUnit::Microseconds)?))
        }
        libc::SYS_futimesat => Ok((caller.target(low(a), b, 0)?, times(c, TimeUnit::Microseconds)?)),
        _ => Err(Errno::NOSYS),
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn parse_older(_: &PendingCall, _: &CallerThread) -> Result<(CallTarget, MetadataChange), Errno> {
    Err(Errno::NOSYS)
}

/// The low 32 bits of a register: the kernel reads only those of an `int`.
fn low(register: u64) -> i32 {
    (register as u32).cast_signed()
}

/// The unit of the second number of a time, after its seconds.
#[derive(Debug, Clone, Copy)]
enum TimeUnit {
    Nanoseconds,
    #[cfg(target_arch = "x86_64")]
    Microseconds,
    /// There is no second number.
    #[cfg(target_arch = "x86_64")]
    Seconds,
}

/// The thread that made a call, through its folder of proc(5).
struct CallerThread {
    proc: OwnedFd,
    memory: File,
    thread: u32,
}

impl CallerThread {
    fn open(thread: u32) -> Result<CallerThread, Errno> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let proc = open(format!("/proc/{thread}"), flags, Mode::empty())?;
        let memory = openat(&proc, c"mem", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
        Ok(CallerThread { proc, memory: memory.into(), thread })
    }

    /// Reads a path from the caller's memory, and returns its target.
    fn target(&self, directory: i32, path: u64, flags: u64) -> Result<CallTarget, Errno> {
        let flags = low(flags);
        if flags & !(libc::AT_SYMLINK_NOFOLLOW | libc::AT_EMPTY_PATH) != 0 {
            return Err(Errno::INVAL);
        }
        let path = self.text(path)?;
        if path.is_empty() {
            let descriptor = CallTarget::Descriptor(directory);
            return if flags & libc::AT_EMPTY_PATH == 0 { Err(Errno::NOENT) } else { Ok(descriptor) };
        }
        if let Some(number) = self.own_descriptor(&path) {
            return Ok(CallTarget::Descriptor(number));
        }
        Ok(CallTarget::Path { directory, path, follow: flags & libc::AT_SYMLINK_NOFOLLOW == 0 })
    }

    /// The descriptor number in a path such as `/proc/self/fd/3`, which libraries use to reach an open file.
    fn own_descriptor(&self, path: &CStr) -> Option<i32> {
        let path = path.to_str().ok()?;
        let own = format!("/proc/{}/fd/", self.thread);
        let number = ["/proc/self/fd/", "/proc/thread-self/fd/", "/dev/fd/", &own]
            .iter()
            .find_map(|folder| path.strip_prefix(folder))?;
        number.parse().ok().filter(|number| *number >= 0)
    }

    /// Opens a file as the caller would, without read access.
    fn file(&self, target: CallTarget) -> Result<OwnedFd, Errno> {
        let path_only = OFlags::PATH | OFlags::CLOEXEC;
        let (directory, path, follow) = match target {
            CallTarget::Descriptor(number) => return self.descriptor(number),
            CallTarget::Path { directory, path, follow } => (directory, path, follow),
        };
        let flags = if follow { path_only } else { path_only | OFlags::NOFOLLOW };
        if path.to_bytes().starts_with(b"/") {
            return openat2(CWD, &path, flags, Mode::empty(), ResolveFlags::NO_MAGICLINKS);
        }
        openat2(self.descriptor(directory)?, &path, flags, Mode::empty(), ResolveFlags::NO_MAGICLINKS)
    }

    /// Opens the file of a descriptor, which may stand for the working directory.
    fn descriptor(&self, number: i32) -> Result<OwnedFd, Errno> {
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        if number == libc::AT_FDCWD {
            return openat(&self.proc, c"cwd", flags, Mode::empty());
        }
        let opened = openat(&self.proc, format!("fd/{number}"), flags, Mode::empty());
        opened.map_err(|error| if error == Errno::NOENT { Errno::BADF } else { error })
    }

    /// Reads a zero-terminated string from the caller's memory.
    fn text(&self, address: u64) -> Result<CString, Errno> {
        let mut text = Vec::new();
        while text.len() < LONGEST_PATH {
            let at = address.checked_add(text.len() as u64).ok_or(Errno::FAULT)?;
            let mut chunk = vec![0; usize::try_from(PAGE - at % PAGE).unwrap_or_default()];
            self.read(at, &mut chunk)?;
            let end = chunk.iter().position(|byte| *byte == 0);
            text.extend_from_slice(chunk.get(..end.unwrap_or(chunk.len())).unwrap_or_default());
            if end.is_some() {
                return CString::new(text).map_err(|_| Errno::INVAL);
            }
        }
        Err(Errno::NAMETOOLONG)
    }

    /// Reads two times from the caller's memory, the last access and the last change; the present if there is
    /// no address.
    fn times(&self, address: u64, unit: TimeUnit) -> Result<Timestamps, Errno> {
        let now = || Timespec { tv_sec: 0, tv_nsec: rustix::fs::UTIME_NOW };
        if address == 0 {
            return Ok(Timestamps { last_access: now(), last_modification: now() });
        }
        let number = |at: u64| -> Result<i64, Errno> {
            let mut bytes = [0; 8];
            self.read(address.checked_add(8 * at).ok_or(Errno::FAULT)?, &mut bytes)?;
            Ok(i64::from_ne_bytes(bytes))
        };
        let time = |at: u64| -> Result<Timespec, Errno> {
            Ok(match unit {
                TimeUnit::Nanoseconds => Timespec { tv_sec: number(2 * at)?, tv_nsec: number(2 * at + 1)? },
                #[cfg(target_arch = "x86_64")]
                TimeUnit::Microseconds => {
                    let micros = number(2 * at + 1)?;
                    let micros = (0..1_000_000).contains(&micros).then_some(micros).ok_or(Errno::INVAL)?;
                    Timespec { tv_sec: number(2 * at)?, tv_nsec: micros * 1000 }
                }
                #[cfg(target_arch = "x86_64")]
                TimeUnit::Seconds => Timespec { tv_sec: number(at)?, tv_nsec: 0 },
            })
        };
        Ok(Timestamps { last_access: time(0)?, last_modification: time(1)? })
    }

    fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), Errno> {
        self.memory.read_exact_at(bytes, address).map_err(|error| match error.kind() {
            // The process has ended.
            ErrorKind::UnexpectedEof => Errno::SRCH,
            _ => Errno::FAULT,
        })
    }
}

/// Returns true if a file is inside one of the folders and belongs to this user. The folders themselves are
/// not included.
fn is_in_own_folder(file: &OwnedFd, folders: &[PathBuf]) -> Result<bool, Errno> {
    let place = readlink(own_path(file), Vec::new())?;
    let place = Path::new(std::ffi::OsStr::from_bytes(place.to_bytes()));
    let lies_in = |folder: &PathBuf| place != folder && place.starts_with(folder);
    Ok(folders.iter().any(lies_in) && fstat(file)?.st_uid == geteuid().as_raw())
}

fn apply(file: &OwnedFd, change: &MetadataChange) -> Result<(), Errno> {
    match change {
        MetadataChange::Mode(mode) if mode & SET_ID != 0 => Err(Errno::PERM),
        MetadataChange::Mode(_) if FileType::from_raw_mode(fstat(file)?.st_mode) == FileType::Symlink => {
            Err(Errno::OPNOTSUPP)
        }
        MetadataChange::Mode(mode) => rustix::fs::chmod(own_path(file), Mode::from_raw_mode(*mode)),
        MetadataChange::Times(times) => utimensat(file.as_fd(), c"", times, AtFlags::EMPTY_PATH),
    }
}

/// The path of an open file of this process.
fn own_path(file: &OwnedFd) -> String {
    use std::os::fd::AsRawFd;
    format!("/proc/self/fd/{}", file.as_raw_fd())
}
