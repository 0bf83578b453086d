//! `lockgate init`: what it proposes for projects of several languages, and what it does not let itself be talked into.

mod additions;
mod clients;
mod fixture;
mod trials;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use fixture::{Fixture, gates};

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
    let fixture = Fixture::with_programs(
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
    let policy = fixture.policy();
    for (language, expected) in [
        ("python", &["black fix", "ruff", "mypy warn", "codespell"][..]),
        ("typescript", &["prettier fix", "eslint", "tsc warn", "codespell"]),
        ("go", &["gofmt fix", "go-vet warn", "codespell"]),
        ("rust", &["rustfmt fix", "clippy check", "cargo-check warn", "codespell"]),
        ("markdown", &["markdown-structure", "prettier fix", "markdownlint", "codespell"]),
        ("bash", &["shellcheck", "codespell"]),
        ("css", &["codespell"]),
        ("dockerfile", &["codespell"]),
    ] {
        assert_eq!(gates(&policy, language), expected, "{language}");
    }
    let text = fixture.text("quality.yaml");
    for message in [
        "  python:  # 2 files\n",
        "# pyproject.toml mentions tool.mypy",
        "# web/package.json names the package prettier",
    ] {
        assert!(text.contains(message), "{message}: {text}");
    }
}

#[test]
fn a_tool_that_is_not_here_is_named_in_a_comment_only() {
    let files = [("a.py", "x = 1\n"), ("ruff.toml", "\n"), ("a.go", "package m\n"), (".golangci.yml", "\n")];
    let fixture = Fixture::with_programs(&files, &["gofmt"]);
    let policy = fixture.policy();
    assert_eq!((gates(&policy, "python"), gates(&policy, "go")), (vec![], vec!["gofmt fix".to_owned()]));
    let text = fixture.text("quality.yaml");
    assert!(
        text.contains("# python: not proposed: ruff: not on this machine, though ruff.toml is there; next: pip install ruff\n"),
        "{text}"
    );
    assert!(
        text.contains(
            "    # not proposed: golangci-lint: not on this machine, though .golangci.yml is there; next: go install "
        ),
        "{text}"
    );
}

#[test]
fn no_second_tool_is_proposed_for_the_purpose_of_a_named_one() {
    let fixture = Fixture::with_programs(&[("a.py", "x = 1\n")], &["ruff", "flake8", "pylint"]);
    assert_eq!(gates(&fixture.policy(), "python"), ["ruff"]);
    let fixture =
        Fixture::with_programs(&[("a.py", "x = 1\n"), (".flake8", "\n")], &["ruff", "flake8", "pylint"]);
    assert_eq!(gates(&fixture.policy(), "python"), ["flake8"]);
    // Not even where the one that is named is not here.
    let fixture = Fixture::with_programs(&[("a.py", "x = 1\n"), (".flake8", "\n")], &["ruff", "pylint"]);
    assert_eq!(gates(&fixture.policy(), "python"), [""; 0]);
}

/// Each with a control: the same tool by a sign that does show that the team uses it.
#[test]
fn unrelated_files_propose_no_tool() {
    let programs = ["ruff", "black", "prettier", "stylelint"];
    for (file, text, expected) in [
        ("pyproject.toml", "[dependency-groups]\ndev = [\"ruff>=0.5\"]\n", &["ruff"][..]),
        (
            "pyproject.toml",
            "[dependency-groups]\ndev = [\"ruff\"]\n[tool.ruff.format]\n",
            &["ruff-format fix", "ruff"],
        ),
        ("pyproject.toml", "# [tool.black]\n", &["ruff"]),
        ("pyproject.toml", "[tool.black]\n", &["black fix", "ruff"]),
        ("requirements-dev.txt", "# black\n", &["ruff"]),
        ("requirements-dev.txt", "black\n", &["black fix", "ruff"]),
        ("requirements_test.txt", "Black[d]>=2\n", &["black fix", "ruff"]),
        ("requirements/dev.txt", "black\n", &["black fix", "ruff"]),
        ("notes/dev.txt", "black\n", &["ruff"]),
        ("setup.cfg", "[options.extras_require]\ndev =\n    black-primer\n", &["ruff"]),
        ("setup.cfg", "[options.extras_require]\ndev =\n    black\n", &["black fix", "ruff"]),
        (".pre-commit-config.yaml", "repos: [{hooks: [{id: x, args: [black]}]}]\n", &["ruff"]),
        (".pre-commit-config.yaml", "repos:\n  - hooks: [{ id: black }]\n", &["black fix", "ruff"]),
        (".pre-commit-config.yaml", "repos:\n- hooks:\n  - {id: black}\n", &["black fix", "ruff"]),
        // An anchor is not within the limits of the parser.
        (".pre-commit-config.yaml", "repos:\n- hooks: &h\n  - id: black\n", &["black fix", "ruff"]),
    ] {
        let fixture = Fixture::with_programs(&[("a.py", "x = 1\n"), (file, text)], &programs);
        assert_eq!(gates(&fixture.policy(), "python"), expected, "{file}: {text}");
    }
    for (file, expected) in [
        (".prettierignore", &[][..]),
        (".stylelintignore", &[]),
        (".prettierrc", &["prettier fix"]),
        (".stylelintrc", &["stylelint"]),
    ] {
        let fixture = Fixture::with_programs(&[("a.css", "a {}\n"), (file, "*\n")], &programs);
        assert_eq!(gates(&fixture.policy(), "css"), expected, "{file}");
    }
}

#[test]
fn a_project_s_own_programs_count_and_are_not_run() {
    let fixture = Fixture::new(&[
        ("a.py", "x = 1\n"),
        ("a.ts", "export {};\n"),
        ("eslint.config.js", "x\n"),
        (".gitignore", "node_modules\n.venv\n"),
    ]);
    for program in [".venv/bin/ruff", "node_modules/.bin/eslint", "bin/gofmt"] {
        fixture.program(&fixture.root().join(program));
    }
    let policy = fixture.policy();
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
        let fixture = Fixture::with_programs(&[("a.py", "x = 1\n")], &["ruff"]);
        fixture.write(&format!("{folder}/ruff.toml"), "\n");
        let policy = fixture.policy();
        assert_eq!(gates(&policy, "python"), ["ruff"], "{folder:?}");
        let text = fixture.text("quality.yaml");
        assert_eq!(
            text.matches("quality_gates:").count() - text.matches("# a quality_gates:").count(),
            1,
            "{text}"
        );
    }
}

#[test]
fn ignored_and_vendored_files_are_no_language_of_the_project() {
    let fixture = Fixture::new(&[
        ("a.py", "x = 1\n"),
        (".gitignore", "build/\n"),
        ("build/a.go", "package m\n"),
        ("node_modules/x.js", "\n"),
        ("venv/lib/x.c", "\n"),
        (".claude/x.css", "\n"),
        (".github/workflows/x.yml", "\n"),
    ]);
    symlink("/", fixture.root().join("all")).unwrap();
    let output = fixture.init(&["--print"]);
    let names: Vec<&str> = output.json["languages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|language| language["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["python", "yaml"]);
    assert!(!fixture.root().join("quality.yaml").exists());
}

#[test]
fn a_policy_is_never_written_over_or_through_anything() {
    let secret = tempfile::tempdir().unwrap();
    let secret_file = secret.path().join("beside");
    fs::write(&secret_file, "secret\n").unwrap();
    for target in
        [secret_file.as_path(), Path::new("/nowhere"), Path::new("quality.yaml"), Path::new("other")]
    {
        let fixture = Fixture::new(&[("other", "mine\n")]);
        symlink(target, fixture.root().join("quality.yaml")).unwrap();
        fixture.refuses(&[], "FILE_EXISTS");
    }
    let fixture = Fixture::new(&[("quality.yaml/x", "\n")]);
    fixture.refuses(&[], "FILE_EXISTS");
    let fixture = Fixture::new(&[]);
    assert!(Command::new("mkfifo").arg(fixture.root().join("quality.yaml")).status().unwrap().success());
    fixture.refuses(&[], "FILE_EXISTS");
    for path in [".st3/quality.yaml", ".lockgate/quality.yaml"] {
        Fixture::new(&[(path, "")]).refuses(&[], "FILE_EXISTS");
    }
    assert_eq!(fs::read_to_string(secret_file).unwrap(), "secret\n");
}

#[test]
fn the_home_and_a_folder_that_is_not_there_are_no_project() {
    let fixture = Fixture::new(&[]);
    let home = fixture.folder.path().join("home");
    for root in [home.to_str().unwrap(), "/", "nowhere"] {
        for more in [&[][..], &["--client", "zed"]] {
            fixture.refuses(&[&["--root", root], more].concat(), "INVALID_INPUT");
        }
    }
}
