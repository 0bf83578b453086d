//! Files as they are, judged against their text at a revision: what an audit says of a project.
//!
//! All files that differ from the revision are judged together, as the edits of one call are. Only what is new counts, as
//! it does for an edit; where there is no revision to compare with, everything is new.
//!
//! Invariant: nothing is written below a root, and no file is judged that was not read through its root.

mod dress;
mod judge;
mod merge;
mod survey;

use std::path::PathBuf;
use std::sync::Arc;

use super::Workspace;
use super::check::cancelled;
use crate::error::{Code, Error};
use crate::gate::{Verdict, Watch};
use crate::store::{ListedPath, PathKind, relative};
use crate::text::Buffer;

/// Which files are audited, and against what.
#[derive(Debug, Clone, Default)]
pub struct AuditTarget {
    /// Files and folders; all that the roots hold, where nobody names any.
    pub paths: Option<Vec<String>>,
    /// The revision that they are compared with; without one, HEAD.
    pub base: Option<String>,
}

/// What was found.
#[derive(Debug, Default)]
pub struct Audit {
    /// Where the files lie, one for each root that was looked at.
    pub grounds: Vec<AuditRoot>,
    /// The files that were judged, in the order of their paths.
    pub files: Vec<Checked>,
    /// How many files are as they were.
    pub unchanged: usize,
    /// How many files are there no more.
    pub deleted: usize,
    /// What could not be judged.
    pub passed_over: Vec<SkippedFile>,
}

/// A root, and what its files were compared with.
#[derive(Debug)]
pub struct AuditRoot {
    /// The number of the root in the workspace.
    pub root: usize,
    /// The folder that results are told relative to: the top of the repository, else the root.
    pub top: PathBuf,
    /// The path from there to the root; empty where they are the same.
    pub prefix: String,
    /// The folder below the first root that paths are told from.
    pub told_from: String,
    /// What its files were compared with.
    pub base: CheckBase,
}

/// What files are compared with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CheckBase {
    /// A revision, as it was named, and its hash.
    Revision(String, String),
    /// A repository without any commit: everything is new.
    Unborn,
    /// Nothing, as there is no repository: everything is new.
    Nothing,
}

impl AuditRoot {
    /// A path below the root as a caller would name it.
    pub fn told(&self, path: &str) -> String {
        if self.root == 0 {
            return relative(&self.told_from, path);
        }
        format!("{}/{}", self.top.display(), self.below(path))
    }

    /// A path below the root, relative to the top.
    pub fn below(&self, path: &str) -> String {
        match self.prefix.as_str() {
            "" => path.to_owned(),
            prefix => format!("{prefix}/{path}"),
        }
    }
}

/// A file that was judged.
#[derive(Debug)]
pub struct Checked {
    /// The ground it lies on, by its place in the list.
    pub ground: usize,
    /// Its path relative to its root.
    pub path: String,
    /// What happened to it since.
    pub change: ChangeKind,
    /// Its text.
    pub text: Buffer,
    /// What the gates said.
    pub verdict: Verdict,
}

/// What happened to a file since the revision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChangeKind {
    /// It was not there.
    Added,
    /// It was another text.
    Modified,
    /// The same text had this name, and has it no more.
    Renamed(String),
}

/// A file that could not be judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkippedFile {
    /// The ground it lies on, by its place in the list.
    pub ground: usize,
    /// Its path relative to its root, as far as it is text.
    pub path: String,
    /// Why.
    pub why: String,
}

impl Workspace {
    /// Judges files as they are against their text at a revision.
    ///
    /// Errors: `INVALID_INPUT` for a revision that is not there, `FILE_NOT_FOUND` for a path where nothing is nor was,
    /// `POLICY_INVALID`, `INTERNAL` when the caller cancelled the call, and what admitting a path gives.
    pub async fn check(self: &Arc<Self>, subjects: AuditTarget, watch: Watch) -> Result<Audit, Error> {
        self.off_reactor(move |workspace| workspace.audit(&subjects, &watch)).await
    }

    fn audit(&self, subjects: &AuditTarget, watch: &Watch) -> Result<Audit, Error> {
        let mut audit = Audit::default();
        let scopes = self.scopes(subjects)?;
        let mut surveys = Vec::new();
        for root in 0..self.store.files.root_paths().len() {
            let scopes: Vec<&ListedPath> = scopes.iter().filter(|scope| scope.root == root).collect();
            if !scopes.is_empty() {
                surveys.push(self.survey(root, &scopes, subjects.base.as_deref(), &mut audit, watch)?);
            }
        }
        for survey in surveys {
            self.judge_changed(survey, &mut audit, watch)?;
        }
        if watch.cancelled() {
            return Err(cancelled());
        }
        merge::merge(&mut audit.files);
        Ok(audit)
    }

    /// What the paths name; without any, the base of the first root and each further root.
    fn scopes(&self, subjects: &AuditTarget) -> Result<Vec<ListedPath>, Error> {
        let Some(paths) = &subjects.paths else {
            let roots = 0..self.store.files.root_paths().len();
            let base = |root| if root == 0 { self.store.files.base().to_owned() } else { String::new() };
            return Ok(roots
                .map(|root| ListedPath { root, path: base(root), stands: PathKind::Folder })
                .collect());
        };
        paths.iter().map(|path| self.store.files.scope(path)).collect()
    }
}

/// A path at which nothing is, nor was.
fn nothing_there(path: &str) -> Error {
    Error::new(Code::FileNotFound, format!("there is nothing at {path}, and nothing was"))
        .field("PATHS")
        .hint("name a file or a folder that is there")
}
