//! The fixture that the tests of this crate share.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use super::Workspace;
use super::services::Services;

/// A root in a temporary folder, and its services.
pub(super) struct Fixture {
    dir: tempfile::TempDir,
    pub(super) services: Arc<Services>,
}

impl Fixture {
    /// A root with these files.
    pub(super) fn new(files: &[(&str, &str)]) -> Fixture {
        let dir = tempfile::tempdir().unwrap();
        let (root, own) = (dir.path().join("root"), dir.path().join("own"));
        fs::create_dir(&root).unwrap();
        files.iter().for_each(|(path, text)| fs::write(root.join(path), text).unwrap());
        let services = Workspace::at(&[root]).with_state_dir(&own).services().unwrap();
        Fixture { dir, services }
    }

    pub(super) fn root(&self) -> PathBuf {
        self.dir.path().join("root")
    }

    /// The folder of lockgate's state.
    pub(super) fn own(&self) -> PathBuf {
        self.dir.path().join("own")
    }

    pub(super) fn write(&self, path: &str, text: &str) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}
