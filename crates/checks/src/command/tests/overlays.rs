//! A draft together with the other drafts of its call, at every isolation level.

use super::*;
use lockgate_sandbox::{Ceiling, unavailable_reason};

/// A script that prints the files that it sees: each path with its text, or that it is missing.
const TELLS: &str = "import os, sys\nroot = sys.argv[2]\nfor path in ('a.txt', 'b.txt', 'c.txt', 'gone.txt', 'new/n.txt', 'kept.txt'):\n  \
    try: text = open(os.path.join(root, path)).read().strip()\n  \
    except FileNotFoundError: text = 'none'\n  \
    print(f'{os.path.join(root, path)}:1:1: {text}')\nprint(f'{root}/{sys.stdin.read().strip()}:1:1: told')\nsys.exit(1)";
const LINES: &str = "output: { regex: '^(?P<file>.+?):(?P<line>\\d+):(?P<column>\\d+): (?P<message>.*)$' }";

fn levels() -> impl Iterator<Item = Isolation> {
    let all = [Isolation::None, Isolation::Landlock, Isolation::Bubblewrap].into_iter();
    all.filter(|level| unavailable_reason(*level, Ceiling(Isolation::Bubblewrap)).is_none())
}

fn fixture(level: Isolation) -> Fixture {
    let old = ["a.txt", "b.txt", "gone.txt", "kept.txt"].map(|path| (path, "old"));
    Fixture { ceiling: Ceiling(level), ..Fixture::new(&old) }
}

/// The texts seen at each path; the edited one has an empty name.
fn texts_seen(fixture: &Fixture, input: &str, scope: &str, path: &str) -> Vec<(String, String)> {
    let rule = fixture.rule(TELLS, "'{root}'", &format!("input: {input}\nscope: {scope}\n{LINES}"));
    let other_drafts = [("b.txt", Some("new b")), ("gone.txt", None), ("new/n.txt", Some("new n"))];
    let findings = fixture.run_among(&other_drafts, &rule, path, b"draft", within_a_minute(check)).unwrap();
    let text_at = |finding: ToolFinding| (finding.elsewhere.unwrap_or_default(), finding.message);
    findings.into_iter().map(text_at).filter(|(_, message)| message != "told").collect()
}

fn pair((path, text): (&str, &str)) -> (String, String) {
    (path.to_owned(), text.to_owned())
}

#[test]
fn all_drafts_of_a_call_are_at_their_paths() {
    for level in levels() {
        let fixture = fixture(level);
        let before = hash(&fixture.root());
        let same = [("b.txt", "new b"), ("gone.txt", "none"), ("kept.txt", "old"), ("new/n.txt", "new n")];
        for (path, own, c) in [("a.txt", "draft", "none"), ("c.txt", "old", "draft")] {
            let mut expected = same.map(pair).to_vec();
            expected.push(if path == "a.txt" { pair(("", own)) } else { pair(("a.txt", own)) });
            expected.push(if path == "a.txt" { pair(("c.txt", c)) } else { pair(("", c)) });
            for input in ["staged", "stdin"] {
                let mut found = texts_seen(&fixture, input, "project", path);
                found.sort();
                expected.sort();
                assert_eq!(found, expected, "{} {input} {path}", level.name());
            }
        }
        assert_eq!(hash(&fixture.root()), before, "{}", level.name());
    }
}

/// What depends on its own file alone is not staged for others.
#[test]
fn a_gate_of_one_file_reads_other_files_from_disk() {
    for level in levels() {
        let fixture = fixture(level);
        let found = texts_seen(&fixture, "stdin", "file", "a.txt");
        assert!(found.contains(&pair(("b.txt", "old"))) && found.contains(&pair(("gone.txt", "old"))));
    }
}

#[test]
fn a_draft_has_its_real_name_where_bubblewrap_is() {
    let words = |level: Isolation, path: &str| {
        let fixture = fixture(level);
        let more = format!("input: staged\n{QUIET}");
        let record = fixture.mirrored("'{path}', '{root}'", &more, path, b"draft");
        let shown_path = Path::new(record["words"][0].as_str().unwrap()).to_owned();
        assert_eq!(record["here"][shown_path.to_str().unwrap()]["text"], "draft", "{}", level.name());
        shown_path == fixture.root().join(path)
    };
    for level in levels() {
        for path in ["a.txt", "c.txt", "far/away/c.txt"] {
            assert_eq!(words(level, path), level == Isolation::Bubblewrap, "{} {path}", level.name());
        }
    }
}

/// A link is covered where it leads, and one that leads out of the root is left to a copy.
#[test]
fn links_lead_out_of_no_root() {
    for level in levels() {
        let fixture = fixture(level);
        let outside = fixture.home.path().join("outside.txt");
        fs::write(&outside, "outside").unwrap();
        std::os::unix::fs::symlink("b.txt", fixture.root().join("inside.txt")).unwrap();
        std::os::unix::fs::symlink(&outside, fixture.root().join("out.txt")).unwrap();
        for path in ["inside.txt", "out.txt"] {
            let record = fixture.mirrored("'{path}'", &format!("input: staged\n{QUIET}"), path, b"draft");
            let shown_path = record["words"][0].as_str().unwrap();
            assert_eq!(record["here"][shown_path]["text"], "draft", "{} {path}", level.name());
        }
        assert_eq!(
            (text_of(&outside), text_of(&fixture.root().join("b.txt"))),
            ("outside".into(), "old".into())
        );
    }
}

/// If a policy requires a higher level than this machine has, no program runs.
#[test]
fn what_is_required_is_there_or_nothing_runs() {
    let fixture = fixture(Isolation::None);
    let rule = fixture.rule("raise SystemExit(1)", "'{path}'", &format!("input: staged\n{QUIET}"));
    let check_with = |required: Isolation| {
        fixture.run(&rule, "a.txt", b"x", |input| {
            within_a_minute(check)(&ProgramInput { isolation: required, ..*input })
        })
    };
    assert_eq!(check_with(Isolation::None).unwrap().len(), 1);
    for required in [Isolation::Landlock, Isolation::Bubblewrap] {
        let why = format!(
            "the policy requires {}, and this machine has none: LOCKGATE_ISOLATION allows none at most",
            required.name()
        );
        assert_eq!(check_with(required), Err(GateError::WeakIsolation(why)));
    }
}

/// The names and texts of all that is below a folder.
fn hash(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all.extend(hash(&path))
        } else {
            all.push((path.clone(), fs::read(&path).unwrap()))
        }
    }
    all.sort();
    all
}
