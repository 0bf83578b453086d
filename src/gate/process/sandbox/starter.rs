//! The one thread from which bubblewrap is started.
//!
//! bubblewrap ends with the thread that started it (`--die-with-parent`, which is `PR_SET_PDEATHSIG` of prctl(2)), and a
//! server outlives the call that needed it first.
//!
//! The filter that bubblewrap is to install lies in memory behind a descriptor, which the program must inherit. It is
//! open to new programs only while this thread starts one.
//!
//! Invariant: the thread lasts as long as the process.

use std::io;
use std::os::fd::OwnedFd;
use std::process::{Child, Command};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::thread::Builder;

use rustix::io::{FdFlags, fcntl_setfd};

/// A command with the filter that it is to read, and where to say what became of it.
struct StarterJob {
    command: Command,
    filter: OwnedFd,
    told: Sender<io::Result<Child>>,
}

static JOBS: LazyLock<io::Result<Mutex<Sender<StarterJob>>>> = LazyLock::new(|| {
    let (sender, jobs) = channel();
    Builder::new().name("lockgate-starter".to_owned()).spawn(move || work(jobs))?;
    Ok(Mutex::new(sender))
});

/// Starts a command from the thread that lasts, and has it inherit a descriptor.
pub(super) fn start(command: Command, filter: OwnedFd) -> io::Result<Child> {
    let jobs = JOBS.as_ref().map_err(|error| io::Error::other(error.to_string()))?;
    let (told, started) = channel();
    let gone = || io::Error::other("the thread that starts programs has ended");
    let given =
        jobs.lock().unwrap_or_else(PoisonError::into_inner).send(StarterJob { command, filter, told });
    given.map_err(|_| gone())?;
    started.recv().map_err(|_| gone())?
}

fn work(jobs: Receiver<StarterJob>) {
    for StarterJob { mut command, filter, told } in jobs {
        let inherited = fcntl_setfd(&filter, FdFlags::empty()).map_err(io::Error::from);
        let started = inherited.and_then(|()| command.spawn());
        drop(filter);
        // Who asked waits for it.
        let _heard = told.send(started);
    }
}
