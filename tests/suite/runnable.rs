//! Files that make a program start when a person opens or uses the folder: anybody reads them, and a person is asked before
//! one is written, as the policy's `runnable` says.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::sync::Arc;

use lockgate_checks::Watch;
use lockgate_edit::Edit;
use lockgate_edit::request::{Author, Direction, Mode, Request, UndoRequest};
use lockgate_engine::{Report, Workspace};
use lockgate_error::{Code, Error};
use serde_json::json;
use tempfile::TempDir;
use tokio::runtime::Runtime;

use super::wire::Server;
use super::{edits, files};

const RUNNABLE: &[&str] = &[
    ".githooks/pre-commit",
    "sub/.githooks/deep/x",
    ".hg/hgrc",
    ".jj/repo/config.toml",
    "app.code-workspace",
    "sub/dir/APP.Code-Workspace",
    ".codex/prompts/a.md",
    ".windsurf/rules/a.md",
    ".kiro/hooks/a.kiro.hook",
    ".roo/mcp.json",
    ".continue/config.yaml",
    ".opencode/agent/a.md",
    "opencode.json",
    "sub/OpenCode.jsonc",
    ".GitHooks/x",
    "a/../.githooks/x",
    ".githooks//x",
    ".ｃodex/x",
    "GITHOO~1/x",
    "hooks/pre-push",
    "plain.txt",
    "hard.txt",
    "conf/settings.toml",
    "conf/app.json",
];

struct Project {
    folder: TempDir,
    workspace: Arc<Workspace>,
    runtime: Runtime,
}

impl Project {
    /// A project whose policy has this line, with links to and from runnable files.
    fn new(line: &str) -> Project {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("root");
        for path in
            [".githooks/there", ".hg/hgrc", ".codex/x", "tools/x", "conf/settings.toml", "sub/x", "a/x"]
        {
            files::write(root.join(path), "old\n");
        }
        symlink("../hooks", root.join("sub/.githooks")).unwrap();
        fs::create_dir_all(root.join("hooks/deep")).unwrap();
        symlink("../conf/settings.toml", root.join(".codex/config")).unwrap();
        symlink(".githooks/there", root.join("plain.txt")).unwrap();
        fs::hard_link(root.join(".hg/hgrc"), root.join("hard.txt")).unwrap();
        // A link in a folder above its target makes the target runnable.
        symlink("hooks", root.join(".roo")).unwrap();
        fs::write(root.join("conf/app.json"), "old\n").unwrap();
        symlink("conf/app.json", root.join("team.code-workspace")).unwrap();
        let policy = format!("quality_gates: {{}}\nhard_links: in_place\n{line}\n");
        fs::write(root.join("quality.yaml"), policy).unwrap();
        let workspace = Workspace::at(&[root]).with_state_dir(&folder.path().join("own")).open().unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        Project { folder, workspace, runtime }
    }

    fn at(&self, path: &str) -> PathBuf {
        self.folder.path().join("root").join(path)
    }

    fn edit(&self, request: Request) -> Result<Report, Error> {
        self.runtime.block_on(self.workspace.edit(request, Watch::idle()))
    }

    fn write(&self, path: &str) -> Result<Report, Error> {
        self.edit(request(path, Edit::Content("new\n".to_owned()), None))
    }

    fn undo(
        &self,
        direction: Direction,
        report: &Report,
        agreed: Option<String>,
    ) -> Result<Vec<Report>, Error> {
        let author = Author { confirmation_id: agreed, ..Author::default() };
        let edit_id = report.edit_id.map(|id| id.to_string());
        let revert = UndoRequest { author, ..edits::revert(direction, edit_id) };
        self.runtime.block_on(self.workspace.undo_or_redo(revert, Watch::idle()))
    }
}

fn request(path: &str, edit: Edit, agreed: Option<String>) -> Request {
    let author = Author { confirmation_id: agreed, ..Author::default() };
    Request { author, ..edits::of_file(path, edit) }
}

/// The name of the write that a person is asked about; the rejection must say why, and which key changes that.
fn confirmation_id(rejection: Error) -> String {
    assert_eq!(rejection.code, Code::NotConfirmed, "{}", rejection.message);
    assert!(rejection.message.contains("`runnable: ask`"), "{}", rejection.message);
    let question = rejection.question.expect("a question");
    assert!(question.reason.contains("`runnable: ask`"), "{}", question.reason);
    assert!(question.text.contains("can start a program"), "{}", question.text);
    question.id
}

#[test]
fn a_confirmation_is_requested_before_a_runnable_file_is_written_under_any_name() {
    for line in ["", "runnable: ask", "confirm: never"] {
        let project = Project::new(line);
        for path in RUNNABLE {
            let before = fs::read(project.at(path)).ok();
            confirmation_id(project.write(path).expect_err(path));
            assert_eq!(fs::read(project.at(path)).ok(), before, "{path}");
        }
    }
}

#[test]
fn a_policy_may_refuse_or_allow_it() {
    let (refusing, allowing) = (Project::new("runnable: refuse"), Project::new("runnable: allow"));
    for path in RUNNABLE {
        let rejection = refusing.write(path).expect_err(path);
        assert_eq!(rejection.code, Code::Protected, "{path}: {}", rejection.message);
        assert!(rejection.message.contains("`runnable: refuse`") && rejection.question.is_none());
        let mut shown = request(path, Edit::Content("new\n".to_owned()), None);
        shown.mode = Mode::VerifyOnly;
        assert_eq!(refusing.edit(shown).expect_err(path).code, Code::Protected, "{path}");
        // The control: nothing else keeps these from being written.
        allowing.write(path).unwrap_or_else(|why| panic!("{path}: {why}"));
    }
}

#[test]
fn similar_names_that_are_not_runnable_are_written() {
    let project = Project::new("");
    for path in [
        "githooks/x",
        "codex/config.toml",
        "opencode.ts",
        "a.code-workspace.md",
        "tools/x",
        ".hgignore",
        ".githooks.md",
    ] {
        assert!(project.write(path).is_ok(), "{path}");
    }
}

#[test]
fn a_confirmation_counts_only_for_its_own_write() {
    let project = Project::new("");
    let content = |text: &str, agreed| request(".githooks/x", Edit::Content(text.to_owned()), agreed);
    let about = confirmation_id(project.edit(content("one\n", None)).unwrap_err());
    let other = project.edit(content("two\n", Some(about.clone()))).unwrap_err();
    assert_eq!(other.code, Code::NotConfirmed);
    assert!(!project.at(".githooks/x").exists());
    project.edit(content("one\n", Some(about))).unwrap();
    assert_eq!(fs::read_to_string(project.at(".githooks/x")).unwrap(), "one\n");
    confirmation_id(project.edit(request(".githooks/x", Edit::Remove, None)).unwrap_err());
    confirmation_id(project.edit(content("three\n", None)).unwrap_err());
}

#[test]
fn several_files_are_written_together_or_not_at_all() {
    let project = Project::new("");
    let both = |agreed: Option<String>| {
        let edits = ["tools/x", ".githooks/x"];
        let requests = edits.map(|path| request(path, Edit::Content("new\n".to_owned()), agreed.clone()));
        project.runtime.block_on(project.workspace.edit_all(requests.to_vec(), Watch::idle()))
    };
    let about = confirmation_id(both(None).unwrap_err());
    assert_eq!(fs::read_to_string(project.at("tools/x")).unwrap(), "old\n");
    both(Some(about)).unwrap();
    assert!(project.at(".githooks/x").exists());
}

#[test]
fn a_confirmation_is_requested_again_before_undo_and_redo() {
    let project = Project::new("");
    let content = |agreed| request(".codex/new.toml", Edit::Content("new\n".to_owned()), agreed);
    let about = confirmation_id(project.edit(content(None)).unwrap_err());
    let report = project.edit(content(Some(about))).unwrap();
    let about = confirmation_id(project.undo(Direction::Undo, &report, None).unwrap_err());
    assert!(project.at(".codex/new.toml").exists());
    project.undo(Direction::Undo, &report, Some(about)).unwrap();
    assert!(!project.at(".codex/new.toml").exists());
    let about = confirmation_id(project.undo(Direction::Redo, &report, None).unwrap_err());
    assert!(!project.at(".codex/new.toml").exists());
    project.undo(Direction::Redo, &report, Some(about)).unwrap();
    assert!(project.at(".codex/new.toml").exists());
    // What a policy has come to refuse meanwhile is not taken back either.
    fs::write(project.at("quality.yaml"), "quality_gates: {}\nrunnable: refuse\n").unwrap();
    assert_eq!(project.undo(Direction::Undo, &report, None).unwrap_err().code, Code::Protected);
}

#[test]
fn the_policy_of_each_file_counts() {
    let project = Project::new("");
    fs::write(project.at("tools/quality.yaml"), "extends: parent\nrunnable: allow\n").unwrap();
    fs::write(project.at("a/quality.yaml"), "extends: parent\n").unwrap();
    assert!(project.write("tools/opencode.json").is_ok());
    confirmation_id(project.write("a/opencode.json").unwrap_err());
}

/// Files that include themselves under ever longer paths, and many in one section, are read in bounded time.
#[test]
fn included_files_without_end_are_read_to_a_limit() {
    let many = "\tpath = ../none.cfg\n".repeat(20_000);
    for (config, included) in [
        ("[include]\n\tpath = ../cfg/x.cfg\n".to_owned(), "[include]\n\tpath = ../cfg/x.cfg\n"),
        (format!("[include]\n{many}"), ""),
    ] {
        let project = Project::new("");
        files::write(project.at(".git/config"), &config);
        files::write(project.at("cfg/x.cfg"), included);
        let started = std::time::Instant::now();
        project.write("a.txt").unwrap();
        assert!(started.elapsed() < std::time::Duration::from_secs(10), "{:?}", started.elapsed());
    }
}

/// A root that is deep in a repository whose configuration names a folder above it.
#[test]
fn a_folder_above_the_root_that_git_runs_covers_its_files() {
    for (named, is_covered) in
        [("tools", true), ("./tools", true), ("src/../tools", true), ("linked", true), ("./others", false)]
    {
        let folder = tempfile::tempdir().unwrap();
        let config = format!("[core]\n\tfsmonitor = python3 {named}\n");
        files::write(folder.path().join("R/.git/config"), &config);
        for path in ["R/tools/lib/quality.yaml", "R/src/a", "R/others/a"] {
            files::write(folder.path().join(path), "quality_gates: {}\n");
        }
        symlink("tools", folder.path().join("R/linked")).unwrap();
        let root = folder.path().join("R/tools/lib");
        let workspace = Workspace::at(&[root]).with_state_dir(&folder.path().join("own")).open().unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let edit = request("a.py", Edit::Content("x = 1\n".to_owned()), None);
        match runtime.block_on(workspace.edit(edit, Watch::idle())) {
            Ok(_) => assert!(!is_covered, "{named}"),
            Err(error) => assert!(is_covered && error.code == Code::NotConfirmed, "{named}: {error}"),
        }
    }
}

/// Files that the repository's own configuration makes git obey or run, and others beside them.
#[test]
fn files_that_git_s_configuration_includes_or_runs_are_runnable() {
    let config = "[include]\n\tpath = ../conf/git\n[includeIf \"gitdir:x\"]\n\tpath = \"../Later.config\"\n[core]\n\thooksPath = scripts/hooks\n";
    let included = "[include]\n\tpath = nested # relative to this file\n";
    let runs = [
        "conf/git",
        "conf/nested",
        "Later.config",
        "later.config",
        "scripts/hooks/pre-commit",
        "scripts/hooks/lib/x",
        "second.txt",
        "linked/pre-push",
    ];
    for (configured, nested) in [(true, ""), (true, "sub/repo/"), (false, "")] {
        let project = Project::new("");
        let put = |path: &str, text: &str| files::write(project.at(&format!("{nested}{path}")), text);
        if configured {
            put(".git/config", config);
        }
        put("conf/git", included);
        put("scripts/hooks/there", "x");
        fs::hard_link(project.at(&format!("{nested}conf/git")), project.at(&format!("{nested}second.txt")))
            .unwrap();
        symlink("scripts/hooks", project.at(&format!("{nested}linked"))).unwrap();
        for path in runs {
            let path = format!("{nested}{path}");
            // The control: without that configuration they are files like any other.
            match project.write(&path) {
                Ok(_) => assert!(!configured, "{path} was written"),
                Err(rejection) => {
                    assert!(configured, "{path}: {rejection}");
                    assert!(rejection.message.contains("of .git/config"), "{}", rejection.message);
                    confirmation_id(rejection);
                }
            }
            if !configured {
                fs::write(project.at("conf/git"), included).unwrap();
            }
        }
        for path in ["scripts/other", "conf/other", "scripts/hooks.md", "pre-commit"] {
            assert!(project.write(&format!("{nested}{path}")).is_ok(), "{path}");
        }
    }
}

/// A file that git obeys or runs because of a configuration, and what leads there.
struct GitCase {
    /// Text files, each with its content; a path without a text is a folder.
    files: &'static [(&'static str, &'static str)],
    /// Links, each with its target.
    links: &'static [(&'static str, &'static str)],
    /// The file that the agent writes.
    written: &'static str,
}

const INCLUDE: &str = "[include]\n\tpath = ../x.cfg\n";
const HOOKS: &str = "[core]\n\thooksPath = hk\n";

const GIT_CASES: &[GitCase] = &[
    // The target of a link that does not exist yet, a chain of links, and links in place of folders.
    GitCase {
        files: &[(".git/config", INCLUDE), ("real/", "")],
        links: &[("x.cfg", "real/x.cfg")],
        written: "real/x.cfg",
    },
    GitCase {
        files: &[(".git/config", INCLUDE)],
        links: &[("x.cfg", "one"), ("one", "more/two"), ("more", "real")],
        written: "real/two",
    },
    GitCase {
        files: &[(".git/config", "[include]\n\tpath = ../lnk/x.cfg\n"), ("real/", "")],
        links: &[("lnk", "real")],
        written: "real/x.cfg",
    },
    GitCase {
        files: &[(".git/config", "[include]\n\tpath = ../lnk/x.cfg\n")],
        links: &[("lnk", "real")],
        written: "real/x.cfg",
    },
    // An included file that is a link includes another one, from its own folder or from that of its target.
    GitCase {
        files: &[(".git/config", INCLUDE), ("real/x.cfg", "[include]\n\tpath = y.cfg\n")],
        links: &[("x.cfg", "real/x.cfg")],
        written: "y.cfg",
    },
    GitCase {
        files: &[(".git/config", INCLUDE), ("real/x.cfg", "[include]\n\tpath = y.cfg\n")],
        links: &[("x.cfg", "real/x.cfg")],
        written: "real/y.cfg",
    },
    GitCase {
        files: &[(".git/config", "\u{feff}[include]\r\npath=../x.cfg\r\n")],
        links: &[],
        written: "x.cfg",
    },
    // A path that leaves the root and comes back.
    GitCase {
        files: &[(".git/config", "[include]\n\tpath = ../../root/x.cfg\n")],
        links: &[],
        written: "x.cfg",
    },
    // Folders of hooks, and hooks that are links.
    GitCase { files: &[(".git/config", HOOKS)], links: &[("hk", "real")], written: "real/pre-commit" },
    GitCase {
        files: &[(".git/config", HOOKS), ("hk/", ""), ("s/h.sh", "old\n")],
        links: &[("hk/pre-commit", "../s/h.sh")],
        written: "s/h.sh",
    },
    GitCase {
        files: &[(".git/config", HOOKS), ("hk/", "")],
        links: &[("hk/pre-commit", "../s/h.sh")],
        written: "s/h.sh",
    },
    GitCase {
        files: &[(".git/config", "[init]\n\ttemplateDir = tpl\n")],
        links: &[],
        written: "tpl/hooks/post-checkout",
    },
    GitCase { files: &[(".git/config", "[core]\n\thooksPath = .\n")], links: &[], written: "pre-commit" },
    GitCase {
        files: &[(".git/config", "[core]\n\thooksPath = ..\n")],
        links: &[("../pre-push", "root/s/push.sh")],
        written: "s/push.sh",
    },
    // A `.git` that is a file, with its git folder in another place.
    GitCase {
        files: &[(".git", "gitdir: ../far/git\n"), ("../far/git/config", HOOKS)],
        links: &[],
        written: "hk/pre-commit",
    },
    GitCase {
        files: &[(".git", "gitdir: ../far/git\n"), ("../far/git/config", ""), ("../far/git/hooks/", "")],
        links: &[("../far/git/hooks/pre-push", "../../../root/s/push.sh")],
        written: "s/push.sh",
    },
    GitCase {
        files: &[("../far/git/config", HOOKS)],
        links: &[(".git", "../far/git")],
        written: "hk/pre-commit",
    },
    // A worktree, seen from itself and from the main one.
    GitCase {
        files: &[
            (".git/config", HOOKS),
            (".git/worktrees/w/commondir", "../..\n"),
            (".git/worktrees/w/HEAD", "ref: refs/heads/w\n"),
            ("w/.git", "gitdir: ../.git/worktrees/w\n"),
        ],
        links: &[],
        written: "w/hk/pre-commit",
    },
    GitCase {
        files: &[
            (".git/config", "[core]\n\thooksPath = ../hk\n"),
            (".git/worktrees/w/gitdir", "../../../w/.git\n"),
            (".git/worktrees/w/commondir", "../..\n"),
        ],
        links: &[],
        written: "hk/pre-commit",
    },
    GitCase {
        files: &[
            (".git/worktrees/w/config.worktree", "[include]\n\tpath = ../../../x.cfg\n"),
            (".git/worktrees/w/gitdir", "../../../../elsewhere/.git\n"),
            (".git/config", ""),
        ],
        links: &[],
        written: "x.cfg",
    },
    // The configuration of a submodule, and of a linked one, whose hooks may be beside the link or beside its target.
    GitCase {
        files: &[
            ("../out/git/config", "[core]\n\thooksPath = ../../hk\n"),
            ("../out/git/HEAD", "ref: refs/heads/main\n"),
            (".git/config", ""),
        ],
        links: &[(".git/modules/m", "../../../out/git")],
        written: "hk/pre-commit",
    },
    GitCase {
        files: &[
            (".git/modules/libs/a/config", "[core]\n\tworktree = ../../../../a\n\thooksPath = ../hk\n"),
            (".git/modules/libs/a/HEAD", "ref: refs/heads/main\n"),
        ],
        links: &[],
        written: "hk/pre-commit",
    },
    // Programs that settings name.
    GitCase {
        files: &[(".git/config", "[core]\n\tfsmonitor = ./tools/fsm.sh\n")],
        links: &[],
        written: "tools/fsm.sh",
    },
    GitCase {
        files: &[(".git/config", "[core]\n\tfsmonitor = tools/fsm.sh\n"), ("real/", "")],
        links: &[("tools", "real")],
        written: "real/fsm.sh",
    },
    GitCase {
        files: &[(".git/config", "[filter \"x\"]\n\tclean = sh clean.sh %f\n")],
        links: &[],
        written: "clean.sh",
    },
    GitCase {
        files: &[(".git/config", "[diff \"x\"]\n\ttextconv = \\\"my tools/conv\\\"\n")],
        links: &[],
        written: "my tools/conv",
    },
    GitCase {
        files: &[(".git/config", "[alias]\n\tx = \"!f() { $(git rev-parse --show-toplevel)/bin/x; }; f\"\n")],
        links: &[],
        written: "bin/x",
    },
    GitCase {
        files: &[(".git/config", "[merge \"m\"]\n\tdriver = python3 -X dev tools/merge.py %O\n")],
        links: &[],
        written: "tools/merge.py",
    },
    // Links of protected and runnable names, whose targets do not exist yet.
    GitCase { files: &[("s/", "")], links: &[(".githooks", "s/hooks")], written: "s/hooks/pre-commit" },
    GitCase {
        files: &[(".githooks/", "")],
        links: &[(".githooks/pre-commit", "../s/new.sh")],
        written: "s/new.sh",
    },
    GitCase {
        files: &[(".git/hooks/", "")],
        links: &[(".git/hooks/pre-commit", "../../s/new.sh")],
        written: "s/new.sh",
    },
    GitCase { files: &[], links: &[(".env", "conf/env")], written: "conf/env" },
    GitCase { files: &[], links: &[(".claude", "conf/claude")], written: "conf/claude/settings.json" },
    GitCase { files: &[("conf/", "")], links: &[(".github", "conf")], written: "conf/hooks/a.json" },
    GitCase { files: &[], links: &[(".github", "conf")], written: "conf/hooks/a.json" },
];

#[test]
fn what_git_runs_is_found_wherever_its_configuration_leads() {
    for case in GIT_CASES {
        for configured in [true, false] {
            let folder = tempfile::tempdir().unwrap();
            let root = folder.path().join("root");
            let make = |path: &str| {
                let path = root.join(path);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                path
            };
            fs::create_dir(&root).unwrap();
            fs::write(root.join("quality.yaml"), "quality_gates: {}\n").unwrap();
            for (path, text) in case.files {
                // The control: the same files, of which none is git's.
                let is_named = path.contains(".git") || path.contains("/git");
                if path.ends_with('/') {
                    fs::create_dir_all(make(path)).unwrap();
                } else if configured || !is_named {
                    fs::write(make(path), text).unwrap();
                }
            }
            let names = [".git", ".env", ".claude", "/git", "pre-push"];
            let is_named = |path: &&(&str, &str)| names.iter().any(|name| path.0.contains(name));
            for (path, target) in case.links.iter().filter(|link| configured || !is_named(link)) {
                symlink(target, make(path)).unwrap();
            }
            let workspace = Workspace::at(&[root]).with_state_dir(&folder.path().join("own")).open().unwrap();
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            let edit = request(case.written, Edit::Content("new\n".to_owned()), None);
            let result = runtime.block_on(workspace.edit(edit, Watch::idle()));
            match result {
                Ok(_) => {
                    assert!(!configured, "{} was written: {:?} {:?}", case.written, case.files, case.links)
                }
                Err(error) => {
                    assert!(configured, "{}: {error}", case.written);
                    assert!(matches!(error.code, Code::NotConfirmed | Code::Protected), "{error}");
                }
            }
        }
    }
}

/// Other files of the same repositories are written as before.
#[test]
fn files_beside_those_that_git_runs_are_ordinary() {
    let config = "[core]\n\tfsmonitor = ./tools/fsm.sh\n\thooksPath = hk\n\teditor = vim\n\tpager = less -R\n[alias]\n\tco = checkout main\n\
                  [credential]\n\thelper = store --file x\n[include]\n\tpath = ~/no.cfg\n[remote \"o\"]\n\turl = src/a\n";
    let project = Project::new("");
    fs::create_dir_all(project.at(".git/hooks")).unwrap();
    fs::write(project.at(".git/config"), config).unwrap();
    for path in [
        "vim",
        "less",
        "main",
        "checkout",
        "store",
        "src/a",
        "tools/other.sh",
        "hk.md",
        "no.cfg",
        "README.md",
    ] {
        assert!(project.write(path).is_ok(), "{path}");
    }
    confirmation_id(project.write("tools/fsm.sh").unwrap_err());
    // A folder of hooks that is the project itself.
    fs::write(project.at(".git/config"), config.replace("= hk", "= .")).unwrap();
    for path in ["app.py", "s/x.py", "s/pre-commit", "tools/other.sh"] {
        assert!(project.write(path).is_ok(), "{path}");
    }
    confirmation_id(project.write("pre-commit").unwrap_err());
}

/// A client that can ask nobody reads such a file, and is told which key changes that it cannot write it.
#[test]
fn a_client_that_cannot_ask_reads_it_and_is_refused() {
    let root = tempfile::tempdir().unwrap();
    fs::create_dir(root.path().join(".githooks")).unwrap();
    fs::write(root.path().join(".githooks/pre-commit"), "#!/bin/sh\nneedle\n").unwrap();
    fs::write(root.path().join("Makefile"), "all:\n").unwrap();
    let mut server = Server::start(root.path(), &[]);
    for tool in ["get_content", "read_content_lines"] {
        let read = server.call(tool, &json!({"path": ".githooks/pre-commit"}));
        assert!(!read.is_error && read.text.contains("needle"), "{}", read.text);
    }
    let found = server.call("search_content", &json!({"pattern": "needle", "path": ".githooks/pre-commit"}));
    assert!(!found.is_error, "{}", found.text);
    for (tool, arguments) in [
        ("safe_edit_file", json!({"path": ".githooks/pre-commit", "content": "x\n"})),
        ("create_file", json!({"path": ".githooks/new", "content": "x\n"})),
        (
            "edit_file",
            json!({"file_path": ".githooks/pre-commit", "old_string": "needle", "new_string": "x"}),
        ),
        (
            "edit_files",
            json!({"edits": [{"path": "a.txt", "content": "x\n"}, {"path": ".githooks/new", "content": "x\n"}]}),
        ),
    ] {
        let refused = server.call(tool, &arguments);
        assert_eq!(refused.code(), "NOT_CONFIRMED", "{tool}: {}", refused.structured);
        let message = refused.structured["message"].as_str().unwrap();
        assert!(message.contains("`runnable: ask`") && message.contains("cannot ask a person"), "{message}");
    }
    let text = fs::read_to_string(root.path().join(".githooks/pre-commit")).unwrap();
    assert_eq!(text, "#!/bin/sh\nneedle\n");
    assert!(!root.path().join("a.txt").exists());
}

#[test]
fn files_that_run_later_are_written_with_a_note() {
    let project = Project::new("");
    symlink("Makefile", project.at("build")).unwrap();
    let about = |path: &str| -> Vec<String> {
        let report = project.write(path).unwrap_or_else(|why| panic!("{path}: {why}"));
        report.notes.into_iter().filter(|note| note.contains("should review")).collect()
    };
    for (path, note) in [
        ("Makefile", "Makefile runs in a build; a person should review it"),
        ("sub/package.json", "sub/package.json runs in a build; a person should review it"),
        (".cargo/config.toml", ".cargo/config.toml runs in a build; a person should review it"),
        (".github/workflows/ci.yml", ".github/workflows/ci.yml runs in CI; a person should review it"),
        (
            ".devcontainer/devcontainer.json",
            ".devcontainer/devcontainer.json runs when a development container starts; a person should review it",
        ),
        (".pre-commit-config.yaml", ".pre-commit-config.yaml runs at a commit; a person should review it"),
        ("lefthook.yml", "lefthook.yml runs at a commit; a person should review it"),
    ] {
        assert_eq!(about(path), [note], "{path}");
    }
    fs::write(project.at("Makefile"), "old\n").unwrap();
    assert_eq!(about("build"), ["build runs in a build; a person should review it"]);
    // The control, and what is not written.
    assert_eq!(about("src/makefile.md"), [""; 0]);
    let mut shown = request("Makefile", Edit::Content("other\n".to_owned()), None);
    shown.mode = Mode::VerifyOnly;
    assert!(!project.edit(shown).unwrap().notes.iter().any(|note| note.contains("should review")));
    let removed = project.edit(request("Makefile", Edit::Remove, None)).unwrap();
    assert!(removed.notes.iter().any(|note| note.contains("should review")), "{:?}", removed.notes);
}
