//! Reads and tags many files in parallel.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};

use super::super::super::services::Services;
use lockgate_checks::Watch;
use lockgate_context::{TagReader, Tags, reading};
use lockgate_policy::language_of;
use lockgate_store::{FileFingerprint, FileLocation};
use lockgate_text::Version;

/// The least and most number of reader threads.
const READERS: std::ops::RangeInclusive<usize> = 2..=8;
/// The capacity of the queue between readers and the index.
const QUEUE_LENGTH: usize = 32;

/// The result for one file.
pub(super) struct ReadFile {
    /// The fingerprint that proves the file unchanged later; `None` if there is none.
    pub(super) fingerprint: Option<FileFingerprint>,
    /// The tags of the file, if they changed.
    pub(super) result: TagResult,
}

/// The tags of a file that was read.
pub(super) enum TagResult {
    /// The file has the known version.
    Same,
    /// The file has another version, with these tags.
    Tags(Version, Box<Tags>),
    /// The file is not readable, no longer exists, or has no tags.
    Nothing,
}

impl Services {
    /// Reads files, each with its known version if any, and returns the results in any order. Stops when the
    /// caller has gone.
    pub(super) fn tag_all<'f>(
        &self,
        files: &[(&'f FileLocation, Option<Version>)],
        watch: &Watch,
        mut done: impl FnMut(&'f FileLocation, ReadFile),
    ) {
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        let readers = cores.clamp(*READERS.start(), *READERS.end()).min(files.len());
        let next = AtomicUsize::new(0);
        let (sender, receiver) = sync_channel(QUEUE_LENGTH);
        std::thread::scope(|scope| {
            for _ in 0..readers {
                let (sender, next) = (sender.clone(), &next);
                let read = move || {
                    let work = |reader: &TagReader<'_>| self.read_some(reader, files, next, watch, &sender);
                    if let Err(why) = reading(work) {
                        tracing::warn!(%why, "an indexing thread stopped");
                    }
                };
                if let Err(why) = std::thread::Builder::new().spawn_scoped(scope, read) {
                    tracing::warn!(%why, "an indexing thread could not be started");
                }
            }
            drop(sender);
            for (at, read) in receiver {
                if let Some((file, _)) = files.get(at) {
                    done(file, read);
                }
            }
        });
    }

    /// Reads files one by one from those that no other reader has taken.
    fn read_some(
        &self,
        reader: &TagReader<'_>,
        files: &[(&FileLocation, Option<Version>)],
        next: &AtomicUsize,
        watch: &Watch,
        sender: &SyncSender<(usize, ReadFile)>,
    ) {
        while !watch.cancelled() {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some((file, known)) = files.get(at) else { return };
            let read = self.read_one(reader, file, *known);
            if sender.send((at, read)).is_err() {
                return;
            }
        }
    }

    fn read_one(&self, reader: &TagReader<'_>, place: &FileLocation, known: Option<Version>) -> ReadFile {
        let Ok((text, fingerprint)) = self.read_text(place) else {
            return ReadFile { fingerprint: None, result: TagResult::Nothing };
        };
        let became = match text {
            Some(text) if known == Some(text.version()) => TagResult::Same,
            Some(text) => {
                let language = language_of(place.in_root(), text.view().lines().next());
                let tags = language.and_then(|it| reader.tags(&it.name, place.in_root(), text.view()));
                tags.map_or(TagResult::Nothing, |tags| TagResult::Tags(text.version(), Box::new(tags)))
            }
            None => TagResult::Nothing,
        };
        ReadFile { fingerprint, result: became }
    }
}
