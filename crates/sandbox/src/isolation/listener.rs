//! The descriptor for calls that a seccomp filter hands over, seccomp_unotify(2), and marking descriptors as
//! not inherited, close_range(2).
//!
//! Invariant: a received call is answered once, or the kernel fails it with ENOSYS when the descriptor is
//! closed.
#![expect(
    unsafe_code,
    reason = "seccomp(2) with a listener and its ioctls, and close_range(2), for which rustix and seccompiler have nothing; \
              each is given numbers, or a pointer to one structure of the kernel's own size, which lives for the call"
)]

use std::io;
use std::mem::zeroed;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::ptr::from_mut;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use seccompiler::sock_filter;

/// A call that waits for its answer.
#[derive(Debug, Clone, Copy)]
pub(super) struct PendingCall {
    id: u64,
    /// The number of the calling thread.
    pub(super) thread: u32,
    /// The number of the system call.
    pub(super) number: i64,
    /// The arguments as register values.
    pub(super) arguments: [u64; 6],
}

#[derive(Debug)]
pub(super) struct Listener(OwnedFd);

impl Listener {
    /// Installs a filter for this thread and its children, and returns the listener for the calls that it
    /// hands over.
    ///
    /// Errors: EBUSY if this process already has a filter with a listener.
    pub(super) fn install(program: &[sock_filter]) -> io::Result<Listener> {
        rustix::thread::set_no_new_privs(true)?;
        let len = u16::try_from(program.len()).map_err(io::Error::other)?;
        let program = libc::sock_fprog { len, filter: program.as_ptr().cast_mut().cast() };
        let flags = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER | libc::SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
        // SAFETY: the kernel reads the program, whose steps have its own layout, and writes nothing.
        let answer = unsafe {
            libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, &raw const program)
        };
        match i32::try_from(answer) {
            // SAFETY: the kernel has just opened it, and no other code has it.
            Ok(fd) if fd >= 0 => Ok(Listener(unsafe { OwnedFd::from_raw_fd(fd) })),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// Waits for the next call. `None` once the last process under the filter has ended.
    pub(super) fn next(&self) -> Option<PendingCall> {
        loop {
            let mut polled = [PollFd::new(&self.0, PollFlags::IN)];
            match poll(&mut polled, None) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(_) => return None,
            }
            let [polled] = polled;
            if polled.revents().contains(PollFlags::IN) {
                // If the caller was killed meanwhile, there is no call to receive.
                if let Some(call) = self.receive() {
                    return Some(call);
                }
            } else if !polled.revents().is_empty() {
                return None;
            }
        }
    }

    fn receive(&self) -> Option<PendingCall> {
        // SAFETY: zero is a valid value of each field, and the kernel requires it.
        let mut call: libc::seccomp_notif = unsafe { zeroed() };
        self.ioctl(libc::SECCOMP_IOCTL_NOTIF_RECV, &mut call).ok()?;
        Some(PendingCall {
            id: call.id,
            thread: call.pid,
            number: call.data.nr.into(),
            arguments: call.data.args,
        })
    }

    /// Returns true if the caller still waits, so that its number has not been reused.
    pub(super) fn is_pending(&self, call: &PendingCall) -> bool {
        let mut id = call.id;
        self.ioctl(libc::SECCOMP_IOCTL_NOTIF_ID_VALID, &mut id).is_ok()
    }

    /// Answers a call: it returns 0, or fails with this error.
    pub(super) fn answer(&self, call: &PendingCall, answer: Result<(), Errno>) {
        let error = answer.map_or_else(|error| -error.raw_os_error(), |()| 0);
        let mut response = libc::seccomp_notif_resp { id: call.id, val: 0, error, flags: 0 };
        // This fails if the caller was killed, and nothing waits for it then.
        let _answered = self.ioctl(libc::SECCOMP_IOCTL_NOTIF_SEND, &mut response);
    }

    fn ioctl<T>(&self, request: libc::Ioctl, value: &mut T) -> io::Result<()> {
        // SAFETY: the size of the value is part of the request, and each request is called with its own
        // structure.
        let answer = unsafe { libc::ioctl(self.0.as_fd().as_raw_fd(), request, from_mut(value)) };
        if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }
}

/// `CLOSE_RANGE_CLOEXEC` of <linux/close_range.h>, which libc does not have for all systems.
const CLOEXEC: libc::c_uint = 1 << 2;

/// Marks all open descriptors from this number on as not inherited. Does nothing before Linux 5.11.
pub(super) fn close_on_exec_from(first: libc::c_uint) {
    // SAFETY: the call takes three numbers, and closes nothing.
    let _marked = unsafe { libc::syscall(libc::SYS_close_range, first, libc::c_uint::MAX, CLOEXEC) };
}
