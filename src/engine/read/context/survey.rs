//! Lists the files of a workspace, with the fingerprints that show if each has changed.

use std::time::{Duration, Instant};

use super::super::super::Workspace;
use super::super::super::check::cancelled;
use super::super::search::passed_over;
use super::{Indexed, LONGEST_FILE};
use crate::context::{ProjectSummary, project, reads};
use crate::error::Error;
use crate::gate::Watch;
use crate::policy::language_of;
use crate::request::EntityKind;
use crate::store::{Clock, FileFingerprint, FileList, FilePlace, Hidden, SearchBounds, SearchClock};

/// The most files that are listed and indexed, and the most bytes of all indexed files.
const MOST_FILES: usize = 200_000;
const MOST_INDEXED: usize = 50_000;
const MOST_BYTES: u64 = 1 << 30;
/// The time limit for listing files; files found until then are used.
const LONGEST: Duration = Duration::from_secs(20);

/// The files of a workspace.
#[derive(Debug)]
pub(super) struct WorkspaceFiles {
    /// The files that can be indexed.
    pub(super) files: Vec<(FilePlace, FileFingerprint)>,
    /// Set when there may be more files.
    pub(super) is_cut: bool,
    /// The paths of all files, each with the length of its root prefix.
    all: Vec<(usize, String)>,
    notes: Vec<String>,
}

/// Reports the files that are read to the caller, but not those that are only found.
struct ReadListener<'w>(&'w Watch);

impl SearchClock for ReadListener<'_> {
    fn has_left(&self) -> bool {
        self.0.cancelled()
    }

    fn hears(&self, _: usize, _: usize) {}
}

impl Workspace {
    /// Lists the files, without ignored, hidden and protected ones.
    ///
    /// Errors: `INTERNAL` if the caller has gone.
    pub(super) fn survey_all(&self, watch: &Watch) -> Result<WorkspaceFiles, Error> {
        let caller = ReadListener(watch);
        let clock = Clock::new(Instant::now() + LONGEST, &caller);
        let bounds = SearchBounds { most: MOST_FILES, largest: LONGEST_FILE, clock: &clock };
        let surveyed = self.store.files.survey(&self.store.files.beginning("")?, Hidden::LeftOut, bounds);
        if watch.cancelled() { Err(cancelled()) } else { Ok(WorkspaceFiles::new(surveyed)) }
    }
}

impl WorkspaceFiles {
    fn new(surveyed: FileList) -> WorkspaceFiles {
        let FileList { files, is_cut, passed } = surveyed;
        let root = |place: &FilePlace| place.shown().len().saturating_sub(place.in_root().len());
        let all = files.iter().map(|(place, _)| (root(place), place.shown().to_owned())).collect();
        let (mut kept, mut bytes, mut large, mut beyond) = (Vec::new(), 0, 0, 0);
        for (place, facts) in files {
            if language_of(place.shown(), None).is_none_or(|language| !reads(&language.name)) {
                continue;
            }
            if facts.size() > LONGEST_FILE {
                large += 1;
            } else if kept.len() >= MOST_INDEXED || bytes + facts.size() > MOST_BYTES {
                beyond += 1;
            } else {
                bytes += facts.size();
                kept.push((place, facts));
            }
        }
        let mut notes = passed_over(&passed, LONGEST_FILE, EntityKind::FILE);
        notes.extend((large > 0).then(|| format!("files over 1 MiB are not looked at: {large}")));
        notes
            .extend((beyond > 0).then(|| format!("files beyond {MOST_INDEXED} are not looked at: {beyond}")));
        notes.extend(is_cut.then(|| "there are more files than were found in time".to_owned()));
        WorkspaceFiles { files: kept, is_cut, all, notes }
    }

    /// Returns the project summary of these files.
    pub(super) fn project(&self) -> ProjectSummary {
        project(self.all.iter().map(|(root, path)| (*root, path.as_str())))
    }

    /// Returns notes on the files that were not listed or not indexed.
    pub(super) fn notes(&self, indexed: Option<&Indexed>) -> Vec<String> {
        let parts = indexed.map_or(0, |indexed| indexed.index.parts().count());
        let part = format!(
            "not all of what these files say is known, as they are too large or nest too deep: {parts}"
        );
        self.notes.iter().cloned().chain((parts > 0).then_some(part)).collect()
    }
}
