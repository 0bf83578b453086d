//! The three pipes of a program. Input is written and outputs are read as each becomes ready, so none can
//! block another.
//!
//! Invariant: only [`ChildPipes::wait`] blocks, and only for the given time. Memory is bounded whatever the
//! program writes.

use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{ioctl_fionbio, ioctl_fionread};

use super::head_and_tail::HeadAndTail;

/// The largest standard output of a program, in bytes.
const MAX_OUTPUT: usize = 16 * 1024 * 1024;

/// The default capacity of a pipe (pipe(7)), and the bytes read at once.
pub(super) const CAPACITY: usize = 64 * 1024;

/// The program exceeded the limit of standard output.
#[derive(Debug)]
pub(super) struct OutputTooLarge;

/// The pipes of a program that are open, and the standard error read so far.
#[derive(Debug)]
pub(super) struct ChildPipes {
    pub(super) stdin: Option<ChildStdin>,
    pub(super) stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
    pub(super) stderr_text: HeadAndTail,
    /// The buffer for what is read.
    pub(super) chunk: Vec<u8>,
}

/// The pipes of a program with a known input, and the output read so far.
#[derive(Debug)]
pub(super) struct Pipes<'a> {
    pipes: ChildPipes,
    /// The input that is still to be written.
    input: &'a [u8],
    /// The length of the whole input.
    input_len: usize,
    output: Vec<u8>,
}

impl ChildPipes {
    /// Takes the pipes of a child process.
    pub(super) fn take(child: &mut Child) -> io::Result<ChildPipes> {
        let pipes = ChildPipes {
            stdin: child.stdin.take(),
            stdout: child.stdout.take(),
            stderr: child.stderr.take(),
            stderr_text: HeadAndTail::default(),
            chunk: vec![0; CAPACITY],
        };
        pipes.poll_fds(PollFlags::OUT).try_for_each(|(pipe, _)| ioctl_fionbio(pipe, true))?;
        Ok(pipes)
    }

    /// Waits up to `most` until a pipe is ready or one of `others` is readable. `writing` are the events
    /// of the input: [`PollFlags::OUT`] if the caller has something to write, and none otherwise.
    pub(super) fn wait<'f>(
        &'f self,
        writing: PollFlags,
        others: impl IntoIterator<Item = BorrowedFd<'f>>,
        most: Duration,
    ) {
        let others = others.into_iter().map(|fd| (fd, PollFlags::IN));
        let all = self.poll_fds(writing).chain(others);
        let mut awaited: Vec<_> = all.map(|(fd, flags)| PollFd::from_borrowed_fd(fd, flags)).collect();
        let most = Timespec {
            tv_sec: i64::try_from(most.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: most.subsec_nanos().into(),
        };
        // On an early wake-up, or if polling fails, the caller polls again.
        let _woken = poll(&mut awaited, Some(&most));
    }

    fn poll_fds(&self, writing: PollFlags) -> impl Iterator<Item = (BorrowedFd<'_>, PollFlags)> {
        // poll(2) always reports a pipe that nobody reads, also if it is asked for nothing.
        let stdin = self.stdin.as_ref().filter(|_| !writing.is_empty()).map(|pipe| (pipe.as_fd(), writing));
        let stdout = self.stdout.as_ref().map(|pipe| (pipe.as_fd(), PollFlags::IN));
        let stderr = self.stderr.as_ref().map(|pipe| (pipe.as_fd(), PollFlags::IN));
        [stdin, stdout, stderr].into_iter().flatten()
    }

    /// Reads at most `most` bytes of standard error, and returns their number.
    pub(super) fn read_stderr(&mut self, most: usize) -> usize {
        let bytes = read(&mut self.stderr, &mut self.chunk, most);
        self.stderr_text.add(bytes);
        bytes.len()
    }
}

impl<'a> Pipes<'a> {
    /// Takes the pipes of a child process.
    pub(super) fn take(child: &mut Child, input: &'a [u8]) -> io::Result<Pipes<'a>> {
        Ok(Pipes { pipes: ChildPipes::take(child)?, input, input_len: input.len(), output: Vec::new() })
    }

    /// Waits up to `most` until a pipe is ready or the process ends.
    pub(super) fn wait(&self, pidfd: Option<BorrowedFd<'_>>, most: Duration) {
        self.pipes.wait(PollFlags::OUT, pidfd, most);
    }

    /// Writes and reads once, without blocking.
    pub(super) fn serve(&mut self) -> Result<(), OutputTooLarge> {
        self.write();
        self.read_output(CAPACITY)?;
        self.pipes.read_stderr(CAPACITY);
        Ok(())
    }

    /// Reads the bytes that are in the pipes now, and no more: an orphan may go on writing.
    pub(super) fn drain(&mut self) -> Result<(), OutputTooLarge> {
        let mut left = available_bytes(self.pipes.stdout.as_ref());
        while left > 0 {
            match self.read_output(left)? {
                0 => break,
                read => left -= read,
            }
        }
        let mut left = available_bytes(self.pipes.stderr.as_ref());
        while left > 0 {
            match self.pipes.read_stderr(left) {
                0 => break,
                read => left -= read,
            }
        }
        Ok(())
    }

    /// Returns true if part of an input that exceeds the capacity of a pipe was never read.
    ///
    /// A pipe of the usual capacity takes a smaller one as a whole, unless the program has ended before. That depends on
    /// timing alone.
    pub(super) fn has_unread_input(&self) -> bool {
        self.input_len > CAPACITY && !self.input.is_empty()
    }

    /// Returns the beginning of standard error.
    pub(super) fn stderr_head(&self) -> &[u8] {
        self.pipes.stderr_text.head()
    }

    /// Returns standard output and standard error.
    pub(super) fn into_outputs(self) -> (Vec<u8>, Vec<u8>) {
        (self.output, self.pipes.stderr_text.into_bytes())
    }

    fn write(&mut self) {
        let written = write(&mut self.pipes.stdin, self.input);
        self.input = self.input.get(written..).unwrap_or_default();
        if self.input.is_empty() {
            self.pipes.stdin = None;
        }
    }

    fn read_output(&mut self, most: usize) -> Result<usize, OutputTooLarge> {
        let bytes = read(&mut self.pipes.stdout, &mut self.pipes.chunk, most);
        if self.output.len() + bytes.len() > MAX_OUTPUT {
            return Err(OutputTooLarge);
        }
        self.output.extend_from_slice(bytes);
        Ok(bytes.len())
    }
}

/// Writes once, and closes the pipe if that fails. Returns the number of bytes written.
pub(super) fn write(pipe: &mut Option<impl Write>, bytes: &[u8]) -> usize {
    let Some(open) = pipe.as_mut().filter(|_| !bytes.is_empty()) else { return 0 };
    match open.write(bytes) {
        Ok(written) => return written,
        Err(error) if is_retryable(&error) => {}
        Err(_) => *pipe = None,
    }
    0
}

/// Reads at most `most` bytes from a pipe, and closes it at its end.
pub(super) fn read<'c>(pipe: &mut Option<impl Read>, chunk: &'c mut [u8], most: usize) -> &'c [u8] {
    let most = chunk.len().min(most);
    let Some((open, room)) = pipe.as_mut().zip(chunk.get_mut(..most)) else { return &[] };
    let (read, open) = match open.read(room) {
        Ok(read) => (read, read > 0),
        Err(error) => (0, is_retryable(&error)),
    };
    if !open {
        *pipe = None;
    }
    chunk.get(..read).unwrap_or_default()
}

/// Returns true if the operation can be retried.
fn is_retryable(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}

/// The bytes available in a pipe, by ioctl(FIONREAD) (pipe(7)).
fn available_bytes(pipe: Option<&impl AsFd>) -> usize {
    let bytes = pipe.map_or(Ok(0), ioctl_fionread).unwrap_or(0);
    usize::try_from(bytes).unwrap_or(usize::MAX)
}
