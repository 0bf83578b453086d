//! Finds the project of a folder: the nearest repository around it, else the topmost folder with a policy.
//!
//! Invariant: neither `/` nor the home directory is ever a project, and a folder that another user could have
//! prepared makes no folder below it part of a project.

use super::folder_names::POLICY_NAMES;
use std::ffi::OsString;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};

/// The names that mark the top of a repository.
const REPOSITORY: [&str; 2] = [".git", ".jj"];

/// The permission bit that lets everybody write.
const OTHERS_WRITE: u32 = 0o002;

/// The most symlinks in a path; the kernel has the same limit.
pub(super) const MAX_LINKS: usize = 40;

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

    /// Finds the projects whose policies govern a file that is edited from a folder: `session` if it has the file, else
    /// the project around the file. A link counts in the project that has the link, and in that of its target.
    ///
    /// If nothing marks a project around the session's folder, a project around the file goes first.
    /// A file in no project has none.
    pub fn of_file(session: &ProjectRoot, file: &Path) -> Vec<ProjectRoot> {
        ProjectRoot::of_file_in(session, file, std::env::home_dir().as_deref())
    }

    fn of_file_in(session: &ProjectRoot, file: &Path, home: Option<&Path>) -> Vec<ProjectRoot> {
        let real_home = home.and_then(|home| home.canonicalize().ok());
        let top = session.root.canonicalize().ok().filter(|top| can_be_root(top, real_home.as_deref()));
        let session = top.map(|root| (ProjectRoot { root, base: session.base.clone() }, session));
        let mut projects: Vec<ProjectRoot> = Vec::new();
        let target = link_target(file);
        let in_folder = file.parent().and_then(link_target).zip(file.file_name());
        let itself = in_folder.map(|(folder, name)| folder.join(name));
        for place in target.into_iter().chain(itself) {
            // The folders of a new file may be new, too.
            let Some(folder) = place.ancestors().skip(1).find(|above| above.is_dir()) else { continue };
            let own = session.clone().filter(|(real, _)| place.starts_with(&real.root));
            let around = || {
                ProjectRoot::marked(folder, home).map(|found| ProjectRoot { base: String::new(), ..found })
            };
            let found = match own {
                Some((real, given)) if ProjectRoot::marked(&real.root, home).is_some() => Some(given.clone()),
                Some((_, given)) => around().or_else(|| Some(given.clone())),
                None => around(),
            };
            projects.extend(found.filter(|found| !projects.contains(found)));
        }
        projects
    }

    fn below(folder: &Path, home: Option<&Path>) -> ProjectRoot {
        let folder_itself = || ProjectRoot { root: folder.to_owned(), base: String::new() };
        ProjectRoot::marked(folder, home).unwrap_or_else(folder_itself)
    }

    /// The project around a folder; `None` if neither a repository nor a policy marks one.
    fn marked(folder: &Path, home: Option<&Path>) -> Option<ProjectRoot> {
        let real = folder.canonicalize().ok()?;
        let home = home.and_then(|home| home.canonicalize().ok());
        let owner = real.metadata().ok().map(|found| found.uid());
        let own: Vec<u32> = [rustix::process::geteuid().as_raw(), 0].into_iter().chain(owner).collect();
        let candidates = real.ancestors().take_while(|above| can_be_root(above, home.as_deref()));
        let above: Vec<&Path> = candidates.filter(|above| is_own(above, &own)).collect();
        let has = |above: &Path, names: &[&str]| names.iter().any(|name| is_there(&above.join(name)));
        let repository = above.iter().find(|above| has(above, &REPOSITORY));
        let topmost_with_policy = || above.iter().rev().find(|above| has(above, POLICY_NAMES));
        let root = repository.or_else(topmost_with_policy)?;
        // A path that is not UTF-8 cannot be displayed, so nothing above such a folder can be its root.
        let base = real.strip_prefix(root).ok().and_then(Path::to_str)?;
        Some(ProjectRoot { root: (*root).to_owned(), base: base.to_owned() })
    }
}

/// True unless a folder is `/` or the home directory; both paths are real.
fn can_be_root(folder: &Path, home: Option<&Path>) -> bool {
    folder.parent().is_some() && home != Some(folder)
}

/// The path that an absolute path leads to, without links and dots; the rest of it after a name that does not exist
/// stays as it is. `None` for a loop of links, and for a path that is not absolute.
pub fn link_target(path: &Path) -> Option<PathBuf> {
    if !path.is_absolute() {
        return None;
    }
    let parts = |path: &Path| -> Vec<OsString> {
        path.components().rev().map(|part| part.as_os_str().to_owned()).collect()
    };
    let mut real = PathBuf::from("/");
    let mut rest = parts(path);
    let mut links = 0;
    while let Some(part) = rest.pop() {
        match Path::new(&part).components().next() {
            Some(Component::RootDir) => real = PathBuf::from("/"),
            Some(Component::ParentDir) => drop(real.pop()),
            Some(Component::CurDir | Component::Prefix(_)) | None => {}
            Some(Component::Normal(name)) => match real.join(name).read_link() {
                Ok(_) if links == MAX_LINKS => return None,
                Ok(target) => {
                    links += 1;
                    rest.extend(parts(&target));
                }
                Err(_) => real.push(name),
            },
        }
    }
    Some(real)
}

fn is_there(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
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
    use std::os::unix::fs::{PermissionsExt as _, symlink};

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
    fn a_file_is_governed_by_the_project_around_it_wherever_the_session_is() {
        let paths =
            ["a/.git/HEAD", "a/b/x", "a/sub/.git", "p/quality.yaml", "p/q/x", "plain/x", "plain/r/.git"];
        let fixture = Fixture::new(&paths);
        symlink(fixture.path("a/new.txt"), fixture.path("plain/dangling")).unwrap();
        symlink("hop", fixture.path("p/chain")).unwrap();
        symlink("../a/b", fixture.path("p/hop")).unwrap();
        symlink("loop", fixture.path("plain/loop")).unwrap();
        let home = fixture.path("none");
        let found = |session: &str, file: &str| -> Vec<String> {
            let session = ProjectRoot::below(&fixture.path(session), Some(&home));
            let projects = ProjectRoot::of_file_in(&session, &fixture.path(file), Some(&home));
            let tops = projects.iter().map(|found| found.root.strip_prefix(fixture.path("")).unwrap());
            tops.map(|top| top.to_str().unwrap().to_owned()).collect()
        };
        for (session, file, expected) in [
            ("a", "a/b/x", &["a"][..]),
            ("a/b", "a/x", &["a"]),
            ("a", "a/sub/x", &["a"]),
            ("p", "a/b/x", &["a"]),
            ("p", "a/new/folder/x", &["a"]),
            ("p", "a/sub/x", &["a/sub"]),
            ("a", "p/q/x", &["p"]),
            ("plain", "a/b/x", &["a"]),
            ("plain", "plain/x", &["plain"]),
            ("plain", "plain/r/x", &["plain/r"]),
            ("gone", "a/b/x", &["a"]),
            ("a", "plain/x", &[]),
            ("a", "plain/dangling", &["a"]),
            ("plain", "plain/dangling", &["a", "plain"]),
            ("plain", "p/chain/x", &["a"]),
            ("plain", "p/chain", &["a", "p"]),
            ("a", "plain/loop", &[]),
        ] {
            assert_eq!(found(session, file), expected, "{file} from {session}");
        }
        // The home governs no file.
        let home = fixture.path("a");
        let session = ProjectRoot::below(&home, Some(&home));
        assert_eq!(ProjectRoot::of_file_in(&session, &fixture.path("a/b/x"), Some(&home)), []);
        let inner = ProjectRoot::of_file_in(&session, &fixture.path("a/sub/x"), Some(&home));
        assert_eq!(inner.len(), 1);
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
