//! Heads of requests that two readers could read in two ways: refused, and nothing after them is carried out.

use serde_json::json;

use super::matrix::files;
use super::raw::{Client, ProtocolEra, Raw};
use super::server_process::{ServerProcess, TOKEN};

/// A request that makes a file of that name.
fn making(client: &Client, name: &str) -> Vec<u8> {
    let arguments = json!({"path": name, "content": "x\n", "show_diff": false});
    let params = json!({"name": "safe_edit_file", "arguments": arguments});
    client.request(&client.message(1, "tools/call", params))
}

/// The same request with other line ends in its head.
fn with_ends(request: &[u8], line_end: impl Fn(usize) -> &'static str) -> Vec<u8> {
    let text = String::from_utf8(request.to_vec()).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    let lines = head.split("\r\n").chain([""]).enumerate();
    let head: String = lines.map(|(number, line)| format!("{line}{}", line_end(number))).collect();
    (head + body).into_bytes()
}

#[test]
fn a_bare_line_feed_is_refused_anywhere() {
    let root = tempfile::tempdir().unwrap();
    let served = ServerProcess::start(root.path(), &[]);
    let client = served.client(TOKEN, ProtocolEra::New);
    let request = making(&client, "a.txt");
    let lines = String::from_utf8_lossy(&request).split("\r\n\r\n").next().unwrap().split("\r\n").count();
    for bare in 0..=lines {
        let mut raw = served.connect();
        raw.send(with_ends(&request, |number| if number == bare { "\n" } else { "\r\n" }));
        let response = raw.rest();
        assert!(
            response.starts_with("HTTP/1.1 400") && response.matches("HTTP/1.1").count() == 1,
            "{bare}: {response}"
        );
    }
    let mut raw = served.connect();
    raw.send("GET /healthz HTTP/1.1\nHost: a\n\n");
    assert_eq!(raw.response().unwrap().status, 400, "everybody is held to it");
    assert!(files(root.path()).is_empty());
    let mut raw = served.connect();
    raw.send(with_ends(&request, |_| "\r\n"));
    assert_eq!(raw.response().unwrap().status, 200, "the control");
    assert_eq!(files(root.path()).len(), 1);
}

#[test]
fn pipelined_and_split_requests_are_each_checked() {
    let root = tempfile::tempdir().unwrap();
    let served = ServerProcess::start(root.path(), &[]);
    let client = served.client(TOKEN, ProtocolEra::New);
    let bare = with_ends(&making(&client, "bare.txt"), |_| "\n");
    let all =
        [making(&client, "a.txt"), making(&client, "b.txt"), bare, making(&client, "after.txt")].concat();
    let mut raw = served.connect();
    raw.send(&all);
    let response = raw.rest();
    assert_eq!(
        (response.matches("HTTP/1.1 200").count(), response.matches("HTTP/1.1 400").count()),
        (2, 1),
        "{response}"
    );
    assert_eq!(files(root.path()).into_iter().collect::<Vec<_>>(), ["a.txt", "b.txt"]);
    let mut raw = served.connect();
    for piece in making(&client, "c.txt").chunks(7) {
        raw.send(piece);
    }
    assert_eq!(raw.response().unwrap().status, 200);
    raw.send(making(&client, "d.txt"));
    assert_eq!(raw.response().unwrap().status, 200, "the connection stays");
    assert_eq!(files(root.path()).len(), 4);
}

#[test]
fn after_a_body_in_chunks_the_connection_ends() {
    let root = tempfile::tempdir().unwrap();
    let served = ServerProcess::start(root.path(), &[]);
    let client = served.client(TOKEN, ProtocolEra::New);
    let text = String::from_utf8(making(&client, "a.txt")).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    let chunks = format!("{:x}\r\n{body}\r\n0\r\n\r\n", body.len());
    let without = |name: &str| -> String {
        head.split("\r\n").filter(|line| !line.starts_with(name)).collect::<Vec<_>>().join("\r\n")
    };
    let smuggled = String::from_utf8(making(&client, "smuggled.txt")).unwrap();
    let chunked =
        format!("{}\r\nTransfer-Encoding: chunked\r\n\r\n{chunks}{smuggled}", without("Content-Length"));
    let mut raw: Raw = served.connect();
    raw.send(chunked);
    let response = raw.rest();
    assert_eq!(response.matches("HTTP/1.1").count(), 1, "{response}");
    assert!(
        response.starts_with("HTTP/1.1 200") && response.to_lowercase().contains("connection: close"),
        "{response}"
    );
    assert_eq!(files(root.path()).into_iter().collect::<Vec<_>>(), ["a.txt"]);
}

#[test]
fn a_body_with_two_possible_ends_is_refused() {
    let root = tempfile::tempdir().unwrap();
    let served = ServerProcess::start(root.path(), &[]);
    let client = served.client(TOKEN, ProtocolEra::New);
    let text = String::from_utf8(making(&client, "a.txt")).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    let smuggled = String::from_utf8(making(&client, "smuggled.txt")).unwrap();
    let chunks = format!("{:x}\r\n{body}\r\n0\r\n\r\n{smuggled}", body.len());
    let lines = |fields: &str| -> String {
        let others = head.split("\r\n").filter(|line| !line.to_lowercase().starts_with("content-length"));
        others.chain([fields]).collect::<Vec<_>>().join("\r\n")
    };
    let length = format!("Content-Length: {}", body.len());
    for fields in [
        // A parser that uses the length reads the next request as the body of the first.
        format!("{length}\r\nTransfer-Encoding: chunked"),
        format!("Transfer-Encoding: chunked\r\n{length}"),
        "Transfer-Encoding: gzip, chunked".to_owned(),
        "Transfer-Encoding: chunked, chunked".to_owned(),
        "Transfer-Encoding: identity, chunked".to_owned(),
        "Transfer-Encoding: identity\r\nTransfer-Encoding: chunked".to_owned(),
    ] {
        let mut raw = served.connect();
        raw.send(format!("{}\r\n\r\n{chunks}", lines(&fields)));
        let response = raw.rest();
        assert_eq!(response.matches("HTTP/1.1").count(), 1, "{fields}: {response}");
        assert!(response.starts_with("HTTP/1.1 400"), "{fields}: {response}");
    }
    for fields in [format!("{length}\r\n{length}"), format!("{length}, {}", body.len())] {
        let mut raw = served.connect();
        raw.send(format!("{}\r\n\r\n{body}{smuggled}", lines(&fields)));
        let response = raw.rest();
        assert!(response.starts_with("HTTP/1.1 400"), "{fields}: {response}");
    }
    assert!(files(root.path()).is_empty());
    let mut raw = served.connect();
    raw.send(format!("{}\r\n\r\n{body}", lines(&length)));
    assert_eq!(raw.response().unwrap().status, 200, "the control");
    assert_eq!(files(root.path()).len(), 1);
}

#[test]
fn lengths_and_lines_that_contradict_each_other_are_refused() {
    let root = tempfile::tempdir().unwrap();
    let served = ServerProcess::start(root.path(), &[]);
    let client = served.client(TOKEN, ProtocolEra::New);
    let good = String::from_utf8(making(&client, "a.txt")).unwrap();
    for more in [
        "Content-Length: 1",
        "Content-Length: +3",
        "X: a\r\n folded",
        "X: a\rb",
        "X : a",
        "Transfer-Encoding: gzip",
    ] {
        let mut raw = served.connect();
        raw.send(good.replacen("Host:", &format!("{more}\r\nHost:"), 1));
        assert_eq!(raw.response().unwrap().status, 400, "{more}");
    }
    assert!(files(root.path()).is_empty());
    let mut raw = served.connect();
    raw.send(good.replacen("Host:", "X: a\r\nHost:", 1));
    assert_eq!(raw.response().unwrap().status, 200, "the control");
}
