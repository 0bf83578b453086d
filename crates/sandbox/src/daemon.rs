//! A long-running program whose input and output stay open.
//!
//! The kernel ties the parent-death signal to the thread that started a program (prctl(2),
//! `PR_SET_PDEATHSIG`), so keep a daemon on the thread that started it.
//!
//! Invariant: only [`Daemon::poll_once`] blocks, and only for the given time. Memory is bounded whatever the
//! program writes. Dropping the daemon kills the program and all that it started.

use std::io::{ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::process::ExitStatusExt;
use std::process::{ChildStderr, ChildStdin, ChildStdout, ExitStatus};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::ioctl_fionbio;

use super::exit::Exit;
use super::head_and_tail::HeadAndTail;
use super::limits::{ProcessLimits, SharedGrowth};
use super::order::Order;
use super::running::RunningProcess;

/// The largest amount of input that may wait to be read, in bytes.
const MAX_PENDING: usize = 64 << 20;
/// The time that a program has to end after it closed its output.
const EXIT_GRACE: Duration = Duration::from_millis(500);
/// The bytes read at once: the default capacity of a pipe (pipe(7)).
const CHUNK: usize = 64 * 1024;

/// A long-running program and its pipes.
#[derive(Debug)]
pub struct Daemon {
    /// Kills the program when it is dropped, which is before its pipes are closed.
    running: RunningProcess,
    stdin: Option<ChildStdin>,
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
    /// The queued input, and how many bytes of it the program has read.
    pending: (Vec<u8>, usize),
    stderr_text: HeadAndTail,
    chunk: Vec<u8>,
    limits: ProcessLimits,
    /// The time at which its output was found closed.
    output_closed: Option<Instant>,
}

impl Daemon {
    /// Starts a program with this limit of memory in bytes. Its order must have an input, which may be empty.
    /// The error is the end of a sentence that begins with the program's name.
    pub fn start(order: &Order<'_>, memory: u64) -> Result<Daemon, String> {
        let (running, mut child) = RunningProcess::spawn(order)?;
        let lasting = Daemon {
            running,
            stdin: child.stdin.take(),
            stdout: child.stdout.take(),
            stderr: child.stderr.take(),
            pending: (Vec::new(), 0),
            stderr_text: HeadAndTail::default(),
            chunk: vec![0; CHUNK],
            limits: ProcessLimits {
                memory,
                growth: SharedGrowth::Ignored,
                ..ProcessLimits::of_machine(&order.sandbox)
            },
            output_closed: None,
        };
        let unblock = |(pipe, _): (BorrowedFd<'_>, PollFlags)| ioctl_fionbio(pipe, true);
        let all = lasting.poll_fds(PollFlags::OUT).into_iter();
        match all.map(unblock).find_map(Result::err) {
            Some(error) => Err(format!("could not be started: {error}")),
            None => Ok(lasting),
        }
    }

    /// Queues input for the program. Fails if it has left too much unread.
    pub fn queue_input(&mut self, bytes: &[u8]) -> Result<(), String> {
        let (waiting, read) = &mut self.pending;
        if waiting.len() - *read + bytes.len() > MAX_PENDING {
            return Err("does not read its input".to_owned());
        }
        waiting.drain(..*read);
        *read = 0;
        waiting.extend_from_slice(bytes);
        Ok(())
    }

    /// Waits up to `most` until there is output, room for input, a wake-up on `wake_fd`, or the program ends.
    /// Then writes and reads once, and returns the bytes that the program wrote.
    pub fn poll_once(&mut self, wake_fd: BorrowedFd<'_>, most: Duration) -> &[u8] {
        self.wait(wake_fd, most);
        self.write();
        let (count, open) = read(self.stderr.as_mut(), &mut self.chunk);
        self.stderr_text.add(self.chunk.get(..count).unwrap_or_default());
        if !open {
            self.stderr = None;
        }
        let (count, open) = read(self.stdout.as_mut(), &mut self.chunk);
        if !open {
            self.stdout = None;
            self.output_closed.get_or_insert_with(Instant::now);
        }
        self.chunk.get(..count).unwrap_or_default()
    }

    /// Describes how the program ended, as the end of a sentence that begins with its name. `None` while it
    /// runs with its output open.
    pub fn describe_exit(&self) -> Option<String> {
        let ended = match self.running.exit() {
            Some(Exit::Code(code)) => format!("ended with exit code {code}"),
            Some(Exit::Signal(number)) => {
                let status = ExitStatus::from_raw(number).to_string();
                format!("was killed by {}", status.replacen("signal: ", "signal ", 1))
            }
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
        self.stdin = None;
        self.running.ask_to_end();
    }

    /// Takes the standard error output so far, shortened to its two ends.
    pub fn take_stderr(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.stderr_text).into_bytes()
    }

    fn poll_fds(&self, writing: PollFlags) -> Vec<(BorrowedFd<'_>, PollFlags)> {
        // poll(2) always reports a pipe that nobody reads, also if it is asked for nothing.
        let stdin = self.stdin.as_ref().filter(|_| !writing.is_empty()).map(|pipe| (pipe.as_fd(), writing));
        let stdout = self.stdout.as_ref().map(|pipe| (pipe.as_fd(), PollFlags::IN));
        let stderr = self.stderr.as_ref().map(|pipe| (pipe.as_fd(), PollFlags::IN));
        [stdin, stdout, stderr].into_iter().flatten().collect()
    }

    fn wait(&self, wake_fd: BorrowedFd<'_>, most: Duration) {
        let writes = self.pending.1 < self.pending.0.len();
        let process = self.running.pidfd().map(|pidfd| (pidfd, PollFlags::IN));
        let writing = if writes { PollFlags::OUT } else { PollFlags::empty() };
        let all = self.poll_fds(writing).into_iter().chain(process).chain([(wake_fd, PollFlags::IN)]);
        let mut awaited: Vec<_> = all.map(|(fd, flags)| PollFd::from_borrowed_fd(fd, flags)).collect();
        let most = Timespec {
            tv_sec: i64::try_from(most.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: most.subsec_nanos().into(),
        };
        // On an early wake-up the caller polls again.
        let _woken = poll(&mut awaited, Some(&most));
    }

    fn write(&mut self) {
        let (waiting, read) = &mut self.pending;
        let Some(pipe) = &mut self.stdin else { return };
        match pipe.write(waiting.get(*read..).unwrap_or_default()) {
            Ok(written) => *read += written,
            Err(error) if is_retryable(error.kind()) => {}
            Err(_) => self.stdin = None,
        }
    }
}

/// Reads once. Returns the number of bytes, and true if more may follow.
fn read(pipe: Option<&mut impl Read>, chunk: &mut [u8]) -> (usize, bool) {
    let Some(pipe) = pipe else { return (0, false) };
    match pipe.read(chunk) {
        Ok(read) => (read, read > 0),
        Err(error) => (0, is_retryable(error.kind())),
    }
}

fn is_retryable(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::WouldBlock | ErrorKind::Interrupted)
}

#[cfg(test)]
mod tests {
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
