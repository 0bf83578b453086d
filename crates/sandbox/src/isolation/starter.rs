//! The thread that starts bubblewrap.
//!
//! bubblewrap ends with the thread that started it (`--die-with-parent`, which is `PR_SET_PDEATHSIG` of
//! prctl(2)), and a server outlives the call that needed it first.
//!
//! bubblewrap reads its filter from memory behind a descriptor, which it must inherit. That descriptor is
//! inheritable only while this thread starts a program.
//!
//! Invariant: the thread lives as long as the process.

use parking_lot::Mutex;
use std::io;
use std::os::fd::OwnedFd;
use std::process::{Child, Command};
use std::sync::LazyLock;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::Builder;

use rustix::io::{FdFlags, fcntl_setfd};

/// A command, the filter that it reads, and the channel for the result.
struct StarterJob {
    command: Command,
    filter: OwnedFd,
    reply: Sender<io::Result<Child>>,
}

static JOBS: LazyLock<io::Result<Mutex<Sender<StarterJob>>>> = LazyLock::new(|| {
    let (sender, jobs) = channel();
    Builder::new().name("lockgate-starter".to_owned()).spawn(move || run_jobs(jobs))?;
    Ok(Mutex::new(sender))
});

/// Starts a command from the long-lived thread, and passes it the filter's descriptor.
pub(super) fn start(command: Command, filter: OwnedFd) -> io::Result<Child> {
    let jobs = JOBS.as_ref().map_err(|error| io::Error::other(error.to_string()))?;
    let (reply, started) = channel();
    let ended = || io::Error::other("the thread that starts programs has ended");
    let sent = jobs.lock().send(StarterJob { command, filter, reply });
    sent.map_err(|_| ended())?;
    started.recv().map_err(|_| ended())?
}

fn run_jobs(jobs: Receiver<StarterJob>) {
    for StarterJob { mut command, filter, reply } in jobs {
        let inherited = fcntl_setfd(&filter, FdFlags::empty()).map_err(io::Error::from);
        let started = inherited.and_then(|()| command.spawn());
        drop(filter);
        // The sender of the job waits for this.
        let _sent = reply.send(started);
    }
}
