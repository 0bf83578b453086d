//! The parts of a cache key.

use std::fs::Metadata;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use lockgate_text::Version;

/// Collects the parts of a key; the length of each separates it from the next.
#[derive(Debug, Default)]
pub(super) struct KeyHasher(Vec<u8>);

impl KeyHasher {
    pub(super) fn add(&mut self, part: &[u8]) {
        self.0.extend(part.len().to_le_bytes());
        self.0.extend(part);
    }

    pub(super) fn add_version(&mut self, version: Version) {
        self.add(version.hex().as_bytes());
    }

    /// Adds the metadata that distinguishes versions of a file, without reading it.
    pub(super) fn file(&mut self, found: &Metadata) {
        self.add(&found.dev().to_le_bytes());
        self.add(&found.ino().to_le_bytes());
        self.add(&found.size().to_le_bytes());
        for time in [found.mtime(), found.mtime_nsec(), found.ctime(), found.ctime_nsec()] {
            self.add(&time.to_le_bytes());
        }
    }

    /// Adds a path and the metadata of the file there; `None` if these cannot be read.
    pub(super) fn file_at(&mut self, path: &Path) -> Option<()> {
        self.add(path.as_os_str().as_bytes());
        self.file(&std::fs::metadata(path).ok()?);
        Some(())
    }

    pub(super) fn version(&self) -> Version {
        Version::hash(&self.0)
    }
}
