//! Finds the processes that a program left behind, outside of its process group as well.
//!
//! Invariant: a signal reaches only the process that was found. A pidfd (pidfd_open(2)) is opened before the
//! process is inspected, so its number cannot be reused between the check and the signal.

use std::collections::HashSet;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, pidfd_open, pidfd_send_signal, waitid,
};

use super::environment::MARK;
use super::proc::{self, Process};
use super::registry::ProcessRegistry;

/// The largest number of orphans held at once; more are handled in further rounds.
const MAX_ORPHANS: usize = 256;

/// The number of scans while processes vanish during a scan: each may have started a child too late for the
/// list.
const MAX_SCANS: usize = 3;

#[derive(Debug)]
pub(super) struct Orphan {
    pid: Pid,
    pidfd: OwnedFd,
}

/// The result of one scan.
#[derive(Debug, Default)]
pub(super) struct Orphans {
    alive: Vec<Orphan>,
    /// Set when something changed during the scan, or there were too many processes.
    incomplete: bool,
}

impl Orphans {
    /// Finds the living descendants of a program: its children, and those of processes that lost their
    /// parent. The latter are children of this process if it adopts orphans; otherwise all processes are
    /// searched for the mark.
    pub(super) fn find(registry: &ProcessRegistry, leader: Pid, mark: &str) -> Orphans {
        let mut search = OrphanSearch::default();
        search.add_descendants(leader);
        if registry.adopts() {
            for (orphan, ended) in registry.orphans_of(leader) {
                if ended {
                    reap(WaitId::Pid(orphan));
                    search.orphans.incomplete = true;
                } else {
                    search.add_tree(orphan, |_| true);
                }
            }
        } else {
            search.scan_all(leader, mark);
        }
        search.orphans
    }

    /// Returns true if nothing is left.
    pub(super) fn is_empty(&self) -> bool {
        self.alive.is_empty() && !self.incomplete
    }

    /// Returns the numbers of those that still run.
    pub(super) fn still_running(&self) -> impl Iterator<Item = Pid> {
        self.alive.iter().filter(|orphan| !wait(&orphan.pidfd, Instant::now())).map(|orphan| orphan.pid)
    }

    /// Sends a signal to all of them. A process that may not be signalled is left running.
    pub(super) fn signal(&self, signal: Signal) {
        for orphan in &self.alive {
            let _sent = pidfd_send_signal(&orphan.pidfd, signal);
        }
    }

    /// Waits until all have ended, or until the deadline.
    pub(super) fn wait(&self, until: Instant) {
        for orphan in &self.alive {
            wait(&orphan.pidfd, until);
        }
    }

    /// Reaps those that have ended and are children of this process.
    pub(super) fn reap(&self) {
        self.alive.iter().for_each(|orphan| reap(WaitId::PidFd(orphan.pidfd.as_fd())));
    }
}

/// Waits until a process has ended or the deadline passes. Returns true if it has ended.
pub(super) fn wait(pidfd: &OwnedFd, until: Instant) -> bool {
    loop {
        let left = until.saturating_duration_since(Instant::now());
        let most = Timespec { tv_sec: 0, tv_nsec: left.subsec_nanos().into() };
        match poll(&mut [PollFd::new(pidfd, PollFlags::IN)], Some(&most)) {
            Ok(1..) => return true,
            Ok(0) | Err(_) if left.is_zero() => return false,
            Ok(0) | Err(_) => {}
        }
    }
}

/// Reaps a child process that has ended; does nothing otherwise.
pub(super) fn reap(which: WaitId<'_>) {
    let _gone = waitid(which, WaitIdOptions::EXITED | WaitIdOptions::NOHANG);
}

#[derive(Default)]
struct OrphanSearch {
    visited: HashSet<Pid>,
    orphans: Orphans,
}

impl OrphanSearch {
    /// Adds a process and its descendants, if `same` still accepts it.
    fn add_tree(&mut self, pid: Pid, same: impl Fn(&Process) -> bool) {
        if self.add(pid, same) {
            self.add_descendants(pid);
        }
    }

    fn add_descendants(&mut self, top: Pid) {
        let mut parents = vec![top];
        while let Some(parent) = parents.pop() {
            for child in proc::children(parent) {
                if self.add(child, |process| process.parent == Some(parent)) {
                    parents.push(child);
                }
            }
        }
    }

    /// Adds all later processes that have the group or the mark.
    fn scan_all(&mut self, leader: Pid, mark: &str) {
        let marked = |pid| proc::variable(pid, MARK).is_some_and(|found| found == mark.as_bytes());
        for _ in 0..MAX_SCANS {
            let mut vanished = false;
            for pid in proc::started_after(leader) {
                let ours = |process: &Process| process.group == Some(leader) || marked(pid);
                match Process::read(pid) {
                    Some(process) if process.ended => {}
                    Some(process) if ours(&process) => self.add_tree(pid, ours),
                    // It may have ended while it was inspected.
                    _ => vanished |= Process::read(pid).is_none_or(|process| process.ended),
                }
            }
            if !vanished || !self.orphans.is_empty() {
                return;
            }
        }
    }

    fn add(&mut self, pid: Pid, same: impl Fn(&Process) -> bool) -> bool {
        if !self.visited.insert(pid) {
            return false;
        }
        let room = self.orphans.alive.len() < MAX_ORPHANS;
        let pidfd = room.then(|| pidfd_open(pid, PidfdFlags::empty()).ok()).flatten();
        match (pidfd, Process::read(pid).filter(same)) {
            (Some(pidfd), Some(process)) if !process.ended => {
                self.orphans.alive.push(Orphan { pid, pidfd });
                true
            }
            // Its children may have a new parent now, which was scanned before.
            _ => {
                self.orphans.incomplete = true;
                false
            }
        }
    }
}
