//! The commands of a policy at one moment, which a person may trust.

use std::path::{Path, PathBuf};

use lockgate_checks::ResolvedPrograms;
use lockgate_store::{PolicyFile, RecordSubject};
use lockgate_text::Version;

/// The commands of a policy at one moment.
#[derive(Debug, Clone)]
pub struct Commands {
    /// The real path of the root.
    pub root: PathBuf,
    /// The policy's file and those above it, the nearest first; none for the built-in policy.
    pub files: Vec<PolicyFile>,
    /// The hash of the policy, with all that it includes.
    pub version: Version,
    /// The resolved programs of its commands.
    pub programs: ResolvedPrograms,
}

impl Commands {
    /// Returns the display name of the policy.
    pub fn describe(&self) -> &str {
        self.files.first().map_or("the built-in policy", |file| file.name.as_str())
    }

    pub(super) fn subject(&self) -> RecordSubject {
        subject(&self.root, &self.files)
    }
}

/// Returns the subject of the trust record of a policy, by its root and its files.
pub(super) fn subject(root: &Path, files: &[PolicyFile]) -> RecordSubject {
    RecordSubject::new(root, files.first().map_or("", |file| file.name.as_str()))
}
