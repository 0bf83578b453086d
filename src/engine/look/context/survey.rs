//! Which files there are, and what the system says of each.

use super::super::super::Workspace;
use super::super::super::check::cancelled;
use super::{Indexed, LONGEST_FILE};
use crate::context::{Project, project, reads};
use crate::error::Error;
use crate::gate::Watch;
use crate::policy::language_of;
use crate::store::{Files, Mark};

/// Files that are indexed at most, and the bytes of all of them together.
const MOST_FILES: usize = 50_000;
const MOST_BYTES: u64 = 1 << 30;

/// The files of a workspace.
#[derive(Debug, Default)]
pub(super) struct Survey {
    /// Those that can be indexed.
    pub(super) files: Vec<Surveyed>,
    /// The paths of all, each with how many bytes of it name its root.
    all: Vec<(usize, String)>,
    /// How many could be indexed but are longer than is read, and beyond the number that is kept.
    too_long: usize,
    too_many: usize,
}

/// A file as it is now.
#[derive(Debug)]
pub(super) struct Surveyed {
    /// Its path as a caller would name it.
    pub(super) path: String,
    /// What the system says of it.
    pub(super) mark: Mark,
}

/// The files of a root that are looked at: what git would pass over is not, and nothing that is hidden.
fn walk(files: &Files, root: usize, _watch: &Watch) -> Result<Vec<String>, Error> {
    let mut listed = files.list(root, "")?.files;
    listed.retain(|path| !path.split('/').any(|name| name.starts_with('.')));
    Ok(listed)
}

impl Workspace {
    /// Looks which files there are.
    pub(super) fn look_around(&self, watch: &Watch) -> Result<Survey, Error> {
        let mut survey = Survey::default();
        let mut bytes = 0;
        for root in 0..self.files.root_paths().len() {
            if watch.cancelled() {
                return Err(cancelled());
            }
            let below = walk(&self.files, root, watch)?;
            let marks = self.files.marks(root, &below);
            for (path, mark) in below.into_iter().zip(marks) {
                let Some(mark) = mark else { continue };
                let Ok(shown) = self.files.named(root, &path) else { continue };
                survey.add(shown, path.len(), mark, &mut bytes);
            }
        }
        Ok(survey)
    }
}

impl Survey {
    fn add(&mut self, path: String, below: usize, mark: Mark, bytes: &mut u64) {
        let language = language_of(&path, None).filter(|language| reads(&language.name));
        self.all.push((path.len() - below, path.clone()));
        if language.is_none() {
            return;
        }
        if mark.size() > LONGEST_FILE {
            self.too_long += 1;
        } else if self.files.len() >= MOST_FILES || *bytes + mark.size() > MOST_BYTES {
            self.too_many += 1;
        } else {
            *bytes += mark.size();
            self.files.push(Surveyed { path, mark });
        }
    }

    /// The shape of the project that they are.
    pub(super) fn project(&self) -> Project {
        project(self.all.iter().map(|(root, path)| (*root, path.as_str())))
    }

    /// What a caller should know of what is not in the index.
    pub(super) fn notes(&self, indexed: &Indexed) -> Vec<String> {
        let parts = indexed.index.parts().count();
        let told = [
            (self.too_long, format!("{} files over 1 MiB are not looked at", self.too_long)),
            (self.too_many, format!("{} files beyond {MOST_FILES} are not looked at", self.too_many)),
            (parts, format!("in {parts} files not every use is known: they are too large, or nest too deep")),
        ];
        told.into_iter().filter(|(count, _)| *count > 0).map(|(_, note)| note).collect()
    }
}
