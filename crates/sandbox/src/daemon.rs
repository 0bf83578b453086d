//! A long-running program whose input and output stay open.
//!
//! The kernel ties the parent-death signal to the thread that started a program (prctl(2),
//! `PR_SET_PDEATHSIG`), so keep a daemon on the thread that started it.
//!
//! Invariant: only [`Daemon::poll_once`] blocks, and only for the given time. Memory is bounded whatever the
//! program writes. Dropping the daemon kills the program and all that it started.

use std::collections::VecDeque;
use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

use rustix::event::PollFlags;

use super::exit::{Exit, killed_by};
use super::limits::{ProcessLimits, SharedGrowth};
use super::order::Order;
use super::pipes::{self, CAPACITY, ChildPipes};
use super::running::RunningProcess;

/// The largest amount of input that may wait to be written, in bytes.
const MAX_PENDING: usize = 64 << 20;
/// The time that a program has to end after it closed its output.
const EXIT_GRACE: Duration = Duration::from_millis(500);

/// A long-running program and its pipes.
#[derive(Debug)]
pub struct Daemon {
    /// Kills the program when it is dropped, which is before its pipes are closed.
    running: RunningProcess,
    pipes: ChildPipes,
    /// The input that is still to be written.
    pending: VecDeque<u8>,
    limits: ProcessLimits,
    /// The time at which its output was found closed.
    output_closed: Option<Instant>,
}

impl Daemon {
    /// Starts a program with this limit of memory in bytes. Its order must have an input, which may be empty.
    /// The error is the end of a sentence that begins with the program's name.
    pub fn start(order: &Order<'_>, memory: u64) -> Result<Daemon, String> {
        let (running, mut child) = RunningProcess::spawn(order)?;
        let pipes = ChildPipes::take(&mut child).map_err(|error| format!("could not be started: {error}"))?;
        Ok(Daemon {
            running,
            pipes,
            pending: VecDeque::new(),
            limits: ProcessLimits {
                memory,
                growth: SharedGrowth::Ignored,
                ..ProcessLimits::of_machine(&order.sandbox)
            },
            output_closed: None,
        })
    }

    /// Queues input for the program. Fails if it has left too much unread.
    pub fn queue_input(&mut self, bytes: &[u8]) -> Result<(), String> {
        if self.pending.len() + bytes.len() > MAX_PENDING {
            return Err("does not read its input".to_owned());
        }
        self.pending.extend(bytes);
        Ok(())
    }

    /// Waits up to `most` until there is output, room for input, a wake-up on `wake_fd`, or the program ends.
    /// Then writes and reads once, and returns the bytes that the program wrote.
    pub fn poll_once(&mut self, wake_fd: BorrowedFd<'_>, most: Duration) -> &[u8] {
        let awaited = self.running.pidfd().into_iter().chain([wake_fd]);
        let writing = if self.pending.is_empty() { PollFlags::empty() } else { PollFlags::OUT };
        self.pipes.wait(writing, awaited, most);
        let (next, _) = self.pending.as_slices();
        let written = pipes::write(&mut self.pipes.stdin, next);
        self.pending.drain(..written);
        self.pipes.read_stderr(CAPACITY);
        let output = pipes::read(&mut self.pipes.stdout, &mut self.pipes.chunk, CAPACITY);
        if self.pipes.stdout.is_none() {
            self.output_closed.get_or_insert_with(Instant::now);
        }
        output
    }

    /// Describes how the program ended, as the end of a sentence that begins with its name. `None` while it
    /// runs with its output open.
    pub fn describe_exit(&self) -> Option<String> {
        let ended = match self.running.exit() {
            Some(Exit::Code(code)) => format!("ended with exit code {code}"),
            Some(Exit::Signal(number)) => killed_by(number),
            Some(Exit::Unknown) => "ended".to_owned(),
            // The pipes close before the process ends.
            None if self.output_closed.is_some_and(|since| since.elapsed() >= EXIT_GRACE) => {
                "closed its output".to_owned()
            }
            None => return None,
        };
        Some(ended)
    }

    /// Describes the limit that the program exceeds, as the end of a sentence. Checks only when a check is
    /// due.
    pub fn exceeded_limit(&mut self) -> Option<String> {
        self.limits.exceeded_limit(self.running.leader())
    }

    /// Asks the program to end, waits briefly, and kills it with all that it started.
    pub fn shut_down(mut self) {
        self.pipes.stdin = None;
        self.running.ask_to_end();
    }

    /// Takes the standard error output so far, shortened to its two ends.
    pub fn take_stderr(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.pipes.stderr_text).into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;
    use std::path::Path;

    use rustix::event::{EventfdFlags, eventfd};

    use super::*;
    use crate::Sandbox;

    /// poll(2) reports a pipe that nobody reads at once, every time.
    #[test]
    fn a_program_that_closed_its_input_is_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let order = Order {
            program: Path::new("/bin/sh"),
            argv: vec!["-c".into(), "exec 0<&-; echo closed; exec sleep 60".into()],
            cwd: folder.path(),
            env: Vec::new(),
            input: Some(b""),
            sandbox: Sandbox::default(),
        };
        let mut daemon = Daemon::start(&order, 1 << 30).unwrap();
        let wake_fd = eventfd(0, EventfdFlags::CLOEXEC).unwrap();
        while daemon.poll_once(wake_fd.as_fd(), Duration::from_secs(1)) != b"closed\n" {}
        let (began, most) = (Instant::now(), Duration::from_millis(200));
        assert_eq!(daemon.poll_once(wake_fd.as_fd(), most), b"");
        assert!(began.elapsed() >= most, "{:?}", began.elapsed());
    }
}
