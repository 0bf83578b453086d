//! Finds the files that differ from the revision.
//!
//! Invariant: each file is compared once, even if several paths name it, or several roots contain it.

use std::cell::LazyCell;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use super::super::services::{Services, cancelled};
use super::changed_file::{AuditedFiles, ChangedFile, KnownFiles};
use super::renames::set_previous_paths;
use super::skipped::skipped;
use super::{Audit, AuditRoot, CheckBase, SkippedFile, no_longer_exists, no_such_path};
use lockgate_checks::{Watch, parallel};
use lockgate_error::{Code, Error};
use lockgate_store::{
    FileSnapshot, IndexFiles, ListedFolders, ListedPath, Listing, NOT_UTF8, OTHER_REPOSITORY, PathKind,
    Repository, Revision, RevisionFiles,
};

/// Iterates over the files at or below a path that git tracks, some of them twice: those of HEAD, if another revision is
/// compared with, and of the index.
fn tracked_inside<'f>(
    head: Option<&'f Revision>,
    index: &'f IndexFiles,
    path: &'f str,
) -> impl Iterator<Item = &'f str> {
    let head = head.into_iter().flat_map(move |head| head.names().inside(path).collect::<Vec<_>>());
    let is_inside = move |file: &&str| {
        path.is_empty()
            || file.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    head.chain(index.staged.iter().map(String::as_str).filter(is_inside))
}

/// The result of comparing a file with the revision.
enum FileComparison {
    Unchanged,
    /// The paths are those of deleted files that had the same bytes, for a file that the revision does not have.
    Changed(ChangedFile, Vec<String>),
    Skipped(SkippedFile),
}

impl Services {
    /// Compares the files of one root with the revision, except the known ones, to which it adds them: nested roots have
    /// files in common.
    pub(super) fn survey(
        &self,
        root: usize,
        scopes: &[&ListedPath],
        base: Option<&str>,
        audit: &mut Audit,
        known: &mut KnownFiles,
        watch: &Watch,
    ) -> Result<AuditedFiles, Error> {
        let (audit_root, repository, revision) = self.resolve_root(root, base)?;
        let index = repository.as_ref().map(Repository::index_files).unwrap_or_default();
        let folder = audit_root.top.join(&audit_root.prefix);
        audit.roots.push(audit_root);
        let root_index = audit.roots.len() - 1;
        let (changed, removed) = (Vec::new(), Vec::new());
        let listed = &Arc::clone(&known.listed);
        let mut survey = AuditedFiles {
            root_index,
            repository,
            index,
            revision,
            whole: None,
            changed,
            removed,
            listed: Arc::clone(listed),
        };
        let (names, index) = (survey.revision.as_ref().map(Revision::names), &survey.index);
        let (mut candidates, mut removed) = self.candidates(root, scopes, &survey, base, audit)?;
        let mut is_new = |path: &String| known.compared.insert(folder.join(path));
        candidates.retain(&mut is_new);
        removed.retain(is_new);
        audit.deleted += removed.len();
        let candidates: Vec<String> = candidates.into_iter().collect();
        let comparisons = parallel(&candidates, self.threads, |path| {
            if watch.cancelled() {
                Err(cancelled(watch))
            } else {
                self.compare(root, path, root_index, names.as_ref(), index, listed)
            }
        });
        let mut sources = Vec::new();
        for comparison in comparisons {
            match comparison? {
                FileComparison::Unchanged => audit.unchanged += 1,
                FileComparison::Skipped(skipped_file) => audit.skipped.push(skipped_file),
                FileComparison::Changed(changed, mut deleted) => {
                    deleted.retain(|path| !known.renamed.contains(&folder.join(path)));
                    survey.changed.push(changed);
                    sources.push(deleted);
                }
            }
        }
        set_previous_paths(&mut survey.changed, &sources);
        let renamed: Vec<String> = survey
            .changed
            .iter()
            .filter_map(|file| Some(file.renamed_from.as_ref()?.path().to_owned()))
            .collect();
        known.renamed.extend(renamed.iter().map(|path| folder.join(path)));
        self.set_outside_paths(&mut survey, audit, known)?;
        survey.removed =
            removed.into_iter().chain(renamed).collect::<BTreeSet<String>>().into_iter().collect();
        Ok(survey)
    }

    /// Resolves a root, its repository, and the base that its files are compared with.
    fn resolve_root(
        &self,
        root: usize,
        base: Option<&str>,
    ) -> Result<(AuditRoot, Option<Repository>, Option<Revision>), Error> {
        let base_label = self.store.files.base().to_owned();
        let real = self.store.files.root_paths().get(root).cloned().unwrap_or_default();
        let Some(repository) = Repository::around(&real)? else {
            if let Some(base) = base {
                let message =
                    format!("there is no revision {base:?}: {} is not in a git repository", real.display());
                return Err(Error::new(Code::InvalidInput, message)
                    .field("--base")
                    .hint("run it in a git repository, or leave --base out, which counts every finding"));
            }
            let audit_root =
                AuditRoot { root, top: real, prefix: String::new(), base_label, base: CheckBase::NoBase };
            return Ok((audit_root, None, None));
        };
        let (top, prefix) = (repository.top().to_owned(), repository.prefix().to_owned());
        let revision = repository.revision(base)?;
        let base = match &revision.id {
            Some(id) => CheckBase::Revision(revision.name.clone(), id.clone()),
            None => CheckBase::NoCommits,
        };
        let audit_root = AuditRoot { root, top, prefix, base_label, base };
        Ok((audit_root, Some(repository), Some(revision)))
    }

    /// Returns the files that the paths name, each once, and those of them that no longer exist.
    fn candidates(
        &self,
        root: usize,
        scopes: &[&ListedPath],
        survey: &AuditedFiles,
        base: Option<&str>,
        audit: &mut Audit,
    ) -> Result<(BTreeSet<String>, BTreeSet<String>), Error> {
        let (mut files, mut removed) = (BTreeSet::new(), BTreeSet::new());
        let skip = |path: String, reason: &str| SkippedFile {
            root_index: survey.root_index,
            path,
            reason: reason.to_owned(),
        };
        // Where HEAD cannot be read, it has no files.
        let head =
            LazyCell::new(|| survey.repository.as_ref().filter(|_| base.is_some())?.revision(None).ok());
        for scope in scopes {
            let was = was_inside(survey.revision.as_ref(), &scope.path);
            let is_nested =
                survey.revision.is_some() && self.store.files.is_in_nested_repository(root, &scope.path);
            // A submodule that is gone is no folder of files that are gone.
            let was_submodule =
                || survey.revision.as_ref().is_some_and(|revision| revision.has_submodule(&scope.path));
            if was.is_empty() && (is_nested || scope.kind == PathKind::Nothing && was_submodule()) {
                audit.skipped.push(skip(scope.path.clone(), OTHER_REPOSITORY));
                continue;
            }
            let is_deleted = |path: &String| self.is_deleted(root, path, &survey.index);
            match scope.kind {
                PathKind::File => {
                    files.insert(scope.path.clone());
                }
                PathKind::Nothing if was.is_empty() => return Err(no_such_path(&scope.path)),
                PathKind::Nothing => removed.extend(was.into_iter().filter(is_deleted)),
                PathKind::Folder => {
                    let listing = match is_nested {
                        true => Listing::default(),
                        false => self.store.files.list(root, &scope.path)?,
                    };
                    files.extend(listing.files);
                    audit.skipped.extend(listing.skipped.into_iter().map(|(path, why)| skip(path, &why)));
                    // Tracked files count even if an ignore file names them.
                    let existing = was.iter().filter(|path| self.store.files.has_file(root, path));
                    files.extend(existing.cloned());
                    let ignored = tracked_inside(head.as_ref(), &survey.index, &scope.path)
                        .filter(|path| !files.contains(*path) && self.is_own_file(root, path))
                        .map(str::to_owned)
                        .collect::<Vec<_>>();
                    files.extend(ignored);
                    let not_utf8 = [survey.revision.as_ref(), head.as_ref()].into_iter().flatten();
                    let not_utf8 = not_utf8.flat_map(Revision::not_utf8).chain(&survey.index.not_utf8);
                    let unnamed = not_utf8
                        .collect::<BTreeSet<_>>()
                        .into_iter()
                        .filter(|path| path.starts_with(&scope.path) && self.is_own_file(root, path))
                        .map(|path| skip(path.to_string_lossy().into_owned(), NOT_UTF8));
                    audit.skipped.extend(unnamed);
                    removed.extend(was.into_iter().filter(is_deleted));
                }
            }
        }
        audit.skipped.sort_by(|one, other| (one.root_index, &one.path).cmp(&(other.root_index, &other.path)));
        audit.skipped.dedup();
        Ok((files, removed))
    }

    /// True if a path of a root is a file, and not one of another repository.
    fn is_own_file(&self, root: usize, path: impl AsRef<Path>) -> bool {
        let path = path.as_ref();
        self.store.files.has_file(root, path) && !self.store.files.is_in_nested_repository(root, path)
    }

    /// True if a file of the revision is deleted. What a sparse checkout leaves out is not.
    fn is_deleted(&self, root: usize, path: &str, index: &IndexFiles) -> bool {
        !index.is_left_out(path) && self.store.files.is_deleted(root, path)
    }

    /// Compares a file with the revision; a file that cannot be read as text is skipped.
    fn compare(
        &self,
        root: usize,
        path: &str,
        root_index: usize,
        names: Option<&RevisionFiles<'_>>,
        index: &IndexFiles,
        listed: &ListedFolders,
    ) -> Result<FileComparison, Error> {
        let path = path.to_owned();
        let (bytes, limit) = match self.bytes(root, &path, listed) {
            Ok(found) => found,
            Err(error) => return skipped(root_index, path, error).map(FileComparison::Skipped),
        };
        if names.is_some_and(|names| names.is(&path, &bytes)) {
            return Ok(FileComparison::Unchanged);
        }
        let sources = names.filter(|names| !names.has(&path)).map_or(&[][..], |names| names.paths_of(&bytes));
        let deleted = sources.iter().filter(|other| self.is_deleted(root, other, index));
        let deleted = deleted.map(|other| (*other).to_owned()).collect();
        Ok(FileComparison::Changed(ChangedFile { path, renamed_from: None, limit }, deleted))
    }

    /// Reads the bytes of a file, and its size limit.
    pub(super) fn bytes(
        &self,
        root: usize,
        path: &str,
        listed: &ListedFolders,
    ) -> Result<(Vec<u8>, u64), Error> {
        let (place, policy) = self.admit_with_policy(root, path, listed)?;
        let mut snapshot = self.store.files.read(&place, policy.limits.file)?;
        let bytes = snapshot.as_mut().map(FileSnapshot::take_bytes).ok_or_else(no_longer_exists)?;
        Ok((bytes, policy.limits.file))
    }
}

/// Returns the files that were at or below a path at the revision.
fn was_inside(revision: Option<&Revision>, path: &str) -> Vec<String> {
    revision.map_or_else(Vec::new, |revision| revision.names().inside(path).map(str::to_owned).collect())
}
