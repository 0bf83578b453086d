//! A background thread that stores texts of reads and prunes the journal after the answer is given: after edits when it is
//! asked to, and itself after it has stored enough texts of reads.
//!
//! Invariant: a caller waits for it only to get a text that was just read. When it is behind, texts are
//! dropped rather than queued. Accepted jobs are done before the journal is dropped.

use super::root_journal::RootJournal;
use crate::content::Content;
use crate::history::RetentionLimits;
use lockgate_error::Error;
use lockgate_text::Buffer;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// The limits on texts waiting to be stored: their number and their bytes.
const MAX_WAITING: usize = 256;
const MAX_BYTES: usize = 32 << 20;

/// The time that a caller waits for a text that was read a moment ago.
const WAIT_TIMEOUT: Duration = Duration::from_secs(1);

enum JournalJob {
    Keep { journal: usize, text: Arc<Buffer>, bounds: RetentionLimits },
    Tidy { journal: usize, bounds: RetentionLimits },
    Notify(SyncSender<()>),
}

/// The background thread, which starts with its first job.
#[derive(Debug)]
pub(super) struct Worker {
    journals: Arc<[RootJournal]>,
    running: Mutex<Option<(SyncSender<JournalJob>, JoinHandle<()>)>>,
    shared: Arc<WorkerShared>,
}

#[derive(Debug, Default)]
struct WorkerShared {
    waiting: AtomicUsize,
    is_tidying: AtomicBool,
    last_error: Mutex<Option<Error>>,
}

impl Worker {
    /// A worker for these journals; its thread starts with the first job.
    pub fn new(journals: &Arc<[RootJournal]>) -> Worker {
        Worker { journals: Arc::clone(journals), running: Mutex::default(), shared: Arc::default() }
    }

    /// Queues a text for the journal with this index, unless too many are waiting. The journal is pruned to these limits
    /// whenever it has grown enough.
    pub fn keep(&self, journal: usize, text: Arc<Buffer>, bounds: RetentionLimits) {
        let length = text.bytes().len();
        let waiting = self.shared.waiting.fetch_add(length, Ordering::Relaxed);
        let is_queued = waiting.saturating_add(length) <= MAX_BYTES
            && self.enqueue(JournalJob::Keep { journal, text, bounds });
        if !is_queued {
            self.shared.waiting.fetch_sub(length, Ordering::Relaxed);
        }
    }

    /// Queues the pruning of the journal with this index, unless one is being pruned.
    ///
    /// Errors: the reason why the last run failed.
    pub fn tidy(&self, journal: usize, bounds: RetentionLimits) -> Result<(), Error> {
        if !self.shared.is_tidying.swap(true, Ordering::Relaxed)
            && !self.enqueue(JournalJob::Tidy { journal, bounds })
        {
            self.shared.is_tidying.store(false, Ordering::Relaxed);
        }
        let error = self.shared.last_error.lock().take();
        error.map_or(Ok(()), Err)
    }

    /// Queues a job, and starts the thread if it is not running. Returns true if the job was accepted.
    fn enqueue(&self, job: JournalJob) -> bool {
        let mut running = self.running.lock();
        if running.is_none() {
            let (sender, receiver) = sync_channel(MAX_WAITING);
            let (journals, shared) = (Arc::clone(&self.journals), Arc::clone(&self.shared));
            let builder = std::thread::Builder::new().name("journal".to_owned());
            let started = builder.spawn(move || work(&journals, &shared, &receiver));
            *running = started.ok().map(|thread| (sender, thread));
        }
        running.as_ref().is_some_and(|(sender, _)| sender.try_send(job).is_ok())
    }

    /// True if texts are waiting to be stored.
    pub fn is_behind(&self) -> bool {
        self.shared.waiting.load(Ordering::Relaxed) > 0
    }

    /// Waits until all queued jobs are done, or the time is up. Returns true if they were done.
    pub fn wait(&self) -> bool {
        let (sender, receiver) = sync_channel(1);
        self.enqueue(JournalJob::Notify(sender)) && receiver.recv_timeout(WAIT_TIMEOUT).is_ok()
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let running = self.running.lock().take();
        if let Some((sender, thread)) = running {
            drop(sender);
            let _ = thread.join();
        }
    }
}

fn work(journals: &[RootJournal], shared: &WorkerShared, jobs: &Receiver<JournalJob>) {
    for job in jobs {
        match job {
            JournalJob::Keep { journal, text, bounds } => {
                let journal = journals.get(journal);
                let content = Content { version: text.version(), bytes: text.bytes() };
                // The only loss is that later edits cannot be rebased on a text that was not stored.
                let _ = journal.map(|journal| journal.with_database(|database| database.keep(content)));
                shared.waiting.fetch_sub(text.bytes().len(), Ordering::Relaxed);
                if let Some(journal) = journal.filter(|journal| journal.is_untidy(bounds)) {
                    *shared.last_error.lock() = journal.tidy(bounds).err();
                }
            }
            JournalJob::Tidy { journal, bounds } => {
                let result = journals.get(journal).map_or(Ok(()), |journal| journal.tidy(bounds));
                *shared.last_error.lock() = result.err();
                shared.is_tidying.store(false, Ordering::Relaxed);
            }
            JournalJob::Notify(sender) => drop(sender.send(())),
        }
    }
}
