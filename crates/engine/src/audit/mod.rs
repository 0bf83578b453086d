//! Audits files: judges them as they are against their text at a revision.
//!
//! All files that differ from the revision are judged together, like the edits of one call. Only new findings
//! count, as for an edit; without a revision to compare with, every finding is new.
//!
//! Invariant: nothing is written below a root, and every judged file was read through its root.

mod checked_file;
mod in_project;
mod judge;
mod merge;
mod normalize;
mod survey;
mod written;

use std::collections::HashSet;
use std::path::PathBuf;

pub use self::checked_file::{ChangeKind, CheckedFile};
pub use self::in_project::ProjectTrial;

use super::services::{Services, cancelled};
use super::workspace::Workspace;
use lockgate_checks::Watch;
use lockgate_error::{Code, Error};
use lockgate_store::{ListedPath, PathKind, relative};

/// The files to audit and the revision to compare them with.
#[derive(Debug, Clone, Default)]
pub struct AuditTarget {
    /// Files and folders; `None` for everything below the roots.
    pub paths: Option<Vec<String>>,
    /// The revision to compare with; `None` for HEAD.
    pub base: Option<String>,
}

/// The result of an audit.
#[derive(Debug, Default)]
pub struct Audit {
    /// The roots that were audited.
    pub roots: Vec<AuditRoot>,
    /// The judged files, in the order of their paths.
    pub files: Vec<CheckedFile>,
    /// The number of files that did not change.
    pub unchanged: usize,
    /// The number of files that were deleted.
    pub deleted: usize,
    /// The files that could not be judged.
    pub skipped: Vec<SkippedFile>,
}

/// A root and the base that its files were compared with.
#[derive(Debug)]
pub struct AuditRoot {
    /// The index of the root in the workspace.
    pub root: usize,
    /// The folder that results are relative to: the top of the repository, or the root itself.
    pub top: PathBuf,
    /// The path from `top` to the root; empty if they are the same.
    pub prefix: String,
    /// The folder below the first root that displayed paths are relative to.
    pub base_label: String,
    /// The base that its files were compared with.
    pub base: CheckBase,
}

/// The base that files are compared with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CheckBase {
    /// A revision, as the caller named it, and its hash.
    Revision(String, String),
    /// A repository without any commit: everything is new.
    NoCommits,
    /// No repository: everything is new.
    NoBase,
}

impl AuditRoot {
    /// Returns a path below the root as a caller would name it.
    pub fn display_path(&self, path: &str) -> String {
        if self.root == 0 {
            return relative(&self.base_label, path);
        }
        format!("{}/{}", self.top.display(), self.path_from_top(path))
    }

    /// Returns a path below the root, relative to `top`.
    pub fn path_from_top(&self, path: &str) -> String {
        match self.prefix.as_str() {
            "" => path.to_owned(),
            prefix => format!("{prefix}/{path}"),
        }
    }
}

/// A file that could not be judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkippedFile {
    /// The index of its root in [`Audit`].
    pub root_index: usize,
    /// Its path relative to its root, lossily decoded if it is not UTF-8.
    pub path: String,
    /// The reason, as part of a sentence.
    pub reason: String,
}

impl Workspace {
    /// Judges files as they are against their text at a revision.
    ///
    /// Errors: `INVALID_INPUT` for an unknown revision, `FILE_NOT_FOUND` for a path that neither exists nor
    /// existed at the revision, `POLICY_INVALID`, `INTERNAL` when the caller cancelled the call, and the
    /// errors of admitting a path.
    pub async fn check(&self, subjects: AuditTarget, watch: Watch) -> Result<Audit, Error> {
        self.services.off_reactor(move |services| services.audit(&subjects, &watch)).await
    }
}

impl Services {
    fn audit(&self, subjects: &AuditTarget, watch: &Watch) -> Result<Audit, Error> {
        let mut audit = Audit::default();
        let scopes = self.scopes(subjects)?;
        let (mut surveys, mut compared) = (Vec::new(), HashSet::new());
        for root in 0..self.store.files.root_paths().len() {
            let scopes: Vec<&ListedPath> = scopes.iter().filter(|scope| scope.root == root).collect();
            if !scopes.is_empty() {
                let base = subjects.base.as_deref();
                surveys.push(self.survey(root, &scopes, base, &mut audit, &mut compared, watch)?);
            }
        }
        for survey in surveys {
            self.judge_changed(survey, &mut audit, watch)?;
        }
        if watch.cancelled() {
            return Err(cancelled(watch));
        }
        merge::merge(&mut audit.files);
        Ok(audit)
    }

    /// Returns the scopes that the paths name; without paths, the base of the first root and every further
    /// root.
    fn scopes(&self, subjects: &AuditTarget) -> Result<Vec<ListedPath>, Error> {
        let Some(paths) = &subjects.paths else {
            let roots = 0..self.store.files.root_paths().len();
            let base = |root| if root == 0 { self.store.files.base().to_owned() } else { String::new() };
            return Ok(roots
                .map(|root| ListedPath { root, path: base(root), kind: PathKind::Folder })
                .collect());
        };
        paths.iter().map(|path| self.store.files.scope(path)).collect()
    }
}

/// Rejects a path that neither exists nor existed at the revision.
fn no_such_path(path: &str) -> Error {
    Error::new(Code::FileNotFound, format!("{path} does not exist, and did not exist before"))
        .field("PATHS")
        .hint("name an existing file or folder")
}
