//! Lists the files of a workspace, with the fingerprints that show if each has changed.

use std::time::{Duration, Instant};

use super::super::super::services::{Services, cancelled};
use super::super::results::skipped_notes;
use super::{CodeIndex, MAX_FILE_BYTES};
use lockgate_checks::Watch;
use lockgate_context::{project, reads};
use lockgate_edit::request::EntityKind;
use lockgate_error::Error;
use lockgate_policy::language_of;
use lockgate_protocol::ContextProject;
use lockgate_store::{Clock, FileFingerprint, FileLocation, FoundFiles, Hidden, SearchLimits};

/// The most files that are listed and indexed, and the most bytes of all indexed files.
const MAX_FILES: usize = 200_000;
const MAX_INDEXED: usize = 50_000;
const MAX_BYTES: u64 = 1 << 30;
/// The time limit for listing files; files found until then are used.
const TIMEOUT: Duration = Duration::from_secs(20);

/// The files of a workspace.
#[derive(Debug)]
pub(super) struct WorkspaceFiles {
    /// The files that can be indexed.
    pub(super) files: Vec<(FileLocation, FileFingerprint)>,
    /// Set when there may be more files.
    pub(super) is_truncated: bool,
    /// The paths of all files, each with the length of its root prefix.
    paths: Vec<(usize, String)>,
    notes: Vec<String>,
}

impl Services {
    /// Lists the files, without ignored, hidden and protected ones.
    ///
    /// Errors: `INTERNAL` if the caller has gone.
    pub(super) fn survey_all(&self, watch: &Watch) -> Result<WorkspaceFiles, Error> {
        // The caller sees the progress of reading the files, not of finding them.
        let caller = || watch.cancelled();
        let clock = Clock::new(Instant::now() + TIMEOUT, &caller);
        let bounds = SearchLimits { most: MAX_FILES, largest: MAX_FILE_BYTES, clock: &clock };
        let file_list = self.store.files.survey(&self.store.files.with_prefix("")?, Hidden::Excluded, bounds);
        if watch.cancelled() { Err(cancelled(watch)) } else { Ok(WorkspaceFiles::new(file_list)) }
    }
}

impl WorkspaceFiles {
    fn new(found: FoundFiles<FileFingerprint>) -> WorkspaceFiles {
        let FoundFiles { files, is_cut: is_truncated, skipped } = found;
        let root = |place: &FileLocation| place.shown().len().saturating_sub(place.in_root().len());
        let paths = files.iter().map(|(place, _)| (root(place), place.shown().to_owned())).collect();
        let (mut indexed, mut bytes, mut large, mut beyond) = (Vec::new(), 0, 0, 0);
        for (place, fingerprint) in files {
            if language_of(place.shown(), None).is_none_or(|language| !reads(&language.name)) {
                continue;
            }
            if fingerprint.size() > MAX_FILE_BYTES {
                large += 1;
            } else if indexed.len() >= MAX_INDEXED || bytes + fingerprint.size() > MAX_BYTES {
                beyond += 1;
            } else {
                bytes += fingerprint.size();
                indexed.push((place, fingerprint));
            }
        }
        let mut notes = skipped_notes(&skipped, MAX_FILE_BYTES, EntityKind::FILE);
        notes.extend(
            (large > 0).then(|| format!("number of files over 1 MiB, which are not indexed: {large}")),
        );
        notes.extend((beyond > 0).then(|| {
            format!("number of files beyond the limits of the index, which are not indexed: {beyond}")
        }));
        notes.extend(
            is_truncated.then(|| "some files are missing, because listing them timed out".to_owned()),
        );
        WorkspaceFiles { files: indexed, is_truncated, paths, notes }
    }

    /// Returns the project summary of these files.
    pub(super) fn project(&self) -> ContextProject {
        project(self.paths.iter().map(|(root, path)| (*root, path.as_str())))
    }

    /// Returns notes on the files that were not listed or not indexed.
    pub(super) fn notes(&self, indexed: Option<&CodeIndex>) -> Vec<String> {
        let parts = indexed.map_or(0, |indexed| indexed.index.incomplete_files().count());
        let part = format!(
            "number of files that are indexed only in part, because they are too large or nest too deep: {parts}"
        );
        self.notes.iter().cloned().chain((parts > 0).then_some(part)).collect()
    }
}
