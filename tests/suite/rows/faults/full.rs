//! The disk of the database is full, and has free space again.
//!
//! It is a small one in the memory, which no process sees but those of the database and of its server.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::super::postgres::{KEEPER, Postgres, behind};
use super::{Client, WriteLog, WriteOutcome, the_app, write_outcome};
use crate::suite::store::not_run;
use crate::suite::wire::{Server, lockgate};

/// Runs the rest of the words where a disk of so many bytes is at a folder.
const MOUNTED: &str = r#"mount -t tmpfs -o "size=$0,mode=0777" none "$1" && shift && exec "$@""#;
/// The same, and then as who one was.
const MOUNTED_BY_OTHERS: &str = r#"mount -t tmpfs -o "size=$0,mode=0777" none "$1" && shift && u=$1 && g=$2 && shift 2 &&
    exec unshare --user --map-user="$u" --map-group="$g" "$@""#;

/// What stands before a command that is to see a small disk; nothing where no disk can be mounted.
pub fn small_disk(at: &Path, size: &str) -> Option<Vec<OsString>> {
    let root = rustix::process::geteuid().is_root();
    let plain = |words: &[&str]| words.iter().map(OsString::from).collect::<Vec<_>>();
    let mut words = if root {
        plain(&["unshare", "--mount", "--propagation", "private", "sh", "-c", MOUNTED, size])
    } else {
        plain(&["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", MOUNTED_BY_OTHERS, size])
    };
    words.push(at.into());
    if !root {
        words.push(rustix::process::geteuid().as_raw().to_string().into());
        words.push(rustix::process::getegid().as_raw().to_string().into());
    }
    let tried = std::process::Command::new(&words[0]).args(&words[1..]).arg("true").output();
    if tried.is_ok_and(|tried| tried.status.success()) {
        return Some(words);
    }
    not_run("stored content on a full disk: none can be mounted");
    None
}

/// A file that fills a disk, which a process sees at this folder.
struct Filler(PathBuf);

impl Filler {
    fn new(process: u32, folder: &Path) -> Filler {
        let own = format!("/proc/{process}/root{}", folder.display());
        Filler(PathBuf::from(own).join("filler"))
    }

    /// Fills the disk except so many pages of four kilobytes.
    fn leave(&self, pages: u64) {
        let folder = self.0.parent().unwrap();
        let found = rustix::fs::statvfs(folder).unwrap();
        let mine = std::fs::metadata(&self.0).map_or(0, |filler| filler.len());
        let free = found.f_bfree * found.f_frsize + mine;
        let file = std::fs::OpenOptions::new().create(true).append(true).open(&self.0).unwrap();
        file.set_len(0).unwrap();
        rustix::fs::fallocate(&file, rustix::fs::FallocateFlags::empty(), 0, (free - pages * 4096).max(1))
            .unwrap();
    }

    fn go(&self) {
        std::fs::remove_file(&self.0).unwrap();
    }
}

/// A text that no compression makes smaller.
fn noise(seed: u64, bytes: usize) -> String {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut text = String::with_capacity(bytes);
    while text.len() < bytes {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        text.push_str(&format!("{state:016x}\n"));
    }
    text
}

#[test]
fn an_edit_for_which_postgresql_has_no_room_is_refused_whole() {
    let folder = tempfile::Builder::new().prefix("lockgate-disk-").tempdir().unwrap();
    std::fs::set_permissions(folder.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let Some(disk) = small_disk(folder.path(), "24m") else { return };
    let Some(postgres) = Postgres::start_behind(disk) else { return };
    let space = folder.path().join("space");
    postgres.make_folder(&space);
    postgres.boss("postgres", &format!("CREATE TABLESPACE small LOCATION '{}'", space.display()));
    let mut database = postgres.database();
    database.name = "small".to_owned();
    postgres.boss(
        "postgres",
        &format!("CREATE DATABASE small OWNER {KEEPER} TEMPLATE template0 TABLESPACE small"),
    );
    let dir = tempfile::tempdir().unwrap();
    let server = Client::new(&database.url(), &dir.path().join("server"));
    assert_eq!(server.text("src/a.txt"), None);
    database.boss(&the_app());
    let mut ledger = WriteLog::begin(&server, "src/a.txt");
    let filler = Filler::new(postgres.id(), folder.path());
    let mut full = 0;
    for pages in 0..12 {
        filler.leave(pages);
        for number in 0..3 {
            let path = format!("src/{pages}-{number}.txt");
            let text = noise(pages * 10 + number, 40_000);
            let answer = server.put(&path, &text);
            match write_outcome(&answer) {
                WriteOutcome::There => assert_eq!(server.text(&path), Some(text)),
                WriteOutcome::Absent => {
                    assert_eq!(answer.unwrap_err().code, lockgate_error::Code::NoSpace);
                    assert_eq!(server.text(&path), None);
                    assert_eq!(server.history(&path), []);
                    full += 1;
                }
                WriteOutcome::Unknown => panic!("{answer:?}"),
            }
        }
        filler.go();
        let line = format!("after {pages}.");
        assert_eq!(ledger.note(&line, &server.append("src/a.txt", &line)), WriteOutcome::There);
    }
    assert!(full > 10, "the disk was full {full} times");
    ledger.check(&server);
}

#[test]
fn an_edit_for_which_sqlite_has_no_room_is_refused_whole() {
    let folder = tempfile::Builder::new().prefix("lockgate-disk-").tempdir().unwrap();
    let Some(disk) = small_disk(folder.path(), "8m") else { return };
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("root")).unwrap();
    let mut command = behind(&disk, &lockgate(dir.path()));
    command.env("LOCKGATE_STORE", format!("sqlite:{}", folder.path().join("content.db").display()));
    let mut server = Server::start_by(command, &dir.path().join("root"), &["--tools", "all"]);
    let flow = |path: &str, text: &str| {
        let content = format!("@workflow\ndef f():\n    return '''{text}'''\n");
        json!({"entity_type": "workflow", "path": path, "content": content})
    };
    let created = server.call("replace_content", &flow("a.py", ""));
    assert_eq!(created.status(), "written", "{}", created.text);
    let filler = Filler::new(server.id(), folder.path());
    let mut full = 0;
    for pages in 0..40 {
        filler.leave(pages);
        let path = format!("{pages}.py");
        let text = noise(pages, 30_000);
        let answer = server.call("replace_content", &flow(&path, &text));
        let response = server.call("get_content", &json!({"entity_type": "workflow", "path": path}));
        let history = server.call("list_edits", &json!({"entity_type": "workflow", "path": path}));
        let edits = history.structured["edits"].as_array().map(Vec::len);
        if answer.is_error {
            assert_eq!(answer.code(), "NO_SPACE", "{pages}: {}", answer.text);
            assert_eq!(answer.structured["written"], Value::Bool(false), "{pages}: {:#}", answer.structured);
            assert_eq!(
                (response.code(), edits),
                ("FILE_NOT_FOUND", Some(0)),
                "{pages}: {}\n{}",
                response.text,
                history.text
            );
            full += 1;
        } else {
            assert_eq!((response.is_error, edits), (false, Some(1)), "{pages}: {}", response.text);
        }
        filler.go();
        let again = server.call("replace_content", &flow("a.py", &pages.to_string()));
        assert_eq!(again.status(), "written", "{pages}: {}", again.text);
    }
    assert!(full > 5, "the disk was full {full} times");
}
