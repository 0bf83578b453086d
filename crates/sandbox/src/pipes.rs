//! The three pipes of a program. Input is written and outputs are read as each becomes ready, so none can
//! block another.
//!
//! Invariant: only [`Pipes::wait`] blocks, and only for the given time. Memory is bounded whatever the
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
const CAPACITY: usize = 64 * 1024;

/// The program exceeded the limit of standard output.
#[derive(Debug)]
pub(super) struct OutputTooLarge;

/// The pipes of a program, and the output read so far.
#[derive(Debug)]
pub(super) struct Pipes<'a> {
    stdin: Option<ChildStdin>,
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
    /// The input that is still to be written.
    input: &'a [u8],
    /// The length of the whole input.
    input_len: usize,
    output: Vec<u8>,
    stderr_text: HeadAndTail,
    chunk: Vec<u8>,
}

impl<'a> Pipes<'a> {
    /// Takes the pipes of a child process.
    pub(super) fn take(child: &mut Child, input: &'a [u8]) -> io::Result<Pipes<'a>> {
        let pipes = Pipes {
            stdin: child.stdin.take(),
            stdout: child.stdout.take(),
            stderr: child.stderr.take(),
            input,
            input_len: input.len(),
            output: Vec::new(),
            stderr_text: HeadAndTail::default(),
            chunk: vec![0; CAPACITY],
        };
        pipes.poll_fds().into_iter().try_for_each(|(pipe, _)| ioctl_fionbio(pipe, true))?;
        Ok(pipes)
    }

    /// Waits up to `most`, which is less than a second, until a pipe is ready or the process ends.
    pub(super) fn wait(&self, pidfd: Option<BorrowedFd<'_>>, most: Duration) {
        let process = pidfd.map(|pidfd| (pidfd, PollFlags::IN));
        let mut awaited: Vec<_> = self
            .poll_fds()
            .into_iter()
            .chain(process)
            .map(|(fd, flags)| PollFd::from_borrowed_fd(fd, flags))
            .collect();
        let most = Timespec { tv_sec: 0, tv_nsec: most.subsec_nanos().into() };
        // On an early wake-up, or if polling fails, the caller polls again.
        let _woken = poll(&mut awaited, Some(&most));
    }

    fn poll_fds(&self) -> Vec<(BorrowedFd<'_>, PollFlags)> {
        let stdin = self.stdin.as_ref().map(|pipe| (pipe.as_fd(), PollFlags::OUT));
        let stdout = self.stdout.as_ref().map(|pipe| (pipe.as_fd(), PollFlags::IN));
        let stderr = self.stderr.as_ref().map(|pipe| (pipe.as_fd(), PollFlags::IN));
        [stdin, stdout, stderr].into_iter().flatten().collect()
    }

    /// Writes and reads once, without blocking.
    pub(super) fn serve(&mut self) -> Result<(), OutputTooLarge> {
        self.write();
        self.read_output(CAPACITY)?;
        self.read_stderr(CAPACITY);
        Ok(())
    }

    /// Reads the bytes that are in the pipes now, and no more: an orphan may go on writing.
    pub(super) fn drain(&mut self) -> Result<(), OutputTooLarge> {
        let mut left = available_bytes(self.stdout.as_ref());
        while left > 0 {
            let read = self.read_output(left)?;
            left = if read == 0 { 0 } else { left.saturating_sub(read) };
        }
        let mut left = available_bytes(self.stderr.as_ref());
        while left > 0 {
            let read = self.read_stderr(left);
            left = if read == 0 { 0 } else { left.saturating_sub(read) };
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
        self.stderr_text.head()
    }

    /// Returns standard output and standard error.
    pub(super) fn into_outputs(self) -> (Vec<u8>, Vec<u8>) {
        (self.output, self.stderr_text.into_bytes())
    }

    fn write(&mut self) {
        let Some(pipe) = &mut self.stdin else { return };
        let written = if self.input.is_empty() { Ok(0) } else { pipe.write(self.input) };
        let open = match written {
            Ok(written) => {
                self.input = self.input.get(written..).unwrap_or_default();
                !self.input.is_empty()
            }
            Err(error) => is_retryable(&error),
        };
        if !open {
            self.stdin = None;
        }
    }

    fn read_output(&mut self, most: usize) -> Result<usize, OutputTooLarge> {
        let bytes = read(&mut self.stdout, &mut self.chunk, most);
        if self.output.len() + bytes.len() > MAX_OUTPUT {
            return Err(OutputTooLarge);
        }
        self.output.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn read_stderr(&mut self, most: usize) -> usize {
        let bytes = read(&mut self.stderr, &mut self.chunk, most);
        self.stderr_text.add(bytes);
        bytes.len()
    }
}

/// Reads at most `most` bytes from a pipe, and closes it at its end.
fn read<'c>(pipe: &mut Option<impl Read>, chunk: &'c mut [u8], most: usize) -> &'c [u8] {
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
