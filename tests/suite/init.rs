//! `lockgate init`: what it proposes for projects of several languages, and what it does not let itself be talked into.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use lockgate::policy::{Level, Policy, Profile, Role, language_named};
use serde_json::Value;
use tempfile::TempDir;

use super::wire::lockgate;

/// A project, with a folder of programs that is all of the search path.
struct Scene {
    folder: TempDir,
}

/// What came of a command.
struct Seen {
    exit: i32,
    json: Value,
}

impl Scene {
    fn new(files: &[(&str, &str)]) -> Scene {
        let scene = Scene { folder: tempfile::tempdir().unwrap() };
        for folder in ["root", "bin"] {
            fs::create_dir(scene.folder.path().join(folder)).unwrap();
        }
        files.iter().for_each(|(path, text)| scene.write(path, text));
        scene
    }

    /// The same with programs of these names, which leave a mark when they are run.
    fn with_programs(files: &[(&str, &str)], programs: &[&str]) -> Scene {
        let scene = Scene::new(files);
        programs.iter().for_each(|name| scene.program(&scene.folder.path().join("bin").join(name)));
        scene
    }

    fn program(&self, path: &Path) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, format!("#!/bin/sh\necho run >> {}\n", self.mark().display())).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn mark(&self) -> PathBuf {
        self.folder.path().join("was_run")
    }

    fn root(&self) -> PathBuf {
        self.folder.path().join("root")
    }

    fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn text(&self, path: &str) -> String {
        fs::read_to_string(self.root().join(path)).unwrap()
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = lockgate(self.folder.path());
        command.env("PATH", self.folder.path().join("bin")).current_dir(self.root());
        command.arg("init").args(words).stdin(Stdio::null());
        command
    }

    #[track_caller]
    fn init(&self, words: &[&str]) -> Seen {
        let output = self.command(words).arg("--json").output().unwrap();
        let json = serde_json::from_slice(&output.stdout);
        let said = || String::from_utf8_lossy(&output.stderr).into_owned();
        Seen {
            exit: output.status.code().unwrap(),
            json: json.unwrap_or_else(|why| panic!("{why}: {}", said())),
        }
    }

    /// The policy that is written, which must be one.
    #[track_caller]
    fn policy(&self) -> Policy {
        let seen = self.init(&[]);
        assert_eq!((seen.exit, &seen.json["status"]), (0, &Value::from("written")), "{}", seen.json);
        assert!(!self.mark().exists(), "a program was run");
        let text = self.text("quality.yaml");
        assert_eq!(seen.json["text"], Value::from(text.clone()));
        Policy::parse("quality.yaml", &text).unwrap()
    }

    /// All that lies in the root, links and modes with it.
    fn tree(&self) -> Vec<(PathBuf, u32, Vec<u8>)> {
        let mut tree = Vec::new();
        let mut folders = vec![self.root()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
                let (path, kind) = (entry.path(), entry.file_type().unwrap());
                let bytes = if kind.is_file() { fs::read(&path).unwrap() } else { Vec::new() };
                if kind.is_dir() {
                    folders.push(path.clone());
                }
                tree.push((path, entry.metadata().unwrap().permissions().mode(), bytes));
            }
        }
        tree.sort();
        tree
    }

    /// A refusal that leaves everything as it was.
    #[track_caller]
    fn refuses(&self, words: &[&str], code: &str) -> String {
        let before = self.tree();
        let seen = self.init(words);
        assert_eq!(
            (&seen.json["status"], &seen.json["code"]),
            (&Value::from("refused"), &Value::from(code)),
            "{}",
            seen.json
        );
        assert_ne!(seen.exit, 0);
        assert!(self.tree() == before, "something was touched");
        seen.json["message"].as_str().unwrap().to_owned()
    }
}

/// The gates of a language in a policy, as `tool`, `tool fix` or `tool warn`.
fn gates(policy: &Policy, language: &str) -> Vec<String> {
    let rules = policy.rules_for(language_named(language)).into_iter();
    let own = rules.filter(|rule| !["damage", "syntax"].contains(&rule.gate.name.as_str()));
    own.map(|rule| {
        let fix = if rule.role == Role::Fix { " fix" } else { "" };
        let warn = if rule.level == Level::Warn { " warn" } else { "" };
        let slow = if rule.on.include(Profile::Edit) { "" } else { " check" };
        format!("{}{fix}{warn}{slow}", rule.gate.name)
    })
    .collect()
}

const POLYGLOT: [&str; 16] = [
    "ruff",
    "black",
    "mypy",
    "pyright",
    "gofmt",
    "go",
    "rustfmt",
    "cargo",
    "eslint",
    "prettier",
    "tsc",
    "shellcheck",
    "shfmt",
    "codespell",
    "markdownlint",
    "hadolint",
];

#[test]
fn tools_that_the_project_names_are_proposed_for_their_languages() {
    let scene = Scene::with_programs(
        &[
            ("pyproject.toml", "[tool.mypy]\n[dependency-groups]\ndev = [\"black>=26\"]\n"),
            ("app/a.py", "x = 1\n"),
            ("run", "#!/usr/bin/env python3\n"),
            ("web/package.json", "{\"devDependencies\": {\"prettier\": \"3\"}}\n"),
            ("web/.eslintrc.cjs", "module.exports = {};\n"),
            ("web/tsconfig.json", "{}\n"),
            ("web/a.ts", "export {};\n"),
            ("go.mod", "module m\n"),
            ("m.go", "package m\n"),
            ("Cargo.toml", "[package]\nname = \"m\"\n[lints.clippy]\nall = \"warn\"\n"),
            ("src/lib.rs", "\n"),
            ("README.md", "# A\n"),
            (".markdownlint.json", "{}\n"),
            (".pre-commit-config.yaml", "repos:\n  - hooks:\n      - id: codespell\n      - { id: x }\n"),
            ("bin/start.sh", "#!/bin/sh\n"),
            ("node_modules/x/a.css", "a {}\n"),
        ],
        &POLYGLOT,
    );
    let policy = scene.policy();
    for (language, wanted) in [
        ("python", &["black fix", "ruff", "mypy warn", "codespell"][..]),
        ("typescript", &["prettier fix", "eslint", "tsc warn", "codespell"]),
        ("go", &["gofmt fix", "go-vet warn", "codespell"]),
        ("rust", &["rustfmt fix", "clippy check", "cargo-check warn", "codespell"]),
        ("markdown", &["markdown-structure", "prettier fix", "markdownlint", "codespell"]),
        ("bash", &["shellcheck", "codespell"]),
        ("css", &["codespell"]),
        ("dockerfile", &["codespell"]),
    ] {
        assert_eq!(gates(&policy, language), wanted, "{language}");
    }
    let text = scene.text("quality.yaml");
    for said in [
        "  python:  # 2 files\n",
        "# pyproject.toml speaks of tool.mypy",
        "# web/package.json names the package prettier",
    ] {
        assert!(text.contains(said), "{said}: {text}");
    }
}

#[test]
fn a_tool_that_is_not_here_is_named_in_a_comment_only() {
    let files = [("a.py", "x = 1\n"), ("ruff.toml", "\n"), ("a.go", "package m\n"), (".golangci.yml", "\n")];
    let scene = Scene::with_programs(&files, &["gofmt"]);
    let policy = scene.policy();
    assert_eq!((gates(&policy, "python"), gates(&policy, "go")), (vec![], vec!["gofmt fix".to_owned()]));
    let text = scene.text("quality.yaml");
    assert!(
        text.contains("# python: ruff is not on this machine, though ruff.toml is there: pip install ruff\n"),
        "{text}"
    );
    assert!(
        text.contains(
            "    # golangci-lint is not on this machine, though .golangci.yml is there: go install "
        ),
        "{text}"
    );
}

#[test]
fn where_a_project_names_a_tool_no_other_one_is_proposed_for_the_same() {
    let scene = Scene::with_programs(&[("a.py", "x = 1\n")], &["ruff", "flake8", "pylint"]);
    assert_eq!(gates(&scene.policy(), "python"), ["ruff"]);
    let scene =
        Scene::with_programs(&[("a.py", "x = 1\n"), (".flake8", "\n")], &["ruff", "flake8", "pylint"]);
    assert_eq!(gates(&scene.policy(), "python"), ["flake8"]);
    // Not even where the one that is named is not here.
    let scene = Scene::with_programs(&[("a.py", "x = 1\n"), (".flake8", "\n")], &["ruff", "pylint"]);
    assert_eq!(gates(&scene.policy(), "python"), [""; 0]);
}

#[test]
fn a_project_s_own_programs_count_and_are_not_run() {
    let scene = Scene::new(&[
        ("a.py", "x = 1\n"),
        ("a.ts", "export {};\n"),
        ("eslint.config.js", "x\n"),
        (".gitignore", "node_modules\n.venv\n"),
    ]);
    for program in [".venv/bin/ruff", "node_modules/.bin/eslint", "bin/gofmt"] {
        scene.program(&scene.root().join(program));
    }
    let policy = scene.policy();
    assert_eq!(
        (gates(&policy, "python"), gates(&policy, "typescript")),
        (vec!["ruff".to_owned()], vec!["eslint".to_owned()])
    );
}

#[test]
fn names_of_files_cannot_say_anything_in_the_policy() {
    let folders = [
        "a\nquality_gates: {}\n#",
        "b\r!x",
        "c\u{2028}- d",
        "e\u{85}f: g",
        "\u{fffe}",
        "h\u{1b}[2J",
        "\u{202e}i",
        "*&%@`",
    ];
    for folder in folders {
        let scene = Scene::with_programs(&[("a.py", "x = 1\n")], &["ruff"]);
        scene.write(&format!("{folder}/ruff.toml"), "\n");
        let policy = scene.policy();
        assert_eq!(gates(&policy, "python"), ["ruff"], "{folder:?}");
        let text = scene.text("quality.yaml");
        assert_eq!(
            text.matches("quality_gates:").count() - text.matches("# a quality_gates:").count(),
            1,
            "{text}"
        );
    }
}

#[test]
fn what_git_passes_over_and_what_others_wrote_is_no_language_of_the_project() {
    let scene = Scene::new(&[
        ("a.py", "x = 1\n"),
        (".gitignore", "build/\n"),
        ("build/a.go", "package m\n"),
        ("node_modules/x.js", "\n"),
        ("venv/lib/x.c", "\n"),
        (".claude/x.css", "\n"),
        (".github/workflows/x.yml", "\n"),
    ]);
    symlink("/", scene.root().join("all")).unwrap();
    let seen = scene.init(&["--print"]);
    let names: Vec<&str> = seen.json["languages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|language| language["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["python", "yaml"]);
    assert!(!scene.root().join("quality.yaml").exists());
}

#[test]
fn a_policy_is_never_written_over_or_through_anything() {
    let secret = tempfile::tempdir().unwrap();
    let beside = secret.path().join("beside");
    fs::write(&beside, "secret\n").unwrap();
    for target in [beside.as_path(), Path::new("/nowhere"), Path::new("quality.yaml"), Path::new("other")] {
        let scene = Scene::new(&[("other", "mine\n")]);
        symlink(target, scene.root().join("quality.yaml")).unwrap();
        scene.refuses(&[], "FILE_EXISTS");
    }
    let scene = Scene::new(&[("quality.yaml/x", "\n")]);
    scene.refuses(&[], "FILE_EXISTS");
    let scene = Scene::new(&[]);
    assert!(Command::new("mkfifo").arg(scene.root().join("quality.yaml")).status().unwrap().success());
    scene.refuses(&[], "FILE_EXISTS");
    for path in [".st3/quality.yaml", ".lockgate/quality.yaml"] {
        Scene::new(&[(path, "")]).refuses(&[], "FILE_EXISTS");
    }
    assert_eq!(fs::read_to_string(beside).unwrap(), "secret\n");
}

#[test]
fn a_configuration_behind_a_link_is_left_alone() {
    let beside = tempfile::tempdir().unwrap();
    fs::write(beside.path().join("mcp.json"), "{}").unwrap();
    // Out of the root by the file, by its folder, and within the root.
    for (link, target) in [
        (".mcp.json", beside.path().join("mcp.json")),
        (".mcp.json", PathBuf::from("other.json")),
        (".mcp.json", PathBuf::from("nothing.json")),
        (".cursor", beside.path().to_owned()),
        (".cursor", PathBuf::from("folder")),
    ] {
        let scene = Scene::new(&[("other.json", "{}"), ("folder/mcp.json", "{}")]);
        symlink(&target, scene.root().join(link)).unwrap();
        let client = if link == ".cursor" { "cursor" } else { "claude" };
        let code = if target.is_absolute() {
            "PATH_OUTSIDE_ROOT"
        } else if target.ends_with("nothing.json") {
            "FILE_NOT_FOUND"
        } else {
            "NOT_A_FILE"
        };
        scene.refuses(&["--client", client], code);
    }
    assert_eq!(fs::read_to_string(beside.path().join("mcp.json")).unwrap(), "{}");
    // A second name of a file is no link that could be told from the first.
    let scene = Scene::new(&[("other.json", "{}")]);
    fs::hard_link(scene.root().join("other.json"), scene.root().join(".mcp.json")).unwrap();
    scene.refuses(&["--client", "claude"], "PERMISSION_DENIED");
}

#[test]
fn what_is_no_configuration_is_refused_at_once() {
    let scene = Scene::new(&[]);
    assert!(Command::new("mkfifo").arg(scene.root().join(".mcp.json")).status().unwrap().success());
    scene.refuses(&["--client", "claude"], "NOT_A_FILE");
    Scene::new(&[(".mcp.json/x", "")]).refuses(&["--client", "claude"], "NOT_A_FILE");
    let scene = Scene::new(&[]);
    fs::File::create(scene.root().join(".mcp.json")).unwrap().set_len(50_000_000).unwrap();
    scene.refuses(&["--client", "claude"], "TOO_LARGE");
    for (text, code, said) in [
        (&b"{\"a\": \"\xff\"}"[..], "NOT_TEXT", "not UTF-8"),
        (b"\xff\xfe{\0}\0", "NOT_TEXT", "not UTF-8"),
        (b"\0\0\0", "INVALID_INPUT", ".mcp.json:1:1: "),
        (b"{\n  \"mcpServers\": [1]\n}", "INVALID_INPUT", ".mcp.json:2:17: `mcpServers` is no object"),
        (b"{\"mcpServers\": null}", "INVALID_INPUT", "is no object"),
        (b"{\"mcpServers\": {}, \"mcpServers\": {}}", "INVALID_INPUT", "stands there twice"),
        (b"{\"mcpServers\": {\"lockgate\": {}, \"lockgate\": {}}}", "INVALID_INPUT", "stands there twice"),
        (b"{\"mcpServers\": {\"lockgate\": 7}}", "INVALID_INPUT", "is no object"),
        (b"[]", "INVALID_INPUT", "is no object"),
        (b"{\"a\": 1} x", "INVALID_INPUT", ".mcp.json:1:10: "),
    ] {
        let scene = Scene::new(&[]);
        scene.write(".mcp.json", text);
        let message = scene.refuses(&["--client", "claude"], code);
        assert!(message.contains(said), "{message}");
    }
    for open in ["[", "{\"a\":"] {
        let scene = Scene::new(&[]);
        scene.write(".mcp.json", open.repeat(200_000));
        scene.refuses(&["--client", "claude"], "INVALID_INPUT");
    }
    // The control: a large one that is right is written, with its own permissions.
    let scene = Scene::new(&[]);
    scene.write(".mcp.json", format!("{{\"x\": [{}0]}}", "{},\n".repeat(100_000)));
    fs::set_permissions(scene.root().join(".mcp.json"), fs::Permissions::from_mode(0o640)).unwrap();
    assert_eq!(scene.init(&["--client", "claude"]).json["status"], "written");
    assert_eq!(scene.root().join(".mcp.json").metadata().unwrap().permissions().mode() & 0o777, 0o640);
}

#[test]
fn every_client_s_file_says_the_same_after_a_second_time() {
    for client in ["claude", "vscode", "cursor", "zed", "gemini"] {
        let scene = Scene::new(&[]);
        assert_eq!(scene.init(&["--client", client, "--print"]).json["status"], "proposed");
        assert!(scene.tree().is_empty());
        let first = scene.init(&["--client", client]);
        assert_eq!((first.exit, &first.json["status"]), (0, &Value::from("written")), "{client}");
        let tree = scene.tree();
        assert_eq!(scene.init(&["--client", client]).json["status"], "unchanged");
        assert_eq!(scene.init(&["--client", client, "--force"]).json["status"], "unchanged");
        assert!(scene.tree() == tree);
        // What is written starts the server, with the project's folder in the place of the client's word for it.
        let text = scene.text(first.json["path"].as_str().unwrap());
        let file: Value = serde_json::from_str(&text).unwrap();
        let entry = file.as_object().unwrap().values().next().unwrap()["lockgate"].clone();
        assert_eq!(entry, first.json["entry"]);
        let root = scene.root();
        let words = entry["args"].as_array().unwrap().iter().map(|word| word.as_str().unwrap());
        let words = words.map(|word| word.replace("${workspaceFolder}", root.to_str().unwrap()));
        let mut server = lockgate(scene.folder.path());
        let output = server.args(words).current_dir(&root).stdin(Stdio::null()).output().unwrap();
        assert!(output.status.success(), "{client}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn the_home_and_a_folder_that_is_not_there_are_no_project() {
    let scene = Scene::new(&[]);
    let home = scene.folder.path().join("home");
    for root in [home.to_str().unwrap(), "/", "nowhere"] {
        for more in [&[][..], &["--client", "zed"]] {
            scene.refuses(&[&["--root", root], more].concat(), "INVALID_INPUT");
        }
    }
}
