//! Runs one program for a gate, and ends it with all that it started.
//!
//! One thread serves the program: it writes its input, reads both its outputs, and sleeps in poll(2) in between, never
//! for longer than [`TURN`]. When the program ends, or must, its process group is killed while its own number is still
//! taken, and then whatever of its descendants has left the group is looked for and killed as well ([`strays`]).
//!
//! What escapes: a process that the kernel will not kill (one asleep in a driver, one that runs as another user), and
//! work that was handed to a service which ran before. Without [`adopt_orphans`], also a descendant that has left the
//! group **and** thrown its environment away **and** lost its parent, and a chain of forks that is faster than the walk
//! over /proc; with it, those are found, too.
//!
//! Invariant: what a program does makes neither `run` fail nor its answer come later than two seconds after the limit.

mod daemon;
mod environment;
mod head_and_tail;
mod limits;
mod orphans;
mod pipes;
mod proc;
mod roll;
mod running;
mod sandbox;
#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use self::limits::ProcessLimits;
use self::pipes::{Pipes, TooMuch};
use self::running::{Exit, Running};
use super::watch::{Halt, Limit};
use crate::policy::Isolation;

pub(super) use self::daemon::Daemon;
pub use self::roll::adopt_orphans;
pub use self::sandbox::close_inherited_on_exec;
pub(super) use self::sandbox::{Ceiling, Sandbox, SandboxLayer, lack, shortfall, strongest};

/// How long the program is served before the limit is looked at again.
const TURN: Duration = Duration::from_millis(20);

/// What is to be run.
#[derive(Debug)]
pub(super) struct Order<'a> {
    /// The absolute path of the program.
    pub(super) program: &'a Path,
    /// The words after the program's name.
    pub(super) argv: Vec<OsString>,
    /// The folder in which it runs.
    pub(super) folder: &'a Path,
    /// What is added to the cleaned environment.
    pub(super) env: Vec<(OsString, OsString)>,
    /// What it reads on standard input; without it, that is empty.
    pub(super) input: Option<&'a [u8]>,
    /// What it is kept in.
    pub(super) cage: Sandbox,
}

/// How a run ended.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// The program ended by itself, having had the chance to read all of its input.
    Exited {
        /// Its exit code.
        code: i32,
        /// All that it wrote on standard output.
        stdout: Vec<u8>,
        /// What it wrote on standard error: the first and the last 64 KiB, and a line that says what is left out.
        stderr: Vec<u8>,
    },
    /// It ended by itself, and left a part of its input unread.
    Deaf {
        /// Its exit code.
        code: i32,
        /// What it wrote on standard error, as above.
        stderr: Vec<u8>,
    },
    /// It did not do its work; why, as the end of a sentence that begins with its name.
    Broken(String),
    /// It was stopped.
    Halted(Halt),
}

/// Runs a program to its end, or to the limit.
///
/// It is started without a shell, in a process group of its own and with a cleaned environment ([`environment`]). When
/// its own process ends, the run ends: what is in the pipes by then is its answer, and what it left behind is killed.
/// At the limit it is asked to end, and killed 200 ms later.
pub(super) fn run(order: &Order<'_>, limit: Limit<'_>) -> Ended {
    run_within(order, limit, ProcessLimits::of_machine(&order.cage))
}

fn run_within(order: &Order<'_>, limit: Limit<'_>, mut bounds: ProcessLimits) -> Ended {
    if let Some(halt) = limit.reached() {
        return Ended::Halted(halt);
    }
    let (running, mut pipes) = match Running::start(order) {
        Ok(started) => started,
        Err(why) => return Ended::Broken(why),
    };
    match follow(&running, &mut pipes, limit, &mut bounds) {
        Ok(exit) => told(order.cage.level, exit, pipes),
        Err(stop) => {
            drop(pipes);
            running.ask_to_end();
            stop.into()
        }
    }
}

/// Why a program is not waited for any more.
enum StopReason {
    TooMuch(String),
    Halted(Halt),
}

impl From<TooMuch> for StopReason {
    fn from(TooMuch: TooMuch) -> StopReason {
        StopReason::TooMuch("wrote more than 16 MiB".to_owned())
    }
}

impl From<StopReason> for Ended {
    fn from(stop: StopReason) -> Ended {
        match stop {
            StopReason::TooMuch(what) => Ended::Broken(what),
            StopReason::Halted(halt) => Ended::Halted(halt),
        }
    }
}

/// Serves a program until it has ended. What it wrote before its end is in the pipes then.
fn follow(
    running: &Running,
    pipes: &mut Pipes<'_>,
    limit: Limit<'_>,
    bounds: &mut ProcessLimits,
) -> Result<Exit, StopReason> {
    loop {
        if let Some(exit) = running.ended() {
            pipes.drain()?;
            return Ok(exit);
        }
        pipes.serve()?;
        if let Some(halt) = limit.reached() {
            return Err(StopReason::Halted(halt));
        }
        if let Some(what) = bounds.exceeded(running.leader()) {
            return Err(StopReason::TooMuch(what));
        }
        let left = limit.end().saturating_duration_since(Instant::now());
        pipes.wait(running.pidfd(), left.min(TURN));
    }
}

fn told(level: Isolation, exit: Exit, pipes: Pipes<'_>) -> Ended {
    if let Some(why) = sandbox::unstarted(level, exit, pipes.complaint()) {
        return Ended::Broken(format!("could not be started: {why}"));
    }
    match sandbox::told(level, exit) {
        Exit::Code(code) if pipes.unread() => Ended::Deaf { code, stderr: pipes.into_said().1 },
        Exit::Code(code) => {
            let (stdout, stderr) = pipes.into_said();
            Ended::Exited { code, stdout, stderr }
        }
        Exit::Signal(number) => {
            let status = ExitStatus::from_raw(number).to_string();
            Ended::Broken(format!("was killed by {}", status.replacen("signal: ", "signal ", 1)))
        }
        Exit::Unseen => Ended::Broken("ended unseen: the signal SIGCHLD is ignored here".to_owned()),
    }
}
