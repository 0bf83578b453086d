//! Finds the earlier paths of files that were renamed since the revision.

use std::collections::HashSet;
use std::path::Path;

use super::super::services::Services;
use super::changed_file::{AuditedFiles, ChangedFile, KnownFiles, RenamedFrom};
use super::{Audit, AuditRoot, CheckBase};
use lockgate_error::Error;
use lockgate_store::{Repository, Revision, relative};

impl Services {
    /// Finds the files of a root that were renamed from elsewhere in its repository.
    pub(super) fn set_outside_paths(
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
            file.renamed_from.is_none() && names.as_ref().is_some_and(|names| !names.has(&file.path))
        };
        let new: Vec<&mut ChangedFile> = survey.changed.iter_mut().filter(is_new).collect();
        if new.is_empty() {
            return Ok(());
        }
        let Some(repository) = survey.repository.as_ref().map(Repository::at_top) else { return Ok(()) };
        let index = repository.index_files();
        let whole = repository.revision(Some(id))?;
        let was = whole.names();
        for file in new {
            let Ok((bytes, _)) = self.bytes(*root, &file.path, &survey.listed) else { continue };
            let is_source = |path: &&&str| {
                !Path::new(path).starts_with(prefix)
                    && !index.is_left_out(path)
                    && is_deleted(&top.join(path))
                    && !known.renamed.contains(&top.join(path))
            };
            let sources: Vec<&str> = was.paths_of(&bytes).iter().filter(is_source).copied().collect();
            let has_name =
                |source: &&&str| Path::new(source).file_name() == Path::new(&file.path).file_name();
            let Some(source) = sources.iter().find(has_name).or(sources.first()) else { continue };
            known.renamed.insert(top.join(source));
            let (shown, from_top) = (relative(prefix, source), (*source).to_owned());
            file.renamed_from = Some(RenamedFrom::Outside { shown, from_top });
        }
        drop(was);
        survey.whole = Some(whole);
        Ok(())
    }
}

/// Sets the previous path of new files: `sources` are, for each file, the deleted files of the same bytes. Each of these
/// was renamed to one file at most, if possible to one of the same name; a further file is a copy.
pub(super) fn set_previous_paths(changed: &mut [ChangedFile], sources: &[Vec<String>]) {
    let mut renamed: HashSet<&String> = HashSet::new();
    for is_any_name in [false, true] {
        let new = changed.iter_mut().zip(sources).filter(|(file, _)| file.renamed_from.is_none());
        for (file, sources) in new {
            let has_name = |source: &str| Path::new(source).file_name() == Path::new(&file.path).file_name();
            let fits = |source: &&String| (is_any_name || has_name(source)) && !renamed.contains(*source);
            let source = sources.iter().find(fits);
            renamed.extend(source);
            file.renamed_from = source.cloned().map(RenamedFrom::InRoot);
        }
    }
}

/// True if a file that was at an absolute path is deleted: nothing is there, or a folder.
fn is_deleted(path: &Path) -> bool {
    !path.symlink_metadata().is_ok_and(|metadata| !metadata.is_dir())
}
