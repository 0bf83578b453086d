use super::*;
use crate::row_location::RowKey;
use crate::tenant::Tenant;

/// Opens a database in a temporary file, or the one in `LOCKGATE_TEST_STORE` to run the tests by hand.
fn open_database() -> (tempfile::TempDir, EntityDatabase) {
    let dir = tempfile::tempdir().unwrap();
    let file = format!("sqlite:{}", dir.path().join("content.db").display());
    (dir, EntityDatabase::from_url(&std::env::var("LOCKGATE_TEST_STORE").unwrap_or(file)).unwrap())
}

#[test]
fn a_file_of_another_program_gets_tables_only_by_a_migration() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("theirs.db");
    rusqlite::Connection::open(&file).unwrap().execute_batch("CREATE TABLE theirs(a)").unwrap();
    let database = EntityDatabase::from_url(&format!("sqlite:{}", file.display())).unwrap();
    let error = database.owner_of_app(&Tenant::Global, "a").unwrap_err();
    assert!(
        matches!(&error, EntityStoreError::Unusable(reason) if reason.contains("another program")),
        "{error:?}"
    );
    // Byte 18 of the file is 2 in the WAL mode, and 1 otherwise.
    let is_wal = || std::fs::read(&file).unwrap()[18] == 2;
    assert!(!is_wal());
    database.migrate().unwrap();
    assert!(is_wal());
    assert_eq!(database.owner_of_app(&Tenant::Global, "a"), Ok(None), "the control");
}

#[test]
fn a_new_database_has_no_row() {
    let (_dir, database) = open_database();
    let key = RowKey { kind: "module", organization: "", app: "", path: "no such.py" };
    for tenant in [Tenant::Global, Tenant::Organization("o'\\".to_owned()), Tenant::All] {
        assert!(database.row(&tenant, key, 10).unwrap().is_none());
        assert_eq!(database.owner_of_app(&tenant, "a"), Ok(None));
        assert_eq!(database.owner_of_path(&tenant, "workflow", "a"), Ok(None));
        assert_eq!(database.owners_in_history(&tenant, "workflow", "a"), Ok(Vec::new()));
    }
}
