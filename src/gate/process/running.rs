//! A program from its start to its end, and to the end of all that it started.
//!
//! Invariant: the program's process is reaped last, after its group was killed. Until then its number, which is the
//! group's, too, can be nobody else's.

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

/// How long a program may take to end when it is asked to.
const GRACE: Duration = Duration::from_millis(200);

/// How long killing goes on, should the descendants multiply.
const KILLING: Duration = Duration::from_secs(1);

/// How long one round of killing waits for its effect.
const ROUND: Duration = Duration::from_millis(50);

/// How long is waited between two looks at a process for which there is no descriptor.
const PAUSE: Duration = Duration::from_millis(1);

/// How a process ended.
#[derive(Debug, Clone, Copy)]
pub(super) enum Exit {
    /// With this exit code.
    Code(i32),
    /// By this signal.
    Signal(i32),
    /// The kernel told nobody (waitpid(2), on ignoring SIGCHLD).
    Unseen,
}

/// A program that was started. Dropping it kills it, and all that it started.
#[derive(Debug)]
pub(super) struct Running {
    leader: Pid,
    pidfd: Option<OwnedFd>,
    mark: String,
}

impl Running {
    /// Starts a program; on failure says why, as the end of a sentence that begins with its name.
    pub(super) fn start<'a>(order: &Order<'a>) -> Result<(Running, Pipes<'a>), String> {
        let (running, mut child) = Running::spawn(order)?;
        let input = order.input.unwrap_or_default();
        let pipes = Pipes::take(&mut child, input).map_err(|error| unstarted(order, &error))?;
        Ok((running, pipes))
    }

    /// The same without anybody who serves its pipes; what it reads comes from there.
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

    /// The number of its process.
    pub(super) fn leader(&self) -> Pid {
        self.leader
    }

    /// Gives what becomes readable when the process ends; it may be missing where descriptors are short.
    pub(super) fn pidfd(&self) -> Option<BorrowedFd<'_>> {
        self.pidfd.as_ref().map(AsFd::as_fd)
    }

    /// Tells how the process ended, once it has. It stays unreaped.
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

    /// Asks the process and all that it started to end, and waits a little. One that is stopped is let go on for that.
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

    /// Kills whatever is there now, and tells what that was.
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

    /// The group's number is the leader's, and nobody else's as long as the leader is not reaped.
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

/// Why a program could not be started (execve(2)).
fn unstarted(order: &Order<'_>, error: &io::Error) -> String {
    let why = match error.kind() {
        ErrorKind::NotFound if !order.folder.is_dir() => "the folder to run in was not found",
        ErrorKind::NotFound if order.program.exists() => "what its first line names was not found",
        ErrorKind::NotFound => "it was not found",
        ErrorKind::PermissionDenied => "permission denied",
        _ if error.raw_os_error() == Some(Errno::NOEXEC.raw_os_error()) => "it is not a program",
        _ => return format!("could not be started: {error}"),
    };
    format!("could not be started: {why}")
}
