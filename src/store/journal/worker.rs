//! What need not be done before an answer is given: one thread that keeps what was read, and tidies up.
//!
//! Invariant: a caller waits for it only to be given what was just read; when it is behind, texts are not kept rather than piled up. What it was given is
//! done before the journal is dropped.

use super::RetentionLimits;
use super::root_journal::RootJournal;
use crate::error::Error;
use crate::store::publish::Content;
use crate::text::Version;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// Texts that wait to be kept, and their bytes.
const MOST_WAITING: usize = 256;
const MOST_BYTES: usize = 32 << 20;

/// How long a caller waits for a text that was read a moment ago.
const PATIENCE: Duration = Duration::from_secs(1);

enum JournalJob {
    Keep { book: usize, stamp: Version, bytes: Vec<u8> },
    Tidy(RetentionLimits),
    Tell(SyncSender<()>),
}

/// The thread, once there was something to do.
#[derive(Debug)]
pub(super) struct Worker {
    books: Arc<[RootJournal]>,
    running: Mutex<Option<(SyncSender<JournalJob>, JoinHandle<()>)>>,
    shared: Arc<WorkerShared>,
}

#[derive(Debug, Default)]
struct WorkerShared {
    waiting: AtomicUsize,
    is_tidying: AtomicBool,
    trouble: Mutex<Option<Error>>,
}

impl Worker {
    /// A thread for these journals; it is started when there is something to do.
    pub fn new(books: &Arc<[RootJournal]>) -> Worker {
        Worker { books: Arc::clone(books), running: Mutex::default(), shared: Arc::default() }
    }

    /// Has a text kept in the journal of that number, unless too many are waiting.
    pub fn keep(&self, book: usize, content: Content<'_>) {
        let length = content.bytes.len();
        let waiting = self.shared.waiting.fetch_add(length, Ordering::Relaxed);
        let done = waiting.saturating_add(length) <= MOST_BYTES
            && self.give(JournalJob::Keep { book, stamp: content.stamp, bytes: content.bytes.to_vec() });
        if !done {
            self.shared.waiting.fetch_sub(length, Ordering::Relaxed);
        }
    }

    /// Has the journals tidied up, if that is not being done.
    ///
    /// Errors: why it could not be done the last time.
    pub fn tidy(&self, bounds: RetentionLimits) -> Result<(), Error> {
        if !self.shared.is_tidying.swap(true, Ordering::Relaxed) && !self.give(JournalJob::Tidy(bounds)) {
            self.shared.is_tidying.store(false, Ordering::Relaxed);
        }
        let trouble = self.shared.trouble.lock().unwrap_or_else(PoisonError::into_inner).take();
        trouble.map_or(Ok(()), Err)
    }

    /// Gives the thread something to do, starting it where it is not running; tells whether it has taken it.
    fn give(&self, job: JournalJob) -> bool {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if running.is_none() {
            let (sender, receiver) = sync_channel(MOST_WAITING);
            let (books, shared) = (Arc::clone(&self.books), Arc::clone(&self.shared));
            let named = std::thread::Builder::new().name("journal".to_owned());
            let started = named.spawn(move || work(&books, &shared, &receiver));
            *running = started.ok().map(|thread| (sender, thread));
        }
        running.as_ref().is_some_and(|(sender, _)| sender.try_send(job).is_ok())
    }

    /// Whether texts wait to be kept.
    pub fn is_behind(&self) -> bool {
        self.shared.waiting.load(Ordering::Relaxed) > 0
    }

    /// Waits until all that was given is done, or for too long; tells whether it was done.
    pub fn wait(&self) -> bool {
        let (sender, receiver) = sync_channel(1);
        self.give(JournalJob::Tell(sender)) && receiver.recv_timeout(PATIENCE).is_ok()
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some((sender, thread)) = running {
            drop(sender);
            let _ = thread.join();
        }
    }
}

fn work(books: &[RootJournal], shared: &WorkerShared, jobs: &Receiver<JournalJob>) {
    for job in jobs {
        match job {
            JournalJob::Keep { book, stamp, bytes } => {
                let content = Content { stamp, bytes: &bytes };
                // A text that is not kept is one over which nothing can be carried, no more.
                let _ = books.get(book).map(|book| book.with(|database| database.keep(content)));
                shared.waiting.fetch_sub(bytes.len(), Ordering::Relaxed);
            }
            JournalJob::Tidy(bounds) => {
                let failed = books.iter().filter_map(|book| book.tidy(bounds).err()).last();
                *shared.trouble.lock().unwrap_or_else(PoisonError::into_inner) = failed;
                shared.is_tidying.store(false, Ordering::Relaxed);
            }
            JournalJob::Tell(whom) => drop(whom.send(())),
        }
    }
}
