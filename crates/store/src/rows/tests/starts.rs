//! Tests of databases that are new, broken, of another version, or missing; all with SQLite.

use super::*;
use crate::state::StateFolder;
use rusqlite::Connection;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

fn rows_in(path: &Path) -> EntityStore {
    let database = EntityDatabase::from_url(&format!("sqlite:{}", path.display())).unwrap();
    EntityStore::new(Arc::new(database), Tenant::Global)
}

fn read_error(path: &Path) -> Error {
    let rows = rows_in(path);
    let error = rows.read(&rows.at(&entity("module", "a")), 9).unwrap_err();
    assert_eq!(error.code, Code::StoreUnavailable);
    error
}

fn file() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("content.db");
    (dir, path)
}

#[test]
fn the_users_own_is_made_at_its_first_use_for_the_user_alone() {
    let dir = tempfile::tempdir().unwrap();
    let state = StateFolder::in_folder(dir.path(), &[]);
    let rows = EntityStore::new(Arc::new(EntityDatabase::in_state_folder(&state)), Tenant::Global);
    assert_eq!(rows.entries(None, 9).unwrap(), []);
    assert_eq!(rows.entry("7f3a-1".parse().unwrap()).unwrap(), None);
    let path = dir.path().join("state/content/content.db");
    assert!(!path.exists(), "nobody has used it");
    let place = rows.at(&entity("module", "a"));
    rows.write(&place, "text");
    for file in ["content.db", "content.db-wal"] {
        let found = path.with_file_name(file).metadata().unwrap();
        assert_eq!(found.mode() & 0o7777, 0o600, "{file}");
    }
    let again = EntityStore::new(Arc::new(EntityDatabase::in_state_folder(&state)), Tenant::Global);
    assert_eq!(again.entries(None, 9).unwrap().len(), 1);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o666)).unwrap();
    let third = EntityStore::new(Arc::new(EntityDatabase::in_state_folder(&state)), Tenant::Global);
    let error = third.read(&place, 9).unwrap_err();
    assert!(error.message.contains("may be written by others"), "{}", error.message);
}

#[test]
fn many_who_start_at_once_make_the_tables_once() {
    let (_dir, path) = file();
    std::thread::scope(|threads| {
        for number in 0..6 {
            let path = &path;
            threads.spawn(move || {
                let rows = rows_in(path);
                rows.write(&rows.at(&entity("module", &format!("{number}"))), "text");
            });
        }
    });
    let rows = rows_in(&path);
    assert_eq!(rows.entries(None, 9).unwrap().len(), 6);
}

#[test]
fn tables_that_were_being_made_when_the_process_ended_are_made_by_the_next() {
    let (_dir, path) = file();
    {
        let connection = Connection::open(&path).unwrap();
        connection
            .execute_batch("PRAGMA journal_mode = WAL; BEGIN IMMEDIATE; CREATE TABLE apps(id TEXT)")
            .unwrap();
        // Dropped as by a killed process: nothing was committed.
    }
    let rows = rows_in(&path);
    rows.write(&rows.at(&entity("module", "a")), "text");
    let migrated = rows.database.migrate().unwrap();
    assert_eq!((migrated.from, migrated.to, migrated.narrows), (1, 1, true));
}

#[test]
fn a_migration_reports_what_it_created() {
    let (_dir, path) = file();
    let database = EntityDatabase::from_url(&format!("sqlite:{}", path.display())).unwrap();
    assert_eq!(database.migrate().map(|migrated| (migrated.from, migrated.to)), Ok((0, 1)));
    assert_eq!(database.migrate().map(|migrated| (migrated.from, migrated.to)), Ok((1, 1)));
    assert_eq!(database.apps(), Ok(Vec::new()));
}

#[test]
fn what_a_newer_lockgate_made_is_left_alone() {
    let (_dir, path) = file();
    rows_in(&path).database.migrate().unwrap();
    let connection = Connection::open(&path).unwrap();
    let later = "INSERT INTO lockgate_migrations(version, description, success, checksum, execution_time)
        VALUES (9, 'later', 1, x'00', 0)";
    connection.execute(later, []).unwrap();
    assert!(read_error(&path).message.contains("newer lockgate"), "{}", read_error(&path).message);
    assert!(rows_in(&path).database.migrate().unwrap_err().message.contains("version is 9"));
}

#[test]
fn what_is_no_database_is_rejected_and_used_once_it_is_fixed() {
    let (dir, path) = file();
    std::fs::write(&path, "no database, but a text that is long enough to be looked at as one\n".repeat(99))
        .unwrap();
    let rows = rows_in(&path);
    let place = rows.at(&entity("module", "a"));
    let error = rows.read(&place, 9).unwrap_err();
    assert_eq!(error.code, Code::StoreUnavailable);
    assert!(!error.message.contains("content.db"), "{}", error.message);
    assert_eq!(std::fs::read(&path).unwrap().len(), 99 * 67, "what is there is left");
    std::fs::remove_file(&path).unwrap();
    rows.write(&place, "text");
    assert_eq!(rows.text_of(&place).as_deref(), Some("text"));
    assert_eq!(refused_folder(dir.path()).code, Code::StoreUnavailable);
}

fn refused_folder(path: &Path) -> Error {
    read_error(path)
}

#[test]
fn a_database_without_lockgates_tables_is_not_taken_for_one_with() {
    let (_dir, path) = file();
    let connection = Connection::open(&path).unwrap();
    connection.execute_batch("CREATE TABLE apps(id TEXT); INSERT INTO apps VALUES ('theirs')").unwrap();
    drop(connection);
    read_error(&path);
    let connection = Connection::open(&path).unwrap();
    let tables = "SELECT count(*) FROM sqlite_master WHERE type = 'table'";
    assert_eq!(connection.query_row(tables, [], |row| row.get::<_, i64>(0)), Ok(1), "nothing was made");
}

#[test]
fn a_database_that_may_not_be_written_to_is_refused() {
    let (_dir, path) = file();
    let rows = rows_in(&path);
    let place = rows.at(&entity("module", "a"));
    rows.write(&place, "text");
    let connection = Connection::open(&path).unwrap();
    connection
        .execute_batch("CREATE TRIGGER no BEFORE INSERT ON edits BEGIN SELECT RAISE(ABORT, 'no'); END")
        .unwrap();
    let over = rows.write_all(&[(&place, Some("next"))], EntryKind::Edit);
    assert!(over.is_err() || is_overtaken(&over.unwrap()));
    assert_eq!(rows.text_of(&place).as_deref(), Some("text"), "nothing of it is there");
    connection.execute_batch("DROP TRIGGER no").unwrap();
    rows.write(&place, "next");
}
