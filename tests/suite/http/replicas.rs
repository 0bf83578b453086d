//! Servers that take turns for the same clients, as behind a balancer.

use serde_json::{Value, json};

use super::raw::ProtocolEra;
use super::server_process::{OTHER, ServerProcess, TOKEN, entry, written};
use crate::suite::rows::postgres::Postgres;
use crate::suite::wire::lockgate;

/// What servers that know each other's questions have in common.
const SEAL: &str = "the-seal-of-all-servers-0123456789";

/// A server with this configuration, and what it has in common with others.
fn served(tokens: &str, seal: Option<&str>) -> ServerProcess {
    let home = tempfile::tempdir().unwrap();
    let file = written(home.path(), &format!("listen: '127.0.0.1:0'\ntokens:\n{tokens}"));
    let mut command = lockgate(home.path());
    command.args(["serve", "--config"]).arg(file).env("LOCKGATE_LOG", "trace");
    if let Some(seal) = seal {
        command.env("LOCKGATE_SEAL", seal);
    }
    ServerProcess::by(command, home)
}

#[test]
fn a_question_of_one_server_is_answered_at_another_that_has_the_same_seal() {
    let root = tempfile::tempdir().unwrap();
    std::fs::write(root.path().join("quality.yaml"), "confirm: always\n").unwrap();
    let shared = format!("roots: [{}]", root.path().display());
    let tokens = entry("alice", TOKEN, &shared) + &entry("bob", OTHER, &shared);
    let servers = [Some(SEAL), Some(SEAL), Some("another-seal-that-is-not-shared"), None];
    let servers = servers.map(|seal| served(&tokens, seal));
    let question = servers[0].client(TOKEN, ProtocolEra::New).edit_with_question(&json!({}));
    let state = question["requestState"].as_str().unwrap_or_else(|| panic!("{question}"));
    let agreed =
        json!({"requestState": state, "inputResponses": {"write": {"action": "accept", "content": {}}}});
    for (at, token) in [(1, OTHER), (2, TOKEN), (3, TOKEN)] {
        let refused = servers[at].client(token, ProtocolEra::New).edit_with_question(&agreed);
        assert_eq!(refused["structuredContent"]["code"], "NOT_CONFIRMED", "server {at}: {refused}");
        assert!(!root.path().join("a.txt").exists());
    }
    let response = servers[1].client(TOKEN, ProtocolEra::New).edit_with_question(&agreed);
    assert_eq!(response["structuredContent"]["status"], "written", "{response}");
    for served in &servers {
        assert!(
            !served.log_text().contains("seal-of") && !served.log_text().contains("another-seal"),
            "it is logged"
        );
    }
}

#[test]
fn a_session_is_known_to_the_server_alone_that_began_it() {
    let root = tempfile::tempdir().unwrap();
    let tokens = entry("alice", TOKEN, &format!("roots: [{}]", root.path().display()));
    let (one, other) = (served(&tokens, Some(SEAL)), served(&tokens, Some(SEAL)));
    let mut client = one.client(TOKEN, ProtocolEra::Old);
    client.raw = other.connect();
    client.post_call("search_content", &json!({"pattern": "x"}));
    assert_eq!(client.raw.response().unwrap().status, 404);
    client.raw = one.connect();
    assert_eq!(
        client.call("search_content", &json!({"pattern": "x"}))["isError"],
        json!(false),
        "the control"
    );
}

#[test]
fn a_seal_that_could_be_guessed_is_refused() {
    let (home, root) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let tokens = entry("alice", TOKEN, &format!("roots: [{}]", root.path().display()));
    let file = written(home.path(), &format!("tokens:\n{tokens}"));
    let mut command = lockgate(home.path());
    command.args(["serve", "--config"]).arg(file).env("LOCKGATE_SEAL", "too-short-to-be-one");
    let out = command.output().unwrap();
    let stderr = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(out.status.code() == Some(2) && stderr.contains("LOCKGATE_SEAL must have 24"), "{stderr}");
    assert!(!stderr.contains("too-short"), "{stderr}");
}

/// Two servers on one database, of which a client is sent to either.
#[test]
fn servers_on_one_database_know_what_each_other_did() {
    let folder = tempfile::tempdir().unwrap();
    let postgres = Postgres::shared();
    let database = postgres.map(Postgres::database);
    let sqlite = format!("sqlite:{}", folder.path().join("content.db").display());
    for store in [Some(sqlite), database.as_ref().map(|database| database.url())].into_iter().flatten() {
        let tokens = entry("alice", TOKEN, "organization: acme, tools: [all]")
            + &entry("bob", OTHER, "organization: beta, tools: [all]");
        let serve = || {
            let home = tempfile::tempdir().unwrap();
            let file = written(home.path(), &format!("listen: '127.0.0.1:0'\ntokens:\n{tokens}"));
            let mut command = lockgate(home.path());
            command.args(["serve", "--config"]).arg(file).env("LOCKGATE_STORE", &store);
            ServerProcess::by(command, home)
        };
        let (one, other) = (serve(), serve());
        let [mut first_client, mut second_client] =
            [&one, &other].map(|served| served.client(TOKEN, ProtocolEra::New));
        let at = |more: Value| {
            let mut call = json!({"entity_type": "workflow", "path": "sync.py"});
            call.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            call
        };
        let created =
            first_client.call("replace_content", &at(json!({"content": "@workflow\ndef f(): ...\n"})));
        let version = created["structuredContent"]["version"].clone();
        let edit = at(json!({"old_string": "...", "new_string": "pass", "expected_version": version}));
        let edited = second_client.call("patch_content", &edit);
        assert_eq!(edited["isError"], json!(false), "{edited}");
        // The answer was lost, and the client is sent elsewhere.
        let again = first_client.call("patch_content", &edit);
        assert_eq!(again["structuredContent"]["status"], "already_applied", "{again}");
        assert_eq!(again["structuredContent"]["edit_id"], edited["structuredContent"]["edit_id"], "{again}");
        drop(other);
        let undo =
            first_client.call("undo_edit", &json!({"edit_id": edited["structuredContent"]["edit_id"]}));
        assert_eq!(undo["isError"], json!(false), "what a server wrote that is gone: {undo}");
        let response = one.client(OTHER, ProtocolEra::New).call("get_content", &at(json!({})));
        assert_eq!(response["structuredContent"]["code"], "FILE_NOT_FOUND", "{response}");
    }
}
