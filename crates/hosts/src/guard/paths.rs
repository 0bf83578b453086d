//! The paths of an edit, as the host's tool takes them.

use std::collections::HashSet;
use std::path::{Component, Path};

use super::EventGuard;
use crate::edit::HostEdit;
use lockgate_engine::{link_target, without_dots};

impl EventGuard<'_> {
    /// Returns the paths of an edit, absolute, each of them once.
    pub(super) fn paths(&self, edit: &HostEdit) -> Vec<String> {
        let mut known = HashSet::new();
        let paths = edit.paths().into_iter().map(|path| self.absolute(edit, path));
        paths.filter(|path| known.insert(path.clone())).collect()
    }

    pub(super) fn absolute(&self, edit: &HostEdit, path: &str) -> String {
        let path = absolute_path(&self.folder, edit, path);
        if Path::new(&path).starts_with(&self.root) {
            // Through a link that leads nowhere, the tool creates the file that it leads to.
            let target = leads_nowhere(Path::new(&path)).then(|| link_target(Path::new(&path))).flatten();
            return target.map_or(path, |target| target.to_string_lossy().into_owned());
        }
        // A link elsewhere may lead into the project, also to a file that does not exist yet.
        let real = link_target(Path::new(&path)).filter(|real| real.starts_with(&self.root));
        real.map_or(path, |real| real.to_string_lossy().into_owned())
    }
}

/// True for a link to something that does not exist.
fn leads_nowhere(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| found.is_symlink()) && !path.exists()
}

/// Returns a path of an edit, absolute: relative paths start from the folder of the session, or from that of a command.
///
/// `.` and `..` are resolved as the host's tool does it. A patch goes through the links on the way, as the system does; the
/// other tools go by the text alone, as Node's `path.resolve` does.
pub fn absolute_path(folder: &Path, edit: &HostEdit, path: &str) -> String {
    let whole = match edit {
        HostEdit::Patch { folder: Some(own), .. } => folder.join(own).join(path),
        _ => folder.join(path),
    };
    let real = match (edit, whole.parent(), whole.file_name()) {
        (HostEdit::Patch { .. } | HostEdit::Unreadable { is_patch: true, .. }, Some(parent), Some(name))
            if has_parent_steps(&whole) =>
        {
            // A folder that does not exist yet is made where the links lead.
            link_target(parent).map(|parent| parent.join(name))
        }
        _ => None,
    };
    real.unwrap_or_else(|| without_dots(&whole)).to_string_lossy().into_owned()
}

fn has_parent_steps(path: &Path) -> bool {
    path.components().any(|component| component == Component::ParentDir)
}
