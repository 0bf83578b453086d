//! The configurations of the clients: said in once, left alone where they are not one's own, and refused where they are none.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::Value;

use super::fixture::Fixture;
use crate::suite::wire::lockgate;

#[test]
fn a_configuration_behind_a_link_is_left_alone() {
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("mcp.json"), "{}").unwrap();
    // Out of the root by the file, by its folder, and within the root.
    for (link, target) in [
        (".mcp.json", outside.path().join("mcp.json")),
        (".mcp.json", PathBuf::from("other.json")),
        (".mcp.json", PathBuf::from("nothing.json")),
        (".cursor", outside.path().to_owned()),
        (".cursor", PathBuf::from("folder")),
    ] {
        let fixture = Fixture::new(&[("other.json", "{}"), ("folder/mcp.json", "{}")]);
        symlink(&target, fixture.root().join(link)).unwrap();
        let client = if link == ".cursor" { "cursor" } else { "claude" };
        let code = if target.is_absolute() {
            "PATH_OUTSIDE_ROOT"
        } else if target.ends_with("nothing.json") {
            "FILE_NOT_FOUND"
        } else {
            "NOT_A_FILE"
        };
        fixture.refuses(&["--client", client], code);
    }
    assert_eq!(fs::read_to_string(outside.path().join("mcp.json")).unwrap(), "{}");
    // A second name of a file is no link that could be told from the first.
    let fixture = Fixture::new(&[("other.json", "{}")]);
    fs::hard_link(fixture.root().join("other.json"), fixture.root().join(".mcp.json")).unwrap();
    fixture.refuses(&["--client", "claude"], "PERMISSION_DENIED");
}

#[test]
fn the_folder_of_a_user_may_be_a_link_and_the_file_may_not() {
    let words = ["--client", "claude", "--hooks", "--user"];
    let fixture = Fixture::new(&[]);
    drop(fixture.command(&words));
    let home = fixture.folder.path().join("home");
    fs::create_dir(fixture.folder.path().join("dotfiles")).unwrap();
    symlink("../dotfiles", home.join(".claude")).unwrap();
    assert_eq!(fixture.init(&words).json["status"], "written");
    let settings = fixture.folder.path().join("dotfiles/settings.json");
    assert!(fs::read_to_string(&settings).unwrap().contains("lockgate hook"));
    fs::remove_file(home.join(".claude")).unwrap();
    fs::create_dir(home.join(".claude")).unwrap();
    symlink("../../dotfiles/settings.json", home.join(".claude/settings.json")).unwrap();
    let message = fixture.refuses(&words, "PATH_OUTSIDE_ROOT");
    assert!(
        message.ends_with(
            "/home/.claude/settings.json is a link, or behind one, which this command does not follow"
        ),
        "{message}"
    );
}

#[test]
fn a_server_or_a_hook_of_another_kind_is_replaced_only_with_force() {
    let bash = r#"{"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"lockgate hook","timeout":30},{"type":"command","command":"mine.sh"}]}]}}"#;
    for (words, path, before, expected) in [
        (
            &["--client", "claude", "--hooks"][..],
            ".claude/settings.json",
            bash,
            [r#""Bash","hooks":[{"type":"command","command":"mine.sh"}]"#, r#""matcher": "Edit|Write|"#],
        ),
        (
            &["--client", "claude"],
            ".mcp.json",
            r#"{"mcpServers": {"lockgate": {"type": "http", "url": "https://a.example"}}}"#,
            [r#"{"lockgate": {"#, r#""command": "lockgate", "args": ["serve""#],
        ),
        (
            &["--client", "opencode"],
            "opencode.json",
            r#"{"mcp": {"lockgate": {"type": "remote", "url": "https://a.example", "enabled": true}}}"#,
            [r#"{"type": "local", "enabled": true"#, r#""command": ["lockgate""#],
        ),
        (
            &["--client", "codex"],
            ".codex/config.toml",
            "[mcp_servers.lockgate]\ncommand = \"other\"\n",
            ["command = \"lockgate\"\n", "args = [\"serve\""],
        ),
    ] {
        let fixture = Fixture::new(&[(path, before)]);
        fixture.refuses(words, "EDIT_CONFLICT");
        let force = [words, &["--force"]].concat();
        assert_eq!(fixture.init(&force).json["status"], "written", "{words:?}");
        let text = fixture.text(path);
        assert!(expected.iter().all(|part| text.contains(part)) && !text.contains("url"), "{text}");
        assert_eq!(fixture.init(words).json["status"], "unchanged", "{text}");
        assert_eq!(fixture.init(&[words, &["--uninstall"]].concat()).json["status"], "written");
        assert_eq!(fixture.text(path), before);
    }
}

#[test]
fn an_invalid_configuration_is_refused_at_once() {
    let fixture = Fixture::new(&[]);
    assert!(Command::new("mkfifo").arg(fixture.root().join(".mcp.json")).status().unwrap().success());
    fixture.refuses(&["--client", "claude"], "NOT_A_FILE");
    Fixture::new(&[(".mcp.json/x", "")]).refuses(&["--client", "claude"], "NOT_A_FILE");
    let fixture = Fixture::new(&[]);
    fs::File::create(fixture.root().join(".mcp.json")).unwrap().set_len(50_000_000).unwrap();
    fixture.refuses(&["--client", "claude"], "TOO_LARGE");
    for (text, code, expected_message) in [
        (&b"{\"a\": \"\xff\"}"[..], "NOT_TEXT", "not UTF-8"),
        (b"\xff\xfe{\0}\0", "NOT_TEXT", "not UTF-8"),
        (b"\0\0\0", "INVALID_INPUT", ".mcp.json:1:1: "),
        (b"{\n  \"mcpServers\": [1]\n}", "INVALID_INPUT", ".mcp.json:2:17: `mcpServers` is not an object"),
        (b"{\"mcpServers\": null}", "INVALID_INPUT", "is not an object"),
        (b"{\"mcpServers\": {}, \"mcpServers\": {}}", "INVALID_INPUT", "occurs twice"),
        (b"{\"mcpServers\": {\"lockgate\": {}, \"lockgate\": {}}}", "INVALID_INPUT", "occurs twice"),
        (b"{\"mcpServers\": {\"lockgate\": 7}}", "INVALID_INPUT", "is not an object"),
        (b"[]", "INVALID_INPUT", "is not an object"),
        (b"{\"a\": 1} x", "INVALID_INPUT", ".mcp.json:1:10: "),
    ] {
        let fixture = Fixture::new(&[]);
        fixture.write(".mcp.json", text);
        let message = fixture.refuses(&["--client", "claude"], code);
        assert!(message.contains(expected_message), "{message}");
    }
    for open in ["[", "{\"a\":"] {
        let fixture = Fixture::new(&[]);
        fixture.write(".mcp.json", open.repeat(200_000));
        fixture.refuses(&["--client", "claude"], "INVALID_INPUT");
    }
    // The control: a large one that is right is written, with its own permissions.
    let fixture = Fixture::new(&[]);
    fixture.write(".mcp.json", format!("{{\"x\": [{}0]}}", "{},\n".repeat(100_000)));
    fs::set_permissions(fixture.root().join(".mcp.json"), fs::Permissions::from_mode(0o640)).unwrap();
    assert_eq!(fixture.init(&["--client", "claude"]).json["status"], "written");
    assert_eq!(fixture.root().join(".mcp.json").metadata().unwrap().permissions().mode() & 0o777, 0o640);
}

#[test]
fn every_client_s_file_says_the_same_after_a_second_time() {
    for client in ["claude", "vscode", "cursor", "zed", "gemini"] {
        let fixture = Fixture::new(&[]);
        assert_eq!(fixture.init(&["--client", client, "--print"]).json["status"], "proposed");
        assert!(fixture.tree().is_empty());
        let first = fixture.init(&["--client", client]);
        assert_eq!((first.exit, &first.json["status"]), (0, &Value::from("written")), "{client}");
        let tree = fixture.tree();
        assert_eq!(fixture.init(&["--client", client]).json["status"], "unchanged");
        assert_eq!(fixture.init(&["--client", client, "--force"]).json["status"], "unchanged");
        assert!(fixture.tree() == tree);
        // What is written starts the server, with the project's folder in the place of the client's word for it.
        let text = fixture.text(first.json["path"].as_str().unwrap());
        let file: Value = serde_json::from_str(&text).unwrap();
        let entry = file.as_object().unwrap().values().next().unwrap()["lockgate"].clone();
        assert_eq!(entry, first.json["entry"]);
        let root = fixture.root();
        let words = entry["args"].as_array().unwrap().iter().map(|word| word.as_str().unwrap());
        let words = words.map(|word| word.replace("${workspaceFolder}", root.to_str().unwrap()));
        let mut server = lockgate(fixture.folder.path());
        let output = server.args(words).current_dir(&root).stdin(Stdio::null()).output().unwrap();
        assert!(output.status.success(), "{client}: {}", String::from_utf8_lossy(&output.stderr));
    }
}
