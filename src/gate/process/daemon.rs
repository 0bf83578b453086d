//! A program that stays: it is written to and read from for as long as somebody keeps it.
//!
//! The kernel ties what it does at a parent's death to the thread that started a program (prctl(2), `PR_SET_PDEATHSIG`),
//! so that whoever starts one here keeps it on the thread that started it.
//!
//! Invariant: no call blocks but [`Lasting::turn`], which keeps to its time; memory is bounded whatever is written; and
//! dropping it ends the program with all that it started.

use std::io::{ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::process::ExitStatusExt;
use std::process::{ChildStderr, ChildStdin, ChildStdout, ExitStatus};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::ioctl_fionbio;

use super::Order;
use super::head_and_tail::HeadAndTail;
use super::limits::ProcessLimits;
use super::running::{Exit, Running};

/// The bytes that may wait to be read by the program.
const MOST_WAITING: usize = 64 << 20;
/// How long a program that has closed its output may take to end.
const LAST_STEPS: Duration = Duration::from_millis(500);
/// The bytes read at once: as much as a pipe holds by default (pipe(7)).
const CHUNK: usize = 64 * 1024;

/// A program that stays, with its pipes.
#[derive(Debug)]
pub(in crate::gate) struct Daemon {
    /// Ends the program when it is dropped, which is before its pipes are closed.
    running: Running,
    stdin: Option<ChildStdin>,
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
    /// What it is to read, and how much of that it has read.
    waiting: (Vec<u8>, usize),
    complaint: HeadAndTail,
    chunk: Vec<u8>,
    bounds: ProcessLimits,
    /// When its output was found to be closed.
    mute: Option<Instant>,
}

impl Daemon {
    /// Starts a program whose order has an input, if an empty one, and that may take so much memory; on failure says why, as the end of a sentence that begins with its name.
    pub(in crate::gate) fn start(order: &Order<'_>, memory: u64) -> Result<Daemon, String> {
        let (running, mut child) = Running::spawn(order)?;
        let lasting = Daemon {
            running,
            stdin: child.stdin.take(),
            stdout: child.stdout.take(),
            stderr: child.stderr.take(),
            waiting: (Vec::new(), 0),
            complaint: HeadAndTail::default(),
            chunk: vec![0; CHUNK],
            bounds: ProcessLimits { memory, ..ProcessLimits::of_machine(&order.cage) },
            mute: None,
        };
        let unblock = |(pipe, _): (BorrowedFd<'_>, PollFlags)| ioctl_fionbio(pipe, true);
        let all = lasting.open(PollFlags::OUT).into_iter();
        match all.map(unblock).find_map(Result::err) {
            Some(error) => Err(format!("could not be started: {error}")),
            None => Ok(lasting),
        }
    }

    /// Has the program read this next; refused where it has left too much unread.
    pub(in crate::gate) fn post(&mut self, bytes: &[u8]) -> Result<(), String> {
        let (waiting, read) = &mut self.waiting;
        if waiting.len() - *read + bytes.len() > MOST_WAITING {
            return Err("does not read what it is told".to_owned());
        }
        waiting.drain(..*read);
        *read = 0;
        waiting.extend_from_slice(bytes);
        Ok(())
    }

    /// Waits until there is something to read, room to write, a ring of the bell or the end of the program, at most for so
    /// long; then writes and reads once, and gives what the program said.
    pub(in crate::gate) fn turn(&mut self, bell: BorrowedFd<'_>, most: Duration) -> &[u8] {
        self.wait(bell, most);
        self.write();
        let (taken, open) = read(self.stderr.as_mut(), &mut self.chunk);
        self.complaint.add(self.chunk.get(..taken).unwrap_or_default());
        if !open {
            self.stderr = None;
        }
        let (taken, open) = read(self.stdout.as_mut(), &mut self.chunk);
        if !open {
            self.stdout = None;
            self.mute.get_or_insert_with(Instant::now);
        }
        self.chunk.get(..taken).unwrap_or_default()
    }

    /// Tells how it ended, as the end of a sentence that begins with its name; nothing while it runs and can be heard.
    pub(in crate::gate) fn ended(&self) -> Option<String> {
        let ended = match self.running.ended() {
            Some(Exit::Code(code)) => format!("ended with exit code {code}"),
            Some(Exit::Signal(number)) => {
                let status = ExitStatus::from_raw(number).to_string();
                format!("was killed by {}", status.replacen("signal: ", "signal ", 1))
            }
            Some(Exit::Unseen) => "ended".to_owned(),
            // Its pipes are closed before it has ended.
            None if self.mute.is_some_and(|since| since.elapsed() >= LAST_STEPS) => {
                "closed its output".to_owned()
            }
            None => return None,
        };
        Some(ended)
    }

    /// Tells what it has taken too much of, if it is time for a look; as the end of a sentence.
    pub(in crate::gate) fn exceeded(&mut self) -> Option<String> {
        self.bounds.exceeded(self.running.leader())
    }

    /// Asks it to end and waits a little, before it is killed with all that it started.
    pub(in crate::gate) fn end(mut self) {
        self.stdin = None;
        self.running.ask_to_end();
    }

    /// Gives the last that it wrote on standard error.
    pub(in crate::gate) fn complaint(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.complaint).into_bytes()
    }

    fn open(&self, writing: PollFlags) -> Vec<(BorrowedFd<'_>, PollFlags)> {
        let stdin = self.stdin.as_ref().map(|pipe| (pipe.as_fd(), writing));
        let stdout = self.stdout.as_ref().map(|pipe| (pipe.as_fd(), PollFlags::IN));
        let stderr = self.stderr.as_ref().map(|pipe| (pipe.as_fd(), PollFlags::IN));
        [stdin, stdout, stderr].into_iter().flatten().collect()
    }

    fn wait(&self, bell: BorrowedFd<'_>, most: Duration) {
        let writes = self.waiting.1 < self.waiting.0.len();
        let process = self.running.pidfd().map(|pidfd| (pidfd, PollFlags::IN));
        let writing = if writes { PollFlags::OUT } else { PollFlags::empty() };
        let all = self.open(writing).into_iter().chain(process).chain([(bell, PollFlags::IN)]);
        let mut awaited: Vec<_> = all.map(|(fd, flags)| PollFd::from_borrowed_fd(fd, flags)).collect();
        let most = Timespec {
            tv_sec: i64::try_from(most.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: most.subsec_nanos().into(),
        };
        // Woken too early, the caller looks again.
        let _woken = poll(&mut awaited, Some(&most));
    }

    fn write(&mut self) {
        let (waiting, read) = &mut self.waiting;
        let Some(pipe) = &mut self.stdin else { return };
        match pipe.write(waiting.get(*read..).unwrap_or_default()) {
            Ok(written) => *read += written,
            Err(error) if is_passing(error.kind()) => {}
            Err(_) => self.stdin = None,
        }
    }
}

/// Reads once; gives how much, and whether there may be more.
fn read(pipe: Option<&mut impl Read>, chunk: &mut [u8]) -> (usize, bool) {
    let Some(pipe) = pipe else { return (0, false) };
    match pipe.read(chunk) {
        Ok(read) => (read, read > 0),
        Err(error) => (0, is_passing(error.kind())),
    }
}

fn is_passing(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::WouldBlock | ErrorKind::Interrupted)
}
