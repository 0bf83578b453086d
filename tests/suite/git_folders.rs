//! A git folder that is put together from plain files: whatever the order and whatever the call, the last piece is not
//! written, and `git status` there runs nothing.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use lockgate_checks::Watch;
use lockgate_edit::Edit;
use lockgate_edit::request::{Direction, Mode, Request};
use lockgate_engine::{Report, Workspace};
use lockgate_error::{Code, Error};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use super::{edits, files};

/// Settings with which `git status` in the folder runs a command; the command makes the file `ran`.
const CONFIG: &str = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = ..\n\tfsmonitor = \"touch {ran}; false\"\n";

/// Files that are a git folder together.
struct Layout {
    name: &'static str,
    /// The folder in which git is started.
    start: &'static str,
    files: &'static [(&'static str, &'static str)],
}

const LAYOUTS: &[Layout] = &[
    Layout {
        name: "a branch",
        start: "v",
        files: &[
            ("v/config", CONFIG),
            ("v/HEAD", "ref: refs/heads/main\n"),
            ("v/objects/x", "x\n"),
            ("v/refs/x", "x\n"),
        ],
    },
    Layout {
        name: "a commit",
        start: "deep/down/v/refs",
        files: &[
            ("deep/down/v/config", CONFIG),
            ("deep/down/v/HEAD", "0123456789012345678901234567890123456789\n"),
            ("deep/down/v/objects/pack/x", "x\n"),
            ("deep/down/v/refs/heads/x", "x\n"),
        ],
    },
    Layout {
        name: "the root",
        start: "",
        files: &[
            ("config", CONFIG),
            ("HEAD", "ref:refs/heads/main\n"),
            ("objects/x", "x\n"),
            ("refs/x", "x\n"),
        ],
    },
    Layout {
        name: "an included file",
        start: "v",
        files: &[
            ("plain.txt", "[core]\n\tfsmonitor = \"touch {ran}; false\"\n"),
            (
                "v/config",
                "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = ..\n[include]\n\tpath = ../plain.txt\n",
            ),
            ("v/HEAD", "ref: refs/heads/main\n"),
            ("v/objects/x", "x\n"),
            ("v/refs/x", "x\n"),
        ],
    },
    Layout {
        name: "parts that lie elsewhere",
        start: "w",
        files: &[
            ("w/HEAD", "ref: refs/heads/main\n"),
            ("w/commondir", "../x\n"),
            ("w/config.worktree", "[core]\n\tbare = false\n\tworktree = ..\n"),
            (
                "x/config",
                "[core]\n\trepositoryformatversion = 1\n\tfsmonitor = \"touch {ran}; false\"\n[extensions]\n\tworktreeConfig = true\n",
            ),
            ("x/objects/x", "x\n"),
            ("x/refs/x", "x\n"),
        ],
    },
];

struct Project {
    folder: TempDir,
    workspace: Arc<Workspace>,
    runtime: Runtime,
}

impl Project {
    fn new() -> Project {
        Project::with_roots(&[""])
    }

    /// A project with these folders of the project as roots.
    fn with_roots(roots: &[&str]) -> Project {
        let folder = tempfile::tempdir().unwrap();
        let roots: Vec<PathBuf> = roots.iter().map(|root| folder.path().join("root").join(root)).collect();
        roots.iter().for_each(|root| fs::create_dir_all(root).unwrap());
        let workspace = Workspace::at(&roots).with_state_dir(&folder.path().join("own")).open().unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let project = Project { folder, workspace, runtime };
        project.put("quality.yaml", "quality_gates: {}\n");
        project
    }

    fn at(&self, path: &str) -> PathBuf {
        self.folder.path().join("root").join(path)
    }

    /// The text of a piece, which names the file that its command makes.
    fn text(&self, text: &str) -> String {
        text.replace("{ran}", &self.folder.path().join("ran").display().to_string())
    }

    /// Writes a file without lockgate.
    fn put(&self, path: &str, text: &str) {
        files::write(self.at(path), self.text(text));
    }

    fn content(&self, path: &str, text: &str) -> Request {
        edits::of_file(path, Edit::Content(self.text(text)))
    }

    fn edit(&self, request: Request) -> Result<Report, Error> {
        self.runtime.block_on(self.workspace.edit(request, Watch::idle()))
    }

    fn write(&self, path: &str, text: &str) -> Result<Report, Error> {
        self.edit(self.content(path, text))
    }

    fn write_all(&self, files: &[(&str, &str)]) -> Result<Vec<Report>, Error> {
        let requests = files.iter().map(|(path, text)| self.content(path, text)).collect();
        self.runtime.block_on(self.workspace.edit_all(requests, Watch::idle()))
    }

    fn undo(&self, direction: Direction, report: &Report) -> Result<Vec<Report>, Error> {
        let revert = edits::revert(direction, report.edit_id.map(|id| id.to_string()));
        self.runtime.block_on(self.workspace.undo_or_redo(revert, Watch::idle()))
    }

    /// Returns true if `git status` in the folder runs the command.
    fn runs(&self, folder: &str) -> bool {
        let marker = self.folder.path().join("ran");
        let _ = fs::remove_file(&marker);
        let at = self.at(folder);
        if !at.is_dir() {
            return false;
        }
        let mut git = Command::new("git");
        git.arg("status").current_dir(at).env("HOME", self.folder.path()).env("GIT_CONFIG_NOSYSTEM", "1");
        git.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
        marker.exists()
    }
}

fn has_git() -> bool {
    let found = Command::new("git").arg("version").stdout(Stdio::null()).status().is_ok();
    if !found {
        super::store::not_run("git is not there");
    }
    found
}

/// Every order of some things.
fn orders<T: Copy>(items: &[T]) -> Vec<Vec<T>> {
    let [] = items else {
        let rotations = (0..items.len()).flat_map(|at| {
            let mut rest = items.to_vec();
            let first = rest.remove(at);
            orders(&rest).into_iter().map(move |mut order| {
                order.insert(0, first);
                order
            })
        });
        return rotations.collect();
    };
    vec![Vec::new()]
}

/// The orders that are tried: all where they are few, else those that begin with each thing, forwards and backwards.
fn sampled_orders<T: Copy>(items: &[T]) -> Vec<Vec<T>> {
    if items.len() <= 4 {
        return orders(items);
    }
    let rotations = (0..items.len()).map(|by| {
        let mut order = items.to_vec();
        order.rotate_left(by);
        order
    });
    rotations.flat_map(|order| [order.iter().rev().copied().collect(), order]).collect()
}

/// The control: every layout, written without lockgate, has git run its command.
#[test]
fn every_layout_runs_a_command_when_nothing_guards_it() {
    if !has_git() {
        return;
    }
    for layout in LAYOUTS {
        let project = Project::new();
        layout.files.iter().for_each(|(path, text)| project.put(path, text));
        assert!(project.runs(layout.start), "{}", layout.name);
    }
}

#[test]
fn no_order_of_edits_makes_a_git_folder() {
    let with_git = has_git();
    for layout in LAYOUTS {
        for order in sampled_orders(layout.files) {
            let project = Project::new();
            let results: Vec<_> = order.iter().map(|(path, text)| project.write(path, text)).collect();
            let refused: Vec<_> = results.iter().filter_map(|result| result.as_ref().err()).collect();
            let names: Vec<_> = order.iter().map(|(path, _)| *path).collect();
            assert!(!refused.is_empty(), "{} {names:?}", layout.name);
            assert!(refused.iter().all(|error| error.code == Code::Protected), "{names:?} {refused:?}");
            assert!(!with_git || !project.runs(layout.start), "{} {names:?} runs a command", layout.name);
        }
    }
}

/// The pieces of one folder are refused whichever of them comes last.
#[test]
fn the_last_piece_is_refused_in_every_order() {
    for layout in &LAYOUTS[..3] {
        for order in orders(layout.files) {
            let project = Project::new();
            let results: Vec<_> = order.iter().map(|(path, text)| project.write(path, text)).collect();
            assert!(results.first().unwrap().is_ok(), "{order:?} {results:?}");
            assert!(results.last().unwrap().is_err(), "{order:?}");
        }
    }
}

#[test]
fn a_single_piece_that_is_missing_is_refused() {
    let with_git = has_git();
    for layout in LAYOUTS {
        for (missing, text) in layout.files.iter().filter(|(path, _)| *path != "plain.txt") {
            let project = Project::new();
            let other_files = layout.files.iter().filter(|(path, _)| path != missing);
            other_files.for_each(|(path, text)| project.put(path, text));
            if *missing == "w/config.worktree" {
                // What is there is a git folder already.
                assert_eq!(project.write(missing, text).unwrap_err().code, Code::Protected);
                continue;
            }
            assert!(!with_git || !project.runs(layout.start), "{} is no piece", missing);
            let error = project.write(missing, text).unwrap_err();
            assert_eq!(error.code, Code::Protected, "{missing}: {}", error.message);
            assert!(!project.at(missing).exists());
            let mut shown = project.content(missing, text);
            shown.mode = Mode::VerifyOnly;
            assert_eq!(project.edit(shown).unwrap_err().code, Code::Protected, "{missing}");
        }
    }
}

#[test]
fn one_call_that_brings_all_pieces_is_refused_in_every_order() {
    for layout in LAYOUTS {
        for order in sampled_orders(layout.files) {
            let project = Project::new();
            let error = project.write_all(&order).unwrap_err();
            assert_eq!(error.code, Code::Protected, "{}: {}", layout.name, error.message);
            let field = error.field_path().unwrap_or_default();
            assert!(field.starts_with("edits["), "{field}");
            assert!(order.iter().all(|(path, _)| !project.at(path).exists()));
        }
    }
}

#[test]
fn one_call_that_brings_the_missing_pieces_is_refused() {
    let files = LAYOUTS[0].files;
    for present in files {
        let project = Project::new();
        project.put(present.0, present.1);
        let rest: Vec<_> = files.iter().filter(|file| file.0 != present.0).copied().collect();
        assert_eq!(project.write_all(&rest).unwrap_err().code, Code::Protected, "{}", present.0);
    }
}

#[test]
fn roots_within_one_another_are_one_folder() {
    let project = Project::with_roots(&["", "v"]);
    let absolute = |path: &str| {
        project.at(path).canonicalize().unwrap_or_else(|_| project.at(path)).display().to_string()
    };
    let (refs, objects) = (absolute("v/refs/x"), absolute("v/objects/x"));
    let all = [("v/HEAD", "ref: refs/heads/main\n"), (refs.as_str(), "x\n"), (objects.as_str(), "x\n")];
    assert_eq!(project.write_all(&all).map(drop).unwrap_err().code, Code::Protected);
    // The control: two of the three are written, or refused because one call cannot be about two roots.
    let some = project.write_all(&all[1..]);
    assert!(some.is_ok(), "{some:?}");
    assert_eq!(project.write(all[0].0, all[0].1).unwrap_err().code, Code::Protected);
}

#[test]
fn undo_and_redo_make_no_git_folder() {
    for (head, refused) in [("v/HEAD", true), ("v/head.txt", false)] {
        let removed = Project::new();
        removed.put(head, "ref: refs/heads/main\n");
        let removal = removed.edit(edits::of_file(head, Edit::Remove)).unwrap();
        let created = Project::new();
        let creation = created.write(head, "ref: refs/heads/main\n").unwrap();
        created.undo(Direction::Undo, &creation).unwrap();
        for (project, direction, report) in
            [(&removed, Direction::Undo, &removal), (&created, Direction::Redo, &creation)]
        {
            project.write("v/objects/x", "x\n").unwrap();
            project.write("v/refs/x", "x\n").unwrap();
            let result = project.undo(direction, report);
            assert_eq!(
                result.as_ref().err().map(|error| error.code),
                refused.then_some(Code::Protected),
                "{result:?}"
            );
            assert_eq!(project.at(head).exists(), !refused);
        }
    }
}

#[test]
fn the_removal_of_what_keeps_git_away_is_refused() {
    let project = Project::new();
    LAYOUTS[0].files.iter().for_each(|(path, text)| project.put(path, text));
    project.put("v/commondir", "nowhere\n");
    assert!(!has_git() || !project.runs("v"));
    let removal = project.edit(edits::of_file("v/commondir", Edit::Remove));
    assert_eq!(removal.unwrap_err().code, Code::Protected);
    fs::remove_file(project.at("v/commondir")).unwrap();
    assert!(!has_git() || project.runs("v"), "the control");
}

/// Git asks only whether `objects` may be entered, which a program file may be, too.
#[test]
fn a_program_file_or_a_link_is_a_piece_like_a_folder() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    for linked in [false, true] {
        let project = Project::new();
        project.put("v/config", CONFIG);
        project.put("v/refs/x", "x\n");
        if linked {
            symlink("refs", project.at("v/objects")).unwrap();
        } else {
            project.put("v/objects", "#!/bin/sh\n");
            fs::set_permissions(project.at("v/objects"), fs::Permissions::from_mode(0o755)).unwrap();
        }
        assert_eq!(project.write("v/HEAD", "ref: refs/heads/main\n").unwrap_err().code, Code::Protected);
        project.put("v/HEAD", "ref: refs/heads/main\n");
        assert!(!has_git() || project.runs("v"), "the control");
        assert_eq!(project.write("v/other", "x\n").unwrap_err().code, Code::Protected);
    }
}

#[test]
fn pieces_are_found_behind_links_and_in_every_spelling() {
    for (head, objects, refs) in [
        ("v/head", "v/OBJECTS/x", "v/Refs/x"),
        ("v/HE\u{200d}AD", "v/objects/x", "v/refs/x"),
        ("v/HEAD.", "v/\u{ff4f}bjects/x", "v/ref\u{17f}/x"),
        ("link/HEAD", "./v/../v/objects/x", "v//refs/x"),
        ("v/HEAD", "link/objects/x", "link/refs/deep/er/x"),
    ] {
        for order in orders(&[head, objects, refs]) {
            let project = Project::new();
            fs::create_dir(project.at("v")).unwrap();
            std::os::unix::fs::symlink("v", project.at("link")).unwrap();
            let results: Vec<_> =
                order.iter().map(|path| project.write(path, "x\n").map_err(|error| error.code)).collect();
            // A name with characters that are not seen is no new name.
            let unseen = |result: &Result<Report, Code>| result.as_ref().err() == Some(&Code::InvalidInput);
            let refused = results[..2].iter().any(unseen) || unseen(&results[2]);
            assert!(refused || results[..2].iter().all(Result::is_ok), "{order:?} {results:?}");
            assert!(refused || results[2].as_ref().err() == Some(&Code::Protected), "{order:?} {results:?}");
        }
    }
}

#[test]
fn a_configuration_that_runs_something_is_refused_next_to_any_piece_and_written_elsewhere() {
    for setting in [
        "[core]\n\tfsmonitor = x\n",
        "[CORE]\n\tFSMonitor = x\n",
        "[core] hooksPath = x\n",
        "[alias]\n\tst = !x\n",
        "[include]\npath=x\n",
        "[includeIf \"gitdir:x\"]\npath=x\n",
        "[filter \"x\"]\n\tclean = x\n",
        "[core]\n\tpager = x\n",
        "[diff \"x\"]\n\ttextconv = x\n",
        "[credential]\n\thelper = !x\n",
        "[a]\n\tb = \"x \\\n[c] \\\n\"\n[core]\n\teditor = x\n",
    ] {
        for (piece, name) in [
            ("v/HEAD", "config"),
            ("v/objects/x", "config"),
            ("v/refs/x", "CONFIG"),
            ("v/commondir", "config.worktree"),
        ] {
            let project = Project::new();
            project.put(piece, "x\n");
            let written = project.write(&format!("v/{name}"), setting);
            assert_eq!(written.unwrap_err().code, Code::Protected, "{setting:?} beside {piece}");
            assert!(project.write(&format!("other/{name}"), setting).is_ok(), "{setting:?}");
        }
    }
}

#[test]
fn projects_with_a_few_of_the_names_stay_editable() {
    let ini = "[window]\nwidth = 800\n\n[paths]\nhelp = docs\nprocess = yes\n";
    for files in [
        &[("app/config", ini), ("app/objects/tree.obj", "v 0 0 0\n"), ("app/refs/x.md", "see\n")][..],
        &[("app/HEAD", "top\n"), ("app/objects/a", "a\n"), ("app/config", ini)],
        &[
            ("HEAD", "top\n"),
            ("refs/a", "a\n"),
            ("sub/objects/a", "a\n"),
            ("other/config", "[alias]\nst = x\n"),
        ],
        &[("game/objects/refs/HEAD", "x\n"), ("game/objects/config", ini)],
        &[("dotfiles/git/config", "[core]\n\tpager = less\n[alias]\n\tst = status\n")],
        &[
            ("k8s/config", "clusters: []\n"),
            ("src/head.rs", "fn f() {}\n"),
            ("src/objects.rs", ""),
            ("src/refs.rs", ""),
        ],
    ] {
        let project = Project::new();
        for (path, text) in files {
            let first = project.write(path, text);
            assert!(first.is_ok(), "{path}: {first:?}");
            let again = project.write(path, &format!("{text}# more\n"));
            assert!(again.is_ok(), "{path}: {again:?}");
        }
        let project = Project::new();
        let together = project.write_all(files);
        assert!(together.is_ok(), "{together:?}");
    }
}

/// A repository that git itself made.
#[test]
fn a_bare_repository_is_a_git_folder() {
    if !has_git() {
        return;
    }
    let project = Project::new();
    let init = |path: &Path| Command::new("git").args(["init", "-q", "--bare"]).arg(path).status().unwrap();
    assert!(init(&project.at("store.d")).success());
    for path in
        ["store.d/config", "store.d/hooks/pre-receive", "store.d/info/attributes", "store.d/worktrees/w/HEAD"]
    {
        assert_eq!(project.write(path, "x\n").unwrap_err().code, Code::Protected, "{path}");
    }
    assert!(project.write("store/config", "x\n").is_ok());
}

/// A folder with `HEAD` and `commondir` that was in the project before: git reads what the agent writes where it leads.
#[test]
fn the_folder_that_a_commondir_names_gets_no_parts_settings_or_hooks() {
    let write_all = |project: &Project, files: &[(&str, &str)]| {
        project.write_all(files).map(drop).map_err(|error| error.code)
    };
    for (commondir, named) in [
        ("../x\n", true),
        ("../x\r\n\n", true),
        ("./../other/.././x", true),
        ("{root}/x\n", true),
        ("../link\n", true),
        ("../y\n", false),
        ("../x/objects\n", false),
        ("\n", false),
        ("../x \n", false),
    ] {
        for missing in
            ["x/objects/x", "x/refs/x", "x/config", "x/config.worktree", "x/hooks/post-index-change"]
        {
            for is_new in [false, true] {
                let project = Project::new();
                let root = project.at("").canonicalize().unwrap();
                project.put("w/HEAD", "ref: refs/heads/main\n");
                project.put("w/commondir", &commondir.replace("{root}", root.to_str().unwrap()));
                std::os::unix::fs::symlink("x", project.at("link")).unwrap();
                let mut files = vec![(missing, "[core]\n\tbare = false\n")];
                for part in
                    ["x/objects/y", "x/refs/y"].into_iter().filter(|part| missing.get(..6) != part.get(..6))
                {
                    if is_new {
                        files.push((part, "y\n"));
                    } else {
                        project.put(part, "y\n");
                    }
                }
                let results = write_all(&project, &files);
                let expected = if named { Err(Code::Protected) } else { Ok(()) };
                assert_eq!(results, expected, "{commondir:?} {missing} {is_new}");
            }
        }
    }
}

/// The same where the `commondir` is in a folder called `.git`, or in one whose name is no text.
#[test]
fn a_commondir_in_a_folder_of_git_is_followed() {
    for (folder, commondir, is_there) in [
        (".git", "../common\n", true),
        ("sub/.git", "../../common\n", true),
        (".git/worktrees/w", "../../../common\n", true),
        ("w\u{fffd}", "../common\n", true),
        (".git", "../common\n", false),
    ] {
        let project = Project::new();
        let name = folder.replace('\u{fffd}', "");
        let mut place = project.at(&name);
        if folder != name {
            use std::os::unix::ffi::OsStrExt;
            place = project.at("").join(std::ffi::OsStr::from_bytes(b"w\xff"));
        }
        fs::create_dir_all(&place).unwrap();
        fs::write(place.join("HEAD"), "ref: refs/heads/main\n").unwrap();
        if is_there {
            fs::write(place.join("commondir"), commondir).unwrap();
        }
        let config =
            "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tfsmonitor = \"touch made; false\"\n";
        assert!(project.write("common/config", config).is_ok(), "{folder}");
        assert!(project.write("common/objects/x", "x\n").is_ok(), "{folder}");
        let last = project.write("common/refs/x", "x\n").map(drop).map_err(|error| error.code);
        let expected = if is_there { Err(Code::Protected) } else { Ok(()) };
        assert_eq!(last, expected, "{folder:?}: without a commondir it is a folder like any other");
    }
}

/// What a `commondir` names is written to as long as git would not take it for a part of a git folder.
#[test]
fn a_commondir_without_a_head_and_other_folders_leave_a_project_editable() {
    for present in [&[("w/commondir", "../x\n")][..], &[("w/HEAD", "x\n"), ("w/commondirs", "../x\n")], &[]] {
        let project = Project::new();
        present.iter().for_each(|(path, text)| project.put(path, text));
        for path in ["x/objects/x", "x/refs/x", "x/config", "x/hooks/useThing.ts", "src/hooks/useThing.ts"] {
            assert!(project.write(path, "x\n").is_ok(), "{path} {present:?}");
        }
        if present.len() == 1 {
            assert_eq!(project.write("w/HEAD", "x\n").unwrap_err().code, Code::Protected);
        }
    }
    let project = Project::new();
    project.put("w/HEAD", "x\n");
    project.put("w/commondir", "../x\n");
    for path in ["x/objects/x", "x/config", "x/hooks/a", "y/objects/x", "y/refs/x", "y/config", "other"] {
        assert!(project.write(path, "x\n").is_ok(), "{path}");
    }
    assert_eq!(project.write("x/refs/x", "x\n").unwrap_err().code, Code::Protected);
}
