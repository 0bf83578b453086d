//! Back-ups as docs/serving.md has them made, and what comes back from them.

use std::path::Path;
use std::process::Output;

use tempfile::TempDir;

use super::postgres::{BOSS, KEEPER, PASSWORD, PASSWORD_IN_URL, Postgres};
use crate::suite::wire::lockgate;

/// Who runs commands, and where.
struct Person {
    home: TempDir,
    folder: TempDir,
}

impl Person {
    fn new() -> Person {
        let person = Person { home: tempfile::tempdir().unwrap(), folder: tempfile::tempdir().unwrap() };
        std::fs::create_dir(person.folder.path().join("root")).unwrap();
        person
    }

    /// What a command says that uses this database.
    #[track_caller]
    fn run(&self, store: &str, arguments: &[&str]) -> String {
        let mut command = lockgate(self.home.path());
        command.args(arguments).current_dir(self.folder.path()).env("LOCKGATE_STORE", store);
        let out = command.output().unwrap();
        assert!(out.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8(out.stdout).unwrap()
    }

    /// Writes a workflow, and gives the number of its edit.
    fn write(&self, store: &str, text: &str) -> String {
        let folder = self.folder.path().join("in/workflow/acme");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("a.py"), format!("@workflow\ndef f():\n    return {text}\n")).unwrap();
        self.run(store, &["store", "import", "in", "--replace"]);
        self.edits(store).remove(0)
    }

    fn edits(&self, store: &str) -> Vec<String> {
        let log = self.run(store, &["log", "--root", "root", "--organization", "acme", "--json"]);
        let log: serde_json::Value = serde_json::from_str(&log).unwrap();
        let edits = log["edits"].as_array().unwrap();
        edits.iter().map(|edit| edit["edit_id"].as_str().unwrap().to_owned()).collect()
    }

    fn text(&self, store: &str) -> String {
        let out = self.folder.path().join("out");
        std::fs::remove_dir_all(&out).ok();
        self.run(store, &["store", "export", "out"]);
        std::fs::read_to_string(out.join("workflow/acme/a.py")).unwrap()
    }

    /// What was backed up after the first edit is there as it was, with its past, and knows nothing of the second.
    fn check_copy(&self, copy: &str, first: &str, second: &str) {
        assert!(self.text(copy).contains("return 1"), "{}", self.text(copy));
        assert_eq!(self.edits(copy), [first]);
        self.run(copy, &["show", first, "--root", "root", "--organization", "acme"]);
        let mut command = lockgate(self.home.path());
        command.args(["undo", second, "--root", "root", "--organization", "acme"]);
        let out = command.current_dir(self.folder.path()).env("LOCKGATE_STORE", copy).output().unwrap();
        let stderr = String::from_utf8_lossy(&out.stderr).into_owned();
        assert!(out.status.code() == Some(2) && stderr.contains("there is no edit"), "{stderr}");
        self.run(copy, &["undo", first, "--root", "root", "--organization", "acme"]);
        assert!(!self.run(copy, &["store", "export", "gone"]).contains("entities: 1"));
    }
}

#[test]
fn a_copy_that_sqlite_makes_while_it_is_used_is_whole() {
    let person = Person::new();
    let at = |name: &str| person.folder.path().join(name);
    let store = format!("sqlite:{}", at("content.db").display());
    let first = person.write(&store, "1");
    // A server that has the file open.
    let user = rusqlite::Connection::open(at("content.db")).unwrap();
    let count: i64 = user.query_row("SELECT count(*) FROM entities", [], |row| row.get(0)).unwrap();
    assert_eq!(count, 1);
    let other = rusqlite::Connection::open(at("content.db")).unwrap();
    other.execute("VACUUM INTO ?", [at("copy.db").to_str().unwrap()]).unwrap();
    let second = person.write(&store, "2");
    person.check_copy(&format!("sqlite:{}", at("copy.db").display()), &first, &second);
    assert!(person.text(&store).contains("return 2"));
}

fn dump(postgres: &Postgres, role: &str, database: &str, file: &Path) -> Output {
    postgres.client("pg_dump", role).args(["-Fc", "-f"]).arg(file).arg(database).output().unwrap()
}

#[test]
fn a_dump_of_postgresql_comes_back_as_another_database() {
    let Some(postgres) = Postgres::shared() else { return };
    let (person, database, copy) = (Person::new(), postgres.database(), postgres.database());
    let first = person.write(&database.url(), "1");
    let backup = format!("{}_backup", database.name);
    database.boss(&format!(
        "CREATE ROLE {backup} LOGIN PASSWORD '{PASSWORD}' BYPASSRLS; GRANT pg_read_all_data TO {backup}"
    ));
    let file = person.folder.path().join("dump");
    let refused = dump(postgres, KEEPER, &database.name, &file);
    assert!(!refused.status.success(), "who is bound by row-level security cannot make one");
    assert!(String::from_utf8_lossy(&refused.stderr).contains("row-level security"), "{refused:?}");
    let dumped = dump(postgres, &backup, &database.name, &file);
    assert!(dumped.status.success(), "{}", String::from_utf8_lossy(&dumped.stderr));
    let second = person.write(&database.url(), "2");
    let mut restore = postgres.client("pg_restore", BOSS);
    let restored = restore.args(["--exit-on-error", "-d", &copy.name]).arg(&file).output().unwrap();
    assert!(restored.status.success(), "{}", String::from_utf8_lossy(&restored.stderr));
    person.check_copy(&copy.url(), &first, &second);
    assert!(person.text(&database.url()).contains("return 2"));
}

/// As docs/serving.md has it: tables that one role makes, and another uses.
#[test]
fn a_role_that_may_make_no_tables_serves() {
    let Some(postgres) = Postgres::shared() else { return };
    let (person, database) = (Person::new(), postgres.database());
    person.run(&database.url(), &["store", "migrate"]);
    let server = format!("{}_serve", database.name);
    database.boss(&format!("CREATE ROLE {server} LOGIN PASSWORD '{PASSWORD}'"));
    let grant_statement =
        format!("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {server}");
    database.query_as_server(&grant_statement);
    let folder = postgres.folder().display().to_string().replace('/', "%2F");
    let store = format!("postgres://{server}:{PASSWORD_IN_URL}@localhost/{}?host={folder}", database.name);
    let first = person.write(&store, "1");
    assert!(person.text(&store).contains("return 1"));
    person.run(&store, &["undo", &first, "--root", "root", "--organization", "acme"]);
}

/// `tests/upgrade/entities.sql` was dumped from a database of the version before the present driver.
#[test]
fn entities_that_an_earlier_version_stored_in_postgresql_are_read_and_their_edits_undone() {
    let Some(postgres) = Postgres::shared() else { return };
    let database = postgres.database();
    let dump = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/upgrade/entities.sql");
    database.query_as_server(&std::fs::read_to_string(dump).unwrap());
    let recorded = "SELECT version, description, success, checksum, installed_on, execution_time FROM lockgate_migrations";
    let before = database.boss(recorded);
    let (person, store) = (Person::new(), database.url());
    assert!(person.run(&store, &["store", "migrate"]).contains("version 1"));
    assert!(before.contains("content") && database.boss(recorded) == before, "{before}");
    assert!(person.text(&store).contains("return 2"));
    let edits = person.edits(&store);
    assert_eq!(edits.len(), 3);
    person.run(&store, &["undo", &edits[1], "--root", "root", "--organization", "acme"]);
    assert!(person.text(&store).contains(r#"return 1  # it's a \\ and "b""#), "{}", person.text(&store));
    // An edit of this version, and a change of the tables that is noticed.
    person.write(&store, "3");
    assert!(person.text(&store).contains("return 3"));
    database.boss("UPDATE lockgate_migrations SET checksum = 'x'");
    let mut command = lockgate(person.home.path());
    let out = command.args(["store", "migrate"]).env("LOCKGATE_STORE", &store).output().unwrap();
    let stderr = String::from_utf8_lossy(&out.stderr);
    assert!(!out.status.success() && stderr.contains("its tables differ from those"), "{stderr}");
}
