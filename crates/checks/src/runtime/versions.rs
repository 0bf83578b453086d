//! A cache of the versions of programs, valid while the program's file stays the same.
//!
//! Invariant: a program that gave no version is asked again.

use parking_lot::Mutex;
use std::ffi::OsStr;
use std::num::NonZeroUsize;
use std::path::Path;

use lru::LruCache;

use super::key_hasher::KeyHasher;
use crate::program_version::version_with_limit;
use lockgate_policy::{CommandSpec, Release};
use lockgate_sandbox::Limit;
use lockgate_text::Version;

/// The maximum number of cached versions.
const MAX_VERSIONS: NonZeroUsize = NonZeroUsize::MIN.saturating_add(63);

/// The versions of programs, by the identity of their files.
#[derive(Debug)]
pub(crate) struct Versions(Mutex<LruCache<Version, Release>>);

impl Default for Versions {
    fn default() -> Versions {
        Versions(Mutex::new(LruCache::new(MAX_VERSIONS)))
    }
}

impl Versions {
    /// Returns the command for the version of this program.
    pub(crate) fn command<'c>(
        &self,
        command: &'c CommandSpec,
        program: &Path,
        search: &OsStr,
        limit: Limit<'_>,
    ) -> &'c CommandSpec {
        match &command.older {
            Some(_) => command.for_release(self.get(command, program, search, limit).as_ref()),
            None => command,
        }
    }

    fn get(
        &self,
        command: &CommandSpec,
        program: &Path,
        search: &OsStr,
        limit: Limit<'_>,
    ) -> Option<Release> {
        let key = key(program)?;
        let mut known = self.0.lock();
        if let Some(release) = known.get(&key) {
            return Some(release.clone());
        }
        drop(known);
        let version = version_with_limit(&command.program.probe, program, search, limit).ok().flatten()?;
        let release = Release::parse(&version)?;
        let mut known = self.0.lock();
        known.put(key, release.clone());
        Some(release)
    }
}

/// Returns a key that identifies a program without reading it.
fn key(program: &Path) -> Option<Version> {
    let mut hasher = KeyHasher::default();
    hasher.file_at(program)?;
    Some(hasher.version())
}
