//! Finds the files that differ from the revision.
//!
//! Invariant: each file is compared once, even if several paths name it, or several roots contain it.

use std::cell::LazyCell;
use std::collections::{BTreeSet, HashSet};
use std::path::Path;

use super::super::services::{Services, cancelled};
use super::known_files::KnownFiles;
use super::{Audit, AuditRoot, CheckBase, SkippedFile, no_such_path};
use lockgate_checks::{Watch, parallel, sanitize};
use lockgate_error::{Code, Error};
use lockgate_store::{
    FileSnapshot, ListedPath, Listing, OTHER_REPOSITORY, PathKind, Repository, Revision, RevisionFiles,
    relative,
};

/// The files of one root to be judged.
pub(super) struct AuditedFiles {
    /// The index of the root in the audit.
    pub(super) root_index: usize,
    /// The revision to compare with, if there is one.
    pub(super) revision: Option<Revision>,
    /// The files of the whole repository at that revision, if a file was renamed from outside of the root.
    pub(super) whole: Option<Revision>,
    pub(super) changed: Vec<ChangedFile>,
    /// The paths of the files that no longer exist, relative to the root.
    pub(super) removed: Vec<String>,
}

/// A file that differs from the revision.
#[derive(Debug)]
pub(super) struct ChangedFile {
    /// Its path relative to the root.
    pub(super) path: String,
    /// The path relative to the root that this file had at the revision, if it was another.
    pub(super) previous_path: Option<String>,
    /// The path from the top of the repository that this file had at the revision, if that was outside of the root.
    pub(super) outside_path: Option<String>,
    /// The size limit of the file, in bytes.
    pub(super) limit: u64,
}

/// The files of one root that git tracks.
#[derive(Default)]
struct TrackedFiles {
    /// Those of HEAD, if another revision is compared with.
    head: Option<Revision>,
    staged: BTreeSet<String>,
}

impl TrackedFiles {
    /// Reads those of the index and, if another revision is compared with, of HEAD. One that cannot be read has none.
    fn read(root: &Path, base: Option<&str>) -> TrackedFiles {
        let Ok(Some(repository)) = Repository::around(root) else { return TrackedFiles::default() };
        let staged = repository.staged_files();
        let head = base.and_then(|_| repository.revision(None).ok());
        TrackedFiles { head, staged }
    }

    /// Iterates over the tracked files at or below a path, some of them twice.
    fn inside(&self, path: &str) -> impl Iterator<Item = &str> {
        let head = self.head.iter().flat_map(move |head| head.names().inside(path).collect::<Vec<_>>());
        let is_inside = move |file: &&str| {
            path.is_empty()
                || file.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        head.chain(self.staged.iter().map(String::as_str).filter(is_inside))
    }
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
        let (audit_root, revision) = self.resolve_root(root, base)?;
        let folder = audit_root.top.join(&audit_root.prefix);
        audit.roots.push(audit_root);
        let root_index = audit.roots.len() - 1;
        let (changed, removed) = (Vec::new(), Vec::new());
        let mut survey = AuditedFiles { root_index, revision, whole: None, changed, removed };
        let names = survey.revision.as_ref().map(Revision::names);
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
                self.compare(root, path, root_index, names.as_ref())
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
        let renamed: Vec<String> =
            survey.changed.iter().filter_map(|changed| changed.previous_path.clone()).collect();
        known.renamed.extend(renamed.iter().map(|path| folder.join(path)));
        self.set_outside_paths(&mut survey, audit, known)?;
        survey.removed =
            removed.into_iter().chain(renamed).collect::<BTreeSet<String>>().into_iter().collect();
        Ok(survey)
    }

    /// Resolves a root, and the base that its files are compared with.
    fn resolve_root(&self, root: usize, base: Option<&str>) -> Result<(AuditRoot, Option<Revision>), Error> {
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
            return Ok((audit_root, None));
        };
        let (top, prefix) = (repository.top().to_owned(), repository.prefix().to_owned());
        let revision = repository.revision(base)?;
        let base = match &revision.id {
            Some(id) => CheckBase::Revision(revision.name.clone(), id.clone()),
            None => CheckBase::NoCommits,
        };
        let audit_root = AuditRoot { root, top, prefix, base_label, base };
        Ok((audit_root, Some(revision)))
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
        let root_index = survey.root_index;
        let tracked = LazyCell::new(|| match (&survey.revision, self.store.files.root_paths().get(root)) {
            (Some(_), Some(folder)) => TrackedFiles::read(folder, base),
            _ => TrackedFiles::default(),
        });
        for scope in scopes {
            let was = was_inside(survey.revision.as_ref(), &scope.path);
            let is_nested =
                survey.revision.is_some() && self.store.files.is_in_nested_repository(root, &scope.path);
            // A submodule that is gone is no folder of files that are gone.
            let was_submodule =
                || survey.revision.as_ref().is_some_and(|revision| revision.has_submodule(&scope.path));
            if was.is_empty() && (is_nested || scope.kind == PathKind::Nothing && was_submodule()) {
                let reason = OTHER_REPOSITORY.to_owned();
                audit.skipped.push(SkippedFile { root_index, path: scope.path.clone(), reason });
                continue;
            }
            match scope.kind {
                PathKind::File => {
                    files.insert(scope.path.clone());
                }
                PathKind::Nothing if was.is_empty() => return Err(no_such_path(&scope.path)),
                PathKind::Nothing => removed.extend(was),
                PathKind::Folder => {
                    let listing = match is_nested {
                        true => Listing::default(),
                        false => self.store.files.list(root, &scope.path)?,
                    };
                    files.extend(listing.files);
                    let skipped_files = listing.skipped.into_iter().map(|(path, why)| SkippedFile {
                        root_index,
                        path,
                        reason: why,
                    });
                    audit.skipped.extend(skipped_files);
                    // Tracked files count even if an ignore file names them.
                    let existing = was.iter().filter(|path| self.store.files.has_file(root, path));
                    files.extend(existing.cloned());
                    let ignored = tracked
                        .inside(&scope.path)
                        .filter(|path| !files.contains(*path) && self.is_own_file(root, path))
                        .map(str::to_owned)
                        .collect::<Vec<_>>();
                    files.extend(ignored);
                    removed.extend(was.into_iter().filter(|path| self.store.files.is_deleted(root, path)));
                }
            }
        }
        audit.skipped.sort_by(|one, other| (one.root_index, &one.path).cmp(&(other.root_index, &other.path)));
        audit.skipped.dedup();
        Ok((files, removed))
    }

    /// True if a path of a root is a file, and not one of another repository.
    fn is_own_file(&self, root: usize, path: &str) -> bool {
        self.store.files.has_file(root, path) && !self.store.files.is_in_nested_repository(root, path)
    }

    /// Finds the files of a root that were renamed from elsewhere in its repository.
    fn set_outside_paths(
        &self,
        survey: &mut AuditedFiles,
        audit: &Audit,
        known: &mut KnownFiles,
    ) -> Result<(), Error> {
        let Some(AuditRoot { root, top, prefix, base, .. }) = audit.roots.get(survey.root_index) else {
            return Ok(());
        };
        let (CheckBase::Revision(_, id), false) = (base, prefix.is_empty()) else { return Ok(()) };
        let names = survey.revision.as_ref().map(Revision::names);
        let is_new = |file: &&mut ChangedFile| {
            file.previous_path.is_none() && names.as_ref().is_some_and(|names| !names.has(&file.path))
        };
        let new: Vec<&mut ChangedFile> = survey.changed.iter_mut().filter(is_new).collect();
        if new.is_empty() {
            return Ok(());
        }
        let Some(repository) = Repository::around(top)? else { return Ok(()) };
        let whole = repository.revision(Some(id))?;
        let was = whole.names();
        for file in new {
            let Ok((bytes, _)) = self.bytes(*root, &file.path) else { continue };
            let is_source = |path: &&&str| {
                !Path::new(path).starts_with(prefix)
                    && is_deleted(&top.join(path))
                    && !known.renamed.contains(&top.join(path))
            };
            let sources: Vec<&str> = was.paths_of(&bytes).iter().filter(is_source).copied().collect();
            let has_name =
                |source: &&&str| Path::new(source).file_name() == Path::new(&file.path).file_name();
            let Some(source) = sources.iter().find(has_name).or(sources.first()) else { continue };
            known.renamed.insert(top.join(source));
            file.previous_path = Some(relative(prefix, source));
            file.outside_path = Some((*source).to_owned());
        }
        drop(was);
        survey.whole = Some(whole);
        Ok(())
    }

    /// Compares a file with the revision; a file that cannot be read as text is skipped.
    fn compare(
        &self,
        root: usize,
        path: &str,
        root_index: usize,
        names: Option<&RevisionFiles<'_>>,
    ) -> Result<FileComparison, Error> {
        let path = path.to_owned();
        let (bytes, limit) = match self.bytes(root, &path) {
            Ok(found) => found,
            Err(error) => return skipped(root_index, path, error).map(FileComparison::Skipped),
        };
        let Some(names) = names else {
            return Ok(FileComparison::Changed(
                ChangedFile { path, previous_path: None, outside_path: None, limit },
                Vec::new(),
            ));
        };
        if names.is(&path, &bytes) {
            return Ok(FileComparison::Unchanged);
        }
        let is_deleted = |other: &str| self.store.files.is_deleted(root, other);
        let sources = if names.has(&path) { &[] } else { names.paths_of(&bytes) };
        let deleted = sources.iter().filter(|path| is_deleted(path)).map(|path| (*path).to_owned()).collect();
        Ok(FileComparison::Changed(
            ChangedFile { path, previous_path: None, outside_path: None, limit },
            deleted,
        ))
    }

    /// Reads the bytes of a file, and its size limit.
    fn bytes(&self, root: usize, path: &str) -> Result<(Vec<u8>, u64), Error> {
        let place = self.store.files.admit_to_read(&self.store.files.named(root, path)?)?;
        let rules = self.policies.policy(&self.store.files, &place)?;
        let mut snapshot = self.store.files.read(&place, rules.limits.file)?;
        let not_found = || Error::new(Code::FileNotFound, "it no longer exists");
        let bytes = snapshot.as_mut().map(FileSnapshot::take_bytes).ok_or_else(not_found)?;
        Ok((bytes, rules.limits.file))
    }
}

/// Sets the previous path of new files: `sources` are, for each file, the deleted files of the same bytes. Each of these
/// was renamed to one file at most, if possible to one of the same name; a further file is a copy.
fn set_previous_paths(changed: &mut [ChangedFile], sources: &[Vec<String>]) {
    let mut renamed: HashSet<&String> = HashSet::new();
    for is_any_name in [false, true] {
        let new = changed.iter_mut().zip(sources).filter(|(file, _)| file.previous_path.is_none());
        for (file, sources) in new {
            let has_name = |source: &str| Path::new(source).file_name() == Path::new(&file.path).file_name();
            let fits = |source: &&String| (is_any_name || has_name(source)) && !renamed.contains(*source);
            let source = sources.iter().find(fits);
            renamed.extend(source);
            file.previous_path = source.cloned();
        }
    }
}

/// True if a file that was at an absolute path is deleted: nothing is there, or a folder.
fn is_deleted(path: &Path) -> bool {
    !path.symlink_metadata().is_ok_and(|metadata| !metadata.is_dir())
}

/// Returns the files that were at or below a path at the revision.
fn was_inside(revision: Option<&Revision>, path: &str) -> Vec<String> {
    revision.map_or_else(Vec::new, |revision| revision.names().inside(path).map(str::to_owned).collect())
}

/// Errors that concern one file only, each with a reason to display; without one, the error's own message is
/// shown.
const SKIP_REASONS: [(Code, Option<&str>); 9] = [
    (Code::NotText, Some("not text")),
    (Code::TooLarge, Some("too large")),
    (Code::Protected, Some("protected")),
    (Code::PermissionDenied, Some("cannot be read")),
    (Code::NotAFile, None),
    (Code::FileNotFound, None),
    (Code::PathOutsideRoot, None),
    (Code::EditConflict, None),
    (Code::NotEncodable, None),
];

/// Returns a file as skipped for this reason.
///
/// Errors: the reason itself, if it concerns more than one file.
pub(super) fn skipped(root_index: usize, path: String, error: Error) -> Result<SkippedFile, Error> {
    let Some((_, words)) = SKIP_REASONS.iter().find(|(code, _)| *code == error.code) else {
        return Err(error);
    };
    let why = words.map_or_else(|| sanitize(&error.message), str::to_owned);
    Ok(SkippedFile { root_index, path, reason: why })
}
