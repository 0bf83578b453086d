//! Tells which file a symlink leads to, where the file must not be taken for the link.

use std::path::Path;

use super::resolve::ResolvedTarget;
use super::services::Services;
use super::workspace::Workspace;
use lockgate_edit::Edit;
use lockgate_edit::request::Request;
use lockgate_error::{Code, Error};
use lockgate_store::EntryKind;

impl Workspace {
    /// Returns the file that the last name of a path leads to, if that name is a symlink to a file; `None` also for a path
    /// that may not be read.
    pub async fn link_target(&self, path: String) -> Option<String> {
        let target = move |services: &Services| Ok(services.link_target(&path));
        self.services.off_reactor(target).await.ok().flatten()
    }
}

impl Services {
    /// Rejects the removal of a file by the name of a symlink: the file would be gone, and the link would lead nowhere.
    ///
    /// Errors: `NOT_A_FILE`; for an undo and a redo `EDIT_CONFLICT`, because the edit was made without the link.
    pub(super) fn check_removal(
        &self,
        request: &Request,
        kind: EntryKind,
        target: &ResolvedTarget,
    ) -> Result<(), Error> {
        let place = &target.place;
        if request.edit != Edit::Remove || place.resolved().is_none() {
            return Ok(());
        }
        let Some(real) = self.link_target(place.shown()) else { return Ok(()) };
        let code = match kind {
            EntryKind::Edit => Code::NotAFile,
            EntryKind::Undo(_) | EntryKind::Redo(_) => Code::EditConflict,
        };
        let path = place.shown();
        Err(behind_link(
            code,
            path,
            &real,
            format!("{path} is a symlink to {real}, and a symlink cannot be deleted"),
        ))
    }

    fn link_target(&self, path: &str) -> Option<String> {
        let (files, named) = (&self.store.files, Path::new(path));
        let file = files.admit_to_read(path).ok()?;
        let target = file.resolved()?;
        let parent = named.parent()?.to_str().filter(|parent| !parent.is_empty()).unwrap_or(".");
        let folder = files.find_folder(parent).ok()?;
        let unlinked = files.root_path(&folder).ok()?.join(folder.in_root()).join(named.file_name()?);
        (files.root_path(&file).ok()?.join(file.in_root()) != unlinked).then(|| target.to_owned())
    }
}

/// Rejects the undo or redo of an edit behind a symlink. The journal has the path without links, so the link is newer than
/// the edit, and leads to a file that the edit did not change.
///
/// Errors: `EDIT_CONFLICT`.
pub(super) fn check_no_newer_link(target: &ResolvedTarget) -> Result<(), Error> {
    let Some(real) = target.place.resolved() else { return Ok(()) };
    let path = target.place.shown();
    let message = format!("{path} leads to {real} through a symlink that is newer than the edit");
    Err(behind_link(Code::EditConflict, path, real, message))
}

fn behind_link(code: Code, path: &str, real: &str, message: String) -> Error {
    let hint = format!("name the file itself, `{real}`, or ask a person to remove the link");
    Error::new(code, message).naming_target(path).field("path").hint(hint)
}

#[cfg(test)]
mod tests {
    use lockgate_checks::Watch;
    use lockgate_edit::Edit;
    use lockgate_edit::request::{Mode, Request, Target};
    use lockgate_error::Code;

    use crate::tests::Fixture;

    #[test]
    fn only_a_link_itself_has_a_target() {
        let fixture = Fixture::new(&[("a.txt", "")]);
        fixture.write("sub/b.txt", "");
        let link = |target: &str, name: &str| {
            std::os::unix::fs::symlink(target, fixture.root().join(name)).unwrap();
        };
        link("a.txt", "to_file");
        link("sub", "to_folder");
        link("../a.txt", "sub/a.txt");
        let absolute = fixture.root().join("to_file").display().to_string();
        for (path, target) in [
            ("to_file", Some("a.txt")),
            ("./to_file", Some("a.txt")),
            ("sub/../to_file", Some("a.txt")),
            ("sub/a.txt", Some("a.txt")),
            ("to_folder/a.txt", Some("a.txt")),
            (absolute.as_str(), Some("a.txt")),
            ("a.txt", None),
            ("to_folder/b.txt", None),
            ("to_folder", None),
            ("none.txt", None),
            ("/etc/hosts", None),
        ] {
            assert_eq!(fixture.services.link_target(path).as_deref(), target, "{path}");
        }
    }

    /// A rehearsal tells what a write does.
    #[tokio::test]
    async fn a_removal_by_the_name_of_a_link_is_rejected_in_every_mode() {
        let fixture = Fixture::new(&[("a.txt", "x\n")]);
        std::os::unix::fs::symlink("a.txt", fixture.root().join("link")).unwrap();
        for (path, mode, code) in [
            ("link", Mode::VerifyOnly, Some(Code::NotAFile)),
            ("link", Mode::Strict, Some(Code::NotAFile)),
            ("a.txt", Mode::VerifyOnly, None),
        ] {
            let request = Request { mode, ..Request::new(Target::File(path.to_owned()), Edit::Remove) };
            let removed = fixture.services.edit(request, Watch::idle()).await;
            assert_eq!(removed.err().map(|error| error.code), code, "{path} {mode:?}");
        }
    }
}
