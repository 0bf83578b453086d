//! What a token reaches: its own roots, and nothing that would tell of another's.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Map, Value, json};

use super::raw::{Client, ERAS, ProtocolEra};
use super::server_process::{OTHER, ServerProcess, TOKEN, entry};

const SECRET: &str = "the_secret_of_alice";

/// Two roots, each of one token.
struct Fixture {
    folder: tempfile::TempDir,
    served: ServerProcess,
}

impl Fixture {
    fn new() -> Fixture {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["alice", "bob"] {
            std::fs::create_dir(at(name)).unwrap();
        }
        std::fs::write(at("alice/there.py"), format!("def {SECRET}():\n    pass\n")).unwrap();
        std::fs::write(at("bob/own.py"), "x = 1\n").unwrap();
        std::os::unix::fs::symlink(at("alice"), at("bob/link")).unwrap();
        let of = |name: &str| format!("roots: [{}], tools: [all]", at(name).display());
        let tokens = entry("alice", TOKEN, &of("alice")) + &entry("bob", OTHER, &of("bob"));
        let served = ServerProcess::configured(&format!("tokens:\n{tokens}"));
        Fixture { folder, served }
    }

    /// Every file beneath a root, with its text.
    fn files(&self, root: &str) -> BTreeMap<String, String> {
        let folder = self.folder.path().join(root);
        let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let files = files.filter(|path| !path.is_symlink());
        files.map(|path| (path.display().to_string(), std::fs::read_to_string(path).unwrap())).collect()
    }
}

/// A value of what a schema wants; `path` for every text that may be a path.
fn sample(name: &str, schema: &Value, path: &str) -> Value {
    if let Some(words) = schema["enum"].as_array() {
        return words[0].clone();
    }
    match schema["type"].as_str() {
        Some("string") if name.contains("path") || name == "file" => json!(path),
        Some("string") => json!("x"),
        Some("integer" | "number") => json!(schema["minimum"].as_i64().unwrap_or(1).max(1)),
        Some("boolean") => json!(false),
        Some("array") => json!([sample(name.trim_end_matches('s'), &schema["items"], path)]),
        Some("object") => Value::Object(required(schema, path)),
        _ => json!("x"),
    }
}

fn required(schema: &Value, path: &str) -> Map<String, Value> {
    let required_names: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let fields = schema["properties"].as_object().into_iter().flatten();
    let path_fields =
        fields.filter(|(name, _)| required_names.contains(&name.as_str()) || name.contains("path"));
    path_fields.map(|(name, field)| (name.clone(), sample(name, field, path))).collect()
}

/// Calls that each tool would carry out if it could reach the file; for one that is not among them, what its schema wants.
fn calls(tool: &Value, path: &str) -> Vec<Value> {
    let name = tool["name"].as_str().unwrap();
    match name {
        "safe_edit_file" => vec![
            json!({"path": path, "content": "y = 1\n"}),
            json!({"path": path, "search": "pass", "replace": "return 1"}),
            json!({"path": path, "insert_lines": [{"at_line": 1, "content": "y = 1\n"}], "mode": "verify_only"}),
        ],
        "edit_files" => vec![
            json!({"edits": [{"path": "new.py", "content": "x = 1\n"}, {"path": path, "content": "y = 1\n"}]}),
        ],
        "edit_file" => vec![json!({"file_path": path, "old_string": "pass", "new_string": "return 1"})],
        "edit_code" => {
            vec![json!({"file_path": path, "search_context": "    pass", "new_content": "    return 1"})]
        }
        "read_content_lines" => {
            vec![json!({"path": path}), json!({"path": path, "start_line": 1, "end_line": 1})]
        }
        _ => vec![Value::Object(required(&tool["inputSchema"], path))],
    }
}

fn without(answer: &Value, path: &str) -> String {
    answer.to_string().replace(path, "PATH")
}

#[test]
fn no_tool_reads_or_reveals_the_files_of_another_token() {
    let fixture = Fixture::new();
    let (alices, bobs) = (fixture.files("alice"), fixture.files("bob"));
    for era in ERAS {
        let mut bob = fixture.served.client(OTHER, era);
        let listed = bob.ask("tools/list", json!({}));
        let tools = listed["result"]["tools"].as_array().unwrap().clone();
        assert!(tools.len() >= 9, "{listed}");
        let alice = fixture.folder.path().join("alice").display().to_string();
        for tool in &tools {
            let name = tool["name"].as_str().unwrap();
            for way in [alice.as_str(), "../alice", "link"] {
                // One that is there and one that is not, with names of one length, for answers have a limit.
                let [existing, absent] = ["there.py", "where.py"].map(|file| format!("{way}/{file}"));
                for (one, other) in calls(tool, &existing).iter().zip(calls(tool, &absent)) {
                    let (response, control) = (bob.call(name, one), bob.call(name, &other));
                    assert_eq!(without(&response, &existing), without(&control, &absent), "{name} {one}");
                    assert!(!response.to_string().contains(SECRET), "{name} {one}: {response}");
                }
            }
        }
    }
    assert_eq!((fixture.files("alice"), fixture.files("bob")), (alices, bobs));
    let mut alice = fixture.served.client(TOKEN, ProtocolEra::New);
    let read = alice.call("read_content_lines", &json!({"path": "there.py"}));
    assert!(read.to_string().contains(SECRET), "the control: alice reads it: {read}");
    let edited =
        alice.call("safe_edit_file", &json!({"path": "there.py", "search": "pass", "replace": "return 1"}));
    assert_eq!(edited["isError"], json!(false), "the control: alice edits it: {edited}");
}

fn edit_id(client: &mut Client, path: &str) -> String {
    let answer = client.call("safe_edit_file", &json!({"path": path, "content": "y = 2\n"}));
    answer["structuredContent"]["edit_id"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
}

/// The same id with another number, which no edit has.
fn unused(id: &str) -> String {
    let (root, _) = id.rsplit_once('-').unwrap();
    format!("{root}-9")
}

#[test]
fn an_edit_of_another_token_is_as_unknown_as_one_that_never_was() {
    let fixture = Fixture::new();
    for era in ERAS {
        let (mut alice, mut bob) = (fixture.served.client(TOKEN, era), fixture.served.client(OTHER, era));
        let edit = edit_id(&mut alice, "made.py");
        let alices = fixture.files("alice");
        for tool in ["undo_edit", "redo_edit"] {
            let [response, control] =
                [edit.clone(), unused(&edit)].map(|id| (bob.call(tool, &json!({"edit_id": id})), id));
            assert_eq!(without(&response.0, &response.1), without(&control.0, &control.1), "{tool}");
            assert_eq!(response.0["isError"], json!(true), "{}", response.0);
        }
        let last = bob.call("undo_edit", &json!({}));
        assert!(last["isError"] == json!(true) || !last.to_string().contains("made.py"), "{last}");
        let listed = bob.call("list_edits", &json!({}));
        assert!(!listed.to_string().contains("made.py") && !listed.to_string().contains(&edit), "{listed}");
        assert_eq!(fixture.files("alice"), alices);
        let undo = alice.call("undo_edit", &json!({"edit_id": edit}));
        assert_eq!(undo["isError"], json!(false), "the control: alice takes it back: {undo}");
    }
}

#[test]
fn a_session_of_one_token_is_none_of_another_s() {
    let fixture = Fixture::new();
    let alice = fixture.served.client(TOKEN, ProtocolEra::Old);
    let mut thief = fixture.served.client(OTHER, ProtocolEra::New);
    (thief.era, thief.session) = (ProtocolEra::Old, alice.session.clone());
    thief.post_call("read_content_lines", &json!({"path": "there.py"}));
    assert_eq!(thief.raw.response().unwrap().status, 404);
    thief.raw.send(thief.head("GET", ("", ""), &[]));
    assert_eq!(thief.raw.response().unwrap().status, 404);
    thief.raw.send(thief.head("DELETE", ("", ""), &[]));
    assert_eq!(thief.raw.response().unwrap().status, 404);
    let mut alice = alice;
    let read = alice.call("read_content_lines", &json!({"path": "there.py"}));
    assert_eq!(read["isError"], json!(false), "her session lives: {read}");
    for status in [204, 404] {
        alice.raw.send(alice.head("DELETE", ("", ""), &[]));
        assert_eq!(alice.raw.response().unwrap().status, status, "the control: she ends it, once");
    }
}

#[test]
fn tokens_of_one_root_share_it_and_the_journal_names_each() {
    let root = tempfile::tempdir().unwrap();
    let of = |more: &str| format!("roots: [{}], {more}", root.path().display());
    let tokens = entry("alice", TOKEN, &of("tools: [edit, history, look]"))
        + &entry("bob@laptop", OTHER, &of("tools: [edit, history]"))
        + &entry("reader", "the-token-of-a-reader-01234", &of("tools: [all], read_only: true"));
    let served = ServerProcess::configured(&format!("tokens:\n{tokens}"));
    let (mut alice, mut bob) =
        (served.client(TOKEN, ProtocolEra::Old), served.client(OTHER, ProtocolEra::New));
    let edit = edit_id(&mut alice, "a.py");
    edit_id(&mut bob, "b.py");
    let mut reader = served.client("the-token-of-a-reader-01234", ProtocolEra::Old);
    let listed = reader.call("list_edits", &json!({}));
    for author in ["alice (suite 1)", "bob@laptop (suite 1)"] {
        assert!(listed.to_string().contains(author), "{listed}");
    }
    let names = |client: &mut Client| -> Vec<String> {
        let listed = client.ask("tools/list", json!({}));
        let tools = listed["result"]["tools"].as_array().unwrap().clone();
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    };
    assert!(names(&mut alice).contains(&"read_content_lines".to_owned()));
    assert!(!names(&mut bob).contains(&"read_content_lines".to_owned()));
    let reads = names(&mut reader);
    assert!(
        reads.contains(&"list_edits".to_owned()) && !reads.contains(&"safe_edit_file".to_owned()),
        "{reads:?}"
    );
    reader.post_call("safe_edit_file", &json!({"path": "c.py", "content": "x\n"}));
    assert_eq!(reader.raw.response().unwrap().answer()["error"]["code"], -32602);
    assert!(!Path::new(root.path()).join("c.py").exists());
    let undo = bob.call("undo_edit", &json!({"edit_id": edit}));
    assert_eq!(undo["isError"], json!(false), "who shares a root takes back each other's edits: {undo}");
}

#[test]
fn a_confirmation_counts_only_for_its_own_token() {
    let root = tempfile::tempdir().unwrap();
    std::fs::write(root.path().join("quality.yaml"), "confirm: always\n").unwrap();
    let shared = format!("roots: [{}]", root.path().display());
    let tokens = entry("alice", TOKEN, &shared) + &entry("bob", OTHER, &shared);
    let served = ServerProcess::configured(&format!("tokens:\n{tokens}"));
    let mut alice = served.client(TOKEN, ProtocolEra::New);
    let question = alice.edit_with_question(&json!({}));
    let state = question["requestState"].as_str().unwrap_or_else(|| panic!("{question}")).to_owned();
    let answer =
        json!({"requestState": state, "inputResponses": {"write": {"action": "accept", "content": {}}}});
    let bob = served.client(OTHER, ProtocolEra::New).edit_with_question(&answer);
    assert_eq!(bob["structuredContent"]["code"], "NOT_CONFIRMED", "{bob}");
    assert!(!root.path().join("a.txt").exists());
    // A connection of its own, as the factory makes a server of its own for each request.
    let response = served.client(TOKEN, ProtocolEra::New).edit_with_question(&answer);
    assert_eq!(response["structuredContent"]["status"], "written", "the control: {response}");
}

/// Of two tokens the one has the other's root and another.
#[test]
fn tokens_that_share_one_root_learn_nothing_of_other_roots() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    ["shared", "own"].iter().for_each(|name| std::fs::create_dir(at(name)).unwrap());
    let of = |roots: &str| format!("roots: [{roots}], tools: [all]");
    let (shared, own) = (at("shared").display().to_string(), at("own").display().to_string());
    let tokens = entry("alice", TOKEN, &of(&format!("{shared}, {own}"))) + &entry("bob", OTHER, &of(&shared));
    let served = ServerProcess::configured(&format!("tokens:\n{tokens}"));
    let (mut alice, mut bob) =
        (served.client(TOKEN, ProtocolEra::Old), served.client(OTHER, ProtocolEra::New));
    let known = edit_id(&mut alice, "a.py");
    let hidden = format!("{own}/hidden.py");
    let edit = edit_id(&mut alice, &hidden);
    let both = json!({"edits": [{"path": "b.py", "content": "x\n"}, {"path": format!("{own}/b.py"), "content": "x\n"}]});
    assert_eq!(alice.call("edit_files", &both)["isError"], json!(true), "an edit is of one root");
    let mut answers = vec![bob.call("list_edits", &json!({}))];
    assert!(answers[0].to_string().contains("a.py"), "the control: {}", answers[0]);
    for arguments in [json!({"edit_id": edit}), json!({}), json!({"edit_id": known})] {
        answers.push(bob.call("undo_edit", &arguments));
    }
    assert!(!at("shared").join("a.py").exists(), "the control: {answers:?}");
    for answer in &answers {
        assert!(!answer.to_string().contains("hidden"), "{answer}");
    }
    assert_eq!(std::fs::read_to_string(&hidden).unwrap(), "y = 2\n");
    let undo = alice.call("undo_edit", &json!({"edit_id": edit}));
    assert_eq!(undo["isError"], json!(false), "{undo}");
}
