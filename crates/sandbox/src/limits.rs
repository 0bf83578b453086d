//! Resource limits for a program and its descendants: processes, memory and disk space.
//!
//! The kernel enforces two limits itself: no core dumps, and a maximum file size. The others are checked
//! several times a second, and a program that exceeds one is killed.
//!
//! Invariant: a check costs a few reads of proc(5) for each process of the program.

use std::env;
use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::statvfs;
use rustix::param::page_size;
use rustix::process::{Pid, Resource, Rlimit, prlimit};

use super::order::Sandbox;
use super::proc;

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

/// The resource limits of a program.
#[derive(Debug)]
pub(super) struct ProcessLimits {
    pub(super) processes: usize,
    pub(super) memory: u64,
    pub(super) min_free_space: u64,
    pub(super) next_check: Instant,
    /// The writable folders that had enough free space when the program was started.
    pub(super) writable_paths: Vec<PathBuf>,
}

impl ProcessLimits {
    /// Returns the limits for this machine: half of its memory, and a number of processes for each core.
    pub(super) fn of_machine(sandbox: &Sandbox) -> ProcessLimits {
        let cores = thread::available_parallelism().map_or(1, NonZeroUsize::get);
        ProcessLimits {
            processes: PROCESSES + PROCESSES_PER_CORE * cores,
            memory: LEAST_MEMORY.max(memory_of_machine() / 2),
            min_free_space: MIN_FREE_SPACE,
            next_check: Instant::now() + CHECK_INTERVAL,
            writable_paths: Vec::new(),
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
        let usage = ResourceUsage::measure(leader);
        self.next_check = Instant::now() + CHECK_INTERVAL;
        if usage.processes > self.processes {
            return Some(format!("started more than {} processes", self.processes));
        }
        if usage.memory > self.memory {
            return Some(format!("took more than {} MiB of memory", self.memory >> 20));
        }
        let full = self
            .writable_paths
            .iter()
            .find(|disk| free_space(disk).is_some_and(|room| room < self.min_free_space))?;
        Some(format!("left less than {} MiB free in {}", self.min_free_space >> 20, full.display()))
    }
}

/// Sets the kernel's limits for a program that was just started. Its children inherit them.
pub(super) fn set_rlimits(program: Pid) {
    for (resource, most) in [(Resource::Core, 0), (Resource::Fsize, LARGEST_FILE)] {
        // If this fails, a lower limit is already set.
        let _set = prlimit(Some(program), resource, Rlimit { current: Some(most), maximum: Some(most) });
    }
}

/// The resources that a program and its descendants use.
#[derive(Debug, Default)]
struct ResourceUsage {
    processes: usize,
    /// In bytes. Shared pages count once for each process.
    memory: u64,
}

impl ResourceUsage {
    fn measure(leader: Pid) -> ResourceUsage {
        let (mut usage, mut open) = (ResourceUsage::default(), vec![leader]);
        while let Some(process) = open.pop() {
            usage.processes += 1;
            usage.memory += resident(process).unwrap_or_default();
            if usage.processes + open.len() < MAX_READ {
                open.extend(proc::children(process));
            }
        }
        usage
    }
}

/// The resident memory of a process in bytes: the second field of `statm`, proc(5).
fn resident(process: Pid) -> Option<u64> {
    let statm = fs::read_to_string(format!("/proc/{process}/statm")).ok()?;
    let pages: u64 = statm.split_whitespace().nth(1)?.parse().ok()?;
    Some(pages * page_size() as u64)
}

/// The memory of the machine in bytes, from proc(5); 0 if it cannot be read.
fn memory_of_machine() -> u64 {
    let text = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"));
    let kibibytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kibibytes.unwrap_or_default() << 10
}

/// The bytes that a user can still write to the file system of a path.
fn free_space(place: &Path) -> Option<u64> {
    let found = statvfs(place).ok()?;
    Some(found.f_bavail.saturating_mul(found.f_frsize))
}
