//! What a request may carry: as much as it says, and a message.

use serde_json::json;

use super::matrix::files;
use super::raw::{ERAS, ProtocolEra};
use super::server_process::{ServerProcess, TOKEN};

/// What is not in the matrix: a limit that is not told beforehand, the default limit, and other paths.
#[test]
fn a_body_is_as_large_as_it_is_whatever_it_says() {
    let root = tempfile::tempdir().unwrap();
    let served = ServerProcess::start(root.path(), &[]);
    let client = served.client(TOKEN, ProtocolEra::New);
    let head = |more: (&str, &str)| client.head("POST", ("tools/call", "safe_edit_file"), &[more]);
    for (length, status) in [((4_u64 << 20) + 1, 413), (1 << 60, 413)] {
        let mut raw = served.connect();
        raw.send(head(("Content-Length", &length.to_string())));
        assert_eq!(raw.response().unwrap().status, status, "{length}");
    }
    let mut raw = served.connect();
    raw.send(head(("Transfer-Encoding", "chunked")));
    let chunk = format!("{:x}\r\n{}\r\n", 1 << 20, " ".repeat(1 << 20));
    // Whoever sends on after the answer may find the connection closed.
    (0..5).try_for_each(|_| raw.try_send(&chunk)).ok();
    assert_eq!(raw.response().unwrap().status, 413);
    let arguments = json!({"path": "a.txt", "content": "x\n".repeat(1_000_000), "show_diff": false});
    let message = client.message(1, "tools/call", json!({"name": "safe_edit_file", "arguments": arguments}));
    let mut raw = served.connect();
    raw.send(client.request(&message));
    assert_eq!(raw.response().unwrap().answer()["result"]["structuredContent"]["status"], "written");
    assert_eq!(files(root.path()).len(), 1);
}

#[test]
fn invalid_bodies_get_a_specific_error() {
    let root = tempfile::tempdir().unwrap();
    let served = ServerProcess::start(root.path(), &[]);
    for era in ERAS {
        let client = served.client(TOKEN, era);
        let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
        for (body, status, code) in [
            ("garbage", 400, -32700),
            ("", 400, -32700),
            ("{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"ping\"", 400, -32700),
            ("[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]", 400, -32600),
            ("{\"id\":5}", 400, -32600),
            ("{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}", 400, -32600),
            (deep.as_str(), 400, -32700),
        ] {
            let length = body.len().to_string();
            let mut raw = served.connect();
            raw.send(client.head("POST", ("ping", ""), &[("Content-Length", &length)]) + body);
            let response = raw.response().unwrap();
            assert_eq!(
                (response.status, &response.answer()["error"]["code"]),
                (status, &json!(code)),
                "{body:.60}"
            );
        }
    }
}

/// A body takes time to arrive. The line numbers in it are those of the text when its head arrived.
#[test]
fn line_numbers_count_the_text_at_the_arrival_of_the_head() {
    let root = tempfile::tempdir().unwrap();
    std::fs::write(root.path().join("quality.yaml"), "quality_gates: {}\n").unwrap();
    let served = ServerProcess::start(root.path(), &[]);
    let edit = |line: u64, text: &str| {
        let edits = json!([{"start_line": line, "end_line": line, "new_content": text}]);
        json!({"path": "a.txt", "line_edits": edits, "show_diff": false})
    };
    for era in ERAS {
        let old: Vec<String> = (1..=20).map(|line| format!("line {line}\n")).collect();
        std::fs::write(root.path().join("a.txt"), old.concat()).unwrap();
        let mut client = served.client(TOKEN, era);
        let params = json!({"name": "safe_edit_file", "arguments": edit(7, "edited\n")});
        let body = client.message(100, "tools/call", params).to_string();
        let length = body.len().to_string();
        let more = [("Content-Length", length.as_str()), ("Expect", "100-continue")];
        let mut raw = served.connect();
        raw.send(client.head("POST", ("tools/call", "safe_edit_file"), &more));
        // The server asks for the body once it has recorded the arrival.
        raw.expect_continue();
        let (first, rest) = body.split_at(10);
        raw.send(first);
        let above = client.call("safe_edit_file", &edit(1, "one\ntwo\nline 1\n"));
        assert_eq!(above["structuredContent"]["status"], "written", "{era:?}: {above}");
        raw.send(rest);
        let answer = raw.response().unwrap().answer();
        assert_eq!(answer["result"]["structuredContent"]["status"], "written", "{era:?}: {answer}");
        let expected = format!("one\ntwo\n{}", old.concat().replace("line 7\n", "edited\n"));
        assert_eq!(std::fs::read_to_string(root.path().join("a.txt")).unwrap(), expected, "{era:?}");
    }
}

#[test]
fn a_byte_order_mark_is_no_part_of_the_message() {
    let root = tempfile::tempdir().unwrap();
    let served = ServerProcess::start(root.path(), &[]);
    for era in ERAS {
        let client = served.client(TOKEN, era);
        let params = json!({"name": "list_content", "arguments": {}});
        let body = format!("\u{feff}{}", client.message(1, "tools/call", params));
        let length = body.len().to_string();
        let mut raw = served.connect();
        raw.send(client.head("POST", ("tools/call", "list_content"), &[("Content-Length", &length)]) + &body);
        let response = raw.response().unwrap();
        assert_eq!((response.status, &response.answer()["id"]), (200, &json!(1)), "{}", response.text());
    }
}

#[test]
fn a_body_that_is_encoded_is_refused_before_it_is_read() {
    let root = tempfile::tempdir().unwrap();
    let served = ServerProcess::start(root.path(), &[]);
    for era in ERAS {
        let client = served.client(TOKEN, era);
        for (number, (coding, status)) in [
            ("gzip", 415),
            ("GZIP", 415),
            ("br", 415),
            ("identity, deflate", 415),
            ("no such coding", 415),
            ("identity", 200),
            ("Identity", 200),
            ("", 200),
        ]
        .into_iter()
        .enumerate()
        {
            let name = format!("{era:?}{number}.txt");
            let params = json!({"name": "safe_edit_file", "arguments": {"path": name, "content": "x\n"}});
            let request =
                String::from_utf8(client.request(&client.message(1, "tools/call", params))).unwrap();
            let request = request.replacen("Host:", &format!("Content-Encoding: {coding}\r\nHost:"), 1);
            let (head, _) = request.split_once("\r\n\r\n").unwrap();
            let mut raw = served.connect();
            raw.send(if status == 200 { request.clone() } else { format!("{head}\r\n\r\n") });
            let response = raw.response().unwrap();
            assert_eq!(response.status, status, "{coding}: {}", response.text());
            assert_eq!(root.path().join(name).exists(), status == 200, "{coding}");
            if status == 415 {
                let message = response.answer()["error"]["message"].as_str().unwrap().to_owned();
                assert!(message.contains("Content-Encoding") && message.contains("identity"), "{message}");
                assert_eq!(response.header("accept-encoding"), "identity");
            }
        }
    }
}
