//! The history, through the engine: edits rebased from older versions, repeated, undone and redone.

mod undo;
mod versions;

use std::path::Path;
use std::sync::Arc;

use lockgate_checks::Watch;
use lockgate_edit::Edit;
use lockgate_edit::request::{Direction, Expect, Request, Target, UndoRequest};
use lockgate_engine::{Report, Workspace};
use lockgate_error::Error;
use tempfile::TempDir;

use crate::suite::edits::{self, insertion, lines, search};

/// A workspace over a folder of its own.
struct Fixture {
    dir: TempDir,
    workspace: Arc<Workspace>,
    runtime: tokio::runtime::Runtime,
}

impl Fixture {
    fn new(files: &[(&str, &str)]) -> Fixture {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in files {
            std::fs::create_dir_all(dir.path().join("root")).unwrap();
            std::fs::write(dir.path().join("root").join(name), text).unwrap();
        }
        Fixture::over(dir)
    }

    fn over(dir: TempDir) -> Fixture {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let workspace =
            Workspace::at(&[dir.path().join("root")]).with_state_dir(&dir.path().join("own")).open().unwrap();
        Fixture { dir, workspace, runtime }
    }

    /// As another process would find it, after this change to the folder.
    fn again(self, change: impl FnOnce(&Path)) -> Fixture {
        let Fixture { dir, workspace, runtime } = self;
        drop((workspace, runtime));
        change(dir.path());
        Fixture::over(dir)
    }

    fn text(&self, path: &str) -> String {
        std::fs::read_to_string(self.dir.path().join("root").join(path)).unwrap()
    }

    fn save(&self, path: &str, text: &str) {
        std::fs::write(self.dir.path().join("root").join(path), text).unwrap();
    }

    fn edit(&self, request: Request) -> Result<Report, Error> {
        self.runtime.block_on(self.workspace.edit(request, Watch::idle()))
    }

    fn edit_all(&self, requests: Vec<Request>) -> Result<Vec<Report>, Error> {
        self.runtime.block_on(self.workspace.edit_all(requests, Watch::idle()))
    }

    fn revert(
        &self,
        direction: Direction,
        edit_id: Option<&str>,
        path: Option<&str>,
    ) -> Result<Vec<Report>, Error> {
        let target = path.map(|path| Target::File(path.to_owned()));
        let revert = UndoRequest { target, ..edits::revert(direction, edit_id.map(str::to_owned)) };
        self.runtime.block_on(self.workspace.undo_or_redo(revert, Watch::idle()))
    }

    fn undo(&self, report: &Report) -> Result<Vec<Report>, Error> {
        self.revert(Direction::Undo, Some(&report.edit_id.unwrap().to_string()), None)
    }
}

fn request(path: &str, edit: Edit, expect: Expect) -> Request {
    Request { expect, ..edits::of_file(path, edit) }
}

fn content(path: &str, text: &str) -> Request {
    request(path, edits::content(text), Expect::Anything)
}

fn line(number: usize, text: &str) -> Edit {
    lines(number, number, text)
}

fn version(report: &Report) -> Expect {
    Expect::Version(report.version.unwrap().to_string())
}
