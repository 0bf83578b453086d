//! The exit status of a process.

/// The exit status of a process.
#[derive(Debug, Clone, Copy)]
pub(super) enum Exit {
    /// The process ended with this exit code.
    Code(i32),
    /// This signal ended the process.
    Signal(i32),
    /// The kernel did not report the status, because SIGCHLD is ignored (waitpid(2)).
    Unknown,
}
