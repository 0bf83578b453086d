//! Paths that no edit may reach, under every spelling.

use serde_json::json;

use super::fixture::Fixture;

/// Spellings of what may not be written, for file systems that fold case, width, dots and marks.
const PROTECTED: &[&str] = &[
    ".git/config",
    ".git/hooks/pre-commit",
    ".git/HEAD",
    ".git/objects/aa/bb",
    ".git/new",
    "folder/.git/config",
    ".GIT/config",
    ".Git/hooks/x",
    ".gIt/x",
    "./.git/config",
    "folder/../.git/config",
    ".git//hooks//x",
    ".git/./x",
    ".git/../.git/x",
    ".git./config",
    ".git /config",
    ".git. ./config",
    ".g\u{200c}it/config",
    ".g\u{200d}it/config",
    ".\u{feff}git/config",
    ".gi\u{ad}t/x",
    "\u{ff0e}git/config",
    ".\u{ff47}\u{ff49}\u{ff54}/config",
    ".g\u{131}t/x",
    "GIT~1/config",
    "git~1/hooks/x",
    ".git::$INDEX_ALLOCATION/config",
    ".git\\config",
    "folder\\.git\\config",
    "quality.yaml",
    "QUALITY.YAML",
    "Quality.Yaml",
    "folder/quality.yaml",
    ".st3/quality.yaml",
    ".lockgate/quality.yaml",
    ".lockgate/x",
    ".LOCKGATE/x",
    "quality.yaml.",
    "quality.yaml ",
    "\u{ff51}uality.yaml",
    "quality.yaml::$DATA",
    ".env",
    ".ENV",
    ".env.local",
    ".Env.production",
    "folder/.env",
    ".env.",
    ".e\u{200b}nv",
    "\u{ff0e}env",
    ".envrc",
    ".mcp.json",
    ".MCP.json",
    ".husky/pre-commit",
    ".claude/settings.json",
    ".cursor/mcp.json",
    ".codex/hooks.json",
    ".Codex/Config.toml",
    ".github/hooks/lockgate.json",
    ".windsurf/hooks.json",
    ".clinerules/hooks/PreToolUse",
    ".opencode/plugin/a.ts",
    ".opencode/Plugins/lockgate.js",
    ".factory/hooks.json",
    ".agents/hooks.json",
    ".vscode/settings.json",
    ".VSCode/Tasks.json",
    ".vscode/launch.json",
    ".vscode/mcp.json",
    "key.pem",
    "KEY.PEM",
    "folder/key.pem",
    "tls.key",
    "tls.KEY",
    "cert.p12",
    "id_rsa",
    "id_rsa.bak",
    "ID_RSA",
    ".ssh/authorized_keys",
    "folder/.ssh/config",
    ".SSH/config",
    "id_ed25519",
    "ID_ECDSA_sk",
    "folder/id_dsa",
    ".netrc",
    "_netrc",
    ".npmrc",
    "folder/.NPMRC",
    ".pypirc",
    ".pgpass",
    ".git-credentials",
    "GIT-CR~1",
    ".aws/credentials",
    ".Kube/config",
    ".docker/config.json",
    "sign.pfx",
    "store.JKS",
    "release.keystore",
    ".env.example.local",
];

#[test]
fn protected_paths_under_every_spelling() {
    let mut fixture = Fixture::new();
    assert!(PROTECTED.len() >= 40);
    for path in PROTECTED {
        fixture.refuse_path(path, &["PROTECTED"]);
        fixture.refuse_path(&format!("{}/{path}", fixture.root.display()), &["PROTECTED"]);
    }
    fixture.good_edit("all spellings");
}

/// The control: what only looks like a secret is written by the same calls.
#[test]
fn templates_of_environments_are_written_and_read() {
    let mut fixture = Fixture::new();
    for path in [".env.example", "folder/.env.sample", ".env.template", ".ENV.EXAMPLE"] {
        let written = fixture.server.call("safe_edit_file", &json!({"path": path, "content": "KEY=\n"}));
        assert_eq!(written.status(), "written", "{path}: {}", written.structured);
        let read = fixture.server.call("get_content", &json!({"path": path}));
        assert!(!read.is_error && read.text.contains("KEY="), "{path}: {}", read.text);
        let found = fixture.server.call("search_content", &json!({"pattern": "KEY=", "path": path}));
        assert!(!found.is_error, "{path}: {}", found.text);
    }
    let edit = fixture
        .server
        .call("safe_edit_file", &json!({"path": ".env.example", "search": "KEY", "replace": "NAME"}));
    let response = fixture.server.call("undo_edit", &json!({"edit_id": edit.structured["edit_id"]}));
    assert!(!response.is_error, "{}", response.text);
}
