//! The file of SQLite is removed, broken, locked by another program, or its folder is missing.

use std::path::{Path, PathBuf};

use lockgate_edit::Edit;
use lockgate_edit::request::{Expect, Mode, Request};
use lockgate_error::Code;
use rusqlite::Connection;

use super::{Client, WriteLog, WriteOutcome, clear, request, the_app, write_outcome};

struct Fixture {
    dir: tempfile::TempDir,
    server: Client,
}

impl Fixture {
    fn new() -> Fixture {
        let dir = tempfile::tempdir().unwrap();
        let server = Client::new(&url(&dir.path().join("content.db")), &dir.path().join("server"));
        assert_eq!(server.text("src/a.txt"), None);
        let fixture = Fixture { dir, server };
        fixture.connection().execute_batch(&the_app()).unwrap();
        fixture
    }

    fn file(&self) -> PathBuf {
        self.dir.path().join("content.db")
    }

    fn connection(&self) -> Connection {
        Connection::open(self.file()).unwrap()
    }

    fn another(&self) -> Client {
        Client::new(&url(&self.file()), &self.dir.path().join("another"))
    }

    /// The database and what stands beside it.
    fn files(&self) -> [PathBuf; 3] {
        ["content.db", "content.db-wal", "content.db-shm"].map(|name| self.dir.path().join(name))
    }
}

fn url(file: &Path) -> String {
    format!("sqlite:{}", file.display())
}

#[test]
fn nothing_is_acknowledged_into_a_file_that_was_removed() {
    let fixture = Fixture::new();
    fixture.server.put("src/a.txt", "begin\n").unwrap();
    let copies = fixture.files().map(|file| std::fs::read(file).ok());
    for file in fixture.files() {
        std::fs::remove_file(file).ok();
    }
    for number in 0..3 {
        let text = format!("{number}\n");
        let answer = fixture.server.put("src/a.txt", &text);
        // A new one knows no app until a person says which there are.
        assert_eq!(fixture.another().try_text("src/a.txt").unwrap_or_default().filter(|_| number == 0), None);
        fixture.connection().execute_batch(&the_app().replace("INSERT", "INSERT OR IGNORE")).unwrap();
        let found_text = fixture.another().try_text("src/a.txt").unwrap();
        if answer.as_ref().is_err_and(|error| error.code == Code::FileNotFound) {
            assert_eq!(found_text, None);
            continue;
        }
        match write_outcome(&answer) {
            WriteOutcome::There => {
                assert_eq!(found_text, Some(text), "it was acknowledged, and nobody else sees it")
            }
            WriteOutcome::Absent => assert_ne!(found_text, Some(text)),
            WriteOutcome::Unknown => panic!("{answer:?}"),
        }
        assert_ne!(found_text.as_deref(), Some("begin\n"));
    }
    // A person puts it back.
    for file in fixture.files() {
        std::fs::remove_file(file).ok();
    }
    for (file, bytes) in fixture.files().iter().zip(copies) {
        if let Some(bytes) = bytes.filter(|_| !file.ends_with("content.db-shm")) {
            std::fs::write(file, bytes).unwrap();
        }
    }
    let text_read = fixture.server.try_text("src/a.txt").or_else(|_| fixture.server.try_text("src/a.txt"));
    assert_eq!(text_read.unwrap().as_deref(), Some("begin\n"));
    assert_eq!(write_outcome(&fixture.server.put("src/a.txt", "again\n")), WriteOutcome::There);
    assert_eq!(fixture.another().text("src/a.txt").as_deref(), Some("again\n"));
}

#[test]
fn a_file_that_is_no_database_is_reported_and_unchanged() {
    let fixture = Fixture::new();
    fixture.server.put("src/a.txt", "begin\n").unwrap();
    fixture.connection().execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    let good = std::fs::read(fixture.file()).unwrap();
    let mut torn = good.clone();
    torn[1024..].fill(0x5A);
    for (what, bytes) in [
        ("words", b"this is no database\n".repeat(400)),
        ("torn", torn),
        ("cut off", good[..good.len() / 3].to_vec()),
    ] {
        let file = fixture.dir.path().join(format!("{what}/content.db"));
        std::fs::create_dir(file.parent().unwrap()).unwrap();
        std::fs::write(&file, &bytes).unwrap();
        let server = Client::new(&url(&file), &fixture.dir.path().join(what).join("own"));
        let answer = server.put("src/a.txt", "new\n");
        assert_eq!(write_outcome(&answer), WriteOutcome::Absent, "{what}");
        clear(&server.try_text("src/a.txt").unwrap_err());
        println!("{what}: {}", answer.unwrap_err().message);
        if what == "words" {
            assert_eq!(std::fs::read(&file).unwrap(), bytes, "what is not ours is not written to");
        }
        // A person puts a good one in its place, beside which nothing of the broken one is left.
        for end in ["", "-wal", "-shm"] {
            std::fs::remove_file(fixture.dir.path().join(format!("{what}/content.db{end}"))).ok();
        }
        std::fs::write(&file, &good).unwrap();
        let again = server.try_text("src/a.txt").or_else(|_| server.try_text("src/a.txt"));
        assert_eq!(again.unwrap().as_deref(), Some("begin\n"), "{what}");
        assert_eq!(write_outcome(&server.put("src/a.txt", "new\n")), WriteOutcome::There, "{what}");
    }
}

#[test]
fn a_file_that_another_program_locks_is_refused_in_time() {
    let fixture = Fixture::new();
    let mut ledger = WriteLog::begin(&fixture.server, "src/a.txt");
    let other = fixture.connection();
    other.execute_batch("BEGIN IMMEDIATE; UPDATE apps SET at = 1").unwrap();
    assert_eq!(fixture.server.text("src/a.txt").as_deref(), Some("begin\n"), "whoever reads is not held up");
    let answer = fixture.server.append("src/a.txt", "held.");
    assert_eq!(ledger.note("held.", &answer), WriteOutcome::Absent);
    other.execute_batch("COMMIT").unwrap();
    assert_eq!(ledger.note("free.", &fixture.server.append("src/a.txt", "free.")), WriteOutcome::There);
    ledger.check(&fixture.another());
}

#[test]
fn a_missing_folder_is_reported_and_used_once_it_exists() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("none/content.db");
    let server = Client::new(&url(&file), &dir.path().join("own"));
    clear(&server.try_text("src/a.txt").unwrap_err());
    assert!(!file.parent().unwrap().exists(), "a folder that a person names is not made");
    std::fs::create_dir(dir.path().join("none")).unwrap();
    assert_eq!(server.try_text("src/a.txt"), Ok(None));
    let mode = std::os::unix::fs::PermissionsExt::mode(&file.metadata().unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_link_is_not_called_dead_because_the_database_could_not_tell() {
    let fixture = Fixture::new();
    fixture.server.put("docs/b.md", "# B\n").unwrap();
    fixture.server.put("docs/a.md", "# A\n\n[b](b.md)\n").unwrap();
    // Whoever looks for the other page gets an error, and every other row is found.
    let spoiled = "ALTER TABLE entities RENAME TO whole; CREATE VIEW entities AS SELECT * FROM whole WHERE
        abs(CASE WHEN path = 'docs/b.md' THEN -9223372036854775807 - 1 ELSE 1 END) > 0";
    fixture.connection().execute_batch(spoiled).unwrap();
    let verify = |text: &str| {
        let edit = request("docs/a.md", Edit::Content(text.to_owned()), Expect::Anything);
        fixture.server.edit_all(vec![Request { mode: Mode::VerifyOnly, ..edit }])
    };
    assert!(verify("# A\n\nNo link.\n").is_ok(), "the control");
    let error = verify("# A\n\nThe page [b](b.md).\n").unwrap_err();
    assert_eq!(error.code, Code::StoreUnavailable, "{error:?}");
}
