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

use super::Order;
use super::limits;
use super::orphans::{self, Orphans};
use super::pipes::Pipes;
use super::roll;
use super::sandbox;

/// The time that a program has to end when it is asked to.
const GRACE: Duration = Duration::from_millis(200);

/// The time limit for killing descendants, in case they keep multiplying.
const KILLING: Duration = Duration::from_secs(1);

/// The time that one round of killing waits for its effect.
const ROUND: Duration = Duration::from_millis(50);

/// The poll interval for a process without a pidfd.
const PAUSE: Duration = Duration::from_millis(1);

/// The exit status of a process.
#[derive(Debug, Clone, Copy)]
pub(super) enum Exit {
    /// The process ended with this exit code.
    Code(i32),
    /// This signal ended the process.
    Signal(i32),
    /// The kernel did not report the status, because SIGCHLD is ignored (waitpid(2)).
    Unseen,
}

/// A started program. Dropping it kills the program and all that it started.
#[derive(Debug)]
pub(super) struct Running {
    leader: Pid,
    pidfd: Option<OwnedFd>,
    mark: String,
}

impl Running {
    /// Starts a program. The error is the end of a sentence that begins with the program's name.
    pub(super) fn start<'a>(order: &Order<'a>) -> Result<(Running, Pipes<'a>), String> {
        let (running, mut child) = Running::spawn(order)?;
        let input = order.input.unwrap_or_default();
        let pipes = Pipes::take(&mut child, input).map_err(|error| unstarted(order, &error))?;
        Ok((running, pipes))
    }

    /// Starts a program and leaves its pipes to the caller, input included.
    pub(super) fn spawn(order: &Order<'_>) -> Result<(Running, Child), String> {
        let mark = format!("{:016x}", RandomState::new().hash_one(order.program));
        let mut roll = roll::hold();
        let child = sandbox::start(order, &mark).map_err(|error| unstarted(order, &error))?;
        let leader = Pid::from_child(&child);
        roll.enter(leader, &mark);
        drop(roll);
        limits::hold(leader);
        let running = Running { leader, pidfd: pidfd_open(leader, PidfdFlags::empty()).ok(), mark };
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
    pub(super) fn ended(&self) -> Option<Exit> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        match waitid(WaitId::Pid(self.leader), options) {
            Ok(status) => {
                let status = status?;
                status.exit_status().map(Exit::Code).or(status.terminating_signal().map(Exit::Signal))
            }
            Err(Errno::CHILD) => Some(Exit::Unseen),
            Err(_) => None,
        }
    }

    /// Asks the process and all that it started to end, and waits briefly. Stopped processes are continued
    /// first.
    pub(super) fn ask_to_end(&self) {
        let strays = self.strays();
        for signal in [Signal::TERM, Signal::CONT] {
            self.signal_group(signal);
            strays.signal(signal);
        }
        let until = Instant::now() + GRACE;
        self.wait(until);
        strays.wait(until);
    }

    /// Kills everything that runs now, and returns the orphans that it found.
    fn kill(&self, until: Instant) -> Orphans {
        self.signal_group(Signal::KILL);
        self.wait(until);
        let strays = self.strays();
        strays.signal(Signal::KILL);
        strays.wait(until);
        let _roll = roll::hold();
        strays.reap();
        strays
    }

    fn strays(&self) -> Orphans {
        Orphans::find(&roll::hold(), self.leader, &self.mark)
    }

    /// Signals the process group. Its number is the leader's, which cannot be reused before the leader is
    /// reaped.
    fn signal_group(&self, signal: Signal) {
        if !matches!(self.ended(), Some(Exit::Unseen)) {
            let _sent = kill_process_group(self.leader, signal);
        }
    }

    fn wait(&self, until: Instant) {
        if let Some(pidfd) = &self.pidfd {
            orphans::wait(pidfd, until);
            return;
        }
        while self.ended().is_none() && Instant::now() < until {
            thread::sleep(PAUSE);
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let until = Instant::now() + KILLING;
        let left = loop {
            let ended = self.ended().is_some();
            let strays = self.kill(until.min(Instant::now() + ROUND));
            if (ended && strays.none()) || Instant::now() >= until {
                break strays;
            }
        };
        let mut roll = roll::hold();
        let alive = self.ended().is_none().then_some(self.leader);
        orphans::reap(WaitId::Pid(self.leader));
        roll.strike(self.leader, left.lasting().chain(alive));
    }
}

/// Describes why a program could not be started (execve(2)).
fn unstarted(order: &Order<'_>, error: &io::Error) -> String {
    let why = match error.kind() {
        ErrorKind::NotFound if !order.folder.is_dir() => "the folder to run in was not found",
        ErrorKind::NotFound if order.program.exists() => "the interpreter on its first line was not found",
        ErrorKind::NotFound => "it was not found",
        ErrorKind::PermissionDenied => "permission denied",
        _ if error.raw_os_error() == Some(Errno::NOEXEC.raw_os_error()) => "it is not a program",
        _ => return format!("could not be started: {error}"),
    };
    format!("could not be started: {why}")
}
