//! The files of a project as a call would leave them, and the packages that they declare.

use std::path::Path;

use crate::command::{ProgramInput, project};
use crate::finding::sanitize;
use crate::regular;

/// The largest part of a manifest or lock file that is read, in bytes.
const MAX_READ: u64 = 1 << 20;

/// A package that is declared and not installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Uninstalled {
    /// The package's name in the manifest.
    pub(super) package: String,
    /// The manifest that declares it, relative to the root.
    pub(super) manifest: String,
    /// The command that installs it.
    pub(super) install: String,
    /// The folder to run that command in, relative to the root.
    pub(super) folder: String,
}

impl Uninstalled {
    pub(super) fn describe(&self) -> String {
        let Uninstalled { package, manifest, install, folder } = self;
        let place = if folder.is_empty() { String::new() } else { format!(" in {folder}") };
        sanitize(&format!(
            "{manifest} declares {package}, which is not installed: run `{install}`{place}, then retry"
        ))
    }
}

/// The files of the project as the call would leave them.
pub(super) struct DraftFiles<'a> {
    pub(super) input: &'a ProgramInput<'a>,
}

impl DraftFiles<'_> {
    /// The folders from a file's own up to the root, relative to the root.
    pub(super) fn above<'p>(&self, path: &'p str) -> impl Iterator<Item = &'p str> + use<'p> {
        project::folders_above(path)
    }

    pub(super) fn root(&self) -> &Path {
        self.input.root
    }

    /// Returns the text of a file, from its draft if the call has one.
    pub(super) fn text(&self, path: &str) -> Option<String> {
        if let Some(draft) = self.input.overlays.iter().find(|other| other.path == path) {
            return draft.text.map(|text| text.view().to_owned());
        }
        String::from_utf8(regular::read(&self.root().join(path), MAX_READ).ok()?).ok()
    }

    pub(super) fn exists(&self, path: &str) -> bool {
        self.root().join(path).exists()
    }

    /// Returns the nearest folder, from this one up to the root, that has one of these files, with the value
    /// of that file.
    pub(super) fn nearest<T: Copy>(&self, folder: &str, files: &[(&str, T)]) -> Option<(String, T)> {
        let own = join(folder, "x");
        let mut folders = self.above(&own);
        folders.find_map(|folder| {
            let (_, value) = files.iter().find(|(name, _)| self.exists(&join(folder, name)))?;
            Some((folder.to_owned(), *value))
        })
    }
}

pub(super) fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}
