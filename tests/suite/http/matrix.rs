//! Every kind of request: Host, Origin, token, method, size and era, each with each other. Whoever is refused is answered by the
//! head of the request alone, and has changed nothing.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::json;

use super::raw::{Client, ERAS, ProtocolEra, Raw, head};
use super::server_process::{OTHER, ServerProcess, TOKEN, entry};

/// The largest body that this server takes.
pub const BODY: usize = 64 * 1024;
const PAGE: &str = "https://ide.example";

const HOSTS: [(&[&str], u16); 7] = [
    (&["edits.example"], 200),
    (&["LOCALHOST:4711"], 200),
    (&["evil.example"], 403),
    (&["edits.example.evil.example"], 403),
    (&[], 400),
    (&["edits.example", "edits.example"], 400),
    (&["user@edits.example"], 400),
];

const ORIGINS: [(&[&str], u16); 5] =
    [(&[], 200), (&[PAGE], 200), (&["https://evil.example"], 403), (&["null"], 403), (&[PAGE, PAGE], 400)];

const METHODS: [&str; 6] = ["POST", "GET", "DELETE", "PUT", "OPTIONS", "PATCH"];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Size {
    Small,
    Full,
    Over,
}

/// The headers of every way to show a token, and what comes of it.
fn tokens() -> Vec<(Vec<String>, u16)> {
    let authorization = |token: &str| format!("Bearer {token}");
    vec![
        (vec![authorization(TOKEN)], 200),
        (vec![format!("bEARER {TOKEN}")], 200),
        (vec![], 401),
        (vec![authorization("no-token-that-anybody-has")], 401),
        (vec![authorization(&TOKEN[..TOKEN.len() - 1])], 401),
        (vec![authorization(&format!("{TOKEN}x"))], 401),
        (vec![format!("Basic {TOKEN}")], 401),
        (vec![TOKEN.to_owned()], 401),
        (vec![authorization(TOKEN), authorization(TOKEN)], 400),
        (vec![authorization(TOKEN), authorization(OTHER)], 400),
    ]
}

struct RequestCase<'a> {
    host: (&'a [&'a str], u16),
    origin: (&'a [&'a str], u16),
    token: (&'a [String], u16),
    method: &'a str,
    size: Size,
    era: ProtocolEra,
}

impl RequestCase<'_> {
    /// What is to come of it, and whether its head alone decides that.
    fn wanted(&self) -> (u16, bool) {
        for (_, status) in [self.host, self.origin] {
            if status != 200 {
                return (status, true);
            }
        }
        if self.method == "OPTIONS" && !self.origin.0.is_empty() {
            return (204, true);
        }
        match (self.token.1, self.method, self.era, self.size) {
            (200, "POST", _, Size::Over) => (413, true),
            (200, "POST", _, Size::Small | Size::Full) => (200, false),
            (200, "GET", ProtocolEra::Old, _) => (200, true),
            // The session that it names does not exist.
            (200, "DELETE", ProtocolEra::Old, _) => (404, true),
            (200, _, _, _) => (405, true),
            (refused, ..) => (refused, true),
        }
    }

    fn describe(&self) -> String {
        let RequestCase { host, origin, token, method, size, era } = self;
        format!("{method} of {size:?} in the {era:?} era, Host {host:?}, Origin {origin:?}, token {token:?}")
    }
}

/// An edit that makes a file of that name, its body as large as is asked for.
fn body(client: &Client, name: &str, size: Size) -> String {
    let arguments = |content: &str| json!({"path": name, "content": content, "show_diff": false});
    let of = |content: &str| {
        let params = json!({"name": "safe_edit_file", "arguments": arguments(content)});
        client.message(7, "tools/call", params).to_string()
    };
    let least = of("").len();
    match size {
        Size::Small => of("x\n"),
        Size::Full => of(&"x".repeat(BODY - least)),
        Size::Over => of(&"x".repeat(BODY - least + 1)),
    }
}

pub fn files(root: &Path) -> BTreeSet<String> {
    std::fs::read_dir(root)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect()
}

fn send_request(served: &ServerProcess, client: &Client, knock: &RequestCase<'_>, name: &str) {
    let description = knock.describe();
    let (status, by_head) = knock.wanted();
    let body = body(client, name, knock.size);
    let mut headers: Vec<(String, String)> = client.headers("tools/call", "safe_edit_file");
    headers.retain(|(name, _)| name != "Authorization");
    if knock.method == "DELETE" {
        // That of the client is still needed.
        headers.retain(|(name, _)| name != "Mcp-Session-Id");
        headers.push(("Mcp-Session-Id".to_owned(), "no-such-session".to_owned()));
    }
    let mut all = |name: &str, values: &[&str]| {
        values.iter().for_each(|value| headers.push((name.to_owned(), (*value).to_owned())));
    };
    all("Host", knock.host.0);
    all("Origin", knock.origin.0);
    knock.token.0.iter().for_each(|value| all("Authorization", &[value]));
    match knock.method {
        "POST" | "PUT" | "PATCH" => all("Content-Length", &[&body.len().to_string()]),
        "OPTIONS" => all("Access-Control-Request-Method", &["POST"]),
        _ => {}
    }
    let headers: Vec<(&str, &str)> =
        headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let mut raw = served.connect();
    raw.send(head(knock.method, "/mcp", &headers));
    if !by_head {
        raw.send(&body);
    }
    // A stream that is listened to has no end.
    let response = if knock.method == "GET" { raw.head() } else { raw.response() };
    let response = response.unwrap_or_else(|why| panic!("{description}: {why}"));
    assert_eq!(response.status, status, "{description}: {}", response.text());
    if status == 200 && knock.method == "POST" {
        assert_eq!(
            response.answer()["result"]["structuredContent"]["status"],
            "written",
            "{description}: {response:?}"
        );
    }
    assert_eq!(response.header("www-authenticate").is_empty(), status != 401, "{description}: {response:?}");
    let page = if response.status < 400 && !knock.origin.0.is_empty() { PAGE } else { "" };
    if !page.is_empty() || response.status == 403 {
        assert_eq!(response.header("access-control-allow-origin"), page, "{description}: {response:?}");
    }
}

#[test]
fn every_kind_of_request_has_its_status_and_refused_ones_change_nothing() {
    let root = tempfile::tempdir().unwrap();
    let shared = format!("roots: [{}], tools: [all]", root.path().display());
    let served = ServerProcess::configured(&format!(
        "allowed_hosts: [edits.example, localhost]\nallowed_origins: ['{PAGE}']\nlimits: {{ body: {BODY}B }}\n\
         tokens:\n{}",
        entry("alice", TOKEN, &shared)
    ));
    let clients = ERAS.map(|era| served.client(TOKEN, era));
    let tokens = tokens();
    let (mut expected, mut knocks) = (BTreeSet::new(), 0);
    for host in HOSTS {
        for origin in ORIGINS {
            for (authorization, status) in &tokens {
                for method in METHODS {
                    for (client, era) in clients.iter().zip(ERAS) {
                        let sizes: &[Size] = if method == "POST" {
                            &[Size::Small, Size::Full, Size::Over]
                        } else {
                            &[Size::Small]
                        };
                        for &size in sizes {
                            knocks += 1;
                            let name = format!("{knocks}.txt");
                            let one = RequestCase {
                                host,
                                origin,
                                token: (authorization, *status),
                                method,
                                size,
                                era,
                            };
                            send_request(&served, client, &one, &name);
                            if method == "POST" && one.wanted().0 == 200 {
                                expected.insert(name);
                            }
                        }
                    }
                }
            }
        }
    }
    assert_eq!(knocks, 7 * 5 * 10 * 2 * (3 + 5));
    assert_eq!(expected.len(), 2 * 2 * 2 * 2 * 2, "the control: these were let in");
    assert_eq!(files(root.path()), expected);
}

/// A server that was told no more than its address lets in the pages of the machine itself.
#[test]
fn a_server_without_a_configuration_is_called_by_its_own_machine_only() {
    let root = tempfile::tempdir().unwrap();
    let served = ServerProcess::start(root.path(), &[]);
    let authorization = format!("Bearer {TOKEN}");
    for (host, origin, status) in [
        ("localhost", "http://localhost:3000", 200),
        ("127.0.0.1:8137", "http://127.0.0.1:8137", 200),
        ("[::1]", "http://[::1]", 200),
        ("localhost", "https://localhost", 403),
        ("localhost", "http://evil.example", 403),
        ("localhost", "null", 403),
        ("evil.example", "http://localhost:3000", 403),
        ("127.0.0.2", "http://localhost:3000", 403),
    ] {
        let mut raw = served.connect();
        raw.send(head(
            "GET",
            "/metrics",
            &[("Host", host), ("Origin", origin), ("Authorization", &authorization)],
        ));
        assert_eq!(raw.response().unwrap().status, status, "{host} {origin}");
    }
}

#[test]
fn other_paths_are_not_found_and_health_needs_no_token() {
    let root = tempfile::tempdir().unwrap();
    let served = ServerProcess::start(root.path(), &[]);
    let send = |request: String| {
        let mut raw = Raw::to(served.address);
        raw.send(request);
        raw.response().unwrap()
    };
    for path in [
        "/",
        "/mcp/",
        "/MCP",
        "/mcp/../metrics",
        "/.well-known/oauth-protected-resource",
        "//mcp",
        "/healthz/",
    ] {
        assert_eq!(send(head("GET", path, &[("Host", "localhost")])).status, 404, "{path}");
    }
    for path in ["/healthz", "/readyz"] {
        let response = send(head("GET", path, &[("Host", "10.0.0.7")]));
        assert_eq!((response.status, response.body.len() < 8), (200, true), "{path}");
        assert_eq!(
            send(head("POST", path, &[("Host", "localhost"), ("Content-Length", "0")])).status,
            405,
            "{path}"
        );
        let page = send(head("GET", path, &[("Host", "localhost"), ("Origin", "https://evil.example")]));
        assert_eq!(page.header("access-control-allow-origin"), "", "{path}");
    }
    assert_eq!(send(head("GET", "/healthz?token=x", &[])).status, 200, "whoever asks may leave out Host");
    let named = head("GET", "http://evil.example/metrics", &[("Host", "localhost")]);
    assert_eq!(send(named).status, 403, "a host in the request line counts, too");
    assert_eq!(send("GET /healthz HTTP/1.1\r\nHost: a\r\nbad header\r\n\r\n".to_owned()).status, 400);
    assert_eq!(send(head("GET", "/healthz", &[("Host", "a"), ("X", &"x".repeat(100_000))])).status, 431);
}
