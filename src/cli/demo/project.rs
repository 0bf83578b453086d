//! The sample project of the demo, in a temporary folder.
//!
//! Invariant: nothing outside the new folder is changed. The folder is removed afterwards unless it is to be kept or
//! the process is killed.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

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
    root: PathBuf,
    cleanup: Cleanup,
}

impl DemoProject {
    /// Creates the project in a new temporary folder.
    ///
    /// Errors: `IO_FAILED`.
    pub(super) fn create(cleanup: Cleanup) -> Result<DemoProject, Error> {
        let root = new_folder().map_err(|error| failed("make a temporary folder", &error))?;
        let project = DemoProject { root, cleanup };
        for (path, text) in FILES {
            project.write(path, text).map_err(|error| failed(&format!("write {path}"), &error))?;
        }
        Ok(project)
    }

    /// Returns the folder of the project.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the initial files of the project.
    pub(super) fn files() -> impl Iterator<Item = &'static str> {
        FILES.iter().map(|(path, _)| *path)
    }

    /// Reads the bytes of a file; `None` if it does not exist.
    ///
    /// Errors: `IO_FAILED`.
    pub(super) fn bytes(&self, path: &str) -> Result<Option<Vec<u8>>, Error> {
        match fs::read(self.root.join(path)) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(failed(&format!("read {path}"), &error)),
        }
    }

    /// Returns the state folder of its server, if the project is removed afterwards.
    pub(super) fn state_folder(&self) -> Option<PathBuf> {
        match self.cleanup {
            Cleanup::Keep => None,
            Cleanup::Remove => Some(self.root.with_extension("own")),
        }
    }

    fn write(&self, path: &str, text: &str) -> io::Result<()> {
        let file = self.root.join(path);
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(file, text)
    }
}

impl Drop for DemoProject {
    fn drop(&mut self) {
        if let Some(own) = self.state_folder() {
            // Errors cannot be reported here; the folders lie where the system cleans up.
            drop(fs::remove_dir_all(&self.root));
            drop(fs::remove_dir_all(own));
        }
    }
}

/// Creates a new folder that only its owner can access.
fn new_folder() -> io::Result<PathBuf> {
    let moment = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    let root = std::env::temp_dir().join(format!("lockgate-demo-{}-{moment}", std::process::id()));
    DirBuilder::new().mode(0o700).create(&root)?;
    Ok(root)
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

        drop(DemoProject { root: root.clone(), cleanup: Cleanup::Remove });
        assert!(!root.exists());
    }
}
