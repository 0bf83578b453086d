//! The exit status of a process.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

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

/// Describes the end by a signal, as the end of a sentence that begins with the program's name.
pub(super) fn killed_by(signal: i32) -> String {
    let status = ExitStatus::from_raw(signal).to_string();
    format!("was killed by {}", status.replacen("signal: ", "signal ", 1))
}
