//! The roll of the programs that run now, by which the strays of one are told from those of another.
//!
//! Invariant: while the roll is held, this process starts no program for a gate and reaps none. So whoever holds it sees
//! the leaders as they are, and no number of a child of this process can become another's.

use std::collections::{HashMap, HashSet};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use rustix::process::{Pid, getpid, set_child_subreaper};

use super::environment::MARK;
use super::proc::{self, Process};

static ROLL: LazyLock<Mutex<Roll>> = LazyLock::new(Mutex::default);

/// Takes in the descendants of gates that lose their parent, so that they can be found and ended.
///
/// For a program whose only children are the programs of gates: from here on any other child that it starts is taken
/// for a gate's stray, and killed. Children that it has already are spared. The kernel hands orphans to the nearest
/// process above them that asks for it: prctl(2), `PR_SET_CHILD_SUBREAPER`.
pub fn adopt_orphans() {
    let mut roll = hold();
    if !roll.adopts && set_child_subreaper(Some(getpid())).is_ok() {
        roll.spared.extend(proc::children(getpid()));
        roll.adopts = true;
    }
}

/// Takes the roll until it is dropped.
pub(super) fn hold() -> MutexGuard<'static, Roll> {
    ROLL.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What is known of the children of this process.
#[derive(Debug, Default)]
pub(super) struct Roll {
    running: HashMap<Pid, ProcessEntry>,
    /// Children that are nobody's strays: they were there before, or would not be ended.
    spared: HashSet<Pid>,
    adopts: bool,
}

#[derive(Debug)]
struct ProcessEntry {
    mark: String,
    /// As [`Process::started`].
    started: u64,
}

impl Roll {
    /// Enters a program that was just started.
    pub(super) fn enter(&mut self, leader: Pid, mark: &str) {
        let started = Process::read(leader).map_or(0, |leader| leader.started);
        self.running.insert(leader, ProcessEntry { mark: mark.to_owned(), started });
    }

    /// Strikes a program off, and spares what could not be ended of it: it would hold up every later one.
    pub(super) fn strike(&mut self, leader: Pid, alive: impl IntoIterator<Item = Pid>) {
        self.running.remove(&leader);
        self.spared.extend(alive);
    }

    /// Tells whether orphans become children of this process.
    pub(super) fn adopts(&self) -> bool {
        self.adopts
    }

    /// Gives the orphans that fall to one program, each with whether it has ended.
    pub(super) fn orphans_of(&self, leader: Pid) -> Vec<(Pid, bool)> {
        let children = proc::children(getpid()).into_iter();
        let orphans =
            children.filter(|child| !self.running.contains_key(child) && !self.spared.contains(child));
        orphans
            .filter_map(|orphan| Some((orphan, Process::read(orphan)?)))
            .filter(|(orphan, process)| self.falls_to(leader, *orphan, process))
            .map(|(orphan, process)| (orphan, process.ended))
            .collect()
    }

    /// An orphan is the program's whose group or mark it has. Without either it may be of any that ran when it was
    /// started: the last of those ends it.
    fn falls_to(&self, leader: Pid, orphan: Pid, process: &Process) -> bool {
        let by_group = process.group.filter(|group| self.running.contains_key(group));
        match by_group.or_else(|| self.marked_by(orphan)) {
            Some(owner) => owner == leader,
            None => {
                let mut others = self.running.iter().filter(|(other, _)| **other != leader);
                !others.any(|(_, entry)| entry.started <= process.started)
            }
        }
    }

    fn marked_by(&self, orphan: Pid) -> Option<Pid> {
        let mark = proc::variable(orphan, MARK)?;
        self.running.iter().find(|(_, entry)| entry.mark.as_bytes() == mark).map(|(leader, _)| *leader)
    }
}
