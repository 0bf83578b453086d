//! Paths that a policy protects, asked for under thousands of spellings: none of them is written.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lockgate_checks::Watch;
use lockgate_edit::request::{Direction, Mode, Request};
use lockgate_engine::{Report, Workspace};
use lockgate_error::{Code, Error};
use tempfile::TempDir;
use tokio::runtime::Runtime;
use unicode_normalization::UnicodeNormalization;

use super::edits;
use super::files::tree;

const POLICY: &str = "\
quality_gates: {}
hard_links: in_place
paths:
  - { match: 'vendor/**', access: read }
  - { match: '*.lock', access: read }
  - { match: 'db/migrations/*.sql', access: read }
  - { match: 'Caf\u{e9}/Schl\u{fc}ssel.toml', access: read }
";

/// Files that the policy protects: those that are there, and those that could be made.
const PROTECTED: [(&str, bool); 8] = [
    ("vendor/lib/a.go", true),
    ("vendor/b.py", true),
    ("deep/down/cargo.lock", true),
    ("db/migrations/0001_first.sql", true),
    ("Caf\u{e9}/Schl\u{fc}ssel.toml", true),
    ("vendor/new.go", false),
    ("other/new.lock", false),
    ("db/migrations/0002_next.sql", false),
];

struct Project {
    folder: TempDir,
    workspace: Arc<Workspace>,
    runtime: Runtime,
}

impl Project {
    fn new(policy: Option<&str>) -> Project {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("root");
        for (path, is_there) in PROTECTED {
            fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
            if is_there {
                fs::write(root.join(path), "old\n").unwrap();
            }
        }
        fs::write(root.join("innocent.txt"), "old\n").unwrap();
        symlink("vendor", root.join("third_party")).unwrap();
        symlink("third_party", root.join("again")).unwrap();
        symlink("../vendor/b.py", root.join("other/b.py")).unwrap();
        fs::hard_link(root.join("deep/down/cargo.lock"), root.join("plain.txt")).unwrap();
        fs::hard_link(root.join("vendor/b.py"), root.join("db/b.txt")).unwrap();
        if let Some(policy) = policy {
            fs::write(root.join("quality.yaml"), policy).unwrap();
        }
        let workspace = Workspace::at(&[root]).with_state_dir(&folder.path().join("own")).open().unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        Project { folder, workspace, runtime }
    }

    fn root(&self) -> PathBuf {
        self.folder.path().join("root")
    }

    fn edit(&self, path: &str) -> Result<Report, Error> {
        self.runtime.block_on(self.workspace.edit(request(path), Watch::idle()))
    }

    fn edit_next_to_another(&self, path: &str) -> Result<Vec<Report>, Error> {
        let both = vec![request("innocent.txt"), request(path)];
        self.runtime.block_on(self.workspace.edit_all(both, Watch::idle()))
    }

    fn undo(&self, edit_id: String) -> Result<Vec<Report>, Error> {
        let revert = edits::revert(Direction::Undo, Some(edit_id));
        self.runtime.block_on(self.workspace.undo_or_redo(revert, Watch::idle()))
    }

    /// Every file below the root with its text.
    fn tree(&self) -> BTreeMap<String, Vec<u8>> {
        tree(&self.root())
    }
}

fn request(path: &str) -> Request {
    Request { mode: Mode::Interactive, ..edits::of_file(path, edits::content("new\n")) }
}

/// Numbers that are the same in every run.
struct Random(u64);

impl Random {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from((self.0 >> 33) % sides as u64).unwrap()
    }

    fn cased(&mut self, text: &str) -> String {
        let each =
            |c: char| if self.roll(2) == 0 { c.to_uppercase().next() } else { c.to_lowercase().next() };
        text.chars().map(each).map(Option::unwrap).collect()
    }

    /// The path in another spelling.
    fn spelled(&mut self, path: &str, root: &Path) -> String {
        match self.roll(12) {
            0 => self.cased(path),
            1 => path.nfd().collect(),
            2 => self.cased(&path.nfd().collect::<String>()),
            3 => self.between(path, "\u{200d}"),
            4 => path.replace('/', "//"),
            5 => path.replace('/', "/./"),
            6 => path.replacen('/', "/../", 1).replacen("/../", &format!("/../{}/", first(path)), 1),
            7 => format!("{}/{path}", root.display()),
            8 => path.replacen("vendor/", ["third_party/", "again/"][self.roll(2)], 1),
            9 => path.replace('a', "\u{ff41}"),
            10 => format!("{path}{}", [".", " ", "..", ". "][self.roll(4)]),
            _ => {
                let other = ["other/b.py", "plain.txt", "db/b.txt", "./db//b.txt"];
                other[self.roll(other.len())].to_owned()
            }
        }
    }

    fn between(&mut self, path: &str, what: &str) -> String {
        let (folder, name) = path.rsplit_once('/').unwrap();
        let at = name.char_indices().nth(1 + self.roll(2)).unwrap().0;
        format!("{folder}/{}{what}{}", &name[..at], &name[at..])
    }
}

fn first(path: &str) -> &str {
    path.split('/').next().unwrap()
}

/// What a comparison of texts would say of a path.
fn looks_protected(path: &str) -> bool {
    path.starts_with("vendor/")
        || path.ends_with(".lock")
        || (path.starts_with("db/migrations/") && path.ends_with(".sql"))
        || path == "Caf\u{e9}/Schl\u{fc}ssel.toml"
}

#[test]
fn two_thousand_spellings_of_protected_paths_are_refused() {
    let project = Project::new(Some(POLICY));
    let (root, tree) = (project.root(), project.tree());
    let (mut dice, mut unlike, mut codes) = (Random(1), 0, BTreeMap::new());
    for round in 0..2000 {
        let path = dice.spelled(PROTECTED[round % PROTECTED.len()].0, &root);
        unlike += usize::from(!looks_protected(&path));
        let rejection = match dice.roll(4) {
            0 => project.edit_next_to_another(&path).map(drop),
            _ => project.edit(&path).map(drop),
        };
        let Err(rejection) = rejection else { panic!("{path:?} was written") };
        *codes.entry(rejection.code.name()).or_insert(0_usize) += 1;
    }
    assert_eq!(project.tree(), tree);
    assert!(unlike > 500, "a comparison of texts lets {unlike} of them through");
    assert!(codes["PROTECTED"] > 1500, "{codes:?}");
}

#[test]
fn without_the_rule_the_same_spellings_are_written() {
    let project = Project::new(Some("quality_gates: {}\nhard_links: in_place\n"));
    let (root, mut dice) = (project.root(), Random(1));
    let spellings = (0..300).map(|round| dice.spelled(PROTECTED[round % PROTECTED.len()].0, &root));
    let written = spellings.filter(|path| project.edit(path).is_ok()).count();
    assert!(written > 200, "{written}");
}

#[test]
fn an_edit_of_a_now_protected_file_is_not_undone() {
    let project = Project::new(None);
    let report = project.edit("vendor/lib/a.go").unwrap();
    let creation = project.edit("vendor/new.go").unwrap();
    fs::write(project.root().join("quality.yaml"), POLICY).unwrap();
    let tree = project.tree();
    for report in [report, creation] {
        let rejection = project.undo(report.edit_id.unwrap().to_string()).unwrap_err();
        assert_eq!(rejection.code, Code::Protected, "{}", rejection.message);
    }
    assert_eq!(project.tree(), tree);
}

#[test]
fn a_folder_that_is_renamed_stays_protected_and_one_that_is_excepted_does_not() {
    let project = Project::new(Some(
        "quality_gates: {}\npaths: [{ match: 'vendor/**', access: read }, { match: 'vendor/lib/**', access: write }]\n",
    ));
    assert!(project.edit("vendor/lib/a.go").is_ok(), "the later entry says so");
    fs::rename(project.root().join("vendor"), project.root().join("Vendor")).unwrap();
    assert_eq!(project.edit("Vendor/b.py").unwrap_err().code, Code::Protected);
    assert_eq!(project.edit("Vendor/lib/a.go").unwrap_err().code, Code::Protected, "by its own name alone");
}
