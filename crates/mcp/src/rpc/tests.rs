//! Tests with a client in the same process, over a pipe.

mod listing;

use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf, duplex, split,
};
use tokio::time::timeout;

use super::listing::instructions;
use super::options::TEXT_CLIENTS;
use super::server::Server;
use super::*;
use crate::selection::EntityStorage;
use crate::tools::TOOLS;

struct Client {
    input: WriteHalf<DuplexStream>,
    output: BufReader<ReadHalf<DuplexStream>>,
    served: tokio::task::JoinHandle<Result<(), Error>>,
    root: tempfile::TempDir,
}

impl Client {
    fn new(tools: &str) -> Client {
        Client::with(tools, ServerOptions::default())
    }

    fn with(tools: &str, options: ServerOptions) -> Client {
        let root = tempfile::tempdir().unwrap();
        let workspace = Workspace::open(&[root.path().to_owned()]).unwrap();
        let server = Server::new(
            workspace,
            &tools.parse().unwrap(),
            WriteAccess::Write,
            options,
            CancellationToken::new(),
        );
        let (client_end, server_end) = duplex(1 << 16);
        let (input, output) = split(server_end);
        let served = tokio::spawn(serve_on(server, Pipe::new(input, output, CancellationToken::new())));
        let (output, input) = split(client_end);
        Client { input, output: BufReader::new(output), served, root }
    }

    async fn send(&mut self, line: impl AsRef<[u8]>) {
        self.input.write_all(line.as_ref()).await.unwrap();
        self.input.write_all(b"\n").await.unwrap();
    }

    async fn read(&mut self) -> Value {
        let mut line = String::new();
        timeout(Duration::from_secs(20), self.output.read_line(&mut line)).await.unwrap().unwrap();
        serde_json::from_str(&line).unwrap()
    }

    async fn request(&mut self, id: u64, method: &str, params: Value) -> Value {
        self.send(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()).await;
        let answer = self.read().await;
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    async fn begin(&mut self, version: &str) {
        self.begin_with(version, json!({})).await;
    }

    async fn begin_with(&mut self, version: &str, capabilities: Value) {
        self.begin_as("t", version, capabilities).await;
    }

    async fn begin_as(&mut self, name: &str, version: &str, capabilities: Value) {
        let client = json!({"name": name, "version": "1"});
        let params = json!({"protocolVersion": version, "capabilities": capabilities, "clientInfo": client});
        let answer = self.request(0, "initialize", params).await;
        assert_eq!(answer["result"]["protocolVersion"], version, "{answer}");
        self.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
    }
}

/// Returns the `_meta` of a stateless request.
fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

#[tokio::test]
async fn both_eras_list_the_tools() {
    let mut client = Client::new("all");
    client.begin("2025-11-25").await;
    let old = client.request(1, "tools/list", json!({})).await;
    let mut client = Client::new("all");
    let found = client.request(1, "server/discover", json!({"_meta": meta()})).await;
    assert_eq!(
        found["result"]["instructions"],
        instructions(&"all".parse().unwrap(), WriteAccess::Write),
        "{found}"
    );
    let new = client.request(2, "tools/list", json!({"_meta": meta()})).await;
    assert_eq!(old["result"]["tools"], new["result"]["tools"]);
    // Another token can have other tools, so no cache may share the list.
    assert_eq!(new["result"]["cacheScope"], "private", "{new}");
    assert_eq!((&old["result"]["cacheScope"], &old["result"]["ttlMs"]), (&Value::Null, &Value::Null));
    assert_eq!(
        old["result"]["tools"],
        listed(&"all".parse().unwrap(), WriteAccess::Write, EntityStorage::Unconfigured)["tools"]
    );
    let names: Vec<&Value> =
        old["result"]["tools"].as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
    let mut known: Vec<&str> = TOOLS.iter().map(|tool| tool.name).collect();
    known.sort_unstable();
    assert_eq!(names, known);
}

#[tokio::test]
async fn nonsense_is_answered_and_the_server_goes_on() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let call =
        |arguments: &str| format!(r#"{{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{arguments}}}"#);
    let ping = |id: &str| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
    let lines: [(Vec<u8>, i64, Value); 12] = [
        (b"garbage".to_vec(), -32700, Value::Null),
        (b"[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]".to_vec(), -32600, json!(1)),
        (b"[{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}]".to_vec(), -32600, Value::Null),
        (b"{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"ping\"".to_vec(), -32700, json!(5)),
        (b"{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"\xff\xfe\"}".to_vec(), -32700, json!(5)),
        (b"{\"id\":5}".to_vec(), -32600, json!(5)),
        (ping("null").into(), -32600, Value::Null),
        ((ping("5") + &ping("6")).into(), -32700, json!(5)),
        (b"42".to_vec(), -32600, Value::Null),
        (
            call(&format!("{{\"name\":\"safe_edit_file\",\"arguments\":{deep}}}")).into_bytes(),
            -32700,
            json!(5),
        ),
        (
            call(r#"{"name":"safe_edit_file","arguments":{"path":"a","search_count":1e999}}"#).into(),
            -32700,
            json!(5),
        ),
        (call(r#"{"name":"safe_edit_file","arguments":"text"}"#).into(), -32602, json!(5)),
    ];
    let mut client = Client::new("edit");
    client.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
    client.send(r#"{"jsonrpc":"2.0","id":9,"result":{}}"#).await;
    client.send("").await;
    client.begin("2025-06-18").await;
    for (line, code, id) in lines {
        client.send(&line).await;
        let answer = client.read().await;
        let line = String::from_utf8_lossy(&line[..line.len().min(80)]).into_owned();
        assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(code), &id), "{line}: {answer}");
    }
    client.send(r#"{"jsonrpc":"2.0","method":"notifications/unheard_of"}"#).await;
    client.request(6, "ping", json!({})).await;
}

#[tokio::test]
async fn every_request_of_a_batch_is_answered() {
    let mut client = Client::new("edit");
    client.begin("2025-03-26").await;
    for padding in ["", &" ".repeat(reader::LARGE_MESSAGE_BYTES)] {
        let ping = |id: &str| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
        client.send(format!("[{},{padding}{}]", ping("1"), ping("\"b\""))).await;
        for id in [json!(1), json!("b")] {
            let answer = client.read().await;
            assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(-32600), &id), "{answer}");
        }
    }
    client.request(2, "ping", json!({})).await;
}

#[tokio::test]
async fn wrong_arguments_are_refused_where_the_model_sees_it() {
    let mut client = Client::new("edit");
    client.begin("2025-11-25").await;
    let params = json!({"name": "safe_edit_file", "arguments": {"pth": "a", "content": ""}});
    let answer = client.request(1, "tools/call", params).await;
    let result = &answer["result"];
    assert_eq!(result["isError"], true, "{answer}");
    assert_eq!(result["structuredContent"]["code"], "INVALID_INPUT");
    assert_eq!(result["structuredContent"]["field"], "pth");
    assert!(result["content"][0]["text"].as_str().unwrap().contains("did you mean `path`?"), "{answer}");
    let answer = client.request(2, "tools/call", json!({"name": "create_file", "arguments": {}})).await;
    assert_eq!(answer["error"]["code"], -32602, "a tool that is not offered is unknown: {answer}");
}

#[tokio::test]
async fn clients_without_structured_content_get_text() {
    for (version, structured) in [("2025-03-26", false), ("2025-06-18", true)] {
        let mut client = Client::new("edit");
        client.begin(version).await;
        let answer = client.request(1, "tools/call", json!({"name": "safe_edit_file"})).await;
        assert_eq!(answer["result"]["structuredContent"].is_object(), structured, "{answer}");
        assert!(
            answer["result"]["content"][0]["text"].as_str().unwrap().contains("INVALID_INPUT"),
            "{answer}"
        );
    }
}

#[tokio::test]
async fn what_a_revision_does_not_have_any_more_is_unknown_in_it() {
    let mut client = Client::new("edit");
    for (id, method) in (2..).zip(["initialize", "ping", "logging/setLevel", "resources/subscribe"]) {
        let answer = client.request(id, method, json!({"_meta": meta()})).await;
        assert_eq!(answer["error"]["code"], -32601, "{method}: {answer}");
    }
}

/// The questions of a call: the policy, the arguments of `ai_edit_code`, the method of the question, and the code of a
/// call whose question ends without an answer.
fn questions() -> [(&'static str, Value, &'static str, &'static str); 2] {
    [
        (
            "quality_gates: {}\n",
            json!({"target_file": "a", "edit_instruction": "x"}),
            "sampling/createMessage",
            "CODE_BLOCK_REQUIRED",
        ),
        (
            "confirm: always\n",
            json!({"target_file": "a", "edit_instruction": "x", "code_block": "y"}),
            "elicitation/create",
            "NOT_CONFIRMED",
        ),
    ]
}

/// A client whose call 7 waits for an answer to a question, and the question.
async fn asked(policy: &str, arguments: Value, method: &str) -> (Client, Value) {
    let mut client = Client::new("ai");
    std::fs::write(client.root.path().join("quality.yaml"), policy).unwrap();
    std::fs::write(client.root.path().join("a"), "1\n").unwrap();
    client.begin_with("2025-11-25", json!({"sampling": {}, "elicitation": {}})).await;
    let params = json!({"name": "ai_edit_code", "arguments": arguments});
    let call = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params});
    client.send(call.to_string()).await;
    let question = client.read().await;
    assert_eq!(question["method"], method, "{question}");
    (client, question)
}

#[tokio::test]
async fn a_call_that_is_cancelled_asks_its_client_nothing_any_more() {
    for (policy, arguments, method, _) in questions() {
        let (mut client, question) = asked(policy, arguments, method).await;
        let cancelled =
            json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}});
        client.send(cancelled.to_string()).await;
        let notification = client.read().await;
        let received = (&notification["method"], &notification["params"]["requestId"]);
        assert_eq!(received, (&json!("notifications/cancelled"), &question["id"]), "{notification}");
        assert_eq!(std::fs::read_to_string(client.root.path().join("a")).unwrap(), "1\n");
    }
}

#[tokio::test]
async fn a_question_ends_with_the_input() {
    for (policy, arguments, method, code) in questions() {
        let (mut client, _) = asked(policy, arguments, method).await;
        client.input.shutdown().await.unwrap();
        let notification = client.read().await;
        assert_eq!(notification["method"], "notifications/cancelled", "{notification}");
        let answer = client.read().await;
        assert_eq!(
            (&answer["id"], &answer["result"]["structuredContent"]["detail"]),
            (&json!(7), &json!(code)),
            "{answer}"
        );
        assert!(answer.to_string().contains("the client has disconnected"), "{answer}");
        timeout(Duration::from_secs(20), client.served).await.unwrap().unwrap().unwrap();
        assert_eq!(std::fs::read_to_string(client.root.path().join("a")).unwrap(), "1\n");
    }
}

/// The last thing that a client says may be its answer.
#[tokio::test]
async fn an_answer_before_the_end_of_the_input_counts() {
    let mut client = Client::new("edit");
    std::fs::write(client.root.path().join("quality.yaml"), "confirm: always\n").unwrap();
    client.begin_with("2025-11-25", json!({"elicitation": {}})).await;
    client.send(creation(7, "a")).await;
    let question = client.read().await;
    client.send(consent(&question)).await;
    client.input.shutdown().await.unwrap();
    let answer = client.read().await;
    assert_eq!(answer["result"]["structuredContent"]["status"], "written", "{answer}");
    assert!(client.root.path().join("a").exists());
}

/// A call that creates a file.
fn creation(id: u64, path: &str) -> String {
    let params = json!({"name": "safe_edit_file", "arguments": {"path": path, "content": "1\n"}});
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).to_string()
}

/// The consent of a person to a question.
fn consent(question: &Value) -> String {
    assert_eq!(question["method"], "elicitation/create", "{question}");
    json!({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "accept", "content": {}}}).to_string()
}

#[tokio::test]
async fn an_id_is_refused_while_its_request_is_in_flight() {
    let mut client = Client::new("edit");
    std::fs::write(client.root.path().join("quality.yaml"), "confirm: always\n").unwrap();
    client.begin_with("2025-11-25", json!({"elicitation": {}})).await;
    client.send(creation(7, "a")).await;
    let question = client.read().await;
    for repeated in [creation(7, "b"), r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#.to_owned()] {
        client.send(repeated).await;
        let refused = client.read().await;
        assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!(7), &json!(-32600)), "{refused}");
    }
    client.send(consent(&question)).await;
    let answer = client.read().await;
    assert_eq!(
        (&answer["id"], &answer["result"]["structuredContent"]["status"]),
        (&json!(7), &json!("written")),
        "{answer}"
    );
    assert!(client.root.path().join("a").exists() && !client.root.path().join("b").exists());
    assert!(client.request(7, "ping", json!({})).await["result"].is_object(), "the id is free again");
}

#[tokio::test]
async fn an_older_name_is_answered_and_not_listed() {
    for (tools, known) in [("ai", true), ("edit", false)] {
        let mut client = Client::new(tools);
        client.begin("2025-11-25").await;
        let params = json!({"name": "ai_code_editing.edit_file", "arguments": {}});
        let answer = client.request(1, "tools/call", params).await;
        assert_eq!(answer["result"]["isError"] == json!(true), known, "{answer}");
        assert_eq!(answer["error"]["code"] == json!(-32602), !known, "{answer}");
        let listed = client.request(2, "tools/list", json!({})).await;
        assert!(!listed.to_string().contains("ai_code_editing"), "{listed}");
    }
}

#[tokio::test]
async fn a_call_without_a_client_is_asked_for_the_edit_to_undo() {
    let mut client = Client::new("all");
    let mut nameless = meta();
    nameless.as_object_mut().unwrap().shift_remove("io.modelcontextprotocol/clientInfo");
    let params = |tool: &str, arguments: Value, meta: &Value| json!({"name": tool, "arguments": arguments, "_meta": meta});
    let file = json!({"path": client.root.path().join("a.txt"), "content": "a\n"});
    let edit = client.request(1, "tools/call", params("create_file", file, &nameless)).await;
    let id = edit["result"]["structuredContent"]["edit_id"].clone();
    for (number, meta, words) in [
        (2, &nameless, "the call names no client, so it is not known which edit is its last one"),
        (3, &meta(), "made by a client without a name: send it as `edit_id`"),
    ] {
        let refused = client.request(number, "tools/call", params("undo_edit", json!({}), meta)).await;
        assert_eq!(refused["result"]["isError"], true, "{refused}");
        assert!(refused.to_string().contains(words), "{refused}");
    }
    let undo = params("undo_edit", json!({"edit_id": id}), &nameless);
    let undone = client.request(4, "tools/call", undo).await;
    assert_eq!(undone["result"]["structuredContent"]["status"], "written", "{undone}");
}

#[tokio::test]
async fn the_end_of_the_input_ends_the_server() {
    let mut client = Client::new("edit");
    client.begin("2025-06-18").await;
    client.input.shutdown().await.unwrap();
    timeout(Duration::from_secs(20), client.served).await.unwrap().unwrap().unwrap();
}

#[tokio::test]
async fn the_compact_form_counts_the_lines_of_several_edits() {
    let options = ServerOptions { structured: Structured::Compact, ..ServerOptions::default() };
    let mut client = Client::with("all", options);
    client.begin_as("claude-code", "2025-11-25", json!({})).await;
    let path = client.root.path().join("a.txt");
    std::fs::write(&path, "one\n").unwrap();
    let arguments = json!({"edits": [{"path": path, "search": "one", "replace": "1\n2"}]});
    let call = json!({"name": "edit_files", "arguments": arguments});
    let answer = client.request(1, "tools/call", call).await;
    assert_eq!(answer["result"]["structuredContent"]["message"], "wrote 1 file (+2 -1): a.txt", "{answer}");
}

/// What the client of a name is sent for an edit, and for one that is rejected.
async fn answers(structured: Structured, name: &str) -> [Value; 2] {
    let mut client = Client::with("edit,text,look", ServerOptions { structured, ..ServerOptions::default() });
    client.begin_as(name, "2025-11-25", json!({})).await;
    std::fs::write(client.root.path().join("a.py"), "one = 1\n\n\ndef f():\n    return one\n\n\nlast = 1\n")
        .unwrap();
    let mut answers = [Value::Null, Value::Null];
    for (id, (search, slot)) in
        ["    return one\n", "nowhere at all"].into_iter().zip(&mut answers).enumerate()
    {
        let arguments = json!({"file_path": client.root.path().join("a.py"), "old_string": search, "new_string": "    two = 2\n    return two\n"});
        let call = json!({"name": "edit_file", "arguments": arguments});
        *slot = client.request(u64::try_from(id).unwrap() + 1, "tools/call", call).await["result"].take();
    }
    answers
}

#[tokio::test]
async fn a_client_that_shows_one_form_gets_that_one() {
    for name in TEXT_CLIENTS {
        let [edit, rejection] = answers(Structured::Auto, name).await;
        let text = edit["content"][0]["text"].as_str().unwrap();
        assert!(
            text.starts_with("wrote a.py (+2 -1) version ") && text.contains("\n5-     return one\n5+ "),
            "{text}"
        );
        for answer in [&edit, &rejection] {
            assert_eq!(answer.get("structuredContent"), None, "{name}: {answer}");
        }
    }
    let [edit, rejection] = answers(Structured::Auto, "somebody").await;
    assert!(
        edit["structuredContent"]["diff"].is_string() && rejection["structuredContent"]["success"] == false
    );
    let [known, _] = answers(Structured::On, "claude-code").await;
    assert_eq!(known["structuredContent"]["bytes_outside_edit"], "unchanged", "asked for");
}

#[tokio::test]
async fn the_compact_form_has_what_the_next_call_needs() {
    let [edit, rejection] = answers(Structured::Compact, "claude-code").await;
    let json = &edit["structuredContent"];
    let keys: Vec<&String> = json.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["status", "message", "path", "version", "edit_id", "line_map"], "{json}");
    assert_eq!(json["message"], "wrote a.py (+2 -1); replaced 1 of 1 (line 5)");
    assert_eq!(edit["content"][0]["text"].as_str().unwrap().lines().count(), 1);
    let json = &rejection["structuredContent"];
    for field in ["status", "code", "message", "hint", "path"] {
        assert!(json[field].is_string(), "{field}: {json}");
    }
    let [full, _] = answers(Structured::On, "claude-code").await;
    let size = |answer: &Value| answer.to_string().len();
    assert!(size(&edit) * 2 < size(&full), "{} and {}", size(&edit), size(&full));
}

#[tokio::test]
async fn a_text_that_is_sent_alone_says_how_lines_moved_since_the_expected_version() {
    let mut client = Client::new("all");
    client.begin_as(TEXT_CLIENTS[0], "2025-11-25", json!({})).await;
    let file = client.root.path().join("a.txt");
    let text: String = (0..30).map(|line| format!("l{line}\n")).collect();
    std::fs::write(&file, &text).unwrap();
    let mut id = 0;
    let mut call = async |name: &str, arguments: Value| {
        id += 1;
        let answer = client.request(id, "tools/call", json!({"name": name, "arguments": arguments})).await;
        answer["result"]["content"][0]["text"].as_str().unwrap().to_owned()
    };
    let version_in = |text: &str| {
        let (_, version) = text.split_once("version ").unwrap();
        version.chars().take(12).collect::<String>()
    };
    let read = call("read_content_lines", json!({"path": "a.txt"})).await;
    let edit = |version: &str, line: usize, content: &str| {
        let lines = json!([{"start_line": line, "end_line": line, "new_content": content}]);
        json!({"path": "a.txt", "expected_version": version, "line_edits": lines})
    };
    std::fs::write(&file, format!("a\nb\nc\n{text}")).unwrap();
    let old = version_in(&read);
    let one = call("safe_edit_file", edit(&old, 20, "L19\n")).await;
    let moved = "\nlines moved: from old line 1 +3\n";
    assert!(one.starts_with("wrote a.txt") && one.contains(moved), "{one}");
    let several = call("edit_files", json!({"edits": [edit(&old, 25, "L24\n")]})).await;
    assert!(several.starts_with("wrote 1 file") && several.contains(moved), "{several}");
    // The control: the only changed lines say how the others moved.
    let last = call("safe_edit_file", edit(&version_in(&several), 10, "one\ntwo\n")).await;
    assert!(last.starts_with("wrote a.txt") && !last.contains("lines moved"), "{last}");
}

#[tokio::test]
async fn a_call_that_is_not_carried_out_is_answered_within_its_own_limit() {
    let path = format!("{}a.py", "d/".repeat(79));
    for (tool, arguments) in [
        (
            "ai_edit_code",
            json!({"edit_instruction": "x", "start_line": 1, "expected_version": "0123456789ab"}),
        ),
        ("ai_edit_code", json!({"edit_instruction": "x".repeat(300), "start_lin": 1})),
        ("safe_edit_file", json!({"path": path, "search": "x", "replace": "y".repeat(300), "mod": "strict"})),
    ] {
        let size_at = async |max_bytes: Value| {
            let mut client = Client::new("all");
            client.begin("2025-11-25").await;
            let mut arguments = arguments.clone();
            arguments["max_bytes"] = max_bytes;
            if tool == "ai_edit_code" {
                arguments["target_file"] = json!(path);
            }
            let call = json!({"name": tool, "arguments": arguments});
            let answer = client.request(1, "tools/call", call).await;
            assert_eq!(answer["result"]["isError"], true, "{answer}");
            answer.to_string().len()
        };
        let sizes = [size_at(json!(1024)).await, size_at(json!("1024")).await, size_at(Value::Null).await];
        assert!(sizes[0] <= 1024 && sizes[1] <= 1024 && sizes[2] > 1024, "{tool} {arguments}: {sizes:?}");
    }
}
