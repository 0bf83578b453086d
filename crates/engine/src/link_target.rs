//! Tells which file a symlink leads to, for callers that must not take the file for the link.

use std::path::Path;

use super::services::Services;
use super::workspace::Workspace;

impl Workspace {
    /// Returns the file that the last name of a path leads to, if that name is a symlink to a file; `None` also for a path
    /// that may not be read.
    pub async fn link_target(&self, path: String) -> Option<String> {
        let target = move |services: &Services| Ok(services.link_target(&path));
        self.services.off_reactor(target).await.ok().flatten()
    }
}

impl Services {
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

#[cfg(test)]
mod tests {
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
}
