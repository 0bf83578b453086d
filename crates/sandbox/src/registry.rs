//! A registry of the running programs, which assigns each orphan to the program that left it.
//!
//! Invariant: while the registry is locked, this process starts no program for a gate and reaps none. The
//! leaders do not change, and no number of a child process can be reused.

use parking_lot::{Mutex, MutexGuard};
use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use rustix::process::{Pid, getpid, set_child_subreaper};

use super::environment::MARK;
use super::owner;
use super::proc::{self, Process};

static REGISTRY: LazyLock<Mutex<ProcessRegistry>> = LazyLock::new(Mutex::default);

/// Makes this process adopt descendants of gates that lose their parent, so that they can be found and
/// killed.
///
/// Only for a process whose only children are the programs of gates: from this call on, any other new child
/// is taken for an orphan of a gate, and killed. Existing children are spared. The kernel gives orphans to
/// the nearest ancestor that asks for them: prctl(2), `PR_SET_CHILD_SUBREAPER`.
///
/// Also removes the private folders of processes that were killed, in the background.
pub fn adopt_orphans() {
    owner::sweep_once();
    let mut registry = lock();
    if !registry.adopts && set_child_subreaper(Some(getpid())).is_ok() {
        registry.spared.extend(proc::children(getpid()));
        registry.adopts = true;
    }
}

/// Locks the registry until the guard is dropped.
pub(super) fn lock() -> MutexGuard<'static, ProcessRegistry> {
    REGISTRY.lock()
}

/// The running programs, and the children of this process that are left alone.
#[derive(Debug, Default)]
pub(super) struct ProcessRegistry {
    running: HashMap<Pid, ProcessEntry>,
    /// Children that are never treated as orphans: they existed before, or could not be killed.
    spared: HashSet<Pid>,
    adopts: bool,
}

#[derive(Debug)]
struct ProcessEntry {
    mark: String,
    /// The start time, as in [`Process::started`].
    started: u64,
}

impl ProcessRegistry {
    /// Adds a program that was just started.
    pub(super) fn register(&mut self, leader: Pid, mark: &str) {
        let started = Process::read(leader).map_or(0, |leader| leader.started);
        self.running.insert(leader, ProcessEntry { mark: mark.to_owned(), started });
    }

    /// Removes a program, and spares descendants that could not be killed: they would delay every later
    /// program.
    pub(super) fn deregister(&mut self, leader: Pid, alive: impl IntoIterator<Item = Pid>) {
        self.running.remove(&leader);
        self.spared.extend(alive);
    }

    /// Returns true if orphans become children of this process.
    pub(super) fn adopts(&self) -> bool {
        self.adopts
    }

    /// Returns the orphans of one program, each with true if it has ended.
    pub(super) fn orphans_of(&self, leader: Pid) -> Vec<(Pid, bool)> {
        let children = proc::children(getpid()).into_iter();
        let orphans =
            children.filter(|child| !self.running.contains_key(child) && !self.spared.contains(child));
        orphans
            .filter_map(|orphan| Some((orphan, Process::read(orphan)?)))
            .filter(|(orphan, process)| self.belongs_to(leader, *orphan, process))
            .map(|(orphan, process)| (orphan, process.ended))
            .collect()
    }

    /// Returns true if an orphan belongs to the program, by its group or mark. Without either it belongs to a program
    /// that has ended, because a running one adopts its orphans itself; if none has, to the only one that ran when it
    /// was started.
    fn belongs_to(&self, leader: Pid, orphan: Pid, process: &Process) -> bool {
        let by_group = process.group.filter(|group| self.running.contains_key(group));
        match by_group.or_else(|| self.marked_by(orphan)) {
            Some(owner) => owner == leader,
            None => {
                let has_ended = Process::read(leader).is_none_or(|leader| leader.ended);
                let mut other_runs = self.running.iter().filter(|(other, _)| **other != leader);
                has_ended || !other_runs.any(|(_, entry)| entry.started <= process.started)
            }
        }
    }

    fn marked_by(&self, orphan: Pid) -> Option<Pid> {
        let mark = proc::variable(orphan, MARK)?;
        self.running.iter().find(|(_, entry)| entry.mark.as_bytes() == mark).map(|(leader, _)| *leader)
    }
}
