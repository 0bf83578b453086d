//! Stored content behind tokens: each reaches what is its organisation's, whatever else it may do.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::raw::{Client, ERAS, ProtocolEra, page};
use super::server_process::{OTHER, ServerProcess, TOKEN, entry, written};
use crate::suite::wire::{lockgate, run_for};

/// A third token.
const THIRD: &str = "the-token-of-carol-0123456789";
const FLOW: &str = "@workflow\nasync def sync():\n    return 'SECRET'\n";

/// A user's folders, and a configuration in them.
struct Fixture {
    home: TempDir,
    folder: TempDir,
}

impl Fixture {
    fn new() -> Fixture {
        Fixture { home: tempfile::tempdir().unwrap(), folder: tempfile::tempdir().unwrap() }
    }

    fn at(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    /// A server with this configuration.
    fn served(&self, text: &str) -> ServerProcess {
        let home = tempfile::tempdir().unwrap();
        let file = written(home.path(), &format!("listen: '127.0.0.1:0'\n{text}"));
        let mut command = lockgate(self.home.path());
        command.args(["serve", "--config"]).arg(file);
        ServerProcess::by(command, home)
    }

    /// Why a configuration is refused.
    #[track_caller]
    fn refused(&self, text: &str, store: Option<&str>) -> String {
        let file = written(self.home.path(), text);
        let mut command = lockgate(self.home.path());
        command.args(["serve", "--config"]).arg(file).current_dir(self.folder.path());
        if let Some(store) = store {
            command.env("LOCKGATE_STORE", store);
        }
        let out = command.output().unwrap();
        let stderr = String::from_utf8_lossy(&out.stderr).into_owned();
        assert_eq!(out.status.code(), Some(2), "{stderr}");
        stderr
    }
}

fn names(client: &mut Client) -> BTreeSet<String> {
    let listed = client.ask("tools/list", json!({}));
    let tools = listed["result"]["tools"].as_array().unwrap();
    tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

fn workflow(path: &str) -> Value {
    json!({"entity_type": "workflow", "path": path})
}

fn with(mut call: Value, more: Value) -> Value {
    call.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    call
}

fn code(answer: &Value) -> &str {
    answer["structuredContent"]["code"].as_str().unwrap_or_default()
}

#[test]
fn tokens_of_one_organisation_share_what_is_stored_and_others_see_nothing() {
    for era in ERAS {
        let fixture = Fixture::new();
        let tokens = entry("alice", TOKEN, "organization: acme, tools: [all]")
            + &entry("bob", OTHER, "organization: beta, tools: [all]")
            + &entry("carol", THIRD, "organization: acme, tools: [all], read_only: true");
        let served =
            fixture.served(&format!("store: sqlite:{}\ntokens:\n{tokens}", fixture.at("content.db")));
        let [mut alice, mut bob, mut carol] = [TOKEN, OTHER, THIRD].map(|token| served.client(token, era));
        let write = with(workflow("sync.py"), json!({"content": FLOW}));
        let created = alice.call("replace_content", &write);
        assert_eq!(created["isError"], json!(false), "{created}");
        let response = carol.call("get_content", &workflow("sync.py"));
        assert!(response.to_string().contains("SECRET"), "{response}");
        assert!(!names(&mut carol).contains("replace_content"), "carol may only read");
        let own = with(workflow("sync.py"), json!({"organization_id": "acme"}));
        for call in [workflow("sync.py"), own] {
            let response = bob.call("get_content", &call);
            let absent = bob.call("get_content", &with(call, json!({"path": "none.py"})));
            assert_eq!((code(&response), code(&absent)), ("FILE_NOT_FOUND", "FILE_NOT_FOUND"), "{response}");
            assert_eq!(response.to_string().replace("sync.py", "none.py"), absent.to_string());
        }
        let edits = bob.call("list_edits", &json!({}));
        assert_eq!(edits["structuredContent"]["edits"], json!([]), "{edits}");
        let log = carol.call("list_edits", &json!({}));
        assert!(log.to_string().contains("alice (suite 1)"), "the journal names the token: {log}");
        let also = bob.call("replace_content", &write);
        assert_eq!(also["isError"], json!(false), "the path is free for each organisation: {also}");
    }
}

#[test]
fn a_token_without_roots_reaches_no_file() {
    let fixture = Fixture::new();
    let tokens = entry("alice", TOKEN, "organization: acme");
    let served = fixture.served(&format!("tokens:\n{tokens}"));
    let mut alice = served.client(TOKEN, ProtocolEra::New);
    let offered = names(&mut alice);
    for tool in ["safe_edit_file", "search_content", "replace_content", "list_content"] {
        assert!(offered.contains(tool), "{tool}: {offered:?}");
    }
    assert!(!offered.contains("list_edits"), "the default and `content`: {offered:?}");
    let config = fixture.at("serve.yaml");
    for path in ["a.txt", "./a.txt", "../a.txt", "/etc/passwd", ".", "/", config.as_str()] {
        for (tool, call) in [
            ("safe_edit_file", json!({"path": path, "content": "x\n"})),
            ("read_content_lines", json!({"path": path})),
            ("get_content", json!({"path": path})),
            ("search_content", json!({"path": path, "pattern": "x"})),
            ("undo_edit", json!({"path": path})),
        ] {
            let refused = alice.call(tool, &call);
            assert_eq!(code(&refused), "PATH_OUTSIDE_ROOT", "{tool} {path}: {refused}");
            let hint = "there are no roots, so only stored content can be reached";
            assert_eq!(refused["structuredContent"]["hint"], hint, "{tool} {path}");
        }
    }
    let found = alice.call("search_content", &json!({"pattern": "x"}));
    assert_eq!(found["structuredContent"]["total_matches"], 0, "{found}");
    for (tool, call) in [
        ("ai_get_code_context", json!({"query": "outline"})),
        ("list_content", json!({})),
        ("undo_edit", json!({})),
    ] {
        let answer = alice.call(tool, &call);
        assert!(!answer.to_string().contains("INTERNAL"), "{tool}: {answer}");
    }
    // The gates of the built-in policy look at what is stored.
    let broken = with(workflow("a.py"), json!({"content": "@workflow\ndef (:\n"}));
    let refused = alice.call("replace_content", &broken);
    assert_eq!(refused["isError"], json!(true), "{refused}");
    let sound = with(workflow("a.py"), json!({"content": FLOW}));
    let created = alice.call("replace_content", &sound);
    assert_eq!(created["isError"], json!(false), "{created}");
}

#[test]
fn the_toolsets_of_a_token_follow_from_what_it_reaches() {
    let fixture = Fixture::new();
    std::fs::create_dir(fixture.at("plain")).unwrap();
    std::fs::create_dir(fixture.at("ruled")).unwrap();
    std::fs::write(fixture.folder.path().join("ruled/quality.yaml"), "server: { tools: [history] }\n")
        .unwrap();
    let (plain, ruled) = (fixture.at("plain"), fixture.at("ruled"));
    let tokens = entry("alice", TOKEN, &format!("roots: [{plain}]"))
        + &entry("bob", OTHER, &format!("roots: [{plain}], organization: acme"))
        + &entry("carol", THIRD, &format!("roots: [{ruled}], organization: acme"));
    let served = fixture.served(&format!("tokens:\n{tokens}"));
    let [alice, bob, carol] =
        [TOKEN, OTHER, THIRD].map(|token| names(&mut served.client(token, ProtocolEra::New)));
    assert!(!alice.contains("replace_content") && alice.contains("safe_edit_file"), "{alice:?}");
    assert!(bob.contains("replace_content") && bob.contains("safe_edit_file"), "{bob:?}");
    assert!(
        carol.contains("list_edits") && !carol.contains("replace_content"),
        "a policy says all: {carol:?}"
    );
}

#[test]
fn one_root_and_two_organisations_are_two_workspaces_over_the_same_files() {
    let fixture = Fixture::new();
    let root = tempfile::tempdir().unwrap();
    let of = |organization: &str| format!("roots: [{}], organization: {organization}", root.path().display());
    let tokens = entry("alice", TOKEN, &of("acme")) + &entry("bob", OTHER, &of("beta"));
    let served = fixture.served(&format!("tokens:\n{tokens}"));
    let [mut alice, mut bob] = [TOKEN, OTHER].map(|token| served.client(token, ProtocolEra::New));
    let created = alice.call("safe_edit_file", &json!({"path": "a.txt", "content": "a\n"}));
    assert_eq!(created["isError"], json!(false));
    let edit = json!({"path": "a.txt", "search": "a\n", "replace": "b\n"});
    assert_eq!(bob.call("safe_edit_file", &edit)["isError"], json!(false));
    alice.call("replace_content", &with(workflow("sync.py"), json!({"content": FLOW})));
    assert_eq!(code(&bob.call("get_content", &workflow("sync.py"))), "FILE_NOT_FOUND");
    assert!(Path::new(&fixture.home.path().join("state/lockgate/content/content.db")).exists());
    let commanded = |arguments: &[&str]| run_for(fixture.home.path(), arguments, root.path(), "").stdout;
    let log = ["log", "--json", "--organization"];
    assert!(commanded(&[&log[..], &["acme"]].concat()).contains("sync.py"));
    let beta = commanded(&[&log[..], &["beta"]].concat());
    assert!(!beta.contains("sync.py") && beta.contains("a.txt"), "{beta}");
}

#[test]
fn a_database_that_no_server_should_use_is_refused() {
    let fixture = Fixture::new();
    let root = tempfile::tempdir().unwrap();
    let inside = root.path().join("content.db").display().to_string();
    let tokens =
        format!("tokens:\n{}", entry("alice", TOKEN, &format!("roots: [{}]", root.path().display())));
    let with_password = "postgres://u:hunter2@h/d";
    for (store, variable, message) in [
        (format!("store: sqlite:{inside}\n"), None, "inside the root"),
        (String::new(), Some(format!("sqlite:{inside}")), "inside the root"),
        ("store: sqlite:content.db\n".to_owned(), None, "must be absolute"),
        (String::new(), Some("sqlite:content.db".to_owned()), "must be absolute"),
        (format!("store: {with_password}\n"), None, "LOCKGATE_STORE"),
        ("store: mysql://u:hunter2@h/d\n".to_owned(), None, "LOCKGATE_STORE"),
        ("store: mysql://h/hunter2\n".to_owned(), None, "neither sqlite:PATH nor postgres://"),
        (String::new(), Some("mysql://u:hunter2@h/d".to_owned()), "neither sqlite:PATH nor postgres://"),
    ] {
        let refused = fixture.refused(&format!("{store}{tokens}"), variable.as_deref());
        assert!(refused.contains(message) && !refused.contains("hunter2"), "{store}{variable:?}: {refused}");
    }
    for arguments in [["--store", "sqlite:/x"], ["--organization", "acme"]] {
        let file = written(fixture.home.path(), &tokens).display().to_string();
        let mut command = lockgate(fixture.home.path());
        let out = command.args(["serve", "--config", &file]).args(arguments).output().unwrap();
        assert!(String::from_utf8_lossy(&out.stderr).contains("cannot be used with"), "{arguments:?}");
    }
}

#[test]
fn database_queries_are_counted() {
    let fixture = Fixture::new();
    let tokens = entry("alice", TOKEN, "organization: acme, metrics: true")
        + &entry("bob", OTHER, "organization: beta, metrics: true");
    let served = fixture.served(&format!("tokens:\n{tokens}"));
    for token in [TOKEN, OTHER] {
        let mut client = served.client(token, ProtocolEra::New);
        let written = client.call("replace_content", &with(workflow("sync.py"), json!({"content": FLOW})));
        assert_eq!(written["isError"], json!(false), "{written}");
        client.call("get_content", &workflow("sync.py"));
    }
    let text = page(served.address, "/metrics", Some(TOKEN)).text();
    let count = |line: &str| text.lines().find_map(|row| row.strip_prefix(line)?.trim().parse::<u64>().ok());
    let operations = |what: &str| {
        count(&format!("lockgate_store_operations_total{{operation=\"{what}\",outcome=\"done\"}}"))
    };
    assert_eq!(operations("write"), Some(2), "{text}");
    assert!(operations("read") >= Some(4), "{text}");
    assert_eq!(count("lockgate_store_seconds_count{operation=\"write\"}"), Some(2), "{text}");
    assert!(!text.contains("acme") && !text.contains("sync.py"), "{text}");
}
