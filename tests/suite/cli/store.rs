//! `lockgate store`, and what is said of stored content on every command line.

mod database;

use std::collections::BTreeMap;
use std::fs;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::suite::files;
use crate::suite::wire::{Outcome, Server, run_for};

/// A user with a database of their own, and a folder to work in.
struct Fixture {
    home: TempDir,
    folder: TempDir,
}

impl Fixture {
    fn new() -> Fixture {
        Fixture { home: tempfile::tempdir().unwrap(), folder: tempfile::tempdir().unwrap() }
    }

    #[track_caller]
    fn run(&self, arguments: &[&str], exit: i32) -> Outcome {
        let outcome = run_for(self.home.path(), arguments, self.folder.path(), "");
        assert_eq!(outcome.exit, exit, "{arguments:?}: {}{}", outcome.stdout, outcome.stderr);
        outcome
    }

    #[track_caller]
    fn json(&self, arguments: &[&str], exit: i32) -> Value {
        serde_json::from_str(&self.run(&[arguments, &["--json"]].concat(), exit).stdout).unwrap()
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        files::write(self.folder.path().join(name), text);
    }

    /// The files below a folder, each with its bytes.
    fn files(&self, folder: &str) -> BTreeMap<String, Vec<u8>> {
        files::tree(&self.folder.path().join(folder))
    }
}

fn counts(created: u64, replaced: u64, unchanged: u64) -> Value {
    json!({"created": created, "replaced": replaced, "unchanged": unchanged, "verified": 0, "new_apps": 0, "failed": []})
}

const FLOW: &str = "@workflow\nasync def sync():\n    ...\n";

#[test]
fn exported_files_are_imported_byte_for_byte() {
    let fixture = Fixture::new();
    let files: &[(&str, &[u8])] = &[
        ("app_file/7/src/index.txt", b"one\r\ntwo\n"),
        ("app_file/7/src%", b"a file beside a folder of its name\n"),
        ("app_file/7/%2Egit/config", b"[core]\n"),
        ("app_file/%5Fglobal/a.txt", b"the app has a name like a folder of ours\n"),
        ("app_file/of%2Fnobody/a.txt", b""),
        ("app_file/7/bom.txt", b"\xEF\xBB\xBFa\n"),
        ("app_file/7/wide.txt", b"\xFF\xFEa\0\n\0"),
        ("app_file/7/latin.txt", b"caf\xE9\n"),
        ("app_file/7/100%25 \u{fc}.txt", b"x"),
        ("workflow/_global/sync.py", FLOW.as_bytes()),
        ("workflow/acme/sync.py", FLOW.as_bytes()),
        ("workflow/%2E.%2F../sync.py", FLOW.as_bytes()),
        ("module/_global/lib/util.py", b"x = 1\n"),
    ];
    files.iter().for_each(|(name, bytes)| fixture.write(&format!("in/{name}"), bytes));
    fixture.write("in/apps.tsv", "7\tacme\n_global\tbeta\nof/nobody\t\n");
    fixture.write("in/.git/HEAD", "no entity\n");
    let imported = fixture.json(&["store", "import", "in"], 0);
    assert_eq!((&imported["created"], &imported["new_apps"]), (&json!(files.len()), &json!(3)), "{imported}");
    let exported = fixture.json(&["store", "export", "out"], 0);
    assert_eq!(exported, json!({"entities": files.len(), "apps": 3, "failed": []}));
    let (mut was, is) = (fixture.files("in"), fixture.files("out"));
    was.remove(".git/HEAD");
    assert_eq!(was.keys().collect::<Vec<_>>(), is.keys().collect::<Vec<_>>());
    assert_eq!(was, is);
    // Into another database, and out of it again.
    let other = Fixture { home: tempfile::tempdir().unwrap(), folder: fixture.folder };
    assert_eq!(other.json(&["store", "import", "out"], 0)["created"], json!(files.len()));
    other.run(&["store", "export", "again"], 0);
    assert_eq!(other.files("again"), is);
    assert_eq!(other.json(&["store", "import", "again"], 0), counts(0, 0, files.len() as u64));
}

#[test]
fn existing_entities_are_replaced_only_on_request() {
    let fixture = Fixture::new();
    fixture.write("in/module/_global/a.py", "x = 1\n");
    fixture.write("in/module/_global/b.py", "x = 1\n");
    assert_eq!(fixture.json(&["store", "import", "in"], 0), counts(2, 0, 0));
    fixture.write("in/module/_global/a.py", "x = 2\n");
    let stayed = fixture.json(&["store", "import", "in"], 3);
    assert_eq!((&stayed["unchanged"], &stayed["failed"][0]["code"]), (&json!(1), &json!("FILE_EXISTS")));
    assert_eq!(stayed["failed"][0]["file"], "module/_global/a.py");
    fixture.run(&["store", "export", "before"], 0);
    assert_eq!(fixture.files("before")["module/_global/a.py"], b"x = 1\n");
    let preview = fixture.json(&["store", "import", "in", "--replace", "--mode", "verify_only"], 0);
    assert_eq!((&preview["verified"], &preview["unchanged"]), (&json!(1), &json!(1)), "{preview}");
    assert_eq!(fixture.json(&["store", "import", "in"], 3), stayed, "nothing was written");
    assert_eq!(fixture.json(&["store", "import", "in", "--replace"], 0), counts(0, 1, 1));
    let root = tempfile::tempdir().unwrap();
    let root = root.path().to_str().unwrap();
    let log = fixture.json(&["log", "--root", root], 0);
    assert_eq!(log["edits"].as_array().unwrap().len(), 3, "{log}");
    let id = log["edits"][0]["edit_id"].as_str().unwrap();
    assert_eq!(log["edits"][0]["tool"], "lockgate store import");
    fixture.run(&["undo", id, "--root", root], 0);
    fixture.run(&["store", "export", "undone"], 0);
    assert_eq!(
        fixture.files("undone")["module/_global/a.py"],
        b"x = 1\n",
        "an import is taken back as any edit"
    );
}

#[test]
fn one_file_that_is_refused_stops_no_other() {
    let fixture = Fixture::new();
    fixture.write("in/module/_global/good.py", "x = 1\n");
    fixture.write("in/module/_global/broken.py", "def (:\n");
    fixture.write("in/module/_global/flow.py", FLOW);
    fixture.write("in/module/acme/of_an_organisation.py", "x = 1\n");
    fixture.write("in/app_file/unknown/a.txt", "x\n");
    fixture.write("in/app_file/_global/a.txt", "x\n");
    fixture.write("in/nothing/_global/a.txt", "x\n");
    fixture.write("in/README.md", "# About\n");
    fixture.write("in/module/_global/back\\slash.py", "x = 1\n");
    fixture.write("in/module/_global/%2E./up.py", "x = 1\n");
    fixture.write("in/module/_global/binary.py", b"\0\x01\x02\0");
    fs::write(fixture.folder.path().join("secret"), "the secret\n").unwrap();
    std::os::unix::fs::symlink("../../../secret", fixture.folder.path().join("in/module/_global/link.py"))
        .unwrap();
    let imported = fixture.json(&["store", "import", "in"], 2);
    let failed: BTreeMap<&str, &str> = imported["failed"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["file"].as_str().unwrap(), one["code"].as_str().unwrap()))
        .collect();
    let expected = [
        ("README.md", "INVALID_INPUT"),
        ("app_file/_global/a.txt", "INVALID_INPUT"),
        ("app_file/unknown/a.txt", "FILE_NOT_FOUND"),
        ("module/_global/%2E./up.py", "INVALID_INPUT"),
        ("module/_global/back\\slash.py", "INVALID_INPUT"),
        ("module/_global/binary.py", "GATE_REFUSED"),
        ("module/_global/broken.py", "GATE_REFUSED"),
        ("module/_global/flow.py", "ENTITY_MISMATCH"),
        ("module/_global/link.py", "INVALID_INPUT"),
        ("module/acme/of_an_organisation.py", "INVALID_INPUT"),
        ("nothing/_global/a.txt", "INVALID_INPUT"),
    ];
    assert_eq!(failed, BTreeMap::from(expected));
    assert_eq!(imported["created"], 1);
    fixture.run(&["store", "export", "out"], 0);
    assert_eq!(fixture.files("out").into_keys().collect::<Vec<_>>(), ["apps.tsv", "module/_global/good.py"]);
    let output = fixture.run(&["store", "import", "in"], 2);
    assert!(output.stderr.contains("refused   README.md: INVALID_INPUT:"), "{}", output.stderr);
    assert!(output.stdout.starts_with("imported  unchanged: 1, refused: 11"), "{}", output.stdout);
}

#[test]
fn an_export_writes_into_a_new_folder_only() {
    let fixture = Fixture::new();
    fixture.write("there/file", "x");
    let refused = fixture.run(&["store", "export", "there"], 3);
    assert!(refused.stderr.contains("there is not empty"), "{}", refused.stderr);
    fixture.run(&["store", "export", "there/file"], 3);
    fixture.run(&["store", "export", "no/such/folder"], 70);
    assert_eq!(fixture.files("there").len(), 1);
    fixture.run(&["store", "import", "none"], 3);
    fs::create_dir(fixture.folder.path().join("empty")).unwrap();
    fixture.run(&["store", "export", "empty"], 0);
    assert_eq!(
        fixture.run(&["store", "import", "empty"], 0).stdout,
        "imported  the folder has nothing to import\n"
    );
}

#[test]
fn a_rejection_of_every_command_is_json_on_request() {
    let fixture = Fixture::new();
    for (arguments, exit, code) in [
        (&["store", "import", "none"][..], 3, "FILE_NOT_FOUND"),
        (&["store", "export", "out", "--store", "none"], 2, "INVALID_INPUT"),
        (&["store", "migrate", "--store", "none"], 2, "INVALID_INPUT"),
        (&["store", "app", "add", ""], 2, "INVALID_INPUT"),
        (&["store", "app", "list", "--store", "none"], 2, "INVALID_INPUT"),
    ] {
        let answer = fixture.json(arguments, exit);
        let expected = (&json!(false), &json!("refused"), &json!(code));
        assert_eq!((&answer["success"], &answer["status"], &answer["code"]), expected, "{answer}");
        for name in ["message", "hint"] {
            assert!(answer[name].as_str().is_some_and(|text| !text.is_empty()), "{arguments:?}: {answer}");
        }
    }
}

#[test]
fn apps_and_tables_are_listed() {
    let fixture = Fixture::new();
    let migration = fixture.json(&["store", "migrate"], 0);
    assert_eq!(
        (&migration["from"], &migration["to"]),
        (&json!(0), &fixture.json(&["store", "migrate"], 0)["from"])
    );
    assert_eq!(fixture.json(&["store", "app", "list"], 0), json!({"apps": []}));
    for (organization, new) in [("acme", true), ("acme", false)] {
        let added = fixture.json(&["store", "app", "add", "7", "--organization", organization], 0);
        assert_eq!(added, json!({"id": "7", "organization": "acme", "new": new}));
    }
    for arguments in
        [&["7", "--organization", "beta"][..], &["7"], &[""], &["a\nb"], &["8", "--organization", ""]]
    {
        fixture.run(&[&["store", "app", "add"], arguments].concat(), 2);
    }
    fixture.run(&["store", "app", "add", "\u{1b}[31m8"], 2);
    fixture.run(&["store", "app", "add", "9"], 0);
    let listed = json!({"apps": [{"id": "7", "organization": "acme"}, {"id": "9", "organization": null}]});
    assert_eq!(fixture.json(&["store", "app", "list"], 0), listed);
    let at = |path: &str| format!("sqlite:{}", fixture.folder.path().join(path).display());
    fixture.run(&["store", "migrate", "--store", &at("other.db")], 0);
    assert_eq!(fixture.json(&["store", "app", "list", "--store", &at("other.db")], 0), json!({"apps": []}));
    fixture.run(&["store", "app", "list", "--store", &at("")], 70);
}

#[test]
fn commands_and_servers_reach_what_the_organisation_has() {
    let fixture = Fixture::new();
    let request = json!({"entity_type": "workflow", "path": "a.py", "content": FLOW});
    fixture.write("replace.json", request.to_string());
    let patch = json!({"entity_type": "workflow", "path": "a.py", "old_string": "...", "new_string": "pass"});
    fixture.write("patch.json", patch.to_string());
    let root = tempfile::tempdir().unwrap();
    let acme = ["--root", root.path().to_str().unwrap(), "--organization", "acme"];
    let edit = |file: &str, exit: i32| fixture.json(&[&["edit", "--file", file], &acme[..]].concat(), exit);
    assert_eq!(edit("patch.json", 3)["code"], "FILE_NOT_FOUND");
    assert_eq!(edit("replace.json", 0)["status"], "written");
    let patched = edit("patch.json", 0);
    assert_eq!(patched["status"], "written", "{patched}");
    let id = patched["edit_id"].as_str().unwrap();
    let show = fixture.run(&[&["show", id], &acme[..]].concat(), 0);
    assert!(show.stdout.contains("pass"), "{}", show.stdout);
    for more in [&["--organization", "beta"][..], &[]] {
        fixture.run(&[&["show", id, "--root", root.path().to_str().unwrap()], more].concat(), 2);
    }
    let status_after = |verb: &str| fixture.json(&[&[verb, id], &acme[..]].concat(), 0)["status"].clone();
    assert_eq!((status_after("undo"), status_after("redo")), (json!("written"), json!("written")));
    for (arguments, offered) in [(&acme[2..], true), (&[], false)] {
        let mut server = Server::start_for(fixture.home.path(), root.path(), arguments);
        let listed = server.post("tools/list", json!({}));
        let listed = server.wait(listed).unwrap().to_string();
        assert_eq!(listed.contains("replace_content"), offered, "{arguments:?}");
        let call = json!({"path": "a.txt"});
        assert_eq!(server.call("read_content_lines", &call).code(), "FILE_NOT_FOUND");
    }
    let mut server = Server::start_for(fixture.home.path(), root.path(), &acme[2..]);
    let response = server.call("get_content", &json!({"entity_type": "workflow", "path": "a.py"}));
    assert!(response.text.contains("pass"), "{}", response.text);
}
