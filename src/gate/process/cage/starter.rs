//! The one thread from which bubblewrap is started.
//!
//! bubblewrap ends with the thread that started it (`--die-with-parent`, which is `PR_SET_PDEATHSIG` of prctl(2)), and a
//! server outlives the call that needed it first.
//!
//! Invariant: the thread lasts as long as the process.

use std::io;
use std::process::{Child, Command};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::thread::Builder;

/// A command, and where to say what became of it.
type Job = (Command, Sender<io::Result<Child>>);

static JOBS: LazyLock<io::Result<Mutex<Sender<Job>>>> = LazyLock::new(|| {
    let (sender, jobs) = channel();
    Builder::new().name("lockgate-starter".to_owned()).spawn(move || work(jobs))?;
    Ok(Mutex::new(sender))
});

/// Starts a command from the thread that lasts.
pub(super) fn start(command: Command) -> io::Result<Child> {
    let jobs = JOBS.as_ref().map_err(|error| io::Error::other(error.to_string()))?;
    let (sender, started) = channel();
    let gone = || io::Error::other("the thread that starts programs has ended");
    let given = jobs.lock().unwrap_or_else(PoisonError::into_inner).send((command, sender));
    given.map_err(|_| gone())?;
    started.recv().map_err(|_| gone())?
}

fn work(jobs: Receiver<Job>) {
    for (mut command, told) in jobs {
        // Who asked waits for it.
        let _heard = told.send(command.spawn());
    }
}
