//! Runs a program until it ends or reaches its limit.

use std::time::{Duration, Instant};

use super::exit::{Exit, killed_by};
use super::isolation;
use super::isolation_level::Isolation;
use super::limits::ProcessLimits;
use super::order::Order;
use super::pipes::{OutputTooLarge, Pipes};
use super::running::RunningProcess;
use super::watch::{Halt, Limit};

/// The longest sleep before the time limit is checked again.
pub(super) const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// The outcome of a run.
#[derive(Debug, PartialEq, Eq)]
pub enum ProcessOutcome {
    /// The program ended by itself, and could have read all of its input: a pipe holds up to 64 KiB unread.
    Exited {
        /// The exit code, from 0 to 255.
        code: i32,
        /// All bytes of standard output, at most 16 MiB.
        stdout: Vec<u8>,
        /// The first and last 64 KiB of standard error, with a line that says how much was omitted.
        stderr: Vec<u8>,
    },
    /// The program ended by itself, and left part of an input of more than 64 KiB unread.
    StdinUnread {
        /// The exit code, from 0 to 255.
        code: i32,
        /// All bytes of standard output, at most 16 MiB.
        stdout: Vec<u8>,
        /// Standard error, shortened as above.
        stderr: Vec<u8>,
    },
    /// A signal ended the program.
    Killed {
        /// The number of the signal.
        signal: i32,
        /// The reason, as for [`ProcessOutcome::Broken`].
        why: String,
    },
    /// The program failed. The reason is the end of a sentence that begins with the program's name.
    Broken(String),
    /// The program was stopped: its time was up, or the call was cancelled.
    Halted(Halt),
}

/// Runs a program until it ends or reaches the limit.
///
/// It is started without a shell, in a process group of its own, with a cleaned environment.
/// The run ends when the program's own process ends: the output is what the pipes hold
/// then, and descendants are killed. At the limit the program is asked to end, and is killed 200 ms later.
pub fn run(order: &Order<'_>, limit: Limit<'_>) -> ProcessOutcome {
    run_with_limits(order, limit, ProcessLimits::of_machine(&order.sandbox))
}

pub(super) fn run_with_limits(
    order: &Order<'_>,
    limit: Limit<'_>,
    mut bounds: ProcessLimits,
) -> ProcessOutcome {
    if let Some(halt) = limit.reached() {
        return ProcessOutcome::Halted(halt);
    }
    let (running, mut pipes) = match RunningProcess::start(order) {
        Ok(started) => started,
        Err(why) => return ProcessOutcome::Broken(why),
    };
    match follow(&running, &mut pipes, limit, &mut bounds) {
        Ok(exit) => outcome(order.sandbox.level, exit, pipes),
        Err(stopped) => {
            drop(pipes);
            running.ask_to_end();
            stopped
        }
    }
}

impl From<OutputTooLarge> for ProcessOutcome {
    fn from(OutputTooLarge: OutputTooLarge) -> ProcessOutcome {
        ProcessOutcome::Broken("wrote more than 16 MiB".to_owned())
    }
}

/// Serves a program until it has ended. The pipes then hold all that it wrote. An error is the outcome of a program that
/// must be stopped early.
fn follow(
    running: &RunningProcess,
    pipes: &mut Pipes<'_>,
    limit: Limit<'_>,
    bounds: &mut ProcessLimits,
) -> Result<Exit, ProcessOutcome> {
    loop {
        if let Some(exit) = running.exit() {
            pipes.drain()?;
            return Ok(exit);
        }
        pipes.serve()?;
        if let Some(halt) = limit.reached() {
            return Err(ProcessOutcome::Halted(halt));
        }
        if let Some(what) = bounds.exceeded_limit(running.leader()) {
            return Err(ProcessOutcome::Broken(what));
        }
        let left = limit.end().saturating_duration_since(Instant::now());
        pipes.wait(running.pidfd(), left.min(POLL_INTERVAL));
    }
}

fn outcome(level: Isolation, exit: Exit, pipes: Pipes<'_>) -> ProcessOutcome {
    if let Some(why) = isolation::start_failure(level, exit, pipes.stderr_head()) {
        return ProcessOutcome::Broken(format!("could not be started: {why}"));
    }
    match isolation::program_exit(level, exit) {
        Exit::Code(code) => {
            let unread = pipes.has_unread_input();
            let (stdout, stderr) = pipes.into_outputs();
            if unread {
                ProcessOutcome::StdinUnread { code, stdout, stderr }
            } else {
                ProcessOutcome::Exited { code, stdout, stderr }
            }
        }
        Exit::Signal(signal) => ProcessOutcome::Killed { signal, why: killed_by(signal) },
        Exit::Unknown => ProcessOutcome::Broken(
            "ended with an unknown status, because this process ignores SIGCHLD".to_owned(),
        ),
    }
}
