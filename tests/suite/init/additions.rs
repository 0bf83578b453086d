//! Servers, hooks and excluded tools in realistic configurations: added once, and removed without a trace.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use serde_json::Value;

use super::fixture::Fixture;
use crate::suite::files::tree;

/// Realistic JSON configurations: 12 and more, with the habits of people and of editors.
const JSON: &[&str] = &[
    "{}",
    "{}\n",
    "",
    "{\n  \"model\": \"opus\"\n}\n",
    "{\r\n\t\"model\": \"opus\", // mine\r\n\t\"env\": {\"A\": \"1\"}\r\n}\r\n",
    "{\n  \"hooks\": {\n    \"PreToolUse\": [\n      {\n        \"matcher\": \"Bash\",\n        \"hooks\": [\n          { \"type\": \"command\", \"command\": \"./check.sh\" }\n        ]\n      }\n    ]\n  }\n}\n",
    "{\"hooks\":{\"PreToolUse\":[{\"hooks\":[]}],\"BeforeTool\":[{\"hooks\":[]}],\"preToolUse\":[{\"command\":\"a\"}]},\"a\":[1,2]}",
    "{\n    \"permissions\": {\n        \"allow\": [\"Bash(npm run test:*)\"],\n        \"deny\": [\"Read(.env)\", \"Read(secrets/**)\"]\n    },\n    \"tools\": {\"exclude\": [\"run_shell_command\"]},\n    \"includeCoAuthoredBy\": false\n}",
    "\u{feff}{\n    \"name\": \"größe 🙂\"\n}",
    "{\n  // none yet\n  \"hooks\": {\n    // here they go\n  },\n  /* servers */\n  \"mcpServers\": {},\n}\n",
    "{ \"a\":1 ,\"b\" : [ ] ,\n\n\n \"hooks\" : { } }\n\n",
    "{\n  \"statusLine\": {\"type\": \"command\", \"command\": \"~/.claude/line.sh\"},\n  \"hooks\": {\n    \"PostToolUse\": [{\"matcher\": \"Edit\", \"hooks\": [{\"type\": \"command\", \"command\": \"notlockgate hook\"}]}],\n    \"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"say done\"}]}]\n  },\n  \"mcpServers\": {\n    \"github\": {\"command\": \"npx\", \"args\": [\"-y\", \"server\"]}\n  }\n}\n",
    "{\n  \"mcp\": {\n    \"docs\": { \"type\": \"remote\", \"url\": \"https://example.invalid\" }\n  },\n  \"servers\": {},\n  \"permission\": { \"bash\": \"ask\" }\n}\n",
    "// settings\n{\n\t\"version\": 1,\n\t\"hooks\": {\n\t\t\"preToolUse\": [],\n\t\t\"pre_write_code\": [ { \"command\": \"python3 audit.py\", \"show_output\": false } ]\n\t}\n}\n",
];

/// Realistic TOML configurations.
const TOML: &[&str] = &[
    "",
    "\n",
    "model = \"gpt-5.5\"\n",
    "model = \"gpt-5.5\" # mine\napproval_policy = \"on-request\"",
    "# only a comment\n",
    "model = 'x'\r\n\r\n[tui]\r\nnotifications = true\r\n",
    "[mcp_servers.github]\ncommand = \"npx\"\nargs = [\"-y\", \"server\"]\n\n[mcp_servers.github.env]\nTOKEN = \"x\"\n",
    "[mcp_servers]\n# none yet\n",
    "mcp_servers.docs.command = \"docs\"\n",
    "[projects.\"/home/x/größe\"]\ntrust_level = \"trusted\"\n",
    "[[hooks.PreToolUse]]\nmatcher = \"Bash\"\n[[hooks.PreToolUse.hooks]]\ntype = \"command\"\ncommand = \"./check\"\n",
    "notify = [\n  \"python3\",\n  \"notify.py\", # with a comma\n]\n\n\n[profiles.fast]\nmodel_reasoning_effort = \"low\"\n\n\n",
    "text = '''\n[mcp_servers.lockgate]\n'''\n[shell_environment_policy]\ninherit = \"core\"\n",
];

/// The additions of each format, and the file that they change.
const JSON_ADDITIONS: &[(&[&str], &str)] = &[
    (&["--client", "claude", "--hooks"], ".claude/settings.json"),
    (&["--client", "claude", "--replace"], ".claude/settings.json"),
    (&["--client", "claude"], ".mcp.json"),
    (&["--client", "codex", "--hooks"], ".codex/hooks.json"),
    (&["--client", "gemini", "--hooks"], ".gemini/settings.json"),
    (&["--client", "gemini", "--replace"], ".gemini/settings.json"),
    (&["--client", "gemini"], ".gemini/settings.json"),
    (&["--client", "opencode"], "opencode.jsonc"),
    (&["--client", "opencode", "--replace"], "opencode.json"),
    (&["--client", "copilot"], ".github/mcp.json"),
    (&["--client", "vscode"], ".vscode/mcp.json"),
    (&["--client", "cursor", "--hooks"], ".cursor/hooks.json"),
    (&["--client", "windsurf", "--hooks"], ".windsurf/hooks.json"),
    (&["--client", "antigravity", "--hooks"], ".agents/hooks.json"),
    (&["--client", "zed"], ".zed/settings.json"),
];

/// Adds twice and removes twice: the second time changes nothing, and in the end all is as it was.
#[track_caller]
fn adds_and_removes(fixture: &Fixture, words: &[&str]) {
    let (print, uninstall) = ([words, &["--print"]].concat(), [words, &["--uninstall"]].concat());
    let before = fixture.tree();
    assert_eq!(fixture.init(&print).json["status"], "proposed", "{words:?}");
    assert!(fixture.tree() == before, "--print wrote: {words:?}");
    let first = fixture.init(words);
    assert_eq!(
        (first.exit, &first.json["status"]),
        (0, &Value::from("written")),
        "{words:?}: {}",
        first.json
    );
    let added = fixture.tree();
    assert!(added != before);
    assert_eq!(fixture.init(words).json["status"], "unchanged", "{words:?}");
    assert!(fixture.tree() == added, "the second time wrote: {words:?}");
    assert_eq!(fixture.init(&uninstall).json["status"], "written", "{words:?}");
    assert!(fixture.tree() == before, "{words:?} left {:?} of {before:?}", fixture.tree());
    assert_eq!(fixture.init(&uninstall).json["status"], "unchanged", "{words:?}");
    assert!(fixture.tree() == before);
}

#[test]
fn every_json_configuration_is_as_it_was_after_removing() {
    assert!(JSON.len() >= 12);
    for (words, path) in JSON_ADDITIONS {
        for text in JSON {
            let fixture = Fixture::new(&[(path, text)]);
            fs::set_permissions(fixture.root().join(path), fs::Permissions::from_mode(0o640)).unwrap();
            adds_and_removes(&fixture, words);
        }
        adds_and_removes(&Fixture::new(&[]), words);
    }
}

#[test]
fn every_toml_configuration_is_as_it_was_after_removing() {
    assert!(TOML.len() >= 12);
    for text in TOML {
        adds_and_removes(&Fixture::new(&[(".codex/config.toml", text)]), &["--client", "codex"]);
    }
    adds_and_removes(&Fixture::new(&[]), &["--client", "codex"]);
}

#[test]
fn the_events_of_the_hooks_are_those_that_the_documentation_lists() {
    let docs = include_str!("../../../docs/hosts.md");
    for (row, client, path) in [
        ("| Claude Code |", "claude", ".claude/settings.json"),
        ("| Codex CLI |", "codex", ".codex/hooks.json"),
        ("| Gemini CLI |", "gemini", ".gemini/settings.json"),
        ("| Copilot CLI,", "copilot", ".github/hooks/lockgate.json"),
        ("| Cursor |", "cursor", ".cursor/hooks.json"),
        ("| Windsurf |", "windsurf", ".windsurf/hooks.json"),
    ] {
        let row = docs.lines().find(|line| line.starts_with(row)).unwrap();
        let events = row.split('|').nth(3).unwrap().split(',');
        let documented: Vec<&str> = events.map(|event| event.trim().trim_matches('`')).collect();
        let fixture = Fixture::new(&[]);
        fixture.init(&["--client", client, "--hooks"]);
        let config: Value = serde_json::from_str(&fixture.text(path)).unwrap();
        let configured: Vec<&String> = config["hooks"].as_object().unwrap().keys().collect();
        assert_eq!(configured, documented, "{client}");
    }
}

#[test]
fn files_of_lockgate_s_own_leave_nothing_behind() {
    for client in ["opencode", "copilot", "vscode", "cline"] {
        let words = ["--client", client, "--hooks"];
        adds_and_removes(&Fixture::new(&[]), &words);
        let beside = [
            (".opencode/plugins/other.js", "export const X = 1\n"),
            (".github/hooks/other.json", "{}"),
            (".clinerules/hooks/TaskStart", "#!/bin/sh\n"),
        ];
        adds_and_removes(&Fixture::new(&beside), &words);
    }
    // A program must be executable.
    let fixture = Fixture::new(&[]);
    fixture.init(&["--client", "cline", "--hooks"]);
    let program = fixture.root().join(".clinerules/hooks/PreToolUse");
    assert_eq!(program.metadata().unwrap().permissions().mode() & 0o777, 0o755);
    // One that a person wrote is kept, and so is one that a person changed.
    let fixture = Fixture::new(&[(".clinerules/hooks/PreToolUse", "#!/bin/sh\nexit 0\n")]);
    fixture.refuses(&["--client", "cline", "--hooks"], "EDIT_CONFLICT");
    let fixture = Fixture::new(&[]);
    fixture.init(&["--client", "opencode", "--hooks"]);
    let plugin = fixture.text(".opencode/plugins/lockgate.js");
    fixture.write(".opencode/plugins/lockgate.js", plugin + "// mine\n");
    fixture.refuses(&["--client", "opencode", "--hooks", "--uninstall"], "EDIT_CONFLICT");
}

#[test]
fn what_a_person_changed_afterwards_stays() {
    for (words, path) in JSON_ADDITIONS {
        let fixture = Fixture::new(&[(path, "{\n  \"theirs\": 1\n}\n")]);
        fixture.init(words);
        let later = fixture.text(path).replace("\"theirs\": 1", "\"theirs\": 2, \"more\": 3");
        fixture.write(path, later);
        assert_eq!(fixture.init(&[words, &["--uninstall"][..]].concat()).json["status"], "written");
        let text = fixture.text(path);
        // The version of a file of hooks stays: other hooks need it.
        let text = text.replace(",\n  \"version\": 1", "");
        assert_eq!(text, "{\n  \"theirs\": 2, \"more\": 3\n}\n", "{words:?}");
    }
    let fixture = Fixture::new(&[(".codex/config.toml", "a = 1\n")]);
    fixture.init(&["--client", "codex"]);
    let later = format!("{}\n[tui]\nb = 2\n", fixture.text(".codex/config.toml"));
    fixture.write(".codex/config.toml", later);
    fixture.init(&["--client", "codex", "--uninstall"]);
    assert_eq!(fixture.text(".codex/config.toml"), "a = 1\n\n[tui]\nb = 2\n");
}

/// A person's own objects, lists and their elements stay, also if the file was changed after `init`.
#[test]
fn what_a_person_had_before_stays() {
    for (words, path, before) in [
        (&["--client", "claude", "--hooks"][..], ".claude/settings.json", "{\"a\": 1, \"hooks\": {}}"),
        (
            &["--client", "claude", "--hooks"],
            ".claude/settings.json",
            "{\"a\": 1, \"hooks\": {\"PreToolUse\": []}}",
        ),
        (
            &["--client", "claude", "--replace"],
            ".claude/settings.json",
            "{\"a\": 1, \"permissions\": {\"deny\": []}}",
        ),
        (
            &["--client", "claude", "--replace"],
            ".claude/settings.json",
            "{\"a\": 1, \"permissions\": {\"deny\": [\"Write\", \"Read(.env)\"]}}",
        ),
        (
            &["--client", "gemini", "--replace"],
            ".gemini/settings.json",
            "{\"a\": 1, \"tools\": {\"exclude\": [\"write_file\"]}}",
        ),
        (&["--client", "claude"], ".mcp.json", "{\"a\": 1, \"mcpServers\": {}}"),
        (&["--client", "opencode", "--replace"], "opencode.json", "{\"a\": 1, \"permission\": {}}"),
        // The control: here init makes all of it.
        (&["--client", "claude", "--hooks"], ".claude/settings.json", "{\"a\": 1}"),
        (&["--client", "claude"], ".mcp.json", "{\"a\": 1}"),
    ] {
        let fixture = Fixture::new(&[(path, before)]);
        fixture.init(words);
        fixture.write(path, fixture.text(path).replace("\"a\": 1", "\"a\": 2"));
        assert_eq!(fixture.init(&[words, &["--uninstall"][..]].concat()).json["status"], "written");
        let left: Value = serde_json::from_str(&fixture.text(path)).unwrap();
        let expected: Value = serde_json::from_str(&before.replace("\"a\": 1", "\"a\": 2")).unwrap();
        assert_eq!(left, expected, "{words:?}");
    }
}

/// Without a record nothing shows that `init` added an exclusion: it stays, and so does a file that has nothing else.
#[test]
fn an_exclusion_that_a_person_wrote_stays() {
    for (client, path, place) in [
        ("claude", ".claude/settings.json", "`permissions.deny`"),
        ("gemini", ".gemini/settings.json", "`tools.exclude`"),
        ("opencode", "opencode.json", "`permission.edit`"),
    ] {
        let words = ["--client", client, "--replace"];
        let uninstall = [&words[..], &["--uninstall"]].concat();
        // The text that `init` writes.
        let fixture = Fixture::new(&[]);
        fixture.init(&words);
        let fresh = fixture.text(path);
        for (text, init_first) in [(fresh.clone(), false), (fresh.clone(), true), (fresh + "\n", true)] {
            let fixture = Fixture::new(&[(path, &text)]);
            if init_first {
                assert_eq!(fixture.init(&words).json["status"], "unchanged", "{client}");
            }
            let before = fixture.tree();
            let left = fixture.init(&uninstall).json;
            assert_eq!(left["status"], "unchanged", "{left}");
            let note = left["notes"][0].as_str().unwrap_or_default();
            assert!(note.starts_with(&format!("{path} keeps \"")) && note.contains(place), "{left}");
            assert!(fixture.tree() == before, "{client}: {}", fixture.text(path));
        }
        // The control: without an exclusion there is nothing to name.
        assert_eq!(Fixture::new(&[(path, "{}")]).init(&uninstall).json["notes"], serde_json::json!([]));
    }
}

/// The folder of several files is removed with the last of them, whichever made it.
#[test]
fn a_folder_that_init_made_is_removed_with_its_last_file() {
    for (one, other) in [
        (&["--client", "cursor"][..], &["--client", "cursor", "--hooks"][..]),
        (&["--client", "codex"], &["--client", "codex", "--hooks"]),
        (&["--client", "antigravity"], &["--client", "antigravity", "--hooks"]),
        (&["--client", "copilot"], &["--client", "vscode", "--hooks"]),
        (&["--client", "cursor", "--user"], &["--client", "cursor", "--hooks", "--user"]),
        (&["--client", "opencode", "--user"], &["--client", "opencode", "--hooks", "--user"]),
        (&["--client", "antigravity", "--user"], &["--client", "gemini", "--user"]),
    ] {
        for (added, removed) in
            [([one, other], [one, other]), ([one, other], [other, one]), ([other, one], [other, one])]
        {
            let fixture = Fixture::new(&[]);
            drop(fixture.command(one));
            let user = || ["home", "config"].map(|name| tree(&fixture.folder.path().join(name)));
            let before = (fixture.tree(), user());
            for words in added {
                assert_eq!(fixture.init(words).json["status"], "written", "{words:?}");
            }
            for words in removed {
                let left = fixture.init(&[words, &["--uninstall"]].concat()).json;
                assert_eq!(left["status"], "written", "{words:?}");
            }
            assert!((fixture.tree(), user()) == before, "{added:?}, {removed:?}: {:?}", user());
        }
    }
    // The control: a folder that was there before stays, and so does one with a file of a person.
    for mine in [".cursor/", ".cursor/rules"] {
        let fixture = Fixture::new(&[]);
        let make = || match mine.strip_suffix('/') {
            Some(folder) => fs::create_dir(fixture.root().join(folder)).unwrap(),
            None => fixture.write(mine, ""),
        };
        let additions = [&["--client", "cursor"][..], &["--client", "cursor", "--hooks"]];
        if mine.ends_with('/') {
            make();
        }
        for words in additions {
            fixture.init(words);
        }
        if !mine.ends_with('/') {
            make();
        }
        for words in additions {
            fixture.init(&[words, &["--uninstall"]].concat());
        }
        assert!(fixture.root().join(mine).exists(), "{mine}");
    }
}

/// What is removed does not depend on the toolsets.
#[test]
fn a_server_is_removed_with_any_toolsets() {
    for tools in [&[][..], &["--tools", "edit"], &["--tools", "all"]] {
        let fixture = Fixture::new(&[]);
        fixture.init(&[&["--client", "claude"][..], tools].concat());
        let words = ["--client", "claude", "--tools", "edit", "--uninstall"];
        assert_eq!(fixture.init(&words).json["status"], "written", "{tools:?}");
        assert!(fixture.tree().is_empty(), "{tools:?}: {:?}", fixture.tree());
    }
}

/// A second call of `init` replaces its own server; removing goes back to what was before the first.
#[test]
fn a_server_that_was_added_twice_is_removed() {
    for (client, path, later) in
        [("claude", ".mcp.json", "\"a\": 2"), ("codex", ".codex/config.toml", "a = 2")]
    {
        let add = ["--client", client];
        let again = ["--client", client, "--tools", "all", "--force"];
        let uninstall = ["--client", client, "--uninstall"];
        let fixture = Fixture::new(&[]);
        let before = fixture.tree();
        fixture.init(&add);
        assert_eq!(fixture.init(&again).json["status"], "written", "{client}");
        assert_eq!(fixture.init(&uninstall).json["status"], "written", "{client}");
        assert!(fixture.tree() == before, "{client} left {:?}", fixture.tree());
        // The same if a person changes the file between the two.
        let old = later.replace('2', "1");
        let text = if client == "codex" { format!("{old}\n") } else { format!("{{{old}}}\n") };
        let fixture = Fixture::new(&[(path, &text)]);
        fixture.init(&add);
        fixture.write(path, fixture.text(path).replace(&old, later));
        assert_eq!(fixture.init(&again).json["status"], "written", "{client}");
        fixture.init(&uninstall);
        let left = fixture.text(path);
        assert!(left.contains(later) && !left.contains("lockgate"), "{client}: {left}");
    }
}

/// The text form says what became of the file.
#[test]
fn a_file_that_is_deleted_is_removed_in_the_text_form() {
    let text = |fixture: &Fixture, words: &[&str]| {
        let output = fixture.command(words).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let uninstall = ["--client", "claude", "--uninstall"];
    for (before, last_line) in [(None, "removed   .mcp.json"), (Some("{}\n"), "written   .mcp.json")] {
        let fixture = Fixture::new(&before.map_or_else(Vec::new, |before| vec![(".mcp.json", before)]));
        fixture.init(&["--client", "claude"]);
        let shown = text(&fixture, &[&uninstall[..], &["--print"]].concat());
        let verb = last_line.split(' ').next().unwrap();
        assert!(shown.contains(&format!("proposed  .mcp.json would be {verb}")), "{shown}");
        let shown = text(&fixture, &uninstall);
        assert_eq!(shown.lines().next_back(), Some(last_line), "{shown}");
        assert_eq!(fixture.root().join(".mcp.json").exists(), before.is_some());
    }
}

#[test]
fn comments_after_a_server_of_codex_stay() {
    let before = "model = \"x\"\n";
    let fixture = Fixture::new(&[(".codex/config.toml", before)]);
    fixture.init(&["--client", "codex"]);
    let later = "\n# my other server\n[mcp_servers.other]\ncommand = \"o\"\n\n# at the end\n";
    fixture.write(".codex/config.toml", fixture.text(".codex/config.toml") + later);
    assert_eq!(fixture.init(&["--client", "codex", "--uninstall"]).json["status"], "written");
    assert_eq!(fixture.text(".codex/config.toml"), format!("{before}{later}"));
}

#[test]
fn only_what_init_adds_is_removed() {
    for (words, path, text) in [
        (
            &["--client", "claude"][..],
            ".mcp.json",
            "{\"mcpServers\":{\"lockgate\":{\"command\":\"/opt/lockgate\",\"args\":[\"serve\"]}}}",
        ),
        (
            &["--client", "codex"],
            ".codex/config.toml",
            "[mcp_servers.lockgate]\ncommand = \"lockgate\"\nargs = [\"serve\"]\n",
        ),
        (
            &["--client", "antigravity", "--hooks"],
            ".agents/hooks.json",
            "{\"lockgate\":{\"PreToolUse\":[{\"hooks\":[{\"command\":\"other\"}]}]}}",
        ),
    ] {
        let fixture = Fixture::new(&[(path, text)]);
        let message = fixture.refuses(&[words, &["--uninstall"]].concat(), "EDIT_CONFLICT");
        assert!(message.starts_with(path), "{message}");
    }
    // An entry of `init` goes with the keys that a person added, and a note names them.
    for (client, path, key, added) in [
        ("claude", ".mcp.json", "\"command\"", "\"env\": {\"A\": \"b\"}, \"command\""),
        ("codex", ".codex/config.toml", "command", "env = { A = \"b\" }\ncommand"),
    ] {
        let fixture = Fixture::new(&[]);
        fixture.init(&["--client", client, "--tools", "all"]);
        fixture.write(path, fixture.text(path).replace(key, added));
        let removed = fixture.init(&["--client", client, "--uninstall"]).json;
        let note = "`lockgate` is removed with keys that init did not write: `env`";
        assert_eq!(
            (&removed["status"], &removed["notes"]),
            (&Value::from("written"), &Value::from(vec![note]))
        );
        assert!(!fixture.text(path).contains("lockgate"), "{}", fixture.text(path));
    }
}

#[test]
fn additions_to_one_file_are_removed_in_any_order() {
    const PATH: &str = ".gemini/settings.json";
    let additions: [&[&str]; 3] =
        [&["--client", "gemini"], &["--client", "gemini", "--hooks"], &["--client", "gemini", "--replace"]];
    let fixture_after = |before: &[(&str, &str)], order: [usize; 3]| {
        let fixture = Fixture::new(before);
        for words in additions {
            assert_eq!(fixture.init(words).json["status"], "written");
        }
        for at in order {
            assert_eq!(
                fixture.init(&[additions[at], &["--uninstall"][..]].concat()).json["status"],
                "written"
            );
        }
        fixture
    };
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let theme = "{\n  \"theme\": \"dark\"\n}\n";
        assert_eq!(fixture_after(&[(PATH, theme)], order).text(PATH), theme, "{order:?}");
        // A file of a person stays, also if it has nothing else.
        for before in ["{}\n", "{\n  \"hooks\": {}\n}\n"] {
            let left: Value =
                serde_json::from_str(&fixture_after(&[(PATH, before)], order).text(PATH)).unwrap();
            assert_eq!(left, serde_json::from_str::<Value>(before).unwrap(), "{order:?}");
        }
        // One that lockgate made goes, with its folder.
        let left = fixture_after(&[], order).tree();
        assert!(left.is_empty(), "{order:?}: {left:?}");
    }
}

#[test]
fn the_configuration_of_a_user_is_as_it_was_after_removing() {
    let clients = [
        "claude",
        "codex",
        "gemini",
        "opencode",
        "copilot",
        "vscode",
        "cursor",
        "cline",
        "windsurf",
        "antigravity",
    ];
    for client in clients {
        for addition in ["--hooks", "--user"] {
            // Claude Code keeps its servers in a file that it writes itself.
            if (client, addition) == ("claude", "--user") {
                continue;
            }
            let words = ["--client", client, "--user", addition];
            let words: &[&str] = if addition == "--user" { &words[..3] } else { &words };
            let fixture = Fixture::new(&[("a.py", "x = 1\n")]);
            let user = || ["home", "config"].map(|name| tree(&fixture.folder.path().join(name)));
            let (project, before) = (fixture.tree(), user());
            assert_eq!(fixture.init(words).json["status"], "written", "{words:?}");
            assert!(user() != before, "{words:?}");
            assert_eq!(fixture.init(words).json["status"], "unchanged", "{words:?}");
            assert_eq!(
                fixture.init(&[words, &["--uninstall"][..]].concat()).json["status"],
                "written",
                "{words:?}"
            );
            assert!(user() == before, "{words:?}: {:?}", user());
            assert!(fixture.tree() == project, "{words:?} changed the project");
        }
    }
}

#[test]
fn the_folders_of_a_user_that_init_made_are_removed() {
    for (words, folder) in [
        (&["--client", "claude", "--hooks"][..], ".claude"),
        (&["--client", "codex"], ".codex"),
        (&["--client", "antigravity"], ".gemini/config"),
        (&["--client", "cline"], ".cline/data/settings"),
        (&["--client", "cline", "--hooks"], "Documents/Cline"),
        (&["--client", "windsurf"], ".codeium/windsurf"),
    ] {
        let words = [words, &["--user"]].concat();
        let uninstall = [&words[..], &["--uninstall"]].concat();
        let top = folder.split('/').next().unwrap();
        // A folder that was there before stays, and so does one that has something else by then.
        for (before, after, expected) in [
            (None, None, None),
            (Some(folder), None, Some(folder)),
            (Some(top), None, Some(top)),
            (None, Some(folder), Some(folder)),
        ] {
            let fixture = Fixture::new(&[]);
            drop(fixture.command(&words));
            let home = fixture.folder.path().join("home");
            fs::create_dir_all(before.map_or(home.clone(), |folder| home.join(folder))).unwrap();
            assert_eq!(fixture.init(&words).json["status"], "written", "{words:?}");
            assert!(home.join(folder).is_dir());
            if let Some(folder) = after {
                fs::write(home.join(folder).join("mine"), "").unwrap();
            }
            assert_eq!(fixture.init(&uninstall).json["status"], "written", "{words:?}");
            let left = [folder, top].into_iter().find(|folder| home.join(folder).exists());
            assert_eq!(left, expected, "{words:?}");
        }
    }
}

#[test]
fn the_next_step_fits_the_scope() {
    let fixture = Fixture::new(&[]);
    let why = |words: &[&str]| fixture.init(words).json["next"][0]["why"].as_str().unwrap().to_owned();
    for client in ["codex", "gemini", "opencode", "copilot"] {
        let words = ["--client", client, "--print"];
        assert!(why(&words).contains(" in this folder"), "{client}");
        let of_user = why(&[&words[..], &["--user"]].concat());
        assert!(of_user.contains(" in the folder of a project"), "{of_user}");
    }
    for (words, step) in [
        (&["--client", "claude"][..], ", with `lockgate init --client claude`;"),
        (&["--client", "claude", "--user"], ": run `claude mcp add --scope user lockgate -- lockgate serve`"),
        (&["--client", "gemini", "--user"], ", with `lockgate init --client gemini --user`;"),
    ] {
        let excluded = why(&[words, &["--replace", "--print"]].concat());
        assert!(excluded.starts_with(&format!("add the server as well{step}")), "{excluded}");
    }
}

#[test]
fn the_diff_of_a_user_s_file_has_its_path_as_git_writes_it() {
    let fixture = Fixture::new(&[]);
    let written = fixture.init(&["--client", "codex", "--user"]).json;
    let path = written["path"].as_str().unwrap();
    let header = format!("+++ b{path}\n");
    assert!(path.starts_with('/') && written["diff"].as_str().unwrap().contains(&header), "{written}");
}

#[test]
fn hooks_that_stay_without_a_server_are_named() {
    for (client, user, path) in
        [("claude", "", ".claude/settings.json"), ("codex", " --user", "/.codex/hooks.json")]
    {
        let fixture = Fixture::new(&[]);
        let scope: Vec<&str> = user.split_whitespace().collect();
        let words = [&["--client", client][..], &scope[..]].concat();
        let uninstall = || fixture.init(&[&words[..], &["--uninstall"]].concat()).json;
        assert_eq!(uninstall()["notes"], serde_json::json!([]), "the control");
        fixture.init(&[&words[..], &["--hooks"]].concat());
        let before = fixture.tree();
        let left = uninstall();
        let note = left["notes"][0].as_str().unwrap_or_else(|| panic!("{left}"));
        let command = format!("`lockgate init --client {client}{user} --hooks --uninstall` removes them");
        assert!(note.contains(&format!("{path} has hooks of lockgate; {command}")), "{note}");
        assert_eq!(left["status"], "unchanged");
        assert!(fixture.tree() == before, "{client}");
        let removed = fixture.init(&[&words[..], &["--hooks", "--uninstall"]].concat()).json;
        assert_eq!(
            (&removed["status"], &removed["notes"]),
            (&Value::from("written"), &serde_json::json!([]))
        );
    }
}

#[test]
fn no_hook_is_written_through_a_link() {
    for (words, path) in JSON_ADDITIONS {
        let outside = tempfile::tempdir().unwrap();
        let target = outside.path().join("settings.json");
        fs::write(&target, "{}").unwrap();
        let fixture = Fixture::new(&[]);
        let link = fixture.root().join(path);
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        symlink(&target, &link).unwrap();
        fixture.refuses(words, "PATH_OUTSIDE_ROOT");
        assert_eq!(fs::read_to_string(&target).unwrap(), "{}");
    }
}

#[test]
fn a_client_without_such_a_file_is_refused_with_a_next_step() {
    for words in [
        &["--client", "zed", "--hooks"][..],
        &["--client", "cline"],
        &["--client", "windsurf"],
        &["--client", "cursor", "--replace"],
        &["--client", "claude", "--user"],
    ] {
        let fixture = Fixture::new(&[]);
        fixture.refuses(words, "INVALID_INPUT");
        assert!(fixture.init(words).json["hint"].as_str().is_some_and(|hint| !hint.is_empty()), "{words:?}");
    }
}
