use super::*;
use crate::store::rows::Tenant;

/// A database in a file of its own; or the one that a person names by `LOCKGATE_TEST_STORE`, to try them by hand.
fn depot() -> (tempfile::TempDir, EntityDatabase) {
    let dir = tempfile::tempdir().unwrap();
    let file = format!("sqlite:{}", dir.path().join("content.db").display());
    (dir, EntityDatabase::at(&std::env::var("LOCKGATE_TEST_STORE").unwrap_or(file)).unwrap())
}

#[test]
fn a_new_database_has_no_row() {
    let (_dir, depot) = depot();
    let key = RowKey { kind: "module", organization: "", app: "", path: "no such.py" };
    for tenant in [Tenant::Nobody, Tenant::Organization("o'\\".to_owned()), Tenant::Everybody] {
        assert!(depot.row(&tenant, key, 10).unwrap().is_none());
        assert_eq!(depot.owner_of_app(&tenant, "a"), Ok(None));
        assert_eq!(depot.owner_of_path(&tenant, "workflow", "a"), Ok(None));
    }
}
