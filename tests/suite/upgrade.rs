//! What an earlier version wrote is still read: the journal, the trust of a person, a database of entities.
//!
//! `tests/upgrade` was written by version 0.1.0 before it was divided into crates: three edits and an undo in `root`, the
//! trust in its policy, and an entity that was imported twice. `entities.sql` is a dump of entities in PostgreSQL by the last
//! version that used sqlx: a workflow that was imported twice, and a module. `rows/backup.rs` loads it.

use std::fs;
use std::path::{Path, PathBuf};

use lockgate_text::Version;
use serde_json::Value;
use tempfile::TempDir;

use super::wire::{Outcome, run_for};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/upgrade").join(name)
}

/// A user with the project and the state folder of the earlier version.
struct Upgraded {
    user: TempDir,
    root: PathBuf,
}

impl Upgraded {
    fn new() -> Upgraded {
        let user = tempfile::tempdir().unwrap();
        let root = user.path().canonicalize().unwrap().join("root");
        fs::create_dir_all(root.join(".git")).unwrap();
        for name in ["app.py", "new.txt", "quality.yaml"] {
            fs::copy(fixture("root").join(name), root.join(name)).unwrap();
        }
        let upgraded = Upgraded { user, root };
        // The state of a root is named after the hash of its path.
        let hash = Version::hash(upgraded.root.as_os_str().as_encoded_bytes()).hex();
        let state = upgraded.user.path().join("state/lockgate");
        upgraded.call(&["edit", "--path", "other.txt", "--content", "x"]);
        fs::remove_file(upgraded.root.join("other.txt")).unwrap();
        let journal = state.join(&hash[..32]);
        assert!(journal.join("journal.db").exists(), "the journal has another name");
        for entry in fs::read_dir(&journal).unwrap() {
            fs::remove_file(entry.unwrap().path()).unwrap();
        }
        fs::copy(fixture("journal.db"), journal.join("journal.db")).unwrap();
        upgraded
    }

    fn call(&self, arguments: &[&str]) -> Outcome {
        run_for(self.user.path(), arguments, &self.root, "")
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.root.join(name)).unwrap()
    }

    /// Puts the record of trust where this version looks for it, with the programs of this machine.
    fn trust(&self, policy: &str) {
        let mut record: Value = serde_json::from_slice(&fs::read(fixture("trust.json")).unwrap()).unwrap();
        record["root"] = self.root.to_str().unwrap().into();
        let status = self.call(&["trust", "--yes"]);
        assert_eq!(status.exit, 0, "{}", status.stderr);
        let [root, policy] =
            [self.root.to_str().unwrap(), policy].map(|it| Version::hash(it.as_bytes()).hex());
        let path = self.user.path().join(format!("state/lockgate/trust/{root}.{policy}.json"));
        let own: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        assert_eq!(own["stamp"], record["stamp"], "the same commands have another hash");
        record["programs"] = own["programs"].clone();
        fs::write(&path, serde_json::to_vec(&record).unwrap()).unwrap();
    }
}

#[test]
fn a_journal_of_an_earlier_version_is_read_and_its_edits_are_undone() {
    let upgraded = Upgraded::new();
    let log = upgraded.call(&["log"]);
    assert_eq!(log.stdout.lines().count(), 4, "{}{}", log.stdout, log.stderr);
    let undone = upgraded.call(&["redo"]);
    assert_eq!((undone.exit, upgraded.text("app.py").as_str()), (0, "a = 3\nb = 4\n"), "{}", undone.stderr);
    for expected in ["a = 3\nb = 2\n", "a = 3\nb = 2\n", "a = 1\nb = 2\n"] {
        let undone = upgraded.call(&["undo"]);
        assert_eq!(undone.exit, 0, "{}{}", undone.stdout, undone.stderr);
        assert_eq!(upgraded.text("app.py"), expected);
    }
    assert!(!upgraded.root.join("new.txt").exists());
}

#[test]
fn trust_given_to_an_earlier_version_holds() {
    let upgraded = Upgraded::new();
    assert_ne!(upgraded.call(&["trust", "status"]).exit, 0, "the control");
    upgraded.trust("quality.yaml");
    let status = upgraded.call(&["trust", "status"]);
    assert_eq!(status.exit, 0, "{}{}", status.stdout, status.stderr);
    fs::write(upgraded.root.join("quality.yaml"), upgraded.text("quality.yaml").replace("exit 0", "exit 1"))
        .unwrap();
    assert_ne!(upgraded.call(&["trust", "status"]).exit, 0, "the control");
}

#[test]
fn a_database_of_an_earlier_version_needs_no_migration() {
    let upgraded = Upgraded::new();
    let database = upgraded.user.path().join("entities.db");
    fs::copy(fixture("entities.db"), &database).unwrap();
    let store = format!("sqlite:{}", database.display());
    let migrated = upgraded.call(&["store", "migrate", "--store", &store]);
    assert!(
        migrated.exit == 0 && migrated.stdout.contains("version 1"),
        "{}{}",
        migrated.stdout,
        migrated.stderr
    );
    let folder = upgraded.user.path().join("export");
    let exported = upgraded.call(&["store", "export", "--store", &store, folder.to_str().unwrap()]);
    assert_eq!(exported.exit, 0, "{}{}", exported.stdout, exported.stderr);
    assert_eq!(fs::read_to_string(folder.join("module/_global/lib/a.py")).unwrap(), "a = 2\n");
}
