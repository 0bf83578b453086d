//! An index that is kept fresh, whatever happens to the files.

use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};

use tokio_util::sync::CancellationToken;

use super::*;
use crate::Workspace;
use crate::tests::Fixture;
use lockgate_edit::request::Target;
use lockgate_error::Code;

impl Fixture {
    fn context(&self, request: &ContextRequest) -> ContextResponse {
        request.read(&self.services, &Watch::idle()).unwrap()
    }

    /// Where a symbol is defined, and used.
    fn symbol(&self, name: &str) -> (Vec<String>, Vec<String>) {
        let answer = self.context(&ContextRequest { symbol: Some(name.to_owned()), ..NOTHING });
        let definitions = answer.definitions.unwrap();
        let defined = definitions.iter().map(|it| format!("{}:{}", it.path, it.line)).collect();
        (defined, answer.references.unwrap().iter().map(|it| format!("{}:{}", it.path, it.line)).collect())
    }

    fn defined(&self, name: &str) -> Vec<String> {
        self.symbol(name).0
    }
}

const NOTHING: ContextRequest = ContextRequest { target: None, query: None, symbol: None, tokens: 4_000 };

#[test]
fn the_next_answer_shows_what_changed() {
    let fixture = Fixture::new(&[]);
    fixture.write("a.py", "def one(): pass\n");
    fixture.write("b/c.py", "from a import one\none()\n");
    assert_eq!(fixture.symbol("one"), (vec!["a.py:1".into()], vec!["b/c.py:1".into(), "b/c.py:2".into()]));
    for iteration in 0..20 {
        // As long as the one before, so that its size tells nothing.
        let text = format!("def f{iteration:02}(): pass\n");
        fixture.write("a.py", &text);
        assert_eq!(fixture.defined(&format!("f{iteration:02}")), ["a.py:1"], "{iteration}");
        assert_eq!(fixture.symbol("one").0, Vec::<String>::new());
    }
    fs::rename(fixture.root().join("a.py"), fixture.root().join("b/d.py")).unwrap();
    assert_eq!(fixture.defined("f19"), ["b/d.py:1"]);
    fs::remove_dir_all(fixture.root().join("b")).unwrap();
    assert_eq!(fixture.defined("f19"), Vec::<String>::new());
    assert_eq!(fixture.services.code_index.lock().unwrap().index.files(), 0);
}

#[test]
fn without_fingerprints_an_answer_would_be_stale() {
    let fixture = Fixture::new(&[]);
    fixture.write("a.py", "def one(): pass\n");
    assert_eq!(fixture.defined("one"), ["a.py:1"]);
    fixture.services.code_index.lock().unwrap().is_unreliable = true;
    fixture.write("a.py", "def two(): pass\n");
    assert_eq!(
        fixture.defined("two"),
        Vec::<String>::new(),
        "the control finds it as well, so it proves nothing"
    );
    fixture.services.code_index.lock().unwrap().is_unreliable = false;
    assert_eq!(fixture.defined("two"), ["a.py:1"]);
}

/// Counts the files that an answer reads for the index.
fn reads(fixture: &Fixture) -> usize {
    reads_of(&fixture.services)
}

fn reads_of(services: &Arc<Services>) -> usize {
    let reported = Arc::new(Mutex::new(0));
    let counter = Arc::clone(&reported);
    let progress = move |_: &str, done: usize, _: usize| *counter.lock().unwrap() = done;
    let watch = Watch::new(CancellationToken::new(), Some(Box::new(progress)));
    let request = ContextRequest { symbol: Some("f".to_owned()), ..NOTHING };
    request.read(services, &watch).unwrap();
    *reported.lock().unwrap()
}

#[test]
fn what_has_been_left_alone_is_not_read_again() {
    let fixture = Fixture::new(&[]);
    for n in 0..20 {
        fixture.write(&format!("d{}/f{n}.py", n % 3), "def f(): pass\n");
    }
    assert_eq!(reads(&fixture), 20, "progress is told");
    // On file systems whose times can be trusted, no file is read again once it was left alone for two seconds.
    std::thread::sleep(std::time::Duration::from_millis(2_100));
    let again = reads(&fixture);
    assert!(again == 20 || again == 0, "{again}");
    let local = reads(&fixture) == 0;
    fixture.write("d1/f1.py", "def g(): pass\n");
    assert!(!local || reads(&fixture) == 1);
}

#[test]
fn the_next_start_reads_only_what_changed() {
    let fixture = Fixture::new(&[]);
    for n in 0..20 {
        fixture.write(&format!("f{n}.py"), "def f(): pass\n");
    }
    std::thread::sleep(std::time::Duration::from_millis(2_100));
    assert_eq!(reads(&fixture), 20);
    let local = reads(&fixture) == 0;
    let restarted = || {
        let services = Workspace::at(&[fixture.root()]).with_state_dir(&fixture.own()).services().unwrap();
        reads_of(&services)
    };
    assert!(!local || restarted() == 0);
    fixture.write("f3.py", "def g(): pass\n");
    fixture.write("f20.py", "def f(): pass\n");
    fs::remove_file(fixture.root().join("f4.py")).unwrap();
    assert!(!local || restarted() == 2);
    // The control: without the stored index all files are read.
    let folder = fixture.own().join("state/index");
    let stored = fs::read_dir(&folder).unwrap().next().unwrap().unwrap().path();
    let mut bytes = fs::read(&stored).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&stored, bytes).unwrap();
    assert_eq!(restarted(), 20);
}

#[test]
fn the_outline_of_one_file_does_not_wait_for_an_index() {
    let fixture = Fixture::new(&[]);
    for n in 0..=MAX_UNINDEXED {
        fixture.write(&format!("f{n}.py"), "def f(): pass\n");
    }
    fixture.write("own.py", "from f1 import f\ndef own(): f()\n");
    let asked = ContextRequest { target: Some(Target::File("own.py".into())), ..NOTHING };
    let answer = fixture.context(&asked);
    assert_eq!(answer.target.unwrap().outline.len(), 1);
    assert!(answer.uses.is_empty() && answer.notes == [NOT_INDEXED], "{:?}", answer.notes);
    assert_eq!(fixture.services.code_index.lock().unwrap().index.files(), 0);
    // A file that was written a moment ago is read once more, since a second write may have the same time.
    let is_indexed = || {
        assert_eq!(fixture.defined("own"), ["own.py:2"]);
        fixture.context(&asked).notes.is_empty()
    };
    assert!((0..50).any(|n| {
        std::thread::sleep(std::time::Duration::from_millis(10 * n));
        is_indexed()
    }));
}

#[test]
fn what_may_not_be_read_is_not_in_the_index() {
    let fixture = Fixture::new(&[]);
    for path in [".env.py", ".hidden/a.py", "ignored/a.py", "id_rsa.py", "shown.py"] {
        fixture.write(path, "def secret(): pass\n");
    }
    fixture.write(".gitignore", "ignored/\n");
    std::os::unix::fs::symlink("..", fixture.root().join("loop")).unwrap();
    std::os::unix::fs::symlink("shown.py", fixture.root().join("link.py")).unwrap();
    assert_eq!(fixture.defined("secret"), ["shown.py:1"]);
}

#[test]
fn a_cancelled_call_is_not_answered_and_its_tags_stay_indexed() {
    let fixture = Fixture::new(&[]);
    for n in 0..200 {
        fixture.write(&format!("f{n}.py"), "def f(): pass\n");
    }
    let token = CancellationToken::new();
    let end = token.clone();
    let progress = move |_: &str, done: usize, _: usize| {
        if done == 50 {
            end.cancel();
        }
    };
    let watch = Watch::new(token, Some(Box::new(progress)));
    let request = ContextRequest { symbol: Some("f".to_owned()), tokens: 50_000, ..NOTHING };
    assert_eq!(request.read(&fixture.services, &watch).unwrap_err().code, Code::Internal);
    let indexed = fixture.services.code_index.lock().unwrap().index.files();
    assert!((50..200).contains(&indexed), "{indexed}");
    assert_eq!(fixture.defined("f").len(), 50, "as many as are told of one name");
}

#[test]
fn files_that_cannot_be_understood_harm_nothing() {
    let fixture = Fixture::new(&[]);
    let deep = "(".repeat(50_000);
    let line = format!("var f={};", "a.b(c).d[0]+".repeat(80_000));
    for (path, text) in [
        ("deep.py", deep.as_str()),
        ("flood.js", &"let = ;\n".repeat(20_000)),
        ("line.js", line.get(..900_000).unwrap()),
        ("broken.py", "x = (]\n\ndef good(): pass\n"),
        ("chain.js", &format!("function chained() {{}}\na{};\n", ".b()".repeat(50_000))),
        ("empty.py", ""),
        ("big.py", &"# x\n".repeat(400_000)),
    ] {
        fixture.write(path, text);
    }
    fs::write(fixture.root().join("binary.py"), b"\x00\x01def f\xff").unwrap();
    fs::write(fixture.root().join("latin.py"), b"# caf\xe9\ndef latin(): pass\n").unwrap();
    assert_eq!(fixture.defined("good"), ["broken.py:3"]);
    assert_eq!(fixture.defined("latin"), ["latin.py:2"]);
    assert_eq!(fixture.defined("chained"), ["chain.js:1"]);
    let answer = fixture.context(&ContextRequest { symbol: Some("good".to_owned()), ..NOTHING });
    assert!(
        answer.notes.iter().any(|note| note.contains("over 1 MiB, which are not indexed: 1")),
        "{:?}",
        answer.notes
    );
}

#[test]
fn names_that_are_hostile_are_only_names() {
    let fixture = Fixture::new(&[]);
    let odd = "a \u{202e}b\n`$(x)`\".py";
    fixture.write(odd, "def f(): pass\n");
    assert_eq!(fixture.defined("f"), [format!("{odd}:1")]);
    let target = Some(lockgate_edit::request::Target::File(odd.to_owned()));
    assert_eq!(fixture.context(&ContextRequest { target, ..NOTHING }).target.unwrap().outline.len(), 1);
}

#[test]
fn files_that_change_all_the_time_are_answered_for() {
    let fixture = Fixture::new(&[]);
    for n in 0..30 {
        fixture.write(&format!("f{n}.py"), "def f(): pass\n");
    }
    let (root, stop) = (fixture.root(), CancellationToken::new());
    let until = stop.clone();
    let writer = std::thread::spawn(move || {
        let mut iteration = 0;
        while !until.is_cancelled() {
            iteration += 1;
            let path = root.join(format!("f{}.py", iteration % 30));
            match iteration % 3 {
                0 => drop(fs::remove_file(path)),
                _ => fs::write(path, format!("{}def f(): pass\n", "#\n".repeat(iteration % 7))).unwrap(),
            }
        }
    });
    for _ in 0..10 {
        let answer =
            fixture.context(&ContextRequest { symbol: Some("f".to_owned()), tokens: 50_000, ..NOTHING });
        for symbol in answer.definitions.unwrap() {
            assert!(symbol.code.as_deref().is_some_and(|code| code.ends_with("def f(): pass")), "{symbol:?}");
            assert!(answer.versions.contains_key(&symbol.path));
        }
    }
    stop.cancel();
    writer.join().unwrap();
}

#[test]
fn an_empty_request_shows_the_project() {
    let fixture = Fixture::new(&[]);
    fixture.write("README.md", "# X\n");
    fixture.write("src/a.py", "");
    fixture.write("src/b/c.js", "");
    let answer = fixture.context(&NOTHING);
    let project = answer.project.unwrap();
    assert_eq!((project.files, project.important), (3, vec!["README.md".to_owned()]));
    assert_eq!(project.folders.iter().map(|it| it.path.as_str()).collect::<Vec<_>>(), [".", "src", "src/b"]);
    assert!(answer.versions.contains_key("README.md"));
    assert_eq!(fixture.services.code_index.lock().unwrap().index.files(), 0, "nothing had to be indexed");
}

#[test]
fn several_roots_are_one_workspace() {
    let dir = tempfile::tempdir().unwrap();
    let (one, two) = (dir.path().join("one"), dir.path().join("two"));
    for (root, name, text) in [(&one, "a.py", "from b import f\nf()\n"), (&two, "b.py", "def f(): pass\n")] {
        fs::create_dir(root).unwrap();
        fs::write(root.join(name), text).unwrap();
    }
    let real = |path: &Path| path.canonicalize().unwrap();
    let (roots, own) = ([real(&one), real(&two)], dir.path().join("own"));
    let services = Workspace::at(&roots).with_state_dir(&own).services().unwrap();
    let request = ContextRequest { symbol: Some("f".to_owned()), ..NOTHING };
    let answer = request.read(&services, &Watch::idle()).unwrap();
    let defined = answer.definitions.unwrap();
    assert_eq!(defined[0].path, real(&two).join("b.py").to_str().unwrap());
    assert_eq!(answer.references.unwrap().len(), 2);
}
