//! A read lease: while it lasts, the kernel holds back any program that opens the file for writing.
//!
//! Invariant: the lease ends on drop, even if a child process has inherited the descriptor. The signal that
//! reports a waiting writer is one that is ignored by default.
#![expect(
    unsafe_code,
    reason = "F_SETLEASE, F_GETLEASE and F_SETSIG, which rustix lacks; only integers go in and out"
)]

use rustix::io::{Errno, Result as Io};
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The command's number, which libc defines for few systems; Linux uses the same everywhere.
const F_SETSIG: libc::c_int = 10;

/// The pause before files that another program has open for writing are tried again.
const PAUSE: Duration = Duration::from_millis(2);
/// The share of the attempts for which there is time that are made even if the machine is so busy that the time is up.
const LEAST_ATTEMPTS: u128 = 4;

/// The wait for programs that have a file open for writing.
pub(super) struct WriterWait {
    start: Instant,
    timeout: Duration,
    attempts: u128,
}

impl WriterWait {
    /// Begins to wait for this time.
    pub fn new(timeout: Duration) -> WriterWait {
        WriterWait { start: Instant::now(), timeout, attempts: 0 }
    }

    /// Sleeps before the next attempt. Returns false instead if the wait is over.
    pub fn pause(&mut self) -> bool {
        let least = self.timeout.as_nanos() / PAUSE.as_nanos() / LEAST_ATTEMPTS;
        if self.start.elapsed() >= self.timeout && self.attempts >= least {
            return false;
        }
        self.attempts += 1;
        std::thread::sleep(PAUSE);
        true
    }
}

/// A lease on an open file. Hold it only while the files of one edit are exchanged.
#[derive(Debug)]
#[must_use = "the lease ends when this is dropped"]
pub(super) struct Lease<'a>(Holder<'a>);

#[derive(Debug)]
enum Holder<'a> {
    Borrowed(&'a OwnedFd),
    Shared(Arc<OwnedFd>),
}

impl Lease<'_> {
    /// Takes a lease on a file that is open for reading only.
    ///
    /// Errors: `AGAIN` if another program has it open for writing.
    pub fn take(file: &OwnedFd) -> Io<Lease<'_>> {
        acquire(file)?;
        Ok(Lease(Holder::Borrowed(file)))
    }

    /// Takes a lease on a shared descriptor, which stays open as long as the lease.
    pub fn take_shared(file: &Arc<OwnedFd>) -> Io<Lease<'static>> {
        acquire(file)?;
        Ok(Lease(Holder::Shared(Arc::clone(file))))
    }

    /// True if no process waits for the end of the lease to open the file for writing.
    pub fn is_whole(&self) -> bool {
        fcntl(self.file(), libc::F_GETLEASE, 0) == Ok(libc::F_RDLCK)
    }

    fn file(&self) -> &OwnedFd {
        match &self.0 {
            Holder::Borrowed(file) => file,
            Holder::Shared(file) => file,
        }
    }
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        // The kernel may have ended the lease already.
        let _ = fcntl(self.file(), libc::F_SETLEASE, libc::F_UNLCK);
    }
}

/// The leases that hold back other programs during a change.
#[derive(Debug, Default)]
pub(super) struct Leases<'a> {
    /// The lease on the old file.
    pub before: Option<Lease<'a>>,
    /// The lease on the published file: no other program can write to it before the edit is final.
    pub ours: Option<Lease<'a>>,
}

fn acquire(file: &OwnedFd) -> Io<()> {
    // The default signal would end the process.
    fcntl(file, F_SETSIG, libc::SIGURG)?;
    fcntl(file, libc::F_SETLEASE, libc::F_RDLCK).map(drop)
}

fn fcntl(file: &OwnedFd, command: libc::c_int, value: libc::c_int) -> Io<libc::c_int> {
    // SAFETY: the descriptor is open for as long as it is borrowed, and these commands take an integer and touch no memory.
    let answer = unsafe { libc::fcntl(file.as_raw_fd(), command, value) };
    if answer == -1 {
        return Err(Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO));
    }
    Ok(answer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{File, OpenOptions};
    use std::os::unix::fs::OpenOptionsExt;

    #[test]
    fn a_writer_is_held_back_and_seen_and_one_that_is_there_refuses_the_lease() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        std::fs::write(&path, "x").unwrap();
        let reader: OwnedFd = File::open(&path).unwrap().into();
        let write = || {
            OpenOptions::new()
                .write(true)
                .custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed())
                .open(&path)
        };
        let lease = match Lease::take(&reader) {
            Ok(lease) => lease,
            Err(errno) => return println!("NOT RUN: no lease here: {errno}"),
        };
        assert!(lease.is_whole());
        assert!(File::open(&path).is_ok(), "reading is free");
        assert_eq!(write().unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
        assert!(!lease.is_whole());
        drop(lease);
        let writer = write().unwrap();
        assert_eq!(Lease::take(&reader).unwrap_err(), Errno::AGAIN);
        drop(writer);
        assert!(Lease::take(&reader).is_ok());
    }
}
