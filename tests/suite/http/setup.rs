//! What a server is told before it listens, and what it keeps for itself.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use serde_json::json;

use super::raw::{ERAS, ProtocolEra, Raw, head, page};
use super::server_process::{ServerProcess, TOKEN, entry, written};
use crate::suite::wire::{lockgate, run_for};

#[test]
fn a_token_is_created_for_the_user_alone_and_reused() {
    let (root, home) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let file = home.path().join("state/lockgate/secrets/http-token");
    let mut tokens = Vec::new();
    for _ in 0..2 {
        let mut command = lockgate(home.path());
        command
            .args(["serve", "--http", "127.0.0.1:0", "--root"])
            .arg(root.path())
            .env_remove("LOCKGATE_TOKEN");
        let served = ServerProcess::by(command, tempfile::tempdir().unwrap());
        let token = std::fs::read_to_string(&file).unwrap().trim_end().to_owned();
        assert_eq!(file.metadata().unwrap().mode() & 0o7777, 0o600);
        assert!(served.log_text().contains(file.to_str().unwrap()), "{}", served.log_text());
        assert!(!served.log_text().contains(&token), "the token itself is told");
        assert_eq!(page(served.address, "/metrics", Some(&token)).status, 200);
        assert_eq!(page(served.address, "/metrics", Some(TOKEN)).status, 401);
        tokens.push(token);
    }
    assert_eq!(tokens[0], tokens[1]);
    assert_eq!(tokens[0].len(), "lockgate_".len() + 64);
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    let outcome = run_for(home.path(), &["serve", "--http", "127.0.0.1:0"], root.path(), "");
    assert_eq!(outcome.exit, 4, "{}", outcome.stderr);
    assert!(
        outcome.stderr.contains("may be read by others") && !outcome.stderr.contains(&tokens[0]),
        "{}",
        outcome.stderr
    );
}

#[track_caller]
fn assert_refused(home: &Path, root: &Path, arguments: &[&str], exit: i32, message: &str) {
    let outcome = run_for(home, arguments, root, "");
    assert_eq!(outcome.exit, exit, "{arguments:?}: {}", outcome.stderr);
    assert!(outcome.stderr.contains(message), "{arguments:?}: {}", outcome.stderr);
}

#[test]
fn invalid_addresses_and_tokens_are_refused() {
    let (root, home) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    for address in ["0.0.0.0:0", "[::]:0"] {
        assert_refused(home.path(), root.path(), &["serve", "--http", address], 2, "wildcard address");
    }
    for address in ["localhost:0", "8137", "127.0.0.1", "evil"] {
        assert_refused(home.path(), root.path(), &["serve", "--http", address], 2, "--http");
    }
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    assert_refused(home.path(), root.path(), &["serve", "--http", &address], 70, "cannot listen on");
    let mut command = lockgate(home.path());
    let out = command
        .args(["serve", "--http", "127.0.0.1:0"])
        .current_dir(root.path())
        .env("LOCKGATE_TOKEN", "short");
    let out = out.output().unwrap();
    let stderr = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(
        out.status.code() == Some(2) && stderr.contains("LOCKGATE_TOKEN") && !stderr.contains("short "),
        "{stderr}"
    );
}

#[test]
fn invalid_configurations_are_refused() {
    let (root, home) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let shared = format!("roots: [{}]", root.path().display());
    let token = format!("tokens:\n{}", entry("alice", TOKEN, &shared));
    let config = |text: &str| written(home.path(), text).display().to_string();
    for (text, exit, message) in [
        ("tokens: []".to_owned(), 2, "`tokens` is empty"),
        (format!("{token}lissen: 'x'\n"), 2, "serve.yaml:3:1: unknown key `lissen`"),
        (format!("{token}listen: 0.0.0.0:0\n"), 2, "serve.yaml:3:9: other machines can reach this address"),
        (token.replace("roots:", "organization: '', roots:"), 2, "`organization` must have 1 to 128 bytes"),
        (
            token.replace(root.path().to_str().unwrap(), "/no/such/folder"),
            2,
            "the root /no/such/folder does not exist",
        ),
        (token.replace(root.path().to_str().unwrap(), "/"), 2, "root"),
    ] {
        assert_refused(home.path(), root.path(), &["serve", "--config", &config(&text)], exit, message);
    }
    let file = config(&token);
    for more in [["--root", "."], ["--tools", "all"], ["--http", "127.0.0.1:0"]] {
        assert_refused(
            home.path(),
            root.path(),
            &["serve", "--config", &file, more[0], more[1]],
            2,
            "cannot be used with",
        );
    }
    assert_refused(home.path(), root.path(), &["serve", "--config", "none.yaml"], 2, "cannot read none.yaml");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o662)).unwrap();
    assert_refused(home.path(), root.path(), &["serve", "--config", &file], 4, "may be written by others");
    let inside = written(root.path(), &token);
    assert_refused(
        home.path(),
        root.path(),
        &["serve", "--config", inside.to_str().unwrap()],
        2,
        "inside the root",
    );
    let above = Path::new("..").join(inside.strip_prefix(root.path().parent().unwrap()).unwrap());
    let arguments = ["serve", "--config", above.to_str().unwrap()];
    assert_refused(home.path(), root.path(), &arguments, 2, "inside the root");
    std::os::unix::fs::symlink(&inside, home.path().join("link.yaml")).unwrap();
    let link = home.path().join("link.yaml");
    assert_refused(
        home.path(),
        root.path(),
        &["serve", "--config", link.to_str().unwrap()],
        2,
        "inside the root",
    );
}

#[test]
fn a_new_token_is_printed_with_its_configuration_entry() {
    let (root, home) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let output = run_for(home.path(), &["serve", "token", "carol"], root.path(), "");
    assert_eq!(output.exit, 0, "{}", output.stderr);
    let token = output.stderr.trim_end().rsplit(' ').next().unwrap().to_owned();
    assert_eq!(token.len(), "lockgate_".len() + 64);
    assert!(!output.stdout.contains(&token), "{}", output.stdout);
    let entry = output.stdout.replace("/path/to/a/project", root.path().to_str().unwrap());
    let served = ServerProcess::configured(&format!("tokens:\n{entry}"));
    let mut client = served.client(&token, ProtocolEra::New);
    assert_eq!(
        client.call("safe_edit_file", &json!({"path": "a.txt", "content": "a\n"}))["isError"],
        json!(false)
    );
    let mut command = lockgate(home.path());
    let existing = command.args(["serve", "token", "alice"]).env("LOCKGATE_TOKEN", TOKEN).output().unwrap();
    let existing = String::from_utf8(existing.stdout).unwrap();
    assert!(
        existing.contains(&blake3::hash(TOKEN.as_bytes()).to_hex().to_string()) && !existing.contains(TOKEN),
        "{existing}"
    );
    assert_refused(home.path(), root.path(), &["serve", "token", "a b"], 2, "a name has letters");
}

/// Neither those that are known nor those that were tried.
#[test]
fn no_log_line_holds_a_token() {
    let root = tempfile::tempdir().unwrap();
    let home = tempfile::tempdir().unwrap();
    let wrong = "a-token-that-was-only-tried";
    let mut command = lockgate(home.path());
    command.args(["serve", "--http", "127.0.0.1:0", "--tools", "all", "--root"]).arg(root.path());
    command.env("LOCKGATE_TOKEN", TOKEN).env("LOCKGATE_LOG", "trace");
    let mut served = ServerProcess::by(command, home);
    for era in ERAS {
        let mut client = served.client(TOKEN, era);
        client.call("safe_edit_file", &json!({"path": format!("{era:?}.txt"), "content": "a\n"}));
        client.call("safe_edit_file", &json!({"path": "../a.txt", "content": "a\n"}));
        client.ask("no/such/method", json!({}));
    }
    for (token, host) in [(wrong, "localhost"), (wrong, "evil.example"), (TOKEN, "evil.example")] {
        let mut raw = Raw::to(served.address);
        let authorization = format!("Bearer {token}");
        raw.send(head(
            "GET",
            "/mcp",
            &[("Host", host), ("Authorization", &authorization), ("Authorization", &authorization)],
        ));
        assert!(raw.response().unwrap().status >= 400);
        assert!(page(served.address, "/metrics", Some(wrong)).status == 401);
    }
    served.signal("TERM");
    assert_eq!(served.wait(), Some(0));
    let log = served.log_text();
    assert!(
        log.contains("a request was refused") && log.contains("TRACE"),
        "the control: it says what it does: {log:.300}"
    );
    for token in [TOKEN, wrong, &TOKEN[..16]] {
        assert!(!log.contains(token), "a log line holds a token");
    }
}

#[test]
fn metrics_count_calls_and_need_the_scraper_s_token() {
    let root = tempfile::tempdir().unwrap();
    let shared = format!("roots: [{}]", root.path().display());
    let tokens =
        entry("alice", TOKEN, &shared) + &entry("prometheus", "the-token-of-a-scraper-01", "metrics: true");
    let served = ServerProcess::configured(&format!("tokens:\n{tokens}"));
    let mut client = served.client(TOKEN, ProtocolEra::Old);
    let scraper = "the-token-of-a-scraper-01";
    client.call("safe_edit_file", &json!({"path": "a.py", "content": "x = 1\n"}));
    client.call("safe_edit_file", &json!({"path": "a.py", "search": "x = 1", "replace": "x = 2"}));
    client.call("safe_edit_file", &json!({"path": "a.py", "search": "y", "replace": "z"}));
    client.call("safe_edit_file", &json!({"path": "a.py", "content": "def f(:\n"}));
    let response = page(served.address, "/metrics", Some(scraper));
    assert_eq!(response.header("content-type").split(';').next(), Some("application/openmetrics-text"));
    let text = response.text();
    for line in [
        "lockgate_edits_total{tool=\"safe_edit_file\",status=\"written\"} 2",
        "lockgate_edits_total{tool=\"safe_edit_file\",status=\"refused\"} 1",
        "lockgate_edits_total{tool=\"safe_edit_file\",status=\"NO_MATCH\"} 1",
        "lockgate_calls_total{tool=\"safe_edit_file\",outcome=\"refused\"} 2",
        "lockgate_matches_total{tier=\"exact\"} 1",
        "lockgate_gate_runs_total{gate=\"syntax\",outcome=\"found\"} 1",
        "lockgate_gate_seconds_count{gate=\"syntax\"} 3",
        "lockgate_lock_wait_seconds_count 0",
        "lockgate_http_sessions 1",
        "# EOF",
    ] {
        assert!(text.lines().any(|row| row == line), "{line} is not in\n{text}");
    }
    assert!(!text.contains("a.py") && !text.contains("alice"), "{text}");
    for (token, status) in [(None, 401), (Some(TOKEN), 403), (Some("no-token-of-anybody-at-all"), 401)] {
        assert_eq!(page(served.address, "/metrics", token).status, status);
    }
    let mut raw = served.connect();
    let authorization = format!("Bearer {}", scraper);
    raw.send(head("GET", "/mcp", &[("Host", "localhost"), ("Authorization", &authorization)]));
    assert_eq!(raw.response().unwrap().status, 403, "who reads the metrics has no tools");
    let open = ServerProcess::configured(&format!("metrics: open\ntokens:\n{tokens}"));
    assert_eq!(page(open.address, "/metrics", None).status, 200);
}
