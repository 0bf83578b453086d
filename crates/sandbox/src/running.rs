//! The lifetime of a started program and of its descendants.
//!
//! Invariant: the program's process is reaped last, after its group was killed. Until then no other process
//! can get its number, which is also the group's.

use std::hash::{BuildHasher, RandomState};
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::process::Child;
use std::thread;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, kill_process_group, pidfd_open, waitid,
};

use super::exit::Exit;
use super::isolation;
use super::order::Order;
use super::orphans::{self, Orphans};
use super::pipes::Pipes;
use super::registry;

/// The time that a program has to end when it is asked to.
const GRACE: Duration = Duration::from_millis(200);

/// The time limit for killing descendants, in case they keep multiplying.
const KILL_TIMEOUT: Duration = Duration::from_secs(1);

/// The time that one round of killing waits for its effect.
const KILL_ROUND: Duration = Duration::from_millis(50);

/// The time that a program has to stop. One that waits in vfork(2) for a stopped child does not stop.
const STOP_TIMEOUT: Duration = Duration::from_millis(20);

/// The poll interval for a process without a pidfd, and for one that stops.
const POLL_INTERVAL: Duration = Duration::from_millis(1);

/// A started program. Dropping it kills the program and all that it started.
#[derive(Debug)]
pub(super) struct RunningProcess {
    leader: Pid,
    pidfd: Option<OwnedFd>,
    mark: String,
}

impl RunningProcess {
    /// Starts a program. The error is the end of a sentence that begins with the program's name.
    pub(super) fn start<'a>(order: &Order<'a>) -> Result<(RunningProcess, Pipes<'a>), String> {
        let (running, mut child) = RunningProcess::spawn(order)?;
        let input = order.input.unwrap_or_default();
        let pipes = Pipes::take(&mut child, input).map_err(|error| start_error(order, &error))?;
        Ok((running, pipes))
    }

    /// Starts a program and leaves its pipes to the caller, input included.
    pub(super) fn spawn(order: &Order<'_>) -> Result<(RunningProcess, Child), String> {
        let mark = format!("{:016x}", RandomState::new().hash_one(order.program));
        let mut registry = registry::lock();
        let child = isolation::start(order, &mark).map_err(|error| start_error(order, &error))?;
        let leader = Pid::from_child(&child);
        registry.register(leader, &mark);
        drop(registry);
        let running = RunningProcess { leader, pidfd: pidfd_open(leader, PidfdFlags::empty()).ok(), mark };
        Ok((running, child))
    }

    pub(super) fn leader(&self) -> Pid {
        self.leader
    }

    /// The descriptor that becomes readable when the process ends. It is missing if descriptors ran out.
    pub(super) fn pidfd(&self) -> Option<BorrowedFd<'_>> {
        self.pidfd.as_ref().map(AsFd::as_fd)
    }

    /// Returns the exit status once the process has ended. The process stays unreaped.
    pub(super) fn exit(&self) -> Option<Exit> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        match waitid(WaitId::Pid(self.leader), options) {
            Ok(status) => {
                let status = status?;
                status.exit_status().map(Exit::Code).or(status.terminating_signal().map(Exit::Signal))
            }
            Err(Errno::CHILD) => Some(Exit::Unknown),
            Err(_) => None,
        }
    }

    /// Asks the process and all that it started to end, and waits briefly.
    pub(super) fn ask_to_end(&self) {
        let orphans = self.stop();
        // A stopped process handles the request when it is continued.
        for signal in [Signal::TERM, Signal::CONT] {
            self.signal_group(signal);
            orphans.signal(signal);
        }
        let until = Instant::now() + GRACE;
        self.wait(until);
        orphans.wait(until);
        // Those that lost their parent meanwhile may not be found again.
        orphans.signal(Signal::KILL);
    }

    /// Kills everything that runs now, and returns the orphans that it found.
    fn kill(&self, until: Instant) -> Orphans {
        // As long as the program runs, everything is below it.
        self.stop().signal(Signal::KILL);
        self.signal_group(Signal::KILL);
        self.wait(until);
        let orphans = self.orphans();
        orphans.signal(Signal::KILL);
        orphans.wait(until);
        let _registry = registry::lock();
        orphans.reap();
        orphans
    }

    /// Stops everything that runs now, and returns the orphans. A process that is stopped starts none that
    /// the search misses; one that is started in another session with an empty environment, and whose parent
    /// then ends, cannot be found again.
    fn stop(&self) -> Orphans {
        self.signal_group(Signal::STOP);
        self.wait_until_stopped();
        let orphans = self.orphans();
        if orphans.is_empty() {
            return orphans;
        }
        orphans.signal(Signal::STOP);
        self.orphans()
    }

    /// Waits briefly until all threads of the process have stopped: one that is inside fork(2) completes it.
    fn wait_until_stopped(&self) {
        let until = Instant::now() + STOP_TIMEOUT;
        let events = WaitIdOptions::EXITED | WaitIdOptions::STOPPED;
        let options = events | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        while matches!(waitid(WaitId::Pid(self.leader), options), Ok(None)) && Instant::now() < until {
            thread::sleep(POLL_INTERVAL);
        }
    }

    fn orphans(&self) -> Orphans {
        Orphans::find(&registry::lock(), self.leader, &self.mark)
    }

    /// Signals the process group. Its number is the leader's, which cannot be reused before the leader is
    /// reaped.
    fn signal_group(&self, signal: Signal) {
        if !matches!(self.exit(), Some(Exit::Unknown)) {
            let _sent = kill_process_group(self.leader, signal);
        }
    }

    fn wait(&self, until: Instant) {
        if let Some(pidfd) = &self.pidfd {
            orphans::wait(pidfd, until);
            return;
        }
        while self.exit().is_none() && Instant::now() < until {
            thread::sleep(POLL_INTERVAL);
        }
    }
}

impl Drop for RunningProcess {
    fn drop(&mut self) {
        let until = Instant::now() + KILL_TIMEOUT;
        let left = loop {
            let ended = self.exit().is_some();
            let orphans = self.kill(until.min(Instant::now() + KILL_ROUND));
            if (ended && orphans.is_empty()) || Instant::now() >= until {
                break orphans;
            }
        };
        let mut registry = registry::lock();
        let alive = self.exit().is_none().then_some(self.leader);
        orphans::reap(WaitId::Pid(self.leader));
        registry.deregister(self.leader, left.still_running().chain(alive));
    }
}

/// Describes why a program could not be started (execve(2)).
fn start_error(order: &Order<'_>, error: &io::Error) -> String {
    let why = match error.kind() {
        ErrorKind::NotFound if !order.cwd.is_dir() => "the folder to run in was not found",
        ErrorKind::NotFound if order.program.exists() => "the interpreter on its first line was not found",
        ErrorKind::NotFound => "it was not found",
        ErrorKind::PermissionDenied => "permission denied",
        _ if error.raw_os_error() == Some(Errno::NOEXEC.raw_os_error()) => "it is not a program",
        _ => return format!("could not be started: {error}"),
    };
    format!("could not be started: {why}")
}
