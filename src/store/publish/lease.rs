//! A read lease: as long as it lasts, the kernel holds back whoever opens the file for writing.
//!
//! Invariant: a lease ends when this is dropped, also where a child process has inherited the descriptor; the signal that
//! tells of somebody waiting is one that is ignored.
#![expect(
    unsafe_code,
    reason = "F_SETLEASE, F_GETLEASE and F_SETSIG, which rustix lacks; only integers go in and out"
)]

use rustix::io::{Errno, Result as Io};
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;

/// The number of the command, which libc has for few systems; Linux has the same for all.
const F_SETSIG: libc::c_int = 10;

/// A lease on an open file; to be held for as long as the files of one edit are exchanged, and no longer.
#[derive(Debug)]
#[must_use = "the lease ends when this is dropped"]
pub(super) struct Lease<'a>(Holder<'a>);

#[derive(Debug)]
enum Holder<'a> {
    Borrowed(&'a OwnedFd),
    Shared(Arc<OwnedFd>),
}

impl Lease<'_> {
    /// Takes a lease on a file that is open for reading only; AGAIN where somebody has it open for writing.
    pub fn take(file: &OwnedFd) -> Io<Lease<'_>> {
        acquire(file)?;
        Ok(Lease(Holder::Borrowed(file)))
    }

    /// The same, of a file whose descriptor stays open as long as the lease.
    pub fn take_shared(file: &Arc<OwnedFd>) -> Io<Lease<'static>> {
        acquire(file)?;
        Ok(Lease(Holder::Shared(Arc::clone(file))))
    }

    /// Whether nobody waits for its end to open the file for writing.
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
        // A lease that the kernel has already ended is ended.
        let _ = fcntl(self.file(), libc::F_SETLEASE, libc::F_UNLCK);
    }
}

fn acquire(file: &OwnedFd) -> Io<()> {
    // The signal that is sent otherwise ends the process.
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
