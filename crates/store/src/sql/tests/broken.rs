//! Tests of files that are not a database, or that must not be used.

use super::{DatabaseError, begin, edit, meta, new_database, open, row, text};
use crate::history::{EditFilter, EntryKind};
use crate::sql::Database;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// The number of set-aside databases in the folder.
fn aside(folder: &Path) -> usize {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names
        .filter(|name| name.contains("corrupt") && !name.ends_with("-wal") && !name.ends_with("-shm"))
        .count()
}

/// A folder whose journal is checkpointed and closed.
fn closed() -> tempfile::TempDir {
    let (dir, database) = new_database();
    for number in 0..200_u32 {
        let text = |number: u32| format!("{number} {}", "text ".repeat(50)).into_bytes();
        edit(&database, "a", &text(number), &text(number + 1));
    }
    let checkpoint = "PRAGMA wal_checkpoint(TRUNCATE)";
    let busy: i64 = database.writer().query_row(checkpoint, [], |row| row.get(0)).unwrap();
    assert_eq!((busy, database.log_length()), (0, 0));
    drop(database);
    dir
}

type Spoil = fn(&Path);

#[test]
fn what_is_no_database_is_set_aside_and_a_new_one_is_begun() {
    let sorts: [(&str, Spoil); 5] = [
        ("garbage", |path| fs::write(path, "no database ".repeat(5000)).unwrap()),
        ("a directory", |path| {
            fs::remove_file(path).unwrap();
            fs::create_dir(path).unwrap();
            fs::write(path.join("inside"), "theirs").unwrap();
        }),
        ("a link", |path| {
            fs::rename(path, path.with_extension("elsewhere")).unwrap();
            std::os::unix::fs::symlink(path.with_extension("elsewhere"), path).unwrap();
        }),
        ("another program's", |path| {
            fs::remove_file(path).unwrap();
            let other = rusqlite::Connection::open(path).unwrap();
            other.execute_batch("CREATE TABLE theirs(a); PRAGMA user_version = 1").unwrap();
        }),
        ("cut off", |path| {
            let whole = fs::read(path).unwrap();
            fs::write(path, &whole[..5000]).unwrap();
        }),
    ];
    for (sort, spoil) in sorts {
        let dir = closed();
        assert!(Database::open(dir.path()).unwrap().1.is_empty(), "the control");
        spoil(&dir.path().join("journal.db"));
        let (database, notes) = Database::open(dir.path()).unwrap();
        assert!(matches!(notes.as_slice(), [note] if note.contains("set aside")), "{sort}: {notes:?}");
        assert_eq!(aside(dir.path()), 1, "{sort}");
        let number = edit(&database, "a", b"1", b"2");
        assert!(database.entry(number).unwrap().is_some() && text(&database, b"2").is_some(), "{sort}");
    }
}

#[test]
fn an_empty_file_is_a_new_journal() {
    let dir = closed();
    fs::write(dir.path().join("journal.db"), "").unwrap();
    let database = open(dir.path());
    edit(&database, "a", b"1", b"2");
    assert_eq!(aside(dir.path()), 0);
}

#[test]
fn every_cut_and_every_garbled_page_is_seen_or_harmless() {
    for at in (0..20_usize).map(|step| step * 4096 + 50) {
        let dir = closed();
        let path = dir.path().join("journal.db");
        let mut bytes = fs::read(&path).unwrap();
        bytes[at..at + 2000].fill(0xa5);
        fs::write(&path, bytes).unwrap();
        let Ok((database, _)) = Database::open(dir.path()) else { panic!("no new one was begun for {at}") };
        // Corruption is either reported, or the text is the right one.
        for number in 0..200_u32 {
            let expected = format!("{number} {}", "text ".repeat(50)).into_bytes();
            match database.text(&lockgate_text::Version::hash(&expected).hex()) {
                Ok(Some(found)) => assert_eq!(found, expected),
                Ok(None) | Err(DatabaseError::Corrupt(_) | DatabaseError::Other(_)) => {}
                Err(other) => panic!("{other:?}"),
            }
        }
    }
}

#[test]
fn a_journal_of_a_newer_lockgate_is_left_alone() {
    let dir = closed();
    let connection = rusqlite::Connection::open(dir.path().join("journal.db")).unwrap();
    connection.execute_batch("PRAGMA user_version = 2").unwrap();
    drop(connection);
    match Database::open(dir.path()) {
        Err(DatabaseError::Unusable(reason)) => assert!(reason.contains("newer lockgate"), "{reason}"),
        other => panic!("{other:?}"),
    }
    assert_eq!(aside(dir.path()), 0);
}

#[test]
fn a_database_that_others_may_write_is_not_used() {
    let dir = closed();
    let path = dir.path().join("journal.db");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o622)).unwrap();
    match Database::open(dir.path()) {
        Err(DatabaseError::Unusable(reason)) => {
            assert!(reason.contains("may be written by others"), "{reason}")
        }
        other => panic!("{other:?}"),
    }
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    if rustix::process::geteuid().is_root() {
        std::os::unix::fs::chown(&path, Some(12_345), None).unwrap();
        assert!(
            matches!(Database::open(dir.path()), Err(DatabaseError::Unusable(reason)) if reason.contains("another user"))
        );
        std::os::unix::fs::chown(&path, Some(0), None).unwrap();
    }
    assert!(Database::open(dir.path()).is_ok(), "the control");
}

#[test]
fn all_files_are_the_user_s_alone() {
    let (dir, database) = new_database();
    edit(&database, "a", b"1", b"2");
    for entry in fs::read_dir(dir.path()).unwrap() {
        let entry = entry.unwrap();
        let mode = entry.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{:?}", entry.file_name());
    }
}

#[test]
fn one_that_is_set_aside_is_no_longer_the_current_one() {
    let (dir, database) = new_database();
    let number = begin(&database, &meta(EntryKind::Edit), &[row("a", Some(b"1"), Some(b"2"))]).unwrap();
    assert!(database.is_current());
    assert_eq!(
        database.set_aside_if_corrupt(dir.path(), "a disk that failed once").unwrap(),
        None,
        "it is whole"
    );
    for part in ["journal.db", "journal.db-wal"] {
        fs::write(dir.path().join(part), "no database ".repeat(5000)).unwrap();
    }
    assert!(database.set_aside_if_corrupt(dir.path(), "for a test").unwrap().is_some());
    assert!(!database.is_current());
    assert_eq!(
        database.set_aside_if_corrupt(dir.path(), "again").unwrap(),
        None,
        "what is there now is another's"
    );
    let new = open(dir.path());
    assert_ne!(new.id(number), database.id(number), "an id of the one does not name an edit of the other");
    edit(&new, "a", b"3", b"4");
    drop(database);
    assert!(new.newest(EditFilter::Settled, "a").unwrap().is_some());
}

/// Runs the work in a nearly full file system of its own; skipped if that cannot be created.
#[test]
fn a_full_disk_refuses_and_writes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path().to_str().unwrap();
    let mounted = std::process::Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=2m,mode=700", "lockgate-test", at])
        .output();
    if !mounted.is_ok_and(|output| output.status.success()) {
        eprintln!("not run: no file system can be mounted here");
        return;
    }
    let outcome = std::panic::catch_unwind(|| fill(dir.path()));
    let unmounted = std::process::Command::new("umount").args(["-l", at]).output();
    assert!(unmounted.is_ok_and(|output| output.status.success()));
    outcome.unwrap();
}

fn fill(folder: &Path) {
    let database = open(folder);
    let noise = |seed: u64| -> Vec<u8> {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state.to_le_bytes()
        };
        (0..12_500).flat_map(|_| next()).collect()
    };
    let mut written = Vec::new();
    let error = (0..100).find_map(|seed| {
        let (before, after) = (noise(2 * seed + 1), noise(2 * seed + 2));
        match begin(&database, &meta(EntryKind::Edit), &[row("a", Some(&before), Some(&after))]) {
            Ok(number) => match database.settle(number) {
                Ok(()) => {
                    written.push((number, after));
                    None
                }
                Err(error) => {
                    // It stays unsettled, and recovery decides; here it is removed because nothing was
                    // published.
                    assert!(database.unsettled_and_newest("a").unwrap().0);
                    Some(error)
                }
            },
            Err(error) => Some(error),
        }
    });
    assert!(matches!(error, Some(DatabaseError::Full(_))), "{error:?}");
    assert!(!written.is_empty());
    for (number, after) in &written {
        assert!(database.entry(*number).unwrap().is_some());
        assert_eq!(text(&database, after).as_ref(), Some(after));
    }
    let newest = database.last(EditFilter::Settled).unwrap().unwrap().1.id.number();
    assert_eq!(Some(newest), written.last().map(|(number, _)| *number));
}
