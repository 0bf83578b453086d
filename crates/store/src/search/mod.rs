//! Searches the files below the roots: lists them, and counts the lines that match a pattern.
//!
//! The matches themselves are not stored. A search returns the first files and the number of their matches;
//! the caller reads these few files again, so that the output shows one state of each.
//!
//! Invariant: a result does not depend on the order in which threads did the work; memory does not grow with
//! the number of matches.

mod clock;
mod dir_state;
mod engine;
mod finder;
mod first;
mod glob;
mod ignores;
mod links;
mod listed;
mod needle;
mod pattern;
mod queue;
mod reader;
mod target;
#[cfg(test)]
mod tests;
mod walk;

pub use clock::{Clock, SearchClock};
pub use engine::MatchReach;
pub use finder::{Finder, SearchEnd};
pub use glob::{SearchGlob, nothing_at};
pub use listed::Hidden;
pub use needle::{Cell, NeedlePiece};
pub use pattern::SearchPattern;
pub use target::{SearchRoots, SearchTarget};
pub use walk::Skipped;

use super::disk::fingerprint::FileFingerprint;
use super::files::Files;
use super::paths::file_location::FileLocation;
use first::FirstEntries;
use lockgate_text::Hints;
use reader::{FileContent, FileReader};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use walk::{File, FileWalk, Visitor};

/// The most files whose matches are counted separately.
pub const MAX_COUNTED_FILES: usize = 50;

/// The limits of a search through files.
#[derive(Clone, Copy)]
pub struct SearchLimits<'a> {
    /// The most results to show.
    pub most: usize,
    /// The largest file that is read, in bytes.
    pub largest: u64,
    /// The deadline of the search.
    pub clock: &'a Clock<'a>,
}

/// The result of a search for a pattern.
#[derive(Debug)]
pub struct Hits {
    /// The first files with matches, in the order of their paths, each with its number of matches: enough
    /// files for the results to show.
    pub files: Vec<(FileLocation, usize)>,
    /// The first [`MAX_COUNTED_FILES`] files with matches, however many results there are to show.
    pub counted: Vec<(FileLocation, usize)>,
    /// The number of matches in all files.
    pub total: usize,
    /// The number of searched files.
    pub searched: usize,
    /// The files and folders that could not be searched.
    pub skipped: Skipped,
}

/// The result of listing files, each with its size in bytes or its fingerprint.
#[derive(Debug)]
pub struct FoundFiles<T> {
    /// The files, in the order of their paths.
    pub files: Vec<(FileLocation, T)>,
    /// Set when there may be more.
    pub is_cut: bool,
    /// The files and folders that could not be read.
    pub skipped: Skipped,
}

impl Files {
    /// Searches the files below some folders.
    pub fn search(
        &self,
        below: &SearchRoots,
        pattern: &SearchPattern,
        hidden: Hidden,
        bounds: SearchLimits<'_>,
    ) -> Hits {
        let clock = bounds.clock;
        let new_visitor = || FileSearcher {
            files: self,
            clock,
            largest: bounds.largest,
            finder: Finder::new(pattern),
            reader: FileReader::default(),
            first: FirstEntries::new(bounds.most),
            counted: FirstEntries::new(MAX_COUNTED_FILES),
            total: 0,
            searched: 0,
        };
        let (visitors, skipped) = FileWalk::new(&self.roots, below, hidden, bounds.clock).run(new_visitor);
        let (mut first, mut total, mut searched) = (FirstEntries::new(bounds.most), 0, 0);
        let mut counted = FirstEntries::new(MAX_COUNTED_FILES);
        for visitor in visitors {
            first.join(visitor.first);
            counted.join(visitor.counted);
            total += visitor.total;
            searched += visitor.searched;
        }
        let files = first.into_first().map(|(count, place)| (place, count)).collect();
        let counted = counted.into_first().map(|(_, file)| file).collect();
        Hits { files, counted, total, searched, skipped }
    }

    /// Lists the files below some folders: the first ones in the order of their paths, each with its size in bytes.
    pub fn find(&self, below: &SearchRoots, hidden: Hidden, bounds: SearchLimits<'_>) -> FoundFiles<u64> {
        let new_visitor = || Lister { first: FirstEntries::new(bounds.most), count: 0 };
        let (visitors, skipped) = FileWalk::new(&self.roots, below, hidden, bounds.clock).run(new_visitor);
        let (mut first, mut count) = (FirstEntries::new(bounds.most), 0);
        for visitor in visitors {
            first.join(visitor.first);
            count += visitor.count;
        }
        let files: Vec<(FileLocation, u64)> = first.into_first().map(|(_, file)| file).collect();
        FoundFiles { is_cut: count > files.len() || bounds.clock.is_stopped(), files, skipped }
    }

    /// Returns the files below some folders, in the order of their paths, each with its fingerprint. At most
    /// `bounds.most` are returned, the first that are found.
    pub fn survey(
        &self,
        below: &SearchRoots,
        hidden: Hidden,
        bounds: SearchLimits<'_>,
    ) -> FoundFiles<FileFingerprint> {
        let remaining = AtomicUsize::new(bounds.most);
        let new_visitor = || Surveyor { left: &remaining, files: Vec::new(), is_cut: false };
        let (visitors, skipped) = FileWalk::new(&self.roots, below, hidden, bounds.clock).run(new_visitor);
        let is_cut = bounds.clock.is_stopped() || visitors.iter().any(|visitor| visitor.is_cut);
        let mut files: Vec<(FileLocation, FileFingerprint)> =
            visitors.into_iter().flat_map(|visitor| visitor.files).collect();
        files.sort_unstable_by(|(one, _), (other, _)| one.shown().cmp(other.shown()));
        FoundFiles { files, is_cut, skipped }
    }
}

/// Collects the files of one thread with their fingerprints.
struct Surveyor<'a> {
    left: &'a AtomicUsize,
    files: Vec<(FileLocation, FileFingerprint)>,
    is_cut: bool,
}

impl Visitor for Surveyor<'_> {
    fn take(&mut self, file: &File<'_>, skipped: &mut Skipped) {
        let Some(stat) = readable(file.stat(), skipped) else { return };
        let result = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        self.is_cut |= result.is_err();
        if result.is_ok() {
            self.files.extend(file.place().map(|place| (place, FileFingerprint::from_stat(&stat))));
        }
    }
}

/// Searches the files of one thread.
struct FileSearcher<'a> {
    files: &'a Files,
    clock: &'a Clock<'a>,
    largest: u64,
    finder: Finder<'a>,
    reader: FileReader,
    first: FirstEntries<FileLocation>,
    counted: FirstEntries<(FileLocation, usize)>,
    total: usize,
    searched: usize,
}

impl Visitor for FileSearcher<'_> {
    fn take(&mut self, file: &File<'_>, skipped: &mut Skipped) {
        let Some(count) = self.count(file, skipped) else { return };
        self.searched += 1;
        if count == 0 {
            return;
        }
        self.total += count;
        let key = (file.dir_state.root, file.dir_state.join(file.name));
        self.counted.put(key.clone(), 1, || Some((file.place()?, count)));
        self.first.put(key, count, || file.place());
    }
}

impl FileSearcher<'_> {
    /// The number of matches in a file; `None` if it is binary, or may not or could not be searched.
    fn count(&mut self, file: &File<'_>, skipped: &mut Skipped) -> Option<usize> {
        let (open, stat) = readable(file.open(), skipped)?;
        let hints = || match file.place() {
            Some(place) if file.dir_state.has_editorconfig => self.files.hints(&place),
            Some(_) | None => Hints::default(),
        };
        let read = self.reader.read(&open, &stat, self.largest, hints).map(Some);
        let read = readable(read, skipped)?;
        let text = match &read {
            FileContent::Text(text) => text,
            FileContent::Decoded(buffer) => buffer.view().as_bytes(),
            FileContent::Binary => return None,
            FileContent::Large => {
                skipped.large += 1;
                return None;
            }
        };
        let mut count = 0;
        let end = self.finder.each(text, self.clock, |_| {
            count += 1;
            ControlFlow::Continue(())
        });
        // Matches that were counted before the deadline count.
        if end == SearchEnd::Slow {
            skipped.slow += 1;
            return None;
        }
        (count == 0 || !reader::is_binary(text)).then_some(count)
    }
}

/// Returns the result of reading a file; counts one that the system did not let be read.
fn readable<T>(result: rustix::io::Result<Option<T>>, skipped: &mut Skipped) -> Option<T> {
    result.unwrap_or_else(|_| {
        skipped.unreadable += 1;
        None
    })
}

/// Lists the files of one thread.
struct Lister {
    first: FirstEntries<(FileLocation, u64)>,
    count: usize,
}

impl Visitor for Lister {
    fn take(&mut self, file: &File<'_>, skipped: &mut Skipped) {
        let Some(stat) = readable(file.stat(), skipped) else { return };
        self.count += 1;
        let key = (file.dir_state.root, file.dir_state.join(file.name));
        self.first.put(key, 1, || Some((file.place()?, u64::try_from(stat.st_size).unwrap_or(0))));
    }
}
