//! Finds what a program started and left behind, outside of its process group as well.
//!
//! Invariant: a signal reaches only the process that was found. Each is held by a descriptor (pidfd_open(2)) before it is
//! looked at, so that its number cannot have become another's between the look and the signal.

use std::collections::HashSet;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, pidfd_open, pidfd_send_signal, waitid,
};

use super::environment::MARK;
use super::proc::{self, Process};
use super::roll::Roll;

/// The strays that are held at once; there are further rounds for more.
const MOST_HELD: usize = 256;

/// How often the processes are looked through while some of them end under the look: each may have been about to hand
/// on to one that came too late for the list.
const LOOKS: usize = 3;

/// A living descendant of a program.
#[derive(Debug)]
pub(super) struct Stray {
    pid: Pid,
    pidfd: OwnedFd,
}

/// What one look found.
#[derive(Debug, Default)]
pub(super) struct Orphans {
    alive: Vec<Stray>,
    /// Something changed during the look, or was too much for it.
    unsettled: bool,
}

impl Orphans {
    /// Looks for the living descendants of a program: below itself, and below those that lost their parent, which are
    /// among the children of this process when it adopts them, and otherwise anywhere, known by their mark.
    pub(super) fn find(roll: &Roll, leader: Pid, mark: &str) -> Orphans {
        let mut search = OrphanSearch::default();
        search.below(leader);
        if roll.adopts() {
            for (orphan, ended) in roll.orphans_of(leader) {
                if ended {
                    reap(WaitId::Pid(orphan));
                    search.strays.unsettled = true;
                } else {
                    search.from(orphan, |_| true);
                }
            }
        } else {
            search.anywhere(leader, mark);
        }
        search.strays
    }

    /// Tells whether nothing is left.
    pub(super) fn none(&self) -> bool {
        self.alive.is_empty() && !self.unsettled
    }

    /// Gives the numbers of those that have not ended since.
    pub(super) fn lasting(&self) -> impl Iterator<Item = Pid> {
        self.alive.iter().filter(|stray| !wait(&stray.pidfd, Instant::now())).map(|stray| stray.pid)
    }

    /// Sends all of them a signal; one that may not have it stays.
    pub(super) fn signal(&self, signal: Signal) {
        for stray in &self.alive {
            let _sent = pidfd_send_signal(&stray.pidfd, signal);
        }
    }

    /// Waits until all have ended, at most until then.
    pub(super) fn wait(&self, until: Instant) {
        for stray in &self.alive {
            wait(&stray.pidfd, until);
        }
    }

    /// Takes those that have ended out of the table of processes, as far as they are children of this one.
    pub(super) fn reap(&self) {
        self.alive.iter().for_each(|stray| reap(WaitId::PidFd(stray.pidfd.as_fd())));
    }
}

/// Waits until a process has ended, at most until then, and tells whether it has.
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

/// Reaps one child, if it is one and has ended.
pub(super) fn reap(which: WaitId<'_>) {
    let _gone = waitid(which, WaitIdOptions::EXITED | WaitIdOptions::NOHANG);
}

#[derive(Default)]
struct OrphanSearch {
    seen: HashSet<Pid>,
    strays: Orphans,
}

impl OrphanSearch {
    /// Takes a process that is still what it was found to be, and all below it.
    fn from(&mut self, pid: Pid, same: impl Fn(&Process) -> bool) {
        if self.take(pid, same) {
            self.below(pid);
        }
    }

    fn below(&mut self, top: Pid) {
        let mut parents = vec![top];
        while let Some(parent) = parents.pop() {
            for child in proc::children(parent) {
                if self.take(child, |process| process.parent == Some(parent)) {
                    parents.push(child);
                }
            }
        }
    }

    /// Takes what has the group or the mark, of all processes that were started later.
    fn anywhere(&mut self, leader: Pid, mark: &str) {
        let marked = |pid| proc::variable(pid, MARK).is_some_and(|found| found == mark.as_bytes());
        for _ in 0..LOOKS {
            let mut vanished = false;
            for pid in proc::since(leader) {
                let ours = |process: &Process| process.group == Some(leader) || marked(pid);
                match Process::read(pid) {
                    Some(process) if process.ended => {}
                    Some(process) if ours(&process) => self.from(pid, ours),
                    _ => vanished |= Process::read(pid).is_none_or(|process| process.ended),
                }
            }
            if !vanished || !self.strays.none() {
                return;
            }
        }
    }

    fn take(&mut self, pid: Pid, same: impl Fn(&Process) -> bool) -> bool {
        if !self.seen.insert(pid) {
            return false;
        }
        let room = self.strays.alive.len() < MOST_HELD;
        let held = room.then(|| pidfd_open(pid, PidfdFlags::empty()).ok()).flatten();
        match (held, Process::read(pid).filter(same)) {
            (Some(pidfd), Some(process)) if !process.ended => {
                self.strays.alive.push(Stray { pid, pidfd });
                true
            }
            // What it had started may have a new parent by now, which was looked at before.
            _ => {
                self.strays.unsettled = true;
                false
            }
        }
    }
}
