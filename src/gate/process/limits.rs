//! How much of the machine a program may take with all that it starts: processes, memory, room on disk.
//!
//! The kernel is told what it can hold by itself: no core dumps, no file larger than a file may be. The rest is looked at
//! several times a second, and a program that takes more is ended.
//!
//! Invariant: a look costs some reads of proc(5) for each process of the program, and no more.

use std::env;
use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::statvfs;
use rustix::param::page_size;
use rustix::process::{Pid, Resource, Rlimit, prlimit};

use super::{Sandbox, proc};

/// How long it is until the next look.
const PAUSE: Duration = Duration::from_millis(200);
/// The processes that a program may have at one time, and how many more for each core.
const PROCESSES: usize = 256;
const PROCESSES_PER_CORE: usize = 8;
/// The least that a program may have of memory, whatever the machine has, in bytes.
const LEAST_MEMORY: u64 = 2 << 30;
/// What must be left on the disks that a program may write to, in bytes.
const ROOM: u64 = 256 << 20;
/// The largest file that it may write, in bytes.
const LARGEST_FILE: u64 = 4 << 30;
/// The most processes that are looked at.
const MOST_LOOKED_AT: usize = 10_000;

/// How much a program may take.
#[derive(Debug)]
pub(super) struct ProcessLimits {
    pub(super) processes: usize,
    pub(super) memory: u64,
    pub(super) room: u64,
    pub(super) next: Instant,
    /// Where it may write, as far as there was room when it was started.
    pub(super) disks: Vec<PathBuf>,
}

impl ProcessLimits {
    /// What this machine gives: half of its memory, and some processes for each core.
    pub(super) fn of_machine(cage: &Sandbox) -> ProcessLimits {
        let cores = thread::available_parallelism().map_or(1, NonZeroUsize::get);
        ProcessLimits {
            processes: PROCESSES + PROCESSES_PER_CORE * cores,
            memory: LEAST_MEMORY.max(memory_of_machine() / 2),
            room: ROOM,
            next: Instant::now() + PAUSE,
            disks: Vec::new(),
        }
        .on(cage)
    }

    /// The same, with so much room to be left.
    #[cfg(test)]
    pub(super) fn with_room(cage: &Sandbox, room: u64) -> ProcessLimits {
        ProcessLimits { room, ..ProcessLimits::of_machine(cage) }.on(cage)
    }

    /// The same for what a program in this cage may write to.
    fn on(mut self, cage: &Sandbox) -> ProcessLimits {
        let places = [env::temp_dir()].into_iter().chain(cage.own.clone()).chain(cage.cache.clone());
        self.disks = places.filter(|place| room(place).is_some_and(|room| room > self.room)).collect();
        self
    }

    /// Tells what a program has taken too much of, if it is time for a look; as the end of a sentence.
    pub(super) fn exceeded(&mut self, leader: Pid) -> Option<String> {
        if Instant::now() < self.next {
            return None;
        }
        let taken = Taken::by(leader);
        self.next = Instant::now() + PAUSE;
        if taken.processes > self.processes {
            return Some(format!("started more than {} processes", self.processes));
        }
        if taken.memory > self.memory {
            return Some(format!("took more than {} MiB of memory", self.memory >> 20));
        }
        let full = self.disks.iter().find(|disk| room(disk).is_some_and(|room| room < self.room))?;
        Some(format!("left less than {} MiB of room in {}", self.room >> 20, full.display()))
    }
}

/// Tells the kernel what it holds a program to that was just started; what it starts itself inherits that.
pub(super) fn hold(program: Pid) {
    for (resource, most) in [(Resource::Core, 0), (Resource::Fsize, LARGEST_FILE)] {
        // Where this is refused, a lower bound holds already.
        let _held = prlimit(Some(program), resource, Rlimit { current: Some(most), maximum: Some(most) });
    }
}

/// What a program has taken, with all below it.
#[derive(Debug, Default)]
struct Taken {
    processes: usize,
    /// Pages that are shared are counted for each process.
    memory: u64,
}

impl Taken {
    fn by(leader: Pid) -> Taken {
        let (mut taken, mut open) = (Taken::default(), vec![leader]);
        while let Some(process) = open.pop() {
            taken.processes += 1;
            taken.memory += resident(process).unwrap_or_default();
            if taken.processes + open.len() < MOST_LOOKED_AT {
                open.extend(proc::children(process));
            }
        }
        taken
    }
}

/// The memory that a process really has, in bytes: the second field of `statm`, proc(5).
fn resident(process: Pid) -> Option<u64> {
    let statm = fs::read_to_string(format!("/proc/{process}/statm")).ok()?;
    let pages: u64 = statm.split_whitespace().nth(1)?.parse().ok()?;
    Some(pages * page_size() as u64)
}

/// The memory of the machine in bytes, as proc(5) has it; none where that cannot be read.
fn memory_of_machine() -> u64 {
    let text = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"));
    let kibibytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kibibytes.unwrap_or_default() << 10
}

/// The bytes that a user may still write to the file system of a place.
fn room(place: &Path) -> Option<u64> {
    let found = statvfs(place).ok()?;
    Some(found.f_bavail.saturating_mul(found.f_frsize))
}
