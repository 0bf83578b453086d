//! Resource limits for a program and its descendants: processes, memory and disk space.
//!
//! The kernel enforces two limits itself: no core dumps, and a maximum file size. The others are checked
//! several times a second, and a program that exceeds one is killed.
//!
//! A program adopts its own orphans, so all of its processes are below it. Memory that no process has mapped, such as
//! that of a memfd, is found by open descriptors, and by what the whole machine uses more of since the program began.
//!
//! Invariant: a check costs a few reads of proc(5) for each process of the program.

use std::collections::HashMap;
use std::env;
use std::fs;
use std::num::NonZeroUsize;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::statvfs;
use rustix::process::{Pid, Resource, Rlimit, getrlimit, setrlimit};

use super::order::Sandbox;
use super::proc;
use super::registry;

/// The time between two checks.
const CHECK_INTERVAL: Duration = Duration::from_millis(200);
/// The largest number of processes at one time: a base, and an addition for each core.
const PROCESSES: usize = 256;
const PROCESSES_PER_CORE: usize = 8;
/// The smallest memory limit, however little the machine has, in bytes.
const LEAST_MEMORY: u64 = 2 << 30;
/// The space that must stay free on the disks that a program may write to, in bytes.
const MIN_FREE_SPACE: u64 = 256 << 20;
/// The largest file that a program may write, in bytes.
const LARGEST_FILE: u64 = 4 << 30;
/// The largest number of processes that a check reads.
const MAX_READ: usize = 10_000;
/// The largest number of processes that have ended and that their parent has not reaped.
const MAX_ENDED: usize = 4096;
/// Descriptors are searched for memory only once the machine uses this much more of it, in bytes.
const LEAST_SHARED: u64 = 64 << 20;
/// The unit of the size of a file on a disk, stat(2).
const BLOCK: u64 = 512;
/// The largest number of descriptors of a process that are searched for memory.
const MAX_DESCRIPTORS: usize = 4096;

/// The resource limits of a program.
#[derive(Debug)]
pub(super) struct ProcessLimits {
    /// The largest number of processes at one time.
    pub(super) processes: usize,
    /// The largest memory of all processes together, in bytes.
    pub(super) memory: u64,
    /// The space that must stay free in each writable folder, in bytes.
    pub(super) min_free_space: u64,
    /// The time from which a check is due.
    pub(super) next_check: Instant,
    /// The writable folders that had enough free space when the program was started.
    pub(super) writable_paths: Vec<PathBuf>,
    /// The memory in files and shared mappings that the whole machine used when the program was started, in bytes;
    /// `None` if the system does not show it.
    pub(super) shared_before: Option<u64>,
    /// The way in which the growth of that memory counts.
    pub(super) growth: SharedGrowth,
}

/// The way in which the growth of the shared memory of the whole machine counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SharedGrowth {
    /// For the program: it runs for a short time only.
    Program,
    /// Not at all: other programs use more in a long time.
    Ignored,
}

impl ProcessLimits {
    /// Returns the limits for this machine: half of its memory, and a number of processes for each core.
    pub(super) fn of_machine(sandbox: &Sandbox) -> ProcessLimits {
        let cores = thread::available_parallelism().map_or(1, NonZeroUsize::get);
        ProcessLimits {
            processes: PROCESSES + PROCESSES_PER_CORE * cores,
            memory: LEAST_MEMORY.max(memory_of_machine("MemTotal:").unwrap_or_default() / 2),
            min_free_space: MIN_FREE_SPACE,
            next_check: Instant::now() + CHECK_INTERVAL,
            writable_paths: Vec::new(),
            shared_before: memory_of_machine("Shmem:"),
            growth: SharedGrowth::Program,
        }
        .with_writable_paths(sandbox)
    }

    /// Returns the same limits with another minimum of free space.
    #[cfg(test)]
    pub(super) fn with_min_free_space(sandbox: &Sandbox, room: u64) -> ProcessLimits {
        ProcessLimits { min_free_space: room, ..ProcessLimits::of_machine(sandbox) }
            .with_writable_paths(sandbox)
    }

    /// Adds the folders that a program in this sandbox may write to.
    fn with_writable_paths(mut self, sandbox: &Sandbox) -> ProcessLimits {
        let places =
            [env::temp_dir()].into_iter().chain(sandbox.run_dir.clone()).chain(sandbox.cache.clone());
        self.writable_paths =
            places.filter(|place| free_space(place).is_some_and(|room| room > self.min_free_space)).collect();
        self
    }

    /// Describes the limit that a program exceeds, as the end of a sentence. Checks only when a check is due.
    pub(super) fn exceeded_limit(&mut self, leader: Pid) -> Option<String> {
        if Instant::now() < self.next_check {
            return None;
        }
        let usage = ResourceUsage::measure(leader, self.processes);
        self.next_check = Instant::now() + CHECK_INTERVAL;
        if usage.processes.len() > self.processes {
            return Some(format!("started more than {} processes", self.processes));
        }
        if usage.ended > MAX_ENDED {
            return Some(format!("left more than {MAX_ENDED} processes that have ended"));
        }
        if usage.private + self.shared(&usage) > self.memory {
            return Some(format!("took more than {} MiB of memory", self.memory >> 20));
        }
        let full = self
            .writable_paths
            .iter()
            .find(|disk| free_space(disk).is_some_and(|room| room < self.min_free_space))?;
        Some(format!("left less than {} MiB free in {}", self.min_free_space >> 20, full.display()))
    }

    /// The memory in files and shared mappings that a program uses, in bytes.
    fn shared(&self, usage: &ResourceUsage) -> u64 {
        let growth =
            self.shared_before.and_then(|before| Some(memory_of_machine("Shmem:")?.saturating_sub(before)));
        if growth.is_some_and(|growth| growth < LEAST_SHARED) {
            return usage.shared;
        }
        let of_program = match self.growth {
            SharedGrowth::Program => growth.unwrap_or_default(),
            SharedGrowth::Ignored => 0,
        };
        usage.shared.max(memory_files(&usage.processes)).max(of_program)
    }
}

/// Sets the kernel's limits for this process, which its program and all descendants inherit. A lower limit stays.
///
/// It only makes system calls, so that it can be called between fork(2) and execve(2).
pub(super) fn set_rlimits() {
    for (resource, most) in [(Resource::Core, 0), (Resource::Fsize, LARGEST_FILE)] {
        let lower = |limit: Option<u64>| Some(limit.map_or(most, |limit| limit.min(most)));
        let Rlimit { current, maximum } = getrlimit(resource);
        // A process may always lower its own limits.
        let _set = setrlimit(resource, Rlimit { current: lower(current), maximum: lower(maximum) });
    }
}

/// The resources that a program and its descendants use.
#[derive(Debug, Default)]
struct ResourceUsage {
    /// The processes that run.
    processes: Vec<Pid>,
    /// The number of those that have ended and are not reaped.
    ended: usize,
    /// The resident memory of processes without shared memory, in bytes. Files that several have mapped count for each.
    private: u64,
    /// The resident shared memory, in bytes. It counts once for each process.
    shared: u64,
}

impl ResourceUsage {
    /// Measures a program, with what it left to this process. Ends once it has more than `most` processes: others may
    /// start as fast as they are counted.
    fn measure(leader: Pid, most: usize) -> ResourceUsage {
        let (mut usage, mut open) = (ResourceUsage::default(), vec![leader]);
        let registry = registry::lock();
        if registry.adopts() {
            let orphans = registry.orphans_of(leader).into_iter();
            open.extend(orphans.filter(|(_, ended)| !ended).map(|(orphan, _)| orphan));
        }
        drop(registry);
        while let Some(process) = open.pop().filter(|_| usage.processes.len() <= most) {
            match resident(process) {
                Some((private, shared)) => {
                    usage.processes.push(process);
                    usage.private += private;
                    usage.shared += shared;
                }
                None => usage.ended += 1,
            }
            if usage.processes.len() + usage.ended + open.len() < MAX_READ {
                open.extend(proc::children(process));
            }
        }
        usage
    }
}

/// The resident memory of a process in bytes, without and with only shared memory, from its `status`, proc(5). `None` if
/// it has ended.
fn resident(process: Pid) -> Option<(u64, u64)> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let all = kibibytes(&status, "VmRSS:")?;
    let shared = kibibytes(&status, "RssShmem:").unwrap_or_default();
    Some((all.saturating_sub(shared) << 10, shared << 10))
}

/// The size of the files in memory that processes have open, in bytes; each file counts once.
fn memory_files(processes: &[Pid]) -> u64 {
    let mut sizes: HashMap<(u64, u64), u64> = HashMap::new();
    for process in processes {
        let descriptors = fs::read_dir(format!("/proc/{process}/fd")).into_iter().flatten().flatten();
        for descriptor in descriptors.take(MAX_DESCRIPTORS) {
            let path = descriptor.path();
            if fs::read_link(&path).is_ok_and(|name| name.as_os_str().as_bytes().starts_with(b"/memfd:"))
                && let Ok(found) = fs::metadata(&path)
            {
                sizes.insert((found.dev(), found.ino()), found.blocks() * BLOCK);
            }
        }
    }
    sizes.values().sum()
}

/// A value of `/proc/meminfo` in bytes; `None` if it cannot be read.
fn memory_of_machine(name: &str) -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    kibibytes(&text, name).map(|found| found << 10)
}

/// The number after a name at the start of a line.
fn kibibytes(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(name))?.split_whitespace().next()?.parse().ok()
}

/// The bytes that a user can still write to the file system of a path.
fn free_space(place: &Path) -> Option<u64> {
    let found = statvfs(place).ok()?;
    Some(found.f_bavail.saturating_mul(found.f_frsize))
}
