//! What is shipped beside the program names what the program has.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use crate::suite::wire::lockgate;

fn shipped(path: &str) -> String {
    fs::read_to_string(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

/// What `--help` says of a command.
fn help(commands: &[&str]) -> String {
    let home = tempfile::tempdir().unwrap();
    let out = lockgate(home.path()).args(commands).arg("--help").output().unwrap();
    assert!(out.status.success(), "there is no command {commands:?}");
    String::from_utf8(out.stdout).unwrap()
}

/// Refuses a line that calls a command or a flag that is not there.
#[track_caller]
fn check(words: &[&str]) {
    let names = |word: &&&str| word.chars().all(|letter| letter.is_ascii_lowercase());
    let mut commands: Vec<&str> = words.iter().take_while(names).copied().collect();
    // What is left of them may be the first argument.
    let home = tempfile::tempdir().unwrap();
    let is_command = |commands: &[&str]| {
        lockgate(home.path()).args(commands).arg("--help").output().unwrap().status.success()
    };
    while !is_command(&commands) {
        assert!(commands.pop().is_some_and(|_| !commands.is_empty()), "{words:?} is no command");
    }
    let help = help(&commands);
    for flag in words.iter().filter(|word| word.starts_with("--")) {
        let is_known = help.split([' ', ',', '\n', '=']).any(|word| word == *flag);
        assert!(is_known, "{commands:?} has no {flag}");
    }
}

/// True if a variable of that name is read anywhere.
fn is_read(variable: &str) -> bool {
    let home = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let mut folders = vec![home.join("src"), home.join("crates")];
    let quoted = format!("\"{variable}\"");
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
            } else if fs::read_to_string(&path).is_ok_and(|text| text.contains(&quoted)) {
                return true;
            }
        }
    }
    false
}

/// The words of a text that begin so, as far as they are names of variables.
fn variables<'a>(text: &'a str, beginning: &str) -> Vec<&'a str> {
    let parts = text.split(|part: char| !(part.is_ascii_uppercase() || part == '_'));
    parts.filter(|word| word.starts_with(beginning) && word.len() > beginning.len()).collect()
}

#[test]
fn the_unit_and_the_image_start_what_there_is() {
    let (unit, image) = (shipped("packaging/lockgate.service"), shipped("packaging/Containerfile"));
    let start =
        unit.lines().find_map(|line| line.strip_prefix("ExecStart=/usr/local/bin/lockgate ")).unwrap();
    let entry = image.lines().find_map(|line| line.strip_prefix("ENTRYPOINT ")).unwrap();
    let entry: Vec<String> = serde_json::from_str(entry).unwrap();
    let words: Vec<&str> = start.split(' ').collect();
    assert_eq!(entry.first().map(String::as_str), Some("lockgate"));
    assert_eq!(entry.iter().skip(1).map(String::as_str).collect::<Vec<_>>(), words, "both start the same");
    check(&words);
    for text in [&unit, &image, &shipped("docs/serving.md")] {
        for variable in variables(text, "LOCKGATE_").into_iter().chain(variables(text, "XDG_")) {
            assert!(is_read(variable), "nothing reads {variable}");
        }
    }
    assert!(!is_read("LOCKGATE_NOTHING"), "the control");
}

#[test]
fn the_image_is_pinned_and_runs_as_nobody_s_root() {
    let image = shipped("packaging/Containerfile");
    let of = |word: &str| -> Vec<&str> { image.lines().filter_map(|line| line.strip_prefix(word)).collect() };
    let arguments = of("ARG ");
    for from in of("FROM ") {
        let name = from.trim_start_matches("${").split('}').next().unwrap();
        let base =
            arguments.iter().find_map(|argument| argument.strip_prefix(name)?.strip_prefix('=')).unwrap();
        let (image, tag) = base.split_once(':').unwrap();
        assert!(!image.contains(['.', '/']), "{base} names a host");
        assert!(
            tag.starts_with(|first: char| first.is_ascii_digit()) && tag.contains('.'),
            "{base} is not pinned"
        );
    }
    let rust = arguments.iter().find_map(|argument| argument.strip_prefix("RUST=rust:")).unwrap();
    let manifest = shipped("Cargo.toml");
    let least = manifest.lines().find_map(|line| line.strip_prefix("rust-version = ")).unwrap();
    assert!(rust.starts_with(least.trim_matches('"')), "{rust} is not the Rust {least} of Cargo.toml");
    let [user] = of("USER ")[..] else { panic!("one user") };
    let (user, group) = user.split_once(':').unwrap();
    assert!([user, group].iter().all(|id| id.parse::<u32>().unwrap() > 999), "{user}:{group}");
    assert_eq!(of("EXPOSE "), [lockgate_policy::Serving::PORT.to_string()]);
}

#[test]
fn the_unit_is_one_that_systemd_takes() {
    let unit = shipped("packaging/lockgate.service");
    let settings: Vec<&str> =
        unit.lines().filter(|line| !line.is_empty() && !line.starts_with(['#', '['])).collect();
    for line in &settings {
        let (name, _) = line.split_once('=').unwrap_or_else(|| panic!("{line} sets nothing"));
        assert!(name.chars().all(|letter| letter.is_ascii_alphanumeric()), "{line}");
    }
    for required in ["NoNewPrivileges=yes", "ProtectSystem=strict", "CapabilityBoundingSet=", "User=lockgate"]
    {
        assert!(settings.contains(&required), "{required}");
    }
    // bubblewrap could not work.
    for left in
        ["RestrictNamespaces", "ProtectProc", "ProtectKernelTunables", "ProtectKernelLogs", "PrivateUsers"]
    {
        assert!(settings.iter().all(|line| !line.starts_with(left)), "{left}");
    }
    let folder = tempfile::tempdir().unwrap();
    let unit_path = folder.path().join("lockgate.service");
    fs::write(&unit_path, unit.replace("/usr/local/bin/lockgate", env!("CARGO_BIN_EXE_lockgate"))).unwrap();
    let Ok(out) = Command::new("systemd-analyze").args(["verify", "--man=no"]).arg(&unit_path).output()
    else {
        return;
    };
    assert!(out.status.success() && out.stderr.is_empty(), "{}", String::from_utf8_lossy(&out.stderr));
}

#[test]
fn the_commands_of_the_page_are_there() {
    let page = shipped("docs/serving.md");
    let blocks = page.split("```sh\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    let mut count = 0;
    for line in blocks.flat_map(str::lines).filter_map(|line| line.strip_prefix("lockgate ")) {
        let line = line.split(" #").next().unwrap();
        check(&line.split_whitespace().collect::<Vec<_>>());
        count += 1;
    }
    assert!(count >= 8, "{count} commands");
}

/// The hooks that `lockgate init` writes for a client.
fn init_hooks(client: &str, file: &str) -> Value {
    let (home, project) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut init = lockgate(home.path());
    let out =
        init.args(["init", "--client", client, "--hooks"]).current_dir(project.path()).output().unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let written: Value = serde_json::from_slice(&fs::read(project.path().join(file)).unwrap()).unwrap();
    written["hooks"].clone()
}

/// The events of hooks, each with its matcher and timeout.
fn guarded(hooks: &Value) -> Vec<(String, Value, Value)> {
    let events = hooks.as_object().unwrap().iter();
    let guarded: Vec<_> = events
        .map(|(event, groups)| {
            let [group] = groups.as_array().unwrap().as_slice() else { panic!("{groups}") };
            let [hook] = group["hooks"].as_array().unwrap().as_slice() else { panic!("{group}") };
            (event.clone(), group["matcher"].clone(), hook["timeout"].clone())
        })
        .collect();
    assert!(guarded.len() >= 2, "{hooks}");
    guarded
}

#[test]
fn the_page_of_hosts_shows_the_hooks_of_init() {
    let page = shipped("docs/hosts.md");
    let block = page.split("```json\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let shown: Value = serde_json::from_str(block).unwrap();
    assert_eq!(shown["hooks"], init_hooks("claude", ".claude/settings.json"));
}

#[test]
fn the_plugins_have_the_hooks_of_init_and_start_what_there_is() {
    let json = |path: &str| -> Value { serde_json::from_str(&shipped(path)).unwrap() };
    for (client, file, hooks, servers) in [
        (
            "claude",
            ".claude/settings.json",
            "packaging/claude-code/lockgate/hooks/hooks.json",
            "packaging/claude-code/lockgate/.mcp.json",
        ),
        (
            "gemini",
            ".gemini/settings.json",
            "packaging/gemini/hooks/hooks.json",
            "packaging/gemini/gemini-extension.json",
        ),
    ] {
        assert_eq!(guarded(&json(hooks)["hooks"]), guarded(&init_hooks(client, file)), "{client}");
        let server = &json(servers)["mcpServers"]["lockgate"];
        assert_eq!(server["command"], "lockgate");
        let words: Vec<&str> = server["args"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        check(&words);
    }
    for manifest in [
        "packaging/claude-code/lockgate/.claude-plugin/plugin.json",
        "packaging/gemini/gemini-extension.json",
    ] {
        assert_eq!(json(manifest)["version"], env!("CARGO_PKG_VERSION"), "{manifest}");
    }
    let market = json("packaging/claude-code/.claude-plugin/marketplace.json");
    let source = market["plugins"][0]["source"].as_str().unwrap();
    let folder = source.strip_prefix("./").unwrap();
    assert_eq!(
        json(&format!("packaging/claude-code/{folder}/.claude-plugin/plugin.json"))["name"],
        "lockgate"
    );
}
