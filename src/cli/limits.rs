//! Checks the process limits that a command needs, and handles the signal for the file size limit.
//!
//! tokio panics without a descriptor for signals or a thread for blocking work, so both are tested first. Later
//! shortages are errors of the call that needs the resource.

use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;

use rustix::event::{EventfdFlags, eventfd};
use rustix::io::Errno;
use rustix::process::{Resource, Signal, getrlimit};

use lockgate_error::{Code, Error};

/// Number of descriptors that must be free before a command starts: for the runtime, the journal with its log, and
/// the folders and files of an edit.
const DESCRIPTORS: usize = 32;

/// Prevents SIGXFSZ from killing the process: a write beyond the file size limit fails with EFBIG instead.
///
/// The signal is caught and not ignored, so that gate programs start with its default action.
pub(super) fn catch_file_size_signal() {
    // If the signal cannot be caught, it still kills the process.
    let _caught = signal_hook::flag::register(Signal::XFSZ.as_raw(), Arc::new(AtomicBool::new(false)));
}

/// Tests that descriptors and `threads` threads are available.
///
/// Errors: `IO_FAILED`, with the limit that was reached.
pub(super) fn check(threads: usize) -> Result<(), Error> {
    check_descriptors()?;
    check_threads(threads)
}

fn check_descriptors() -> Result<(), Error> {
    let mut free = Vec::with_capacity(DESCRIPTORS);
    while free.len() < DESCRIPTORS {
        match eventfd(0, EventfdFlags::CLOEXEC) {
            Ok(descriptor) => free.push(descriptor),
            Err(Errno::MFILE | Errno::NFILE) => return Err(too_few_descriptors(free.len())),
            // Without eventfd, nothing can be tested.
            Err(_) => return Ok(()),
        }
    }
    Ok(())
}

fn too_few_descriptors(free: usize) -> Error {
    let limit = getrlimit(Resource::Nofile).current.map(|limit| format!(", whose limit is {limit}"));
    let message = format!(
        "{free} more files can be opened by this process{}: lockgate needs {DESCRIPTORS}",
        limit.unwrap_or_default()
    );
    Error::new(Code::IoFailed, message)
        .hint("raise the limit on open files (`ulimit -n 256`), and start it again")
}

fn check_threads(threads: usize) -> Result<(), Error> {
    let gate = Mutex::new(());
    thread::scope(|scope| {
        // Each thread waits on this lock until all have started.
        let closed = gate.lock();
        for started in 0..threads {
            let wait = || drop(gate.lock());
            if let Err(error) = thread::Builder::new().spawn_scoped(scope, wait) {
                return Err(too_few_threads(started, threads, &error));
            }
        }
        drop(closed);
        Ok(())
    })
}

fn too_few_threads(started: usize, needed: usize, error: &std::io::Error) -> Error {
    let message =
        format!("{started} threads can be started by this process, and lockgate needs {needed}: {error}");
    Error::new(Code::IoFailed, message).hint(
        "raise the limits on processes (`ulimit -u`, `pids.max` of the control group) and on memory (`ulimit -v`), and \
         start it again",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_process_usually_has_suffices() {
        assert_eq!(check(8), Ok(()));
    }

    #[test]
    fn the_signal_is_survived_and_has_its_default_effect_in_programs() {
        use std::os::unix::process::ExitStatusExt;
        use std::process::Command;
        catch_file_size_signal();
        rustix::process::kill_process(rustix::process::getpid(), Signal::XFSZ).unwrap();
        // The control: a process that does not catch it is ended by it.
        let ended = Command::new("sh").args(["-c", "kill -s XFSZ $$; exit 0"]).status().unwrap();
        assert_eq!(ended.signal(), Some(Signal::XFSZ.as_raw()));
    }

    #[test]
    fn a_rejection_names_the_limit_and_the_next_step() {
        let error = too_few_descriptors(3);
        assert!(error.message.starts_with("3 more files can be opened by this process"), "{error}");
        assert!(error.hint.unwrap().contains("ulimit -n"));
        let error = too_few_threads(1, 4, &std::io::Error::from(Errno::AGAIN));
        assert!(error.message.starts_with("1 threads can be started"), "{error}");
    }
}
