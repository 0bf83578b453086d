//! The sample project of the demo, in a temporary folder.
//!
//! Invariant: nothing outside the new folder is changed. The folder is removed afterwards unless it is to be kept or
//! the process is killed.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use tempfile::TempDir;

use lockgate_error::{Code, Error};

/// The files of the project: path and text.
const FILES: [(&str, &str); 8] = [
    ("README.md", include_str!("project/README.md")),
    ("cmd/stockd/main.go", include_str!("project/cmd/stockd/main.go")),
    ("pricing/quality.yaml", include_str!("project/pricing/quality.yaml")),
    ("pricing/rates.py", include_str!("project/pricing/rates.py")),
    ("pricing/round.go", include_str!("project/pricing/round.go")),
    ("pricing/total.py", include_str!("project/pricing/total.py")),
    ("stock/__init__.py", include_str!("project/stock/__init__.py")),
    ("stock/inventory.py", include_str!("project/stock/inventory.py")),
];

/// Selects whether the folder is removed after the demo.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cleanup {
    Remove,
    Keep,
}

/// A sample project in its own folder.
#[derive(Debug)]
#[must_use = "the folder is removed when this is dropped"]
pub(super) struct DemoProject {
    folder: TempDir,
    /// The folder for the state and the caches of its server, if the project is removed afterwards.
    own: Option<TempDir>,
}

impl DemoProject {
    /// Creates the project in a new temporary folder.
    ///
    /// Errors: `IO_FAILED`.
    pub(super) fn create(cleanup: Cleanup) -> Result<DemoProject, Error> {
        let io = |error| failed("make a temporary folder", &error);
        let folder = new_folder(cleanup).map_err(io)?;
        let own = match cleanup {
            Cleanup::Keep => None,
            Cleanup::Remove => Some(new_folder(cleanup).map_err(io)?),
        };
        let project = DemoProject { folder, own };
        for (path, text) in FILES {
            project.write(path, text).map_err(|error| failed(&format!("write {path}"), &error))?;
        }
        Ok(project)
    }

    /// Returns the folder of the project.
    pub(super) fn root(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the initial files of the project.
    pub(super) fn files() -> impl Iterator<Item = &'static str> {
        FILES.iter().map(|(path, _)| *path)
    }

    /// Reads the bytes of a file; `None` if it does not exist.
    ///
    /// Errors: `IO_FAILED`.
    pub(super) fn bytes(&self, path: &str) -> Result<Option<Vec<u8>>, Error> {
        match fs::read(self.root().join(path)) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(failed(&format!("read {path}"), &error)),
        }
    }

    /// Returns the state folder of its server, if the project is removed afterwards.
    pub(super) fn state_folder(&self) -> Option<&Path> {
        self.own.as_ref().map(TempDir::path)
    }

    fn write(&self, path: &str, text: &str) -> io::Result<()> {
        let file = self.root().join(path);
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(file, text)
    }
}

/// Creates a new folder that only its owner can access.
fn new_folder(cleanup: Cleanup) -> io::Result<TempDir> {
    tempfile::Builder::new()
        .prefix("lockgate-demo-")
        .permissions(Permissions::from_mode(0o700))
        .disable_cleanup(cleanup == Cleanup::Keep)
        .tempdir()
}

fn failed(action: &str, error: &io::Error) -> Error {
    Error::new(Code::IoFailed, format!("cannot {action}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_is_gone_afterwards_unless_kept() {
        let project = DemoProject::create(Cleanup::Keep).unwrap();
        let root = project.root().to_owned();
        drop(project);
        assert!(root.join("README.md").exists());

        fs::remove_dir_all(root).unwrap();

        let project = DemoProject::create(Cleanup::Remove).unwrap();
        let folders = [project.root(), project.state_folder().unwrap()].map(Path::to_owned);
        assert!(folders.iter().all(|folder| folder.exists()));
        drop(project);
        assert!(!folders.iter().any(|folder| folder.exists()));
    }
}
