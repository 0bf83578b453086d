//! Staging of drafts for programs that read files.

use std::os::unix::fs::MetadataExt;

use serde_json::{Value, json};

use super::*;

fn record_of(fixture: &Fixture, input: &str, words: &str, path: &str, text: &str) -> Value {
    fixture.mirrored(words, &format!("input: {input}\n{QUIET}\ncwd: [conf]"), path, text.as_bytes())
}

fn word(record: &Value, at: usize) -> &str {
    record["words"][at].as_str().unwrap()
}

fn facts_of(record: &Value, at: usize) -> &Value {
    &record["here"][word(record, at)]
}

#[test]
fn a_shadow_is_a_private_file_of_the_same_name() {
    let fixture = Fixture::new(&[("src/a.py", "old\n")]);
    let record = record_of(&fixture, "shadow", "'{path}', '{draft}'", "src/a.py", "new\n");
    assert_eq!(word(&record, 0), fixture.root().join("src/a.py").to_str().unwrap());
    assert_eq!(facts_of(&record, 0)["text"], json!("old\n"), "the file itself stays");
    assert_eq!(
        (&facts_of(&record, 1)["text"], &facts_of(&record, 1)["mode"]),
        (&json!("new\n"), &json!("0o600"))
    );
    let draft = Path::new(word(&record, 1));
    assert_eq!(draft.file_name().unwrap(), "a.py");
    assert!(
        !draft.starts_with(fixture.root()) && !draft.exists() && !draft.ancestors().nth(2).unwrap().exists()
    );
    assert!(!draft.components().any(|part| part.as_os_str().to_string_lossy().starts_with('.')));
}

/// Programs that go by size and whole seconds see that another draft is another one, and the same one the same.
#[test]
fn drafts_have_times_of_their_own() {
    let fixture = Fixture::new(&[("a.py", "old\n")]);
    let time = |input: &str, words: &str, text: &str| {
        let record = record_of(&fixture, input, words, "a.py", text);
        facts_of(&record, 0)["changed"].as_u64().unwrap()
    };
    let shadow = |text: &str| time("shadow", "'{draft}', '{path}'", text);
    let staged = |text: &str| time("staged", "'{path}'", text);
    let one = shadow("x: int = 1 \n");
    assert_ne!(one / 1_000_000_000, shadow("x: int = ''\n") / 1_000_000_000);
    assert_eq!((one, one), (shadow("x: int = 1 \n"), staged("x: int = 1 \n")));
}

/// A program with a cache may run twice in a second: mounted in place of its file, a draft has the time of its text.
#[test]
fn a_mounted_draft_of_a_program_with_a_cache_has_the_time_of_its_text() {
    let ceiling = lockgate_sandbox::Ceiling(Isolation::Bubblewrap);
    if lockgate_sandbox::unavailable_reason(Isolation::Bubblewrap, ceiling).is_some() {
        return;
    }
    let seconds = |text: &str| {
        let fixture = Fixture { ceiling, ..Fixture::new(&[("a.py", "old\n")]) };
        let record =
            fixture.mirrored("'{path}'", &format!("input: staged\n{QUIET}"), "a.py", text.as_bytes());
        assert_eq!(word(&record, 0), fixture.root().join("a.py").to_str().unwrap());
        facts_of(&record, 0)["changed"].as_u64().unwrap() / 1_000_000_000
    };
    assert_eq!(seconds("new\n"), seconds("new\n"));
    assert_ne!(seconds("new\n"), seconds("odd\n"));
}

#[test]
fn an_overlay_says_which_file_is_read_instead() {
    let fixture = Fixture::new(&[("a.go", "old\n")]);
    let record = record_of(&fixture, "shadow", "'{overlay}', '{draft}'", "a.go", "new\n");
    let overlay: Value = serde_json::from_str(facts_of(&record, 0)["text"].as_str().unwrap()).unwrap();
    assert_eq!(
        overlay,
        json!({ "Replace": { (fixture.root().join("a.go").to_str().unwrap()): word(&record, 1) } })
    );
    assert_eq!(facts_of(&record, 1)["text"], json!("new\n"));
}

#[test]
fn a_new_file_is_shadowed_in_a_linked_copy() {
    let fixture = Fixture::new(&[("conf", "")]);
    let record = record_of(&fixture, "shadow", "'{path}', '{overlay}', '{root}'", "new/a.go", "text\n");
    let overlay: Value = serde_json::from_str(facts_of(&record, 1)["text"].as_str().unwrap()).unwrap();
    let draft = overlay["Replace"][word(&record, 0)].as_str().unwrap();
    assert!(!Path::new(word(&record, 0)).starts_with(fixture.root()), "{draft}");
    assert_eq!((&facts_of(&record, 0)["text"], &record["cwd"]), (&json!("text\n"), &json!(word(&record, 2))));
    assert!(!fixture.root().join("new").exists());
    let alone = record_of(&fixture, "shadow", "'{draft}', '{root}'", "new/a.go", "text\n");
    assert_eq!(
        word(&alone, 1),
        fixture.root().to_str().unwrap(),
        "who is told of the draft alone needs no copy"
    );
}

#[test]
fn a_staged_draft_lies_among_links_to_its_neighbours() {
    let fixture = Fixture::new(&[
        ("conf", "c"),
        (".git/HEAD", "ref"),
        ("lib/x.py", "x"),
        ("src/pkg/a.py", "old"),
        ("src/pkg/b.py", "b"),
        ("src/other/c.py", "c"),
    ]);
    let record = record_of(&fixture, "staged", "'{path}', '{folder}', '{root}'", "src/pkg/a.py", "new");
    let root = Path::new(word(&record, 2));
    assert_eq!(
        (root.file_name(), word(&record, 0)),
        (Some("root".as_ref()), root.join("src/pkg/a.py").to_str().unwrap())
    );
    assert_eq!(
        facts_of(&record, 0),
        &json!({ "text": "new", "mode": "0o600", "changed": facts_of(&record, 0)["changed"] })
    );
    assert_eq!(facts_of(&record, 1), &json!([["a.py", "file"], ["b.py", "link"]]));
    let top = json!([[".git", "link"], ["conf", "link"], ["lib", "link"], ["src", "folder"]]);
    assert_eq!((facts_of(&record, 2), &record["cwd_has"]), (&top, &top));
    assert!(!root.exists() && text_of(&fixture.root().join("src/pkg/a.py")) == "old");
}

#[test]
fn what_is_linked_is_neither_changed_nor_removed() {
    let fixture = Fixture::new(&[("a.py", "old"), ("b.py", "b"), ("lib/deep/c.py", "c")]);
    std::os::unix::fs::symlink(fixture.home.path(), fixture.root().join("out")).unwrap();
    let state = || {
        ["a.py", "b.py", "lib", "lib/deep/c.py", "out", ""].map(|path| {
            let found = fixture.root().join(path).symlink_metadata().unwrap();
            (found.ino(), found.mode(), found.mtime_nsec(), found.ctime_nsec(), found.nlink())
        })
    };
    let before = state();
    record_of(&fixture, "staged", "'{path}'", "a.py", "new");
    assert_eq!(state(), before);
    assert_eq!(text_of(&fixture.root().join("lib/deep/c.py")), "c");
    let more = format!("input: staged\n{QUIET}");
    let rule = fixture.rule(
        "import sys, os\nopen(os.path.join(os.path.dirname(sys.argv[2]), 'report'), 'w')",
        "'{path}'",
        &more,
    );
    fixture.check(&rule, "a.py", "new").unwrap();
    assert!(!fixture.root().join("report").exists(), "what is written beside the draft goes with it");
}

#[test]
fn the_neighbours_of_a_draft_can_import_it() {
    let fixture = Fixture::new(&[
        ("pkg/__init__.py", ""),
        ("pkg/a.py", "VALUE = 'old'\n"),
        ("pkg/b.py", "from .a import VALUE\n"),
        ("other/c.py", "from pkg.a import VALUE\n"),
    ]);
    let script = "import sys\nsys.path.insert(0, sys.argv[2])\nimport pkg.b, other.c\nprint('1', pkg.b.VALUE, other.c.VALUE)";
    let more = "input: staged\noutput: { regex: '^(?P<line>1) (?P<message>.*)$' }";
    for path in ["pkg/a.py", "pkg/deep/new.py"] {
        let findings = fixture
            .check(&fixture.rule(script, "'{root}', '{path}'", more), path, "VALUE = 'new'\n")
            .unwrap();
        let expected = if path == "pkg/a.py" { "new new" } else { "old old" };
        assert_eq!(findings[0].message, expected, "{path}");
    }
}
