//! What some clients do to others: slow ones, half ones and many.

use std::path::Path;
use std::time::{Duration, Instant};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::json;

use super::raw::{Client, ERAS, ProtocolEra, Raw, page};
use super::server_process::{OTHER, ServerProcess, TOKEN, entry};
use crate::suite::wire::TIMEOUT;

/// How much longer a client may wait beside a crowd, in times of an undisturbed run; the best of some runs counts.
const RATIO: f64 = 3.0;
const RUNS: usize = 5;

fn served(root: &Path, limits: &str) -> ServerProcess {
    let shared = format!("roots: [{}], tools: [all]", root.display());
    ServerProcess::configured(&format!("limits: {{ {limits} }}\ntokens:\n{}", entry("alice", TOKEN, &shared)))
}

/// How long a client takes for some calls, at best.
fn pace(served: &ServerProcess) -> Duration {
    let run = |_| {
        let start = Instant::now();
        for era in ERAS {
            let mut client = served.client(TOKEN, era);
            for _ in 0..20 {
                client.call("read_content_lines", &json!({"path": "a.txt"}));
            }
        }
        start.elapsed()
    };
    (0..RUNS).map(run).min().unwrap()
}

#[track_caller]
fn assert_no_delay(what: &str, served: &ServerProcess, alone: Duration) {
    let loaded_pace = pace(served);
    let ratio = loaded_pace.as_secs_f64() / alone.as_secs_f64();
    println!("{what}: {loaded_pace:?} beside {alone:?} alone, {ratio:.2} times");
    assert!(ratio < RATIO, "{what}: {loaded_pace:?} beside {alone:?} alone");
}

/// Sends calls with large answers, and reads none of them, until the server takes no more.
fn slow_reader(client: &mut Client) {
    let message = client.message(
        1,
        "tools/call",
        json!({"name": "read_content_lines", "arguments": {"path": "large.txt", "max_bytes": 1_000_000}}),
    );
    let request = client.request(&message);
    client.raw.stream.set_write_timeout(Some(Duration::from_millis(200))).unwrap();
    while client.raw.try_send(&request).is_ok() {}
}

/// Waits until a server has done all that it can: until then it is its work that holds up others.
fn quiet(served: &ServerProcess) {
    let spent = || {
        let line = std::fs::read_to_string(format!("/proc/{}/stat", served.process.id())).unwrap();
        let fields: Vec<String> = line.rsplit(')').next().unwrap().split(' ').map(str::to_owned).collect();
        (fields[12].clone(), fields[13].clone())
    };
    let (start, mut before) = (Instant::now(), spent());
    loop {
        std::thread::sleep(Duration::from_millis(300));
        let now = spent();
        if now == before {
            return;
        }
        before = now;
        assert!(start.elapsed() < TIMEOUT, "the server works on");
    }
}

#[test]
fn slow_readers_delay_no_other_client() {
    let root = tempfile::tempdir().unwrap();
    std::fs::write(root.path().join("a.txt"), "a\n").unwrap();
    std::fs::write(
        root.path().join("large.txt"),
        "a line of some length, and then some more\n".repeat(20_000),
    )
    .unwrap();
    let served = served(root.path(), "read_within: 10m");
    let alone = pace(&served);
    let mut slow: Vec<Client> =
        ERAS.iter().flat_map(|era| [*era; 2]).map(|era| served.client(TOKEN, era)).collect();
    slow.iter_mut().for_each(slow_reader);
    quiet(&served);
    assert_no_delay("slow readers", &served, alone);
}

#[test]
fn a_slow_reader_is_not_waited_for_for_ever() {
    let root = tempfile::tempdir().unwrap();
    std::fs::write(
        root.path().join("large.txt"),
        "a line of some length, and then some more\n".repeat(20_000),
    )
    .unwrap();
    let served = served(root.path(), "read_within: 500ms, connections: 16");
    for era in ERAS {
        let mut slow = served.client(TOKEN, era);
        slow_reader(&mut slow);
        let start = Instant::now();
        slow.raw.stream.set_write_timeout(None).unwrap();
        // Closed by the server while it was written to.
        let request = vec![b' '; 1 << 20];
        while slow.raw.try_send(&request).is_ok() {
            assert!(start.elapsed() < TIMEOUT, "it is still listened to");
        }
    }
}

#[test]
fn incomplete_requests_delay_no_other_client_and_end() {
    let root = tempfile::tempdir().unwrap();
    std::fs::write(root.path().join("a.txt"), "a\n").unwrap();
    let patient = served(root.path(), "requests: 200");
    let alone = pace(&patient);
    let halves = |served: &ServerProcess| -> Vec<Raw> {
        let client = served.client(TOKEN, ProtocolEra::New);
        let message = client.message(
            1,
            "tools/call",
            json!({"name": "safe_edit_file", "arguments": {"path": "b.txt", "content": "b\n"}}),
        );
        let whole = client.request(&message);
        let cuts = [1, 20, whole.len() / 2, whole.len() - 40, whole.len() - 1];
        let cuts = cuts.iter().cycle().take(100);
        cuts.map(|cut| {
            let mut raw = served.connect();
            raw.send(&whole[..*cut]);
            raw
        })
        .collect()
    };
    let open = halves(&patient);
    assert_no_delay("half-sent requests", &patient, alone);
    drop(open);
    let strict = served(root.path(), "requests: 200, headers_within: 300ms, body_within: 300ms");
    for mut incomplete in halves(&strict) {
        let rest = incomplete.rest();
        assert!(rest.is_empty() || rest.starts_with("HTTP/1.1 408 "), "{rest}");
    }
    assert!(!root.path().join("b.txt").exists());
}

#[test]
fn a_thousand_idle_connections_delay_no_other_client() {
    let files = getrlimit(Resource::Nofile);
    let descriptors = 2500.min(files.maximum.unwrap_or(u64::MAX));
    setrlimit(Resource::Nofile, Rlimit { current: Some(descriptors), maximum: files.maximum }).unwrap();
    let root = tempfile::tempdir().unwrap();
    std::fs::write(root.path().join("a.txt"), "a\n").unwrap();
    let served = served(root.path(), "connections: 2000");
    let alone = pace(&served);
    let idle: Vec<Raw> = (0..1000).map(|_| served.connect()).collect();
    assert_no_delay("1,000 idle connections", &served, alone);
    assert_eq!(idle.len(), 1000);
}

#[test]
fn a_new_connection_replaces_the_longest_idle_one() {
    let root = tempfile::tempdir().unwrap();
    std::fs::write(root.path().join("a.txt"), "a\n").unwrap();
    let served = served(root.path(), "connections: 16");
    let mut first = served.client(TOKEN, ProtocolEra::New);
    first.call("read_content_lines", &json!({"path": "a.txt"}));
    let idle: Vec<Raw> = (0..40).map(|_| served.connect()).collect();
    let mut last = served.client(TOKEN, ProtocolEra::New);
    last.call("read_content_lines", &json!({"path": "a.txt"}));
    assert_eq!(first.raw.rest(), "", "the first has made room");
    for mut closed in idle.into_iter().take(20) {
        assert_eq!(closed.rest(), "");
    }
    last.call("read_content_lines", &json!({"path": "a.txt"}));
}

#[test]
fn idle_connections_end_and_those_with_a_request_do_not() {
    let root = tempfile::tempdir().unwrap();
    std::fs::write(root.path().join("a.txt"), "a\n").unwrap();
    let served = served(root.path(), "idle: 300ms");
    let mut listener = served.client(TOKEN, ProtocolEra::Old);
    listener.raw.send(listener.head("GET", ("", ""), &[]));
    assert_eq!(listener.raw.head().unwrap().status, 200);
    let mut idle = served.connect();
    assert_eq!(idle.rest(), "", "it ends");
    listener.raw.stream.set_nonblocking(true).unwrap();
    let peeked = listener.raw.stream.peek(&mut [0]);
    assert!(!matches!(peeked, Ok(0)), "a stream that is listened to has ended: {peeked:?}");
}

#[test]
fn one_token_has_no_more_requests_and_sessions_than_it_may() {
    let root = tempfile::tempdir().unwrap();
    std::fs::write(root.path().join("a.txt"), "a\n").unwrap();
    let shared = format!("roots: [{}]", root.path().display());
    let tokens = entry("alice", TOKEN, &shared) + &entry("bob", OTHER, &shared);
    let served =
        ServerProcess::configured(&format!("limits: {{ requests: 2, sessions: 2 }}\ntokens:\n{tokens}"));
    let client = served.client(TOKEN, ProtocolEra::New);
    let message = client.message(
        1,
        "tools/call",
        json!({"name": "read_content_lines", "arguments": {"path": "a.txt"}}),
    );
    let whole = client.request(&message);
    // The server asks for a body once it works on the request.
    let asking =
        String::from_utf8(whole.clone()).unwrap().replacen("\r\n", "\r\nExpect: 100-continue\r\n", 1);
    let (asking, body) = asking.split_at(asking.find("\r\n\r\n").unwrap() + 4);
    let mut incomplete: Vec<Raw> = (0..2).map(|_| served.connect()).collect();
    for raw in &mut incomplete {
        raw.send(asking);
        raw.expect_continue();
    }
    let mut third = served.connect();
    third.send(&whole);
    let refused = third.response().unwrap();
    assert_eq!((refused.status, refused.header("retry-after")), (429, "1"));
    let mut bob = served.client(OTHER, ProtocolEra::New);
    assert_eq!(bob.call("read_content_lines", &json!({"path": "a.txt"}))["isError"], json!(false));
    incomplete.iter_mut().for_each(|raw| raw.send(body));
    for raw in &mut incomplete {
        assert_eq!(raw.response().unwrap().status, 200);
    }
    let sessions: Vec<Client> = (0..2).map(|_| served.client(TOKEN, ProtocolEra::Old)).collect();
    let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "suite", "version": "1"}});
    let mut more = served.client(TOKEN, ProtocolEra::New);
    more.era = ProtocolEra::Old;
    let hello = more.message(0, "initialize", hello);
    more.raw.send(more.request(&hello));
    assert_eq!(more.raw.response().unwrap().status, 503);
    drop(served.client(OTHER, ProtocolEra::Old));
    assert_eq!(sessions.len(), 2);
    assert_eq!(page(served.address, "/healthz", None).status, 200);
}

#[test]
fn sessions_that_begin_at_the_same_time_are_no_more_than_a_token_may_have() {
    let root = tempfile::tempdir().unwrap();
    let served = served(root.path(), "requests: 64, sessions: 2");
    let mut client = served.client(TOKEN, ProtocolEra::New);
    client.era = ProtocolEra::Old;
    let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "suite", "version": "1"}});
    let whole = client.request(&client.message(0, "initialize", hello));
    let (most, last) = whole.split_at(whole.len() - 1);
    let mut beginning: Vec<Raw> = (0..32).map(|_| served.connect()).collect();
    beginning.iter_mut().for_each(|raw| raw.send(most));
    beginning.iter_mut().for_each(|raw| raw.send(last));
    let statuses: Vec<u16> = beginning.iter_mut().map(|raw| raw.head().unwrap().status).collect();
    assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 2, "{statuses:?}");
    assert_eq!(statuses.iter().filter(|status| **status == 503).count(), 30, "{statuses:?}");
}
