//! Finds the programs of a policy's commands, so that a project cannot replace one by its own.
//!
//! Invariant: a program that was found has an absolute path, and is a regular file that may be executed. It
//! is inside a root only if the gate's definition says `{venv}` or `{node_modules}`.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::ffi::{OsStr, OsString};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use lockgate_policy::{CommandWord, Hole, Rule, WordPart};

/// The folder names that `{venv}` looks for: Python environments.
const VENV: &[&str] = &[".venv", "venv"];
/// The folder name that `{node_modules}` looks for: npm packages.
const NODE_MODULES: &[&str] = &["node_modules"];

/// The directories in which programs are searched.
#[derive(Debug, Clone, Copy)]
pub struct SearchPath<'a> {
    /// The folders that may contain the project's environment, nearest first: from that of the policy up to
    /// the root.
    pub folders: &'a [PathBuf],
    /// The absolute paths of all roots.
    pub roots: &'a [PathBuf],
    /// The search path, in the format of the variable `PATH`.
    pub path: &'a OsStr,
}

/// The resolved program of each gate, or the reason that there is none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ResolvedPrograms {
    results: BTreeMap<String, SearchResult>,
    path: OsString,
}

/// A program that the search found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResolvedProgram {
    /// The absolute path by which it is started; UTF-8.
    pub program: PathBuf,
    /// The canonical path of the file; UTF-8.
    pub real: PathBuf,
    /// Set when the program is inside a root, where anyone who can change the project can change it.
    pub inside: bool,
}

/// The result of the search for one program.
#[derive(Debug, Clone, PartialEq, Eq)]
struct SearchResult {
    resolved: Option<ResolvedProgram>,
    rejected: Vec<String>,
}

impl ResolvedPrograms {
    /// Finds the program of each gate that runs one: the first place of its `bin` that has it.
    pub fn find<'a>(
        commands: impl IntoIterator<Item = &'a Rule>,
        search: &SearchPath<'_>,
    ) -> ResolvedPrograms {
        let finder = ProgramFinder::new(search);
        let mut results = BTreeMap::new();
        for gate in commands.into_iter().map(|rule| &rule.gate) {
            if let Some(command) = gate.command() {
                results.insert(gate.name.clone(), finder.find_program(&command.program.bin));
            }
            if let Some(server) = gate.server() {
                results.insert(
                    ResolvedPrograms::server_name(&gate.name),
                    finder.find_program(&server.program.bin),
                );
            }
        }
        let path = std::env::join_paths(&finder.path).unwrap_or_default();
        ResolvedPrograms { results, path }
    }

    /// Returns the key for the program of a gate's language server, as opposed to that of its command.
    pub fn server_name(gate: &str) -> String {
        format!("{gate}/server")
    }

    /// Returns the path of a gate's program, by the name of the gate.
    pub fn program(&self, gate: &str) -> Option<&Path> {
        Some(&self.resolved(gate)?.program)
    }

    /// Returns the resolved program of a gate.
    pub fn resolved(&self, gate: &str) -> Option<&ResolvedProgram> {
        self.results.get(gate)?.resolved.as_ref()
    }

    /// Returns the candidates that the search for a gate's program rejected, each with its reason.
    pub fn rejected(&self, gate: &str) -> &[String] {
        self.results.get(gate).map_or(&[], |result| &result.rejected)
    }

    /// Returns each gate with its program, ordered by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Option<&ResolvedProgram>)> {
        self.results.iter().map(|(gate, result)| (gate.as_str(), result.resolved.as_ref()))
    }

    /// Returns the search path for child processes of the programs, without relative folders and folders
    /// inside a root.
    pub fn path(&self) -> &OsStr {
        &self.path
    }
}

/// A search for programs, with the identities of the roots.
struct ProgramFinder<'a> {
    folders: &'a [PathBuf],
    roots: Vec<(u64, u64)>,
    /// The folders of the search path that are searched.
    path: Vec<PathBuf>,
    /// The folders that are not searched, because they are inside a root.
    inside: Vec<PathBuf>,
    relative: bool,
    /// A cache: for each folder, true if it is inside a root.
    known: RefCell<HashMap<PathBuf, bool>>,
}

impl<'a> ProgramFinder<'a> {
    fn new(search: &SearchPath<'a>) -> ProgramFinder<'a> {
        let roots = search.roots.iter().filter_map(|root| identity(root).ok()).collect();
        let mut finder = ProgramFinder {
            folders: search.folders,
            roots,
            path: Vec::new(),
            inside: Vec::new(),
            relative: false,
            known: RefCell::default(),
        };
        for folder in std::env::split_paths(search.path) {
            if !folder.is_absolute() {
                finder.relative = true;
            } else if finder.is_inside(&folder) {
                finder.inside.push(folder);
            } else {
                finder.path.push(folder);
            }
        }
        finder
    }

    fn find_program(&self, bin: &[CommandWord]) -> SearchResult {
        let mut rejected = Vec::new();
        let resolved = bin.iter().find_map(|place| self.at(place, &mut rejected));
        SearchResult { resolved, rejected }
    }

    /// Returns the program at a place of `bin`.
    fn at(&self, place: &CommandWord, rejected: &mut Vec<String>) -> Option<ResolvedProgram> {
        match place.parts.as_slice() {
            [WordPart::Hole(Hole::Venv), WordPart::Text(rest)] => self.in_project(VENV, rest, rejected),
            [WordPart::Hole(Hole::NodeModules), WordPart::Text(rest)] => {
                self.in_project(NODE_MODULES, rest, rejected)
            }
            [WordPart::Text(path)] if path.starts_with('/') => self.at_path(Path::new(path), rejected),
            [WordPart::Text(name)] if !name.contains('/') => self.in_path(name, rejected),
            _ => None,
        }
    }

    /// Returns the program in the nearest environment of the project; `rest` begins with a slash.
    fn in_project(&self, names: &[&str], rest: &str, rejected: &mut Vec<String>) -> Option<ResolvedProgram> {
        let rest = rest.trim_start_matches('/');
        let environments = self.folders.iter().flat_map(|folder| names.iter().map(|name| folder.join(name)));
        for program in environments.map(|environment| environment.join(rest)) {
            match executable(&program) {
                Ok(Some(real)) => return Some(self.resolve(program, real)),
                Ok(None) => {}
                Err(why) => rejected.push(why),
            }
        }
        rejected.push(format!("no {rest} in {} of the project", names.join(" or ")));
        None
    }

    fn at_path(&self, program: &Path, rejected: &mut Vec<String>) -> Option<ResolvedProgram> {
        let noted = rejected.len();
        let found = self.outside(program, rejected);
        if found.is_none() && rejected.len() == noted {
            rejected.push(format!("no {}", program.display()));
        }
        found
    }

    fn in_path(&self, name: &str, rejected: &mut Vec<String>) -> Option<ResolvedProgram> {
        for folder in &self.inside {
            if executable(&folder.join(name)).is_ok_and(|real| real.is_some()) {
                rejected.push(lies_inside(&folder.join(name)));
            }
        }
        let found = self.path.iter().find_map(|folder| self.outside(&folder.join(name), rejected));
        if found.is_none() {
            let passed = if self.relative { ", whose relative folders are ignored" } else { "" };
            rejected.push(format!("no {name} in the search path{passed}"));
        }
        found
    }

    /// Returns the program at an absolute path, if that path and its canonical path are outside of every
    /// root.
    fn outside(&self, program: &Path, rejected: &mut Vec<String>) -> Option<ResolvedProgram> {
        match executable(program) {
            Ok(None) => {}
            Ok(Some(real)) if !self.is_inside(program) && !self.is_inside(&real) => {
                return Some(self.resolve(program.to_owned(), real));
            }
            Ok(Some(_)) => rejected.push(lies_inside(program)),
            Err(why) => rejected.push(why),
        }
        None
    }

    fn resolve(&self, program: PathBuf, real: PathBuf) -> ResolvedProgram {
        let inside = self.is_inside(&program) || self.is_inside(&real);
        ResolvedProgram { program, real, inside }
    }

    /// True if an absolute path leads through a root, or if that is unknown.
    ///
    /// Folders are compared by device and inode, because links and mounts give a root several names.
    fn is_inside(&self, path: &Path) -> bool {
        if let Some(known) = self.known.borrow().get(path) {
            return *known;
        }
        let is_root = match identity(path) {
            Ok(identity) => self.roots.contains(&identity),
            Err(error) => !is_absent(&error),
        };
        let is_inside = is_root || path.parent().is_some_and(|above| self.is_inside(above));
        self.known.borrow_mut().insert(path.to_owned(), is_inside);
        is_inside
    }
}

fn lies_inside(program: &Path) -> String {
    format!("{} lies inside a root", program.display())
}

/// Returns the canonical path of an executable file; `None` if nothing exists there.
///
/// Errors: the reason that the file is rejected.
fn executable(program: &Path) -> Result<Option<PathBuf>, String> {
    let because = |why: &str| Err(format!("{} {why}", program.display()));
    let found = match program.metadata() {
        Ok(found) => found,
        Err(error) if is_absent(&error) => return Ok(None),
        Err(error) => return because(&error.to_string()),
    };
    if !found.is_file() {
        return because("is not a file");
    }
    if found.permissions().mode() & 0o111 == 0 {
        return because("is not executable");
    }
    match program.canonicalize() {
        Ok(real) if real.to_str().is_some() && program.to_str().is_some() => Ok(Some(real)),
        Ok(_) => because("is not UTF-8"),
        Err(error) => because(&error.to_string()),
    }
}

fn is_absent(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory)
}

fn identity(path: &Path) -> std::io::Result<(u64, u64)> {
    path.metadata().map(|found| (found.dev(), found.ino()))
}

/// Returns the search path of this process.
pub fn search_path() -> OsString {
    std::env::var_os("PATH").unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockgate_policy::Policy;
    use std::os::unix::fs::symlink;
    use tempfile::TempDir;

    /// A root, folders next to it, and programs in them.
    struct Fixture {
        dir: TempDir,
        path: OsString,
    }

    impl Fixture {
        fn new(programs: &[&str]) -> Fixture {
            let dir = tempfile::tempdir().unwrap();
            std::fs::create_dir_all(dir.path().join("root/sub")).unwrap();
            for program in programs {
                write(&dir.path().join(program), 0o755);
            }
            let path = dir.path().join("bin").into_os_string();
            Fixture { dir, path }
        }

        fn at(&self, path: &str) -> PathBuf {
            self.dir.path().canonicalize().unwrap().join(path)
        }

        /// Returns the text with DIR replaced by the folder of the fixture.
        fn fill(&self, text: &str) -> String {
            text.replace("DIR", self.dir.path().canonicalize().unwrap().to_str().unwrap())
        }

        /// Returns the program found for a gate with these places in `bin`.
        fn find(&self, bin: &str) -> ResolvedPrograms {
            let text = format!(
                "quality_gates: {{ python: [{{ tool: it }}] }}\ndefine:\n  it:\n    about: A gate.\n    kind: command\n    \
                 languages: [python]\n    input: stdin\n    command: [it, \"{{path}}\"]\n    bin: {}\n    \
                 output: {{ text: exit, message: bad }}\n",
                self.fill(bin)
            );
            let policy = Policy::parse("quality.yaml", &text).unwrap();
            let (folders, roots) = ([self.at("root/sub"), self.at("root")], [self.at("root")]);
            ResolvedPrograms::find(
                policy.commands(),
                &SearchPath { folders: &folders, roots: &roots, path: &self.path },
            )
        }

        #[track_caller]
        fn finds(&self, bin: &str, program: &str, inside: bool) -> ResolvedProgram {
            let programs = self.find(bin);
            let resolved =
                programs.resolved("it").unwrap_or_else(|| panic!("{bin}: {:?}", programs.rejected("it")));
            assert_eq!((&resolved.program, resolved.inside), (&self.at(program), inside), "{bin}");
            assert_eq!(programs.program("it"), Some(self.at(program).as_path()));
            resolved.clone()
        }

        #[track_caller]
        fn finds_none(&self, bin: &str, why: &str) {
            let programs = self.find(bin);
            assert_eq!(programs.program("it"), None, "{bin}");
            let reasons = programs.rejected("it").join("; ");
            assert!(reasons.contains(&self.fill(why)), "{bin}: {reasons}");
        }
    }

    fn write(path: &Path, mode: u32) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "#!/bin/sh\n").unwrap();
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn the_first_place_with_the_program_counts() {
        let all = ["bin/it", "opt/it", "root/.venv/bin/it", "root/node_modules/.bin/it"];
        let fixture = Fixture::new(&all);
        fixture.finds("[it]", "bin/it", false);
        fixture.finds("['DIR/opt/it', it]", "opt/it", false);
        fixture.finds("['DIR/opt/none', it]", "bin/it", false);
        fixture.finds("['{venv}/bin/it', it]", "root/.venv/bin/it", true);
        fixture.finds("['{node_modules}/.bin/it', it]", "root/node_modules/.bin/it", true);
        fixture.finds("['{venv}/bin/none', '{node_modules}/.bin/none', it]", "bin/it", false);
        fixture.finds_none("[none]", "no none in the search path");
        fixture.finds_none(
            "['DIR/none', '{venv}/bin/none']",
            "DIR/none; no bin/none in .venv or venv of the project",
        );
    }

    #[test]
    fn the_project_s_environment_is_the_nearest_that_has_it() {
        let fixture = Fixture::new(&["root/sub/venv/bin/it", "root/.venv/bin/it", "root/.venv/bin/far"]);
        fixture.finds("['{venv}/bin/it']", "root/sub/venv/bin/it", true);
        fixture.finds("['{venv}/bin/far']", "root/.venv/bin/far", true);
        write(&fixture.at("root/sub/.venv/bin/it"), 0o755);
        fixture.finds("['{venv}/bin/it']", "root/sub/.venv/bin/it", true);
    }

    #[test]
    fn no_other_program_in_a_root_is_accepted_under_any_name() {
        let mut fixture = Fixture::new(&["root/bin/it", "root/sub/it"]);
        symlink(fixture.at("root"), fixture.at("link")).unwrap();
        symlink(fixture.at("root/bin"), fixture.at("tools")).unwrap();
        std::fs::create_dir(fixture.at("bin")).unwrap();
        let inside =
            ["root/bin", "root/sub/../bin", "link/bin", "tools", "root/../root/bin", "bin/../link/bin"];
        for folder in inside {
            fixture.path = fixture.at(folder).into_os_string();
            fixture.finds_none("[it]", &format!("DIR/{folder}/it lies inside a root"));
        }
        for place in ["DIR/root/bin/it", "DIR/link/bin/it", "DIR/tools/it"] {
            fixture.finds_none(&format!("['{place}']"), &format!("{place} lies inside a root"));
        }
        fixture.path = fixture.at("bin").into_os_string();
        symlink(fixture.at("root/bin/it"), fixture.at("bin/it")).unwrap();
        fixture.finds_none("[it]", "DIR/bin/it lies inside a root");
        fixture.finds_none("['DIR/bin/it']", "DIR/bin/it lies inside a root");
        // The control: programs outside of the roots are found, and a program in a root only by its own
        // placeholder.
        std::fs::remove_file(fixture.at("bin/it")).unwrap();
        write(&fixture.at("bin/it"), 0o755);
        fixture.finds("[it]", "bin/it", false);
        write(&fixture.at("root/venv/bin/it"), 0o755);
        fixture.finds_none("['DIR/root/venv/bin/it']", "lies inside a root");
        fixture.finds("['{venv}/bin/it']", "root/venv/bin/it", true);
    }

    #[test]
    fn relative_and_empty_folders_of_the_search_path_are_nothing() {
        let mut fixture = Fixture::new(&["bin/it"]);
        let current_dir = std::env::current_dir().unwrap();
        let up = "../".repeat(current_dir.components().count());
        let bin = format!("{up}{}", fixture.at("bin").display());
        assert!(Path::new(&bin).join("it").is_file(), "the control: the system would find it");
        for path in ["", ".", ":", "~/bin", &bin, &format!(":{bin}:"), &format!("./{bin}")] {
            fixture.path = path.into();
            fixture.finds_none("[it]", "no it in the search path");
        }
        assert_eq!(fixture.find("[it]").path(), "");
        let folders = [Path::new("relative"), &fixture.at("root/bin"), &fixture.at("bin"), Path::new("")];
        fixture.path = std::env::join_paths(folders).unwrap();
        assert_eq!(fixture.find("[it]").path(), fixture.at("bin").as_os_str());
    }

    #[test]
    fn only_a_file_that_may_be_executed_is_a_program() {
        let fixture = Fixture::new(&["bin/folder/it"]);
        write(&fixture.at("bin/plain"), 0o644);
        symlink(fixture.at("nowhere"), fixture.at("bin/dangling")).unwrap();
        symlink("loop", fixture.at("bin/loop")).unwrap();
        fixture.finds_none("[folder]", "DIR/bin/folder is not a file");
        fixture.finds_none("[plain]", "DIR/bin/plain is not executable");
        fixture.finds_none("[dangling]", "no dangling in the search path");
        fixture.finds_none("[loop]", "DIR/bin/loop ");
        let real = write_and_link(&fixture);
        assert_eq!(fixture.finds("[linked]", "bin/linked", false).real, real);
    }

    fn write_and_link(fixture: &Fixture) -> PathBuf {
        write(&fixture.at("opt/real"), 0o755);
        symlink(fixture.at("opt/real"), fixture.at("bin/linked")).unwrap();
        fixture.at("opt/real")
    }
}
