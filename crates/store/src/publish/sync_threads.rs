//! Threads that sync files while the caller does something else; they are kept for the next edit.
//!
//! Starting and ending a thread costs about twenty system calls, which is more than a sync of a small file.
//!
//! Invariant: a thread holds no descriptor when it reports, because a writable one would prevent a lease. A thread
//! is idle before it reports, so a caller that continues at once finds it again.

use parking_lot::Mutex;
use rustix::io::{Errno, Result as Io, retry_on_intr};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

/// The most threads that wait for the next edit; more than these end after their work.
const MAX_IDLE: usize = 16;

/// The threads that wait for files.
static IDLE: Mutex<Vec<Sender<SyncJob>>> = Mutex::new(Vec::new());

/// Some files to sync, one after the other.
struct SyncJob {
    files: Vec<Arc<OwnedFd>>,
    done: Sender<Io<()>>,
}

/// Syncs that are in progress on other threads.
#[must_use = "the files are synced only once `wait` has returned"]
pub(super) struct RunningSyncs {
    results: Receiver<Io<()>>,
    count: usize,
}

/// Starts to sync these groups of files, each group on a thread of its own. A group for which the system can start
/// no thread is synced at once.
pub(super) fn start(groups: impl Iterator<Item = Vec<Arc<OwnedFd>>>) -> RunningSyncs {
    let (done, results) = channel();
    let mut count = 0;
    for files in groups {
        count += 1;
        run_elsewhere(SyncJob { files, done: done.clone() });
    }
    RunningSyncs { results, count }
}

impl RunningSyncs {
    /// Waits until all files are synced.
    ///
    /// Errors: the first failure; IO if a thread ended before its files were synced.
    pub fn wait(self) -> Io<()> {
        let result = |_| self.results.recv().unwrap_or(Err(Errno::IO));
        // All are awaited, even after one of them has failed.
        (0..self.count).map(result).fold(Ok(()), Result::and)
    }
}

fn run_elsewhere(job: SyncJob) {
    let idle = IDLE.lock().pop();
    let Some(job) = (match idle {
        Some(thread) => thread.send(job).err().map(|unsent| unsent.0),
        None => Some(job),
    }) else {
        return;
    };
    let (jobs, waiting) = channel();
    let own = jobs.clone();
    let is_started =
        thread::Builder::new().name("sync".to_owned()).spawn(move || serve(&waiting, &own)).is_ok();
    let unsent = if is_started { jobs.send(job).err().map(|unsent| unsent.0) } else { Some(job) };
    if let Some(job) = unsent {
        let result = sync(job.files);
        // The caller is waiting in this very call, so it gets the result.
        let _ = job.done.send(result);
    }
}

/// Works on jobs until there are enough idle threads.
fn serve(jobs: &Receiver<SyncJob>, own: &Sender<SyncJob>) {
    while let Ok(SyncJob { files, done }) = jobs.recv() {
        let result = sync(files);
        let is_kept = {
            let mut idle = IDLE.lock();
            let is_kept = idle.len() < MAX_IDLE;
            if is_kept {
                idle.push(own.clone());
            }
            is_kept
        };
        // A caller that has ended needs no result.
        let _ = done.send(result);
        if !is_kept {
            return;
        }
    }
}

/// Syncs all files and closes them; returns the first failure.
fn sync(files: Vec<Arc<OwnedFd>>) -> Io<()> {
    files.into_iter().map(|file| retry_on_intr(|| rustix::fs::fsync(&*file))).fold(Ok(()), Result::and)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixStream;

    fn file() -> Arc<OwnedFd> {
        Arc::new(tempfile::tempfile().unwrap().into())
    }

    #[test]
    fn files_are_closed_and_failures_reported_when_the_wait_ends() {
        let files: Vec<_> = (0..40).map(|_| file()).collect();
        start(files.iter().map(|file| vec![Arc::clone(file)])).wait().unwrap();
        assert!(files.iter().all(|file| Arc::strong_count(file) == 1));
        // A socket cannot be synced.
        let socket: Arc<OwnedFd> = Arc::new(UnixStream::pair().unwrap().0.into());
        let groups = [vec![file()], vec![file(), socket, file()], vec![file()]];
        assert_eq!(start(groups.into_iter()).wait(), Err(Errno::INVAL));
        assert_eq!(start(std::iter::empty()).wait(), Ok(()));
    }

    #[test]
    fn a_thread_is_used_again() {
        let threads = || std::fs::read_dir("/proc/self/task").unwrap().count();
        start(std::iter::once(vec![file()])).wait().unwrap();
        let before = threads();
        for _ in 0..200 {
            start(std::iter::once(vec![file()])).wait().unwrap();
        }
        // Other tests of the same process may use some at the same time.
        assert!(threads() < before + MAX_IDLE, "{} threads, {before} before", threads());
    }
}
