//! Audits files: judges them as they are against their text at a revision.
//!
//! All files that differ from the revision are judged together, like the edits of one call. Only new findings
//! count, as for an edit; without a revision to compare with, every finding is new.
//!
//! Invariant: nothing is written below a root, and every judged file was read through its root.

mod changed_file;
mod checked_file;
mod in_project;
mod judge;
mod merge;
mod normalize;
mod renames;
mod skipped;
mod survey;
mod written;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use self::checked_file::{ChangeKind, CheckedFile};
pub use self::in_project::ProjectTrial;

use self::changed_file::KnownFiles;
use super::services::{Services, cancelled};
use super::workspace::Workspace;
use lockgate_checks::Watch;
use lockgate_error::{Code, Error};
use lockgate_policy::Policy;
use lockgate_store::{FileLocation, ListedFolders, ListedPath, PathKind, relative};

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
        let NamedPaths { scopes, links } = self.named_paths(subjects)?;
        let (mut surveys, mut known) = (Vec::new(), KnownFiles::default());
        for root in 0..self.store.files.root_paths().len() {
            let scopes: Vec<&ListedPath> = scopes.iter().filter(|scope| scope.root == root).collect();
            let mut links = links.iter().filter(|(of, _)| *of == root).peekable();
            if !scopes.is_empty() || links.peek().is_some() {
                let base = subjects.base.as_deref();
                surveys.push(self.survey(root, &scopes, base, &mut audit, &mut known, watch)?);
                let root_index = audit.roots.len().saturating_sub(1);
                let skipped = |(_, path): &(usize, String)| SkippedFile {
                    root_index,
                    path: path.clone(),
                    reason: LINK.to_owned(),
                };
                audit.skipped.extend(links.map(skipped));
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

    /// Admits a file to be read by its root and its path there.
    fn admit_named(&self, root: usize, path: &str, listed: &ListedFolders) -> Result<FileLocation, Error> {
        self.store.files.admit_to_read_listed(&self.store.files.named(root, path)?, listed)
    }

    /// Admits a file to be read by its root and its path there, and returns its policy as well.
    fn admit_with_policy(
        &self,
        root: usize,
        path: &str,
        listed: &ListedFolders,
    ) -> Result<(FileLocation, Arc<Policy>), Error> {
        let place = self.admit_named(root, path, listed)?;
        let policy = self.policies.policy(&self.store.files, &place)?;
        Ok((place, policy))
    }

    /// Returns what the paths name; without paths, the base of the first root and every further root.
    fn named_paths(&self, subjects: &AuditTarget) -> Result<NamedPaths, Error> {
        let Some(paths) = &subjects.paths else {
            let roots = 0..self.store.files.root_paths().len();
            let base = |root| if root == 0 { self.store.files.base().to_owned() } else { String::new() };
            let scopes = roots.map(|root| ListedPath { root, path: base(root), kind: PathKind::Folder });
            return Ok(NamedPaths { scopes: scopes.collect(), links: BTreeSet::new() });
        };
        let mut named = NamedPaths::default();
        for path in paths {
            match self.store.files.scope(path) {
                Ok(scope) => named.scopes.push(scope),
                Err(error) => {
                    named.links.insert(self.link_in_root(path).ok_or(error)?);
                }
            }
        }
        Ok(named)
    }

    /// Returns the root and the path in it of a symlink that a path names; `None` for anything else.
    fn link_in_root(&self, path: &str) -> Option<(usize, String)> {
        let (files, named) = (&self.store.files, Path::new(path));
        let parent = named.parent()?.to_str().filter(|parent| !parent.is_empty()).unwrap_or(".");
        let ListedPath { root, path: folder, kind } = files.scope(parent).ok()?;
        let name = named.file_name()?.to_str()?;
        let link = if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
        let is_link = kind == PathKind::Folder
            && files.root_paths().get(root)?.join(&link).symlink_metadata().ok()?.is_symlink();
        is_link.then_some((root, link))
    }
}

/// The reason for which a symlink is skipped, as in a folder.
const LINK: &str = "a link";

/// What the paths of an audit name.
#[derive(Debug, Default)]
struct NamedPaths {
    scopes: Vec<ListedPath>,
    /// The symlinks that lead out of the roots or nowhere: the root and the path in it.
    links: BTreeSet<(usize, String)>,
}

/// The error for a file that another program removed during the audit.
fn no_longer_exists() -> Error {
    Error::new(Code::FileNotFound, "it no longer exists")
}

/// Rejects a path that neither exists nor existed at the revision.
fn no_such_path(path: &str) -> Error {
    Error::new(Code::FileNotFound, format!("{path} does not exist, and did not exist before"))
        .field("PATHS")
        .hint("name an existing file or folder")
}
