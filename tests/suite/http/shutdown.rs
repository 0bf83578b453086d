//! How calls end that the client or the server does not wait for.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::json;
use tempfile::TempDir;

use super::raw::{Client, ERAS, ProtocolEra, page};
use super::server_process::{ServerProcess, TOKEN};
use crate::suite::cli::signals::{hanging, runs, wait_until};
use crate::suite::wire::TIMEOUT;

fn tag(what: &str) -> String {
    format!("http-{what}-{}", std::process::id())
}

fn fixture(what: &str) -> (String, TempDir, ServerProcess) {
    let tag = tag(what);
    let root = hanging(&tag);
    let served = ServerProcess::start(root.path(), &["--trust"]);
    (tag, root, served)
}

fn text(root: &Path) -> String {
    fs::read_to_string(root.join("a.txt")).unwrap()
}

#[test]
fn a_signal_ends_a_running_edit_and_answers_it() {
    for era in ERAS {
        let (tag, root, mut served) = fixture(&format!("signal-{era:?}"));
        let mut client = served.client(TOKEN, era);
        client.post_call("safe_edit_file", &json!({"path": "a.txt", "content": "b\n"}));
        wait_until("the gate runs", || runs(&tag));
        served.signal("TERM");
        // As long as it works, it says that it is about to end.
        let connection = served.connect();
        drop(connection);
        let answer = client.raw.response().unwrap().answer();
        let message = answer["result"]["content"][0]["text"].as_str().unwrap();
        assert!(
            answer["result"]["isError"] == json!(true) && message.contains("nothing was written"),
            "{answer}"
        );
        assert_eq!(served.wait(), Some(0), "{}", served.log_text());
        assert!(!runs(&tag), "the program is left");
        assert_eq!(text(root.path()), "a\n");
    }
}

#[test]
fn while_the_last_calls_end_the_server_says_that_it_takes_no_more() {
    let (tag, _root, mut served) = fixture("draining");
    let mut client = served.client(TOKEN, ProtocolEra::New);
    let (address, mut late) = (served.address, served.client(TOKEN, ProtocolEra::New));
    client.post_call("safe_edit_file", &json!({"path": "a.txt", "content": "b\n"}));
    wait_until("the gate runs", || runs(&tag));
    assert_eq!(page(address, "/readyz", None).status, 200);
    served.signal("TERM");
    wait_until("it is not ready", || page(address, "/readyz", None).status == 503);
    assert_eq!(page(address, "/healthz", None).status, 200);
    late.post_call("read_content_lines", &json!({"path": "a.txt"}));
    assert_eq!(late.raw.response().unwrap().status, 503);
    assert_eq!(client.raw.response().unwrap().status, 200);
    assert_eq!(served.wait(), Some(0), "{}", served.log_text());
}

/// A file whose syntax takes a debug build a while to check.
fn large() -> String {
    "def f(a, b):\n    return [a, b, (a, b), {a: b}]\n".repeat(8_000)
}

#[test]
fn an_edit_that_is_nearly_done_is_done_although_a_signal_comes() {
    for era in ERAS {
        let root = tempfile::tempdir().unwrap();
        let mut served = ServerProcess::start(root.path(), &[]);
        let mut client = served.client(TOKEN, era);
        let mut watcher = served.client(TOKEN, ProtocolEra::New);
        client.post_call("safe_edit_file", &json!({"path": "a.py", "content": large(), "show_diff": false}));
        // Whoever is answered after it was sent shows that it has come.
        watcher.call("read_content_lines", &json!({"path": "none.txt"}));
        served.signal("TERM");
        let answer = client.raw.response().map(|response| response.answer());
        assert_eq!(served.wait(), Some(0));
        let answer = answer.unwrap();
        let written = answer["result"]["structuredContent"]["written"] == json!(true);
        assert_eq!(root.path().join("a.py").exists(), written, "{answer}");
    }
}

#[test]
fn an_idle_server_with_sessions_and_streams_ends_at_once() {
    let root = tempfile::tempdir().unwrap();
    let mut served = ServerProcess::start(root.path(), &[]);
    let mut clients: Vec<_> = (0..5).map(|_| served.client(TOKEN, ProtocolEra::Old)).collect();
    for client in &mut clients {
        client.raw.send(client.head("GET", ("", ""), &[]));
        assert_eq!(client.raw.head().unwrap().status, 200);
    }
    let _idle: Vec<_> = (0..20).map(|_| served.connect()).collect();
    let start = Instant::now();
    served.signal("TERM");
    assert_eq!(served.wait(), Some(0));
    assert!(start.elapsed() < Duration::from_secs(20), "it took {:?}", start.elapsed());
}

#[test]
fn a_client_that_hangs_up_ends_the_programs_of_its_edit() {
    let (tag, root, served) = fixture("gone");
    let mut client = served.client(TOKEN, ProtocolEra::New);
    client.post_call("safe_edit_file", &json!({"path": "a.txt", "content": "b\n"}));
    wait_until("the gate runs", || runs(&tag));
    drop(client);
    wait_until("the gate has ended", || !runs(&tag));
    assert_eq!(text(root.path()), "a\n");
}

/// Until 2025-11-25 a connection may break without an end of the call, so only a message ends it.
#[test]
fn a_cancellation_ends_the_programs_of_an_edit_of_a_session() {
    let (tag, root, served) = fixture("cancelled");
    let mut client = served.client(TOKEN, ProtocolEra::Old);
    let id = client.post_call("safe_edit_file", &json!({"path": "a.txt", "content": "b\n"}));
    wait_until("the gate runs", || runs(&tag));
    cancel(&mut second_connection(&served, &client), id);
    wait_until("the gate has ended", || !runs(&tag));
    assert_eq!(text(root.path()), "a\n");
}

/// Its answer would be lost with the session.
#[test]
fn the_end_of_a_session_ends_the_programs_of_its_edit() {
    let (tag, root, served) = fixture("deleted");
    let mut client = served.client(TOKEN, ProtocolEra::Old);
    client.post_call("safe_edit_file", &json!({"path": "a.txt", "content": "b\n"}));
    wait_until("the gate runs", || runs(&tag));
    let mut other = second_connection(&served, &client);
    let head = other.head("DELETE", ("", ""), &[]);
    for (version, status) in [("1999-01-01", 400), ("2026-07-28", 405)] {
        other.raw.send(head.replace("2025-11-25", version));
        assert_eq!(other.raw.response().unwrap().status, status, "{version}");
        assert!(runs(&tag), "a request that is refused ends nothing: {version}");
    }
    other.raw.send(head);
    assert_eq!(other.raw.response().unwrap().status, 204);
    wait_until("the gate has ended", || !runs(&tag));
    assert_eq!(text(root.path()), "a\n");
}

/// A second connection of a client, in the same session.
fn second_connection(served: &ServerProcess, client: &Client) -> Client {
    let mut other = served.client(TOKEN, ProtocolEra::New);
    (other.era, other.session) = (ProtocolEra::Old, client.session.clone());
    other
}

fn cancel(client: &mut Client, id: u64) {
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}});
    client.raw.send(client.request(&cancel));
    assert_eq!(client.raw.response().unwrap().status, 202);
}

/// The call of a lost connection runs on, so its id is in flight until the call has ended.
#[test]
fn a_session_refuses_the_id_of_a_call_that_runs() {
    let (tag, root, served) = fixture("repeated");
    let mut client = served.client(TOKEN, ProtocolEra::Old);
    let id = client.post_call("safe_edit_file", &json!({"path": "a.txt", "content": "b\n"}));
    wait_until("the gate runs", || runs(&tag));
    let mut other = second_connection(&served, &client);
    let read = json!({"name": "read_content_lines", "arguments": {"path": "a.txt"}});
    let send_again = |connection: &mut Client| {
        let message = connection.message(id, "tools/call", read.clone());
        connection.raw.send(connection.request(&message));
        connection.raw.response().unwrap()
    };
    let refused = send_again(&mut other);
    let error = refused.answer();
    assert_eq!((refused.status, &error["id"]), (400, &json!(id)), "{error}");
    assert_eq!(error["error"]["code"], -32600, "{error}");
    let mut stranger = served.client(TOKEN, ProtocolEra::Old);
    assert_eq!(send_again(&mut stranger).answer()["result"]["isError"], false, "another session");
    drop(client);
    // At some time the server notices that the connection is lost.
    for _ in 0..20 {
        stranger.call("list_content", &json!({}));
        assert_eq!(send_again(&mut other).status, 400);
    }
    cancel(&mut other, id);
    wait_until("the gate has ended", || !runs(&tag));
    let start = Instant::now();
    while send_again(&mut other).status != 200 {
        assert!(start.elapsed() < TIMEOUT, "the id is never free again");
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(text(root.path()), "a\n");
}
