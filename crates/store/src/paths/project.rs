//! Finds the project of a folder: the nearest repository around it, else the topmost folder with a policy.
//!
//! Invariant: neither `/` nor the home directory is ever a project, and a folder that another user could have
//! prepared makes no folder below it part of a project.

use super::folder_names::POLICY_NAMES;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// The names that mark the top of a repository.
const REPOSITORY: [&str; 2] = [".git", ".jj"];

/// The permission bit that lets everybody write.
const OTHERS_WRITE: u32 = 0o002;

/// A project, and the folder in it that relative paths are relative to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectRoot {
    /// The top of the project.
    pub root: PathBuf,
    /// The path of the folder relative to the top, with `/`; empty for the top itself.
    pub base: String,
}

impl ProjectRoot {
    /// Finds the project of a folder: the nearest folder from here upward that contains `.git` or `.jj`; if
    /// there is none, the topmost one with a policy; else the folder itself.
    pub fn around(folder: &Path) -> ProjectRoot {
        ProjectRoot::below(folder, std::env::home_dir().as_deref())
    }

    fn below(folder: &Path, home: Option<&Path>) -> ProjectRoot {
        let folder_itself = || ProjectRoot { root: folder.to_owned(), base: String::new() };
        let Ok(real) = folder.canonicalize() else { return folder_itself() };
        let home = home.and_then(|home| home.canonicalize().ok());
        let own = [rustix::process::geteuid().as_raw()].into_iter().chain(owner(&real)).chain([0]);
        let own: Vec<u32> = own.collect();
        let is_candidate = |above: &&Path| above.parent().is_some() && home.as_deref() != Some(*above);
        let above: Vec<&Path> =
            real.ancestors().take_while(is_candidate).filter(|above| is_own(above, &own)).collect();
        let has = |above: &Path, names: &[&str]| names.iter().any(|name| is_there(&above.join(name)));
        let repository = above.iter().find(|above| has(above, &REPOSITORY));
        let topmost_with_policy = || above.iter().rev().find(|above| has(above, POLICY_NAMES));
        let Some(root) = repository.or_else(topmost_with_policy) else { return folder_itself() };
        // A path that is not UTF-8 cannot be displayed, so nothing above such a folder can be its root.
        let base = real.strip_prefix(root).ok().and_then(Path::to_str);
        base.map_or_else(folder_itself, |base| ProjectRoot {
            root: (*root).to_owned(),
            base: base.to_owned(),
        })
    }
}

fn is_there(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

fn owner(folder: &Path) -> Option<u32> {
    folder.metadata().ok().map(|meta: Metadata| meta.uid())
}

/// True for a folder of these users that not everybody may write to.
fn is_own(folder: &Path, users: &[u32]) -> bool {
    folder.metadata().is_ok_and(|meta| users.contains(&meta.uid()) && meta.mode() & OTHERS_WRITE == 0)
}

/// Makes a path below a root relative to a folder below that root; an absolute path stays as it is.
pub fn relative(base: &str, path: &str) -> String {
    if base.is_empty() || path.starts_with('/') {
        return path.to_owned();
    }
    let (from, to): (Vec<&str>, Vec<&str>) = (base.split('/').collect(), path.split('/').collect());
    let common = from.iter().zip(&to).take_while(|(one, other)| one == other).count();
    let up = std::iter::repeat_n("..", from.len() - common);
    let names: Vec<&str> =
        up.chain(to.iter().skip(common).copied().filter(|name| !name.is_empty())).collect();
    if names.is_empty() { ".".to_owned() } else { names.join("/") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    struct Fixture(tempfile::TempDir);

    impl Fixture {
        /// A folder in which these files and, where they end in `/`, folders are.
        fn new(paths: &[&str]) -> Fixture {
            let dir = tempfile::tempdir().unwrap();
            for path in paths {
                let path = dir.path().join(path);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                if path.to_str().unwrap().ends_with('/') {
                    fs::create_dir_all(path).unwrap();
                } else {
                    fs::write(path, "").unwrap();
                }
            }
            Fixture(dir)
        }

        fn path(&self, path: &str) -> PathBuf {
            self.0.path().canonicalize().unwrap().join(path)
        }

        /// The project of a folder, with another one as the home: its top, and where the folder is in it.
        fn project(&self, folder: &str, home: &str) -> (String, String) {
            let found = ProjectRoot::below(&self.path(folder), Some(&self.path(home)));
            let top = found.root.strip_prefix(self.path("")).unwrap();
            (top.to_str().unwrap().to_owned(), found.base)
        }
    }

    fn at(root: &str, base: &str) -> (String, String) {
        (root.to_owned(), base.to_owned())
    }

    #[test]
    fn the_nearest_repository_is_the_project_whatever_has_a_policy() {
        let paths =
            ["a/.git/HEAD", "a/b/quality.yaml", "a/b/c/d/x", "a/sub/.git", "a/sub/e/x", "quality.yaml"];
        let fixture = Fixture::new(&paths);
        assert_eq!(fixture.project("a/b/c/d", "none"), at("a", "b/c/d"));
        assert_eq!(fixture.project("a/b", "none"), at("a", "b"));
        assert_eq!(fixture.project("a", "none"), at("a", ""));
        assert_eq!(fixture.project("a/sub/e", "none"), at("a/sub", "e"), "a submodule, or a worktree");
        // The control: without the repository, the policy at the top decides.
        fs::remove_dir_all(fixture.path("a/.git")).unwrap();
        assert_eq!(fixture.project("a/b/c/d", "none"), at("", "a/b/c/d"));
        fs::create_dir(fixture.path("a/.jj")).unwrap();
        assert_eq!(fixture.project("a/b", "none"), at("a", "b"));
    }

    #[test]
    fn without_a_repository_the_topmost_policy_marks_the_project() {
        for policy in POLICY_NAMES {
            let fixture = Fixture::new(&[&format!("a/{policy}"), "a/b/quality.yaml", "a/b/c/x", "d/x"]);
            assert_eq!(fixture.project("a/b/c", "none"), at("a", "b/c"), "{policy}");
            assert_eq!(fixture.project("d", "none"), at("d", ""), "nothing marks it");
        }
    }

    #[test]
    fn the_home_is_no_project_and_ends_the_search() {
        let fixture = Fixture::new(&["home/.git/HEAD", "home/quality.yaml", "home/a/b/x", ".git/HEAD"]);
        assert_eq!(fixture.project("home/a/b", "home"), at("home/a/b", ""));
        assert_eq!(fixture.project("home", "home"), at("home", ""), "what opens it refuses it");
        // The control.
        assert_eq!(fixture.project("home/a/b", "none"), at("home", "a/b"));
    }

    #[test]
    fn a_folder_that_everybody_may_write_to_makes_nothing_below_it_a_project() {
        let fixture = Fixture::new(&["open/.git/HEAD", "open/quality.yaml", "open/a/x"]);
        assert_eq!(fixture.project("open/a", "none"), at("open", "a"));
        fs::set_permissions(fixture.path("open"), fs::Permissions::from_mode(0o1777)).unwrap();
        assert_eq!(fixture.project("open/a", "none"), at("open/a", ""));
    }

    #[test]
    fn a_path_is_spelled_from_a_folder() {
        for (base, path, expected) in [
            ("", "a/b", "a/b"),
            ("a", "a/b", "b"),
            ("a", "ab/c", "../ab/c"),
            ("a/b", "c", "../../c"),
            ("a/b", "a/c/d", "../c/d"),
            ("a/b", "a/b", "."),
            ("a/b", "", "../.."),
            ("a/b", "/usr/x", "/usr/x"),
        ] {
            assert_eq!(relative(base, path), expected, "{base} {path}");
        }
    }
}
