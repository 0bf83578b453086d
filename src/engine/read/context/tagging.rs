//! Reading many files side by side.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};

use super::super::super::Workspace;
use crate::context::{TagReader, Tags, reading};
use crate::gate::Watch;
use crate::policy::language_of;
use crate::store::{FileFingerprint, FilePlace};
use crate::text::Version;

/// Readers at work, at least and at most.
const READERS: std::ops::RangeInclusive<usize> = 2..=8;
/// Files that were read and are not yet kept.
const WAITING: usize = 32;

/// A file that was to be read.
pub(super) struct ReadFile {
    /// What tells from now on that it is as it was; nothing where that cannot be told.
    pub(super) facts: Option<FileFingerprint>,
    /// What became of it.
    pub(super) became: Became,
}

/// What became of a file that was to be read.
pub(super) enum Became {
    /// It is the version that was known.
    Same,
    /// It is another, and says this.
    Tags(Version, Box<Tags>),
    /// It may not be read, is not there any more, or says nothing that could be understood.
    Nothing,
}

impl Workspace {
    /// Reads files, each of which is known at a version or not at all, and gives what became of each, in any order; until
    /// the caller has gone.
    pub(super) fn tag_all<'f>(
        &self,
        files: &[&'f FilePlace],
        versions: &[Option<Version>],
        watch: &Watch,
        mut done: impl FnMut(&'f FilePlace, ReadFile),
    ) {
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        let readers = cores.clamp(*READERS.start(), *READERS.end()).min(files.len());
        let next = AtomicUsize::new(0);
        let (sender, receiver) = sync_channel(WAITING);
        std::thread::scope(|scope| {
            for _ in 0..readers {
                let (sender, next) = (sender.clone(), &next);
                let read = move || {
                    let work = |reader: &TagReader<'_>| {
                        self.read_some(reader, (files, versions), next, watch, &sender)
                    };
                    if let Err(why) = reading(work) {
                        tracing::warn!(%why, "a reader of the index gave up");
                    }
                };
                if let Err(why) = std::thread::Builder::new().spawn_scoped(scope, read) {
                    tracing::warn!(%why, "a reader of the index could not be started");
                }
            }
            drop(sender);
            for (at, read) in receiver {
                if let Some(file) = files.get(at) {
                    done(file, read);
                }
            }
        });
    }

    /// Reads one file after the other of those that no other reader has taken.
    fn read_some(
        &self,
        reader: &TagReader<'_>,
        (files, versions): (&[&FilePlace], &[Option<Version>]),
        next: &AtomicUsize,
        watch: &Watch,
        sender: &SyncSender<(usize, ReadFile)>,
    ) {
        while !watch.cancelled() {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(file) = files.get(at) else { return };
            let read = self.read_one(reader, file, versions.get(at).copied().flatten());
            if sender.send((at, read)).is_err() {
                return;
            }
        }
    }

    fn read_one(&self, reader: &TagReader<'_>, place: &FilePlace, known: Option<Version>) -> ReadFile {
        let Ok((text, facts)) = self.text_of(place) else {
            return ReadFile { facts: None, became: Became::Nothing };
        };
        let became = match text {
            Some(text) if known == Some(text.stamp()) => Became::Same,
            Some(text) => {
                let language = language_of(place.in_root(), text.view().lines().next());
                let tags = language.and_then(|it| reader.tags(&it.name, place.in_root(), text.view()));
                tags.map_or(Became::Nothing, |tags| Became::Tags(text.stamp(), Box::new(tags)))
            }
            None => Became::Nothing,
        };
        ReadFile { facts, became }
    }
}
