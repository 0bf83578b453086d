//! The descriptor by which the kernel tells of calls that a seccomp filter hands over: seccomp_unotify(2); and the
//! descriptors that no program inherits: close_range(2).
//!
//! Invariant: a call that was received is answered once, or the kernel fails it with ENOSYS when the descriptor is closed.
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
    /// The number of the thread that made it.
    pub(super) thread: u32,
    /// The call's own number.
    pub(super) number: i64,
    /// Its arguments, as the registers hold them.
    pub(super) arguments: [u64; 6],
}

/// The listener of one filter.
#[derive(Debug)]
pub(super) struct Listener(OwnedFd);

impl Listener {
    /// Installs a filter for this thread and what it starts, and gives the descriptor of the calls that it hands over.
    ///
    /// Errors: EBUSY where a filter with a listener holds for this process already.
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
            // SAFETY: the kernel has just opened it, and nobody else knows of it.
            Ok(fd) if fd >= 0 => Ok(Listener(unsafe { OwnedFd::from_raw_fd(fd) })),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// Waits for the next call; none once no process is left that the filter holds for.
    pub(super) fn next(&self) -> Option<PendingCall> {
        loop {
            let mut polled = [PollFd::new(&self.0, PollFlags::IN)];
            match poll(&mut polled, None) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(_) => return None,
            }
            let [polled] = polled;
            if polled.revents().contains(PollFlags::IN) {
                // A caller that was killed meanwhile is heard of no more.
                if let Some(call) = self.receive() {
                    return Some(call);
                }
            } else if !polled.revents().is_empty() {
                return None;
            }
        }
    }

    fn receive(&self) -> Option<PendingCall> {
        // SAFETY: zero is a value of each of its fields, and the one that the kernel asks for.
        let mut call: libc::seccomp_notif = unsafe { zeroed() };
        self.ioctl(libc::SECCOMP_IOCTL_NOTIF_RECV, &mut call).ok()?;
        Some(PendingCall {
            id: call.id,
            thread: call.pid,
            number: call.data.nr.into(),
            arguments: call.data.args,
        })
    }

    /// Tells whether the caller still waits, so that its number is its own.
    pub(super) fn waits(&self, call: &PendingCall) -> bool {
        let mut id = call.id;
        self.ioctl(libc::SECCOMP_IOCTL_NOTIF_ID_VALID, &mut id).is_ok()
    }

    /// Ends a call: it returns 0, or fails with this error.
    pub(super) fn answer(&self, call: &PendingCall, answer: Result<(), Errno>) {
        let error = answer.map_or_else(|error| -error.raw_os_error(), |()| 0);
        let mut response = libc::seccomp_notif_resp { id: call.id, val: 0, error, flags: 0 };
        // Nobody waits for it where the caller was killed.
        let _answered = self.ioctl(libc::SECCOMP_IOCTL_NOTIF_SEND, &mut response);
    }

    fn ioctl<T>(&self, request: libc::Ioctl, value: &mut T) -> io::Result<()> {
        // SAFETY: the size of a value is part of its request, and each request here is called with its own structure.
        let answer = unsafe { libc::ioctl(self.0.as_fd().as_raw_fd(), request, from_mut(value)) };
        if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }
}

/// `CLOSE_RANGE_CLOEXEC` of <linux/close_range.h>, which libc does not have for all systems.
const CLOEXEC: libc::c_uint = 1 << 2;

/// Marks all descriptors from this number on that are open now, so that no program inherits them. Kernels before Linux 5.11
/// do nothing.
pub(super) fn close_on_exec_from(first: libc::c_uint) {
    // SAFETY: it is given three numbers, and closes nothing.
    let _marked = unsafe { libc::syscall(libc::SYS_close_range, first, libc::c_uint::MAX, CLOEXEC) };
}
