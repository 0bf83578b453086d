//! Two clients that number their requests alike never see each other's answers.

use std::path::Path;
use std::sync::Arc;

use serde_json::json;

use super::raw::{Client, ProtocolEra};
use super::server_process::{OTHER, ServerProcess, TOKEN, entry};

/// Pairs of requests with one id, over all pairings; and connections that a client has at a time.
const PAIRS: u64 = 10_000;
const CONNECTIONS: u64 = 4;

/// Asks for a file that is not there, whose name says who asks; gives the answers that are another's.
fn call_all(mut client: Client, client_name: &str, ids: impl Iterator<Item = u64>) -> Vec<String> {
    let mut wrong = Vec::new();
    for id in ids {
        let path = format!("{client_name}-{id}.txt");
        let arguments = json!({"name": "read_content_lines", "arguments": {"path": path}});
        let message = client.message(id, "tools/call", arguments);
        client.raw.send(client.request(&message));
        let response = client.raw.response().unwrap();
        let messages = response.messages();
        let answer = response.answer();
        let answered_path = answer["result"]["structuredContent"]["path"].as_str().unwrap_or_default();
        if answer["id"] != id || answered_path != path || messages.len() != 1 {
            wrong.push(format!("{path}: {messages:?}"));
        }
    }
    wrong
}

fn pair(
    served: &Arc<ServerProcess>,
    one: (&'static str, ProtocolEra),
    other: (&'static str, ProtocolEra),
    pairs: u64,
) -> Vec<String> {
    let mut threads = Vec::new();
    for (client_name, (token, era)) in [("one", one), ("other", other)] {
        let first = served.client(token, era);
        for at in 0..CONNECTIONS {
            let served = Arc::clone(served);
            let session = first.session.clone();
            threads.push(std::thread::spawn(move || {
                // All connections of a client have its session.
                let mut client = served.client(token, ProtocolEra::New);
                (client.era, client.session) = (era, session);
                call_all(client, client_name, (0..pairs).filter(|id| id % CONNECTIONS == at))
            }));
        }
    }
    threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
}

fn shared(root: &Path) -> String {
    format!("roots: [{}]", root.display())
}

#[test]
fn equal_ids_of_two_clients_are_never_mixed_up() {
    let root = tempfile::tempdir().unwrap();
    let tokens = entry("alice", TOKEN, &shared(root.path())) + &entry("bob", OTHER, &shared(root.path()));
    let served = Arc::new(ServerProcess::configured(&format!("tokens:\n{tokens}")));
    let pairings = [
        ((TOKEN, ProtocolEra::Old), (TOKEN, ProtocolEra::Old)),
        ((TOKEN, ProtocolEra::Old), (OTHER, ProtocolEra::Old)),
        ((TOKEN, ProtocolEra::New), (TOKEN, ProtocolEra::New)),
        ((TOKEN, ProtocolEra::Old), (OTHER, ProtocolEra::New)),
    ];
    for (one, other) in pairings {
        let wrong = pair(&served, one, other, PAIRS / pairings.len() as u64);
        assert!(wrong.is_empty(), "{one:?} {other:?}: {} of {PAIRS}, such as {}", wrong.len(), wrong[0]);
    }
}
